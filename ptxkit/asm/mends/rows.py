"""Numbers of statements that are alike but for them, and that one of them breaks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.asm.mends.numbers import NUMBER, out_of_line, value_of
from ptxkit.asm.mends.statements import WrittenStatement

APART = 16
"""Statements of a row that are farther apart have nothing to do with each other."""
LONGEST_ROW = 64
"""Statements of a row at most."""


def broken_rows(statements: Sequence[WrittenStatement]) -> dict[int, list[tuple[int, int]]]:
    """Of statements whose numbers break a row, by the place of the statement: which of its numbers, and what
    would be in line."""
    groups: dict[str, list[list[int]]] = {}
    for at, one in enumerate(statements):
        if one.opcode:
            key = NUMBER.sub("#", one.text[: one.operands]) + _skeleton(one.text[one.operands :])
            runs = groups.setdefault(key, [])
            if not runs or at - runs[-1][-1] > APART or len(runs[-1]) == LONGEST_ROW:
                runs.append([])
            runs[-1].append(at)
    found: dict[int, list[tuple[int, int]]] = {}
    for run in (run for runs in groups.values() for run in runs if len(run) > 2):
        held = [
            [value_of(token[0]) for token in NUMBER.finditer(one.text, one.operands)]
            for one in (statements[at] for at in run)
        ]
        if len({len(each) for each in held}) != 1:
            continue
        for place in range(len(held[0])):
            row = [each[place] for each in held]
            # The first of them may need no number: it is as if there were a zero ahead.
            for broken, first in ((out_of_line(row), 0), (out_of_line([0, *row]), 1)):
                if broken is not None and broken[0] >= first:
                    found.setdefault(run[broken[0] - first], []).append((place, broken[1]))
    return found


def _skeleton(operands: str) -> str:
    """Operands without their numbers, those of registers too."""
    return re.sub(r"(%[A-Za-z_$]+)\d+", r"\1", NUMBER.sub("#", " ".join(operands.split())))
