"""Sums of weighted texels, as an H200 forms them. The guide gives the formula, not the arithmetic.

Numbers of a slice, which is up to four neighbours of one level and one z, are brought to the exponent of the
largest, cut off a few bits behind its last, multiplied and added exactly. Sums of slices are cut off, toward
minus infinity, a little behind the last bit of the one with the largest number, and added. The sum is rounded
to the precision of the format, a half away from zero. Fractions are added as integers of 16 bits and become
numbers in the end.
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
        guard: bits that sums of slices keep behind the last of the one with the largest number.
        least: the exponent of the least number of the format.
        nan: what comes out of a NaN: all bits of the format but the sign are ones.
    """

    bits: int
    kept: int
    guard: int
    least: int
    nan: np.uint32


HALF = SumRule(11, 15, 1, -24, np.uint32(0x7FFFE000))
SINGLE = SumRule(24, 28, 2, -149, np.uint32(0x7FFFFFFF))
COLOR = HALF._replace(kept=8)
"""Of integers of the sRGB colour space."""
BY_BYTES = {2: HALF, 4: SINGLE}
"""Of formats of floating point, by their bytes."""
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
        slices: the number of each texel's slice.
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
    sums = []
    for number in sorted(set(slices)):
        here = of_slice == number
        sums.append(_slice_sum(held[here], weight[here], size[here].max(axis=0), how))
    unit, total = _added(sums, how)
    result = _rounded_number(total, unit, how)
    result = np.where(np.abs(result) < TINY, np.copysign(np.float32(0), result), result)
    result = np.where(_negative_zero(value, part), np.float32(-0.0), result)
    special = value.sum(axis=0, dtype=np.float64).astype(np.float32)
    found = np.where(finite, result, special)
    return np.where(np.isnan(found), how.nan, found.view(np.uint32))


def _slice_sum(
    held: np.ndarray, weight: np.ndarray, largest: np.ndarray, how: SumRule
) -> tuple[np.ndarray, np.ndarray]:
    """The sum of a slice: the exponent of its unit, and how many of them, int64."""
    unit = np.where(largest > 0, np.frexp(largest)[1].astype(np.int64) - how.kept, NO_UNIT)
    count = np.trunc(np.ldexp(held, np.where(largest > 0, -unit, 0))).astype(np.int64)
    return unit - FRACTION_BITS, np.where(weight != 0, count * weight, 0).sum(axis=0)


def _added(sums: Sequence[tuple[np.ndarray, np.ndarray]], how: SumRule) -> tuple[np.ndarray, np.ndarray]:
    """The sum of slices, likewise: what lies behind the unit of the coarsest is cut off."""
    if len(sums) == 1:
        return sums[0]
    unit = np.max([each for each, _ in sums], axis=0) - how.guard
    total = np.zeros_like(unit)
    for each, count in sums:
        behind = unit - each
        total += (count << np.maximum(-behind, 0)) >> np.clip(behind, 0, WORD - 1)
    return unit, total


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
