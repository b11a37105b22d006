"""A file fits in the head: none of the package is longer than 400 lines, but the tables of the grammar."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ptxkit"
MOST = 400
TABLES = {"asm/_grammar.py"}
"""What is made, not written."""


def test_no_file_is_longer() -> None:
    lengths = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert len(lengths) > 300
    longer = {name for name, length in lengths.items() if length > MOST} - TABLES
    assert longer == set()
