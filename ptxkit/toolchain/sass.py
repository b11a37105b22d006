"""Machine code beside the PTX it was made from, through NVIDIA's `nvdisasm`.

    listing = disassemble(cubin)
    listing[0].instructions[0]      Instruction(address=0, text='LDC R1, c[0x0][0x28]', line=54, label=None)

The lines are those of the PTX text, where it was assembled with line information.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import error, reason

TIMEOUT = 120.0
"""Seconds that the disassembler may take."""

_TOOL = "nvdisasm"
_PRINT = ("--print-code", "--print-line-info-ptx", "--print-instruction-encoding")
_IN_WHEELS = ("cu13/bin", "cuda_nvcc/bin")
"""Where the wheels put it, below the package `nvidia`."""

_SECTION = re.compile(r"//-+ \.text\.(\S+) ")
_LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;")
_UPPER = re.compile(r"\s+/\* 0x([0-9a-f]{16}) \*/$")
"""The upper half of an instruction's encoding, alone in its row."""
_STALL = 41
"""The lowest of the four bits there that say how many cycles its warp issues nothing after it."""
_LABEL = re.compile(r"(\.L_x_\d+|\$__internal[\w$]+):")


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """One machine instruction.

    Attributes:
        address: in bytes from the start of its function.
        text: as the disassembler writes it, the guard first.
        line: of the PTX it comes from; None if unknown.
        label: that comes before it, None for most.
        stall: cycles from its issue to the earliest one of what its warp executes next; 0 if unknown.
    """

    address: int
    text: str
    line: int | None = None
    label: str | None = None
    stall: int = 0


@dataclass(frozen=True, slots=True)
class SassFunction:
    """The machine code of a kernel or a function."""

    name: str
    instructions: tuple[SassInstruction, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return asdict(self)


def disassemble(cubin: bytes, timeout: float = TIMEOUT) -> list[SassFunction]:
    """The functions in a cubin, in its order.

    Raises:
        PtxkitError: P730, there is no disassembler; P731, it refuses the cubin, or takes too long.
    """
    tool = find()
    if tool is None:
        help = "`pip install 'ptxkit[sass]'` brings it; the CUDA toolkit has it too"
        raise error("P730", "there is no `nvdisasm` here", help=help)
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image.cubin"
        image.write_bytes(cubin)
        command = [tool, *_PRINT, str(image)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise error("P731", f"`nvdisasm` had not finished after {timeout:g} s") from None
        except OSError as problem:
            raise error("P731", f"`{tool}` can't be run: {reason(problem)}") from None
    if done.returncode:
        said = [line for line in done.stderr.replace(str(image), "the cubin").splitlines() if line.strip()]
        help = "machine code newer than the disassembler needs a newer one"
        raise error("P731", "`nvdisasm` refuses the cubin", notes=said[:3], help=help)
    return read_listing(done.stdout)


def find() -> str | None:
    """The disassembler: on PATH, else in NVIDIA's wheels; None where it is in neither."""
    found = shutil.which(_TOOL)
    if found is not None:
        return found
    package = importlib.util.find_spec("nvidia")
    for location in (package.submodule_search_locations or ()) if package else ():
        for folder in _IN_WHEELS:
            found = shutil.which(_TOOL, path=str(Path(location) / folder))
            if found is not None:
                return found
    return None


def read_listing(text: str) -> list[SassFunction]:
    """The functions in what `nvdisasm` prints with lines of PTX; their stalls, too, with encodings."""
    functions: list[SassFunction] = []
    name: str | None = None
    instructions: list[SassInstruction] = []
    line: int | None = None
    label: str | None = None

    def finish() -> None:
        if name is not None:
            functions.append(SassFunction(name, tuple(instructions)))

    for row in text.splitlines():
        if match := _SECTION.match(row):
            finish()
            name, instructions, line, label = match[1], [], None, None
        elif match := _LINE.match(row):
            line = int(match[1])
        elif match := _LABEL.match(row):
            label = match[1]
        elif match := _INSTRUCTION.match(row):
            instructions.append(SassInstruction(int(match[1], 16), match[2], line, label))
            label = None
        elif instructions and (match := _UPPER.match(row)):
            instructions[-1] = replace(instructions[-1], stall=int(match[1], 16) >> _STALL & 15)
    finish()
    return functions
