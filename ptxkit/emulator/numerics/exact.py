"""Correctly rounded f64 arithmetic on Python's integers, lane by lane.

The fast paths of `double` send here the few lanes whose error terms would leave the range of f64: products
near overflow or underflow, infinities, NaN. Any result is right for any operands, at a few microseconds a
lane.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

NAN = 0xFFF8000000000000
INFINITY = 0x7FF0000000000000
LARGEST = 0x7FEFFFFFFFFFFFFF
SIGN = 1 << 63


def decode(word: int) -> tuple[int, int, int]:
    """(sign, significand, exponent) of a finite f64: (-1)^sign * significand * 2^exponent."""
    exponent, fraction = word >> 52 & 0x7FF, word & (1 << 52) - 1
    if exponent:
        return word >> 63, fraction | 1 << 52, exponent - 1075
    return word >> 63, fraction, -1074


def is_nan(word: int) -> bool:
    """Whether an f64's bits are a NaN."""
    return word & ~SIGN > INFINITY


def is_infinite(word: int) -> bool:
    """Whether an f64's bits are an infinity."""
    return word & ~SIGN == INFINITY


def encode(sign: int, significand: int, exponent: int, mode: str, sticky: bool = False) -> int:
    """The f64 nearest to (-1)^sign * (significand + a bit of `sticky`) * 2^exponent by the mode.

    With `sticky` the significand must have at least 55 bits.
    """
    if significand == 0:
        return sign << 63
    drop = max(significand.bit_length() - 53, -1074 - exponent)
    if drop > 0:
        kept, rest = significand >> drop, significand & (1 << drop) - 1
        half = 1 << drop - 1
        inexact = bool(rest) or sticky
        if mode == "rn":
            up = rest > half or (rest == half and (sticky or bool(kept & 1)))
        else:
            up = inexact and mode == ("rm" if sign else "rp")
        significand, exponent = kept + up, exponent + drop
    if significand.bit_length() > 53:
        significand, exponent = significand >> 1, exponent + 1
    shift = 53 - significand.bit_length()
    if exponent - shift < -1074:
        shift = exponent + 1074
    significand, exponent = significand << shift, exponent - shift
    if exponent > 971:
        to_infinity = mode == "rn" or mode == ("rm" if sign else "rp")
        return sign << 63 | (INFINITY if to_infinity else LARGEST)
    if significand < 1 << 52:
        return sign << 63 | significand
    return sign << 63 | (exponent + 1075) << 52 | significand & (1 << 52) - 1


def fma(a: int, b: int, c: int, mode: str) -> int:
    """`a * b + c`."""
    if is_nan(a) or is_nan(b) or is_nan(c):
        return NAN
    sign = (a ^ b) & SIGN
    if is_infinite(a) or is_infinite(b):
        if not (a & ~SIGN and b & ~SIGN) or (is_infinite(c) and c & SIGN != sign):
            return NAN
        return sign | INFINITY
    if is_infinite(c):
        return c
    (_, a_significand, a_exponent), (_, b_significand, b_exponent) = decode(a), decode(b)
    c_sign, c_significand, c_exponent = decode(c)
    product, exponent = a_significand * b_significand, a_exponent + b_exponent
    base = min(exponent, c_exponent) if c_significand and product else exponent if product else c_exponent
    total = (-product if sign else product) << max(exponent - base, 0) if product else 0
    if c_significand:
        total += (-c_significand if c_sign else c_significand) << c_exponent - base
    if total == 0:
        exact_zero_sign = sign >> 63 if sign == c & SIGN else int(mode == "rm")
        return exact_zero_sign << 63
    return encode(int(total < 0), abs(total), base, mode)


def multiply(a: int, b: int, mode: str) -> int:
    """`a * b`."""
    return fma(a, b, (a ^ b) & SIGN, mode)


def divide(a: int, b: int, mode: str) -> int:
    """`a / b`."""
    sign = (a ^ b) >> 63
    if is_nan(a) or is_nan(b) or (is_infinite(a) and is_infinite(b)):
        return NAN
    if is_infinite(a):
        return sign << 63 | INFINITY
    if is_infinite(b):
        return sign << 63
    (_, numerator, a_exponent), (_, denominator, b_exponent) = decode(a), decode(b)
    if denominator == 0:
        return sign << 63 | INFINITY if numerator else NAN
    quotient, rest = divmod(numerator << 120, denominator)
    return encode(sign, quotient, a_exponent - b_exponent - 120, mode, sticky=bool(rest))


def square_root(a: int, mode: str) -> int:
    """The square root of `a`."""
    if is_nan(a) or (a & SIGN and a != SIGN):
        return NAN
    if is_infinite(a) or a & ~SIGN == 0:
        return a
    _, significand, exponent = decode(a)
    shift = 120 + (exponent & 1)
    root = isqrt(significand << shift)
    sticky = root * root != significand << shift
    return encode(0, root, (exponent - shift) // 2, mode, sticky=sticky)


def on_lanes(function: Callable[..., int], mode: str, *operands: Any) -> Any:
    """A function of this module on f64 arrays of one axis."""
    lanes = zip(*(operand.view(np.uint64).tolist() for operand in operands), strict=True)
    return np.array([function(*words, mode) for words in lanes], np.uint64).view(np.float64)
