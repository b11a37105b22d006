"""Numbers of statements that are alike but for them: which of them breaks a row, and which are in line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ptxkit.asm.mends.numbers import NUMBER, out_of_line, value_of
from ptxkit.asm.mends.statements import WrittenStatement

APART = 16
"""Statements of a row that are farther apart have nothing to do with each other."""
_PUT = re.compile(r"\s*(%[\w$]+)\s*,\s*(%[\w$]+)\s*,\s*[\dxXa-fA-F]+U?\s*;")
ONTO = 3
"""More statements put numbers onto a register that show a row: of so many each fits some."""
LONGEST_ROW = 64
"""Statements of a row at most."""
RISES = 4
"""Numbers of a row that begins again that tell by how much it is higher, at least."""
_CALL = re.compile(r"\b[A-Z_][A-Z0-9_]*\([^()]*\)")
_REGISTER = re.compile(r"%(?!(?:r|rd|rs|rq|p|f|fd|h|hh)\d)[A-Za-z_$]+(\d+)(?![\w$])")
"""A register of a numbered family; compilers number theirs as they come."""


@dataclass(slots=True)
class WrittenRows:
    """The numbers of statements of rows, by the place of the statement.

    Attributes:
        broken: what breaks a row, and what would be in line: where the numbers stand in the text of the
            statement, those of registers too.
        regular: where numbers stand that are in line with all others of a row.
    """

    broken: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    regular: dict[int, set[int]] = field(default_factory=dict)

    @staticmethod
    def of(statements: Sequence[WrittenStatement]) -> WrittenRows:
        """Find the rows, of at least three statements each."""
        groups: dict[str, list[list[int]]] = {}
        for at, one in enumerate(statements):
            if one.opcode:
                key = NUMBER.sub("#", one.text[: one.operands]) + _skeleton(one.text[one.operands :])
                runs = groups.setdefault(key, [])
                if not runs or at - runs[-1][-1] > APART or len(runs[-1]) == LONGEST_ROW:
                    runs.append([])
                runs[-1].append(at)
        found = WrittenRows()
        for at, one in enumerate(statements):
            for calls in _calls(one):
                for column in zip(*calls, strict=True):
                    found._add([at] * len(calls), column)
        for run in _onto(statements):
            held = [_numbers(statements[at])[-1:] for at in run]
            for column in zip(*held, strict=True):
                found._add(run, column)
        for run in (run for runs in groups.values() for run in runs if len(run) > 2):
            held = [_numbers(statements[at]) for at in run]
            if len({len(each) for each in held}) == 1:
                for column in zip(*held, strict=True):
                    found._add(run, column)
        return found

    def whole(self, number: int) -> bool:
        """Whether a statement is one of a row, and nothing about it is out of line."""
        return number in self.regular and number not in self.broken

    def _add(self, run: Sequence[int], column: Sequence[tuple[int, int, int]]) -> None:
        row = [value for _, _, value in column]
        if _in_line(row):
            for at, (start, _, _) in zip(run, column, strict=True):
                self.regular.setdefault(at, set()).add(start)
        for at, value in _out_of(row):
            start, end, _ = column[at]
            self.broken.setdefault(run[at], []).append((start, end, value))


def _onto(statements: Sequence[WrittenStatement]) -> Iterator[list[int]]:
    """Statements that put numbers onto the same register, into others, near each other: whether they add or
    combine by `or` is the same where an address is aligned."""
    runs: dict[str, list[list[int]]] = {}
    for at, one in enumerate(statements):
        put = _PUT.fullmatch(one.text[one.operands :]) if one.opcode.startswith(("add", "or")) else None
        if put is None or put[1] == put[2] or one.macro:
            continue
        found = runs.setdefault(put[2], [])
        if not found or at - found[-1][-1] > APART:
            found.append([])
        found[-1].append(at)
    yield from (run for found in runs.values() for run in found if len(run) > ONTO)


def _calls(one: WrittenStatement) -> Iterator[list[list[tuple[int, int, int]]]]:
    """The numbers of calls of a macro that stand in one statement and are alike but for these."""
    found: dict[str, list[list[tuple[int, int, int]]]] = {}
    for call in _CALL.finditer(one.text):
        numbers = [(*token.span(), value_of(token[0])) for token in NUMBER.finditer(one.text, *call.span())]
        found.setdefault(NUMBER.sub("#", call[0]), []).append(numbers)
    yield from (calls for calls in found.values() if len(calls) > 2)


def _numbers(one: WrittenStatement) -> list[tuple[int, int, int]]:
    """Where the numbers of a statement stand, those of registers too, and their values."""
    found = [(*token.span(), value_of(token[0])) for token in NUMBER.finditer(one.text, one.operands)]
    found += [(*token.span(1), int(token[1])) for token in _REGISTER.finditer(one.text, one.operands)]
    return sorted(found)


def _in_line(row: Sequence[int]) -> bool:
    """Whether numbers go on by the same step, or begin again and again, higher each time or not."""
    return any(len(set(_rises(row, period))) == 1 for period in (1, *_periods(row)))


def _out_of(row: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Which number of a row is not in line, and what would be."""
    if _in_line(row):
        return
    found = False
    # The first of them may need no number: it is as if there were a zero ahead.
    for broken, first in ((out_of_line(row), 0), (out_of_line([0, *row]), 1)):
        if broken is not None and broken[0] >= first:
            found = True
            yield broken[0] - first, broken[1]
    for period in () if found else _periods(row):
        rises = _rises(row, period)
        usual, _ = Counter(rises).most_common(1)[0]
        for at in range(len(row)):
            beside = [each for each in (at - period, at) if 0 <= each < len(rises)]
            if all((rise == usual) != (place in beside) for place, rise in enumerate(rises)):
                yield at, row[at - period] + usual if at >= period else row[at + period] - usual
                return


def _rises(row: Sequence[int], period: int) -> list[int]:
    """By how much each number is higher than that which is so many places ahead of it."""
    return [row[at + period] - row[at] for at in range(len(row) - period)]


def _periods(row: Sequence[int]) -> range:
    """After how many numbers a row may begin again: it does, and enough of them show by how much it rises."""
    return range(2, min(len(row) // 2, len(row) - RISES) + 1)


def _skeleton(operands: str) -> str:
    """Operands without their numbers, those of registers too."""
    return re.sub(r"(%[A-Za-z_$]+)\d+", r"\1", NUMBER.sub("#", " ".join(operands.split())))
