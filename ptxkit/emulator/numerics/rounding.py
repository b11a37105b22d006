"""Rounding into binary32 and binary64, and the error-free sums and products that it rests on.

Modes are PTX's: `rn` to nearest even, `rz` toward zero, `rm` down, `rp` up; and `odd`: an inexact value
becomes that neighbour whose last bit is 1, so that it can be rounded once more, to fewer bits, as if it
were exact (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import any_lane, unsigned


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """`a + b` rounded to nearest and its exact error, as long as the sum doesn't overflow (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def split(a: Any) -> tuple[Any, Any]:
    """An f64 as the sum of two of at most 26 bits, for magnitudes below 2^996 (Veltkamp)."""
    scaled = a * np.float64(134217729.0)
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """`a * b` on f64 and its exact error, for factors below 2^996, a product in 2^-968 .. 2^1023 (Dekker)."""
    product = a * b
    a_high, a_low = split(a)
    b_high, b_low = split(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def word_of(condition: Any, like: Any) -> Any:
    """1 where the condition holds, else 0, as a word of another array's type."""
    return np.asarray(condition).view(np.uint8).astype(like.dtype)


def settle(nearest: Any, beyond: Any, inexact: Any, mode: str) -> Any:
    """A value rounded by `mode`, from the value rounded to nearest.

    Args:
        nearest: the rounded value; where it is a zero, with the value's sign.
        beyond: where its magnitude exceeds the value's.
        inexact: where it isn't the value.
        mode: any but `rn`.
    """
    words = unsigned(nearest)
    words = words - word_of(beyond, words)
    match mode:
        case "odd":
            words = words | word_of(inexact, words)
        case "rm":
            words = words + word_of(inexact & np.signbit(nearest), words)
        case "rp":
            words = words + word_of(inexact & ~np.signbit(nearest), words)
    return words.view(nearest.dtype)


def correct(nearest: Any, error: Any, mode: str) -> Any:
    """The value `nearest + error` rounded by `mode`, where `nearest` is that value rounded to nearest.

    Of `error` only the sign counts; NaN counts as 0. Overflow to an infinity must have been dealt with.
    """
    inexact = np.abs(error) > 0
    beyond = inexact & (np.signbit(error) != np.signbit(nearest))
    return settle(nearest, beyond, inexact, mode)


def f64_to_f32(value: Any, mode: str) -> Any:
    """An f64 rounded to f32. Overflow follows the mode: `rz` and `odd` stop at the largest finite number."""
    nearest = value.astype(np.float32)
    if mode == "rn":
        return nearest
    back = nearest.astype(np.float64)
    inexact = (back > value) | (back < value)
    return settle(nearest, np.abs(back) > np.abs(value), inexact, mode)


def zero_sum_sign(total: Any, a: Any, b: Any) -> Any:
    """The sum under `rm`, where opposite terms give -0 and not +0."""
    zero = total == 0
    if not any_lane(zero):
        return total
    negative = np.signbit(a) | np.signbit(b)
    return np.where(zero, np.where(negative, -np.zeros_like(total), total), total)


def integer_to_f64(value: Any, mode: str) -> Any:
    """An integer rounded to f64."""
    if mode == "rn" or value.dtype.itemsize < 8:
        return value.astype(np.float64)
    high = (value >> value.dtype.type(32)).astype(np.float64) * np.float64(2.0**32)
    low = (value & value.dtype.type(0xFFFFFFFF)).astype(np.float64)
    return correct(*two_sum(high, low), mode)
