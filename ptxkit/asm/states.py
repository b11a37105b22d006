"""The states of the LALR tables, unfolded when the parser first gets there, and those it knows by name."""

from __future__ import annotations

from functools import cache

from ptxkit.asm import _grammar


class _Actions(dict[int, dict[str, int]]):
    """State -> kind -> the next state, or -1 - the rule to reduce."""

    def __missing__(self, state: int) -> dict[str, int]:
        self[state] = row = dict(zip(*_grammar.ACTIONS[state], strict=True))
        return row


class _Gotos(dict[int, dict[str, int]]):
    """State -> rule -> the next state."""

    def __missing__(self, state: int) -> dict[str, int]:
        self[state] = row = dict(zip(*_grammar.GOTOS[state], strict=True))
        return row


class _Defaults(dict[int, "int | None"]):
    """State -> the rule to reduce whatever token comes next, where there is no other choice."""

    def __missing__(self, state: int) -> int | None:
        actions = set(_grammar.ACTIONS[state][1])
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
            origin, _, length, _ = _grammar.RULES[-1 - action]
            if length:
                del stack[-length:]
            stack.append(GOTOS[stack[-1]][origin])
        stack.append(action)
    return stack[-1]


def _after(rule: str) -> int:
    """The state behind a rule that occurs in one place of the grammar."""
    (state,) = {states[rules.index(rule)] for rules, states in _grammar.GOTOS if rule in rules}
    return state


ITEMS = _after("items")
"""Between two statements of a module."""
STATEMENTS = _after("statements")
"""Between two statements of a body."""
HEADER = _after("function_header")
"""Behind the header of a function, before its body or its `;`."""
LISTS = frozenset((ITEMS, STATEMENTS, _after("section_lines")))
"""Between two statements of any list."""


@cache
def in_long_list() -> int:
    """Behind a comma of an initializer that has two elements already: `.global .b8 x = {1, 2,`."""
    words = ("SPACE", "TYPE", "NAME", "=", "{", "INTEGER", ",", "INTEGER", ",")
    return simulate("".join(_grammar.KINDS[word] for word in words))
