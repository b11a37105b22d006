"""The kind of an operand, as the rows of the instruction set see it (`ptxkit.isa.operands`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind, listed
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.operands import OperandKind
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

INFINITIES = (0x7FF0000000000000, 0xFFF0000000000000)
_COMPONENTS = frozenset("xyzwrgba")


class Names:
    """The kinds of the names that one scope's instructions use.

    Attributes:
        scope: where names are looked up.
        unknown: names that mean nothing here, with where each was met first; whoever reads it reports them.
    """

    __slots__ = ("_kinds", "scope", "unknown")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.unknown: dict[str, tree.Name] = {}
        self._kinds: dict[str, OperandKind] = {}

    def forget(self) -> None:
        """Something was declared: what was looked up before may mean something else now."""
        self._kinds.clear()

    def kind(self, operand: tree.Operand) -> OperandKind:
        """The kind of an operand."""
        if type(operand) is tree.Name and operand.component is None:
            try:
                return self._kinds[operand.name]
            except KeyError:
                found = self._kinds[operand.name] = self._name(operand)
                return found
        return _OTHERS[type(operand)](self, operand)

    def _name(self, name: tree.Name) -> OperandKind:
        symbol = self.scope.lookup(name.name)
        if symbol is not None:
            return symbol_kind(symbol)
        if name.name == "_":
            return "_"
        if name.name == "WARP_SZ":
            return "int"
        register = SPECIAL_REGISTERS.get(name.name)
        if register is not None:
            if register.narrow:
                return ("sreg", register.type, "narrow")
            return ("sreg", "v4", register.type) if register.vector else ("sreg", register.type)
        self.unknown.setdefault(name.name, name)
        return "?"

    def _component(self, name: tree.Name) -> OperandKind:
        assert name.component is not None
        symbol = self.scope.lookup(name.name)
        if symbol is None:
            register = SPECIAL_REGISTERS.get(name.name)
            if register is not None:
                if register.vector and name.component in ("x", "y", "z", "w"):
                    return ("sreg", register.type, "component")
                return ("part", name.component, self.kind(tree.Name(name.name)))
            self.unknown.setdefault(name.name, name)
            return "?"
        if symbol.vector and symbol.kind is SymbolKind.REGISTER and name.component in _COMPONENTS:
            index = "xyzw".find(name.component) if name.component in "xyzw" else "rgba".find(name.component)
            if index < int(symbol.vector[1:]):
                return symbol.type
        return ("part", name.component, symbol_kind(symbol))

    def _unary(self, unary: tree.Unary) -> OperandKind:
        inner = self.kind(unary.operand)
        if inner in ("float", "0f") and unary.operator in "!~":
            return ("expression",)
        if inner in ("int", "float", "0f", "?"):
            return inner
        if unary.operator == "!":
            return ("not", inner)
        if unary.operator == "-":
            return ("neg", inner)
        return (unary.operator, inner)

    def _binary(self, binary: tree.Binary) -> OperandKind:
        left, right = self.kind(binary.left), self.kind(binary.right)
        if "?" in (left, right):
            return "?"
        if isinstance(left, str) and isinstance(right, str) and {left, right} <= {"int", "float", "0f"}:
            if (left == "int") != (right == "int"):
                return ("expression",)
            return "int" if left == "int" else "float"
        if right != "int":
            return ("expression",)
        return left if left[0] == "offset" else ("offset", left)

    def _conditional(self, conditional: tree.Conditional) -> OperandKind:
        return self.kind(conditional.then)

    def _address(self, address: tree.Address) -> OperandKind:
        base = self.kind(address.base)
        if address.offset is not None and type(address.offset) is not tree.Integer:
            base = base if self.kind(address.offset) in ("int", "?") else ("expression",)
        rest = tuple(self.kind(part) for part in address.rest)
        return ("[", base, address.operator, address.suffix, *rest)


_OTHERS: dict[type, Callable[[Names, Any], OperandKind]] = {
    tree.Name: Names._component,
    tree.Integer: lambda names, operand: "int",
    tree.Float: lambda names, operand: "0f" if operand.width == 32 else _decimal(operand),
    tree.String: lambda names, operand: "string",
    tree.Unary: Names._unary,
    tree.Binary: Names._binary,
    tree.Conditional: Names._conditional,
    tree.Parenthesized: lambda names, operand: names.kind(operand.inner),
    tree.Vector: lambda names, operand: ("{", *map(names.kind, operand.elements)),
    tree.Address: Names._address,
    tree.Pair: lambda names, operand: ("|", names.kind(operand.first), names.kind(operand.second)),
    tree.Element: lambda names, operand: names.kind(operand.base),
    tree.Arguments: lambda names, operand: ("(", *map(names.kind, operand.elements)),
}


def _decimal(number: tree.Float) -> OperandKind:
    """A decimal number, or one in `0d`; one that no double holds is none."""
    overflows = number.bits in INFINITIES and number.text is not None and number.text[1:2] not in "dD"
    return ("expression",) if overflows else "float"


def symbol_kind(symbol: Symbol) -> OperandKind:
    """The kind of a declared name."""
    if symbol.kind is SymbolKind.REGISTER:
        return (symbol.vector, symbol.type) if symbol.vector else symbol.type
    if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS):
        return "func"
    if symbol.kind is SymbolKind.LABEL:
        if isinstance(symbol.label_of, tree.Prototype):
            return "prototype"
        if isinstance(symbol.label_of, tree.Directive) and any(listed(symbol.label_of)):
            return "targets" if symbol.label_of.name == "branchtargets" else "calltargets"
        return "label"
    dtype = DTYPES.get(symbol.type)
    if dtype is not None and dtype.kind is Kind.OPAQUE and not symbol.is_array:
        return ("opaque", symbol.type)
    if symbol.space.startswith("param"):
        return ("var", "param", _role(symbol))
    if any("unified" in attribute for attribute in getattr(symbol.declaration, "attributes", ())):
        return ("var", symbol.space, "unified")
    return ("var", symbol.space)


def _role(parameter: Symbol) -> str:
    """Whose parameter it is: `in` or `out` of the function itself, or `local`, declared for a call."""
    if parameter.kind is not SymbolKind.PARAMETER:
        return "local"
    return "out" if parameter.returned else "in"
