"""A file fits in the head, none but the grammar's tables over 400 lines; the root has no strays."""

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


def test_the_root_holds_no_kernels() -> None:
    """What a compiler or a kernel's author wrote belongs in a folder, with its source and its licence."""
    assert [path.name for path in PACKAGE.parent.glob("*.ptx")] == []
