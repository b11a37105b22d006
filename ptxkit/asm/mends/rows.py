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
LONGEST_ROW = 64
"""Statements of a row at most."""
RISES = 4
"""Numbers of a row that begins again that tell by how much it is higher, at least."""
_CALL = re.compile(r"\b[A-Z_][A-Z0-9_]*\([^()]*\)")
_REGISTER = re.compile(r"%[A-Za-z_$]+(\d+)(?![\w$])")


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
