"""Comparison and selection instructions, those of half precision too. PTX ISA 9.7.6, 9.7.7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits, half, single
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

Compare = Callable[[Any, Any], Any]

INTEGER: dict[str, Compare] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
FLOAT: dict[str, Compare] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}
BOOLEAN: dict[str, Compare] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}

WORDS = tuple(f"{kind}{size}" for kind in "bus" for size in (16, 32, 64))
HALVES = ("f16", "bf16")
PAIRS = ("f16x2", "bf16x2")
SOURCES = (*WORDS, *HALVES, *PAIRS, "f32", "f64")


def comparison(m: Modifiers) -> str:
    """The comparison operator, taken."""
    return m.need(*INTEGER, *(name for name in FLOAT if name not in INTEGER))


def comparer(m: Modifiers, operator: str, kind: str, flush: bool) -> Compare:
    """The comparison of two values of type `kind`; of their low halves where they are pairs.

    Raises:
        Unsupported: the type has no such operator, or `.ftz` is not for it.
    """
    if kind in WORDS:
        allowed = {"b": ("eq", "ne"), "s": ("eq", "ne", "lt", "le", "gt", "ge")}.get(kind[0], tuple(INTEGER))
        if operator not in allowed or flush:
            raise Unsupported(f"`{m.opcode}.{operator}{'.ftz' if flush else ''}.{kind}`")
        return INTEGER[operator]
    if operator not in FLOAT or (flush and kind not in ("f32", "f16", "f16x2")):
        raise Unsupported(f"`{m.opcode}.{operator}{'.ftz' if flush else ''}.{kind}`")
    compare = FLOAT[operator]
    if kind == "f64":
        return compare
    if kind == "f32":
        return (lambda a, b: compare(single.flush(a), single.flush(b))) if flush else compare
    scalar = kind.removesuffix("x2")
    if flush:
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


@pure("setp", types=SOURCES)
def setp(m: Modifiers) -> Pure:
    """PTX ISA 9.7.6.2 and 9.7.7.2."""
    operator = comparison(m)
    boolean = m.choose(*BOOLEAN)
    kind = m.type().name
    compare = comparer(m, operator, kind, m.flag("ftz"))
    sources = (kind, kind) if boolean is None else (kind, kind, "pred")
    combine = BOOLEAN.get(boolean or "")

    def function(a: Any, b: Any, c: Any = None) -> Any:
        p = compare(a, b)
        if kind in PAIRS:
            q = compare(a >> np.uint32(16), b >> np.uint32(16))
        else:
            q = ~p
        return (p, q) if combine is None else (combine(p, c), combine(q, c))

    undefined: definedness.Propagate | None = None
    if kind in PAIRS:
        undefined = undefined_pair
    elif kind in WORDS and operator in ("eq", "ne"):

        def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
            lanes = undefined_equality(values, masks)
            return lanes, lanes

    return Pure(("pred", "pred"), sources, function, undefined=undefined)


def undefined_pair_word(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """`undefined_pair` for results of 16 bits each in a word."""
    return definedness.undefined_parts(32, undefined_pair(values, masks))


@pure("set")
def set_(m: Modifiers) -> Pure:
    """PTX ISA 9.7.6.1 and 9.7.7.1."""
    operator = comparison(m)
    boolean = m.choose(*BOOLEAN)
    result, kind = m.type().name, m.type().name
    flush = m.flag("ftz")
    compare = comparer(m, operator, kind, flush)
    if kind in PAIRS:
        allowed: tuple[str, ...] = (kind, "u32", "s32")
    elif kind in HALVES:
        allowed = ("u16", "s16", "u32", "s32", "f16", "bf16")
    else:
        allowed = ("u32", "s32", "f32", "f16", "bf16")
    if result not in allowed or kind not in SOURCES:
        raise Unsupported(f"`set.{operator}.{result}.{kind}`")
    true = TRUE[result if kind not in PAIRS or result in PAIRS else "pair"]
    combine = BOOLEAN.get(boolean or "")
    word = true.dtype

    def outcome(a: Any, b: Any, c: Any) -> Any:
        t = compare(a, b)
        return t if combine is None else combine(t, c)

    def function(a: Any, b: Any, c: Any = None) -> Any:
        chosen = outcome(a, b, c).astype(word) * true
        if kind in PAIRS:
            chosen = chosen | (
                outcome(a >> np.uint32(16), b >> np.uint32(16), c).astype(word) * true
            ) << word.type(16)
        return chosen

    sources = (kind, kind) if boolean is None else (kind, kind, "pred")
    # The result's bits as an unsigned word, whatever the type: f32 included.
    undefined = undefined_pair_word if kind in PAIRS else None
    return Pure((f"b{8 * word.itemsize}",), sources, function, undefined=undefined)


TRUE: dict[str, Any] = {
    "u16": np.uint16(0xFFFF),
    "s16": np.uint16(0xFFFF),
    "u32": np.uint32(0xFFFFFFFF),
    "s32": np.uint32(0xFFFFFFFF),
    "f16": np.uint16(0x3C00),
    "bf16": np.uint16(0x3F80),
    "f32": np.uint32(0x3F800000),
    "f16x2": np.uint32(0x3C00),
    "bf16x2": np.uint32(0x3F80),
    "pair": np.uint32(0xFFFF),
}
"""What `set` writes for true, by destination; in each half for pairs."""


@pure("selp", types=(*WORDS, "f32", "f64"))
def selp(m: Modifiers) -> Pure:
    """PTX ISA 9.7.6.3."""
    kind = f"b{m.type().bits}"

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        a, b, c = values
        chosen = bits.select(
            c, *np.broadcast_arrays(definedness.known(a, masks[0]), definedness.known(b, masks[1]))
        )
        if masks[2] is None:
            return chosen
        either = (a ^ b) | definedness.known(a, masks[0]) | definedness.known(b, masks[1])
        return bits.select(masks[2], *np.broadcast_arrays(either, chosen))

    return Pure((kind,), (kind, kind, "pred"), lambda a, b, c: bits.select(c, a, b), undefined=undefined)


@pure("slct")
def slct(m: Modifiers) -> Pure:
    """PTX ISA 9.7.6.4."""
    flush = m.flag("ftz")
    kind = m.type()
    if kind.name not in (*WORDS, "f32", "f64"):
        raise Unsupported(f"`slct.{kind.name}`")
    sign = m.need("s32", "f32")
    if flush and sign != "f32":
        raise Unsupported("`slct.ftz` with `.s32`")
    word = f"b{kind.bits}"
    smallest = np.float32(2.0**-126)

    def function(a: Any, b: Any, c: Any) -> Any:
        return bits.select(c > -smallest if flush else c >= 0, a, b)

    return Pure((word,), (word, word, sign), function)
