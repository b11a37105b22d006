"""The tokens of a tree's statements, with the space that belongs before each in a fresh layout.

`statement_tokens` is the inverse of the grammar: what it gives, put together with any white space that
keeps tokens apart, parses to the same statement. `Block`, `Section` and a function's body are not in it;
they are statements of their own, between their braces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.lexer import PIECES, SOURCE_BEGIN, SOURCE_END

Tokens = list[tuple[str | None, str]]
"""(gap, token): the gap is the white space before the token, or None inside a dotted name that was split."""

INDENT = "    "
_SPECIFIERS = ("linkage", "space", "attribute", "align", "vector", "type")
_TERMINATED = frozenset(("pragma", "alias", "branchtargets", "calltargets"))
_PRECEDENCE = {
    operator: level
    for level, operators in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"), 2
    )
    for operator in operators.split()
}
_UNARY, _PRIMARY = 12, 13


def statement_tokens(statement: tree.Statement, spread: bool = False, indent: str = "") -> Tokens:
    """The tokens of a statement. The first gap is empty.

    Args:
        statement: any statement; of a function its header, of a block and a section nothing but braces.
        spread: give each modifier a token of its own.
        indent: the statement's indentation, for those laid out over several lines.
    """
    out = _TokenWriter(spread, indent)
    out.statement(statement)
    return out.tokens


class _TokenWriter:
    def __init__(self, spread: bool, indent: str) -> None:
        self.tokens: Tokens = []
        self.spread = spread
        self.indent = indent

    # ---- helpers

    def _dotted(self, gap: str, parts: Iterable[str]) -> None:
        if not self.spread:
            self.tokens.append((gap, ".".join(parts)))
            return
        first, *rest = parts
        self.tokens.append((gap, first))
        self.tokens += [(None, f".{part}") for part in rest]

    def _list(self, gap: str, elements: Iterable[Any], opening: str = "", closing: str = "") -> None:
        """`opening a, b closing`, the gap before what comes first."""
        if opening:
            self.tokens.append((gap, opening))
            gap = ""
        for index, element in enumerate(elements):
            if index:
                self.tokens.append(("", ","))
            self.operand(" " if index else gap, element)
        if closing:
            self.tokens.append(("", closing))

    def _number(self, gap: str, value: int) -> None:
        self.tokens.append((gap, value.text if isinstance(value, tree.Constant) else str(value)))

    # ---- operands

    def operand(self, gap: str, node: Any) -> None:
        _OPERANDS[type(node)](self, gap, node)

    def _name(self, gap: str, node: tree.Name) -> None:
        if node.component is None:
            self.tokens.append((gap, node.name))
        else:
            self._dotted(gap, (node.name, node.component))

    def _integer(self, gap: str, node: tree.Integer) -> None:
        self.tokens.append((gap, str(node.value) if node.text is None else node.text))

    def _float(self, gap: str, node: tree.Float) -> None:
        fresh = f"0f{node.bits:08X}" if node.width == 32 else f"0d{node.bits:016X}"
        self.tokens.append((gap, fresh if node.text is None else node.text))

    def _string(self, gap: str, node: tree.String) -> None:
        self.tokens.append((gap, f'"{node.value}"'))

    def _unary(self, gap: str, node: tree.Unary) -> None:
        if node.operator.startswith("("):
            self.tokens += [(gap, "("), ("", node.operator[1:-1]), ("", ")")]
        else:
            self.tokens.append((gap, node.operator))
        self._nested(" " if node.operator.startswith(".") else "", node.operand, _UNARY)

    def _binary(self, gap: str, node: tree.Binary) -> None:
        level = _PRECEDENCE.get(node.operator, 0)
        self._nested(gap, node.left, level)
        self.tokens.append((" ", node.operator))
        symbolic = isinstance(node.left, tree.Generic) or (
            isinstance(node.left, tree.Name) and node.left.name != "WARP_SZ"
        )
        self._nested(" ", node.right, 0 if symbolic else level + 1)

    def _conditional(self, gap: str, node: tree.Conditional) -> None:
        self._nested(gap, node.condition, 2)
        self.tokens.append((" ", "?"))
        self.operand(" ", node.then)
        self.tokens.append((" ", ":"))
        self._nested(" ", node.otherwise, 1)

    def _nested(self, gap: str, node: Any, least: int) -> None:
        """An operand of an operator, in parentheses where it binds less tightly than `least`."""
        level = _PRIMARY
        if isinstance(node, tree.Binary):
            level = _PRECEDENCE.get(node.operator, 0)
        elif isinstance(node, tree.Conditional):
            level = 1
        elif isinstance(node, tree.Unary):
            level = _UNARY
        self.operand(gap, tree.Parenthesized(node) if level < least else node)

    def _parenthesized(self, gap: str, node: tree.Parenthesized) -> None:
        self._list(gap, (node.inner,), "(", ")")

    def _vector(self, gap: str, node: tree.Vector) -> None:
        self._list(gap, node.elements, "{", "}")

    def _arguments(self, gap: str, node: tree.Arguments) -> None:
        self._list(gap, node.elements, "(", ")")

    def _address(self, gap: str, node: tree.Address) -> None:
        self.tokens.append((gap, "["))
        self.operand("", node.base)
        if node.offset is not None:
            self.tokens.append((" ", node.operator or "+"))
            self.operand(" ", node.offset)
        for element in node.rest:
            self.tokens.append(("", ","))
            self.operand(" ", element)
        self.tokens.append(("", "]"))
        if node.suffix is not None:
            self.tokens.append(("", f".{node.suffix}"))

    def _pair(self, gap: str, node: tree.Pair) -> None:
        self.operand(gap, node.first)
        self.tokens.append(("", "|"))
        self.operand("", node.second)

    def _element(self, gap: str, node: tree.Element) -> None:
        self.operand(gap, node.base)
        self._list("", (node.index,), "[", "]")

    def _generic(self, gap: str, node: tree.Generic) -> None:
        if isinstance(node.operator, str):
            self.tokens.append((gap, node.operator))
        else:
            self.operand(gap, node.operator)
        self._list("", (node.operand,), "(", ")")

    def declarator(self, gap: str, node: tree.Declarator) -> None:
        self.tokens.append((gap, node.name))
        if node.count is not None:
            self.tokens.append(("", "<"))
            self._number("", node.count)
            self.tokens.append(("", ">"))
        for dimension in node.dimensions:
            self.tokens.append(("", "["))
            if dimension is not None:
                self._number("", dimension)
            self.tokens.append(("", "]"))
        if node.initializer is not None:
            self.tokens.append((" ", "="))
            self.operand(" ", node.initializer)

    # ---- statements

    def statement(self, node: tree.Statement) -> None:
        _STATEMENTS[type(node)](self, node)

    def _instruction(self, node: tree.Instruction) -> None:
        gap = ""
        if node.guard is not None:
            self.tokens.append(("", "@"))
            if node.guard.negated:
                self.tokens.append(("", "!"))
            self.tokens.append(("", node.guard.name))
            gap = " "
        self._dotted(gap, (node.opcode, *node.modifiers))
        self._list(" ", node.operands)
        self.tokens.append(("", ";"))

    def _label(self, node: tree.Label) -> None:
        self.tokens += [("", node.name), ("", ":")]

    def code_block(self, node: tree.Directive) -> None:
        """A source of another language, a field a line (11.5.6)."""
        language, file, source = node.arguments
        outer = f"\n{self.indent}"
        self.tokens += [("", ".code_block"), (" ", "{"), (outer + INDENT, ".ir_name:")]
        self.operand(" ", language)
        self.tokens.append((outer + INDENT, ".sourceFileName:"))
        self.operand(" ", file)
        text = source.value if isinstance(source, tree.String) else ""
        self.tokens += [(outer + INDENT, f"{SOURCE_BEGIN}{text}{SOURCE_END}"), (outer, "}")]

    def directive(self, gap: str, node: tree.Directive) -> None:
        self.tokens.append((gap, f".{node.name}"))
        separate = node.name not in ("file", "loc", "loc_intermediate", "metadata")
        for index, argument in enumerate(node.arguments):
            comma = index > 0 and (separate or (node.name == "file" and index > 1))
            if node.name == "loc" and index in (3, 5):
                comma = True
            if comma:
                self.tokens.append(("", ","))
            self.operand(" ", argument)
        if node.name in _TERMINATED:
            self.tokens.append(("", ";"))

    def _directive(self, node: tree.Directive) -> None:
        if node.name == "code_block":
            self.code_block(node)
        else:
            self.directive("", node)

    def variable(self, gap: str, node: tree.Variable) -> None:
        """A declaration up to its declarators."""
        order = node.order
        present = {
            "linkage": node.linkage is not None,
            "space": bool(node.space),
            "attribute": bool(node.attributes),
            "align": node.align is not None,
            "vector": node.vector is not None,
            "type": True,
        }
        if order is None or {role for role in _SPECIFIERS[1:] if present[role]} != set(order):
            order = _SPECIFIERS[1:]
        for role in ("linkage", *order):
            if not present[role]:
                continue
            if role == "attribute":
                self._attributes(gap, node.attributes)
            elif role == "align":
                self._align(gap, node.align)
            else:
                self.tokens.append((gap, f".{getattr(node, role)}"))
            gap = " "
        if node.pointer is not None:
            space, align = node.pointer
            self.tokens.append((" ", ".ptr"))
            if space is not None:
                self.tokens.append((" ", f".{space}"))
            if align is not None:
                self._align(" ", align)

    def _align(self, gap: str, align: int | None) -> None:
        self.tokens.append((gap, ".align"))
        self._number(" ", align or 0)

    def _attributes(self, gap: str, attributes: tuple[str, ...]) -> None:
        self.tokens += [(gap, ".attribute"), ("", "(")]
        for index, attribute in enumerate(attributes):
            if index:
                self.tokens.append(("", ","))
            pieces = PIECES.findall(f".{attribute}")
            for at, piece in enumerate(pieces):
                self.tokens.append(
                    (" " if (at == 0 and index) or (at and pieces[at - 1] == ",") else "", piece)
                )
        self.tokens.append(("", ")"))

    def _variable(self, node: tree.Variable) -> None:
        self.variable("", node)
        self._list(" ", node.declarators)
        self.tokens.append(("", ";"))

    def _parameters(self, gap: str, parameters: tuple[tree.Variable, ...], separator: str) -> None:
        self.tokens.append((gap, "("))
        gap = separator.lstrip(" ") if parameters else ""
        for index, parameter in enumerate(parameters):
            if index:
                self.tokens.append(("", ","))
            self.variable(separator if index else gap, parameter)
            for declarator in parameter.declarators:
                self.declarator(" ", declarator)
        self.tokens.append((f"\n{self.indent}" if "\n" in gap else "", ")"))

    def _prototype(self, node: tree.Prototype) -> None:
        self.tokens.append(("", ".callprototype"))
        if node.returns or node.parentheses[0]:
            self._parameters(" ", node.returns, " ")
        self.tokens.append((" ", node.name))
        if node.parameters or node.parentheses[1]:
            self._parameters(" ", node.parameters, " ")
        for directive in node.directives:
            self.directive(" ", directive)
        self.tokens.append(("", ";"))

    def _function(self, node: tree.Function) -> None:
        gap = ""
        if node.linkage is not None:
            self.tokens.append(("", f".{node.linkage}"))
            gap = " "
        self.tokens.append((gap, f".{node.kind}"))
        if node.attributes:
            self._attributes(" ", node.attributes)
        if node.returns or node.parentheses[0]:
            self._parameters(" ", node.returns, " ")
        self.tokens.append((" ", node.name))
        if node.parameters or node.parentheses[1]:
            self._parameters("", node.parameters, f"\n{self.indent}{INDENT}")
        for directive in node.directives:
            self.directive(f"\n{self.indent}", directive)
        if node.body is None:
            self.tokens.append(("", ";"))

    def _malformed(self, node: tree.Malformed) -> None:
        self.tokens += [(" " if index else "", token) for index, token in enumerate(node.tokens)]

    def _block(self, node: tree.Block) -> None:
        self.tokens.append(("", "{"))
        if node.closed:
            self.tokens.append((f"\n{self.indent}", "}"))

    def _section(self, node: tree.Section) -> None:
        if node.name in (tree.METADATA, tree.SOURCES):
            self.tokens += [("", node.name), (" ", "{")]
        else:
            self.tokens += [("", ".section"), (" ", node.name), (f"\n{self.indent}", "{")]
        if node.closed:
            self.tokens.append((f"\n{self.indent}", "}"))


_OPERANDS: dict[type, Callable[[_TokenWriter, str, Any], None]] = {
    tree.Name: _TokenWriter._name,
    tree.Integer: _TokenWriter._integer,
    tree.Float: _TokenWriter._float,
    tree.String: _TokenWriter._string,
    tree.Unary: _TokenWriter._unary,
    tree.Binary: _TokenWriter._binary,
    tree.Conditional: _TokenWriter._conditional,
    tree.Parenthesized: _TokenWriter._parenthesized,
    tree.Vector: _TokenWriter._vector,
    tree.Arguments: _TokenWriter._arguments,
    tree.Address: _TokenWriter._address,
    tree.Pair: _TokenWriter._pair,
    tree.Element: _TokenWriter._element,
    tree.Generic: _TokenWriter._generic,
    tree.Declarator: _TokenWriter.declarator,
}
_STATEMENTS: dict[type, Callable[[_TokenWriter, Any], None]] = {
    tree.Instruction: _TokenWriter._instruction,
    tree.Label: _TokenWriter._label,
    tree.Directive: _TokenWriter._directive,
    tree.Variable: _TokenWriter._variable,
    tree.Prototype: _TokenWriter._prototype,
    tree.Function: _TokenWriter._function,
    tree.Malformed: _TokenWriter._malformed,
    tree.Block: _TokenWriter._block,
    tree.Section: _TokenWriter._section,
}
