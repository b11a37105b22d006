"""Sums of weighted texels, as an H200 forms them. The guide gives the formula, not the arithmetic.

Numbers of a slice, which is up to four neighbours of one level and one z, are brought to the exponent of the
largest, cut off a few bits behind its last, multiplied and added exactly. Slices are added exactly, too, and
the sum is rounded to the precision of the format, a half away from zero. Fractions are added as integers of
16 bits and become numbers in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.texels.coordinates import FRACTION_BITS, ONE
from ptxkit.emulator.texels.formats import ChannelFormat, ChannelKind

GUARD = 4
"""Bits that numbers have behind their own while they are added."""
BITS = {2: 11, 4: 24}
"""The precision of f16 and f32, by their bytes."""
NANS = {11: np.uint32(0x7FFFE000), 24: np.uint32(0x7FFFFFFF)}
"""The NaN that comes out, by the precision: all bits of the format but the sign are ones."""
Values = Sequence[np.ndarray]


def number_sum(values: Values, weights: Sequence[Any], slices: Sequence[int], bits: int) -> np.ndarray:
    """The sum of numbers.

    Args:
        values: float32, an array a texel.
        weights: of each texel, in units of 1/256; texels without weight don't take part.
        slices: the number of each texel's slice.
        bits: of the precision of their format.

    Returns:
        uint32, the bits of f32.
    """
    weight = np.stack([np.broadcast_to(each, values[0].shape) for each in weights]).astype(np.float64)
    value = np.where(weight != 0, np.stack(values), np.float32(0))
    value = np.where(np.abs(value) < np.finfo(np.float32).tiny, np.float32(0), value).astype(np.float64)
    finite = np.isfinite(value).all(axis=0)
    held = np.where(finite, value, 0.0)
    of_slice = np.array(slices)
    total = np.zeros(values[0].shape)
    for number in sorted(set(slices)):
        total += _slice_sum(held[of_slice == number], weight[of_slice == number], bits)
    magnitude, scale = np.frexp(np.abs(total))
    rounded = np.floor(np.ldexp(magnitude, bits) + 0.5)
    result = np.copysign(np.ldexp(rounded, scale - bits), total).astype(np.float32)
    result = np.where(np.abs(result) < np.finfo(np.float32).tiny, np.float32(0), result)
    special = (value * (weight != 0)).sum(axis=0).astype(np.float32)
    found = np.where(finite, result, special)
    return np.where(np.isnan(found), NANS[bits], found.view(np.uint32))


def _slice_sum(held: np.ndarray, weight: np.ndarray, bits: int) -> np.ndarray:
    exponent = np.frexp(np.abs(held).max(axis=0))[1] - (bits + GUARD)
    return np.ldexp((np.trunc(np.ldexp(held, -exponent)) * weight).sum(axis=0) / ONE, exponent)


def alone(words: np.ndarray, bits: int) -> np.ndarray:
    """A number that a filter passes on, uint32: there is one NaN, and subnormal numbers of f32 are zeros.
    `bits`: of the precision of its format."""
    value = words.view(np.float32)
    flushed = np.where(np.abs(value) < np.finfo(np.float32).tiny, words & np.uint32(1 << 31), words)
    return np.where(np.isnan(value), NANS[bits], flushed)


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
