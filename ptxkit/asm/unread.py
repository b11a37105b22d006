"""Bodies of functions that are read when somebody looks at them.

Of a large text `parse` reads everything but the bodies of functions, over which it skips to the brace that
closes them. Such a body is an `UnreadBody` until somebody asks for its statements; the same parser then reads
it, from the state in which it came to the body. Whoever asks a module for its `diagnostics` has it all read.

A text is read at once if any of that could make a difference: if what is outside of the bodies has an error,
if braces don't match, if a function or a variable of the module may begin within a body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.lexer import COMMENT, END
from ptxkit.asm.parser import MAX_SHAPE, Parser
from ptxkit.asm.recover import MAX_BLOCKS, recover, skip_too_deep
from ptxkit.asm.states import ITEMS, LISTS, STATEMENTS, long_list_state
from ptxkit.asm.tree import Block, Function, Module, Statement
from ptxkit.diagnostics import Diagnostic, Source

SMALLEST = 1 << 17
"""Characters of a text that is read so; a shorter one is read at once."""

# Compiled where a large text needs them: compiling takes as long as checking a small one.
_BRACES = rf"""[{{}}]|"[^"\n]*"?|{COMMENT}|(?P<open>/\*)"""
_HIDDEN = r"""//[^\n]*[{}]|/\*|"[^"\n]*[{}]"""
"""Braces in comments or strings, and what may be a comment of several lines."""
_NOT_INSIDE = (
    r"[\s;{}:/]\.(?:entry|func|visible|extern|weak|common|version|section|global|const|alias|file)\b"
)
"""What is not in a body whose function can be told without reading it, or makes variables of the module."""

_STATEMENTS = Block.__dict__["statements"]
_LAYOUT = Statement.__dict__["layout"]
_DIAGNOSTICS = Module.__dict__["diagnostics"]


class UnreadBody(Block):
    """A body that nobody has looked at; it becomes a plain `Block` when somebody does."""

    __slots__ = ()

    @property
    def statements(self) -> list[Statement]:
        """As of a `Block`."""
        _read(self)
        return self.statements

    @statements.setter
    def statements(self, statements: list[Statement]) -> None:
        _read(self)
        self.statements = statements

    @property
    def layout(self) -> tuple[str, ...] | None:
        """As of a `Block`."""
        _read(self)
        return self.layout

    @layout.setter
    def layout(self, layout: tuple[str, ...] | None) -> None:
        _read(self)
        self.layout = layout

    def __eq__(self, other: object) -> bool:
        _read(self)
        return self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        _read(self)
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _read(self)
        return self.__reduce_ex__(protocol)


class UnreadModule(Module):
    """A module some of whose bodies nobody has looked at; it becomes a plain `Module` with its last one."""

    __slots__ = ()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """As of a `Module`: those of all bodies."""
        read_all(self)
        return self.diagnostics

    @diagnostics.setter
    def diagnostics(self, diagnostics: list[Diagnostic]) -> None:
        read_all(self)
        self.diagnostics = diagnostics

    def __eq__(self, other: object) -> bool:
        read_all(self)
        return self == other

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> Any:
        read_all(self)
        return self.__reduce_ex__(protocol)


def read_all(module: Module) -> None:
    """Read all bodies of a module that nobody has looked at; it is a plain `Module` then."""
    if not isinstance(module, UnreadModule):
        return
    unread: _Unread = _DIAGNOSTICS.__get__(module)
    with gc_paused():
        for body in unread.bodies:
            _read(body.block)
    module.__class__ = Module  # type: ignore[assignment]
    module.diagnostics = unread.found()
    if any(body.uneven for body in unread.bodies):
        whole = Parser(unread.text, unread.source)
        run_parser(whole)
        module.diagnostics = [*unread.before, *whole.diagnostics]


class _Unread:
    """What is kept of the run over a module's text for the bodies that it skipped.

    Attributes:
        text, source: what was read.
        before: what was found ahead of the parser.
        bodies: those that were skipped, in order.
        module: whose they are.
    """

    def __init__(self, parser: Parser, before: list[Diagnostic]) -> None:
        self.text = parser.text
        self._source = parser.source
        self.before = before
        self.bodies: list[_SkippedBody] = []
        self.module: Module | None = None
        self.kinds_by_text = parser.kinds_by_text
        self.layouts = parser.layouts

    @property
    def source(self) -> Source:
        """The module's source, which a linker may have put in the place of the parser's."""
        return self.module.source if self.module and self.module.source else self._source

    def found(self) -> list[Diagnostic]:
        """What is known to be wrong."""
        return [*self.before, *(each for body in self.bodies for each in body.found)]


class _SkippedBody:
    """Where a parser came to a body, behind its brace.

    Attributes:
        block: the body.
        end: where its closing brace stands.
        found: what its reading found.
        uneven: whether it ended elsewhere: the errors behind it are not those of its own text alone.
    """

    def __init__(self, unread: _Unread, parser: Parser, end: int) -> None:
        self.unread = unread
        self.block: Block = parser.values[-2]
        self.end = end
        self.found: list[Diagnostic] = []
        self.uneven = False
        self._states = [*parser.states]
        self._function: Function = parser.values[-3]
        self._place = parser.position, parser.line, parser.line_start, parser.counted

    def read(self) -> tuple[list[Statement], tuple[str, ...]]:
        """Its statements and its layout."""
        unread, function = self.unread, self._function
        parser = Parser(unread.text, unread.source)
        parser.kinds_by_text, parser.layouts = unread.kinds_by_text, unread.layouts
        opened = Block([], span=self.block.span, layout=_LAYOUT.__get__(self.block)[:1])
        header = Function(function.kind, function.name, span=function.span)
        parser.states, parser.values = self._states, [[], header, opened, []]
        parser.open_blocks = 1
        parser.position, parser.line, parser.line_start, parser.counted = self._place
        with gc_paused():
            run_parser(parser, body=True)
        self.found, self.uneven = parser.diagnostics, parser.position != self.end + 1
        assert opened.layout is not None
        return opened.statements, opened.layout


def _read(block: Block) -> None:
    """Read a body."""
    body = _STATEMENTS.__get__(block)
    if isinstance(body, _SkippedBody):
        statements, layout = body.read()
        _STATEMENTS.__set__(block, statements)
        _LAYOUT.__set__(block, layout)
    block.__class__ = Block


def is_read(function: Function) -> bool:
    """Whether somebody has looked at the body of a function; true where it has none."""
    return not isinstance(function.body, UnreadBody)


def known_diagnostics(module: Module) -> list[Diagnostic]:
    """What is known to be wrong with what has been read of a module."""
    found = _DIAGNOSTICS.__get__(module)
    return found.found() if isinstance(found, _Unread) else found


def known_errors(module: Module) -> bool:
    """Whether the parser has found an error in what has been read of a module."""
    return any(diagnostic.is_error for diagnostic in known_diagnostics(module))


def within(diagnostics: Iterable[Diagnostic], functions: Iterable[Function]) -> Iterator[Diagnostic]:
    """Those of the diagnostics that are about some functions."""
    spans = [function.span for function in functions if function.span is not None]
    for each in diagnostics:
        at = each.span
        if at is not None and any(span.line <= at.line <= span.end_line for span in spans):
            yield each


# ---- reading


def parse_outside(source: Source, before: list[Diagnostic]) -> Module | None:
    """A module of a large text whose bodies are read later; None where it is to be read at once.

    Args:
        source: the text, ASCII alone.
        before: what was found ahead of the parser.
    """
    parser = Parser(source.text, source)
    unread = _Unread(parser, before)
    module = run_parser(parser, unread)
    # The one body of a module is what everybody wants of it.
    if parser.diagnostics or not parser.complete or len(unread.bodies) < 2:
        return None
    for body in unread.bodies:
        _STATEMENTS.__set__(body.block, body)
        body.block.__class__ = UnreadBody
    unread.module = module
    _DIAGNOSTICS.__set__(module, unread)
    module.__class__ = UnreadModule
    return module


def _closing(text: str, start: int) -> int | None:
    """Where the brace stands that closes a body, given the offset behind the one that opens it; None where
    there is none, or the body may have to be read.

    Compilers put it first in its line, so the braces up to the next one there are counted; where comments or
    strings have any, brace by brace. What closes a body elsewhere has what follows the function behind it,
    which is `_NOT_INSIDE`, or is found when the body is read (`_SkippedBody.uneven`).
    """
    depth, at = 1, start
    while depth:
        end = text.find("\n}", at) + 1
        if (
            not end
            or re.compile(_HIDDEN).search(text, at, end)
            or re.compile(_NOT_INSIDE).search(text, at - 1, end)
        ):
            return _closing_of_any(text, start)
        depth += text.count("{", at, end) - text.count("}", at, end) - 1
        at = end + 1
    return end


def _closing_of_any(text: str, start: int) -> int | None:
    """The same brace by brace."""
    depth = 1
    for match in re.compile(_BRACES).finditer(text, start):
        what = match[0]
        if what == "}":
            depth -= 1
            if depth == 0:
                end = match.start()
                return None if re.compile(_NOT_INSIDE).search(text, start - 1, end) else end
        elif what == "{":
            depth += 1
        elif match["open"]:
            return None
    return None


def _skip(parser: Parser, unread: _Unread) -> bool:
    """Skip the body that the parser has come to."""
    if parser.states[-1] != STATEMENTS or parser.open_blocks != 1 or parser.tokens or parser.values[-1]:
        return False
    if not isinstance(parser.values[-3], Function):
        return False
    end = _closing(parser.text, parser.position)
    if end is None:
        return False
    unread.bodies.append(_SkippedBody(unread, parser, end))
    parser.position = end
    return True


def run_parser(parser: Parser, unread: _Unread | None = None, body: bool = False) -> Module:
    """Run a parser over its text, recovering from syntax errors.

    Args:
        parser: a fresh one, or one that stands in a body.
        unread: takes the bodies that are skipped; None: none is.
        body: whether to stop behind the body that it stands in.
    """
    if not body:
        parser.reduce_default()
    opened = False
    while True:
        if opened and unread is not None:
            _skip(parser, unread)
        if not parser.tokens and parser.states[-1] in LISTS and parser.build_known_statement():
            continue
        if len(parser.tokens) > MAX_SHAPE and parser.states[-1] == long_list_state():
            parser.many_literals()
        kind, text, trivia, start = parser.next()
        if kind == END and parser.states[-1] == ITEMS and not parser.tokens:
            break
        opened = kind == "{"
        if kind == "{" and parser.open_blocks >= MAX_BLOCKS and parser.states[-1] in LISTS:
            skip_too_deep(parser)
            continue
        if not parser.feed(kind, text, trivia, start):
            recover(parser, kind, text, trivia, start)
        if body and parser.states[-1] == ITEMS:
            break
    return Module(parser.values[0], trivia, parser.diagnostics, parser.source, parser.complete)
