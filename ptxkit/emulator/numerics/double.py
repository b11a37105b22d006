"""Arithmetic on f64 in every rounding mode. PTX ISA 9.7.3.

Numpy rounds to nearest; the exact error of its result, where that is an f64 itself, decides the rest. The
lanes in which it may not be go to `exact`.

Of NaN operands one comes out, with its sign and payload, made quiet. As measured on an H200 that is the last
factor or term, then the addend of a product, then the first; of a quotient the dividend before the divisor.
Where no operand is a NaN, it is `exact.NAN`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import exact
from ptxkit.emulator.numerics.bits import any_lane, number_first, repair, select, unsigned
from ptxkit.emulator.numerics.rounding import correct, two_product, two_sum, zero_sum_sign

NAN = np.uint64(exact.NAN).view(np.float64)
QUIET = np.uint64(1 << 51)
LARGE = np.float64(2.0**990)
SMALL = np.float64(2.0**-900)


def quiet(value: Any) -> Any:
    """Every NaN made quiet, with its sign and payload."""
    if np.isnan(np.max(value)):
        return select(np.isnan(value), (unsigned(value) | QUIET).view(np.float64), value)
    return value


def hand_on(result: Any, *operands: Any) -> Any:
    """The result, where it is a NaN that of the first operand that is one, made quiet."""
    if not np.isnan(np.max(result)):
        return result
    nan: Any = np.broadcast_to(NAN, np.shape(result))
    for operand in reversed(operands):
        operand = np.broadcast_to(operand, np.shape(result))
        nan = select(np.isnan(operand), (unsigned(operand) | QUIET).view(np.float64), nan)
    return select(np.isnan(result), nan, result)


def narrowed(result: Any, a: Any, fraction_bits: int) -> Any:
    """The words of a narrower format made of f64, those of a NaN with its sign and upper payload, quiet."""
    nan = np.isnan(a)
    if not any_lane(nan):
        return result
    kind = result.dtype.type
    magnitude = kind((1 << 8 * result.dtype.itemsize - 1) - 1)
    wide = unsigned(a)
    word = (wide >> np.uint64(52 - fraction_bits)).astype(kind) & magnitude | kind(1 << fraction_bits - 1)
    return np.where(nan, np.where(np.signbit(a), word | ~magnitude, word), result)


def outside(*values: Any) -> Any:
    """The lanes in which a value isn't finite or too large for error terms, False where there are none."""
    magnitudes = [np.abs(value) for value in values]
    if all(np.max(magnitude) < LARGE for magnitude in magnitudes):
        return False
    lanes: Any = False
    for magnitude in magnitudes:
        lanes = lanes | ~(magnitude < LARGE)
    return lanes


def small(value: Any) -> Any:
    """The lanes in which a value is too small for its error to be an f64, False where there are none."""
    magnitude = np.abs(value)
    return False if np.min(magnitude) >= SMALL else magnitude < SMALL


def settle(result: Any, doubtful: Any, function: Callable[..., int], mode: str, *operands: Any) -> Any:
    """The result with its doubtful lanes computed by a function of `exact`."""
    if not any_lane(doubtful):
        return result
    return repair(result, doubtful, lambda *lanes: exact.on_lanes(function, mode, *lanes), *operands)


def add(a: Any, b: Any, mode: str) -> Any:
    """`a + b`."""
    return hand_on(rounded_sum(a, b, mode), b, a)


def subtract(a: Any, b: Any, mode: str) -> Any:
    """`a - b`: the sum with the negative, but that a NaN keeps its sign."""
    return hand_on(rounded_sum(a, np.negative(b), mode), b, a)


def add_to_memory(old: Any, b: Any) -> Any:
    """`old + b` as the cache of global memory adds: a NaN, b's before the old one, is not made quiet."""
    total = old + b
    nan = np.where(np.isnan(b), b, np.where(np.isnan(old), old, NAN))
    return np.where(np.isnan(total), nan, total)


def rounded_sum(a: Any, b: Any, mode: str) -> Any:
    """`a + b`, some NaN where it is one."""
    if mode == "rn":
        return a + b
    total, error = two_sum(a, b)
    result = correct(total, error, mode)
    if mode == "rm":
        result = zero_sum_sign(result, a, b)
    return settle(result, outside(total), exact.fma, mode, a, np.ones_like(a), b)


def multiply(a: Any, b: Any, mode: str) -> Any:
    """`a * b`."""
    if mode == "rn":
        return hand_on(a * b, b, a)
    product, error = two_product(a, b)
    doubtful = outside(a, b, product) | small(product) & (a != 0) & (b != 0)
    return hand_on(settle(correct(product, error, mode), doubtful, exact.multiply, mode, a, b), b, a)


def fma(a: Any, b: Any, c: Any, mode: str) -> Any:
    """`a * b + c` with one rounding."""
    product, product_error = two_product(a, b)
    low, low_error = two_sum(c, product_error)
    high, high_error = two_sum(product, low)
    rest = correct(*two_sum(low_error, high_error), "odd")
    result = high + rest if mode == "rn" else correct(*two_sum(high, rest), mode)
    zero = result == 0
    if any_lane(zero):
        signed_zero = product + c if mode != "rm" else zero_sum_sign(product + c, product, c)
        result = np.where(zero, signed_zero, result)
    doubtful = outside(a, b, c, product) | small(product) & (a != 0) & (b != 0)
    if any_lane(doubtful):
        result = repair(result, doubtful, lambda x, y, z: fma_at_the_edge(x, y, z, mode), a, b, c)
    return hand_on(result, b, c, a)


def fma_at_the_edge(a: Any, b: Any, c: Any, mode: str) -> Any:
    """`fma` where infinities, NaN and numbers near the ends of the range are common, on one axis."""
    factors = np.isfinite(a) & np.isfinite(b)
    special = ~factors | ~np.isfinite(c)
    # A finite product doesn't touch an infinity or a NaN, and beside a normal number shows its sign at most.
    result = np.where(factors, c, a * b + c)
    product = np.abs(a * b)
    trace = factors & (product < SMALL) & (np.abs(c) > 2.0**-700)
    if mode != "rn":
        sign = np.where(np.signbit(a) ^ np.signbit(b), -1.0, 1.0)
        result = np.where(special, result, correct(c, sign * ((a != 0) & (b != 0)), mode))
    return settle(result, ~(special | trace), exact.fma, mode, a, b, c)


def divide(a: Any, b: Any, mode: str) -> Any:
    """`a / b`."""
    nearest = a / b
    if mode == "rn":
        return hand_on(nearest, a, b)
    product, product_error = two_product(nearest, b)
    excess = (product - a) + product_error
    result = correct(nearest, np.where(np.signbit(b), excess, -excess), mode)
    doubtful = (outside(a, b, nearest) | small(a)) & np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    return hand_on(settle(result, doubtful, exact.divide, mode, a, b), a, b)


def square_root(a: Any, mode: str) -> Any:
    """The square root."""
    nearest = np.sqrt(a)
    if mode == "rn":
        return hand_on(nearest, a)
    square, square_error = two_product(nearest, nearest)
    result = correct(nearest, (a - square) - square_error, mode)
    doubtful = (outside(a) | small(a)) & np.isfinite(a) & (a > 0)
    return hand_on(settle(result, doubtful, exact.square_root, mode, a), a)


def extreme(a: Any, b: Any, largest: bool) -> Any:
    """`max` or `min`: -0 below +0; a NaN loses against a number."""
    result = (np.fmax if largest else np.fmin)(a, b)
    x, y = unsigned(a), unsigned(b)
    zeros = (x | y) == np.uint64(1 << 63)
    if any_lane(zeros):
        result = select(zeros, (x & y if largest else x | y).view(np.float64), result)
    return result if not np.isnan(np.max(result)) else hand_on(number_first(result, a, b), b, a)
