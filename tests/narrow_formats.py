"""Formats of 4 to 8 bits as exact numbers, from `ml_dtypes` and the manual's words: the reference of tests.

A format's numbers are Fractions; `NAN` and `INFINITE` stand for what is none. Nothing of ptxkit is used here.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

NAN = "nan"
INFINITE = "infinite"

TYPES = {
    "e4m3": (8, ml_dtypes.float8_e4m3fn),
    "e5m2": (8, ml_dtypes.float8_e5m2),
    "e3m2": (6, ml_dtypes.float6_e3m2fn),
    "e2m3": (6, ml_dtypes.float6_e2m3fn),
    "e2m1": (4, ml_dtypes.float4_e2m1fn),
    "ue8m0": (8, ml_dtypes.float8_e8m0fnu),
}


@dataclass(frozen=True)
class Number:
    """A number, an infinity or a NaN with its sign, which is 1 for negative ones."""

    value: Fraction | str
    sign: int

    @property
    def is_zero(self) -> bool:
        return self.value == 0


def of_float(value: float) -> Number:
    if math.isnan(value):
        return Number(NAN, 0)
    sign = int(math.copysign(1, value) < 0)
    return Number(INFINITE if math.isinf(value) else Fraction(value), sign)


@cache
def numbers(name: str) -> tuple[Number, ...]:
    """What each code of a format stands for; ue5m3 is as e4m3 with a bit more of exponent, and no sign."""
    if name == "ue5m3":
        small = [Fraction(code, 8) * Fraction(1, 1 << 14) for code in range(8)]
        normal = [(1 + Fraction(code & 7, 8)) * Fraction(2) ** ((code >> 3) - 15) for code in range(8, 255)]
        return (*(Number(value, 0) for value in (*small, *normal)), Number(NAN, 0))
    size, kind = TYPES[name]
    codes = np.arange(1 << size, dtype=np.uint8).view(kind)
    return tuple(of_float(float(value)) for value in codes.astype(np.float64))


@cache
def grid(name: str) -> tuple[Fraction, ...]:
    """The finite magnitudes in order: of code 0, 1, 2, .."""
    found = []
    for number in numbers(name):
        if isinstance(number.value, str) or number.sign:
            break
        found.append(number.value)
    return tuple(found)


def neighbour(name: str, x: Fraction, mode: str) -> int:
    """The code of a magnitude, rounded as if the grid went on one step: that step's code is an overflow."""
    points = [*grid(name), 2 * grid(name)[-1] - grid(name)[-2]]
    if x >= points[-1]:
        return len(points) - 1
    low = bisect_right(points, x) - 1
    rest, middle = x - points[low], (points[low + 1] - points[low]) / 2
    up = rest > 0 if mode == "rp" else mode == "rn" and (rest > middle or (rest == middle and low & 1))
    return low + up


def add(a: Number, b: Number) -> Number:
    if NAN in (a.value, b.value):
        return Number(NAN, 0)
    if INFINITE in (a.value, b.value):
        if a.value == b.value and a.sign != b.sign:
            return Number(NAN, 0)
        return a if a.value == INFINITE else b
    assert isinstance(a.value, Fraction)
    assert isinstance(b.value, Fraction)
    total = a.value + b.value
    # An exact zero of opposite terms is positive.
    return Number(total, int(total < 0) if total else a.sign & b.sign)


def multiply(a: Number, b: Number) -> Number:
    if NAN in (a.value, b.value):
        return Number(NAN, 0)
    sign = a.sign ^ b.sign
    if INFINITE in (a.value, b.value):
        return Number(NAN, 0) if a.is_zero or b.is_zero else Number(INFINITE, sign)
    assert isinstance(a.value, Fraction)
    assert isinstance(b.value, Fraction)
    return Number(a.value * b.value, sign)


def negative(a: Number) -> Number:
    return a if a.value == NAN else Number(a.value if a.value == INFINITE else -a.value, 1 - a.sign)  # type: ignore[operator]
