"""`cvt` to and from pairs and fours of 16 bits and fewer. PTX ISA 9.7.9.21."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, reduce
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.numerics import bits, half
from ptxkit.emulator.numerics.formats import FORMATS, Format, encode, encoder, values
from ptxkit.emulator.operation import Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Rounding


def field_of(packed: DType) -> int:
    """The bits that each code has in a packed type: a byte where it is shorter, but for e2m1."""
    return packed.bits // packed.lanes


def format_of(packed: DType) -> Format:
    """The format of each code in a packed type."""
    return FORMATS[packed.name.removesuffix(f"x{packed.lanes}")]


def to_pair(form: Decoded) -> Pure:
    """To pairs: the first source, or the upper half, to the upper place."""
    result, source = form.types
    code: Callable[[Any], Any]
    if result.name == "ue8m0x2":
        code = partial(encode_ue8m0, up=form["frnd3"] is Rounding.RP, saturate=form["satfinite"])
    else:
        code = encoder(format_of(result), form.the(Rounding), form["relu"], form["satfinite"])
    shift, word = np.uint32(field_of(result)), bits.UNSIGNED[result.bits]

    def function(a: Any, b: Any) -> Any:
        return (code(a) << shift | code(b)).astype(word, copy=False)

    if source.lanes == 1:
        return computes(form, function, definedness.each_a_part(2, result.bits))
    kind = source.name.removesuffix("x2")

    def from_halves(a: Any) -> Any:
        return function(half.widen(a >> np.uint32(16), kind), half.widen(a & np.uint32(0xFFFF), kind))

    return computes(form, from_halves, definedness.by_parts(2, result.bits))


RANDOM = {"f16x2": ((16, 0), 13), "bf16x2": ((16, 0), 16), "e2m1x4": ((24, 8, 16, 0), 8)}
"""Where in the random word the bits of a, b, e, f begin, and how many there are for each."""


def stochastic(form: Decoded) -> Pure:
    """Several f32, rounded by random bits, the first to the highest place."""
    result = form.types[0]
    places, count = RANDOM.get(result.name, ((16, 16, 0, 0), 16))
    code = partial(encode, form=format_of(result), mode="rs", relu=form["relu"], saturate=form["satfinite"])
    shift, word = np.uint32(field_of(result)), bits.UNSIGNED[result.bits]

    def function(*operands: Any) -> Any:
        *numbers, rbits = operands
        codes = [
            code(number, random=(rbits >> np.uint32(place), count))
            for number, place in zip(numbers, places, strict=True)
        ]
        return reduce(lambda upper, lower: upper << shift | lower, codes).astype(word, copy=False)

    return computes(form, function, definedness.each_a_part(result.lanes, result.bits))


def from_pair(form: Decoded) -> Pure:
    """From pairs of 8, 6 and 4 bits to f16x2, from those of ue8m0 to bf16x2, exactly."""
    source = form.types[1].name
    function = from_ue8m0 if source == "ue8m0x2" else pair_table(source, form["relu"] is not None).take
    return computes(form, function, definedness.by_parts(2, 32))


@cache
def pair_table(name: str, relu: bool) -> np.ndarray:
    """The f16x2 for each pair of codes of a small format."""
    form, field = format_of(DTYPES[name]), field_of(DTYPES[name])
    single_codes = half.narrow(values(form.name), "f16")
    if relu:
        single_codes = half.relu(single_codes, 0x7C00)
    # Padding bits beyond a code are ignored.
    table = single_codes[np.arange(1 << field) & (1 << form.bits) - 1].astype(np.uint32)
    return (table[:, None] << np.uint32(16) | table).reshape(-1)


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


def from_ue8m0(a: Any) -> Any:
    """The bf16x2 of pairs of ue8m0."""
    upper, lower = (a >> np.uint16(8)).astype(np.uint32), (a & np.uint16(0xFF)).astype(np.uint32)
    return bf16_of_ue8m0(upper) << np.uint32(16) | bf16_of_ue8m0(lower)


def bf16_of_ue8m0(code: Any) -> Any:
    """The bf16 codes of ue8m0 codes, both in uint32."""
    return np.where(
        code == 0, np.uint32(0x40), np.where(code == 0xFF, np.uint32(0x7FFF), code << np.uint32(7))
    )
