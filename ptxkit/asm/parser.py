"""The parser: tokens to a tree. The grammar is `ptx.lark`; its LALR tables, built ahead, run here.

Speed comes from one fact: what an LALR parser builds depends on the kinds of the tokens alone. So the maker
of a statement (see `reduce.py`) is kept under its kinds; the next statement with the same kinds, in the same
parser state, is built from it at once. The first of its kinds always goes through the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from sys import intern
from typing import Any

from ptxkit.asm._grammar import KINDS
from ptxkit.asm.lexer import END, LITERALS_AHEAD, PIECES, PLAIN_STATEMENT, TOKEN, TRIVIA, KindCache, kind_of
from ptxkit.asm.reduce import Reducer
from ptxkit.asm.reduce_operands import Maker, Spanner, integers
from ptxkit.asm.states import ACTIONS, DEFAULTS, GOTOS, ITEMS, LISTS, RULES
from ptxkit.asm.tree import Block, Function, Malformed, Section, Statement
from ptxkit.diagnostics import Diagnostic, Source, Span

MAX_SHAPE = 512
"""Longest statement, in tokens, whose maker is kept."""
MAX_STATEMENT = 4096
"""Longest statement, in characters, that is looked up."""
MAX_SHAPES = 4096
"""Makers kept for one parser state."""

_SHAPES: dict[int, dict[str, tuple[Maker, bool]]] = {state: {} for state in LISTS}
"""List state -> kinds of a statement's tokens -> its maker, and whether it is spread (see `_spread`)."""

_new = tuple.__new__
_DOTTABLE = {KINDS[name] for name in ("NAME", "SINK", "QUALIFIED", "DOTTED", "CALL", "GENERIC")}
_LITERALS = {KINDS[name] for name in ("INTEGER", "FLOAT", "SINGLE")}
_INTEGERS = {KINDS["INTEGER"]}
_APART = {KINDS[name] for name in ("WORD", "TYPE", "SPACE", "VECTOR", "LINKAGE")}
_SPREAD = re.compile("[{}][{}]".format(*(re.escape("".join(kinds)) for kinds in (_DOTTABLE, _APART))))


class Parser:
    """One run over one text."""

    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.reducer = Reducer()
        self.kinds_by_text = KindCache()
        self.layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.states = [0]
        self.values: list[Any] = []
        self.position = 0
        self.line = 1
        self.line_start = 0
        self.counted = 0
        self.semicolon = -1
        self.failed_end = 0
        self.failures = 0
        self.open_blocks = 0
        self.unwritten = False
        self.complete = True
        self.begin()

    # ---- tokens

    def begin(self) -> None:
        """Forget the tokens of the statement that has just been built."""
        self.kinds: list[str] = []
        self.tokens: list[str] = []
        self.trivia: list[str] = []
        self.starts: list[int] = []
        self.reducer.begin(self.kinds)

    def next(self) -> tuple[str, str, str, int]:
        """The token at `position`: kind, text, what comes before it, offset. Does not move."""
        trivia = TRIVIA.match(self.text, self.position)
        assert trivia is not None
        start = trivia.end()
        match = TOKEN.match(self.text, start)
        if match is None:
            return END, "", trivia[0], start
        return kind_of(match), match[0], trivia[0], start

    def take(self, kind: str, text: str, trivia: str, start: int) -> None:
        """Count a token to the current statement and move after it."""
        self.kinds.append(kind)
        self.tokens.append(text)
        self.trivia.append(trivia)
        self.starts.append(start)
        self.position = start + len(text)

    def spanner(self, starts: list[int], tokens: list[str]) -> Spanner:
        """The span function of a statement whose tokens start at these offsets."""
        self._count_lines(starts[0])
        text, line, line_start = self.text, self.line, self.line_start
        base = line_start - 1
        if text.find("\n", starts[0], starts[-1] + len(tokens[-1])) < 0:
            return lambda i, j: Span(line, starts[i] - base, line, starts[j] + len(tokens[j]) - base)

        def place(offset: int) -> tuple[int, int]:
            newlines = text.count("\n", line_start, offset)
            return line + newlines, offset - (text.rfind("\n", line_start, offset) if newlines else base)

        return lambda i, j: Span(*place(starts[i]), *place(starts[j] + len(tokens[j])))

    def _count_lines(self, offset: int) -> None:
        """Make `line` and `line_start` those of an offset, which never goes back."""
        newlines = self.text.count("\n", self.counted, offset)
        if newlines:
            self.line += newlines
            self.line_start = self.text.rfind("\n", self.counted, offset) + 1
        self.counted = offset

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset in the statement that is being read, or after it."""
        newlines = self.text.count("\n", self.counted, offset)
        before = self.text.rfind("\n", self.counted, offset) if newlines else self.line_start - 1
        return self.line + newlines, offset - before

    def here(self) -> Spanner:
        """The span function of the current statement."""
        return self.spanner(self.starts, self.tokens)

    # ---- the machine

    def feed(self, kind: str, text: str, trivia: str, start: int) -> bool:
        """Shift one token, after the reductions that it calls for; False where it cannot follow."""
        states = self.states
        action = ACTIONS[states[-1]].get(kind)
        while action is not None and action < 0:
            if kind == END and states[-1] == ITEMS:
                return True
            self._reduce(-1 - action)
            action = ACTIONS[states[-1]].get(kind)
        if action is None:
            return False
        self.values.append(len(self.tokens))
        states.append(action)
        self.take(kind, text, trivia, start)
        self.reduce_default()
        return True

    def close_unwritten(self) -> None:
        """Close the innermost block although the text has no `}` for it."""
        self.unwritten = True
        self.feed("}", "}", "", self.position)
        self.unwritten = False
        self.position -= 1

    def reduce_default(self) -> None:
        while (rule := DEFAULTS[self.states[-1]]) is not None:
            self._reduce(rule)

    def _reduce(self, rule: int) -> None:
        origin, name, length, single = RULES[rule]
        states, values = self.states, self.values
        if length == 1 and (single or name is None) and type(values[-1]) is not list:
            states[-1] = GOTOS[states[-2]][origin]
            return
        children: list[Any] = []
        if length:
            children = values[-length:]
            del values[-length:]
            del states[-length:]
        after = GOTOS[states[-1]][origin]
        built = _BUILT.get(origin)
        if built is not None:
            value = built(self, children, after)
        else:
            children = _flat(children)
            if len(children) == 1 and (name is None or single):
                value = children[0]
            elif name is None:
                value = children
            else:
                value = self.reducer.reduce(name, children)
        values.append(value)
        states.append(after)

    # ---- what is built as soon as it has been read

    def make(self, maker: Maker, shapes: dict[str, tuple[Maker, bool]] | None = None) -> Statement:
        """Build the statement whose tokens have been read, give it its layout, and keep its maker."""
        span = self.here()
        spread = _SPREAD.search("".join(self.kinds)) is not None
        if self.reducer.broken:
            node: Statement = Malformed(tuple(self.tokens), span=span(0, len(self.tokens) - 1))
        else:
            node = maker(self.tokens, span)
        node.layout = self.shared(
            self._spread(self.trivia, self.tokens, self.kinds) if spread else self.trivia
        )
        for code, message, first, last, help in self.reducer.problems:
            self.diagnostics.append(
                Diagnostic(code, message, span(first, last), help=help or None, source=self.source)
            )
        if shapes is not None and self.kinds[-1] in ";:" and len(self.kinds) <= MAX_SHAPE:
            if len(shapes) >= MAX_SHAPES:
                shapes.clear()
            if not self.reducer.problems:
                shapes["".join(self.kinds)] = (maker, spread)
        self.begin()
        return node

    def shared(self, layout: list[str]) -> tuple[str, ...]:
        """The layout as a tuple, one object for all that are equal."""
        key = tuple(layout)
        return self.layouts.setdefault(key, key)

    @staticmethod
    def _spread(layout: list[str], tokens: list[str], kinds: list[str]) -> list[str]:
        """The layout of a statement in which a modifier stands apart, as in `ld .global`: every modifier then
        has an entry, also those that do not stand apart."""
        out: list[str] = []
        for trivia, text, kind in zip(layout, tokens, kinds, strict=True):
            out.append(trivia)
            if kind in _DOTTABLE:
                out += [""] * text.count(".")
        return out

    def _on_list(self, children: list[Any], after: int) -> list[Statement]:
        if not children:
            return []
        statements, item = children
        if callable(item):
            statements.append(self.make(item, _SHAPES[after]))
        elif type(item) is tuple:
            statements += item
        else:
            statements.append(item)
        return statements

    def _on_open(self, children: list[Any], after: int) -> Block:
        block = Block([], span=self.here()(0, 0), layout=tuple(self.trivia))
        self.open_blocks += 1
        self.begin()
        return block

    def _on_close(self, children: list[Any], after: int) -> tuple[list[str], Span]:
        """The layout before the brace, empty where it is not written, and its place."""
        found = ([] if self.unwritten else [self.trivia[0]]), self.here()(0, 0)
        self.begin()
        return found

    def _on_body(self, children: list[Any], after: int) -> Block:
        block, statements, (trivia, span) = children
        self.open_blocks -= 1
        block.statements = statements
        block.closed = bool(trivia)
        block.layout = self.shared([*block.layout, *trivia])
        block.span = block.span.to(span)
        return block

    def _on_header(self, children: list[Any], after: int) -> Statement:
        return self.make(self.reducer.reduce("function_header", _flat(children)))

    def _on_function(self, children: list[Any], after: int) -> Function | tuple[Statement, ...]:
        function, rest = children
        if isinstance(rest, Block):
            if isinstance(function, Malformed):
                return function, rest
            function.body = rest
            function.span = function.span.to(rest.span)
            return function
        trivia, span = rest
        if isinstance(function, Malformed):
            function.tokens = (*function.tokens, ";")
        function.layout = self.shared([*function.layout, *trivia])
        function.span = function.span.to(span)
        return (function,) if isinstance(function, Malformed) else function

    def _on_section_header(self, children: list[Any], after: int) -> Section:
        name, last = self.tokens[-2], len(self.tokens) - 1
        section = Section(name, [], span=self.here()(0, last), layout=tuple(self.trivia))
        self.begin()
        return section

    def _on_section(self, children: list[Any], after: int) -> Section:
        section, lines, (trivia, span) = children
        section.lines = lines
        section.closed = bool(trivia)
        section.layout = self.shared([*section.layout, *trivia])
        section.span = section.span.to(span)
        return section

    # ---- statements of a known shape

    def build_known_statement(self) -> bool:
        """Build the next statement from a maker that is kept, if there is one for its kinds."""
        text, position = self.text, self.position
        if position > self.semicolon:
            found = text.find(";", position)
            self.semicolon = found if found >= 0 else len(text)
        if self.semicolon - position > MAX_STATEMENT or (self.failures > 3 and position < self.failed_end):
            return False
        match = PLAIN_STATEMENT.match(text, position)
        if match is None:
            return False
        lead, chunk = match.groups()
        parts = PIECES.split(chunk)
        tokens = parts[1::2]
        kinds_by_text = self.kinds_by_text
        known = _SHAPES[self.states[-1]].get("".join([kinds_by_text[token] for token in tokens]))
        if known is None:
            self.failures = self.failures + 1 if self.failed_end == match.end() else 1
            self.failed_end = match.end()
            return False
        maker, spread = known
        start = match.start(2)
        self._count_lines(start)
        if "\n" in chunk:
            starts = list(accumulate(map(len, parts), initial=start))[1::2]
            node = maker(tokens, self.spanner(starts, tokens))
        else:
            line = self.line
            at = list(accumulate(map(len, parts), initial=start - self.line_start + 1))
            node = maker(tokens, lambda i, j: _new(Span, (line, at[i + i + 1], line, at[j + j + 2])))
        layout = [lead, *parts[2:-1:2]]
        if spread:
            layout = self._spread(layout, tokens, [kinds_by_text[token] for token in tokens])
        node.layout = self.shared(layout)
        self.values[-1].append(node)
        self.position = match.end()
        return True

    # ---- long initializers

    def many_literals(self) -> None:
        """Take many literals of a long initializer at once. The parser's state stays what it is.

        The statement has more tokens than one whose maker is kept, so the nodes can be built right here.
        """
        match = LITERALS_AHEAD.match(self.text, self.position)
        if match is None:
            return
        parts = PIECES.split(match[0])
        tokens = parts[1::2]
        kinds = [self.kinds_by_text[token] for token in tokens]
        if not _LITERALS.issuperset(kinds[::2]):
            return
        offsets = list(accumulate(map(len, parts), initial=self.position))[1::2]
        line = self.line, self.line_start, self.counted
        span = self.spanner(offsets, tokens)
        self.line, self.line_start, self.counted = line
        if "\n" not in match[0] and _INTEGERS.issuperset(kinds[::2]):
            nodes = integers(tokens[::2], span(0, 0), offsets[: len(tokens) : 2])
        else:
            make = {kind: self.reducer.float for kind in _LITERALS} | {KINDS["INTEGER"]: self.reducer.integer}
            nodes = [make[kinds[i]]([i])(tokens, span) for i in range(0, len(tokens), 2)]
        self.values[-2].append(self.reducer.literals(nodes))
        self.kinds += kinds
        self.tokens += map(intern, tokens)
        self.trivia += parts[:-1:2]
        self.starts += [self.position] * len(tokens)  # nobody asks for the place of one of these again
        self.position = match.end()


def _flat(children: list[Any]) -> list[Any]:
    """Children with those of spliced rules in their place. The first list is reused: it grows in place."""
    for index, child in enumerate(children):
        if type(child) is list:
            flat = child if index == 0 else [*children[:index], *child]
            for later in children[index + 1 :]:
                if type(later) is list:
                    flat += later
                else:
                    flat.append(later)
            return flat
    return children


_BUILT: dict[str, Callable[[Parser, list[Any], int], Any]] = {
    "items": Parser._on_list,
    "statements": Parser._on_list,
    "section_lines": Parser._on_list,
    "open": Parser._on_open,
    "close": Parser._on_close,
    "end": Parser._on_close,
    "body": Parser._on_body,
    "function_header": Parser._on_header,
    "function": Parser._on_function,
    "metadata_lines": Parser._on_list,
    "code_blocks": Parser._on_list,
    "section_header": Parser._on_section_header,
    "metadata_header": Parser._on_section_header,
    "sources_header": Parser._on_section_header,
    "section": Parser._on_section,
}
