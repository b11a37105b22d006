"""Which branches decide whether a statement is executed, and which go back."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol

_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+([\w$%]+)\s*;")
LABEL = re.compile(r"[\s{}]*([\w$%]+)\s*:(?!:)")
"""A label at the beginning of a statement."""
NEAREST = 4
"""Branches that are looked at for each statement: those around the fewest statements."""


class PlacedStatement(Protocol):
    """What is asked of a statement."""

    @property
    def start(self) -> int:
        """Where it begins in the text."""

    @property
    def text(self) -> str:
        """Itself."""

    @property
    def opcode(self) -> str:
        """With its modifiers."""

    @property
    def guarded(self) -> bool:
        """Whether a predicate may keep it from being executed."""


def controlled(statements: Sequence[PlacedStatement], functions: Sequence[int]) -> dict[int, list[int]]:
    """Of each statement the branches with a predicate that jump over it, jump back across it or end the
    thread ahead of it, by their numbers.

    Args:
        statements: in order.
        functions: where functions begin in the text, in order.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for branch, first, behind in _stretches(statements, functions):
        for number in range(first, behind):
            if number != branch:
                found.setdefault(number, []).append((behind - first, branch))
    return {number: [branch for _, branch in sorted(each)[:NEAREST]] for number, each in found.items()}


def _stretches(
    statements: Sequence[PlacedStatement], functions: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """A branch, and from which statement on it decides, up to which."""
    own = [bisect_right(functions, one.start) for one in statements]
    labels: dict[tuple[int, str], int] = {}
    last = {function: number + 1 for number, function in enumerate(own)}
    for number, one in enumerate(statements):
        label = LABEL.match(one.text)
        if label is not None:
            labels[own[number], label[1]] = number
    for number, one in enumerate(statements):
        if not one.guarded:
            continue
        if one.opcode.startswith(("ret", "exit")):
            yield number, number + 1, last[own[number]]
        elif (branch := _BRANCH.search(one.text)) is not None:
            target = labels.get((own[number], branch[1]))
            if target is not None:
                yield (number, number + 1, target) if target > number else (number, target, number)


def loops(statements: Sequence[PlacedStatement]) -> list[tuple[int, int]]:
    """From the first statement of each loop to the branch that goes back to it, by their numbers.

    Args:
        statements: in order.
    """
    labels: dict[str, int] = {}
    found = []
    for number, one in enumerate(statements):
        if (label := LABEL.match(one.text)) is not None:
            labels[label[1]] = number
        branch = _BRANCH.search(one.text)
        if branch is not None and branch[1] in labels:
            found.append((labels[branch[1]], number))
    return found
