"""Integer arithmetic instructions. PTX ISA 9.7.1."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.jit.lowering import Lowering, lowers
from ptxkit.emulator.jit.words import Words, repeated
from ptxkit.emulator.operation import Modifiers

SCALARS = ("u16", "u32", "u64", "s16", "s32", "s64")


@lowers("add", "sub", types=SCALARS)
def add_sub(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.1 and 9.7.1.2."""
    m.type()
    return Words.add if m.opcode == "add" else Words.subtract


def product(m: Modifiers) -> Lowering | None:
    """The part of the product that `.lo`, `.hi`, `.wide` select."""
    kind = m.type().name
    signed, size = kind[0] == "s", int(kind[1:])
    part = m.need("lo", "hi", "wide")
    if part == "lo":
        return Words.multiply
    if size == 64:
        return None

    def lower(w: Words, a: Any, b: Any) -> Any:
        whole = w.multiply(w.resize(a, 2 * size, signed), w.resize(b, 2 * size, signed))
        return whole if part == "wide" else w.resize(w.right(whole, size), size)

    return lower


@lowers("mul", types=SCALARS)
def mul(m: Modifiers) -> Lowering | None:
    """PTX ISA 9.7.1.3."""
    return product(m)


@lowers("mad", types=SCALARS)
def mad(m: Modifiers) -> Lowering | None:
    """PTX ISA 9.7.1.4."""
    multiply = product(m)
    return None if multiply is None else lambda w, a, b, c: w.add(multiply(w, a, b), c)


@lowers("abs", "neg", types=("s16", "s32", "s64"))
def abs_neg(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.10 and 9.7.1.11."""
    bits = m.type().bits

    def negative(w: Words, a: Any) -> Any:
        return w.subtract(w.constant(bits, 0), a)

    if m.opcode == "neg":
        return negative
    return lambda w, a: w.choose(w.compare("<", a, w.constant(bits, 0), signed=True), negative(w, a), a)


@lowers("min", "max", types=SCALARS)
def min_max(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.12 and 9.7.1.13."""
    signed = m.type().is_signed
    if m.opcode == "min":
        return lambda w, a, b: w.minimum(a, b, signed)
    return lambda w, a, b: w.maximum(a, b, signed)


@lowers("popc", types=("b32", "b64"))
def popc(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.14."""
    m.type()
    return lambda w, a: w.resize(w.call("llvm.ctpop", a), 32)


@lowers("brev", types=("b32", "b64"))
def brev(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.18."""
    m.type()
    return lambda w, a: w.call("llvm.bitreverse", a)


def low_ones(w: Words, count: Any, bits: int) -> Any:
    """A word whose lowest `count` bits are set."""
    return w.subtract(w.shift_left(w.constant(bits, 1), count), w.constant(bits, 1))


def field(w: Words, word: Any, bits: int) -> Any:
    """A position or length of `bfe`, `bfi`: see `numerics.integers.field_bounds`."""
    known = w.known(word)
    if known is not None:
        return w.constant(32, known & 255 if bits == 32 else min(known, bits))
    return w.mask(word, 255) if bits == 32 else w.minimum(word, w.constant(32, bits))


@lowers("bfe", types=("u32", "u64"))
def bfe(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.19."""
    bits = m.type().bits

    def lower(w: Words, a: Any, position: Any, length: Any) -> Any:
        kept = low_ones(w, field(w, length, bits), bits)
        return w.both(w.shift_right(a, field(w, position, bits)), kept)

    return lower


@lowers("bfi", types=("b32", "b64"))
def bfi(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.20."""
    bits = m.type().bits

    def lower(w: Words, a: Any, b: Any, position: Any, length: Any) -> Any:
        position, ones = field(w, position, bits), low_ones(w, field(w, length, bits), bits)
        into = w.both(b, w.invert(w.shift_left(ones, position)))
        return w.either(into, w.shift_left(w.both(a, ones), position))

    return lower


@lowers("dp4a")
def dp4a(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.1.23."""
    a_signed, b_signed = m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32"
    signed = a_signed or b_signed

    def lower(w: Words, a: Any, b: Any, c: Any) -> Any:
        # Two products at a time in 16 bits, for none of which is too large.
        for first, second in zip(byte_pairs(w, a, a_signed), byte_pairs(w, b, b_signed), strict=True):
            products = w.whole(w.builder.mul(first, second), 32)
            high = w.right(products, 16, signed)
            low = w.right(w.left(products, 16), 16, signed) if signed else w.mask(products, 0xFFFF)
            c = w.add(w.add(c, low), high)
        return c

    return lower


def byte_pairs(w: Words, a: Any, signed: bool) -> tuple[Any, Any]:
    """Bytes 0 and 2, and bytes 1 and 3, of words, extended to 16 bits each."""
    if not signed:
        return w.parts(w.mask(a, 0x00FF00FF), 16), w.parts(w.mask(w.right(a, 8), 0x00FF00FF), 16)
    upper = w.parts(a, 16)
    return eighth(w, w.parts(w.left(w.mask(a, 0x00FF00FF), 8), 16)), eighth(w, upper)


def eighth(w: Words, halves: Any) -> Any:
    """Signed 16-bit parts divided by 256."""
    return w.builder.ashr(halves, repeated(halves.type.element, 8, halves.type.count))
