"""The small floating-point formats of PTX, and conversion of f32 into them. PTX ISA 5.2.3, 9.7.9.21.

A *code* is the bits of a number in its format, as an unsigned word.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.numerics.bits import any_lane, repair, unsigned


class Format(NamedTuple):
    """A format of sign, exponent and fraction.

    Attributes:
        name: PTX's name.
        exponent_bits, fraction_bits: widths of the fields; without a fraction there is neither zero nor
            subnormal number.
        bias: of the exponent.
        largest: the code of the largest finite number.
        nan: the code of the NaN that conversions give, None where the format has no NaN.
        infinity: the code of +infinity, None where the format has none.
        signed: whether a sign bit stands above the fields.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    largest: int
    nan: int | None
    infinity: int | None = None
    signed: bool = True

    @property
    def bits(self) -> int:
        """The width of a code."""
        return self.signed + self.exponent_bits + self.fraction_bits

    @property
    def sign(self) -> int:
        """The bit above the fields: the code's sign, or none of an unsigned code's bits."""
        return 1 << self.exponent_bits + self.fraction_bits


FORMATS = {
    form.name: form
    for form in (
        Format("f16", 5, 10, 15, 0x7BFF, 0x7FFF, 0x7C00),
        Format("bf16", 8, 7, 127, 0x7F7F, 0x7FFF, 0x7F80),
        Format("tf32", 8, 10, 127, 0x3FBFF, 0x3FFFF, 0x3FC00),
        Format("e4m3", 4, 3, 7, 0x7E, 0x7F),
        Format("e5m2", 5, 2, 15, 0x7B, 0x7F, 0x7C),
        Format("e3m2", 3, 2, 3, 0x1F, None),
        Format("e2m3", 2, 3, 1, 0x1F, None),
        Format("e2m1", 2, 1, 1, 0x07, None),
        Format("ue5m3", 5, 3, 15, 0xFE, 0xFF, signed=False),
        Format("ue8m0", 8, 0, 127, 0xFE, 0xFF, signed=False),
    )
}


@cache
def values(name: str) -> np.ndarray:
    """The f64 that each code of a format stands for."""
    form = FORMATS[name]
    codes = np.arange(1 << form.bits, dtype=np.int64)
    magnitude = codes & form.sign - 1
    exponent, fraction = magnitude >> form.fraction_bits, magnitude & (1 << form.fraction_bits) - 1
    lowest = 1 if form.fraction_bits else 0
    normal = exponent >= lowest
    significand = fraction + (normal << form.fraction_bits)
    result = np.ldexp(
        significand.astype(np.float64), np.maximum(exponent, lowest) - form.bias - form.fraction_bits
    )
    result[magnitude > form.largest] = np.nan if form.nan is not None else 0
    if form.infinity is not None:
        result[magnitude == form.infinity] = np.inf
    return np.where(codes & form.sign, -result, result)


def encode_nearest(value: Any, form: Format, *, saturate: bool = False) -> Any:
    """`encode` with mode `rn`: the common case, made short.

    Scaled so that the exponent fields agree, f32 has the format's own codes in its upper bits, those of
    subnormals included; rounding is then an addition to the word.
    """
    words = unsigned(value)
    drop = 23 - form.fraction_bits
    magnitude = words & np.uint32(0x7FFFFFFF)
    if form.bias != 127:
        magnitude = unsigned(magnitude.view(np.float32) * np.float32(2.0 ** (form.bias - 127)))
    rounded = magnitude + (magnitude >> np.uint32(drop) & np.uint32(1)) + np.uint32((1 << drop - 1) - 1)
    limit = form.largest if saturate else form.infinity
    assert limit is not None
    code = np.minimum(rounded >> np.uint32(drop), np.uint32(limit))
    code = code | (words >> np.uint32(32 - form.bits) & np.uint32(form.sign))
    doubtful: Any = False
    if form.bias != 127 and any_lane(tiny := magnitude < 0x00800000):
        # What the scaling made an f32 subnormal, it may have rounded to a tie.
        middle = np.uint32((1 << drop - 1) - 1)
        doubtful = tiny & (magnitude - middle & np.uint32((1 << drop) - 1) <= 2)
    if np.isnan(np.max(value)):
        doubtful = doubtful | np.isnan(value)
    if any_lane(doubtful):
        code = repair(code, doubtful, lambda x: encode(x, form, "rn", saturate=saturate), value)
    return code


def encode(
    value: Any,
    form: Format,
    mode: str,
    *,
    saturate: bool = False,
    relu: bool = False,
    random: tuple[Any, int] | None = None,
) -> Any:
    """Codes, as uint32, of f32 values.

    Args:
        value: f32.
        form: the format; one without infinities and NaN needs `saturate`. Where it has no sign, that of the
            value is dropped.
        mode: `rn`, `rz`, `rm`, `rp`, `rna` (nearest, ties away from zero), or `rs` (by random bits).
        saturate: beyond the largest number comes that number; NaN becomes the format's, or the largest
            number where it has none. Without it, overflow follows the mode; where the format has no
            infinity, a NaN with the value's sign stands for it.
        relu: negative numbers become +0.
        random: for `rs`, words and how many low bits of each count. They are added to the discarded bits,
            highest to highest; a carry rounds away from zero.
    """
    words = unsigned(value)
    magnitude = words & np.uint32(0x7FFFFFFF)
    sign = words >> np.uint32(31)
    exponent = np.maximum(magnitude >> np.uint32(23), np.uint32(1))
    significand = magnitude - (exponent - np.uint32(1) << np.uint32(23))
    # From here the number is significand * 2^(exponent - 150), and the lowest exponent of the format is:
    lowest = np.uint32(128 - form.bias)
    base = np.maximum(exponent, lowest)
    distance = base - exponent + np.uint32(23 - form.fraction_bits)
    drop = np.minimum(distance, np.uint32(31))
    kept = significand >> drop
    rest = significand - (kept << drop)
    half = np.uint32(1) << drop - np.uint32(1)
    match mode:
        case "rn":
            up = (rest > half) | (rest == half) & (kept & np.uint32(1) != 0)
        case "rna":
            up = rest >= half
        case "rm" | "rp":
            up = (rest != 0) & (sign == (1 if mode == "rm" else 0))
        case "rs":
            assert random is not None
            bits, count = random
            fraction = (rest.astype(np.uint64) << np.uint64(32)) >> np.minimum(distance, 63).astype(np.uint64)
            added = fraction + (
                (bits & np.uint32((1 << count) - 1)).astype(np.uint64) << np.uint64(32 - count)
            )
            up = added >> np.uint64(32) != 0
        case _:
            up = rest != rest
    code = (base - lowest << np.uint32(form.fraction_bits)) + kept + up
    nan = magnitude > 0x7F800000
    over = code > form.largest
    if saturate:
        beyond: Any = np.uint32(form.largest)
    else:
        infinity = form.nan if form.infinity is None else form.infinity
        assert infinity is not None
        away = {"rz": False, "rm": sign == 1, "rp": sign == 0}.get(mode, True)
        away = away | (magnitude == 0x7F800000)
        beyond = np.where(away, np.uint32(infinity), np.uint32(form.largest))
    code = np.where(over, beyond, code)
    if relu:
        code = code * (sign == 0)
    elif form.signed:
        code = code | sign << np.uint32(form.bits - 1)
    return np.where(nan, np.uint32(form.largest if form.nan is None else form.nan), code)


def encoder(form: Format, mode: str, relu: bool, saturate: bool) -> Callable[[Any], Any]:
    """`encode` with these settings, the shortest way."""
    if mode == "rn" and not relu and form.signed and (saturate or form.infinity is not None):
        return partial(encode_nearest, form=form, saturate=saturate)
    return partial(encode, form=form, mode=mode, relu=relu, saturate=saturate)
