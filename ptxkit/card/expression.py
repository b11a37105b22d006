"""Integer arithmetic over the problem's sizes: `ceildiv(M, 8)`, `K // 2 + K // 16`, `K % 512 == 0`.

Python's own syntax and meaning, cut down to what a launch needs: integers, names of sizes, `+ - * // %`,
comparisons, `and`, `or`, `not`, and the functions `ceildiv`, `min` and `max`. Nothing else is ever
evaluated, so a card from a stranger is as safe to read as any other data.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, counted, listing

MAX_LENGTH = 300
"""Longest expression in characters."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def ceildiv(a: int, b: int) -> int:
    """`a / b`, rounded up."""
    return -(-a // b)


_FUNCTIONS: dict[str, Callable[..., int]] = {"ceildiv": ceildiv, "max": max, "min": min}
_AVAILABLE = "integers, sizes, `+ - * // %`, comparisons, `and or not`, `ceildiv`, `min`, `max`"


@dataclass(frozen=True, slots=True)
class SizeExpression:
    """One expression, parsed and known to hold nothing but integer arithmetic.

    Attributes:
        text: as written.
        names: the sizes it uses, in order of appearance.
        span: where it stands, None where it came from elsewhere than a card.
    """

    text: str
    names: tuple[str, ...]
    tree: ast.expr = field(compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    def name_span(self, name: str) -> Span | None:
        """Where `name` first is in it."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id == name:
                return _part(self.span, node)
        return self.span

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """Its value; of a comparison 0 or 1.

        Raises:
            PtxkitError: P534, a size that is not among `sizes`; P535, a division by zero.
        """
        return int(self._value(self.tree, sizes))

    def _value(self, node: ast.expr, sizes: Mapping[str, int]) -> int:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                if name not in sizes:
                    raise PtxkitError(unknown_size(self, name, sizes))
                return sizes[name]
            case ast.UnaryOp(op=unary, operand=operand):
                return _UNARY[type(unary)](self._value(operand, sizes))
            case ast.BinOp(left=left, op=binary, right=right):
                return self._divided(node, _BINARY[type(binary)], (left, right), sizes)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._divided(node, _FUNCTIONS[name], arguments, sizes)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._value(value, sizes) for value in values)
            case ast.BoolOp(values=values):
                return any(self._value(value, sizes) for value in values)
            case ast.Compare(left=left, ops=operators, comparators=others):
                terms = [self._value(term, sizes) for term in (left, *others)]
                pairs = zip(operators, terms, terms[1:], strict=False)
                return all(COMPARE[type(compare)](a, b) for compare, a, b in pairs)
        raise AssertionError(f"`{self.text}` was checked when it was parsed")

    def _divided(
        self,
        node: ast.expr,
        function: Callable[..., int],
        terms: list[ast.expr] | tuple,
        sizes: Mapping[str, int],
    ) -> int:
        try:
            return function(*(self._value(term, sizes) for term in terms))
        except ZeroDivisionError:
            used = ", ".join(f"{name} = {sizes[name]}" for name in self.names if name in sizes)
            diagnostic = Diagnostic(
                "P535",
                f"`{self.text}` divides by zero{f' with {used}' if used else ''}",
                _part(self.span, node),
                help="choose other sizes, or keep the divisor above 0: `max(1, ..)`",
                source=self.source,
            )
            raise PtxkitError(diagnostic) from None


def parse(text: str, span: Span | None = None, source: Source | None = None) -> SizeExpression:
    """Read an expression.

    Args:
        text: the expression.
        span: where its first to last character stand, for code frames.
        source: the text that `span` refers to.

    Raises:
        PtxkitError: P533, it is not integer arithmetic over sizes.
    """

    def refuse(message: str, node: ast.expr | None = None) -> PtxkitError:
        place = _part(span, node) if node is not None else span
        return PtxkitError(Diagnostic("P533", message, place, help=f"use {_AVAILABLE}", source=source))

    shown = text if len(text) <= 60 else text[:57] + "..."
    if len(text) > MAX_LENGTH:
        raise refuse(f"expected an expression of at most {MAX_LENGTH} characters, found {len(text)}")
    if not text.isascii() or "\n" in text:
        raise refuse(f"expected one line of ASCII, found `{shown}`")
    tree = parsed(text)
    if tree is None:
        raise refuse(f"expected an integer expression, found `{shown}`")
    if span is not None:
        lead = len(text) - len(text.lstrip())
        span = span._replace(column=span.column + lead)
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        what = _objection(node)
        if what:
            raise refuse(f"expected integer arithmetic, found {what} in `{shown}`", node)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            names.setdefault(node.id)
    return SizeExpression(text.strip(), tuple(names), tree, span, source)


def parsed(text: str) -> ast.expr | None:
    """An expression in Python's syntax; None where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _objection(node: ast.expr) -> str | None:
    """What is wrong with one node, in words; None where nothing is."""
    match node:
        case ast.Constant(value=value):
            return None if type(value) is int else f"`{value!r}`"
        case ast.Name() | ast.BoolOp():
            return None
        case ast.UnaryOp(op=op):
            return None if type(op) in _UNARY else f"operator `{ast.unparse(node)}`"
        case ast.BinOp(op=op):
            return None if type(op) in _BINARY else f"operator in `{ast.unparse(node)}`"
        case ast.Compare(ops=ops):
            return None if all(type(op) in COMPARE for op in ops) else f"`{ast.unparse(node)}`"
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            few = len(arguments) != 2 if name == "ceildiv" else len(arguments) < 2
            return f"{counted(len(arguments), 'argument')} of `{name}`" if few else None
        case ast.Call():
            return f"call `{ast.unparse(node)}`"
    return f"`{ast.unparse(node)}`"


def unknown_size(expression: SizeExpression, name: str, sizes: Mapping[str, object]) -> Diagnostic:
    """P534, or of an option P560: `expression` uses `name`, which is not a size."""
    known = listing(sizes)
    return Diagnostic(
        "P534" if expression.source else "P560",
        f"expected a size of the problem, found `{name}` in `{expression.text}`",
        expression.name_span(name),
        help=f"the sizes are {known}"
        if known
        else "there are no sizes: presets of a card, or `-p`, name them",
        source=expression.source,
    )


def _part(span: Span | None, node: ast.expr) -> Span | None:
    """The span of one node of an expression that lies at `span`, on one line."""
    if span is None or span.line != span.end_line:
        return span
    start = span.column + node.col_offset
    return Span(span.line, start, span.line, span.column + (node.end_col_offset or node.col_offset + 1))
