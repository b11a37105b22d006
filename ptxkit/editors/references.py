"""Every place of a text where a name means the same, and what renaming it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptxkit.asm.symbols import Scope, Symbol, SymbolKind, bind, module_scope
from ptxkit.asm.tree import Block, Function, Instruction
from ptxkit.diagnostics import Span
from ptxkit.editors.document import Document
from ptxkit.editors.locate import symbol_at, word_at

_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
"""PTX ISA 4.4."""
_SILENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)
"""Comments and strings, in which no name means anything."""
_GUARD = re.compile(r"\s*(@!?\s*[\w$%.]+)?\s*", re.ASCII)


class Occurrence(NamedTuple):
    """A place where a name stands.

    Attributes:
        span: of the name.
        declares: whether it is declared there.
        scope: what is known there.
    """

    span: Span
    declares: bool
    scope: Scope


class RenamingError(Exception):
    """Why a name can't be changed; the message is for people."""


def references(document: Document, line: int, column: int) -> list[Occurrence]:
    """Where the name at a place means the same, its declaration included, in the order of the text.

    Nothing where there is no name, and in a text with lines for the preprocessor, whose names may stand in
    others. A member of `%r<8>` is declared where that is.
    """
    wanted = symbol_at(document, line, column)
    source = document.module.source
    if wanted is None or source is None or source.made:
        return []
    word = word_at(document, line, column)
    name = word.name if word is not None and wanted.range is None else wanted.name
    lines = _SILENT.sub(_blank, document.source.text).split("\n")
    found: dict[Span, Occurrence] = {}
    for span, scope, opcode in _stretches(document):
        for place in _occurrences(lines, span, name, opcode):
            meant = scope.lookup(name)
            if meant is not None and _same(meant, wanted):
                found.setdefault(place, Occurrence(place, place[:2] == (wanted.span or place)[:2], scope))
    if wanted.range is not None and wanted.span is not None:
        found[wanted.span] = Occurrence(wanted.span, True, module_scope(document.module))
    return sorted(found.values(), key=lambda each: each.span)


def renamed(document: Document, line: int, column: int, name: str) -> list[Span]:
    """What becomes `name` where the name at a place is changed to that.

    Raises:
        RenamingError: it can't be changed, or not to that.
    """
    wanted = symbol_at(document, line, column)
    if wanted is None:
        raise RenamingError("there is no name that the text declares")
    if wanted.range is not None:
        raise RenamingError(f"`{wanted.name}` is one of `{wanted.range.name}<..>`, whose names go together")
    if not _IDENTIFIER.fullmatch(name):
        raise RenamingError(f"expected a name, letters, digits, `_`, `$` or `%` first, found `{name}`")
    places = references(document, line, column)
    if not places:
        raise RenamingError("names can't be changed in a text with lines for the preprocessor")
    for place in places:
        taken = place.scope.lookup(name)
        if taken is not None and not _same(taken, wanted):
            where = f" in line {taken.span.line}" if taken.span else ""
            raise RenamingError(f"`{name}` means something else already, declared{where}")
    return [place.span for place in places]


def _same(one: Symbol, other: Symbol) -> bool:
    """Whether two walks found the same; a function may have a prototype beside its definition."""
    if one.kind is SymbolKind.FUNCTION:
        return other.kind is SymbolKind.FUNCTION and one.name == other.name
    return (one.name, one.kind, one.span) == (other.name, other.kind, other.span)


def _stretches(document: Document) -> Iterator[tuple[Span, Scope, bool]]:
    """Every statement's stretch of the text, the scope there, and whether it begins with an opcode."""
    outer = module_scope(document.module)
    for statement in document.module.statements:
        if not isinstance(statement, Function) or statement.body is None:
            if statement.span is not None:
                yield statement.span, outer, False
            continue
        scope = module_scope(document.module, statement)
        first = True
        for inner, inside in bind(statement, scope):
            if first:
                yield _header(statement), inside, False
                first = False
            if inner.span is not None and not isinstance(inner, Block):
                yield inner.span, inside, isinstance(inner, Instruction)


def _header(function: Function) -> Span:
    """From the beginning of a function to its body."""
    assert function.span is not None
    assert function.body is not None
    body = function.body.span or function.span
    return Span(function.span.line, function.span.column, body.line, body.column)


def _occurrences(lines: list[str], span: Span, name: str, opcode: bool) -> Iterator[Span]:
    word = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])", re.ASCII)
    for number in range(span.line, min(span.end_line, len(lines)) + 1):
        text = lines[number - 1]
        start = span.column - 1 if number == span.line else 0
        end = span.end_column - 1 if number == span.end_line else len(text)
        for match in word.finditer(text, start, end):
            guard = _GUARD.match(text, start) if opcode and number == span.line else None
            if guard is None or match.start() != guard.end():
                yield Span(number, match.start() + 1, number, match.end() + 1)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
