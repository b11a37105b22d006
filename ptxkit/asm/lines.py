"""Lines of formatted PTX: where a statement that is too long is broken, and comments in columns.

`LineBuffer` collects text and knows its column; `put_statement` lays out the tokens of one statement. The
rules are those that `ptxkit.asm.format` states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ptxkit.asm.tokens import INDENT
from ptxkit.asm.trivia import Comments

WIDTH = 110
"""Columns of a line. Only what cannot be broken, and comments, reach beyond."""

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NEVER = 1 << 30
"""The width of what cannot stand on one line."""


class Item(NamedTuple):
    """A token of a statement, with the white space of a fresh layout and the comments before it."""

    gap: str
    token: str
    comments: Comments | None = None


class _Trailing(NamedTuple):
    """Comments after a line's code: where the gap before is in `out`, and what its width depends on."""

    gap: int
    row: int
    column: int
    indent: str
    width: int


class LineBuffer:
    """Text that grows, and the place where it ends."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.row = 0
        self.column = 0
        self.indent = ""
        self._trailing: list[_Trailing] = []

    def put(self, text: str) -> None:
        """Append text and keep count of row and column."""
        self.out.append(text)
        newline = text.rfind("\n")
        if newline < 0:
            self.column += len(text)
            return
        self.row += text.count("\n")
        self.column = len(text) - newline - 1
        last = text[newline + 1 :]
        self.indent = last[: len(last) - len(last.lstrip(" "))]

    def put_trailing(self, comments: Sequence[str]) -> None:
        """Comments after the code of this line, which ends with them."""
        text = " ".join(comments)
        if "\n" not in text:
            self._trailing.append(_Trailing(len(self.out), self.row, self.column, self.indent, len(text)))
        self.put("  ")
        self.put(text)

    def text(self) -> str:
        """The lines, with the comments after them in columns."""
        for column, block in _columns(self._trailing):
            for comment in block:
                self.out[comment.gap] = " " * (column - comment.column)
        return "".join(self.out)

    def put_statement(self, items: Sequence[Item], indent: str, operands: int | None = None) -> None:
        """The tokens of a statement that begins where the text ends.

        Args:
            items: its tokens. Where a gap has a line end, there is one whatever the width.
            indent: the indentation of the statement.
            operands: of an instruction, the index of its first operand.
        """
        _Statement(self, items, indent).put(operands)


def _columns(comments: list[_Trailing]) -> Iterator[tuple[int, list[_Trailing]]]:
    """Comments that share a column: of lines one below the other, indented alike, and within the width."""
    block: list[_Trailing] = []
    column = reach = 0
    for comment in comments:
        wanted = max(column, comment.column + 2)
        if block and (
            comment.row != block[-1].row + 1
            or comment.indent != block[-1].indent
            or wanted + max(reach, comment.width) > WIDTH
        ):
            yield column, block
            block, reach, wanted = [], 0, comment.column + 2
        block.append(comment)
        column, reach = wanted, max(reach, comment.width)
    if block:
        yield column, block


class _Statement:
    """One statement's items, the brackets among them matched, and how wide any stretch of them is."""

    def __init__(self, lines: LineBuffer, items: Sequence[Item], indent: str) -> None:
        self.lines = lines
        self.items = items
        self.indent = indent
        self.leads = [_lead(item) for item in items]
        self.sums = [0]
        for lead, item in zip(self.leads, items, strict=True):
            self.sums.append(self.sums[-1] + lead + len(item.token))
        self.match = _brackets(items)

    def put(self, operands: int | None) -> None:
        """All of it, line by line where gaps end lines."""
        first = 0
        for index, item in enumerate(self.items):
            if index and "\n" in item.gap:
                self.line(first, index, None)
                first = index
        self.line(first, len(self.items), operands)

    def line(self, start: int, end: int, operands: int | None) -> None:
        """A stretch that is one line where it fits."""
        within = self.indent + INDENT
        self.lead(start, within)
        if self.fits(self.lines.column, start, end):
            self.flat(start, end, within)
        elif operands is None or operands >= end - 1:
            self.fill(self.pieces(start, end), within)
        else:
            self.flat(start, operands, within)
            pieces = list(self.pieces(operands, end))
            whole = all(self.fits(len(within), *piece) for piece in pieces)
            if not whole or self.width(operands, end) >= _NEVER:
                self.lead_or_newline(*pieces[0], within)
                self.fill(pieces, within)
                return
            self.newline(operands, within)
            self.fill(pieces, within, apart=not self.fits(len(within), operands, end))

    # ---- widths

    def width(self, start: int, end: int) -> int:
        """Columns of a stretch on one line, without what comes before its first token."""
        return self.sums[end] - self.sums[start] - self.leads[start]

    def fits(self, column: int, start: int, end: int) -> bool:
        return column + self.width(start, end) <= WIDTH

    def word(self, start: int, end: int) -> int:
        """Columns of a stretch up to where it may first be broken."""
        last = start
        while last + 1 < end and not self.match.get(last, 0) > last + 1 and not self.leads[last + 1]:
            last += 1
        return self.width(start, last + 1)

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A stretch parted after its commas, those in brackets not counted."""
        first = index = start
        while index < end:
            index = self.match.get(index, index)
            if self.items[index].token == ",":
                yield first, index + 1
                first = index + 1
            index += 1
        if first < end:
            yield first, end

    # ---- what comes before a token

    def newline(self, index: int, indent: str, inner: str = "") -> None:
        """A new line for a token; its comments come before, indented by `inner` where given."""
        comments = self.items[index].comments
        if comments is not None:
            self.comments(comments, inner or indent, f"\n{indent}")
        else:
            self.lines.put(f"\n{indent}")

    def lead(self, index: int, indent: str) -> None:
        """What comes before a token: its gap, or its comments."""
        gap, _, comments = self.items[index]
        if not index:
            return
        if comments is not None:
            self.comments(comments, indent, gap if "\n" in gap or not comments.ends_line else f"\n{indent}")
        elif gap:
            self.lines.put(gap)

    def lead_or_newline(self, start: int, end: int, indent: str) -> None:
        """What comes before a stretch; a new line where it, or its first word, fits one but not this."""
        wanted = self.width(start, end) if self.fits(len(indent), start, end) else self.word(start, end)
        if self.leads[start] and _NEVER > self.leads[start] > WIDTH - self.lines.column - wanted:
            self.newline(start, indent)
        else:
            self.lead(start, indent)

    def comments(self, comments: Comments, indent: str, end: str) -> None:
        """Comments between two tokens, and the white space after them.

        Args:
            comments: what is there.
            indent: for those on lines of their own.
            end: the gap before the second token; a blank at least.
        """
        put = self.lines.put
        if "\n" in end:
            if comments.trailing:
                self.lines.put_trailing(comments.trailing)
        else:
            for comment in comments.trailing:
                put(f" {comment}")
        for _, comment in comments.own_line:
            put(f"\n{comment}" if comment.startswith("#") else f"\n{indent}{comment}")
        put(end or " ")

    # ---- layouts

    def flat(self, start: int, end: int, indent: str) -> None:
        """A stretch on one line, except that comments may end it. Its first token's lead is there."""
        for index in range(start, end):
            if index > start:
                self.lead(index, indent)
            self.lines.put(self.items[index].token)

    def fill(self, pieces: Iterable[tuple[int, int]], indent: str, apart: bool = False) -> None:
        """Pieces side by side as far as they go, a new line for one that fits a line but not this one.

        Args:
            pieces: the pieces; what comes before the first is there.
            indent: of new lines.
            apart: a vector has a line of its own.
        """
        before = -1
        for first, last in pieces:
            if before >= 0 and apart and "{" in (self.items[before].token, self.items[first].token):
                self.newline(first, indent)
            elif before >= 0:
                self.lead_or_newline(first, last, indent)
            if self.fits(self.lines.column, first, last):
                self.flat(first, last, indent)
            else:
                self.open(first, last, indent)
            before = first

    def open(self, start: int, end: int, indent: str) -> None:
        """A piece that is too long for a line: brackets that do not fit are broken inside."""
        index = start
        while index < end:
            if index > start:
                self.lead_or_newline(index, index + 1, indent)
            closing = self.match.get(index, index)
            behind = closing + 1
            while behind < end and not self.leads[behind] and behind not in self.match:
                behind += 1
            if closing <= index + 1 or self.fits(self.lines.column, index, behind):
                self.flat(index, closing + 1, indent)
            else:
                self.brackets(index, closing)
            index = closing + 1

    def brackets(self, opening: int, closing: int) -> None:
        """Brackets on lines of their own: the elements of braces in equal rows, others filled."""
        outer = self.lines.indent
        indent = outer + INDENT
        self.lines.put(self.items[opening].token)
        first = opening + 1
        pieces = list(self.pieces(first, closing))
        regular = self.items[opening].token == "{" and self.width(opening, closing + 1) < _NEVER
        row = self.row(pieces, indent) if regular else 0
        self.newline(first, indent)
        if row:
            for at in range(0, len(pieces), row):
                start, end = pieces[at][0], pieces[min(at + row, len(pieces)) - 1][1]
                if at:
                    self.newline(start, indent)
                self.flat(start, end, indent)
        else:
            self.fill(pieces, indent)
        self.newline(closing, outer, indent)
        self.lines.put(self.items[closing].token)

    def row(self, pieces: list[tuple[int, int]], indent: str) -> int:
        """Elements of a row: the greatest power of two with which all rows fit, or 0."""
        row = 1 << len(pieces).bit_length()
        while row > 1:
            row //= 2
            stretches = (
                (pieces[at][0], pieces[min(at + row, len(pieces)) - 1][1])
                for at in range(0, len(pieces), row)
            )
            if all(self.fits(len(indent), *stretch) for stretch in stretches):
                return row
        return 0


def _lead(item: Item) -> int:
    """Columns of the gap and the comments before a token."""
    if item.comments is None:
        return len(item.gap)
    if item.comments.ends_line:
        return _NEVER
    return sum(len(comment) + 1 for comment in item.comments.trailing) + 1


def _brackets(items: Sequence[Item]) -> dict[int, int]:
    """Where the bracket closes that an item opens, of those between which no gap ends a line."""
    match: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    line = 0
    for index, item in enumerate(items):
        line += "\n" in item.gap
        if item.token in _CLOSING:
            opened.append((index, line))
        elif opened and item.token == _CLOSING[items[opened[-1][0]].token]:
            opening, on = opened.pop()
            if on == line:
                match[opening] = index
    return match
