"""Findings name the line of the source that a compiler noted in the PTX."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics import Diagnostic, Source, Span
from ptxkit.virtual.source_lines import source_line

PTX = """.version 8.0
.target sm_90
.visible .entry first()
{
    .loc 1 7 3
    ret;
}
.visible .entry second()
{
    bar.sync 0;
    .loc 2 30 1, function_name label, inlined_at 1 9 2
    bar.sync 0;
    .loc 1 0 0
    ret;
}
.file 1 "kernels/tile.py"
.file 2 "inner.cu"
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [(6, "kernels/tile.py:7"), (10, None), (12, "inner.cu:30"), (14, None)],
)
def test_the_last_loc_of_the_function_says_it(line: int, expected: str | None) -> None:
    """Not that of another function, and not line 0, by which compilers say that they don't know."""
    at = Diagnostic("P602", "out of bounds", Span(line, 5, line, 8), source=Source("<module 1>", PTX))
    assert source_line(at) == expected
