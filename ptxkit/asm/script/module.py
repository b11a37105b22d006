"""A whole module as a script."""

from __future__ import annotations

import re
from pathlib import Path

from ptxkit.asm.check.context import Context
from ptxkit.asm.check.header import check_header
from ptxkit.asm.check.items import Items
from ptxkit.asm.script.declarations import clashing, is_name
from ptxkit.asm.script.functions import Functions
from ptxkit.asm.script.lines import words
from ptxkit.asm.script.spell import WIDTH, integer, quoted, wrapped
from ptxkit.asm.symbols import Scope, declare
from ptxkit.asm.tree import (
    METADATA,
    SOURCES,
    Directive,
    Function,
    Integer,
    Label,
    Module,
    Name,
    Section,
    Statement,
    Variable,
)
from ptxkit.asm.trivia import read_comments

_METHODS = {"global": "global_", "const": "const", "shared": "shared", "tex": "tex"}


class ModuleScript(Functions):
    """The script of one module."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module

    def text(self) -> str:
        """The whole script."""
        self.module_level()
        title = Path(self.module.source.name).name if self.module.source else ""
        title = f"`{title}`" if re.fullmatch(r"[\w.-]+", title) else "A module"
        imported = sorted({"Builder", *self.spell.used})
        nodes = sorted(self.spell.nodes)
        head = [f'"""{title} as the builder makes it; run it to see the PTX."""', "", "import ptxkit"]
        head += _import("ptxkit.asm.build", imported)
        if nodes:
            head += _import("ptxkit.asm.tree", nodes)
        tail = ["", "module = b.module", "", 'if __name__ == "__main__":']
        tail += ['    print(ptxkit.write(module, canonical=True), end="")']
        return "\n".join([*head, "", *self.lines, *tail]) + "\n"

    def module_level(self) -> None:
        statements = self.module.statements
        self.odd = clashing(_module_scope(self.module).clashes)
        start = self.header(statements)
        items = Items(self.context, self.scope)
        for position, statement in enumerate(statements):
            if position < start:
                continue
            apart = any(
                isinstance(near, Section) or (isinstance(near, Function) and near.body is not None)
                for near in statements[max(position - 1, 0) : position + 1]
            )
            if isinstance(statement, Function):
                self.line("")
            self.lead("b", statement, not position, apart)
            items.check(statement)
            self.item(statement, faulty=self.errors())
            self.shadow.statements.append(statement)
            if isinstance(statement, Directive) and statement.name in ("version", "target"):
                check_header(self.context)
        self.comments("b", self.module.tail, not statements, apart=True)

    def header(self, statements: list[Statement]) -> int:
        """`b = Builder(..)`; gives how many statements that stands for."""
        head: list[Directive] = []
        for statement in statements[:3]:
            if not isinstance(statement, Directive):
                break
            head.append(statement)
        names = [directive.name for directive in head]
        plain_names = all(isinstance(a, Name) and a.component is None for d in head[:2] for a in d.arguments)
        counts = [len(directive.arguments) for directive in head[:2]]
        if names[:2] == ["version", "target"] and plain_names and counts[0] == 1 and counts[1]:
            self.shadow.statements[:] = head[:2]
            check_header(self.context)
            if not self.errors():
                arguments = [quoted(a.name) for a in head[1].arguments if isinstance(a, Name)]
                arguments += [f"version={quoted(a.name)}" for a in head[0].arguments if isinstance(a, Name)]
                size = head[2].arguments if names[2:] == ["address_size"] else ()
                sized = len(size) == 1 and isinstance(size[0], Integer)
                if sized:
                    self.shadow.statements.append(head[2])
                    check_header(self.context)
                    sized = not self.errors()
                given = integer(size[0]) if sized and isinstance(size[0], Integer) else "None"
                if given != "64":
                    arguments.append(f"address_size={given}")
                taken = 3 if sized else 2
                self.heading(arguments, statements[:taken])
                return taken
            self.shadow.statements.clear()
            self.context = Context(self.shadow)
        self.line("b = Builder(version=None, address_size=None)")
        return 0

    def heading(self, arguments: list[str], head: list[Statement]) -> None:
        """`Builder(..)` with the comments that come before and among the header's lines."""
        lines: list[str] = []
        for trivia in (trivia for statement in head for trivia in statement.layout or ()):
            found = read_comments(trivia)
            for blank, comment in [(False, comment) for comment in found.trailing] + found.own_line:
                if not comment.startswith("#"):
                    lines += ["None"] * (blank and bool(lines)) + [quoted(words(comment))]
            if found.blank and lines and trivia is (head[0].layout or ("",))[0]:
                lines.append("None")
        if not lines:
            self.call("b = Builder(", arguments)
            return
        self.line("b = Builder(")
        self.lines += [f"    {argument}," for argument in arguments]
        self.lines += ["    heading=[", *(f"        {line}," for line in lines), "    ],", ")"]

    def item(self, node: Statement, faulty: bool) -> None:
        """One statement at module level; a faulty one is added as a node."""
        if isinstance(node, Section) and node.name not in (METADATA, SOURCES):
            self.section(node)
            return
        if isinstance(node, Function):
            made = not faulty and self.function(node)
        elif isinstance(node, Variable):
            made = not faulty and self.variable("b", node, self.scope, _METHODS)
        else:
            made = not faulty and self.directive("b", node, self.scope)
        if not made:
            self.append("b", node)
        if not made or not isinstance(node, Function):
            declare(node, self.scope)
        if made and isinstance(node, Variable):
            self.bind_variable(node, self.scope)
        self.scope.clashes.clear()

    def section(self, node: Section) -> None:
        self.line(f"with b.section({quoted(node.name)}) as s:")
        outer, self.indent = self.indent, self.indent + "    "
        empty = Scope()
        for position, line in enumerate(node.lines):
            self.lead("s", line, not position)
            if isinstance(line, Label) and is_name(line.name):
                self.line(f"s.label({quoted(line.name)})")
            elif isinstance(line, Directive) and line.name in ("b8", "b16", "b32", "b64"):
                self.call(f"s.{line.name}(", [self.spell.operand(a, empty) for a in line.arguments])  # type: ignore[arg-type]
            else:
                self.append("s", line)
        self.closing("s", node, not node.lines)
        if not node.lines:
            self.line("pass")
        self.indent = outer


def _import(package: str, names: list[str]) -> list[str]:
    line = f"from {package} import {', '.join(names)}"
    return [line] if len(line) <= WIDTH else wrapped(f"from {package} import (", names)


def _module_scope(module: Module) -> Scope:
    scope = Scope()
    for statement in module.statements:
        declare(statement, scope)
    return scope
