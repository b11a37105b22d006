"""The Python script that makes a module again: `script`.

It calls the builder (`ptxkit.asm.build`) statement by statement; executing it gives a tree equal to the one
it was made from. What the builder would refuse, because the checker has something against it, is added as a
plain node (`k.append(Instruction(..))`), so that a faulty module comes back as it was.

Comments between statements and empty lines come along; comments inside a statement move before it. Not kept:
lines that begin with `#`, and an unusual order of a declaration's specifiers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from ptxkit.asm import build, tree
from ptxkit.asm.build.chain import attribute
from ptxkit.asm.build.declare import ENTRY_DIRECTIVES, FUNC_DIRECTIVES, LINKAGES, TYPES
from ptxkit.asm.build.spell import Speller, integer, number, plain, quoted, sequence, wrapped
from ptxkit.asm.check.body import check_guard, check_instruction
from ptxkit.asm.check.calls import check_targets
from ptxkit.asm.check.context import Context
from ptxkit.asm.check.declarations import check_function, check_module_level, check_variable
from ptxkit.asm.check.header import check_header, check_target
from ptxkit.asm.check.kinds import Names
from ptxkit.asm.format import read_comments
from ptxkit.asm.symbols import Scope, Symbol, bind, declare, function_scope, variable_symbols
from ptxkit.asm.tree import (
    Block,
    Declarator,
    Directive,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Malformed,
    Module,
    Name,
    Node,
    Operand,
    Prototype,
    Section,
    Statement,
    String,
    Variable,
    walk,
)
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.isa.registry import opcodes

DEEPEST_BLOCK = 15
"""Blocks inside each other that become `with` statements; Python nests no more than 20."""
_METHODS = {"global": "global_", "const": "const", "shared": "shared"}
_OUTER_METHODS = {**_METHODS, "tex": "tex"}
_INNER_METHODS = {**_METHODS, "local": "local", "param": "param", "reg": "reg"}
_RESERVED = frozenset({"b", "k", "s", "module", "ptxkit", "print", *build.__all__, *tree.__dict__})


def script(module: Module) -> str:
    """The text of a Python script whose `module` is equal to this one.

    Raises:
        PtxkitError: the module has syntax errors, which are its diagnostics.
    """
    errors = [diagnostic for diagnostic in module.diagnostics if diagnostic.is_error]
    if errors or any(isinstance(statement, Malformed) for statement in walk(module.statements)):
        raise PtxkitError(errors or [Diagnostic("P101", "the module holds text that could not be read")])
    return _Script(module).text()


class _Script:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.indent = ""
        self.spell = Speller(self.define, self.forward)
        self.taken: list[set[str]] = [set()]
        self.targets: list[str] = []
        self.shadow = Module([])
        self.context = Context(self.shadow)
        self.scope = Scope()
        self.odd: set[str] = set()

    def text(self) -> str:
        """The whole script."""
        self.module_level()
        used = self.spell.used
        title = Path(self.module.source.name).name if self.module.source else ""
        title = f"`{title}`" if re.fullmatch(r"[\w.-]+", title) else "A module"
        imported = [name for name in build.__all__ if name in used | {"Builder"}]
        nodes = sorted(self.spell.nodes)
        head = [f'"""{title} as the builder makes it; run it to see the PTX."""', "", "import ptxkit"]
        head += (
            wrapped("from ptxkit.asm.build import (", imported)
            if len(imported) > 6
            else [f"from ptxkit.asm.build import {', '.join(imported)}"]
        )
        if nodes:
            head += (
                wrapped("from ptxkit.asm.tree import (", nodes)
                if len(nodes) > 6
                else [f"from ptxkit.asm.tree import {', '.join(nodes)}"]
            )
        tail = ["", "module = b.module", "", 'if __name__ == "__main__":']
        tail += ['    print(ptxkit.write(module, canonical=True), end="")']
        return "\n".join([*head, "", *self.lines, *tail]) + "\n"

    # ---- lines and names

    def line(self, text: str) -> None:
        self.lines.append(f"{self.indent}{text}")

    def call(self, head: str, arguments: Iterable[str], tail: str = ")") -> None:
        self.lines += [f"{self.indent}{line}" for line in wrapped(head, list(arguments), tail, self.indent)]

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
            self.line(f"{owner}.comment({quoted(_words(comment))}, trailing=True)")
        group: list[str] = []
        for blank, comment in found.own:
            if comment.startswith("#"):
                continue
            if blank and not first and not apart:
                self.flush(owner, group)
                self.line(f"{owner}.blank()")
            first = apart = False
            group.append(quoted(_words(comment)))
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
        """What stands before a statement, and inside it, where the tree has no better place for it."""
        layout = node.layout
        if not layout:
            return
        self.comments(owner, layout[0], first, apart)
        inside = layout[1:-1] if isinstance(node, (Block, Section)) else layout[1:]
        if isinstance(node, Function) and node.body is not None and node.body.layout:
            inside = (*inside, node.body.layout[0])
        texts = [text for trivia in inside if trivia.strip() for text in _all_comments(trivia)]
        self.flush(owner, [quoted(_words(text)) for text in texts])

    # ---- the module

    def module_level(self) -> None:
        statements = self.module.statements
        self.odd = self.clashing(_module_scope(self.module).clashes)
        start = self.header(statements)
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
            self.item(statement)
            self.shadow.statements.append(statement)
            if isinstance(statement, Directive) and statement.name in ("version", "target"):
                check_header(self.context)
        self.comments("b", self.module.tail, not statements, apart=True)

    def header(self, statements: list[Statement]) -> int:
        """`b = Builder(..)`; gives how many statements that stands for."""
        head = [s for s in statements[:3] if isinstance(s, Directive)]
        names = [directive.name for directive in head]
        plain_names = all(isinstance(a, Name) and a.component is None for d in head[:2] for a in d.arguments)
        if names[:2] == ["version", "target"] and plain_names and all(d.arguments for d in head[:2]):
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
        """`Builder(..)` with the comments that stand before and among the header's lines."""
        lines: list[str] = []
        for trivia in (trivia for statement in head for trivia in statement.layout or ()):
            found = read_comments(trivia)
            for blank, comment in [(False, comment) for comment in found.trailing] + found.own:
                if not comment.startswith("#"):
                    lines += ["None"] * (blank and bool(lines)) + [quoted(_words(comment))]
            if found.blank and lines and trivia is (head[0].layout or ("",))[0]:
                lines.append("None")
        if not lines:
            self.call("b = Builder(", arguments)
            return
        self.line("b = Builder(")
        self.lines += [f"    {argument}," for argument in arguments]
        self.lines += ["    heading=[", *(f"        {line}," for line in lines), "    ],", ")"]

    def errors(self) -> bool:
        """Whether the checker has just found an error; forgets what it found."""
        found = any(diagnostic.is_error for diagnostic in self.context.found)
        self.context.found.clear()
        return found

    def clashing(self, clashes: list[tuple[Symbol, Symbol]]) -> set[str]:
        """The names of which the builder may know another meaning than the whole module has."""
        return {symbol.name for clash in clashes for symbol in clash}

    def item(self, node: Statement) -> None:
        """One statement at module level."""
        if isinstance(node, Function):
            if not self.function(node):
                self.append("b", node)
                declare(node, self.scope)
        elif isinstance(node, Section):
            self.section(node)
        else:
            variable = isinstance(node, Variable) and self.variable("b", node, self.scope, _OUTER_METHODS)
            if not variable and not self.directive("b", node, self.scope):
                self.append("b", node)
            declare(node, self.scope)
            if variable and isinstance(node, Variable):
                self.bind_variable(node, self.scope)
        self.scope.clashes.clear()

    def section(self, node: Section) -> None:
        self.line(f"with b.section({quoted(node.name)}) as s:")
        outer, self.indent = self.indent, self.indent + "    "
        empty = Scope()
        for position, line in enumerate(node.lines):
            self.lead("s", line, not position)
            if isinstance(line, Label) and _is_name(line.name):
                self.line(f"s.label({quoted(line.name)})")
            elif isinstance(line, Directive) and line.name in ("b8", "b16", "b32", "b64"):
                self.call(f"s.{line.name}(", [self.spell.operand(a, empty) for a in line.arguments])  # type: ignore[arg-type]
            else:
                self.append("s", line)
        self.closing("s", node, not node.lines)
        if not node.lines:
            self.line("pass")
        self.indent = outer

    def closing(self, owner: str, node: Block | Section, first: bool) -> None:
        """Comments before a closing brace."""
        if node.layout and node.closed:
            self.comments(owner, node.layout[-1], first, apart=True)

    # ---- declarations

    def variable(self, owner: str, node: Variable, scope: Scope, methods: dict[str, str]) -> bool:
        """A declaration; False where the builder can't make it."""
        names = {declarator.name for declarator in node.declarators}
        if not names or names & self.odd or node.pointer is not None or node.type not in TYPES:
            return False
        if owner == "b":
            check_module_level(self.context, node)
        else:
            check_variable(self.context, node, inside=True)
        if self.errors():
            return False
        arguments, rest = [quoted(node.type)], []
        for declarator in node.declarators:
            text = self.spell.declarator(declarator)
            if text is None and len(node.declarators) == 1:
                bare = Declarator(declarator.name, declarator.count, declarator.dimensions)
                text = self.spell.declarator(bare)
                assert declarator.initializer is not None
                rest.append(f"init={self.spell.operand(declarator.initializer, scope)}")
            arguments.append(text or self.spell.node(declarator))
        if node.align is not None:
            rest.append(f"align={number(node.align)}")
        if node.vector is not None:
            rest.append(f"vector={quoted(node.vector)}")
        if node.linkage is not None:
            rest.append(f"linkage={quoted(node.linkage)}")
        if node.attributes:
            rest.append(f"attributes={sequence([quoted(a) for a in node.attributes])}")
        method = methods.get(node.space)
        if method is None:
            method, arguments = "variable", [quoted(node.space), *arguments]
        targets = [self.identifier(declarator.name) for declarator in node.declarators]
        self.targets = targets
        self.call(f"{', '.join(targets)} = {owner}.{method}(", [*arguments, *rest])
        return True

    def bind_variable(self, node: Variable, scope: Scope) -> None:
        """Let the identifiers of the latest declaration stand for its names."""
        for target, declarator in zip(self.targets, node.declarators, strict=True):
            if declarator.count is None:
                symbol = scope.lookup(declarator.name)
            else:
                member = scope.lookup(f"{declarator.name}0") if declarator.count else None
                symbol = member.range if member else None
            if symbol is not None:
                self.spell.python[symbol] = target

    def directive(self, owner: str, node: Statement, scope: Scope) -> bool:
        """A directive; False where the builder has no method for it."""
        if not isinstance(node, Directive):
            return False
        arguments = node.arguments
        spelled = [self.argument(argument, scope) for argument in arguments]
        kinds = [type(argument) for argument in arguments]
        match node.name:
            case "pragma" if all(kind is String for kind in kinds):
                pass
            case "file" if owner == "b" and kinds[:2] == [Integer, String] and set(kinds[2:]) <= {Integer}:
                pass
            case "loc" if owner == "k" and kinds[:3] == [Integer] * 3 and len(kinds) == 3:
                pass
            case "loc" if owner == "k" and _is_inlined(arguments):
                spelled = [*spelled[:3], f"function_name={spelled[4]}", f"inlined_at={sequence(spelled[6:])}"]
            case "alias" if owner == "b" and kinds == [Name, Name]:
                names = [a.name for a in arguments if isinstance(a, Name) and a.component is None]
                if len(names) < 2 or not all(map(_is_name, names)) or names[0] in self.odd:
                    return False
                spelled = list(map(quoted, names))
            case "branchtargets" | "calltargets" if owner == "k" and set(kinds) == {Name}:
                check_targets(self.context, node, scope)
                if self.errors() or any(a.name in self.odd for a in arguments if isinstance(a, Name)):
                    return False
            case _:
                return False
        self.call(f"{owner}.{node.name}(", spelled)
        return True

    def argument(self, node: Operand | Declarator, scope: Scope) -> str:
        """An argument of a directive."""
        if isinstance(node, Declarator):
            return self.spell.node(node)
        return plain(node.value) if isinstance(node, String) else self.spell.operand(node, scope)

    # ---- functions

    def function(self, node: Function) -> bool:
        """A function; False where the builder can't make its header."""
        kinds = ENTRY_DIRECTIVES if node.kind == "entry" else FUNC_DIRECTIVES
        check_function(self.context, node)
        faulty = self.errors() or node.name in self.odd or not _is_name(node.name)
        if node.kind == "entry" and (node.attributes or node.returns):
            faulty = True
        probe = Scope()
        function_scope(node, probe)
        if faulty or probe.clashes or node.linkage not in (None, *LINKAGES):
            return False
        declare(node, self.scope)
        symbol = self.scope.lookup(node.name)
        assert symbol is not None
        arguments = [quoted(node.name)]
        if node.parameters:
            arguments.append(f"[{', '.join(map(self.spell.parameter, node.parameters))}]")
        if node.returns:
            arguments.append(f"returns=[{', '.join(map(self.spell.parameter, node.returns))}]")
        if node.linkage != ("visible" if node.kind == "entry" else None):
            arguments.append(f"linkage={plain(node.linkage)}")
        if node.attributes:
            arguments.append(f"attributes={sequence([quoted(a) for a in node.attributes])}")
        arguments += self.tuning(node.directives, kinds)
        if node.kind == "entry" and node.body is not None:
            self.call(f"with b.{node.kind}(", arguments, ") as k:")
        else:
            name = self.identifier(node.name)
            self.spell.python[symbol] = name
            self.call(f"{name} = b.{node.kind}(", arguments)
            if node.body is not None:
                self.line(f"with {name} as k:")
        if node.body is not None:
            self.body(node)
        return True

    def tuning(self, directives: tuple[Directive, ...], known: Iterable[str]) -> list[str]:
        """Directives between header and body as keywords, or as nodes where they can't be."""
        names = [directive.name for directive in directives]
        if not names:
            return []
        given = []
        for directive in directives:
            strings = directive.name == "pragma"
            if not all(isinstance(a, String if strings else Integer) for a in directive.arguments):
                break
            values = [plain(a.value) if isinstance(a, String) else integer(a) for a in directive.arguments]  # type: ignore[arg-type]
            text = "True" if not values else values[0] if len(values) == 1 else sequence(values)
            given.append(f"{directive.name}={text}")
        if len(given) == len(names) == len(set(names)) and set(names) <= set(known):
            return given
        return [f"directives={self.spell.node(tuple(directives))}"]

    def body(self, node: Function) -> None:
        assert node.body is not None
        outer_odd, hidden = self.odd, Scope()
        self.taken.append(set())
        for _ in bind(node, hidden):
            pass
        self.odd = outer_odd | self.clashing(hidden.clashes)
        self.indent = "    "
        start = len(self.lines)
        scope = function_scope(node, self.scope)
        self.scope.clashes.clear()
        for what, variables in (("parameters", node.parameters), ("returns", node.returns)):
            if variables:
                targets = [self.identifier(variable.name) for variable in variables]
                self.targets = targets
                self.line(f"{', '.join(targets)}{',' * (len(targets) == 1)} = k.{what}")
                for target, variable in zip(targets, variables, strict=True):
                    symbol = scope.lookup(variable.name)
                    if symbol is not None:
                        self.spell.python[symbol] = target
        scope.declare_labels(node.body.statements)
        self.hide(node.body.statements, scope)
        self.statements(node.body, scope, 1)
        if len(self.lines) == start:
            self.line("pass")
        self.indent = ""
        self.odd = outer_odd
        self.taken.pop()

    def hide(self, statements: list[Statement], scope: Scope) -> None:
        """Labels whose names mean something outside too: before its label the builder knows the other one."""
        for statement in statements:
            if isinstance(statement, Label) and scope.parent and scope.parent.lookup(statement.name):
                self.odd = self.odd | {statement.name}

    def statements(self, block: Block, scope: Scope, depth: int) -> None:
        names = Names(scope)
        for position, statement in enumerate(block.statements):
            self.lead("k", statement, not position)
            if isinstance(statement, Block):
                self.block(statement, scope, depth)
                continue
            made = self.statement(statement, scope, names)
            if isinstance(statement, Variable):
                for symbol in variable_symbols(statement):
                    scope.declare(symbol)
                if made:
                    self.bind_variable(statement, scope)
            if not made:
                self.append("k", statement)
            if isinstance(statement, Directive) and statement.name == "target":
                check_target(self.context, statement)
                self.context.found.clear()
            scope.clashes.clear()
            names.forget()
        self.closing("k", block, not block.statements)

    def block(self, node: Block, scope: Scope, depth: int) -> None:
        if depth >= DEEPEST_BLOCK:
            self.append("k", node)
            return
        self.line("with k.scope():")
        outer, self.indent = self.indent, self.indent + "    "
        start, odd = len(self.lines), self.odd
        inner = scope.inner(node.statements)
        self.hide(node.statements, inner)
        self.statements(node, inner, depth + 1)
        if len(self.lines) == start:
            self.line("pass")
        self.indent, self.odd = outer, odd

    def statement(self, node: Statement, scope: Scope, names: Names) -> bool:
        """One statement of a body; False where the builder would refuse it."""
        match node:
            case Instruction():
                return self.instruction(node, scope, names)
            case Label():
                return self.label(node, scope)
            case Variable():
                return self.variable("k", node, scope, _INNER_METHODS)
            case Prototype():
                return self.prototype(node)
        return self.directive("k", node, scope)

    def label(self, node: Label, scope: Scope) -> bool:
        symbol = scope.lookup(node.name)
        if node.name in self.odd or symbol is None or not _is_name(node.name):
            return False
        known = self.spell.python.get(symbol)
        if known is not None:
            self.line(f"k.label({known})")
            return True
        self.spell.python[symbol] = name = self.identifier(node.name)
        self.line(f"{name} = k.label({quoted(node.name)})")
        return True

    def prototype(self, node: Prototype) -> bool:
        if node.name != "_" and not _is_name(node.name):
            return False
        arguments = []
        if node.parameters:
            arguments.append(f"[{', '.join(map(self.spell.parameter, node.parameters))}]")
        if node.returns:
            arguments.append(f"returns=[{', '.join(map(self.spell.parameter, node.returns))}]")
        if node.name != "_":
            arguments.append(f"name={quoted(node.name)}")
        tuning = self.tuning(node.directives, FUNC_DIRECTIVES)
        if any(text.startswith("directives=") for text in tuning):
            return False
        self.call("k.callprototype(", [*arguments, *tuning])
        return True

    def instruction(self, node: Instruction, scope: Scope, names: Names) -> bool:
        words = [attribute(modifier) for modifier in node.modifiers]
        opcode = attribute(node.opcode)
        if opcode is None or None in words or node.opcode not in opcodes() or self.is_odd(node, scope):
            return False
        kinds = tuple(map(names.kind, node.operands))
        if node.guard is not None:
            check_guard(self.context, node.guard, names)
        unknown = bool(names.unknown)
        names.unknown.clear()
        check_instruction(self.context, node, kinds, scope)
        if self.errors() or unknown:
            return False
        operands = [self.spell.operand(operand, scope) for operand in node.operands]
        owner = "k"
        if node.guard is not None:
            guard = self.spell.operand(Name(node.guard.name), scope)
            owner = f"k.when({'~' * node.guard.negated}{guard})"
            if guard.startswith("Name("):
                return False
        self.call(f"{'.'.join([owner, opcode, *filter(None, words)])}(", operands)
        return True

    def is_odd(self, node: Instruction, scope: Scope) -> bool:
        """Whether an instruction names something that the builder may take for something else."""
        if not self.odd:
            return False
        for name in _names(node):
            symbol = scope.lookup(name)
            if name in self.odd or (symbol is not None and symbol.range and symbol.range.name in self.odd):
                return True
        return False


def _names(value: object) -> Iterator[str]:
    """Every name in an instruction."""
    if isinstance(value, (Name, Guard)):
        yield value.name
    elif isinstance(value, tuple):
        for element in value:
            yield from _names(element)
    elif isinstance(value, Node):
        for field in fields(value):
            yield from _names(getattr(value, field.name))


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z][\w$]*|[_$%][\w$]+", text, re.ASCII) is not None


def _is_inlined(arguments: tuple[object, ...]) -> bool:
    """`.loc 1 2 3, function_name f, inlined_at 1 4 5`."""
    return (
        len(arguments) == 9
        and arguments[3] == Name("function_name")
        and arguments[5] == Name("inlined_at")
        and all(isinstance(argument, Integer) for argument in (*arguments[:3], *arguments[6:]))
    )


def _words(comment: str) -> str:
    """What `comment` is told: the text, or the whole where it is not `// text`."""
    text = comment.removeprefix("//").removeprefix(" ")
    return text if comment == f"// {text}".rstrip() and not text.startswith(("//", "/*")) else comment


def _all_comments(trivia: str) -> list[str]:
    found = read_comments(trivia)
    comments = [*found.trailing, *(comment for _, comment in found.own)]
    return [comment for comment in comments if not comment.startswith("#")]


def _module_scope(module: Module) -> Scope:
    scope = Scope()
    for statement in module.statements:
        declare(statement, scope)
    return scope
