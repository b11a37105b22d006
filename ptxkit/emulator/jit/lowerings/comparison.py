"""Comparison and selection instructions. PTX ISA 9.7.6."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.jit.lowering import Lowering, lowers
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.operation import Modifiers
from ptxkit.emulator.operations.comparison import comparison

WORDS = tuple(f"{kind}{size}" for kind in "bus" for size in (16, 32, 64))
INTEGER = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
FLOAT = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord",
    "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "nan": "uno",
}  # fmt: skip


@lowers("setp", types=(*WORDS, "f32", "f64"))
def setp(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.6.2."""
    operator = comparison(m)
    boolean = m.choose("and", "or", "xor")
    kind = m.type()
    join = {"and": Words.both, "or": Words.either, "xor": Words.differ}.get(boolean or "")

    def lower(w: Words, a: Any, b: Any, c: Any = None) -> Any:
        if kind.is_float:
            holds = w.relate(FLOAT[operator], w.number(a), w.number(b))
        else:
            holds = w.compare(INTEGER[operator], a, b, kind.is_signed)
        fails = w.invert(holds)
        return (holds, fails) if join is None else (join(w, holds, c), join(w, fails, c))

    return lower


@lowers("selp", types=(*WORDS, "f32", "f64"))
def selp(m: Modifiers) -> Lowering:
    """PTX ISA 9.7.6.3."""
    m.type()
    return lambda w, a, b, c: w.choose(c, a, b)
