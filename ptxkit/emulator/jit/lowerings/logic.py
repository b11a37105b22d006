"""Logic and shift instructions. PTX ISA 9.7.8."""

from __future__ import annotations

from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.jit.lowering import Lowering, Lowerings
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.operations.logic import expressions, table_of
from ptxkit.isa.modifiers import Mode

lowers = Lowerings("logic")
elementwise = lowers.elementwise

elementwise("and", Words.both)  # PTX ISA 9.7.8.1
elementwise("or", Words.either)  # 9.7.8.2
elementwise("xor", Words.differ)  # 9.7.8.3
elementwise("not", Words.invert)  # 9.7.8.4
elementwise("cnot", lambda w, a: w.resize(w.compare("==", a, w.constant(w.bits(a), 0)), w.bits(a)))  # 9.7.8.5


@lowers("lop3")
def lop3(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.8.6."""
    table = table_of(instruction)
    if instruction["BoolOp"] is not None or not 0 < table < 255:
        return None

    def lower(w: Words, a: Any, b: Any, c: Any) -> Any:
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


elementwise("shl", Words.shift_left)  # 9.7.8.8


@lowers("shr")
def shr(instruction: Decoded) -> Lowering:
    """PTX ISA 9.7.8.9."""
    signed = instruction.types[0].is_signed
    return lambda w, a, amount: w.shift_right(a, amount, signed)


def funnel(left: bool) -> Any:
    """`shf.l` or `shf.r`. PTX ISA 9.7.8.7."""

    def made(instruction: Decoded) -> Lowering:
        wrap = instruction["mode"] is Mode.WRAP

        def lower(w: Words, a: Any, b: Any, amount: Any) -> Any:
            known = w.known(amount)
            if known is not None:
                distance = known & 31 if wrap else min(known, 32)
                amount, rest = w.constant(32, distance), w.constant(32, 32 - distance)
            else:
                amount = w.mask(amount, 31) if wrap else w.minimum(amount, w.constant(32, 32))
                rest = w.subtract(w.constant(32, 32), amount)
            if left:
                return w.either(w.shift_left(b, amount), w.shift_right(a, rest))
            return w.either(w.shift_left(b, rest), w.shift_right(a, amount))

        return lower

    return made


lowers("shf.l")(funnel(left=True))
lowers("shf.r")(funnel(left=False))
