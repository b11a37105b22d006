"""Two registers that have changed places across two statements near each other: a row taken for a column, one
element of a matrix for another; and statements that have."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.asm.mends.edit import LONGEST, Edit
from ptxkit.asm.mends.statements import NAME, KernelText, WrittenStatement, operand_spans

_SCALING = ("mul", "mad", "shl", "add")
_COMPARING = ("setp", "min", "max", "sub", "div", "rem", "and")
_STORING = ("st.", "stmatrix")
_MOVING = (*_STORING, "ld.", "ldmatrix", "mov", "cvt", "shfl", "tcgen05.ld")
_COMPUTING = ("mov", "shr", "shl", "and", "bfe", "rem", "div", "mul", "mad", "add", "sub")
"""Instructions of which one's result may have been meant for another's, whatever the two are."""
_ORDERED = ("mov", "add", "sub", "mad", "mul", "shl", "selp", "xor", "and")
"""Instructions that advance something, or take it before that."""
APART = 6
"""Statements that are farther apart have nothing to do with each other."""


def exchanged(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that exchange a register that a statement reads with one that a later one reads, where both
    scale, add, or compare.

    Args:
        text: the kernel's.
        number: the first of the statements.
        cost: of each change.
    """
    one = text.statements[number]
    if not one.opcode.startswith((*_SCALING, *_COMPARING)) or one.macro:
        return
    for other in text.statements[number + 1 : number + 1 + APART]:
        if other.opcode.split(".")[0] != one.opcode.split(".")[0] or other.macro:
            continue
        for start, end in _read(one):
            for first, last in _read(other):
                mine, its = one.text[start:end], other.text[first:last]
                if mine in other.reads | one.writes | other.writes or its in one.reads | one.writes:
                    continue
                if text.width(mine) == text.width(its) and its not in other.writes:
                    yield _both(cost, (one, start, end), (other, first, last))


def results_exchanged(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that exchange what two statements make, or what two alike store: one gets, or stores, what
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
        computed = one.opcode.startswith(_COMPUTING) and other.opcode.startswith(_COMPUTING)
        its_span = _moved(other) if other.opcode == one.opcode or computed else None
        if its_span is None:
            continue
        its = other.text[slice(*its_span)]
        if its != mine and not one.writes & other.reads and text.width(its) == text.width(mine):
            yield _both(cost, (one, *span), (other, *its_span))


def reordered(text: KernelText, number: int, cost: float) -> Iterator[Edit]:
    """The changes that move a statement up or down, past others that write what it reads or read what it
    writes: it takes a value before that goes on, or behind.

    Args:
        text: the kernel's.
        number: of the statement.
        cost: of each change.
    """
    one = text.statements[number]
    if not _movable(one):
        return
    for way in (-1, 1):
        for steps in range(1, APART + 1):
            at = number + way * steps
            if not 0 <= at < len(text.statements) or not _movable(text.statements[at]):
                break
            other = text.statements[at]
            if one.writes & other.writes - one.reads:
                break
            meets = one.reads & other.writes or one.writes & (other.reads | other.writes)
            if meets:
                place = other.start if way < 0 else other.end
                said = f"{_shown(one)} {'ahead of' if way < 0 else 'behind'} {_shown(other)}"
                moved = one.text.strip() + " " if way < 0 else " " + one.text.strip()
                also = ((place, place, moved),)
                yield Edit(cost + 0.02 * steps, one.start, one.end, "", said, one.line, also=also)


def _movable(one: WrittenStatement) -> bool:
    """Whether a statement is one that others may change places with: a computation, of no macro."""
    return one.opcode.startswith((*_ORDERED, "setp", "shr", "rem")) and not one.macro and ":" not in one.text


def _both(
    cost: float, mine: tuple[WrittenStatement, int, int], its: tuple[WrittenStatement, int, int]
) -> Edit:
    """The change that exchanges two stretches of two statements."""
    (one, start, end), (other, first, last) = mine, its
    here, there = one.text[start:end], other.text[first:last]
    said = f"`{here}` and `{there}` exchanged in {_shown(one)} and {_shown(other)}"
    also = ((other.start + first, other.start + last, here),)
    return Edit(cost, one.start + start, one.start + end, there, said, one.line, also=also)


def _moved(one: WrittenStatement) -> tuple[int, int] | None:
    """Where a statement says what it writes, one that stores what it stores; None where that is no register
    or vector of them."""
    if not one.opcode.startswith((*_MOVING, *_COMPUTING)) or one.macro:
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
