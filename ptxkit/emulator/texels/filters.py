"""Sums of weighted texels, as an H200 forms them. The guide gives the formula, not the arithmetic.

Numbers of a slice, which is up to four neighbours of one level and one z, are brought to the exponent of the
largest, cut off a few bits behind its last, multiplied and added exactly. The slices of a level, and the sum
of the level before, are brought to the exponent of the largest number so far, in steps of four bits, cut off
toward minus infinity two bits behind, and added. The sum is rounded to the precision of the format, a half
away from zero. Fractions are added as integers of 16 bits and become numbers in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.texels.coordinates import FRACTION_BITS, ONE
from ptxkit.emulator.texels.formats import ChannelFormat, ChannelKind


class SumRule(NamedTuple):
    """How numbers of a format are added.

    Attributes:
        bits: the precision of the format.
        kept: bits that the largest number of a slice has while they are added.
        least: the exponent of the least number of the format.
        nan: what comes out of a NaN: all bits of the format but the sign are ones.
    """

    bits: int
    kept: int
    least: int
    nan: np.uint32


class Units(NamedTuple):
    """Numbers as integers.

    Attributes:
        unit: the exponent of what is counted, int64.
        total: how many there are, int64.
    """

    unit: np.ndarray
    total: np.ndarray


HALF = SumRule(11, 15, -24, np.uint32(0x7FFFE000))
SINGLE = SumRule(24, 28, -149, np.uint32(0x7FFFFFFF))
COLOR = HALF._replace(kept=8)
"""Of integers of the sRGB colour space."""
BY_BYTES = {2: HALF, 4: SINGLE}
"""Of formats of floating point, by their bytes."""
SLICES_OF_LEVEL = 2
"""Slices that a level has at most: its number counts so much in that of a slice."""
STEP, BELOW_STEP, GUARD = 4, 2, 2
"""Sums of slices are brought to an exponent that is a multiple of the first; one that is less than the second
below counts as it. Behind the last bit so many as the third are kept."""
NO_UNIT = -(1 << 20)
"""The exponent of a slice without numbers: below every other."""
WORD = 64
"""Bits of an integer that counts units."""
TINY = np.finfo(np.float32).tiny
"""The least number of f32 that counts."""
Values = Sequence[np.ndarray]


def number_sum(
    values: Values,
    weights: Sequence[Any],
    taken: Sequence[Any],
    slices: Sequence[int],
    how: SumRule,
    tops: Values | None = None,
) -> np.ndarray:
    """The sum of numbers.

    Args:
        values: float32, an array a texel.
        weights: of each texel, in units of 1/256.
        taken: bool, which texels take part: of the others nothing counts, but of a texel whose weight was
            rounded to nothing a NaN or an infinity does.
        slices: the number of each texel's slice, which counts `SLICES_OF_LEVEL` to a level.
        how: numbers of their format are added.
        tops: numbers whose exponents count instead of those of `values`.

    Returns:
        uint32, the bits of f32.
    """
    shape = values[0].shape
    part = np.stack([np.broadcast_to(each, shape) for each in taken])
    weight = np.stack([np.broadcast_to(each, shape) for each in weights]).astype(np.int64)
    value = np.where(part, np.stack(values), np.float32(0))
    finite = np.isfinite(value).all(axis=0)
    held = np.where((np.abs(value) < TINY) | ~finite, np.float32(0), value).astype(np.float64)
    size = np.abs(held) if tops is None else np.where(part, np.stack(tops), np.float32(0))
    size = np.where(weight != 0, size, 0)
    of_slice = np.array(slices)
    levels: list[list[Units]] = [[] for _ in range(max(slices) // SLICES_OF_LEVEL + 1)]
    for number in sorted(set(slices)):
        here = of_slice == number
        one = _slice_sum(held[here], weight[here], size[here].max(axis=0), how)
        levels[number // SLICES_OF_LEVEL].append(one)
    unit, total = _added(levels, how)
    result = _rounded_number(total, unit, how)
    result = np.where(np.abs(result) < TINY, np.copysign(np.float32(0), result), result)
    result = np.where(_negative_zero(value, part), np.float32(-0.0), result)
    special = value.sum(axis=0, dtype=np.float64).astype(np.float32)
    found = np.where(finite, result, special)
    return np.where(np.isnan(found), how.nan, found.view(np.uint32))


def _slice_sum(held: np.ndarray, weight: np.ndarray, largest: np.ndarray, how: SumRule) -> Units:
    """The sum of a slice. Its unit tells the exponent of the largest number, too."""
    unit = np.where(largest > 0, np.frexp(largest)[1].astype(np.int64) - how.kept, NO_UNIT)
    count = np.trunc(np.ldexp(held, np.where(largest > 0, -unit, 0))).astype(np.int64)
    return Units(unit - FRACTION_BITS, np.where(weight != 0, count * weight, 0).sum(axis=0))


def _added(levels: Sequence[Sequence[Units]], how: SumRule) -> Units:
    """The sum of slices, likewise, level by level: what lies behind the common unit is cut off."""
    behind_last = how.kept + FRACTION_BITS
    parts: list[Units] = []
    largest = None
    for slices in levels:
        for part in slices:
            largest = part.unit if largest is None else np.maximum(largest, part.unit)
        parts += slices
        if largest is not None and len(parts) > 1:
            unit = (largest + behind_last + BELOW_STEP) // STEP * STEP - behind_last - GUARD
            parts = [Units(unit, np.sum([_cut(part, unit) for part in parts], axis=0))]
    return parts[0]


def _cut(part: Units, unit: np.ndarray) -> np.ndarray:
    """How many of a unit."""
    behind = unit - part.unit
    return (part.total << np.maximum(-behind, 0)) >> np.clip(behind, 0, WORD - 1)


def _rounded_number(total: np.ndarray, unit: np.ndarray, how: SumRule) -> np.ndarray:
    """Units as a number of the format, float32, a half away from zero: below the normal numbers of f16 they
    have the bits of its subnormal ones."""
    unit = np.where(total != 0, unit, 0)
    magnitude, scale = np.frexp(np.ldexp(np.abs(total).astype(np.float64), unit))
    last = np.maximum(scale - how.bits, how.least)
    rounded = np.floor(np.ldexp(magnitude, scale - last) + 0.5)
    return np.copysign(np.ldexp(rounded, last), total).astype(np.float32)


def _negative_zero(value: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Where all texels that take part are zeros, or count as such, and negative."""
    return ((np.abs(value) < TINY) & np.signbit(value) | ~part).all(axis=0) & part.any(axis=0)


def alone(words: np.ndarray, how: SumRule) -> np.ndarray:
    """A number that a filter passes on, uint32: there is one NaN, and subnormal numbers of f32 are zeros.
    `how`: of its format."""
    value = words.view(np.float32)
    flushed = np.where(np.abs(value) < TINY, words & np.uint32(1 << 31), words)
    return np.where(np.isnan(value), how.nan, flushed)


def fraction_sum(raw: Values, weights: Sequence[Any], format: ChannelFormat) -> np.ndarray:
    """The sum of fractions.

    Args:
        raw: their integers, signed or not, an array a texel.
        weights: of each texel, in units of 1/256.
        format: of the channel.

    Returns:
        uint32, the bits of f32.
    """
    total: Any = sum(part.astype(np.int64) * weight for part, weight in zip(raw, weights, strict=True))
    if format.kind is ChannelKind.UNSIGNED:
        total = total * 257 if format.bytes == 1 else total
        return ((_rounded(total)) / 65535).astype(np.float32).view(np.uint32)
    if format.bytes == 2:
        whole = _rounded(total)
    else:
        # About 32767/127 of it, so that 127 becomes 32767: what is added is taken of the upper bits alone.
        whole = total + (((total >> 4) + (total >> 12) + 4) >> 3)
    return np.maximum(whole / 32767, -1.0).astype(np.float32).view(np.uint32)


def _rounded(total: Any) -> Any:
    """Without the fraction of the weights, a half up."""
    return (total + ONE // 2) >> FRACTION_BITS
