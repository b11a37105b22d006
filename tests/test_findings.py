"""Each finding of the emulator: a kernel of tests/findings that provokes it, and the same one repaired."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from finding_kernels import FILES, MARK, findings, version

import ptxkit
from ptxkit.diagnostics import code_table


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
