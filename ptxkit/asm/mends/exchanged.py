"""Two registers that have changed places across two statements near each other: a row taken for a column."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.asm.mends.edit import LONGEST, Edit
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_SCALING = ("mul", "mad", "shl", "add")
APART = 6
"""Statements that are farther apart have nothing to do with each other."""


def exchanged(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that exchange a register that a statement reads with one that a later one reads, where both
    scale or add.

    Args:
        text: the kernel's.
        number: the first of the statements.
        cost: of each change.
    """
    one = text.statements[number]
    if not one.opcode.startswith(_SCALING) or one.macro:
        return
    for other in text.statements[number + 1 : number + 1 + APART]:
        if other.opcode.split(".")[0] != one.opcode.split(".")[0] or other.macro:
            continue
        for start, end in _read(one):
            for first, last in _read(other):
                mine, its = one.text[start:end], other.text[first:last]
                if mine in other.reads | one.writes | other.writes or its in one.reads | one.writes:
                    continue
                if text.width(mine) != text.width(its) or its in other.writes:
                    continue
                said = f"`{mine}` and `{its}` exchanged in {_shown(one)} and {_shown(other)}"
                also = ((other.start + first, other.start + last, mine),)
                yield Edit(cost, one.start + start, one.start + end, its, said, one.line, also=also)


def _read(one: WrittenStatement) -> Iterator[tuple[int, int]]:
    """Where the registers stand that a statement reads, but for one that is added last."""
    spans = operand_spans(one.text[one.operands :])[1:3]
    for start, end in spans:
        start, end = one.operands + start, one.operands + end
        if NAME.fullmatch(one.text, start, end) and one.text[start] == "%":
            yield start, end


def _shown(one: WrittenStatement) -> str:
    shown = one.shown if len(one.shown) <= LONGEST else one.opcode
    return f"`{shown}` at line {one.line}"
