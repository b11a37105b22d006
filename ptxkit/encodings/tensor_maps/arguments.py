"""Arguments of tensor maps: their forms, and the findings that name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, counted

SHAPE = "P450"
ADDRESS = "P451"
STRIDE = "P452"
BOX = "P453"
ELEMENT_STRIDE = "P454"
INTERLEAVE = "P455"
SWIZZLE = "P456"
FILL = "P457"
TARGET = "P458"
ARGUMENT = "P459"

DRIVER = "CUDA driver API, tensor map object management"
MAX_RANK = 5
IM2COL_ARGUMENTS = (
    "pixel_box_lower_corner",
    "pixel_box_upper_corner",
    "channels_per_pixel",
    "pixels_per_column",
)
"""What makes a map an im2col map."""


def problem(code: str, message: str) -> Diagnostic:
    """A finding that the driver's documentation, or the driver, founds."""
    return Diagnostic(code, message, notes=(DRIVER,))


def refused(code: str, message: str) -> PtxkitError:
    """The same, ready to raise."""
    return PtxkitError(problem(code, message))


def integer(name: str, value: Any) -> int:
    """`value`, which must be an integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise refused(ARGUMENT, f"`{name}` must be an integer, found {value!r}")


def integers(code: str, name: str, values: Any, low: int, high: int, count: int | None) -> list[int]:
    """`values` as a list of `count` integers of `low` .. `high`; None: of 1 to 5."""
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise refused(ARGUMENT, f"`{name}` must be a list of integers, found {values!r}")
    if count is None and not 1 <= len(values) <= MAX_RANK:
        raise refused(SHAPE, f"`{name}` must have 1 to 5 dimensions, found {len(values)}")
    if count is not None and len(values) != count:
        raise refused(
            ARGUMENT, f"`{name}` must have {counted(count, 'entry')} for this `shape`, found {len(values)}"
        )
    for i, value in enumerate(values):
        if not low <= integer(f"{name}[{i}]", value) <= high:
            raise refused(code, f"`{name}[{i}]` must be {low} .. {high}, found {value}")
    return [int(value) for value in values]


def numbered(name: str, values: Sequence[int], count: int, unused: int) -> dict[str, int]:
    """The fields `name_0` .. of a list that is outermost first."""
    padded = [*reversed(values), *[unused] * (count - len(values))]
    return {f"{name}_{i}": value for i, value in enumerate(padded)}
