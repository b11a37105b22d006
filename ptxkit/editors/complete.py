"""What may be at a place: opcodes, modifiers, names, and whatever else the grammar takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptxkit.asm._grammar import KEYWORDS
from ptxkit.asm.lexer import END
from ptxkit.asm.parser import Parser
from ptxkit.asm.states import ITEMS, LISTS
from ptxkit.asm.symbols import Scope, SymbolKind
from ptxkit.asm.syntax_errors import accepts
from ptxkit.asm.unread import run_parser
from ptxkit.diagnostics import Source
from ptxkit.editors.document import Document
from ptxkit.editors.locate import statement_at
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.unfinished import next_modifiers, next_opcodes

_SPELLING = re.compile(r"(?:^|[;{}:])\s*(?:@\s*!?\s*[\w$%]+\s+)?([a-z]\w*)((?:\.[\w:]*)*)$", re.ASCII)
"""An opcode at the start of a statement, as far as it has been typed."""
_NAME = re.compile(r"[%$_A-Za-z][\w$]*$", re.ASCII)
_NAMES = re.compile(r"[%$_A-Za-z][\w$]*", re.ASCII)
_DIRECTIVE = re.compile(r"\.\w*$", re.ASCII)
_COMPONENT = re.compile(r"(%\w+)\.(\w*)$", re.ASCII)


class Completion(NamedTuple):
    """One proposal.

    Attributes:
        text: what is put in, in place of what has been typed of it.
        start: the column at which what has been typed of it begins.
        kind: `opcode`, `modifier`, `register`, `variable`, `parameter`, `label`, `function`, `special`,
            `keyword`.
        detail: a few words about it.
    """

    text: str
    start: int
    kind: str
    detail: str = ""


_SPECIAL = [
    Completion(register.name, 0, "special", f".{register.type}{' vector' * register.vector}")
    for register in SPECIAL_REGISTERS.values()
]


def complete(document: Document, line: int, column: int) -> list[Completion]:
    """Every proposal for a place."""
    before = (document.source.line(line) or "")[: column - 1]
    if "//" in before:
        return []
    spelled = _SPELLING.search(before)
    if spelled and spelled[2]:
        *modifiers, begun = spelled[2][1:].split(".")
        start = column - len(begun)
        return [
            Completion(modifier, start, "modifier", detail)
            for modifier, detail in next_modifiers(spelled[1], modifiers, begun).items()
        ]
    component = _COMPONENT.search(before)
    if component and (register := SPECIAL_REGISTERS.get(component[1])) and register.vector:
        start = column - len(component[2])
        return [Completion(part, start, "special", f".{register.type}") for part in "xyzw"]
    directive = _DIRECTIVE.search(before)
    if directive:
        start = column - len(directive[0])
        words = _accepted(document, line, start, first=not before[: start - 1].strip())
        return [Completion(w, start, "keyword") for w in words if w.startswith(directive[0])]
    name = _NAME.search(before)
    begun = name[0] if name else ""
    start = column - len(begun)
    _, scope = statement_at(document, line, start)
    if spelled and spelled[1] == begun:
        return [Completion(opcode, start, "opcode") for opcode in next_opcodes(begun)]
    names = [*_names(document, scope), *(_SPECIAL if begun else ())]
    return [each._replace(start=start) for each in names if each.text.startswith(begun)]


def _names(document: Document, scope: Scope) -> Iterator[Completion]:
    """Names that are known in a scope: of a `%r<9>` those that the text has."""
    seen: set[str] = set()
    for word in dict.fromkeys([*scope.names(), *_NAMES.findall(document.source.text)]):
        symbol = scope.lookup(word)
        if symbol is None or word in seen:
            continue
        seen.add(word)
        kind = "variable" if symbol.kind is SymbolKind.ALIAS else symbol.kind.value
        yield Completion(
            word, 0, kind, f".{symbol.space} .{symbol.type}" if symbol.type else symbol.kind.value
        )


class _Prefix(Parser):
    """Reads a text up to a place, and keeps the states that it is in there."""

    there: list[int] | None = None

    def feed(self, kind: str, text: str, trivia: str, start: int) -> bool:
        if kind == END and self.there is None:
            self.there = list(self.states)
        return super().feed(kind, text, trivia, start)


def _accepted(document: Document, line: int, column: int, first: bool) -> list[str]:
    """The keywords that the grammar takes at a place.

    Where it is the first of its line, also those that begin a statement: the one before may lack its `;`.
    """
    lines = document.source.text.split("\n")[:line]
    lines[-1] = lines[-1][: column - 1]
    text = "\n".join(lines)
    parser = _Prefix(text, Source("", text))
    run_parser(parser)
    states = parser.there or [0, ITEMS]
    ways = [states]
    if first:
        inner = max(index for index, state in enumerate(states) if state in LISTS)
        ways.append(states[: inner + 1])
    return [word for word, kind in KEYWORDS.items() if any(accepts(way, kind) for way in ways)]
