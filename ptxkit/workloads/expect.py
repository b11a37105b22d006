"""`expect`: what a tensor must hold after the launch, as a numpy-like expression.

    expect = "maximum(x, 0) @ w.T + bias"

Names are the file's tensors (as they were before the launch, floating-point ones in float64, integers in
64 bits) and its sizes. Operators, comparisons, indexing, the functions of `FUNCTIONS` and `.T` are all there
is: no other attribute, no names with underscores, nothing that could reach the machine.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptxkit.card.expression import COMPARE, parsed
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, listing

MAX_LENGTH = 2000


def _softmax(x: Any, axis: int = -1) -> Any:
    raised = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in (
            *("abs", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "sign", "square"),
            *("floor", "ceil", "round", "trunc", "maximum", "minimum", "where", "clip", "isnan", "isinf"),
            *("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "any", "all"),
            *("cumsum", "cumprod", "sort", "argsort", "dot", "matmul", "outer", "einsum", "transpose"),
            *("reshape", "concatenate", "stack", "flip", "roll", "repeat", "tile", "arange", "zeros", "ones"),
            *("full", "broadcast_to", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift"),
            *("right_shift", "float16", "float32", "float64", "int32", "int64", "uint32", "uint64"),
        )
    },
    "softmax": _softmax,
}
"""What an `expect` may call: numpy's functions of these names, and `softmax(x, axis=-1)`."""

CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf, "nan": np.nan}

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_HELP = "an `expect` has tensors, sizes, operators, comparisons, indexing, `.T` and numpy's usual functions"
_KNOWN = f"the functions are {', '.join(FUNCTIONS)}"


class Expect:
    """One checked expression.

    Args:
        text: the expression.
        names: the tensors and sizes that it may use.

    Raises:
        PtxkitError: P557, it holds something else.
    """

    def __init__(
        self, text: str, names: Mapping[str, Any], span: Span | None = None, source: Source | None = None
    ) -> None:
        self.text = text
        self._span = span
        self._source = source
        if len(text) > MAX_LENGTH:
            raise self._error(f"expected an `expect` of at most {MAX_LENGTH} characters, found {len(text)}")
        tree = parsed(text)
        if tree is None:
            raise self._error(f"expected an expression, found `{self._shown(text)}`")
        self._tree = tree
        self._check(tree, names)

    @staticmethod
    def _shown(text: str) -> str:
        return text if len(text) <= 60 else text[:57] + "..."

    def _error(self, message: str, help: str = _HELP) -> PtxkitError:
        return PtxkitError(Diagnostic("P557", message, self._span, help=help, source=self._source))

    def _check(self, tree: ast.expr, names: Mapping[str, Any]) -> None:
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) if id(node) in called:
                    if name not in FUNCTIONS:
                        near = difflib.get_close_matches(name, FUNCTIONS, 1)
                        help = f"did you mean `{near[0]}`?" if near else _KNOWN
                        raise self._error(f"expected one of numpy's usual functions, found `{name}`", help)
                case ast.Name(id=name):
                    if name not in names and name not in CONSTANTS:
                        listed = listing(names) or "none"
                        message = f"expected a tensor with initial content, or a size, found `{name}`"
                        raise self._error(message, f"there is {listed}")
                case ast.Call(func=ast.Name(), keywords=keywords):
                    if any(keyword.arg is None for keyword in keywords):
                        raise self._error("expected named arguments, found `**`")
                case ast.Attribute(attr="T") | ast.Subscript() | ast.Slice() | ast.Tuple() | ast.List():
                    pass
                case ast.Constant(value=value) if value is None or isinstance(value, (int, float, str)):
                    pass
                case ast.BinOp(op=op) if type(op) in _BINARY:
                    pass
                case ast.UnaryOp(op=op) if type(op) in _UNARY:
                    pass
                case ast.Compare(ops=[op]) if type(op) in COMPARE:
                    pass
                case ast.keyword() | ast.operator() | ast.unaryop() | ast.cmpop() | ast.expr_context():
                    pass
                case _:
                    found = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
                    raise self._error(f"expected an expression over tensors, found `{self._shown(found)}`")

    def evaluate(self, values: Mapping[str, Any]) -> np.ndarray:
        """Its value.

        Raises:
            PtxkitError: P557, numpy refuses the operation (shapes that don't fit, say), or memory ends.
        """
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self._value(self._tree, values))
        except (ValueError, TypeError, IndexError, ArithmeticError, MemoryError, RecursionError) as problem:
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise self._error(
                f"`{self._shown(self.text)}` fails: {reason}", "check shapes and types"
            ) from None

    def fitting(self, values: Mapping[str, Any], shape: tuple[int, ...]) -> np.ndarray:
        """Its value, broadcast to `shape`.

        Raises:
            PtxkitError: P557, as `evaluate`, or its shape is another.
        """
        value = self.evaluate(values)
        try:
            return np.broadcast_to(value, shape)
        except ValueError:
            message = f"expected the shape {list(shape)} of the tensor, found {list(value.shape)}"
            raise self._error(f"{message} in `{self._shown(self.text)}`", "check shapes and types") from None

    def _value(self, node: ast.expr | None, values: Mapping[str, Any]) -> Any:
        match node:
            case None:
                return None
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return values[name] if name in values else CONSTANTS[name]
            case ast.Attribute(value=inner):
                return np.asarray(self._value(inner, values)).T
            case ast.UnaryOp(op=unary, operand=operand):
                return _UNARY[type(unary)](self._value(operand, values))
            case ast.BinOp(left=left, op=binary, right=right):
                return self._binary(binary, self._value(left, values), self._value(right, values))
            case ast.Compare(left=left, ops=[compare], comparators=[right]):
                return COMPARE[type(compare)](self._value(left, values), self._value(right, values))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                named = {
                    keyword.arg: self._value(keyword.value, values) for keyword in keywords if keyword.arg
                }
                return FUNCTIONS[name](*(self._value(argument, values) for argument in arguments), **named)
            case ast.Subscript(value=inner, slice=index):
                return self._value(inner, values)[self._value(index, values)]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(self._value(part, values) for part in (lower, upper, step)))
            case ast.Tuple(elts=elements):
                return tuple(self._value(element, values) for element in elements)
            case ast.List(elts=elements):
                return [self._value(element, values) for element in elements]
        raise AssertionError(f"`{self.text}` was checked when it was made")

    def _binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        """Powers and shifts of plain integers go through float64 and 64 bits: they can't fill the memory."""
        if isinstance(left, int) and isinstance(right, int):
            if isinstance(op, ast.Pow):
                left = float(left)
            elif isinstance(op, ast.LShift | ast.RShift):
                left = np.int64(left)
        elif isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple):
            raise TypeError("operators take numbers and tensors")
        return _BINARY[type(op)](left, right)
