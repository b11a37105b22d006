"""The states of the LALR tables, unfolded when the parser first gets there, and those it knows by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from sys import intern

from ptxkit.asm import _grammar

_STATES = _grammar.STATES.split("\n")


def _alternatives(line: str) -> Iterator[tuple[str, str | None, int, bool]]:
    origin, *alternatives = line.split(" ")
    for alternative in alternatives:
        method, length = alternative.split(":")
        name = method.removesuffix("?")
        yield intern(origin), None if name == "-" else intern(name), int(length), name != method


RULES = tuple(rule for line in _grammar.RULES.split("\n") for rule in _alternatives(line))
"""(rule, method or None if spliced, length, whether a lone child stands for it)"""


class _Actions(dict[int, dict[str, int]]):
    """State -> kind -> the next state, or -1 - the rule to reduce."""

    def __missing__(self, state: int) -> dict[str, int]:
        kinds, *numbers = _STATES[state].partition("  ")[0].split(" ")
        if len(numbers) == 1:
            row = dict.fromkeys(kinds, int(numbers[0]))
        else:
            row = dict(zip(kinds, map(int, numbers), strict=True))
        self[state] = row
        return row


class _Gotos(dict[int, dict[str, int]]):
    """State -> rule -> the next state."""

    def __missing__(self, state: int) -> dict[str, int]:
        pairs = [pair.split(":") for pair in _STATES[state].partition("  ")[2].split()]
        self[state] = row = {intern(rule): int(after) for rule, after in pairs}
        return row


class _Defaults(dict[int, "int | None"]):
    """State -> the rule to reduce whatever token comes next, where there is no other choice."""

    def __missing__(self, state: int) -> int | None:
        actions = set(ACTIONS[state].values())
        only = actions.pop() if len(actions) == 1 else 0
        self[state] = rule = -1 - only if only < 0 else None
        return rule


ACTIONS = _Actions()
GOTOS = _Gotos()
DEFAULTS = _Defaults()


def simulate(kinds: str) -> int:
    """The state after these kinds at the start of a module."""
    stack = [0]
    for kind in kinds:
        while (action := ACTIONS[stack[-1]][kind]) < 0:
            origin, _, length, _ = RULES[-1 - action]
            if length:
                del stack[-length:]
            stack.append(GOTOS[stack[-1]][origin])
        stack.append(action)
    return stack[-1]


_AFTER = {
    rule: int(state)
    for rule, state in re.findall(
        r"(?<!\S)(items|statements|function_header|section_lines|metadata_lines|code_blocks):(\d+)",
        _grammar.STATES,
    )
}
"""The state after a rule that occurs in one place of the grammar."""

ITEMS = _AFTER["items"]
"""Between two statements of a module."""
STATEMENTS = _AFTER["statements"]
"""Between two statements of a body."""
HEADER = _AFTER["function_header"]
"""Behind the header of a function, before its body or its `;`."""
LISTS = frozenset({*_AFTER.values()} - {HEADER})
"""Between two statements of any list."""


@cache
def long_list_state() -> int:
    """Behind a comma of an initializer that has two elements already: `.global .b8 x = {1, 2,`."""
    words = ("SPACE", "TYPE", "NAME", "=", "{", "INTEGER", ",", "INTEGER", ",")
    return simulate("".join(_grammar.KINDS[word] for word in words))
