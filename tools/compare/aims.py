"""Elements of matrices that aim at what is rare in sums of products: zeros, halves, underflow, NaN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compare.values import FLOATS

LAYOUTS = {**FLOATS, "e4m3": (4, 3), "e5m2": (5, 2)}
"""Exponent and fraction bits. A tf32 register has 23, of which the low 13 mean nothing."""
LEAST = {"f16": -24, "f32": -149, "f64": -1074}
"""The exponent of a result's least number."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How the elements of an operand are drawn.

    Attributes:
        about: `one`; `least` or `greatest`, the exponent of the result's least or greatest number, of which
            each factor takes half; `own`, that of the operand's own least number; `any` for any bits.
        low, high: exponents that are drawn, beside `about`; those that the type has not are clipped.
        bits: leading fraction bits that are drawn, the others are 0.
        zeros: the share of zeros. Like all elements they have either sign.
        odd: the share of infinities and NaN.
    """

    about: str = "one"
    low: int = 0
    high: int = 0
    bits: int = 64
    zeros: float = 0.0
    odd: float = 0.0


@dataclass(frozen=True, slots=True)
class Aim:
    """What the operands of a tile are like.

    Attributes:
        name: what happens often in such sums.
        a, b, c: how the operands are drawn.
    """

    name: str
    a: Draw
    b: Draw
    c: Draw


def _both(name: str, factors: Draw, c: Draw) -> Aim:
    return Aim(name, factors, factors, c)


ZERO = Draw(zeros=1.0)
AIMS = (
    _both("zeros", Draw(zeros=0.97), ZERO),
    _both("a lone product about the least number", Draw("least", -8, 3, zeros=0.7), ZERO),
    _both("powers of two about the least", Draw("least", -6, 2, 0, 0.75), Draw("least", 0, 1, 0, 0.6)),
    _both("sums about the least number", Draw("least", -4, 4, 2, 0.3), Draw("least", 0, 2, 1, 0.5)),
    _both("halves of a unit", Draw("one", -3, 2, 0, 0.3), Draw("one", -2, 13, 0, 0.2)),
    _both("products below the accumulator", Draw("one", -10, 1, 2, 0.3), Draw("one", -2, 11)),
    _both("cancellation", Draw("one", 0, 1, 1), Draw("one", 0, 2, 1, 0.3)),
    _both("sums about the greatest number", Draw("greatest", -3, 1, zeros=0.3), Draw("greatest", -2, 0)),
    Aim("subnormal factors", Draw("own", 0, 12), Draw("one", -4, 14), Draw("own", 0, 8, zeros=0.3)),
    _both("far exponents", Draw("one", -30, 30), Draw("one", -40, 30)),
    _both("infinities and NaN", Draw("one", -4, 4, zeros=0.3, odd=0.02), Draw("one", -4, 4, odd=0.02)),
    _both("any bits", Draw("any", zeros=0.2), Draw("any", zeros=0.2)),
)
"""One warp or tile after the other has the next of these."""


def codes(name: str, role: str, result: str, aims: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Elements of an operand, as codes in uint64.

    Args:
        name: the type of an element.
        role: `a`, `b` or `c`.
        result: the type of the sums.
        aims: for each element, which of `AIMS` it follows.
        random: draws.
    """
    found = np.zeros(aims.shape, np.uint64)
    for number, aim in enumerate(AIMS):
        chosen = aims == number
        found[chosen] = _codes(name, role, result, getattr(aim, role), int(chosen.sum()), random)
    return found


def _codes(
    name: str, role: str, result: str, draw: Draw, count: int, random: np.random.Generator
) -> np.ndarray:
    exponent_bits, fraction_bits = LAYOUTS[name]
    sign = random.integers(0, 2, count, dtype=np.uint64) << np.uint64(exponent_bits + fraction_bits)
    anything = random.integers(0, 1 << 64, count, dtype=np.uint64)
    full = (1 << exponent_bits + fraction_bits) - 1
    if draw.about == "any":
        magnitude = anything & np.uint64(full)
    else:
        least, greatest = 2 - (1 << exponent_bits - 1), (1 << exponent_bits - 1) - 1
        about = {"one": 0, "own": least - fraction_bits}.get(draw.about)
        if about is None:
            whole = LEAST[result] if draw.about == "least" else _greatest(result)
            about = whole if role == "c" else whole // 2 if role == "a" else whole - whole // 2
        exponents = random.integers(about + draw.low, about + draw.high, count, endpoint=True)
        exponents = np.clip(exponents, least - fraction_bits, greatest)
        kept = max(fraction_bits - draw.bits, 0)
        fraction = (anything & np.uint64((1 << fraction_bits) - 1)) >> np.uint64(kept) << np.uint64(kept)
        field = (np.maximum(exponents, least) - least + 1).astype(np.uint64) << np.uint64(fraction_bits)
        below = np.maximum(least - exponents, 0).astype(np.uint64)
        subnormal = (np.uint64(1 << fraction_bits) | fraction) >> below
        magnitude = np.where(below > 0, subnormal, field | fraction)
    share = random.random(count)
    infinity = np.uint64(((1 << exponent_bits) - 1) << fraction_bits)
    odd = np.where(anything & np.uint64(1), infinity, np.uint64(full))
    magnitude = np.where(share < draw.odd, odd, magnitude)
    return sign | np.where(share >= 1 - draw.zeros, np.uint64(0), magnitude)


def _greatest(result: str) -> int:
    return (1 << LAYOUTS[result][0] - 1) - 1
