"""Comparison and selection instructions, those of half precision too. PTX ISA 9.7.6, 9.7.7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DType
from ptxkit.emulator.numerics import bits, half, single
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import Comparison, MemoryOperation

operation = Operations("comparison")

Compare = Callable[[Any, Any], Any]

INTEGER: dict[Comparison, Compare] = {
    Comparison.EQ: np.equal,
    Comparison.NE: np.not_equal,
    Comparison.LT: np.less,
    Comparison.LE: np.less_equal,
    Comparison.GT: np.greater,
    Comparison.GE: np.greater_equal,
    Comparison.LO: np.less,
    Comparison.LS: np.less_equal,
    Comparison.HI: np.greater,
    Comparison.HS: np.greater_equal,
}
FLOAT: dict[Comparison, Compare] = {
    Comparison.EQ: np.equal,
    Comparison.NE: lambda a, b: (a < b) | (a > b),
    Comparison.LT: np.less,
    Comparison.LE: np.less_equal,
    Comparison.GT: np.greater,
    Comparison.GE: np.greater_equal,
    Comparison.EQU: lambda a, b: ~((a < b) | (a > b)),
    Comparison.NEU: np.not_equal,
    Comparison.LTU: lambda a, b: ~(a >= b),
    Comparison.LEU: lambda a, b: ~(a > b),
    Comparison.GTU: lambda a, b: ~(a <= b),
    Comparison.GEU: lambda a, b: ~(a < b),
    Comparison.NUM: lambda a, b: (a == a) & (b == b),
    Comparison.NAN: lambda a, b: (a != a) | (b != b),
}
BOOLEAN: dict[MemoryOperation, Compare] = {
    MemoryOperation.AND: np.logical_and,
    MemoryOperation.OR: np.logical_or,
    MemoryOperation.XOR: np.logical_xor,
}


def comparer(instruction: Decoded) -> Compare:
    """The comparison of two values of the type of `a`; of their low halves where they are pairs."""
    kind = instruction.type_of("a")
    if not kind.is_float:
        return INTEGER[instruction["CmpOp"]]
    compare = FLOAT[instruction["CmpOp"]]
    if kind.bits // kind.lanes > 16:
        return (lambda a, b: compare(single.flush(a), single.flush(b))) if instruction["ftz"] else compare
    scalar = kind.name.removesuffix("x2")
    if instruction["ftz"]:
        return lambda a, b: compare(half.widen(half.flush(a), scalar), half.widen(half.flush(b), scalar))
    return lambda a, b: compare(half.widen(a, scalar), half.widen(b, scalar))


def undefined_equality(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """Whether two words are equal is defined where all their bits are, or where defined bits differ."""
    a, b = values[:2]
    either = definedness.union(masks[:2])
    lanes = None
    if either is not None:
        lanes = (either != 0) & ((bits.unsigned(a) ^ bits.unsigned(b)) & ~either == 0)
    if len(masks) > 2 and masks[2] is not None:
        lanes = masks[2] if lanes is None else lanes | masks[2]
    return lanes


def undefined_pair(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """Each half's comparison hangs on that half of the sources, and on the predicate where there is one."""
    lanes = []
    for shift in (0, 16):
        halves = [
            None if mask is None else mask >> np.uint32(shift) & np.uint32(0xFFFF) for mask in masks[:2]
        ]
        lanes.append(definedness.every_bit(values, [*halves, *masks[2:]], 1))
    return tuple(lanes)


@operation("setp")
def setp(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.6.2 and 9.7.7.2."""
    compare, kind = comparer(instruction), instruction.type_of("a")
    combine, results = BOOLEAN.get(instruction["BoolOp"]), len(instruction.values(written=True))

    def function(a: Any, b: Any, c: Any = None) -> Any:
        p = compare(a, b)
        if results == 1:
            return p if combine is None else combine(p, c)
        q = compare(a >> np.uint32(16), b >> np.uint32(16)) if kind.lanes == 2 else ~p
        return (p, q) if combine is None else (combine(p, c), combine(q, c))

    undefined: definedness.Propagate | None = None
    if kind.lanes == 2:
        undefined = undefined_pair
    elif not kind.is_float and instruction["CmpOp"] in (Comparison.EQ, Comparison.NE):

        def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
            lanes = undefined_equality(values, masks)
            return lanes, lanes

    return computes(instruction, function, undefined)


def undefined_pair_word(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """`undefined_pair` for results of 16 bits each in a word."""
    return definedness.undefined_parts(32, undefined_pair(values, masks))


@operation("set")
def set_(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.6.1 and 9.7.7.1."""
    compare, kind, result = comparer(instruction), instruction.type_of("a"), instruction.type_of("d")
    true = all_ones(result, kind.bits // 2 if kind.lanes == 2 else 0)
    combine = BOOLEAN.get(instruction["BoolOp"])
    word = true.dtype

    def outcome(a: Any, b: Any, c: Any) -> Any:
        t = compare(a, b)
        return t if combine is None else combine(t, c)

    def function(a: Any, b: Any, c: Any = None) -> Any:
        chosen = outcome(a, b, c).astype(word) * true
        if kind.lanes == 2:
            chosen = chosen | (
                outcome(a >> np.uint32(16), b >> np.uint32(16), c).astype(word) * true
            ) << word.type(16)
        return chosen

    # The result's bits as an unsigned word, whatever the type: f32 included.
    undefined = undefined_pair_word if kind.lanes == 2 else None
    return computes(instruction, function, undefined, results=(f"b{8 * word.itemsize}",))


def all_ones(result: DType, half_bits: int) -> Any:
    """What `set` writes for true: 1.0 of a float, all bits of an integer; of pairs in each half."""
    word = np.uint16 if result.bits == 16 else np.uint32
    if result.is_float:
        return word({"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}[result.name.removesuffix("x2")])
    return word((1 << (half_bits or result.bits)) - 1)


@operation("selp")
def selp(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.6.3."""
    word = f"b{instruction.types[0].bits}"

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        a, b, c = values
        chosen = bits.select(
            c, *np.broadcast_arrays(definedness.known(a, masks[0]), definedness.known(b, masks[1]))
        )
        if masks[2] is None:
            return chosen
        either = (a ^ b) | definedness.known(a, masks[0]) | definedness.known(b, masks[1])
        return bits.select(masks[2], *np.broadcast_arrays(either, chosen))

    def function(a: Any, b: Any, c: Any) -> Any:
        return bits.select(c, a, b)

    return computes(instruction, function, undefined, results=(word,), sources=(word, word, "pred"))


@operation("slct")
def slct(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.6.4."""
    flush, word = instruction["ftz"], f"b{instruction['dtype'].bits}"
    smallest = np.float32(2.0**-126)

    def function(a: Any, b: Any, c: Any) -> Any:
        return bits.select(c > -smallest if flush else c >= 0, a, b)

    return computes(
        instruction, function, results=(word,), sources=(word, word, instruction.type_of("c").name)
    )
