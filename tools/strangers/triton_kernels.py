"""Functions of Triton to PTX for sm_90a.

    PYTHON tools/strangers/triton_kernels.py OUT < kernels.json

PYTHON has Triton, `pip install triton`; neither a GPU nor PyTorch is needed. A kernel is a table of
sources.toml: `made`, `path`, `function`, its parameters' types in `signature`, its constants in `constants`,
`warps`, `stages`; `absent` are parameters that are None, `before` is code that the functions need: what their
file imports from another. As where Triton compiles at a launch, pointers and those integers that `divisible`
names are multiples of 16, and strides of 1 are constants.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

PTX_VERSION = 90
"""PTX ISA 9.0."""
WRAPPED = re.compile(r"(\w+) = triton\.jit\(\1\)")
"""How a function is compiled that has no decorator."""


def functions(path: Path, before: str, folder: Path) -> ModuleType:
    """The functions of a script that Triton compiles, as a module of their own: scripts need a GPU."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    parts = ["import triton", "import triton.language as tl", before]
    parts += sorted({ast.unparse(node) for node in ast.walk(tree) if is_device_library(node)})
    wrapped = {match[1] for node in tree.body if (match := WRAPPED.fullmatch(ast.unparse(node)))}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "= tl.constexpr(" in ast.unparse(node):
            parts.append(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(each) for each in node.decorator_list]
            if node.name in wrapped or any(each.startswith("triton.jit") for each in decorators):
                lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
                parts.append("\n".join(["@triton.jit", *lines]))
    alone = folder / f"{path.stem.replace('-', '_')}_alone.py"
    alone.write_text("\n\n\n".join(parts) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(alone.stem, alone)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_device_library(node: ast.AST) -> bool:
    """Whether this imports functions that Triton has from libdevice."""
    return isinstance(node, ast.ImportFrom) and node.module == "triton.language.extra.libdevice"


def constant(value: Any) -> Any:
    """A constant; text such as `tl.bfloat16` is a type of Triton."""
    return getattr(tl, value[3:]) if isinstance(value, str) and value.startswith("tl.") else value


def made(one: dict[str, Any], folder: Path) -> Any:
    """A kernel, compiled."""
    function = getattr(functions(Path(one["path"]), one.get("before", ""), folder), one["function"])
    constants = {name: constant(value) for name, value in one["constants"].items()}
    constants |= dict.fromkeys(one.get("absent", ()))
    signature = {name: one["signature"].get(name, "constexpr") for name in function.arg_names}
    whole = {name for name, kind in signature.items() if kind.startswith("*")} | {*one.get("divisible", ())}
    attributes = {
        (index,): [["tt.divisibility", 16]] for index, name in enumerate(function.arg_names) if name in whole
    }
    options = {"num_warps": one["warps"], "num_stages": one["stages"], "ptx_version": PTX_VERSION}
    target = GPUTarget("cuda", 90, 32)
    return triton.compile(
        ASTSource(function, signature, constants, attributes), target=target, options=options
    )


def main() -> int:
    out = Path(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in json.load(sys.stdin):
            path = out / one["made"]
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                kernel = made(one, Path(folder))
            except Exception as reason:  # noqa: BLE001 - of whatever kind the compiler under test raises
                print(f"{path}: {type(reason).__name__}: {str(reason).strip()[-300:]}", flush=True)
                failed += 1
                continue
            path.write_text(kernel.asm["ptx"], encoding="utf-8")
            needs = kernel.metadata
            print(
                f"{path}: made, {needs.shared} bytes shared, {needs.global_scratch_size} scratch", flush=True
            )
    return failed


if __name__ == "__main__":
    sys.exit(main())
