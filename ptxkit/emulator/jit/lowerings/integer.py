"""Integer arithmetic instructions. PTX ISA 9.7.1."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.jit.lowering import Lowering, Lowerings
from ptxkit.emulator.jit.words import Words, repeated
from ptxkit.emulator.numerics.integers import EVERY_FOURTH

lowers, packed = Lowerings("integer"), Lowerings("packed")
elementwise = lowers.elementwise


def plain(lowering: Lowering) -> Any:
    """A lowering of single integers, without `.sat` or `.relu`."""

    def made(instruction: Decoded) -> Lowering | None:
        return (
            None if instruction["sat"] or instruction["relu"] or instruction.types[-1].lanes > 1 else lowering
        )

    return made


lowers("add")(plain(Words.add))
lowers("sub")(plain(Words.subtract))
elementwise("mul.lo", Words.multiply)
elementwise("mad.lo", lambda w, a, b, c: w.add(w.multiply(a, b), c))


def whole_product(instruction: Decoded) -> Lowering:
    """The product of two integers in twice their bits."""
    kind = instruction.types[-1]

    def lower(w: Words, a: Any, b: Any) -> Any:
        size, signed = 2 * kind.bits, kind.is_signed
        return w.multiply(w.resize(a, size, signed), w.resize(b, size, signed))

    return lower


def upper_product(instruction: Decoded) -> Lowering | None:
    """The upper half of the product of two integers of up to 32 bits."""
    multiply, size = whole_product(instruction), instruction.types[-1].bits
    return None if size == 64 else lambda w, a, b: w.resize(w.right(multiply(w, a, b), size), size)


lowers("mul.wide")(whole_product)
lowers("mul.hi")(upper_product)


@lowers("mad.wide")
def mad_wide(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.1.4."""
    multiply = whole_product(instruction)
    return lambda w, a, b, c: w.add(multiply(w, a, b), c)


@lowers("mad.hi")
def mad_hi(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.1.4."""
    multiply = upper_product(instruction)
    return None if multiply is None or instruction["sat"] else lambda w, a, b, c: w.add(multiply(w, a, b), c)


def negative(w: Words, a: Any) -> Any:
    """`-a`."""
    return w.subtract(w.constant(w.bits(a), 0), a)


elementwise("neg", negative)  # PTX ISA 9.7.1.11
elementwise(
    "abs", lambda w, a: w.choose(w.compare("<", a, w.constant(w.bits(a), 0), signed=True), negative(w, a), a)
)  # 9.7.1.10


def extreme(lowering: Lowering) -> Any:
    """`min` or `max`. PTX ISA 9.7.1.12 and 9.7.1.13."""

    def made(instruction: Decoded) -> Lowering | None:
        return plain(lambda w, a, b: lowering(w, a, b, instruction.types[-1].is_signed))(instruction)

    return made


lowers("min")(extreme(Words.minimum))
lowers("max")(extreme(Words.maximum))
elementwise("popc", lambda w, a: w.resize(w.call("llvm.ctpop", a), 32))  # 9.7.1.14
elementwise("brev", lambda w, a: w.call("llvm.bitreverse", a))  # 9.7.1.18


def low_ones(w: Words, count: Any, bits: int) -> Any:
    """A word whose lowest `count` bits are set."""
    return w.subtract(w.shift_left(w.constant(bits, 1), count), w.constant(bits, 1))


def field(w: Words, word: Any, bits: int) -> Any:
    """A position or length of `bfe`, `bfi`: see `numerics.integers.field_bounds`."""
    known = w.known(word)
    if known is not None:
        return w.constant(32, known & 255 if bits == 32 else min(known, bits))
    return w.mask(word, 255) if bits == 32 else w.minimum(word, w.constant(32, bits))


@lowers("bfe")
def bfe(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.1.19."""
    if instruction.types[0].is_signed:
        return None
    bits = instruction.types[0].bits

    def lower(w: Words, a: Any, position: Any, length: Any) -> Any:
        kept = low_ones(w, field(w, length, bits), bits)
        return w.both(w.shift_right(a, field(w, position, bits)), kept)

    return lower


@lowers("bfi")
def bfi(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.1.20."""
    bits = instruction.types[0].bits

    def lower(w: Words, a: Any, b: Any, position: Any, length: Any) -> Any:
        position, ones = field(w, position, bits), low_ones(w, field(w, length, bits), bits)
        into = w.both(b, w.invert(w.shift_left(ones, position)))
        return w.either(into, w.shift_left(w.both(a, ones), position))

    return lower


@lowers("dp4a")
def dp4a(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.1.23."""
    a_signed, b_signed = instruction["atype"].is_signed, instruction["btype"].is_signed
    signed = a_signed or b_signed

    def lower(w: Words, a: Any, b: Any, c: Any) -> Any:
        # Two products at a time in 16 bits, for none of which is too large.
        for first, second in zip(byte_pairs(w, a, a_signed), byte_pairs(w, b, b_signed), strict=True):
            products = w.join(w.builder.mul(first, second), 32)
            high = w.right(products, 16, signed)
            low = w.right(w.left(products, 16), 16, signed) if signed else w.mask(products, 0xFFFF)
            c = w.add(w.add(c, low), high)
        return c

    return lower


def byte_pairs(w: Words, a: Any, signed: bool) -> tuple[Any, Any]:
    """Bytes 0 and 2, and bytes 1 and 3, of words, extended to 16 bits each."""
    if not signed:
        return w.split(w.mask(a, 0x00FF00FF), 16), w.split(w.mask(w.right(a, 8), 0x00FF00FF), 16)
    upper = w.split(a, 16)
    return eighth(w, w.split(w.left(w.mask(a, 0x00FF00FF), 8), 16)), eighth(w, upper)


def eighth(w: Words, halves: Any) -> Any:
    """Signed 16-bit parts divided by 256."""
    return w.builder.ashr(halves, repeated(halves.type.element, 8, halves.type.count))


def carryless_low(w: Words, a: Any, b: Any) -> Any:
    """See `numerics.integers.carryless_low`."""
    masks = [EVERY_FOURTH << i & 2**64 - 1 for i in range(4)]
    x, y = ([w.mask(word, mask) for mask in masks] for word in (a, b))
    parts = []
    for place, mask in enumerate(masks):
        terms = [w.multiply(x[i], y[(place - i) % 4]) for i in range(4)]
        parts.append(w.mask(reduce(w.differ, terms), mask))
    return reduce(w.either, parts)


def carryless_high(w: Words, a: Any, b: Any) -> Any:
    """See `numerics.integers.carryless_high`."""
    low = carryless_low(w, w.call("llvm.bitreverse", a), w.call("llvm.bitreverse", b))
    return w.right(w.call("llvm.bitreverse", low), 1)


packed.elementwise("clmad.lo", lambda w, a, b, c: w.differ(carryless_low(w, a, b), c))  # PTX ISA 9.7.1.25
packed.elementwise("clmad.hi", lambda w, a, b, c: w.differ(carryless_high(w, a, b), c))
