"""Matrices that aim at what is rare in sums of products: zeros, halves, underflow, crumbs, NaN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compare.values import FLOATS

LAYOUTS = {**FLOATS, "e4m3": (4, 3), "e5m2": (5, 2)}
"""Exponent and fraction bits. A tf32 register has 23, of which the low 13 mean nothing."""
LEAST = {"f16": -24, "f32": -149, "f64": -1074}
"""The exponent of a result's least number."""
CRUMBS = {"f16": (8, 26), "f32": (0, 12), "f64": (0, 60)}
"""By how many bits a crumb is less than half a unit of the result: there the tensor cores begin to cut."""


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
        crumbs: A and B get products of half a unit of the result, and others that are far less.
    """

    name: str
    a: Draw
    b: Draw
    c: Draw
    crumbs: bool = False


def _both(name: str, factors: Draw, c: Draw) -> Aim:
    return Aim(name, factors, factors, c)


ZERO = Draw(zeros=1.0)
AIMS = (
    _both("zeros", Draw(zeros=0.97), ZERO),
    _both("a lone product about the least number", Draw("least", -8, 3, zeros=0.7), ZERO),
    _both("powers of two about the least", Draw("least", -6, 2, 0, 0.75), Draw("least", 0, 1, 0, 0.6)),
    _both("sums about the least number", Draw("least", -4, 4, 2, 0.3), Draw("least", 0, 2, 1, 0.5)),
    _both("halves of a unit", Draw("one", -3, 2, 0, 0.3), Draw("one", -2, 13, 0, 0.2)),
    Aim("halves and crumbs", ZERO, ZERO, ZERO, crumbs=True),
    _both("products below the accumulator", Draw("one", -10, 1, 2, 0.3), Draw("one", -2, 11)),
    _both("cancellation", Draw("one", 0, 1, 1), Draw("one", 0, 2, 1, 0.3)),
    _both("sums about the greatest number", Draw("greatest", -3, 1, zeros=0.3), Draw("greatest", -2, 0)),
    Aim("subnormal factors", Draw("own", 0, 12), Draw("one", -4, 14), Draw("own", 0, 8, zeros=0.3)),
    _both("far exponents", Draw("one", -30, 30), Draw("one", -40, 30)),
    _both("infinities and NaN", Draw("one", -4, 4, zeros=0.3, odd=0.02), Draw("one", -4, 4, odd=0.02)),
    _both("any bits", Draw("any", zeros=0.2), Draw("any", zeros=0.2)),
)
"""One tile after the other has the next of these."""


@dataclass(frozen=True, slots=True)
class Types:
    """Of A, B, C and D."""

    a: str
    b: str
    c: str
    d: str


@dataclass(frozen=True, slots=True)
class Matrices:
    """Codes in uint64: A (tiles, M, K that is stored), B (tiles, K, N), C (tiles, M, N)."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


def matrices(
    types: Types, shape: tuple[int, int, int], stored: int, aims: np.ndarray, random: np.random.Generator
) -> Matrices:
    """Operands of tiles.

    Args:
        types: of the instruction.
        shape: M, N, K.
        stored: elements of A along K; half of them where A is sparse.
        aims: for each tile, which of `AIMS` it follows.
        random: draws.
    """
    m, n, k = shape
    made = Matrices(*(np.zeros((len(aims), *each), np.uint64) for each in ((m, stored), (k, n), (m, n))))
    for number, aim in enumerate(AIMS):
        chosen = aims == number
        for role in "abc":
            whole = getattr(made, role)
            part = (int(chosen.sum()), *whole.shape[1:])
            whole[chosen] = codes(getattr(types, role), role, types.d, getattr(aim, role), part, random)
        if aim.crumbs:
            for tile in np.flatnonzero(chosen):
                _put_crumbs(types, made, tile, random)
    return made


def codes(
    name: str, role: str, result: str, draw: Draw, shape: tuple[int, ...], random: np.random.Generator
) -> np.ndarray:
    """Elements of an operand, each drawn by itself.

    Args:
        name: the type of an element.
        role: `a`, `b` or `c`.
        result: the type of the sums.
        draw: what they are like.
        shape: how many.
        random: draws.
    """
    exponent_bits, fraction_bits = LAYOUTS[name]
    sign = random.integers(0, 2, shape, dtype=np.uint64) << np.uint64(exponent_bits + fraction_bits)
    anything = random.integers(0, 1 << 64, shape, dtype=np.uint64)
    full = np.uint64((1 << exponent_bits + fraction_bits) - 1)
    if draw.about == "any":
        magnitude = anything & full
    else:
        about = {"one": 0, "own": 2 - (1 << exponent_bits - 1) - fraction_bits}.get(draw.about)
        if about is None:
            whole = LEAST[result] if draw.about == "least" else (1 << LAYOUTS[result][0] - 1) - 1
            about = whole if role == "c" else whole // 2 if role == "a" else whole - whole // 2
        exponents = random.integers(about + draw.low, about + draw.high, shape, endpoint=True)
        kept = np.uint64(max(fraction_bits - draw.bits, 0))
        magnitude = magnitudes(name, exponents, anything >> kept << kept)
    share = random.random(shape)
    infinity = np.uint64(((1 << exponent_bits) - 1) << fraction_bits)
    odd = np.where(anything & np.uint64(1), infinity, full)
    magnitude = np.where(share < draw.odd, odd, magnitude)
    return sign | np.where(share >= 1 - draw.zeros, np.uint64(0), magnitude)


def magnitudes(name: str, exponents: np.ndarray, fractions: np.ndarray | int = 0) -> np.ndarray:
    """Codes of positive numbers.

    Args:
        name: the type.
        exponents: those that it has not are clipped.
        fractions: words whose low bits are the fraction; those of a subnormal number are shifted out of it.
    """
    exponent_bits, fraction_bits = LAYOUTS[name]
    least, greatest = 2 - (1 << exponent_bits - 1), (1 << exponent_bits - 1) - 1
    exponents = np.clip(exponents, least - fraction_bits, greatest)
    fraction = np.asarray(fractions, np.uint64) & np.uint64((1 << fraction_bits) - 1)
    field = (np.maximum(exponents, least) - least + 1).astype(np.uint64) << np.uint64(fraction_bits)
    below = np.maximum(least - exponents, 0).astype(np.uint64)
    return np.where(below > 0, (np.uint64(1 << fraction_bits) | fraction) >> below, field | fraction)


def _put_crumbs(types: Types, made: Matrices, tile: int, random: np.random.Generator) -> None:
    """Products of half a unit, and lesser ones of many exponents, in all sums of a tile.

    The accumulators are zeros, a few of the least numbers, or numbers of one exponent. Half of the tiles have
    the lesser products twice, some of these with other signs.
    """
    a, b, c = made.a[tile], made.b[tile], made.c[tile]
    (m, stored), (k, n) = a.shape, b.shape
    least, fraction_bits = LEAST[types.d], LAYOUTS[types.d][1]
    half = least - 1
    match random.integers(0, 4):
        case 0:
            pass
        case 1:
            exponents = random.integers(least, least + 2, c.shape, endpoint=True)
            c[:] = magnitudes(types.c, exponents)
        case _:
            exponent = int(random.integers(-14, 12, endpoint=True))
            half = exponent - fraction_bits - 1
            fractions = random.integers(0, 1 << 62, c.shape, dtype=np.uint64)
            c[:] = magnitudes(types.c, np.full(c.shape, exponent), fractions)
    c |= _signs(types.c, c.shape, random)
    # Where A is sparse, two of four elements of B (of tf32 one of two) have factors, whichever these are.
    pair = 2 if stored < k and types.a != "tf32" else 1
    groups = stored // pair

    def put(group: int, exponent: int, rows: np.ndarray, columns: np.ndarray) -> None:
        least_a = 2 - (1 << LAYOUTS[types.a][0] - 1) - LAYOUTS[types.a][1]
        near = max(exponent // 2, least_a)
        left = magnitudes(types.a, near + rows) | _signs(types.a, (m,), random)
        right = magnitudes(types.b, exponent - near + columns) | _signs(types.b, (n,), random)
        a[:, group * pair] = left
        b[group * k // groups : (group + 1) * k // groups] = right

    places = random.permutation(groups)
    put(places[0], half, np.zeros(m, int), np.zeros(n, int))
    crumb = half - int(random.integers(*CRUMBS[types.d], endpoint=True))
    for place in places[1 : random.integers(2, 4)]:
        put(place, crumb, np.arange(m) % 4, np.arange(n) % 8 - 4)


def _signs(name: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    return random.integers(0, 2, shape, dtype=np.uint64) << np.uint64(sum(LAYOUTS[name]))
