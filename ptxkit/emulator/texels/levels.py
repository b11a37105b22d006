"""Which levels of a mipmap a fetch takes. PTX ISA 9.7.10.2, 9.7.10.3; driver API, "Texture object
management"."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.texels.arrays import TexelArray
from ptxkit.emulator.texels.coordinates import FAR, FRACTION_BITS, ONE
from ptxkit.emulator.texels.objects import Sampler

BASE_LEVEL = -32.0
"""The level that a fetch without one asks for: below every other, so that the sampler's clamp decides."""


MOST_BIAS = 15.0
"""Where a sampler's bias ends on an H200."""


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
    bias = min(max(sampler.level_bias, -MOST_BIAS), MOST_BIAS)
    lod = (np.trunc(wide * ONE) + np.trunc(bias * ONE)) / ONE
    lod = np.clip(np.clip(lod, lowest, max(lowest, highest)), 0, last)
    fixed = np.floor(lod * ONE).astype(np.int64)
    if not sampler.levels_linear:
        return Chosen(np.minimum((fixed + ONE // 2) >> FRACTION_BITS, last))
    level = fixed >> FRACTION_BITS
    return Chosen(level, np.minimum(level + 1, last), fixed & (ONE - 1))
