"""Logic and shift instructions. PTX ISA 9.7.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import bits
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations import definedness
from ptxkit.isa.modifiers import MemoryOperation, Mode

operation = Operations("logic")
elementwise = operation.elementwise


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


elementwise("and", np.bitwise_and, undefined_and)  # PTX ISA 9.7.8.1
elementwise("or", np.bitwise_or, undefined_or)  # 9.7.8.2
elementwise("xor", np.bitwise_xor, definedness.bitwise)  # 9.7.8.3
elementwise("not", np.invert, definedness.same)  # 9.7.8.4
elementwise("cnot", lambda a: (a == 0).astype(a.dtype))  # 9.7.8.5


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


def table_of(instruction: Decoded) -> int:
    """The table of a `lop3`: the lower 8 bits of a constant."""
    return (instruction.constant("immLut") or 0) & 255


@operation("lop3")
def lop3(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.8.6."""
    table = table_of(instruction)
    function, combine = three_input(table), instruction["BoolOp"]
    if combine is None:
        return computes(instruction, function, partial(undefined_three_input, table))
    join = np.logical_or if combine is MemoryOperation.OR else np.logical_and

    def with_predicate(a: Any, b: Any, c: Any, q: Any) -> Any:
        d = function(a, b, c)
        return d, join(d != 0, q)

    def undefined(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        d = undefined_three_input(table, values[:3], masks[:3])
        return d, definedness.every_bit(values, (d, masks[3]), 1)

    return computes(instruction, with_predicate, undefined)


elementwise("shl", bits.shift_left, definedness.moved(bits.shift_left))  # 9.7.8.8


@operation("shr")
def shr(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.8.9."""
    undefined = definedness.moved(bits.shift_right, signed=instruction.types[0].is_signed)
    return computes(instruction, bits.shift_right, undefined)


def funnel_shift(a: Any, b: Any, amount: Any, left: bool, wrap: bool) -> Any:
    """32 bits of `b:a` (`b` high) after a shift: the high ones of a left shift, the low ones of a right."""
    amount = amount & np.uint32(31) if wrap else np.minimum(amount, np.uint32(32))
    rest = np.uint32(32) - amount
    if left:
        return bits.shift_left(b, amount) | bits.shift_right(a, rest)
    return bits.shift_left(b, rest) | bits.shift_right(a, amount)


def funnel(left: bool) -> Any:
    """`shf.l` or `shf.r`. PTX ISA 9.7.8.7."""

    def made(instruction: Decoded) -> Pure:
        function = partial(funnel_shift, left=left, wrap=instruction["mode"] is Mode.WRAP)
        return computes(instruction, function, definedness.moved(function, data=2))

    return made


operation("shf.l")(funnel(left=True))
operation("shf.r")(funnel(left=False))
