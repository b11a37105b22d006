"""Logic and shift instructions. PTX ISA 9.7.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.operations import definedness

WORDS = ("b16", "b32", "b64")


def undefined_and(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """A bit is undefined where one source's is, and the other's is no defined 0."""
    a, b = values
    x, y = map(definedness.known, values, masks)
    return x & (b | y) | y & (a | x)


def undefined_or(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """A bit is undefined where one source's is, and the other's is no defined 1."""
    a, b = values
    x, y = map(definedness.known, values, masks)
    return x & (~b | y) | y & (~a | x)


@pure("and", "or", "xor", types=("pred", *WORDS))
def and_or_xor(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.1 to 9.7.8.3."""
    kind = m.type().name
    function, undefined = {
        "and": (np.bitwise_and, undefined_and),
        "or": (np.bitwise_or, undefined_or),
        "xor": (np.bitwise_xor, definedness.bitwise),
    }[m.opcode]
    return Pure((kind,), (kind, kind), function, undefined=undefined)


@pure("not", types=("pred", *WORDS))
def not_(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.4."""
    kind = m.type().name
    return Pure((kind,), (kind,), np.invert, undefined=definedness.same)


@pure("cnot", types=WORDS)
def cnot(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.5."""
    kind = m.type().name
    return Pure((kind,), (kind,), lambda a: (a == 0).astype(a.dtype))


# A table's bits 7..0 are the results for a, b, c = 111, 110, .. 000.
A, B, C = 0xF0, 0xCC, 0xAA

Expression = tuple[str, Any, Any]


@lru_cache(maxsize=1)
def expressions() -> dict[int, Expression]:
    """For each table an expression with the fewest operators, as (operator, left table, right table).

    Leaves are ("a", ..), ("b", ..), ("c", ..); 0x00 and 0xff have none.
    """
    best: dict[int, Expression] = {A: ("a", None, None), B: ("b", None, None), C: ("c", None, None)}
    levels: list[list[int]] = [[A, B, C]]
    while len(best) < 254:
        cost = len(levels)
        fresh: list[int] = []

        def add(table: int, expression: Expression, fresh: list[int] = fresh) -> None:
            if table not in best and 0 < table < 255:
                best[table] = expression
                fresh.append(table)

        for table in levels[-1]:
            add(table ^ 255, ("~", table, None))
        for left_cost in range(cost):
            for left in levels[left_cost]:
                for right in levels[cost - 1 - left_cost]:
                    add(left & right, ("&", left, right))
                    add(left | right, ("|", left, right))
                    add(left ^ right, ("^", left, right))
        levels.append(fresh)
    return best


def three_input(table: int) -> Callable[[Any, Any, Any], Any]:
    """The function of `lop3` for an 8-bit table."""
    if table in (0, 255):
        constant = np.uint32(0 if table == 0 else 0xFFFFFFFF)
        return lambda a, b, c: constant

    def evaluate(node: int, words: dict[str, Any], known: dict[int, Any]) -> Any:
        if node not in known:
            operator, left, right = expressions()[node]
            if operator in words:
                known[node] = words[operator]
            elif operator == "~":
                known[node] = ~evaluate(left, words, known)
            else:
                x, y = evaluate(left, words, known), evaluate(right, words, known)
                known[node] = x & y if operator == "&" else x | y if operator == "|" else x ^ y
        return known[node]

    return lambda a, b, c: evaluate(table, {"a": a, "b": b, "c": c}, {})


def undefined_three_input(table: int, values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """A bit is undefined where the undefined source bits can make it 0 and can make it 1."""
    can = []
    for value, mask in zip(values, map(definedness.known, values, masks), strict=True):
        can.append((~value | mask, value | mask))
    reach = [np.uint32(0), np.uint32(0)]
    for row in range(8):
        outcome = table >> row & 1
        reach[outcome] = reach[outcome] | can[0][row >> 2 & 1] & can[1][row >> 1 & 1] & can[2][row & 1]
    return reach[0] & reach[1]


@pure("lop3", types=("b32",))
def lop3(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.6."""
    m.type()
    combine = m.choose("or", "and")
    table = m.immediate(4)
    if table is None or not 0 <= table <= 255:
        raise Unsupported("`lop3` needs a constant table from 0 to 255")
    function = three_input(table)
    if combine is None:
        return Pure(
            ("b32",),
            ("b32", "b32", "b32", "u32"),
            lambda a, b, c, _: function(a, b, c),
            undefined=lambda values, masks: undefined_three_input(table, values[:3], masks[:3]),
        )
    join = np.logical_or if combine == "or" else np.logical_and

    def with_predicate(a: Any, b: Any, c: Any, _: Any, q: Any) -> Any:
        d = function(a, b, c)
        return d, join(d != 0, q)

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        d = undefined_three_input(table, values[:3], masks[:3])
        return d, definedness.every_bit(values, (d, masks[4]), 1)

    return Pure(("b32", "pred"), ("b32", "b32", "b32", "u32", "pred"), with_predicate, undefined=undefined)


@pure("shl", types=WORDS)
def shl(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.8."""
    kind = m.type().name
    return Pure((kind,), (kind, "u32"), bits.shift_left, undefined=definedness.moved(bits.shift_left))


@pure("shr", types=(*WORDS, "u16", "u32", "u64", "s16", "s32", "s64"))
def shr(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.9."""
    kind = m.type().name
    undefined = definedness.moved(bits.shift_right, signed=kind[0] == "s")
    return Pure((kind,), (kind, "u32"), bits.shift_right, undefined=undefined)


def funnel_shift(a: Any, b: Any, amount: Any, left: bool, wrap: bool) -> Any:
    """32 bits of `b:a` (`b` high) after a shift: the high ones of a left shift, the low ones of a right."""
    amount = amount & np.uint32(31) if wrap else np.minimum(amount, np.uint32(32))
    rest = np.uint32(32) - amount
    if left:
        return bits.shift_left(b, amount) | bits.shift_right(a, rest)
    return bits.shift_left(b, rest) | bits.shift_right(a, amount)


@pure("shf", types=("b32",))
def shf(m: Modifiers) -> Pure:
    """PTX ISA 9.7.8.7."""
    m.type()
    function = partial(funnel_shift, left=m.need("l", "r") == "l", wrap=m.need("clamp", "wrap") == "wrap")
    return Pure(("b32",), ("b32", "b32", "u32"), function, undefined=definedness.moved(function, data=2))
