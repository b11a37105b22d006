"""Tree to PTX text: `write`.

An untouched statement is written with the layout that it was read with, a changed or a new one afresh.
Tokens always come from the tree.
"""

from __future__ import annotations

import re

from ptxkit.asm._grammar import LITERALS
from ptxkit.asm.format import format_module
from ptxkit.asm.tokens import INDENT, Tokens, statement_tokens
from ptxkit.asm.tree import Block, Function, Layout, Malformed, Module, Section, Statement, require_module

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^#[^\n]*", re.DOTALL | re.MULTILINE)


def write(module: Module, canonical: bool = False) -> str:
    """The text of a module.

    Args:
        module: what `parse` gave, or a tree built by code.
        canonical: lay every statement out afresh, in the one style of `ptxkit fmt`; comments stay. Without
            it what nobody has changed is written byte for byte as it was read.
    """
    require_module(module)
    if canonical:
        return format_module(module)
    writer = _SourceWriter()
    writer.statements(module.statements, "")
    return "".join([*writer.out, module.tail])


class _SourceWriter:
    """Keeps the layout of what has one."""

    def __init__(self) -> None:
        self.out: list[str] = []

    def statements(self, statements: list[Statement], indent: str) -> None:
        for statement in statements:
            self.statement(statement, indent)

    def statement(self, node: Statement, indent: str) -> None:
        layout = node.layout
        tokens = statement_tokens(node, indent=indent)
        if layout is not None and len(layout) > len(tokens):
            tokens = statement_tokens(node, spread=True, indent=indent)
        if layout is None or len(layout) != len(tokens):
            layout = _fresh(tokens, layout, indent, first=not self.out)
        if isinstance(node, Block | Section):
            opening = len(tokens) - node.closed
            self._put(tokens[:opening], layout[:opening])
            self.statements(node.statements if isinstance(node, Block) else node.lines, indent + INDENT)
            self._put(tokens[opening:], layout[opening:])
            return
        if isinstance(node, Malformed):
            self.out += [
                piece for (_, token), space in zip(tokens, layout, strict=True) for piece in (space, token)
            ]
            self.out.append("")
            return
        self._put(tokens, layout)
        if isinstance(node, Function) and node.body is not None:
            self.statement(node.body, indent)

    def _put(self, tokens: Tokens, layout: Layout) -> None:
        out = self.out
        for (gap, token), space in zip(tokens, layout, strict=True):
            if space:
                out.append(space)
            elif gap is not None and out and _glue(out[-1], token):
                out.append(gap or " ")
            out.append(token)


def _glue(left: str, right: str) -> bool:
    """Whether two tokens side by side would read as one."""
    if not left:  # after what could not be read
        return False
    a, b = left[-1], right[0]
    if b == ".":
        return (a.isalnum() or a in "_$") and not left.startswith(".")
    return a + b in LITERALS or ((a.isalnum() or a in "_$%") and (b.isalnum() or b in "_$"))


def _fresh(tokens: Tokens, layout: Layout | None, indent: str, first: bool) -> Layout:
    """A layout for a statement that has none, or that no longer fits its own; comments go before it."""
    lead = "" if first else f"\n{indent}"
    if layout:
        lead = layout[0]
        for trivia in layout[1:]:
            for comment in _COMMENT.findall(trivia):
                lead += f"{comment}\n{indent}"
    return (lead, *(gap or "" for gap, _ in tokens[1:]))
