"""Comparison and selection instructions. PTX ISA 9.7.6."""

from __future__ import annotations

from typing import Any

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.jit.lowering import Lowering, Lowerings
from ptxkit.emulator.jit.words import Words
from ptxkit.isa.modifiers import Comparison, MemoryOperation

lowers = Lowerings("comparison")

INTEGER = {
    Comparison.EQ: "==", Comparison.NE: "!=",
    Comparison.LT: "<", Comparison.LE: "<=", Comparison.GT: ">", Comparison.GE: ">=",
    Comparison.LO: "<", Comparison.LS: "<=", Comparison.HI: ">", Comparison.HS: ">=",
}  # fmt: skip
FLOAT = {
    Comparison.EQ: "oeq", Comparison.NE: "one", Comparison.LT: "olt", Comparison.LE: "ole",
    Comparison.GT: "ogt", Comparison.GE: "oge", Comparison.NUM: "ord", Comparison.EQU: "ueq",
    Comparison.NEU: "une", Comparison.LTU: "ult", Comparison.LEU: "ule", Comparison.GTU: "ugt",
    Comparison.GEU: "uge", Comparison.NAN: "uno",
}  # fmt: skip
BOOLEAN = {
    MemoryOperation.AND: Words.both,
    MemoryOperation.OR: Words.either,
    MemoryOperation.XOR: Words.differ,
}


@lowers("setp")
def setp(instruction: Decoded) -> Lowering | None:
    """PTX ISA 9.7.6.2."""
    kind, operator, join = instruction.type_of("a"), instruction["CmpOp"], BOOLEAN.get(instruction["BoolOp"])
    if kind.is_float and (kind.bits // kind.lanes == 16 or instruction["ftz"]):
        return None

    def lower(w: Words, a: Any, b: Any, c: Any = None) -> Any:
        if kind.is_float:
            holds = w.relate(FLOAT[operator], w.number(a), w.number(b))
        else:
            holds = w.compare(INTEGER[operator], a, b, kind.is_signed)
        fails = w.invert(holds)
        return (holds, fails) if join is None else (join(w, holds, c), join(w, fails, c))

    return lower


lowers.elementwise("selp", lambda w, a, b, c: w.choose(c, a, b))  # PTX ISA 9.7.6.3
