"""Where the corpus is: PTX that nvcc and Triton made, beside the checkout or where PTXKIT_CORPUS says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("PTXKIT_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))
FILES = sorted(ROOT.glob("*/*.ptx"))

SMALL = 12_000
"""Bytes of what `each_small_file` still takes."""

_ABSENT = pytest.param(
    None, marks=pytest.mark.skip(f"no corpus at {ROOT}; set PTXKIT_CORPUS"), id="no-corpus"
)


def _each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", files or [_ABSENT], ids=lambda path: path.stem if path else None)


each_file = _each(FILES)
"""A test of one corpus file, `path`; it skips where there is no corpus."""
each_small_file = _each([path for path in FILES if path.stat().st_size < SMALL])
"""The same for the smaller files; the larger ones come from the same compilers."""


def read(path: Path) -> str:
    """A file's text, line ends as they are."""
    return path.read_bytes().decode("utf-8")
