"""`cvt` between integers, f16, bf16, f32 and f64, and from pairs of 8 and 4 bits. PTX ISA 9.7.9.21."""

from __future__ import annotations

from functools import partial
from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType
from ptxkit.emulator.jit.lowering import Lowering, Lowerings
from ptxkit.emulator.jit.lowerings import floating, half
from ptxkit.emulator.jit.words import Words
from ptxkit.isa.modifiers import IntegerRounding, Rounding

lowers = Lowerings("conversion")


@lowers("cvt")
def cvt(instruction: Decoded) -> Lowering | None:
    """To floats rounded to nearest, to integers toward zero."""
    if any(instruction[slot] for slot in ("ftz", "sat", "relu", "satfinite")):
        return None
    if instruction.find(Rounding) not in (None, Rounding.RN) or instruction["irnd"] not in (
        None,
        IntegerRounding.RZI,
    ):
        return None
    result, source = instruction.types
    if not (source.is_integer or result.is_integer):
        return FLOATS.get((result.name, source.name))
    if source.is_integer and result.is_integer:
        return lambda w, a: w.resize(a, result.bits, source.is_signed)
    if source.is_integer and result.bits >= 32:
        name = "sitofp" if source.is_signed else "uitofp"
        return lambda w, a: w.word(w.convert(name, a, result.bits, floating=True))
    return float_to_integer(result) if source.name == "f32" and result.bits < 64 else None


def float_to_integer(result: DType) -> Lowering:
    """An f32 toward zero and clamped; NaN becomes 0."""
    signed = result.is_signed
    low = -(1 << result.bits - 1) if signed else 0
    high = (1 << result.bits - signed) - 1

    def lower(w: Words, a: Any) -> Any:
        wide = w.convert("fpext", w.number(a), 64, floating=True)
        bounds = [w.number_constant(64, float(bound)) for bound in (low, high)]
        wide = w.choose(w.relate("ogt", wide, bounds[0]), wide, bounds[0])
        wide = w.choose(w.relate("olt", wide, bounds[1]), wide, bounds[1])
        wide = w.choose(floating.is_nan(w, a), w.number_constant(64, 0.0), wide)
        return w.resize(w.convert("fptosi", wide, 64, floating=False), result.bits)

    return lower


def from_f64(w: Words, a: Any) -> Any:
    """An f64 rounded to f32, a NaN with its sign and upper payload, made quiet."""
    number = w.word(w.convert("fptrunc", w.number(a), 32, floating=True))
    sign = w.mask(w.resize(w.right(a, 32), 32), 0x80000000)
    nan = w.either(w.mask(w.resize(w.right(a, 29), 32), 0x7FFFFFFF), w.constant(32, 0x400000))
    return w.choose(floating.is_nan(w, a), w.either(nan, sign), number)


def bf16(w: Words, word: Any) -> Any:
    """An f32's bits as the code of the nearest bf16; NaN becomes 0x7fff."""
    odd = w.mask(w.right(word, 16), 1)
    code = w.right(w.add(w.add(word, odd), w.constant(32, 0x7FFF)), 16)
    return w.choose(floating.is_nan(w, word), w.constant(32, 0x7FFF), code)


def narrow_pair(code: Any, w: Words, a: Any, b: Any) -> Any:
    """The codes of two f32, the first in the upper half."""
    return w.either(w.left(code(w, a), 16), code(w, b))


def e4m3(w: Words, code: Any) -> Any:
    """The code of an f16 for that of an e4m3, both in words of 32 bits."""
    magnitude = w.mask(code, 0x7F)
    # Shifted into place the exponent is one too small by 120, subnormals included.
    scaled = w.binary("fmul", w.number(w.left(magnitude, 20)), w.number_constant(32, 2.0**120))
    return small(w, code, 0x80, magnitude, w.word(scaled), 0x7E)


def e2m1(w: Words, code: Any) -> Any:
    """The code of an f16 for that of an e2m1, both in words of 32 bits."""
    magnitude = w.mask(code, 0x7)
    scaled = w.binary("fmul", w.number(w.left(magnitude, 22)), w.number_constant(32, 2.0**126))
    return small(w, code, 0x8, magnitude, w.word(scaled), None)


def small(w: Words, code: Any, sign: int, magnitude: Any, value: Any, largest: int | None) -> Any:
    """The code of an f16 for the bits of an f32 that is one and no subnormal one."""
    found = w.subtract(w.right(value, 13), w.constant(32, 112 << 10))
    found = w.choose(w.compare("==", magnitude, w.constant(32, 0)), w.constant(32, 0), found)
    found = w.either(found, w.left(w.mask(code, sign), 16 - sign.bit_length()))
    if largest is None:
        return found
    return w.choose(w.compare(">", magnitude, w.constant(32, largest)), w.constant(32, 0x7FFF), found)


def e5m2(w: Words, code: Any) -> Any:
    """The code of an f16 for that of an e5m2, both in words of 32 bits."""
    nan = w.compare(">", w.mask(code, 0x7F), w.constant(32, 0x7C))
    return w.choose(nan, w.constant(32, 0x7FFF), w.left(w.mask(code, 0xFF), 8))


def widen_pair(code: Any, field: int, w: Words, a: Any) -> Any:
    """The f16x2 of a pair of codes of `field` bits."""
    word = w.resize(a, 32)
    return w.either(w.left(code(w, w.right(word, field)), 16), code(w, word))


FLOATS: dict[tuple[str, str], Lowering] = {
    ("f32", "f16"): lambda w, a: floating.canonical(w, half.widen(w, w.resize(a, 32))),
    ("f32", "bf16"): lambda w, a: w.left(w.resize(a, 32), 16),
    ("f32", "f64"): from_f64,
    ("f16", "f32"): lambda w, a: w.resize(half.narrow(w, a), 16),
    ("bf16", "f32"): lambda w, a: w.resize(bf16(w, a), 16),
    ("f16x2", "f32"): partial(narrow_pair, half.narrow),
    ("bf16x2", "f32"): partial(narrow_pair, bf16),
    ("f16x2", "e4m3x2"): partial(widen_pair, e4m3, 8),
    ("f16x2", "e5m2x2"): partial(widen_pair, e5m2, 8),
    ("f16x2", "e2m1x2"): partial(widen_pair, e2m1, 4),
}
"""Between floats, by the types of result and source."""
