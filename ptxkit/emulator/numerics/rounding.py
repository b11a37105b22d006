"""Rounding into binary32 and binary64, and the error-free sums and products that it rests on.

Modes are PTX's: `rn` to nearest even, `rz` toward zero, `rm` down, `rp` up; and `odd`: an inexact value
becomes that neighbour whose last bit is 1, so that it can be rounded once more, to fewer bits, as if it
were exact (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import any_lane, signed, unsigned

DIRECTED = ("rz", "rm", "rp")


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


def step(value: Any, up: Any, down: Any) -> Any:
    """The next number above where `up`, below where `down`; a zero steps the way that its own sign points."""
    words = signed(value)
    direction = np.asarray(up).astype(words.dtype) - down
    # Words grow with the magnitude: away from zero for one sign, toward it for the other.
    outward = words >> words.dtype.type(8 * words.dtype.itemsize - 1) | words.dtype.type(1)
    return (words + direction * outward).view(value.dtype)


def correct(nearest: Any, error: Any, mode: str) -> Any:
    """The value `nearest + error` rounded by `mode`, where `nearest` is that value rounded to nearest.

    Of `error` only the sign counts. Overflow to an infinity must have been dealt with.
    """
    match mode:
        case "rm":
            return step(nearest, False, error < 0)
        case "rp":
            return step(nearest, error > 0, False)
        case "rz":
            return step(nearest, (error > 0) & (nearest < 0), (error < 0) & (nearest > 0))
        case _:
            even = unsigned(nearest) & unsigned(nearest).dtype.type(1) == 0
            return step(nearest, (error > 0) & even, (error < 0) & even)


def f64_to_f32(value: Any, mode: str) -> Any:
    """An f64 rounded to f32. Overflow follows the mode: `rz` and `odd` stop at the largest finite number."""
    nearest = value.astype(np.float32)
    if mode == "rn":
        return nearest
    back = nearest.astype(np.float64)
    match mode:
        case "rm":
            return step(nearest, False, back > value)
        case "rp":
            return step(nearest, back < value, False)
    beyond = np.abs(back) > np.abs(value)
    words = unsigned(nearest) - beyond
    if mode == "odd":
        words = words | (back != value)
    return words.view(np.float32)


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
