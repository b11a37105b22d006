"""What the examples beside the diagnostic codes print: each is executed, and its finding rendered.

An entry of `ptxkit/codes/*.toml` has an `example`, and says where it stands, if that is not plain:

- PTX, families P1 to P3: a file where it has `.version` or `.target`, functions where it has `.entry` or
  `.func`, else statements of a kernel; `given` goes before it.
- `ptxkit ..`: a command, in an empty folder with `files` in it; in the checkout if it names a file of docs/.
- a line of a launch card, `// KEY = ..`: put into `CARD` in place of that key's; `given` goes to the entry.
- otherwise Python: `given` is the file whose kernel is `k`; see `_python` for the other names.

The emulator's codes, P6, have an idiom as their example; what prints is provoked by a kernel of the tests
that breaks the rule: of tests/findings, or the one that docs/emulator/rules.md names.

What this machine may lack, a GPU above all, is said by `needs`; such an example is not executed.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shlex
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

import asynchronous_kernels
import finding_kernels
import numpy
import tensor_memory_faults
from small_kernels import DOUBLE

import ptxkit
from ptxkit import layouts, plan, tcgen05
from ptxkit.__main__ import main
from ptxkit.asm import build
from ptxkit.bits import refuse
from ptxkit.descriptors import KINDS
from ptxkit.diagnostics import Diagnostic, PtxkitError, render_text
from ptxkit.layouts.sparsity import compress

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
HEADER = ".version 8.6\n.target {}\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b128 %q<9>;"
)
CARD = (
    DOUBLE.partition("// ///\n.version")[0]
    + f"// ///\n{HEADER.format('sm_90')}"
    + ".visible .entry double(.param .u64 x, .param .u64 y, .param .u32 n) {}\n{\n    ret;\n}\n"
)
PTX = ("P1", "P2", "P3")
BUILDER = ("P240", "P241")
"""Codes of the builder: in their examples `k` is a kernel under construction."""
MODULES = (tcgen05, layouts, plan)
"""What Python examples use by its name."""
KEY = re.compile(r"^(?:// )?(\w+) *=", re.MULTILINE)
RULE = re.compile(
    r"^\| [A-Z0-9-]+ \| (P\d+) \| \w+ \| \[.*?\]\(\.\./\.\./(.*?)\)(?:, (.*))? \|$", re.MULTILINE
)
LINES = 24
"""What is shown of a finding; a deadlock lists every warp."""


@dataclass(frozen=True)
class Shown:
    """What an example prints.

    Attributes:
        text: the finding, as it prints; nothing where a test holds the rule with launches of its own.
        by: the file of the tests whose kernel provokes it, where it is not the example itself.
    """

    text: str
    by: str = ""


class Silent(Exception):
    """An example does not provoke its code."""


class NoAssembler(Exception):
    """An example needs NVIDIA's assembler, an extra that this machine lacks."""


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Every entry of the codes, with what `code_table` does not need."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((ROOT / "ptxkit" / "codes").glob("*.toml")):
        found |= tomllib.loads(path.read_text("utf-8"))
    return found


def shown(code: str) -> list[Shown]:
    """What the examples of a code print; nothing where this machine may lack what they need.

    Raises:
        Silent: an example does not provoke the code.
    """
    entry = entries()[code]
    if "needs" in entry:
        return []
    if code.startswith("P6"):
        return _broken(code)
    try:
        return [_shown(code, entry["example"], entry)]
    except NoAssembler:
        return []


def _shown(code: str, text: str, entry: dict[str, Any]) -> Shown:
    given = f"{entry['given']}\n" if "given" in entry else ""
    if text.startswith("ptxkit "):
        return Shown(_command(code, text, entry.get("files", {})))
    if code.startswith(PTX) and code not in BUILDER:
        return Shown(_printed(code, _ptx(text, given)))
    if text.startswith("// "):
        return Shown(_card(code, text, CARD.replace("{}", given.strip())))
    return Shown(_printed(code, _python(code, text, given)))


def _printed(code: str, found: list[Diagnostic]) -> str:
    """The first finding of the code."""
    mine = [diagnostic for diagnostic in found if diagnostic.code == code]
    if not mine:
        raise Silent(f"{code}: its example gives {[str(diagnostic) for diagnostic in found]}")
    lines = render_text(mine[:1]).rstrip("\n").splitlines()
    return "\n".join([*lines[:LINES], *["..."] * (len(lines) > LINES)])


# ---- the kinds of example


def _ptx(text: str, given: str) -> list[Diagnostic]:
    header = HEADER.format("sm_100a" if "tcgen05" in text else "sm_90a")
    if re.search(r"\.version|\.target|^#", text, re.MULTILINE):
        whole = f"{given}{text}\n"
    elif re.search(r"\.entry|\.func", text + given):
        whole = f"{header}{given}{text}\n"
    else:
        body = "".join(f"    {line}\n" for line in (given + text).splitlines())
        whole = f"{header}.visible .entry k(.param .u64 x)\n{{\n    {REGISTERS}\n{body}    ret;\n}}\n"
    return ptxkit.check(ptxkit.parse(whole, name="example.ptx"))


def _card(code: str, text: str, around: str) -> str:
    for line in text.splitlines():
        line = line if line.startswith("//") else f"// {line}"
        key = KEY.match(line)
        old = key and re.search(rf"^// {key[1]} = .*$", around, re.MULTILINE)
        place, put = (old[0], line) if old else ("// [launch]", f"// [launch]\n{line}")
        around = around.replace(place, put, 1)
    return _command(code, "ptxkit check example.ptx", {"example.ptx": around})


class _Stdin(contextlib.redirect_stdout):
    """What a command reads."""

    _stream = "stdin"


def _command(code: str, text: str, files: dict[str, str]) -> str:
    """What commands say of the code."""
    out = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(ROOT if "docs/" in text else folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        for name, content in files.items():
            Path(name).write_text(f"{content}\n")
        for line in text.splitlines():
            words, _, reads = line.partition(" < ")
            with open(reads or os.devnull) as given, _Stdin(given):
                main(shlex.split(words)[1:])
    if out.getvalue().startswith(f'{{"error": {{"code": "{code}"'):
        return out.getvalue().rstrip("\n")
    for finding in re.split(r"\n\n|\n(?=(?:error|warning|note)\[)", out.getvalue()):
        if re.match(rf"(?:error|warning|note)\[{code}\]: ", finding):
            return finding.rstrip("\n")
    if "[P716]: " in out.getvalue():
        raise NoAssembler
    raise Silent(f"{code}: `{text}` prints\n{out.getvalue()}")


def _python(code: str, text: str, given: str) -> list[Diagnostic]:
    device = ptxkit.open_device("emu")
    names: dict[str, Any] = {"ptxkit": ptxkit, "numpy": numpy, "device": device}
    names |= {"KINDS": KINDS, "refuse": refuse, "compress": compress}
    names |= {name: getattr(module, name) for module in MODULES for name in module.__all__}
    names |= {"x": device.array(numpy.zeros(64, "f4")), "y": device.empty(64, "f32")}
    linecache.cache["example.py"] = (len(text), None, text.splitlines(keepends=True), "example.py")
    try:
        with contextlib.ExitStack() as stack:
            if given:
                names["module"] = device.load(f"{HEADER.format('sm_90a')}{given}")
                names["k"] = names["module"].kernel()
            elif code in BUILDER:
                names["k"] = stack.enter_context(build.Builder("sm_90").entry("k"))
            exec(compile(text, "example.py", "exec"), names)
    except PtxkitError as refused:
        return refused.diagnostics
    return device.findings


# ---- the emulator's


@cache
def _rules() -> dict[str, tuple[Path, str]]:
    """The file that breaks a rule, and which of its faults does, by code."""
    text = (ROOT / "docs" / "emulator" / "rules.md").read_text("utf-8")
    found: dict[str, tuple[Path, str]] = {}
    for code, path, which in RULE.findall(text):
        found.setdefault(code, (ROOT / path, which))
    return found


def _fault(code: str) -> tuple[Path, str]:
    """The first fault of tensor memory with that code."""
    names = [name for name, fault in tensor_memory_faults.FAULTS.items() if fault.code == code]
    return Path(tensor_memory_faults.__file__), names[0]


def _broken(code: str) -> list[Shown]:
    """What a kernel of the tests that breaks the code's rule makes the emulator say."""
    files = sorted((TESTS / "findings").glob(f"{code}_*.ptx"))
    path, which = (files[0], "") if files else _rules().get(code) or _fault(code)
    if path.parent.name == "findings":
        found = finding_kernels.findings(finding_kernels.version(path.read_text(), "broken"))
    elif path.parent.name == "asynchrony":
        kernel = asynchronous_kernels.AsyncKernel(path)
        _, old, new, *order = kernel.header["faults"][int(which.removeprefix("fault "))]
        found = asynchronous_kernels.findings(kernel, old, new, asynchronous_kernels.device_for(order))
    elif path.stem == "tensor_memory_faults":
        fault = tensor_memory_faults.FAULTS[which]
        found = tensor_memory_faults.findings(fault.text, fault.grid, fault.orders[0])
    else:
        return [Shown("", path.relative_to(ROOT).as_posix())]
    by = f"{path.relative_to(ROOT).as_posix()}{f', {which}' if which else ''}"
    return [Shown(_printed(code, found), by)]
