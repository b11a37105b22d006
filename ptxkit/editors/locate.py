"""What is at a position in a text: the word, the statement and the names that are known there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptxkit.asm import Module
from ptxkit.asm.symbols import Scope, Symbol, bind, module_scope
from ptxkit.asm.tree import Block, Function, Statement
from ptxkit.diagnostics import Source, Span
from ptxkit.editors.document import Document

_WORD = re.compile(r"[%$_A-Za-z.][\w$.:%]*", re.ASCII)


@dataclass(frozen=True)
class TextWord:
    """A word of a line.

    Attributes:
        text: with the dots in it: `ld.global.u32`, `%tid.x`.
        column: of its first character.
        before: as much of it as comes before the place that was asked for.
    """

    text: str
    column: int
    before: str

    @property
    def name(self) -> str:
        """The part before the first dot, without the colon of a label; the whole where it begins with one."""
        return self.text.partition(".")[0].rstrip(":") or self.text


def word_at(document: Document, line: int, column: int) -> TextWord | None:
    """The word at a place, or the one that ends there."""
    text = document.source.line(line) or ""
    for match in _WORD.finditer(text):
        if match.start() < column <= match.end() + 1:
            return TextWord(match[0], match.start() + 1, text[match.start() : column - 1])
    return None


def statement_at(document: Document, line: int, column: int) -> tuple[Statement | None, Scope]:
    """The statement at a place, None where there is none, and the scope as it is there."""
    line = document.made_line(line)
    module = document.module
    for function in module.functions:
        if function.body is not None and _covers(function.body.span, line, column, function.body.closed):
            return _in_body(function, module, line, column)
    outer = module_scope(module)
    for statement in module.statements:
        if _covers(statement.span, line, column):
            return statement, outer
    return None, outer


def _in_body(function: Function, module: Module, line: int, column: int) -> tuple[Statement | None, Scope]:
    scope = outer = module_scope(module, function)
    for statement, inside in bind(function, outer):
        if statement.span is not None and (statement.span.line, statement.span.column) > (line, column):
            break
        if not isinstance(statement, Block) and _covers(statement.span, line, column):
            return statement, inside
        scope = inside
    return None, scope


def _covers(span: Span | None, line: int, column: int, closed: bool = True) -> bool:
    if span is None:
        return False
    begins = (span.line, span.column) <= (line, column)
    return begins and (not closed or (line, column) <= (span.end_line, span.end_column))


def definition(document: Document, line: int, column: int) -> tuple[Source, Span] | None:
    """Where the name at a place is declared."""
    symbol = symbol_at(document, line, column)
    if symbol is None or symbol.span is None or document.module.source is None:
        return None
    source, span, _ = document.module.source.origin(symbol.span)
    return source, span


def symbol_at(document: Document, line: int, column: int) -> Symbol | None:
    """What the name at a place means."""
    word = word_at(document, line, column)
    if word is None:
        return None
    _, scope = statement_at(document, line, word.column)
    return scope.lookup(word.name)
