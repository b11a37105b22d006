"""The truncated fused sum of tensor cores on Python integers: the reference of their tests.

Written from the published model, step by step, one output at a time. Nothing of ptxkit is used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# name: exponent bits, fraction bits, bias, whether there are infinities, the NaN magnitudes
FORMATS = {
    "f32": (8, 23, 127, True, range(0x7F800001, 0x80000000)),
    "f16": (5, 10, 15, True, range(0x7C01, 0x8000)),
    "bf16": (8, 7, 127, True, range(0x7F81, 0x8000)),
    "e5m2": (5, 2, 15, True, range(0x7D, 0x80)),
    "e4m3": (4, 3, 7, False, range(0x7F, 0x80)),
    "e3m2": (3, 2, 3, False, range(0)),
    "e2m3": (2, 3, 1, False, range(0)),
    "e2m1": (2, 1, 1, False, range(0)),
}
NAN, INFINITY = "nan", "inf"
UNIT = 320
"""Elements are integers in units of 2^-UNIT, products and sums in units of 2^-2 UNIT."""


@dataclass(frozen=True)
class Number:
    """A decoded number: finite ones have a value and the exponent that they are aligned by."""

    negative: bool
    kind: str = ""
    value: int = 0
    exponent: int = 0


def decode(name: str, code: int) -> Number:
    if name == "tf32":
        name, code = "f32", code & ~0x1FFF
    exponent_bits, fraction_bits, bias, infinities, nans = FORMATS[name]
    width = 1 + exponent_bits + fraction_bits
    negative, magnitude = bool(code >> width - 1), code & (1 << width - 1) - 1
    if magnitude in nans:
        return Number(negative, NAN)
    field, fraction = magnitude >> fraction_bits, magnitude & (1 << fraction_bits) - 1
    if infinities and field == (1 << exponent_bits) - 1:
        return Number(negative, INFINITY)
    significand = fraction + (1 << fraction_bits if field else 0)
    exponent = max(field, 1) - bias
    value = significand << exponent - fraction_bits + UNIT
    return Number(negative, "", -value if negative else value, exponent)


def as_f16(x: Number) -> Number:
    """An 8-bit number converted to f16: what was subnormal need not be so any more."""
    if x.kind or x.value == 0:
        return x
    return Number(x.negative, "", x.value, max(abs(x.value).bit_length() - 1 - UNIT, -14))


def truncate(x: int, quantum: int) -> int:
    """`x`, in units of a product, toward zero to a multiple of 2^quantum."""
    low = quantum + 2 * UNIT
    whole = abs(x) >> low << low
    return -whole if x < 0 else whole


def special_sum(terms: Sequence[Number]) -> str | None:
    """`nan`, `+inf` or `-inf`, or None where all terms are finite."""
    if any(term.kind == NAN for term in terms):
        return NAN
    signs = {term.negative for term in terms if term.kind == INFINITY}
    if len(signs) == 2:
        return NAN
    return ("-inf" if signs.pop() else "+inf") if signs else None


def product(a: Number, b: Number) -> Number:
    negative = a.negative != b.negative
    if NAN in (a.kind, b.kind):
        return Number(False, NAN)
    if INFINITY in (a.kind, b.kind):
        other = b if a.kind == INFINITY else a
        return Number(False, NAN) if other.kind == "" and other.value == 0 else Number(negative, INFINITY)
    return Number(negative, "", a.value * b.value, a.exponent + b.exponent)


def to_f32(x: int, fraction_bits: int) -> int:
    """The code of `x`, in units of a product, toward zero to so many fraction bits."""
    sign = 0x80000000 if x < 0 else 0
    magnitude = abs(x)
    exponent = max(magnitude.bit_length() - 1 - 2 * UNIT, -126)
    if exponent >= 128:
        return sign | 0x7F800000
    kept = truncate(magnitude, exponent - fraction_bits) >> exponent - 23 + 2 * UNIT
    code = kept + (exponent + 126 << 23)
    return sign | code if code else 0


def to_f16(x: int) -> int:
    """The code of `x`, in units of a product, to nearest even."""
    sign = 0x8000 if x < 0 else 0
    magnitude = abs(x)
    exponent = max(magnitude.bit_length() - 1 - 2 * UNIT, -14)
    low = exponent - 10 + 2 * UNIT
    whole, rest = magnitude >> low, magnitude & (1 << low) - 1
    whole += rest > 1 << low - 1 or (rest == 1 << low - 1 and whole & 1)
    code = min(whole + (exponent + 14 << 10), 0x7C00)
    return sign | code if code else 0


def finish(x: int | str, result: str, fraction_bits: int) -> int:
    if isinstance(x, str):
        if result == "f32":
            return {NAN: 0x7FFFFFFF, "+inf": 0x7F800000, "-inf": 0xFF800000}[x]
        return {NAN: 0x7FFF, "+inf": 0x7C00, "-inf": 0xFC00}[x]
    return to_f32(x, fraction_bits) if result == "f32" else to_f16(x)


def step(products: Sequence[Number], c: Number, fraction: int, zero: int) -> int | str:
    """The sum of one step, before its conversion."""
    terms = [*products, widened(c)]
    special = special_sum(terms)
    if special is not None:
        return special
    greatest = max(zero if term.value == 0 else term.exponent for term in terms)
    return sum(truncate(term.value, greatest - fraction) for term in terms)


def widened(c: Number) -> Number:
    """An accumulator in the units of a product."""
    return Number(c.negative, c.kind, c.value << UNIT, c.exponent)


def fused(
    a: Sequence[Number],
    b: Sequence[Number],
    c: int,
    result: str,
    length: int,
    fraction: int,
    bits: int,
    zero: int,
) -> int:
    """An output: steps of `length` products along k."""
    for k in range(0, len(a), length):
        products = [product(x, y) for x, y in zip(a[k : k + length], b[k : k + length], strict=True)]
        c = finish(step(products, decode(result, c), fraction, zero), result, bits)
    return c


def scale(name: str, code: int) -> Number:
    """A scale factor."""
    if name == "ue8m0":
        if code == 0xFF:
            return Number(False, NAN)
        return Number(False, "", 1 << code - 127 + UNIT, code - 127)
    return decode("e4m3", code & 0x7F)


def scaled(x: Number, factor: Number) -> Number:
    """An element times a `ue8m0` factor."""
    if factor.kind == NAN:
        return factor
    return Number(x.negative, x.kind, x.value * factor.value >> UNIT, x.exponent + factor.exponent)


def grouped(
    a: Sequence[Number],
    b: Sequence[Number],
    c: int,
    factors: Sequence[tuple[Number, Number]],
    fraction: int = 35,
    zero: int = -139,
) -> int:
    """An output of e2m1 with exact groups; `factors` has the two scale factors of each group."""
    length = len(a) // len(factors)
    terms = []
    for g, (x, y) in enumerate(factors):
        if NAN in (x.kind, y.kind):
            return 0x7FFFFFFF
        span = slice(g * length, (g + 1) * length)
        products = [p.value * q.value for p, q in zip(a[span], b[span], strict=True)]
        if not any(products) or x.value * y.value == 0:
            terms.append(Number(False))
            continue
        total = sum(products) * x.value * y.value >> 2 * UNIT
        # A dot product that cancels still counts with its exponent, so it must not look like a zero term.
        terms.append(Number(total < 0, "group", total, x.exponent + y.exponent))
    accumulator = widened(decode("f32", c))
    special = special_sum([accumulator])
    if special is not None:
        return finish(special, "f32", 23)
    levels = [term.exponent if term.kind else zero for term in terms]
    levels.append(zero if accumulator.value == 0 else accumulator.exponent)
    quantum = max(levels) - fraction
    total = sum(truncate(term.value, quantum) for term in [*terms, accumulator])
    return finish(total, "f32", 23)


# ---- inputs


def codes(name: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Codes of many kinds: any bits; exponents near one another; few fraction bits; zeros and specials."""
    exponent_bits, fraction_bits, bias, _, _ = FORMATS["f32" if name == "tf32" else name]
    width = 1 + exponent_bits + fraction_bits
    anything = random.integers(0, 1 << width, count, dtype=np.uint64)
    fraction = anything & np.uint64((1 << fraction_bits) - 1)
    sign = anything >> np.uint64(width - 1)
    near = np.clip(random.normal(bias, 4, count).round(), 0, (1 << exponent_bits) - 1).astype(np.uint64)
    close = sign << np.uint64(width - 1) | near << np.uint64(fraction_bits) | fraction
    few = close & ~np.uint64((1 << fraction_bits // 2) - 1)
    full = (1 << exponent_bits) - 1
    edge = [0, 1, (1 << fraction_bits) - 1, 1 << fraction_bits, (full << fraction_bits) - 1]
    odd = [full << fraction_bits, (full << fraction_bits) + 1, (1 << width - 1) - 1]
    edges = random.choice(np.array(edge + edge + odd, np.uint64), count) | sign << np.uint64(width - 1)
    kind = random.random(count)
    mixed = np.where(kind < 0.5, close, np.where(kind < 0.75, few, np.where(kind < 0.97, anything, edges)))
    return mixed.astype({32: np.uint32, 16: np.uint16}.get(width, np.uint8))
