"""Which levels of a mipmap a fetch takes. PTX ISA 9.7.10.2, 9.7.10.3; driver API, "Texture object
management"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.coordinates import FAR, FRACTION_BITS, ONE
from ptxkit.emulator.texels.objects import Sampler

BASE_LEVEL = -32.0
"""The level that a fetch without one asks for: below every other, so that the sampler's clamp decides."""


class Chosen(NamedTuple):
    """The levels of a fetch.

    Attributes:
        level: of each lane, int64.
        next: the level after it; None where levels are not filtered.
        weight: of the latter, in units of 1/256.
    """

    level: np.ndarray
    next: np.ndarray | None = None
    weight: Any = 0


def choose(asked: np.ndarray, sampler: Sampler, array: TexelArray) -> Chosen:
    """The levels for what is asked for, float32. It and the bias are cut off to 1/256, toward zero, before
    they are added, as on an H200."""
    last = len(array.levels) - 1
    lowest, highest = sampler.level_clamp
    wide = np.clip(np.where(np.isnan(asked), 0.0, asked.astype(np.float64)), -FAR, FAR)
    lod = (np.trunc(wide * ONE) + np.trunc(sampler.level_bias * ONE)) / ONE
    lod = np.clip(np.clip(lod, lowest, max(lowest, highest)), 0, last)
    fixed = np.floor(lod * ONE).astype(np.int64)
    if not sampler.levels_linear:
        return Chosen(np.minimum((fixed + ONE // 2) >> FRACTION_BITS, last))
    level = fixed >> FRACTION_BITS
    return Chosen(level, np.minimum(level + 1, last), fixed & (ONE - 1))


def of_gradients(
    across: Sequence[np.ndarray], down: Sequence[np.ndarray], extents: Sequence[int], flat: Any = np.True_
) -> np.ndarray:
    """The level at which neighbours are a texel apart: log2 of the longer axis of the ellipse that a circle
    becomes, float32. No document has a formula; this one is to 2/256 that of an H200.

    Args:
        across, down: the derivatives of normalized coordinates in x and y, an array an axis.
        extents: of the first level.
        flat: where neighbours lie on one face; elsewhere an H200 leaves the diagonals out.
    """
    x, y = (
        np.stack([part.astype(np.float64) * extent for part, extent in zip(parts, extents, strict=False)])
        for parts in (across, down)
    )
    sides = np.maximum(_length(x), _length(y))
    diagonals = np.maximum(_length(x + y), _length(x - y))
    longest = np.where(flat, np.maximum(sides, HALF_DIAGONAL * diagonals), sides)
    return np.log2(np.maximum(longest, 2.0**-126)).astype(np.float32)


HALF_DIAGONAL = 11 / 16
"""About what a diagonal of a square is shortened to, to be as long as a side."""
SHARES = (1.0, 11 / 32, 1 / 4)
"""Of the parts of a vector, the longest first, in about its length."""


def _length(parts: np.ndarray) -> np.ndarray:
    """About the length of vectors, (axes, ..)."""
    ordered = np.sort(np.abs(parts), axis=0)[::-1]
    total = np.zeros(ordered.shape[1:])
    for part, share in zip(ordered, SHARES, strict=False):
        total = total + part * share
    return total
