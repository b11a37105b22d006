"""What the rules of `ptx.lark` for operands build, and how all of them do.

A reduction does not build a node but a *maker*, a function of a statement's tokens that builds it. Makers
see nothing but kinds of tokens until they run, so that two statements with the same kinds in the same order
share one maker: the parser keeps it and skips the grammar the next time (see `parser.py`).

A child is an `int`, the index of a token in its statement; a maker, for a node; or a `StatementPart`, for
what is not a node of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

from ptxkit.asm import tree
from ptxkit.asm._grammar import KINDS
from ptxkit.diagnostics import Span

Tokens = Sequence[str]
Spanner = Callable[[int, int], Span]
"""The span from the start of one token of the statement to the end of another."""
Maker = Callable[[Tokens, Spanner], Any]


class StatementPart(NamedTuple):
    """A piece of a statement that is not a node: `parameters`, `alignment`, `guard`, .."""

    role: str
    make: Maker


Child = int | Maker | StatementPart

MAX_DEPTH = 100
"""Deepest nesting of an operand."""
MAX_LITERAL = 80
"""Longest integer literal that is read exactly; 64 binary digits fit."""


@lru_cache(maxsize=4096)
def integer_value(text: str) -> int:
    """The value of an integer literal (4.5.1)."""
    digits = text.rstrip("U")
    if len(digits) > MAX_LITERAL:
        return (1 << 64) - 1
    if len(digits) > 1 and digits[0] == "0":
        if digits[1] in "xX":
            return int(digits[2:], 16)
        return int(digits[2:], 2) if digits[1] in "bB" else int(digits, 8)
    return int(digits)


@lru_cache(maxsize=4096)
def float_bits(text: str) -> tuple[int, int]:
    """The IEEE pattern and the width of a floating-point literal (4.5.2)."""
    if text[:2] in ("0f", "0F"):
        return int(text[2:], 16), 32
    if text[:2] in ("0d", "0D"):
        return int(text[2:], 16), 64
    return struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64


class OperandReducer:
    """One method a rule, named as in the grammar. `kinds` are those of the statement being read.

    `problems` collects what the grammar lets pass and PTX does not, as (code, message, first token, last
    token, help), in terms of token indices. `broken` says that the statement cannot become a node.
    """

    def begin(self, kinds: Sequence[str]) -> None:
        """A new statement; its kinds arrive in `kinds` while it is read."""
        self.kinds = kinds
        self.problems: list[tuple[str, str, int, int, str]] = []
        self.broken = False

    def reduce(self, rule: str, children: list[Any]) -> Any:
        """Apply the method of a rule.

        A node's depth is kept on its maker, so that no tree is built that a recursive reader could not walk.
        """
        value = getattr(self, rule)(children)
        if rule in _NESTING:
            depth = 1 + max(getattr(child, "depth", 0) for child in children)
            value.depth = depth
            if depth > MAX_DEPTH and not self.broken:
                self.broken = True
                at = next((child for child in children if type(child) is int), 0)
                help = f"{MAX_DEPTH} levels are read; simplify the expression"
                self.problems.append(("P108", "an operand is nested too deep", at, at, help))
        return value

    # ---- operands

    def name(self, children: list[Any]) -> Maker:
        first, last = children[0], children[-1]
        if first != last:
            return lambda t, s: tree.Name(intern(t[first]), intern(t[last][1:]), span=s(first, last))
        if self.kinds[first] in _DOTTED:

            def dotted(t: Tokens, s: Spanner) -> tree.Name:
                name, _, component = t[first].partition(".")
                return tree.Name(intern(name), intern(component) or None, span=s(first, first))

            return dotted
        return lambda t, s: tree.Name(intern(t[first]), None, span=s(first, first))

    def integer(self, children: list[Any]) -> Maker:
        (index,) = children

        def make(t: Tokens, s: Spanner) -> tree.Integer:
            text = t[index]
            return tree.Integer(integer_value(text), intern(text), span=s(index, index))

        return make

    def float(self, children: list[Any]) -> Maker:
        (index,) = children

        def make(t: Tokens, s: Spanner) -> tree.Float:
            text = t[index]
            return tree.Float(*float_bits(text), intern(text), span=s(index, index))

        return make

    def literals(self, nodes: list[tree.Integer | tree.Float]) -> StatementPart:
        """A run of literals that are built already; no maker of theirs is ever kept."""
        return StatementPart("literals", lambda t, s: nodes)

    def unary(self, children: list[Any]) -> Maker:
        index, inner = children

        def make(t: Tokens, s: Spanner) -> tree.Unary:
            operand = inner(t, s)
            return tree.Unary(t[index], operand, span=s(index, index).to(operand.span))

        return make

    def cast(self, children: list[Any]) -> Maker:
        opening, index, _, inner = children

        def make(t: Tokens, s: Spanner) -> tree.Unary:
            operand = inner(t, s)
            return tree.Unary(f"({t[index]})", operand, span=s(opening, opening).to(operand.span))

        return make

    def binary(self, children: list[Any]) -> Maker:
        left, index, right = children

        def make(t: Tokens, s: Spanner) -> tree.Binary:
            a, b = left(t, s), right(t, s)
            return tree.Binary(t[index], a, b, span=a.span.to(b.span))

        return make

    field = binary

    def conditional(self, children: list[Any]) -> Maker:
        first, _, second, _, third = children

        def make(t: Tokens, s: Spanner) -> tree.Conditional:
            a, b, c = first(t, s), second(t, s), third(t, s)
            return tree.Conditional(a, b, c, span=a.span.to(c.span))

        return make

    def parenthesized(self, children: list[Any]) -> Maker:
        opening, inner, closing = children
        return lambda t, s: tree.Parenthesized(inner(t, s), span=s(opening, closing))

    def vector(self, children: list[Any]) -> Maker:
        opening, closing = children[0], children[-1]
        elements = [child for child in children if type(child) is not int]
        if any(type(child) is StatementPart for child in elements):
            parts = [c.make if type(c) is StatementPart else lambda t, s, c=c: [c(t, s)] for c in elements]
            return lambda t, s: tree.Vector(
                tuple([node for make in parts for node in make(t, s)]), span=s(opening, closing)
            )
        return lambda t, s: tree.Vector(tuple([make(t, s) for make in elements]), span=s(opening, closing))

    def arguments(self, children: list[Any]) -> Maker:
        opening, closing = children[0], children[-1]
        elements = [child for child in children if type(child) is not int]
        return lambda t, s: tree.Arguments(tuple([make(t, s) for make in elements]), span=s(opening, closing))

    def address(self, children: list[Any]) -> Maker:
        opening, base, closing = children[0], children[1], children[-1]
        rest = [child for child in children[2:] if type(child) is not int]
        suffixed = self.kinds[closing] != "]"

        def make(t: Tokens, s: Spanner) -> tree.Address:
            place, offset, operator = (
                base.make(t, s) if type(base) is StatementPart else (base(t, s), None, None)
            )
            others = tuple([other(t, s) for other in rest])
            suffix = t[closing][1:] if suffixed else None
            return tree.Address(place, offset, operator, others, suffix, span=s(opening, closing))

        return make

    def offset(self, children: list[Any]) -> StatementPart:
        base, index, displacement = children
        if self.kinds[index] == "-":
            self.problems.append(
                (
                    "P101",
                    "expected `+` before an address offset, found `-`",
                    index,
                    index,
                    "write `+-` before the offset",
                )
            )
        return StatementPart("offset", lambda t, s: (base(t, s), displacement(t, s), t[index]))

    def pair(self, children: list[Any]) -> Maker:
        first, _, second = children

        def make(t: Tokens, s: Spanner) -> tree.Pair:
            a, b = first(t, s), second(t, s)
            return tree.Pair(a, b, span=a.span.to(b.span))

        return make

    def element(self, children: list[Any]) -> Maker:
        first, _, second, closing = children

        def make(t: Tokens, s: Spanner) -> tree.Element:
            base, index = first(t, s), second(t, s)
            return tree.Element(base, index, span=base.span.to(s(closing, closing)))

        return make

    def generic(self, children: list[Any]) -> Maker:
        index, _, inner, closing = children
        return lambda t, s: tree.Generic("generic", inner(t, s), span=s(index, closing))

    def mask(self, children: list[Any]) -> Maker:
        index, _, inner, closing = children
        literal = self.integer([index])
        return lambda t, s: tree.Generic(literal(t, s), inner(t, s), span=s(index, closing))


_NESTING = frozenset(("unary", "cast", "binary", "conditional", "parenthesized", "vector"))
_DOTTED = {KINDS["QUALIFIED"], KINDS["CALL"]}


def integers(texts: Sequence[str], first: Span, offsets: Sequence[int]) -> list[tree.Integer | tree.Float]:
    """Many integers of one line of a table, whose values are few.

    Args:
        texts: how each is spelled.
        first: the place of the first.
        offsets: where each begins, counted from anywhere.
    """
    known = {text: (integer_value(text), intern(text), len(text)) for text in set(texts)}
    line, base = first.line, first.column - offsets[0]
    found: list[tree.Integer | tree.Float] = []
    for text, offset in zip(texts, offsets, strict=True):
        value, spelled, length = known[text]
        start = offset + base
        span = tuple.__new__(Span, (line, start, line, start + length))
        found.append(tree.Integer(value, spelled, span=span))
    return found
