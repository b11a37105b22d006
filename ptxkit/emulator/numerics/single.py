"""Arithmetic on f32 in every rounding mode. PTX ISA 9.7.3.

Products of two f32 are exact in f64, sums there are one rounding away; so f64 carries every mode, and the
question is only whether its own rounding can spoil the second one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import any_lane, number_first, repair, select, unsigned
from ptxkit.emulator.numerics.rounding import correct, f64_to_f32, two_sum, zero_sum_sign

NAN = np.uint32(0x7FFFFFFF).view(np.float32)
SMALLEST_NORMAL = np.float32(2.0**-126)


def canonical(value: Any) -> Any:
    """Every NaN made the one that the hardware's arithmetic returns, 0x7fffffff."""
    if np.isnan(np.max(value)):
        return select(np.isnan(value), NAN, value)
    return value


def has_subnormal(value: Any, or_least_normal: bool = False) -> bool:
    """Whether any lane is subnormal, or the least normal number."""
    doubled = unsigned(value) << np.uint32(1)
    return bool(np.min(doubled - np.uint32(1)) < 0x00FFFFFF + or_least_normal)


def flush(value: Any) -> Any:
    """Subnormal numbers made zero, keeping the sign: what `.ftz` does to operands and results."""
    if not has_subnormal(value):
        return value
    words = unsigned(value)
    subnormal = words & np.uint32(0x7F800000) == 0
    return select(subnormal, words & np.uint32(0x80000000), words).view(np.float32)


def flush_result(result: Any, exact: Callable[[], Any], mode: str) -> Any:
    """`.ftz` of a rounded result.

    As measured on an H200, the least normal number is flushed, too, where rounding made it: what counts is
    the exact value rounded to 24 bits as if there were smaller exponents.

    Args:
        result: rounded by `mode`.
        exact: gives the exact values in f64, inexact ones rounded to odd.
        mode: of the operation.
    """
    if not has_subnormal(result, or_least_normal=True):
        return result
    least = np.abs(result) == SMALLEST_NORMAL
    if any_lane(least):
        tiny = np.abs(f64_to_f32(exact() * np.float64(2.0**64), mode)) < np.float32(2.0**-62)
        result = select(least & tiny, np.copysign(np.float32(0), result), result)
    return flush(result)


def saturate(value: Any) -> Any:
    """`.sat`: clamped to [+0, 1], a quiet NaN to +0."""
    return np.minimum(np.fmax(value, np.float32(0)) + np.float32(0), np.float32(1))


def add(a: Any, b: Any, mode: str) -> Any:
    """`a + b`."""
    if mode == "rn":
        return canonical(a + b)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    total, error = two_sum(wide_a, wide_b)
    total = correct(total, error, "odd")
    if mode == "rm":
        total = zero_sum_sign(total, a, b)
    return canonical(f64_to_f32(total, mode))


def multiply(a: Any, b: Any, mode: str) -> Any:
    """`a * b`."""
    if mode == "rn":
        return canonical(a * b)
    return canonical(f64_to_f32(exact_product(a, b), mode))


def fma(a: Any, b: Any, c: Any, mode: str) -> Any:
    """`a * b + c` with one rounding."""
    if mode != "rn":
        return canonical(fma_odd(a, b, c, mode))
    total = a.astype(np.float64) * b + c
    result = total.astype(np.float32)
    # Rounding twice goes wrong only where the f64 sum lies halfway between two f32: that is, its last 29 bits
    # are a one and zeros, or the result is subnormal.
    doubtful = unsigned(total) & np.uint64(0x1FFFFFFF) == np.uint64(0x10000000)
    if has_subnormal(result):
        doubtful = doubtful | (np.abs(result) < SMALLEST_NORMAL)
    if any_lane(doubtful):
        result = repair(result, doubtful, lambda x, y, z: fma_odd(x, y, z, "rn"), a, b, c)
    return canonical(result)


def fma_odd(a: Any, b: Any, c: Any, mode: str) -> Any:
    """`fma` by rounding to odd in f64, for any mode."""
    total = exact_fma(a, b, c)
    if mode == "rm":
        total = zero_sum_sign(total, exact_product(a, b), c)
    return f64_to_f32(total, mode)


def exact_product(a: Any, b: Any) -> Any:
    """`a * b` in f64."""
    return a.astype(np.float64) * b.astype(np.float64)


def exact_fma(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` in f64, rounded to odd."""
    return correct(*two_sum(exact_product(a, b), c.astype(np.float64)), "odd")


def divide(a: Any, b: Any, mode: str) -> Any:
    """`a / b`."""
    nearest = a / b
    if mode == "rn":
        return canonical(nearest)
    # The product of quotient and divisor is exact in f64: against `a` it tells the error's sign.
    excess = nearest.astype(np.float64) * b - a
    return canonical(
        correct_quotient(nearest, np.where(np.signbit(b), excess, -excess), mode, np.isfinite(a) & (b != 0))
    )


def exact_quotient(a: Any, b: Any) -> Any:
    """`a / b` in f64: no quotient of f32 is so close to a number of 25 bits that this rounding matters."""
    return a.astype(np.float64) / b.astype(np.float64)


def reciprocal(a: Any, mode: str) -> Any:
    """`1 / a`."""
    return divide(np.ones_like(a), a, mode)


def exact_reciprocal(a: Any) -> Any:
    """`1 / a` in f64, as `exact_quotient`."""
    return np.float64(1) / a.astype(np.float64)


def square_root(a: Any, mode: str) -> Any:
    """The square root."""
    nearest = np.sqrt(a)
    if mode == "rn":
        return canonical(nearest)
    error = a - np.square(nearest.astype(np.float64))
    return canonical(correct_quotient(nearest, error, mode, np.isfinite(a)))


def correct_quotient(nearest: Any, error: Any, mode: str, inexact: Any) -> Any:
    """`correct` in the lanes that can be `inexact`; it takes an overflow back where the mode forbids it."""
    error = np.where(inexact, error, 0)
    overflow = np.isinf(nearest) & inexact
    if any_lane(overflow):
        error = np.where(overflow, np.where(nearest > 0, -1.0, 1.0), error)
    return correct(nearest, error, mode)


def extreme(a: Any, b: Any, largest: bool, propagate_nan: bool) -> Any:
    """`max` or `min`: -0 below +0; a NaN loses against a number, or wins with `propagate_nan`."""
    if largest:
        result = (np.maximum if propagate_nan else np.fmax)(a, b)
    else:
        result = (np.minimum if propagate_nan else np.fmin)(a, b)
    x, y = unsigned(a), unsigned(b)
    joint = x | y
    if any_lane(joint == np.uint32(0x80000000)):
        # Zeros, one of them negative: the sign of the result is that of both for max, of either for min.
        sign = x & y if largest else joint
        result = select(joint == np.uint32(0x80000000), sign.view(np.float32), result)
    if not np.isnan(np.max(result)):
        return result
    return canonical(result if propagate_nan else number_first(result, a, b))
