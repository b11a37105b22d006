"""The lines of a script: calls laid out, identifiers, comments."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from ptxkit.asm import build, tree
from ptxkit.asm.script.spell import WIDTH, Speller, quoted, wrapped
from ptxkit.asm.symbols import Symbol
from ptxkit.asm.tree import Block, Function, Section, Statement
from ptxkit.asm.trivia import read_comments

_RESERVED = frozenset({"b", "k", "s", "module", "ptxkit", "print", *build.__all__, *tree.__dict__})


class ScriptLines:
    """What has been written so far.

    Attributes:
        lines: the script's body.
        indent: of the next line.
        spell: the expressions of operands.
        taken: the identifiers in use: the module's, and those of the function that is being written.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = ""
        self.spell = Speller(self.define, self.forward)
        self.taken: list[set[str]] = [set()]

    def line(self, text: str) -> None:
        self.lines.append(f"{self.indent}{text}")

    def call(self, head: str, arguments: Iterable[str], tail: str = ")") -> None:
        self.lines += [f"{self.indent}{line}" for line in wrapped(head, list(arguments), tail, self.indent)]

    def exploded(self, head: str, arguments: list[str | tuple[str, list[str]]], tail: str = ")") -> None:
        """A call on one line, or with each argument on its own; a list is (how it opens, its elements)."""
        flat = [a if isinstance(a, str) else f"{a[0]}{', '.join(a[1])}]" for a in arguments]
        if len(line := f"{head}{', '.join(flat)}{tail}") + len(self.indent) <= WIDTH:
            self.line(line)
            return
        self.line(head)
        for argument in arguments:
            if isinstance(argument, str):
                self.line(f"    {argument},")
            else:
                opening, elements = argument
                for line in (opening, *(f"    {element}," for element in elements), "],"):
                    self.line(f"    {line}")
        self.line(tail)

    def assigned(self, left: str, targets: list[str]) -> str:
        """What comes before an `=`; many identifiers are put in parentheses, over several lines."""
        if len(targets) == 1 or len(self.indent) + len(left) <= WIDTH - 30:
            return left
        *first, last = wrapped("(", targets, ")", " " * WIDTH)
        for line in first:
            self.line(line)
        return last

    def define(self, expression: str) -> str:
        name = self.identifier("part")
        self.line(f"{name} = {expression}")
        return name

    def identifier(self, name: str) -> str:
        """A Python identifier that nothing else has, after a name of PTX."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", name.lstrip("%$")).strip("_") or "name"
        if base[0].isdigit():
            base = f"_{base}"
        found, count = base, 1
        while found in _RESERVED or keyword.iskeyword(found) or any(found in taken for taken in self.taken):
            count += 1
            found = f"{base}_{count}"
        self.taken[-1].add(found)
        return found

    def forward(self, symbol: Symbol) -> str:
        """The identifier of a label that is used before it is placed."""
        name = self.spell.python[symbol] = self.identifier(symbol.name)
        self.line(f"{name} = k.forward_label({quoted(symbol.name)})")
        return name

    def append(self, owner: str, node: Statement) -> None:
        self.call(f"{owner}.append(", [self.spell.node(node)])

    # ---- comments

    def comments(self, owner: str, trivia: str, first: bool, apart: bool = False) -> None:
        """Comments and empty lines before a statement, or before the end of a block."""
        found = read_comments(trivia)
        for comment in found.trailing:
            self.line(f"{owner}.comment({quoted(words(comment))}, trailing=True)")
        group: list[str] = []
        for blank, comment in found.own_line:
            if comment.startswith("#"):
                continue
            if blank and not first and not apart:
                self.flush(owner, group)
                self.line(f"{owner}.blank()")
            first = apart = False
            group.append(quoted(words(comment)))
        self.flush(owner, group)
        if found.blank and not apart and not first:
            self.line(f"{owner}.blank()")

    def flush(self, owner: str, group: list[str]) -> None:
        if len(group) == 1 or sum(map(len, group)) < 60:
            for text in group:
                self.line(f"{owner}.comment({text})")
        else:
            self.line(f"{owner}.comment(")
            self.lines += [f"{self.indent}    {text}," for text in group]
            self.line(")")
        group.clear()

    def lead(self, owner: str, node: Statement, first: bool, apart: bool = False) -> None:
        """What comes before a statement, and inside it, where the tree has no better place for it."""
        layout = node.layout
        if not layout:
            return
        self.comments(owner, layout[0], first, apart)
        inside = layout[1:-1] if isinstance(node, (Block, Section)) else layout[1:]
        if isinstance(node, Function) and node.body is not None and node.body.layout:
            inside = (*inside, node.body.layout[0])
        texts = [text for trivia in inside if trivia.strip() for text in _all_comments(trivia)]
        self.flush(owner, [quoted(words(text)) for text in texts])

    def closing(self, owner: str, node: Block | Section, first: bool) -> None:
        """Comments before a closing brace."""
        if node.layout and node.closed:
            self.comments(owner, node.layout[-1], first, apart=True)


def words(comment: str) -> str:
    """What `comment` is told: the text, or the whole where it is not `// text`."""
    text = comment.removeprefix("//").removeprefix(" ")
    return text if comment == f"// {text}".rstrip() and not text.startswith(("//", "/*")) else comment


def _all_comments(trivia: str) -> list[str]:
    found = read_comments(trivia)
    comments = [*found.trailing, *(comment for _, comment in found.own_line)]
    return [comment for comment in comments if not comment.startswith("#")]
