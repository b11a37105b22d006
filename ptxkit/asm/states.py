"""The states of the LALR tables that the parser knows by name."""

from __future__ import annotations

from ptxkit.asm._grammar import GOTOS


def _after(rule: str) -> int:
    """The state behind a rule that occurs in one place of the grammar."""
    (state,) = {row[rule] for row in GOTOS if rule in row}
    return state


ITEMS = _after("items")
"""Between two statements of a module."""
STATEMENTS = _after("statements")
"""Between two statements of a body."""
HEADER = _after("function_header")
"""Behind the header of a function, before its body or its `;`."""
LISTS = frozenset((ITEMS, STATEMENTS, _after("section_lines")))
"""Between two statements of any list."""
