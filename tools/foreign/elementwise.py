"""Functions of two numbers, for numba to compile for this machine and for PTX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Function = Callable[[Any, Any], Any]

# ---- integers


def add_sub_mul(a: Any, b: Any) -> Any:
    return (a + b) * (a - b)


def floor_divide(a: Any, b: Any) -> Any:
    return a // b if b else a


def modulo(a: Any, b: Any) -> Any:
    return a % b if b else b


def both_divisions(a: Any, b: Any) -> Any:
    d = (b & 63) + 1
    return (a // d) * 100 + a % d


def bits(a: Any, b: Any) -> Any:
    return (a & b) ^ (a | ~b)


def shifts(a: Any, b: Any) -> Any:
    n = b & 7
    return (a << n) ^ (a >> n)


def negate(a: Any, b: Any) -> Any:
    return -a if a < b else abs(b)


def least_greatest(a: Any, b: Any) -> Any:
    return min(a, b) - max(a, b)


def compare(a: Any, b: Any) -> Any:
    return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b)


def chained(a: Any, b: Any) -> Any:
    if a < 0 and b < 0:
        return a
    if a > 100 or b > 100:
        return b
    return a + b


def power(a: Any, b: Any) -> Any:
    return (a & 15) ** (b & 7)


def greatest_common_divisor(a: Any, b: Any) -> Any:
    x, y = abs(a) & 0xFFFF, abs(b) & 0xFFFF
    while y:
        x, y = y, x % y
    return x


def collatz(a: Any, b: Any) -> Any:
    x, steps = (a & 1023) + 1, 0
    while x != 1 and steps < 60:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


def loop_of_sums(a: Any, b: Any) -> Any:
    total = a
    for i in range(b & 31):
        if i % 3 == 2:
            continue
        if total == 77:
            break
        total += i * a
    return total


def xorshift(a: Any, b: Any) -> Any:
    x = (a ^ b) | 1
    for _ in range(3):
        x ^= x << 3
        x ^= x >> 5
        x ^= x << 1
    return x


def multiplied_high(a: Any, b: Any) -> Any:
    return ((a & 0x7FFFFFFF) * (b & 0x7FFFFFFF)) >> 32


def nested(a: Any, b: Any) -> Any:
    total = 0
    for i in range(a & 7):
        for j in range(i, b & 7):
            total += i * j if (i + j) & 1 else i - j
    return total


INTEGER: tuple[Function, ...] = (
    add_sub_mul,
    floor_divide,
    modulo,
    both_divisions,
    bits,
    shifts,
    negate,
    least_greatest,
    compare,
    chained,
    power,
    greatest_common_divisor,
    collatz,
    loop_of_sums,
    xorshift,
    multiplied_high,
    nested,
)


# ---- floating point: results that IEEE 754 fixes. The remainder is left out, for NVVM makes
# `x - trunc(x / y) * y` of it; so are sums of products, which become `fma`.


def plus(a: Any, b: Any) -> Any:
    return a + b


def times(a: Any, b: Any) -> Any:
    return a * b


def divided(a: Any, b: Any) -> Any:
    return a / b if b != 0 else a


def root(a: Any, b: Any) -> Any:
    return math.sqrt(abs(a))


def rounded(a: Any, b: Any) -> Any:
    return math.floor(a / 8) + math.ceil(b / 8)


def truncated(a: Any, b: Any) -> Any:
    return math.trunc(a / 16)


def magnitude(a: Any, b: Any) -> Any:
    return math.copysign(math.fabs(a), b)


def classified(a: Any, b: Any) -> Any:
    return math.isnan(a) + 2 * math.isinf(b) + 4 * math.isfinite(a)


def ordered(a: Any, b: Any) -> Any:
    return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b)


def to_integer(a: Any, b: Any) -> Any:
    return int(a / 64) * 2 + int(b / 64)


def of_halves(a: Any, b: Any) -> Any:
    mantissa, exponent = math.frexp(a)
    return math.ldexp(mantissa, exponent & 15)


def newton(a: Any, b: Any) -> Any:
    x = abs(a) + 1
    y = x
    for _ in range(4):
        y = (y + x / y) / 2
    return y


EXACT: tuple[Function, ...] = (
    plus, times, divided, root, rounded, truncated, magnitude, classified, ordered, to_integer,
    of_halves, newton,
)  # fmt: skip

LIBRARY: dict[str, tuple[Callable[[Any], Any], int, int]] = {
    "exp": (lambda a: a / 16, 2, 1),
    "expm1": (lambda a: a / 64, 1, 1),
    "log": (lambda a: abs(a) + 0.5, 1, 1),
    "log2": (lambda a: abs(a) + 0.5, 1, 1),
    "log10": (lambda a: abs(a) + 0.5, 2, 1),
    "log1p": (lambda a: abs(a), 1, 1),
    "sin": (lambda a: a, 2, 2),
    "cos": (lambda a: a, 2, 2),
    "tan": (lambda a: a, 4, 2),
    "asin": (lambda a: a / 1024, 2, 2),
    "acos": (lambda a: a / 1024, 2, 2),
    "atan": (lambda a: a, 2, 2),
    "sinh": (lambda a: a / 32, 3, 2),
    "cosh": (lambda a: a / 32, 2, 1),
    "tanh": (lambda a: a / 32, 2, 1),
    "asinh": (lambda a: a, 3, 3),
    "acosh": (lambda a: abs(a) + 1.5, 4, 3),
    "atanh": (lambda a: a / 1024, 3, 2),
    "erf": (lambda a: a / 64, 2, 2),
    "erfc": (lambda a: a / 128, 4, 5),
    "gamma": (lambda a: abs(a) / 64 + 1, 5, 10),
}
"""Functions of `math`, what they are asked of numbers below 1000, and the greatest error in units of the last
place that CUDA's guide gives for f32 and f64."""
