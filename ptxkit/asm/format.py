"""The one style of PTX text: what `write(module, canonical=True)` and `ptxkit fmt` produce.

Four blanks a level, one statement a line, one blank between tokens where there is any, labels one level out,
each parameter and each directive of a function on its own line, lines filled up to 100 columns and broken
after commas. Comments stay where they are: behind a statement, between statements, or inside one. Blank lines
stay too, one at a time, and stand around functions. Formatting twice changes nothing more.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ptxkit.asm.lexer import WHITE
from ptxkit.asm.tokens import INDENT, Tokens, statement_tokens
from ptxkit.asm.tree import Block, Function, Label, Layout, Malformed, Module, Section, Statement

WIDTH = 100
"""Column that a line is filled up to."""

_TRIVIA = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)|(?P<newline>\n)|[^\n/#]+", re.DOTALL)


class Comments(NamedTuple):
    """What a stretch of white space and comments holds.

    Attributes:
        trailing: comments on the line of the token before.
        own: (whether a blank line precedes, the comment), for those that stand on lines of their own.
        blank: whether a blank line precedes the token behind.
        broken: whether there is any line end.
    """

    trailing: list[str]
    own: list[tuple[bool, str]]
    blank: bool
    broken: bool


def read_comments(trivia: str) -> Comments:
    """Take white space and comments apart."""
    trailing: list[str] = []
    own: list[tuple[bool, str]] = []
    newlines = 0
    broken = False
    for match in _TRIVIA.finditer(trivia):
        if match.lastgroup == "newline":
            newlines += 1
            broken = True
        elif match.lastgroup == "comment":
            comment = match[0].replace("\r\n", "\n").rstrip()
            if broken or comment.startswith("#"):
                own.append((newlines > 1, comment))
            else:
                trailing.append(comment)
            newlines = 0
    return Comments(trailing, own, newlines > 1, broken)


def format_module(module: Module) -> str:
    """The text of a module, laid out afresh."""
    formatter = _Formatter()
    formatter.statements(module.statements, "")
    formatter.trivia(read_comments(module.tail), "", blank=False)
    text = "".join(formatter.out)
    return f"{text}\n" if text else ""


class _Formatter:
    def __init__(self) -> None:
        self.out: list[str] = []
        self.column = 0

    def put(self, text: str) -> None:
        """Append text and keep count of the column."""
        self.out.append(text)
        newline = text.rfind("\n")
        self.column = self.column + len(text) if newline < 0 else len(text) - newline - 1

    def line(self, indent: str, blank: bool = False) -> None:
        """Begin a line, unless the text is still empty."""
        if self.out:
            self.put(f"\n\n{indent}" if blank else f"\n{indent}")

    # ---- statements

    def statements(self, statements: list[Statement], indent: str) -> None:
        """Statements of one list, each on lines of its own."""
        previous: Statement | None = None
        for statement in statements:
            around = previous is not None and (_stands_apart(previous) or _stands_apart(statement))
            comments = read_comments(statement.layout[0] if statement.layout else "")
            keep = previous is not None or not indent
            outer = indent.removesuffix(INDENT) if isinstance(statement, Label) else indent
            self.trivia(comments, indent, blank=around, keep_blank=keep, outer=outer)
            self.statement(statement, outer)
            previous = statement

    def trivia(
        self, comments: Comments, indent: str, blank: bool, keep_blank: bool = True, outer: str | None = None
    ) -> None:
        """The comments before a statement, and the line on which it stands where `outer` is given.

        Args:
            comments: what stands there.
            indent: for comments on lines of their own.
            blank: whether a blank line must come first.
            keep_blank: whether a blank line may come first.
            outer: the statement's own indentation.
        """
        for comment in comments.trailing:
            if self.out:
                self.put(f"  {comment}" if comment is comments.trailing[0] else f" {comment}")
            else:
                self.put(comment)
        for blanks, comment in comments.own:
            self.line("" if comment.startswith("#") else indent, blank or (blanks and keep_blank))
            self.put(comment)
            blank, keep_blank = False, True
        if outer is not None:
            self.line(outer, blank or (comments.blank and keep_blank))

    def statement(self, node: Statement, indent: str) -> None:
        """One statement from its first token on."""
        layout = node.layout
        if isinstance(node, Malformed):
            for index, token in enumerate(node.tokens):
                self.put((layout[index] if layout and index else " " * (index > 0)) + token)
            return
        tokens = statement_tokens(node, indent=indent)
        if layout is not None and len(layout) != len(tokens):
            layout = _squeezed(node, layout, tokens, indent)
        if isinstance(node, Block | Section):
            opening = 1 if isinstance(node, Block) else 3
            self.tokens(tokens[:opening], layout, indent)
            self.statements(node.statements if isinstance(node, Block) else node.lines, indent + INDENT)
            if node.closed:
                closing = read_comments(layout[-1] if layout else "")
                self.trivia(closing, indent + INDENT, blank=False, keep_blank=False)
                self.line(indent)
                self.put("}")
            return
        self.tokens(tokens, layout, indent)
        if isinstance(node, Function) and node.body is not None:
            comments = read_comments(node.body.layout[0] if node.body.layout else "")
            self.trivia(comments, indent, blank=False, keep_blank=False, outer=indent)
            self.statement(node.body, indent)

    # ---- tokens

    def tokens(self, tokens: Tokens, layout: Layout | None, indent: str) -> None:
        """The tokens of one statement; comments before the first are not its business."""
        inner = indent + INDENT
        for index, (gap, token) in enumerate(tokens):
            gap = gap or ""
            if index and layout is not None and len(layout) > index and layout[index].strip(WHITE):
                self.inner_comments(read_comments(layout[index]), gap, inner)
            elif gap == " " and tokens[index - 1][1] == "," and self.column + _reach(tokens, index) >= WIDTH:
                self.put(f"\n{inner}")
            else:
                self.put(gap)
            self.put(token)

    def inner_comments(self, comments: Comments, gap: str, indent: str) -> None:
        """Comments between two tokens of a statement, and the gap before the second."""
        line = gap if "\n" in gap else f"\n{indent}"
        own_line = False
        for comment in comments.trailing:
            self.put(f"  {comment}" if comment.startswith("//") else f" {comment}")
            own_line = comment.startswith("//")
        for _, comment in comments.own:
            self.put(("\n" if comment.startswith("#") else line) + comment)
            own_line = True
        self.put(line if own_line or "\n" in gap else " ")


def _stands_apart(statement: Statement) -> bool:
    return isinstance(statement, Section) or (isinstance(statement, Function) and statement.body is not None)


def _reach(tokens: Tokens, index: int) -> int:
    """How many columns a token and what must stay on its line take."""
    length = 1
    for position in range(index, len(tokens)):
        gap, token = tokens[position]
        if position > index and gap == " " and tokens[position - 1][1] == ",":
            break
        length += len(gap or "") + len(token)
    return length


def _squeezed(node: Statement, layout: Layout, tokens: Tokens, indent: str) -> Layout | None:
    """The layout of a statement whose modifiers stand apart, brought to its usual tokens.

    Comments between modifiers, and all comments inside a statement that was changed after it was read, move
    behind the first token.
    """
    wide = statement_tokens(node, spread=True, indent=indent)
    comments = "".join(trivia for trivia in layout[1:] if trivia.strip(WHITE))
    if len(wide) == len(layout):
        out: list[str] = []
        for (gap, _), trivia in zip(wide, layout, strict=True):
            if gap is None:
                if trivia.strip(WHITE):
                    break
            else:
                out.append(trivia)
        else:
            return tuple(out)
    if not comments or len(tokens) == 1:
        return None
    return (layout[0], comments, *("" for _ in tokens[2:]))


def reformat(module: Module) -> str:
    """The text of a file laid out afresh, with the line ends of its first line: what `ptxkit fmt` writes."""
    text = format_module(module)
    first, newline, _ = module.source.text.partition("\n") if module.source else ("", "", "")
    return text.replace("\n", "\r\n") if newline and first.endswith("\r") else text
