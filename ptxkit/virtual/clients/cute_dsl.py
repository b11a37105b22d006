"""CuTe DSL: its host code holds the kernels' PTX in place of their machine code, and PyTorch's CPU tensors
are a GPU's.

What CuTe DSL compiles is host code that loads its kernels by functions of a runtime library, of which we have
one (`ptxkit.virtual.companions.cute_dsl`), and a constant with their machine code. Its compiler can write the
PTX beside that, so between compiling and loading the constant becomes the PTX.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from functools import wraps
from pathlib import Path
from typing import Any

from ptxkit.virtual.clients.storages import named
from ptxkit.virtual.options import LIBRARIES_VARIABLE
from ptxkit.virtual.process import machine
from ptxkit.virtual.results import describe

VARIABLE, LIBRARY = "CUTE_DSL_LIBS", "libcute_dsl_runtime.so"
DUMPED = {kind: re.compile(rf"dump-{kind}-path='([^']*)'") for kind in ("ptx", "cubin")}
"""What tells the compiler to write PTX or machine code, in files whose names begin so."""
TARGET = "cubin-chip="
"""The option of the compiler that is always there."""
FAT_BINARY = b"\x50\xed\x55\xba"

CUDA, CPU = 2, 1
"""`DLDeviceType`."""
DEVICE_TYPE = 8
"""Where it stands in a `DLTensor`."""


def prepare_compiler(module: Any) -> None:
    """Let `Compiler.compile` of `cutlass.base_dsl.compiler` give host code with PTX, loaded with our runtime
    library."""
    _take_our_library()
    compiled = module.Compiler.compile

    @wraps(compiled)
    def compile_to_ptx(self: Any, host: Any, pipeline: str, *arguments: Any, **named: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            if not DUMPED["ptx"].search(pipeline):
                pipeline = pipeline.replace(TARGET, f"dump-ptx-path='{folder}/kernels' {TARGET}", 1)
            before = _files(pipeline)
            result = compiled(self, host, pipeline, *arguments, **named)
            written = {
                path: kind
                for path, (kind, since) in _files(pipeline).items()
                if before.get(path) != (kind, since)
            }
            texts = [path.read_text("utf-8") for path, kind in written.items() if kind == "ptx"]
            _put(host, texts)
            machine_code = [path for path, kind in written.items() if kind == "cubin"]
            for path, text in zip(machine_code, texts if machine_code else (), strict=True):
                path.write_text(f"{text}\0", "utf-8")
        return result

    module.Compiler.compile = compile_to_ptx


def _take_our_library() -> None:
    """Where CuTe DSL finds its runtime library: some releases put theirs in front of what the variable
    says."""
    others = [path for path in os.environ.get(VARIABLE, "").split(":") if path and Path(path).name != LIBRARY]
    os.environ[VARIABLE] = ":".join([str(Path(os.environ[LIBRARIES_VARIABLE], LIBRARY)), *others])


def _files(pipeline: str) -> dict[Path, tuple[str, int]]:
    """The files of PTX and of machine code that lie where a compilation writes its own, by their names: of
    which kind each is, and when it was written."""
    found = {}
    for kind, pattern in DUMPED.items():
        for start in pattern.findall(pipeline):
            for path in sorted(Path(start).parent.glob(f"{Path(start).name}.*{kind}")):
                found[path] = kind, path.stat().st_mtime_ns
    return found


def _put(host: Any, texts: list[str]) -> None:
    """Make each fat binary of a compiled module the PTX that was written with it.

    Raises:
        RuntimeError: there is not one text for each.
    """
    from cutlass._mlir import ir

    binaries = [operation for operation in host.body.operations if _holds_machine_code(operation)]
    if len(binaries) != len(texts):
        raise RuntimeError(
            f"CuTe DSL compiled {len(binaries)} modules of kernels and wrote PTX of {len(texts)}: this "
            "version of it is not supported by `ptxkit exec`"
        )
    for operation, text in zip(binaries, texts, strict=True):
        size = len(text.encode()) + 1
        with host.context:
            operation.attributes["value"] = ir.StringAttr.get(f"{text}\0")
            operation.attributes["global_type"] = ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{size} x i8>"))


def _holds_machine_code(operation: Any) -> bool:
    if operation.operation.name != "llvm.mlir.global" or "value" not in operation.attributes:
        return False
    value = operation.attributes["value"]
    return bool(getattr(value, "value_bytes", b"")[:4] == FAT_BINARY)


def prepare_executor(module: Any) -> None:
    """Let a call of a compiled function be over when it returns, as the CPU's own work is, where PyTorch's
    tensors are the GPU's."""
    executor = module.JitExecutor
    run = executor.run_compiled_program

    @wraps(run)
    def run_to_its_end(self: Any, arguments: Any) -> Any:
        result = run(self, arguments)
        if "torch" in sys.modules:
            made = machine()
            with made.schedule.lock:
                made.schedule.finish_all()
            if made.current is not None and made.current.lost:
                raise RuntimeError(f"CuTe DSL: {describe(made.current.lost)}")
        return result

    executor.run_compiled_program = run_to_its_end


def prepare_tensors(module: Any) -> None:
    """Let tensors that `from_dlpack` makes of PyTorch's be those of a GPU, whose memory it sees."""
    tensor = module._Tensor
    made_of = tensor.__init__

    @wraps(made_of)
    def on_the_gpu(self: Any, source: Any, *arguments: Any, **others: Any) -> None:
        made_of(self, source, *arguments, **others)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(source, torch.Tensor):
            named.name(machine(), source)
            self.storage_of = source  # as long as this one lives, devices see it
            _say_cuda(self._dlpack_data)

    tensor.__init__ = on_the_gpu


def _say_cuda(capsule: Any) -> None:
    """Let a DLPack capsule say that its tensor is on a GPU."""
    pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + DEVICE_TYPE)
    if kind.value == CPU:
        kind.value = CUDA
