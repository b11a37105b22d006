"""Expressions over the registers and memories of lanes: `%r1 > 3 && shared.f32[%r4] == 0`.

Names are registers, special registers (`%tid.x`), parameters (their values) and variables (their addresses).
`shared.TYPE[ADDRESS]` and `global.TYPE[ADDRESS]` read memory, `tmem.TYPE[LANE, COLUMN]` a cell of tensor
memory; `f32(%r1)` takes a register's bits as that type. Operators are those of C; integers are exact.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ptxkit.debugger.refusals import RefusedError
from ptxkit.dtypes import DTYPES, numpy_dtype
from ptxkit.emulator.inspection import KnownBits, can_show

_TOKEN = re.compile(r"(?<![\w.$%])(%[A-Za-z_$][\w$]*(?:\.[xyz]\b)?|[$_][\w$]+|[A-Za-z][\w$]*)|&&|\|\||!(?!=)")
_WORDS = {"&&": " and ", "||": " or ", "!": " not ", "and": " and ", "or": " or ", "not": " not "}
_SPACES = ("shared", "global", "tmem")


class ExpressionNames(Protocol):
    """What the names of an expression stand for, in some rows of a lane set."""

    def read(self, name: str) -> tuple[list[list[KnownBits | None]], str]:
        """A register or parameter: raw bits by row and lane, and its type. Raises RefusedError."""

    def memory(self, space: str, row: int, kind: str, at: tuple[int, ...]) -> KnownBits:
        """An element of a memory as a row sees it. Raises RefusedError."""


def value_of(bits: KnownBits, kind: str) -> Any:
    """Bits as the number that a type makes of them."""
    width = DTYPES[kind].bits
    if kind == "pred":
        return bool(bits.bits)
    if kind[0] in "bus" and kind[1:].isdecimal():
        negative = kind[0] == "s" and bits.bits >> (width - 1)
        return bits.bits - (1 << width) if negative else bits.bits
    return float(np.frombuffer(bits.bits.to_bytes(width // 8, "little"), numpy_dtype(kind))[0])


def _divided(a: Any, b: Any) -> Any:
    """As C divides: integers towards zero."""
    if b == 0:
        raise RefusedError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: Any, b: Any) -> Any:
    return a - _divided(a, b) * b if not isinstance(a, float) else a % b


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Mod: _rest,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
UNDEFINED = object()
"""What an expression is in a lane where it depends on undefined bits."""
Row = list[Any]
"""A value for each of 32 lanes: a number, `UNDEFINED`, or None where the lane is elsewhere."""


class Expression:
    """An expression, parsed.

    Raises:
        RefusedError: it is none.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self._names: list[str] = []
        try:
            tree = ast.parse(_TOKEN.sub(self._token, self.text).strip(), mode="eval")
        except (SyntaxError, ValueError):
            raise RefusedError(f"expected an expression, found `{self.text}`") from None
        self._body = tree.body
        self._check(self._body)

    def _token(self, found: re.Match[str]) -> str:
        word = found[0]
        if word in _WORDS:
            return _WORDS[word]
        if word in _SPACES:
            return f"{word}_"  # `global` is a word of Python's
        if word in DTYPES and found.string[found.end() :].lstrip().startswith("("):
            return word
        self._names.append(word)
        return f"n__{len(self._names) - 1}"

    def _check(self, node: ast.expr) -> None:
        """Refuse what is no part of the language."""
        match node:
            case ast.BoolOp():
                parts = node.values
            case ast.BinOp() if type(node.op) in _BINARY:
                parts = [node.left, node.right]
            case ast.UnaryOp():
                parts = [node.operand]
            case ast.Compare():
                parts = [node.left, *node.comparators]
                if any(type(op) not in _COMPARED for op in node.ops):
                    raise RefusedError(f"expected an expression, found `{self.text}`")
            case ast.Call(func=ast.Name(id=kind), args=[only], keywords=[]) if can_show(kind):
                parts = [only]
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=space), attr=kind)) if (
                space[:-1] in _SPACES
            ):
                if not can_show(kind):
                    raise RefusedError(f"expected a type such as `f32`, `s32` or `b8`, found `{kind}`")
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if len(parts) != (2 if space == "tmem_" else 1):
                    wanted = "LANE, COLUMN" if space == "tmem_" else "ADDRESS"
                    raise RefusedError(f"expected `{space[:-1]}.{kind}[{wanted}]`")
            case ast.Name(id=name) if name.startswith("n__"):
                parts = []
            case ast.Constant(value=int() | float()):
                parts = []
            case _:
                raise RefusedError(f"expected an expression, found `{self.text}`")
        for part in parts:
            self._check(part)

    @property
    def register(self) -> str | None:
        """The name, if the expression is nothing but one."""
        return self._names[0] if isinstance(self._body, ast.Name) else None

    def evaluate(self, names: ExpressionNames, rows: int) -> list[Row]:
        """The value in each lane of each row. Raises RefusedError: a name stands for nothing, or no value."""
        return self._evaluate(self._body, names, rows)

    def _evaluate(self, node: ast.expr, names: ExpressionNames, rows: int) -> list[Row]:
        match node:
            case ast.Constant():
                return [[node.value] * 32] * rows
            case ast.Name(id=name):
                return _values(*names.read(self._names[int(name[3:])]))
            case ast.Call(func=ast.Name(id=kind), args=[ast.Name(id=name)]) if name.startswith("n__"):
                bits, own = names.read(self._names[int(name[3:])])
                if DTYPES[own].bits != DTYPES[kind].bits:
                    raise RefusedError(f"expected {DTYPES[kind].bits} bits for `{kind}`, found `{own}`")
                return _values(bits, kind)
            case ast.Call():
                raise RefusedError("expected a register whose bits are to be taken as another type")
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=space), attr=kind), slice=at):
                where = [
                    self._evaluate(part, names, rows)
                    for part in (at.elts if isinstance(at, ast.Tuple) else [at])
                ]
                return [
                    _each(
                        lambda *at, row=row: _read(names, space[:-1], row, kind, at), *(w[row] for w in where)
                    )
                    for row in range(rows)
                ]
            case ast.UnaryOp(op=unary, operand=inner):
                function = _UNARY[type(unary)]
                return [_each(function, row) for row in self._evaluate(inner, names, rows)]
            case ast.BinOp(left=left, op=binary, right=right):
                sides = self._evaluate(left, names, rows), self._evaluate(right, names, rows)
                return [_each(_BINARY[type(binary)], *pair) for pair in zip(*sides, strict=True)]
            case ast.BoolOp(op=boolean, values=parts):
                found = [self._evaluate(part, names, rows) for part in parts]
                decide = all if isinstance(boolean, ast.And) else any
                return [_each(lambda *v: decide(v), *lanes) for lanes in zip(*found, strict=True)]
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides_of = [self._evaluate(part, names, rows) for part in (left, *others)]
                tests = [_COMPARED[type(op)] for op in ops]

                def holds(*v: Any) -> bool:
                    return all(test(a, b) for test, a, b in zip(tests, v, v[1:], strict=False))

                return [_each(holds, *lanes) for lanes in zip(*sides_of, strict=True)]
        raise AssertionError(ast.dump(node))


def _values(bits: list[list[KnownBits | None]], kind: str) -> list[Row]:
    def one(found: KnownBits | None) -> Any:
        if found is None:
            return None
        return UNDEFINED if found.undefined else value_of(found, kind)

    return [[one(found) for found in row] for row in bits]


def _each(function: Callable[..., Any], *rows: Row) -> Row:
    """A function of each lane, where the lane is here and nothing undefined."""

    def one(given: tuple[Any, ...]) -> Any:
        if any(value is None for value in given):
            return None
        if any(value is UNDEFINED for value in given):
            return UNDEFINED
        try:
            return function(*given)
        except (TypeError, ValueError, OverflowError) as problem:
            raise RefusedError(f"an operator does not fit its operands: {problem}") from None

    return [one(given) for given in zip(*rows, strict=True)]


def _read(names: ExpressionNames, space: str, row: int, kind: str, at: tuple[Any, ...]) -> Any:
    if any(not isinstance(part, int) or part < 0 for part in at):
        raise RefusedError(f"expected an address, found `{at[0]}`")
    found = names.memory(space, row, kind, at)
    return UNDEFINED if found.undefined else value_of(found, kind)
