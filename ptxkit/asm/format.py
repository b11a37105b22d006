"""The one style of PTX text: what `write(module, canonical=True)` and `ptxkit fmt` produce.

Four spaces a level, one statement a line, at most one space between tokens, labels one level out,
each parameter and each directive of a function on its own line. Comments stay where they are: after a
statement, between statements, or inside one. Blank lines stay too, one at a time, and stand around functions.

A statement that is longer than `lines.WIDTH` is broken, its lines one level in:

- An instruction's operands go to the next line, together if they fit there. Otherwise a vector has a line of
  its own, and other operands stand side by side.
- An operand that fits no line is opened where it stands: what its brackets hold goes one level in, the
  elements of braces in rows of a power of two, other brackets filled, and the closing bracket begins a line.
- Other statements, and what has a comment inside that ends a line, are filled and broken after commas.

Trailing comments of adjacent, equally indented lines are aligned, as far as that keeps them within the
width. Formatting twice changes nothing more.
"""

from __future__ import annotations

from ptxkit.asm.lexer import WHITE
from ptxkit.asm.lines import Item, LineBuffer
from ptxkit.asm.tokens import INDENT, Tokens, statement_tokens
from ptxkit.asm.tree import Block, Function, Instruction, Label, Layout, Malformed, Module, Section, Statement
from ptxkit.asm.trivia import Comments, read_comments


def format_module(module: Module) -> str:
    """The text of a module, laid out afresh."""
    formatter = _Formatter()
    formatter.statements(module.statements, "")
    formatter.trivia(read_comments(module.tail), "", need_blank=False)
    text = formatter.lines.text()
    return f"{text}\n" if text else ""


class _Formatter:
    def __init__(self) -> None:
        self.lines = LineBuffer()

    def line(self, indent: str, blank: bool = False) -> None:
        """Begin a line, unless the text is still empty."""
        if self.lines.out:
            self.lines.put(f"\n\n{indent}" if blank else f"\n{indent}")

    # ---- statements

    def statements(self, statements: list[Statement], indent: str) -> None:
        """Statements of one list, each on lines of its own."""
        previous: Statement | None = None
        for statement in statements:
            around = previous is not None and (_stands_apart(previous) or _stands_apart(statement))
            comments = read_comments(statement.layout[0] if statement.layout else "")
            keep = previous is not None or not indent
            outer = indent.removesuffix(INDENT) if isinstance(statement, Label) else indent
            self.trivia(comments, indent, need_blank=around, allow_blank=keep, outer=outer)
            self.statement(statement, outer)
            previous = statement

    def trivia(
        self,
        comments: Comments,
        indent: str,
        need_blank: bool,
        allow_blank: bool = True,
        outer: str | None = None,
    ) -> None:
        """The comments before a statement, and the line on which it stands where `outer` is given.

        Args:
            comments: what is there.
            indent: for comments on lines of their own.
            need_blank: whether a blank line must come first.
            allow_blank: whether a blank line may come first.
            outer: the statement's own indentation.
        """
        if comments.trailing and self.lines.out:
            self.lines.put_trailing(comments.trailing)
        elif comments.trailing:
            self.lines.put(" ".join(comments.trailing))
        for blanks, comment in comments.own_line:
            self.line("" if comment.startswith("#") else indent, need_blank or (blanks and allow_blank))
            self.lines.put(comment)
            need_blank, allow_blank = False, True
        if outer is not None:
            self.line(outer, need_blank or (comments.blank and allow_blank))

    def statement(self, node: Statement, indent: str) -> None:
        """One statement from its first token on."""
        layout = node.layout
        if isinstance(node, Malformed):
            for index, token in enumerate(node.tokens):
                self.lines.put((layout[index] if layout and index else " " * (index > 0)) + token)
            return
        tokens = statement_tokens(node, indent=indent)
        if layout is not None and len(layout) != len(tokens):
            layout = _squeezed(node, layout, tokens, indent)
        if isinstance(node, Block | Section):
            opening = len(tokens) - node.closed
            self.tokens(tokens[:opening], layout, indent)
            self.statements(node.statements if isinstance(node, Block) else node.lines, indent + INDENT)
            if node.closed:
                closing = read_comments(layout[-1] if layout else "")
                self.trivia(closing, indent + INDENT, need_blank=False, allow_blank=False)
                self.line(indent)
                self.lines.put("}")
            return
        self.tokens(tokens, layout, indent, _operands(node))
        if isinstance(node, Function) and node.body is not None:
            comments = read_comments(node.body.layout[0] if node.body.layout else "")
            self.trivia(comments, indent, need_blank=False, allow_blank=False, outer=indent)
            self.statement(node.body, indent)

    def tokens(self, tokens: Tokens, layout: Layout | None, indent: str, operands: int | None = None) -> None:
        """The tokens of one statement; comments before the first are not its business."""
        if layout is None:
            layout = ()
        items = [Item(gap or "", token) for gap, token in tokens]
        for index, trivia in enumerate(layout[: len(items)]):
            if index and trivia.strip(WHITE):
                items[index] = items[index]._replace(comments=read_comments(trivia))
        self.lines.put_statement(items, indent, operands)


def _stands_apart(statement: Statement) -> bool:
    return isinstance(statement, Section) or (isinstance(statement, Function) and statement.body is not None)


def _operands(node: Statement) -> int | None:
    """Index of the token at which an instruction's operands begin; None of another statement."""
    if not isinstance(node, Instruction):
        return None
    return 1 if node.guard is None else 3 + node.guard.negated


def _squeezed(node: Statement, layout: Layout, tokens: Tokens, indent: str) -> Layout | None:
    """The layout of a statement with spaces inside its dotted name, merged to one entry per token.

    Comments between modifiers, and all comments inside a statement that was changed after it was read, move
    after the first token.
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


def format_file(module: Module) -> str:
    """The text of a file laid out afresh, with the line ends of its first line: what `ptxkit fmt` writes."""
    text = format_module(module)
    first, newline, _ = module.source.text.partition("\n") if module.source else ("", "", "")
    return text.replace("\n", "\r\n") if newline and first.endswith("\r") else text
