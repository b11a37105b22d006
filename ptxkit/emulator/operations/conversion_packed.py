"""`cvt` between packed formats of 8 bits and fewer and the larger ones. PTX ISA 9.7.9.21."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits, half
from ptxkit.emulator.numerics.formats import FORMATS, encode, values
from ptxkit.emulator.numerics.rounding import f64_to_f32
from ptxkit.emulator.operation import Modifiers, Pure, pure
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.operations.conversion import encoder, pairs_of

SMALL = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
SMALL_PAIRS = tuple(f"{kind}x2" for kind in SMALL)
# In a pair each code has a byte to itself, but for e2m1, which has half of one.
FIELD = {"e2m1": 4}


@pure("cvt", types=pairs_of((SMALL_PAIRS, ("f32", "f16x2", "bf16x2"))))
def to_small_pair(m: Modifiers) -> Pure:
    """To pairs of 8, 6 and 4 bits: the first source, or the upper half, to the upper place."""
    m.need("rn")
    m.need("satfinite")
    name, source = m.type().name, m.type().name
    form = FORMATS[name.removesuffix("x2")]
    code = encoder(form, "rn", m.flag("relu"), True)
    field = FIELD.get(form.name, 8)
    word = bits.UNSIGNED[2 * field]

    def function(a: Any, b: Any) -> Any:
        return (code(a) << np.uint32(field) | code(b)).astype(word)

    if source == "f32":
        return Pure((name,), ("f32", "f32"), function, undefined=definedness.each_a_part(2, 2 * field))
    kind = source.removesuffix("x2")

    def from_pair(a: Any) -> Any:
        return function(half.widen(a >> np.uint32(16), kind), half.widen(a & np.uint32(0xFFFF), kind))

    return Pure((name,), (source,), from_pair, undefined=definedness.by_parts(2, 2 * field))


@cache
def pair_table(name: str, relu: bool) -> np.ndarray:
    """The f16x2 for each pair of codes of a small format."""
    kind = name.removesuffix("x2")
    form, field = FORMATS[kind], FIELD.get(kind, 8)
    single_codes = half.narrow(values(kind), "f16")
    if relu:
        single_codes = half.relu(single_codes, 0x7C00)
    # Padding bits beyond a code are ignored.
    table = single_codes[np.arange(1 << field) & (1 << form.bits) - 1].astype(np.uint32)
    return (table[:, None] << np.uint32(16) | table).reshape(-1)


@pure("cvt", types=pairs_of((("f16x2",), SMALL_PAIRS)))
def from_small_pair(m: Modifiers) -> Pure:
    """From pairs of 8, 6 and 4 bits to f16x2, exactly."""
    m.need("rn")
    m.need("f16x2")
    name = m.type().name
    table = pair_table(name, m.flag("relu"))
    return Pure(("f16x2",), (name,), table.take, undefined=definedness.by_parts(2, 32))


@pure("cvt", types=pairs_of((tuple(f"{kind}x4" for kind in SMALL), ("f32",))))
def to_small_quad(m: Modifiers) -> Pure:
    """Four f32 to 8, 6 or 4 bits each, by random bits."""
    m.need("rs")
    m.need("satfinite")
    name = m.type().name
    m.need("f32")
    relu = m.flag("relu")
    form = FORMATS[name.removesuffix("x4")]
    field = FIELD.get(form.name, 8)
    word = bits.UNSIGNED[4 * field]
    # Where in the random word the bits of a, b, e, f begin, and how many there are for each.
    places, count = ((24, 8, 16, 0), 8) if form.name == "e2m1" else ((16, 16, 0, 0), 16)

    def function(*operands: Any) -> Any:
        *numbers, rbits = operands
        packed: Any = np.uint32(0)
        for number, place in zip(numbers, places, strict=True):
            random = (rbits >> np.uint32(place), count)
            code = encode(number, form, "rs", saturate=True, relu=relu, random=random)
            packed = packed << np.uint32(field) | code
        return packed.astype(word)

    undefined = definedness.each_a_part(4, 4 * field)
    return Pure((name,), ("f32",) * 4 + ("b32",), function, undefined=undefined)


def encode_ue8m0(value: Any, up: bool, saturate: bool) -> Any:
    """The exponent of f32 values' magnitudes, as ue8m0 codes in uint32."""
    magnitude = bits.unsigned(value) & np.uint32(0x7FFFFFFF)
    if up:
        # 0x00400000 is 2^-127, code 0; between there and 2^-126 lies what rounds up to code 1.
        rounded = magnitude + np.uint32(0x007FFFFF)
        code = np.where(magnitude <= 0x00400000, np.uint32(0), rounded >> np.uint32(23))
    else:
        code = magnitude >> np.uint32(23)
    top = np.uint32(0xFE if saturate else 0xFF)
    return np.where(magnitude > 0x7F800000, np.uint32(0xFF), np.where(code > 0xFE, top, code))


@pure("cvt", types=pairs_of((("ue8m0x2",), ("f32", "bf16x2"))))
def to_ue8m0_pair(m: Modifiers) -> Pure:
    """To pairs of ue8m0 by the magnitude."""
    up = m.need("rz", "rp") == "rp"
    name, source = m.type().name, m.type().name
    code = partial(encode_ue8m0, up=up, saturate=m.flag("satfinite"))

    def function(a: Any, b: Any) -> Any:
        return (code(a) << np.uint32(8) | code(b)).astype(np.uint16)

    if source == "f32":
        return Pure((name,), ("f32", "f32"), function, undefined=definedness.each_a_part(2, 16))

    def from_pair(a: Any) -> Any:
        return function(half.widen(a >> np.uint32(16), "bf16"), half.widen(a & np.uint32(0xFFFF), "bf16"))

    return Pure((name,), (source,), from_pair, undefined=definedness.by_parts(2, 16))


def bf16_of_ue8m0(code: Any) -> Any:
    """The bf16 codes of ue8m0 codes, both in uint32."""
    return np.where(
        code == 0, np.uint32(0x40), np.where(code == 0xFF, np.uint32(0x7FFF), code << np.uint32(7))
    )


@pure("cvt", types=("bf16x2.ue8m0x2",))
def from_ue8m0_pair(m: Modifiers) -> Pure:
    """From pairs of ue8m0 to bf16x2, exactly."""
    m.need("rn")
    m.need("bf16x2")
    m.need("ue8m0x2")

    def function(a: Any) -> Any:
        upper, lower = (a >> np.uint16(8)).astype(np.uint32), (a & np.uint16(0xFF)).astype(np.uint32)
        return bf16_of_ue8m0(upper) << np.uint32(16) | bf16_of_ue8m0(lower)

    return Pure(("bf16x2",), ("ue8m0x2",), function, undefined=definedness.by_parts(2, 32))


UNSCALED = np.uint16(0x7F7F)


def scale_of(factors: Any, shift: int) -> Any:
    """The f64 of one of two packed ue8m0 scale factors."""
    code = (factors >> np.uint16(shift) & np.uint16(0xFF)).astype(np.int32)
    return np.where(code == 0xFF, np.nan, np.ldexp(1.0, code - 127))


def to_s2f6(value: Any, relu: bool) -> Any:
    """The codes, as uint32, of f64 values in s2f6: multiples of 2^-6 in a signed byte."""
    scaled = np.rint(value * 64)
    clipped = np.minimum(np.maximum(scaled, 0.0 if relu else -128.0), 127.0)
    return np.where(np.isnan(value), 127.0, clipped).astype(np.int32).view(np.uint32) & np.uint32(0xFF)


@pure("cvt", types=pairs_of((("s2f6x2",), ("f32", "bf16x2"))))
def to_s2f6_pair(m: Modifiers) -> Pure:
    """To pairs of s2f6, divided by scale factors."""
    m.need("rn")
    m.need("satfinite")
    relu, scaled = m.flag("relu"), m.flag("scaled::n2::ue8m0")
    name, source = m.type().name, m.type().name
    extra = ("b16",) if scaled else ()

    def function(a: Any, b: Any, factors: Any = UNSCALED) -> Any:
        upper = to_s2f6(a.astype(np.float64) / scale_of(factors, 8), relu)
        lower = to_s2f6(b.astype(np.float64) / scale_of(factors, 0), relu)
        return (upper << np.uint32(8) | lower).astype(np.uint16)

    if source == "f32":
        return Pure((name,), ("f32", "f32", *extra), function, undefined=definedness.each_a_part(2, 16))

    def from_pair(a: Any, *factors: Any) -> Any:
        return function(
            half.widen(a >> np.uint32(16), "bf16"), half.widen(a & np.uint32(0xFFFF), "bf16"), *factors
        )

    return Pure((name,), (source, *extra), from_pair, undefined=definedness.by_parts(2, 16))


@pure("cvt", types=("bf16x2.s2f6x2",))
def from_s2f6_pair(m: Modifiers) -> Pure:
    """From pairs of s2f6 to bf16x2, multiplied by scale factors."""
    m.need("rn")
    relu, saturate, scaled = m.flag("relu"), m.flag("satfinite"), m.flag("scaled::n2::ue8m0")
    m.need("bf16x2")
    m.need("s2f6x2")
    form = FORMATS["bf16"]

    def function(a: Any, factors: Any = UNSCALED) -> Any:
        packed: Any = np.uint32(0)
        for shift in (8, 0):
            value = (a >> np.uint16(shift)).astype(np.uint8).view(np.int8).astype(np.float64) / 64
            exact = f64_to_f32(value * scale_of(factors, shift), "odd")
            packed = packed << np.uint32(16) | encode(exact, form, "rn", relu=relu, saturate=saturate)
        return packed

    sources = ("s2f6x2", "b16") if scaled else ("s2f6x2",)
    return Pure(("bf16x2",), sources, function, undefined=definedness.by_parts(2, 32))
