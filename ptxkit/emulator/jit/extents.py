"""Along which axes the values of a lane set differ."""

from __future__ import annotations

from enum import IntFlag

from ptxkit.emulator.values import WARP


class Extent(IntFlag):
    """Along which axes a value differs; what is made of two values differs along those of both."""

    UNIFORM = 0
    LANES = 1
    ROWS = 2
    THREADS = 3


ORDER = (Extent.UNIFORM, Extent.LANES, Extent.ROWS, Extent.THREADS)
"""The order of a stretch's loops: what one reads, those before it have made."""


def extent_of(shape: tuple[int, ...], rows: int) -> Extent | None:
    """Along which axes a value of a shape differs in a lane set of so many rows; None for any other shape."""
    if shape == ():
        return Extent.UNIFORM
    if shape == (rows, WARP):
        return Extent.THREADS
    if shape == (1, WARP):
        return Extent.LANES
    return Extent.ROWS if shape == (rows, 1) else None
