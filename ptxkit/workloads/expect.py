"""`expect`: what a tensor must hold after the launch, evaluated with numpy.

`ptxkit.card.expect` says what it may be. Names are the file's tensors (as they were before the launch,
floating-point ones in float64, integers in 64 bits) and its sizes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptxkit.card.expect import NUMPY, checked, refusal, shown
from ptxkit.card.expression import COMPARE
from ptxkit.diagnostics import PtxkitError, Source, Span


def _softmax(x: Any, axis: int = -1) -> Any:
    raised = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in NUMPY},
    "softmax": _softmax,
}
"""What an `expect` may call, `ptxkit.card.expect.FUNCTIONS`."""

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
        self._tree = checked(text, names, span, source)

    def _error(self, message: str, help: str) -> PtxkitError:
        return refusal(message, self._span, self._source, help)

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
            raise self._error(f"`{shown(self.text)}` fails: {reason}", "check shapes and types") from None

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
            raise self._error(f"{message} in `{shown(self.text)}`", "check shapes and types") from None

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
