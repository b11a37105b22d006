"""Logic and shift instructions. PTX ISA 9.7.8."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.jit.lowering import Lowering, lowers
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.operation import Modifiers
from ptxkit.emulator.operations.logic import expressions

WORDS = ("b16", "b32", "b64")


@lowers("and", "or", "xor", types=("pred", *WORDS))
def and_or_xor(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.1 to 9.7.8.3."""
    m.type()
    return {"and": Words.both, "or": Words.either, "xor": Words.differ}[m.opcode]


@lowers("not", types=("pred", *WORDS))
def not_(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.4."""
    m.type()
    return Words.invert


@lowers("cnot", types=WORDS)
def cnot(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.5."""
    bits = m.type().bits
    return lambda w, a: w.resize(w.compare("==", a, w.constant(bits, 0)), bits)


@lowers("lop3", types=("b32",))
def lop3(m: Modifiers) -> Lowering | None:
    """PTX ISA 9.7.8.6."""
    m.type()
    table = m.immediate(4)
    if table is None or not 0 < table < 255:
        return None

    def lower(w: Words, a: Any, b: Any, c: Any, _: Any) -> Any:
        words = {"a": a, "b": b, "c": c}

        def evaluate(node: int) -> Any:
            operator, left, right = expressions()[node]
            if operator in words:
                return words[operator]
            if operator == "~":
                return w.invert(evaluate(left))
            join = {"&": w.both, "|": w.either, "^": w.differ}[operator]
            return join(evaluate(left), evaluate(right))

        return evaluate(table)

    return lower


@lowers("shl", types=WORDS)
def shl(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.8."""
    m.type()
    return Words.shift_left


@lowers("shr", types=(*WORDS, "u16", "u32", "u64", "s16", "s32", "s64"))
def shr(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.9."""
    signed = m.type().is_signed
    return lambda w, a, amount: w.shift_right(a, amount, signed)


@lowers("shf", types=("b32",))
def shf(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.8.7."""
    m.type()
    left, wrap = m.need("l", "r") == "l", m.need("clamp", "wrap") == "wrap"

    def lower(w: Words, a: Any, b: Any, amount: Any) -> Any:
        known = w.known(amount)
        if known is not None:
            amount = w.constant(32, known & 31 if wrap else min(known, 32))
            rest = w.constant(32, 32 - (known & 31 if wrap else min(known, 32)))
        else:
            amount = w.mask(amount, 31) if wrap else w.minimum(amount, w.constant(32, 32))
            rest = w.subtract(w.constant(32, 32), amount)
        if left:
            return w.either(w.shift_left(b, amount), w.shift_right(a, rest))
        return w.either(w.shift_left(b, rest), w.shift_right(a, amount))

    return lower
