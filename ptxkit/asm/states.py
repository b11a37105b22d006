"""The states of the LALR tables, unfolded when the parser first gets there, and those it knows by name."""

from __future__ import annotations

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
