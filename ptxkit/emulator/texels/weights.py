"""How the weight of a fetch is split among texels, as an H200 does it: weights stay whole numbers of 1/256,
and their sum stays the same. The guide gives the products of which these are roundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ptxkit.emulator.texels.coordinates import FRACTION_BITS, ONE

UP, DOWN = ONE // 2, ONE // 2 - 1
"""What is added to a weight that is rounded: a half goes up, or down."""


def share(total: Any, part: Any, half: int = DOWN) -> Any:
    """The part of a weight that goes to the upper neighbour, rounded."""
    return (total * part + half) >> FRACTION_BITS


def third(weight: Any) -> Any:
    """What of the weight of a texel that there is not goes to each of the two beside it; the rest goes to the
    one across."""
    return (weight + 1) // 3


def split(total: Any, parts: Sequence[Any]) -> Iterator[tuple[tuple[bool, ...], Any]]:
    """The weights of all neighbours of a place.

    The slices along z are split first, then each along x, then each along y: what goes to the upper neighbour
    is rounded, a half down, but along x, and along y on the upper side of x, up; the lower one gets the rest.

    Args:
        total: their sum, in units of 1/256.
        parts: the weight of the upper neighbour along each axis, x first.

    Yields:
        Which neighbours, x first, and their weight.
    """
    across, *others = parts
    slices: list[tuple[tuple[bool, ...], Any]] = [((), total)]
    if len(parts) == 3:
        above = share(total, parts[2])
        slices = [((False,), total - above), ((True,), above)]
    for z, held in slices:
        right = share(held, across, UP)
        for x, column in ((False, held - right), (True, right)):
            if not others:
                yield (x,), column
                continue
            below = share(column, others[0], UP if x else DOWN)
            yield (x, False, *z), column - below
            yield (x, True, *z), below
