"""Each finding of the emulator: a kernel of tests/findings that provokes it, and the same one repaired.

Lines that end in `// broken` are left out of the repaired kernel, those that end in `// repaired` out of the
broken one. `// broken: P602 words` is the line that the finding names, and what it must say. The file's name
begins with the code.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import ptxkit
from ptxkit.diagnostics import Diagnostic, PtxkitError, code_table
from ptxkit.emulator import Emulator

FOLDER = Path(__file__).parent / "findings"
FILES = sorted(FOLDER.glob("*.ptx"))
MARK = re.compile(r"// (broken|repaired)(?:: (P\d{3})(?: (.*))?)?$")
ARGUMENT = re.compile(r"(\w+)=(\w+)\[(\d+)\]")


def version(text: str, kept: str) -> str:
    """The broken or the repaired kernel; lines that are left out become empty."""
    lines = []
    for line in text.splitlines():
        mark = MARK.search(line)
        lines.append("" if mark and mark[1] != kept else line)
    return "\n".join([*lines, ""])


def findings(text: str) -> list[Diagnostic]:
    """What the emulator says of a kernel, errors and warnings; its results are read, too."""
    launch = next(line for line in text.splitlines() if line.startswith("// launch "))
    numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)(?![\d\[])", launch)}
    device = Emulator()
    arguments = [
        device.array(np.zeros(int(count), {"u16": np.uint16, "u32": np.uint32}[kind]))
        for _, kind, count in ARGUMENT.findall(launch)
    ]
    try:
        device.load(text).kernel().launch((numbers.get("grid", 1),), (numbers["block"],), arguments)
        for argument in arguments:
            argument.numpy()
    except PtxkitError as caught:
        return [*caught.diagnostics]
    return device.findings


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_broken_kernel_is_found(path: Path) -> None:
    text = path.read_text()
    (found,) = findings(version(text, "broken"))
    code = path.stem.partition("_")[0]
    assert found.code == code, str(found)
    name = code_table()[code].name
    assert not name.isupper() or found.message.startswith(f"{name}: ")
    marks = [(number, mark) for number, mark in _marks(text) if mark[2]]
    assert len(marks) <= 1
    for number, mark in marks:
        assert mark[2] == code
        assert found.span is not None
        assert found.span.line == number
        assert (mark[3] or "").rstrip() in str(found)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_repaired_kernel_is_clean(path: Path) -> None:
    assert findings(version(path.read_text(), "repaired")) == []


def _marks(text: str) -> list[tuple[int, re.Match[str]]]:
    lines = enumerate(text.splitlines(), 1)
    return [(number, mark) for number, line in lines if (mark := MARK.search(line))]


def test_no_code_is_without_a_kernel() -> None:
    """Every code in codes/P6.toml that synchronous instructions can give has its file here."""
    synchronous = tomllib.loads((Path(ptxkit.__file__).parent / "codes" / "P6.toml").read_text("utf-8"))
    have = {path.stem.partition("_")[0] for path in FILES}
    assert have <= set(code_table())
    assert set(synchronous) <= have
