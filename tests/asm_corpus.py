"""Where the corpus is: PTX that nvcc and Triton made, beside the checkout or where PTXKIT_CORPUS says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("PTXKIT_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))
FILES = sorted(ROOT.glob("*/*.ptx"))

each_file = pytest.mark.parametrize(
    "path",
    FILES
    or [
        pytest.param(None, marks=pytest.mark.skip(f"no corpus at {ROOT}; set PTXKIT_CORPUS"), id="no-corpus")
    ],
    ids=lambda path: path.stem if path else None,
)
"""A test of one corpus file, `path`; it skips where there is no corpus."""


def read(path: Path) -> str:
    """A file's text, line ends as they are."""
    return path.read_bytes().decode("utf-8")
