"""Declarations and directives as calls of the builder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.asm.build.declare import TYPES
from ptxkit.asm.check.context import Context
from ptxkit.asm.script.lines import ScriptLines
from ptxkit.asm.script.spell import integer, number, plain, quoted, sequence
from ptxkit.asm.symbols import Clash, Scope
from ptxkit.asm.tree import Declarator, Directive, Integer, Module, Name, Operand, Statement, String, Variable


class Declarations(ScriptLines):
    """Declarations and directives.

    Attributes:
        context: the checker's, as the builder has it at this point.
        odd: names of which the builder may know another meaning here than the whole module has: those
            declared twice. What mentions one is added as a node.
        targets: the identifiers of the latest declaration.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shadow = Module([])
        self.context = Context(self.shadow)
        self.odd: set[str] = set()
        self.targets: list[str] = []

    def errors(self) -> bool:
        """Whether the checker has just found an error; forgets what it found."""
        found = any(diagnostic.is_error for diagnostic in self.context.found)
        self.context.found.clear()
        return found

    def variable(self, owner: str, node: Variable, scope: Scope, methods: dict[str, str]) -> bool:
        """A declaration; False where the builder can't make it."""
        names = {declarator.name for declarator in node.declarators}
        if not names or names & self.odd or node.pointer is not None or node.type not in TYPES:
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
        left = self.assigned(", ".join(targets), targets)
        self.call(f"{left} = {owner}.{method}(", [*arguments, *rest])
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
                if len(names) < 2 or not all(map(is_name, names)) or names[0] in self.odd:
                    return False
                spelled = list(map(quoted, names))
            case "branchtargets" | "calltargets" if owner == "k" and set(kinds) == {Name}:
                if any(a.name in self.odd for a in arguments if isinstance(a, Name)):
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


def clashing(clashes: list[Clash]) -> set[str]:
    """The names that are declared twice."""
    return {symbol.name for clash in clashes for symbol in clash}


def is_name(text: str) -> bool:
    """Whether PTX would take it for a name that can be declared."""
    return re.fullmatch(r"[A-Za-z][\w$]*|[_$%][\w$]+", text, re.ASCII) is not None


def _is_inlined(arguments: tuple[object, ...]) -> bool:
    """`.loc 1 2 3, function_name f, inlined_at 1 4 5`."""
    return (
        len(arguments) == 9
        and arguments[3] == Name("function_name")
        and arguments[5] == Name("inlined_at")
        and all(isinstance(argument, Integer) for argument in (*arguments[:3], *arguments[6:]))
    )
