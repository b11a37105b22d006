"""Which levels of a mipmap a fetch takes. PTX ISA 9.7.10.2, 9.7.10.3; driver API, "Texture object
management"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.coordinates import FRACTION_BITS, ONE
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
    """The levels for what is asked for, float32."""
    last = len(array.levels) - 1
    lowest, highest = sampler.level_clamp
    lod = np.where(np.isnan(asked), 0.0, asked.astype(np.float64)) + sampler.level_bias
    lod = np.clip(np.clip(lod, lowest, max(lowest, highest)), 0, last)
    if not sampler.levels_linear:
        return Chosen(np.clip(np.floor(lod + 0.5), 0, last).astype(np.int64))
    fixed = np.floor(lod * ONE).astype(np.int64)
    level = fixed >> FRACTION_BITS
    return Chosen(level, np.minimum(level + 1, last), fixed & (ONE - 1))


def of_gradients(
    across: Sequence[np.ndarray], down: Sequence[np.ndarray], extents: Sequence[int]
) -> np.ndarray:
    """The level at which neighbours in x and in y are a texel apart: log2 of the longer of the two
    derivatives, float32.

    Args:
        across, down: the derivatives of normalized coordinates in x and y, an array an axis.
        extents: of the first level.
    """

    def length(parts: Sequence[np.ndarray]) -> np.ndarray:
        squares = [
            (part.astype(np.float64) * extent) ** 2 for part, extent in zip(parts, extents, strict=False)
        ]
        return np.sqrt(np.sum(squares, axis=0))

    longest = np.maximum(length(across), length(down))
    return np.log2(np.maximum(longest, 2.0**-126)).astype(np.float32)
