"""Functions and their statements as calls of the builder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ptxkit.asm import tree
from ptxkit.asm.build.chain import attribute
from ptxkit.asm.build.declare import ENTRY_DIRECTIVES, FUNC_DIRECTIVES, LINKAGES
from ptxkit.asm.check.body import check_declaration, check_guard, check_instruction
from ptxkit.asm.check.header import check_target
from ptxkit.asm.kinds import Names
from ptxkit.asm.script.declarations import Declarations, clashing, is_name
from ptxkit.asm.script.spell import plain, quoted, sequence
from ptxkit.asm.symbols import Scope, bind, declare, function_scope, variable_symbols
from ptxkit.isa.registry import opcodes

DEEPEST_BLOCK = 15
"""Blocks inside each other that become `with` statements; Python nests no more than 20."""
_METHODS = {
    "global": "global_",
    "const": "const",
    "shared": "shared",
    "local": "local",
    "param": "param",
    "reg": "reg",
}


class Functions(Declarations):
    """Functions.

    Attributes:
        scope: the module's, as far as it has been written.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scope = Scope()

    def function(self, node: tree.Function) -> bool:
        """A function; False where the builder can't make its header."""
        kinds = ENTRY_DIRECTIVES if node.kind == "entry" else FUNC_DIRECTIVES
        faulty = node.name in self.odd or not is_name(node.name)
        if node.kind == "entry" and (node.attributes or node.returns):
            faulty = True
        probe = Scope()
        function_scope(node, probe)
        if faulty or probe.clashes or node.linkage not in (None, *LINKAGES):
            return False
        declare(node, self.scope)
        symbol = self.scope.lookup(node.name)
        assert symbol is not None
        arguments: list[str | tuple[str, list[str]]] = [quoted(node.name)]
        if node.parameters:
            arguments.append(("[", list(map(self.spell.parameter, node.parameters))))
        if node.returns:
            arguments.append(("returns=[", list(map(self.spell.parameter, node.returns))))
        if node.linkage != ("visible" if node.kind == "entry" else None):
            arguments.append(f"linkage={plain(node.linkage)}")
        if node.attributes:
            arguments.append(f"attributes={sequence([quoted(a) for a in node.attributes])}")
        arguments += self.tuning(node.directives, kinds)
        if node.kind == "entry" and node.body is not None:
            self.exploded(f"with b.{node.kind}(", arguments, ") as k:")
        else:
            name = self.identifier(node.name)
            self.spell.python[symbol] = name
            self.exploded(f"{name} = b.{node.kind}(", arguments)
            if node.body is not None:
                self.line(f"with {name} as k:")
        if node.body is not None:
            self.body(node)
        return True

    def body(self, node: tree.Function) -> None:
        assert node.body is not None
        outer_odd, hidden = self.odd, Scope()
        self.taken.append(set())
        for _ in bind(node, hidden):
            pass
        self.odd = outer_odd | clashing(hidden.clashes)
        self.indent = "    "
        start = len(self.lines)
        scope = function_scope(node, self.scope)
        self.scope.clashes.clear()
        for what, variables in (("parameters", node.parameters), ("returns", node.returns)):
            if variables:
                targets = [self.identifier(variable.name) for variable in variables]
                left = f"{', '.join(targets)}{',' * (len(targets) == 1)}"
                self.line(f"{self.assigned(left, targets)} = k.{what}")
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

    def hide(self, statements: list[tree.Statement], scope: Scope) -> None:
        """Labels whose names mean something outside too: before its label the builder knows the other one."""
        for statement in statements:
            if isinstance(statement, tree.Label) and scope.parent and scope.parent.lookup(statement.name):
                self.odd = self.odd | {statement.name}

    def statements(self, block: tree.Block, scope: Scope, depth: int) -> None:
        names = Names(scope)
        for position, statement in enumerate(block.statements):
            self.lead("k", statement, not position)
            if isinstance(statement, tree.Block):
                self.block(statement, scope, depth)
                continue
            made = self.statement(statement, scope, names)
            if isinstance(statement, tree.Variable):
                for symbol in variable_symbols(statement):
                    scope.declare(symbol)
                if made:
                    self.bind_variable(statement, scope)
            if not made:
                self.append("k", statement)
            if isinstance(statement, tree.Directive) and statement.name == "target":
                check_target(self.context, statement)
                self.context.found.clear()
            scope.name_list(block.statements[position - 1] if position else None, statement)
            scope.clashes.clear()
            names.forget()
        self.closing("k", block, not block.statements)

    def block(self, node: tree.Block, scope: Scope, depth: int) -> None:
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

    def statement(self, node: tree.Statement, scope: Scope, names: Names) -> bool:
        """One statement of a body; False where the builder would refuse it."""
        if isinstance(node, (tree.Variable, tree.Directive)):
            check_declaration(self.context, node, scope)
            if self.errors():
                return False
        match node:
            case tree.Instruction():
                return self.instruction(node, scope, names)
            case tree.Label():
                return self.label(node, scope)
            case tree.Variable():
                return self.variable("k", node, scope, _METHODS)
            case tree.Prototype():
                return self.prototype(node)
        return self.directive("k", node, scope)

    def label(self, node: tree.Label, scope: Scope) -> bool:
        symbol = scope.lookup(node.name)
        if node.name in self.odd or symbol is None or not is_name(node.name):
            return False
        known = self.spell.python.get(symbol)
        if known is not None:
            self.line(f"k.label({known})")
            return True
        self.spell.python[symbol] = name = self.identifier(node.name)
        self.line(f"{name} = k.label({quoted(node.name)})")
        return True

    def prototype(self, node: tree.Prototype) -> bool:
        if node.name != "_" and not is_name(node.name):
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

    def instruction(self, node: tree.Instruction, scope: Scope, names: Names) -> bool:
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
            guard = self.spell.operand(tree.Name(node.guard.name), scope)
            owner = f"k.when({'~' * node.guard.negated}{guard})"
            if guard.startswith("Name("):
                return False
        self.call(f"{'.'.join([owner, opcode, *filter(None, words)])}(", operands)
        return True

    def is_odd(self, node: tree.Instruction, scope: Scope) -> bool:
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
    if isinstance(value, (tree.Name, tree.Guard)):
        yield value.name
    elif isinstance(value, tuple):
        for element in value:
            yield from _names(element)
    elif isinstance(value, tree.Node):
        for field in fields(value):
            yield from _names(getattr(value, field.name))
