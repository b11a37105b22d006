"""`cvt` between integers, f16, bf16, f32 and f64, and from pairs of 8 and 4 bits. PTX ISA 9.7.9.21."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.jit.lowering import Lowering, lowers
from ptxkit.emulator.jit.lowerings import floating, half
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.operation import Modifiers
from ptxkit.emulator.operations.conversion import INTEGERS, pairs_of


@lowers("cvt", types=pairs_of((INTEGERS, INTEGERS)))
def integer_to_integer(m: Modifiers) -> Lowering:
    """Extension and chopping."""
    result, source = m.type(), m.type()
    return lambda w, a: w.resize(a, result.bits, source.is_signed)


@lowers("cvt", types=pairs_of((("f32", "f64"), INTEGERS)))
def integer_to_float(m: Modifiers) -> Lowering:
    """Rounded to nearest."""
    m.flag("rn")
    result, source = m.type(), m.type()
    name = "sitofp" if source.is_signed else "uitofp"
    return lambda w, a: w.word(w.convert(name, a, result.bits, floating=True))


@lowers("cvt", types=pairs_of((tuple(kind for kind in INTEGERS if "64" not in kind), ("f32",))))
def float_to_integer(m: Modifiers) -> Lowering:
    """Toward zero and clamped; NaN becomes 0."""
    m.flag("rzi")
    result, _ = m.type(), m.type()
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


@lowers("cvt", types=("f32.f16", "f32.bf16", "f32.f64"))
def float_to_float(m: Modifiers) -> Lowering:
    """Exactly; from f64 rounded to nearest."""
    m.flag("rn")
    _, source = m.type(), m.type().name
    if source == "f16":
        return lambda w, a: floating.canonical(w, half.widen(w, w.resize(a, 32)))
    if source == "bf16":
        return lambda w, a: w.left(w.resize(a, 32), 16)
    return from_f64


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


NARROW = {"f16": half.narrow, "bf16": bf16}


@lowers("cvt", types=("f16.f32", "bf16.f32"))
def narrow(m: Modifiers) -> Lowering:
    """Rounded to nearest."""
    m.flag("rn")
    code = NARROW[m.type().name]
    m.type()
    return lambda w, a: w.resize(code(w, a), 16)


@lowers("cvt", types=("f16x2.f32", "bf16x2.f32"))
def narrow_pair(m: Modifiers) -> Lowering:
    """Rounded to nearest, the first source to the upper half."""
    m.flag("rn")
    code = NARROW[m.type().name.removesuffix("x2")]
    m.type()
    return lambda w, a, b: w.either(w.left(code(w, a), 16), code(w, b))


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


SMALL = {"e4m3x2": (e4m3, 8), "e5m2x2": (e5m2, 8), "e2m1x2": (e2m1, 4)}


@lowers("cvt", types=tuple(f"f16x2.{kind}" for kind in SMALL))
def from_small_pair(m: Modifiers) -> Lowering:
    """From pairs of 8 and 4 bits to f16x2, exactly."""
    m.flag("rn")
    m.type()
    code, field = SMALL[m.type().name]

    def lower(w: Words, a: Any) -> Any:
        word = w.resize(a, 32)
        return w.either(w.left(code(w, w.right(word, field)), 16), code(w, word))

    return lower
