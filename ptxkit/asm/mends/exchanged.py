"""Two registers that have changed places across two statements near each other: a row taken for a column, one
element of a matrix for another."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.asm.mends.edit import LONGEST, Edit
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_SCALING = ("mul", "mad", "shl", "add")
_STORING = ("st.", "stmatrix")
_MOVING = (*_STORING, "ld.", "ldmatrix", "mov", "cvt", "shfl", "tcgen05.ld")
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


def results_exchanged(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that exchange what two statements alike make, or what they store: one gets, or stores, what
    the other does.

    Args:
        text: the kernel's.
        number: the first of the statements.
        cost: of each change.
    """
    one = text.statements[number]
    span = _moved(one)
    if span is None:
        return
    mine = one.text[slice(*span)]
    for other in text.statements[number + 1 : number + 1 + APART]:
        its_span = _moved(other) if other.opcode == one.opcode else None
        if its_span is None:
            continue
        its = other.text[slice(*its_span)]
        if its == mine or one.writes & other.reads or text.width(its) != text.width(mine):
            continue
        said = f"`{mine}` and `{its}` exchanged in {_shown(one)} and {_shown(other)}"
        also = ((other.start + its_span[0], other.start + its_span[1], mine),)
        yield Edit(cost, one.start + span[0], one.start + span[1], its, said, one.line, also=also)


def _moved(one: WrittenStatement) -> tuple[int, int] | None:
    """Where a statement says what it writes, one that stores what it stores; None where that is no register
    or vector of them."""
    if not one.opcode.startswith(_MOVING) or one.macro:
        return None
    spans = operand_spans(one.text[one.operands :])
    place = 1 if one.opcode.startswith(_STORING) else 0
    if len(spans) <= place:
        return None
    start, end = (one.operands + each for each in spans[place])
    return (start, end) if one.text[start] in "%{" else None


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
