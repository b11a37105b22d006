"""Which clusters of a grid stand for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread(total: int, count: int, ends: bool, grid: Sequence[int] = ()) -> np.ndarray:
    """So many of all clusters, all over the grid.

    Args:
        total, count: of all, and of those that are chosen.
        ends: the first and the last, and others by twos in the middle of as many stretches; else by `grid`.
        grid: its extents, along each of which they lie evenly; else evenly, whatever period the grid has.
    """
    if ends:
        pairs = max(count - 2, 0) // 2
        first = ((np.arange(pairs) + 0.5) / max(pairs, 1) * (total - 2)).astype(int)
        chosen = [*range(total)] if total <= count else [0, *first, *(first + 1), total - 1]
        return np.unique(chosen)[: max(count, 1)]
    extents = [each for each in grid if each > 1]
    if len(extents) > 1:
        # The sequence of M. Roberts: powers of the root of x**(d+1) = x + 1; and each point's opposite, so
        # that what grows along an axis is on the average of them what it is of all.
        root = next(each.real for each in np.roots([1, *[0] * (len(extents) - 1), -1, -1]) if each.imag == 0)
        half = np.arange((count + 1) // 2) + 1
        places = np.zeros(count, np.int64)
        for at, (step, extent) in enumerate(zip(np.cumprod([1, *extents[:-1]]), extents, strict=True)):
            found = (_fraction(0.5 + half * root ** -(at + 1)) * extent).astype(int)
            places += np.concatenate([found, extent - 1 - found])[:count] * step
        return np.unique(places)
    # Hammersley's points: one in each stretch, in the stretches at distances of all orders; within these by
    # the golden ratio.
    order = np.arange(count)
    bits = max(count - 1, 1).bit_length()
    inside = sum((order >> bit & 1) / (2 << bit) for bit in range(bits))
    finer = _fraction((order + 1) * (5**0.5 - 1) / 2) / (1 << bits)
    return np.unique(((order + inside + finer) / count * total).astype(int))


def _fraction(numbers: np.ndarray) -> np.ndarray:
    return numbers % 1.0
