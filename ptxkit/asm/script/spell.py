"""The Python that gives a node: an expression of the builder where there is one, else its constructor."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.build.values import COMPONENTS
from ptxkit.asm.symbols import Scope, Symbol, SymbolKind
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

WIDTH = 100
DEEPEST = 40
"""Constructors inside each other before one is given a name of its own; Python's parser stops at some 90."""


class Speller:
    """Spells nodes as Python.

    Args:
        define: adds a line that gives an expression a name, and gives that name.

    Attributes:
        python: what stands for each symbol in the script: an identifier.
        label: gives the identifier of a label that has not been placed.
        used: what the script needs from `ptxkit.asm.build`.
        nodes: what it needs from `ptxkit.asm.tree`.
    """

    def __init__(self, define: Callable[[str], str], label: Callable[[Symbol], str]) -> None:
        self.define = define
        self.label = label
        self.python: dict[Symbol, str] = {}
        self.used: set[str] = set()
        self.nodes: set[str] = set()

    # ---- operands

    def operand(self, node: tree.Operand, scope: Scope) -> str:
        """An operand, names looked up in `scope`."""
        match node:
            case tree.Name():
                return self._value(node, scope) or self.node(node)
            case tree.Integer():
                return integer(node)
            case tree.Float():
                return self._float(node)
            case tree.Unary("-", tree.Integer(value) as inner) if value:
                text = integer(inner)
                return f'"-{text[1:]}' if text.startswith('"') else f"-{text}"
            case tree.Unary("-", tree.Float(width=64) as inner):
                text = self._float(inner)
                return f"-{text}" if text[0].isdigit() else self.node(node)
            case tree.Unary("-" | "!" as operator, tree.Name() as inner) if known := self._term(inner, scope):
                return f"{'-' if operator == '-' else '~'}{known}"
            case tree.Binary("+", tree.Name() as left, right) if known := self._term(left, scope):
                return f"{known} + {self.operand(right, scope)}"
            case tree.Pair(tree.Name() as first, second) if known := self._term(first, scope):
                return f"{known} | {self.operand(second, scope)}"
            case tree.Pair(tree.Vector() as first, tree.Name() as second) if known := self._term(
                second, scope
            ):
                return f"{self.operand(first, scope)} | {known}"
            case tree.Element(tree.Name() as base, index) if (
                symbol := scope.lookup(base.name)
            ) in self.python:
                if base.component is None and symbol.kind in (SymbolKind.VARIABLE, SymbolKind.PARAMETER):
                    return f"{self._value(base, scope)}[{self.operand(index, scope)}]"
            case tree.Vector(elements):
                return self._vector(elements, scope)
            case tree.Arguments(elements):
                return sequence([self.operand(element, scope) for element in elements])
            case tree.Generic("generic", inner):
                return f"{self._use('generic')}({self.operand(inner, scope)})"
            case tree.Address():
                return self._address(node, scope)
        return self.node(node)

    def _address(self, node: tree.Address, scope: Scope) -> str:
        if node.suffix is not None:
            return self.node(node)
        rest = [self.operand(element, scope) for element in node.rest]
        if node.offset is None and node.operator is None and not isinstance(node.base, tree.Binary):
            return f"k[{', '.join([self.operand(node.base, scope), *rest])}]"
        if node.offset is None and node.operator is None:
            return f"k[{', '.join([self.node(node.base), *rest])}]"
        value = self._term(node.base, scope) if isinstance(node.base, tree.Name) else None
        if node.operator == "+" and node.offset is not None and value:
            return f"k[{', '.join([f'{value} + {self.operand(node.offset, scope)}', *rest])}]"
        return self.node(node)

    def _value(self, name: tree.Name, scope: Scope) -> str | None:
        """The expression of a name that is an object in the script."""
        symbol = scope.lookup(name.name)
        if symbol is None:
            return self._known(name)
        text = self._object(name.name, symbol)
        if text is None or name.component is None:
            return text
        if symbol.kind is SymbolKind.FUNCTION:
            text = f"{text}.reference"
        return f"{text}.{name.component}" if name.component in COMPONENTS else None

    def _term(self, name: tree.Name, scope: Scope) -> str | None:
        """The same as part of a larger expression; of a function, the operand that it is."""
        text, symbol = self._value(name, scope), scope.lookup(name.name)
        function = symbol is not None and symbol.kind is SymbolKind.FUNCTION
        return f"{text}.reference" if text and function and name.component is None else text

    def _object(self, name: str, symbol: Symbol) -> str | None:
        if symbol.range is not None:
            ranged = self.python.get(symbol.range)
            index = symbol.name.removeprefix(symbol.range.name)
            return f"{ranged}[{index}]" if ranged and symbol.name == name else None
        if symbol.kind is SymbolKind.LABEL and symbol not in self.python:
            return self.label(symbol)
        return self.python.get(symbol)

    def _known(self, name: tree.Name) -> str | None:
        """A name that PTX itself knows."""
        if name.component is None and name.name in ("_", "WARP_SZ"):
            return self._use("sink" if name.name == "_" else "WARP_SZ")
        register = SPECIAL_REGISTERS.get(name.name)
        if register is None:
            return None
        if name.component is None:
            return f"{self._use('special')}.{name.name[1:]}"
        if register.vector and name.component in ("x", "y", "z", "w"):
            return f"{self._use('special')}.{name.name[1:]}.{name.component}"
        return None

    def _vector(self, elements: tuple[tree.Operand, ...], scope: Scope) -> str:
        texts = [self.operand(element, scope) for element in elements]
        run = self._run(elements, scope)
        if run is not None:
            ranged, first = run
            return f"{ranged}[{first}:{first + len(elements)}]"
        return f"[{', '.join(texts)}]"

    def _run(self, elements: tuple[tree.Operand, ...], scope: Scope) -> tuple[str, int] | None:
        """Three or more registers in a row of one range."""
        if len(elements) < 3 or not all(isinstance(e, tree.Name) and e.component is None for e in elements):
            return None
        names = [element.name for element in elements if isinstance(element, tree.Name)]
        symbol = scope.lookup(names[0])
        if symbol is None or symbol.range is None or symbol.range not in self.python:
            return None
        prefix = symbol.range.name
        first = int(symbol.name.removeprefix(prefix))
        if names != [f"{prefix}{first + i}" for i in range(len(names))]:
            return None
        last = scope.lookup(names[-1])
        if last is None or last.range is not symbol.range:
            return None
        return self.python[symbol.range], first

    def _float(self, node: tree.Float) -> str:
        fresh = f"0f{node.bits:08X}" if node.width == 32 else f"0d{node.bits:016X}"
        if node.width == 64 and node.text and node.text[:2] not in ("0d", "0D"):
            return node.text if repr(float(node.text)) == node.text else quoted(node.text)
        if node.text not in (None, fresh):
            return quoted(str(node.text))
        packed = node.bits.to_bytes(node.width // 8)
        (value,) = struct.unpack(">f" if node.width == 32 else ">d", packed)
        if not math.isfinite(value):
            return quoted(fresh)
        return (
            f"{self._use(f'f{node.width}')}({_shortest(value, packed) if node.width == 32 else repr(value)})"
        )

    def _use(self, name: str) -> str:
        self.used.add(name)
        return name

    # ---- declarations

    def declarator(self, node: tree.Declarator) -> str | None:
        """A declarator in PTX's notation; None where it has an initial value."""
        if node.initializer is not None:
            return None
        count = "" if node.count is None else f"<{_size(node.count)}>"
        dimensions = "".join(f"[{'' if size is None else _size(size)}]" for size in node.dimensions)
        return quoted(f"{node.name}{count}{dimensions}")

    def parameter(self, node: tree.Variable) -> str:
        """A parameter."""
        declarator = self.declarator(node.declarators[0]) if len(node.declarators) == 1 else None
        if declarator is None or node.linkage or node.attributes:
            return self.node(node)
        arguments = [quoted(node.type), declarator]
        if node.space != "param":
            arguments.append(f"space={quoted(node.space)}")
        if node.align is not None:
            arguments.append(f"align={number(node.align)}")
        if node.vector is not None:
            arguments.append(f"vector={quoted(node.vector)}")
        if node.pointer is not None:
            space, align = node.pointer
            pair = sequence([plain(space), "None" if align is None else number(align)])
            arguments.append(f"pointer={pair}")
        return f"{self._use('param')}({', '.join(arguments)})"

    # ---- any node

    def node(self, node: Any) -> str:
        """A node's constructor."""
        return self._node(node)[0]

    def _node(self, value: Any) -> tuple[str, int]:
        """The expression and how many constructors stand inside each other in it."""
        if isinstance(value, tree.Constant):
            self.nodes.add("Constant")
            return f"Constant({int(value)}, {quoted(value.text)})", 1
        if not isinstance(value, tree.Node):
            if isinstance(value, (tuple, list)):
                texts = [self._node(element) for element in value]
                inside = [text for text, _ in texts]
                depth = 1 + max((depth for _, depth in texts), default=0)
                return sequence(inside) if isinstance(value, tuple) else f"[{', '.join(inside)}]", depth
            return plain(value), 0
        name = type(value).__name__
        self.nodes.add(name)
        arguments, deepest, skipped = [], 0, False
        for field in fields(value):
            if not _shown(value, field):
                skipped = True
                continue
            text, depth = self._node(getattr(value, field.name))
            arguments.append(f"{field.name}={text}" if skipped else text)
            deepest = max(deepest, depth)
        text = f"{name}({', '.join(arguments)})"
        if deepest >= DEEPEST:
            return self.define(text), 0
        return text, deepest + 1


def _shown(node: tree.Node, field: Field[Any]) -> bool:
    """Whether a field says something that its default doesn't."""
    if not field.compare and field.name != "text":
        return False
    value = getattr(node, field.name)
    if field.name == "text" and isinstance(node, tree.Integer):
        return value not in (None, str(node.value))
    return field.default is MISSING or value != field.default


# ---- literals


def quoted(text: str) -> str:
    """A string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def plain(value: Any) -> str:
    """A string, a number, a truth value or None."""
    return quoted(value) if isinstance(value, str) else repr(value)


def sequence(texts: list[str]) -> str:
    """A tuple."""
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def integer(node: tree.Integer) -> str:
    """An integer literal; one not spelled as plain decimal is a string."""
    return str(node.value) if node.text in (None, str(node.value)) else quoted(str(node.text))


def number(value: int) -> str:
    """A size or an alignment."""
    return quoted(value.text) if isinstance(value, tree.Constant) else str(value)


def _size(value: int) -> str:
    return value.text if isinstance(value, tree.Constant) else str(value)


def _shortest(value: float, packed: bytes) -> str:
    """The shortest decimal that is this single-precision number."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack(">f", float(text)) == packed:
            return repr(float(text))
    return repr(value)


def wrapped(head: str, arguments: list[str], tail: str = ")", indent: str = "") -> list[str]:
    """`head(arguments)` on one line, or filled over several."""
    line = f"{head}{', '.join(arguments)}{tail}"
    if len(indent) + len(line) <= WIDTH or not arguments:
        return [line]
    lines, current = [head], ""
    room = WIDTH - len(indent) - 4
    pieces = [
        piece
        for argument in arguments
        for piece in ([f"{argument},"] if len(argument) < room else _pieces(f"{argument},"))
    ]
    for piece in pieces:
        if current and len(current) + 1 + len(piece) > room:
            lines.append(f"    {current}")
            current = piece
        else:
            current = f"{current} {piece}" if current else piece
    return [*lines, f"    {current}", tail]


def _pieces(text: str) -> list[str]:
    """An expression cut after its commas, where Python lets a line end: all of them are inside brackets."""
    pieces, start, inside = [], 0, False
    for position, character in enumerate(text):
        if character == '"' and (not inside or _unescaped(text, position)):
            inside = not inside
        if character == "," and not inside and text[position + 1 : position + 2] in (" ", ""):
            pieces.append(text[start : position + 1])
            start = position + 2
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _unescaped(text: str, position: int) -> bool:
    backslashes = len(text[:position]) - len(text[:position].rstrip("\\"))
    return backslashes % 2 == 0
