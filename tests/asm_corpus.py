"""The corpus: PTX that nvcc and Triton made of the sources beside it, and more where PTXKIT_CORPUS says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent / "corpus"
FOLDERS = [ROOT] + [Path(given) for given in [os.environ.get("PTXKIT_CORPUS")] if given]
FILES = sorted({path.stem: path for folder in reversed(FOLDERS) for path in folder.glob("*/*.ptx")}.values())
"""All files; of one name, the tree's own."""

SMALL = 12_000
"""Bytes of what `each_small_file` still takes."""


def _each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", files, ids=lambda path: path.stem)


each_file = _each(FILES)
"""A test of one corpus file, `path`."""
each_small_file = _each([path for path in FILES if path.stat().st_size < SMALL])
"""The same for the smaller files; the larger ones come from the same compilers."""


def builds(kernel: str, *targets: str) -> list[Path]:
    """Every build of a Triton kernel or of an nvcc file, or those for such targets as `sm90` or `sm_90a`."""
    pattern = re.compile(rf"{kernel}[_.](sm_?\d+a?)(_t\d+)?")
    named = [(pattern.fullmatch(path.stem), path) for path in FILES]
    return [path for match, path in named if match and (not targets or match[1] in targets)]


def each_build(kernel: str, *targets: str) -> pytest.MarkDecorator:
    """A test of each of these builds, `path`."""
    return _each(builds(kernel, *targets))


def read(path: Path) -> str:
    """A file's text, line ends as they are."""
    return path.read_bytes().decode("utf-8")
