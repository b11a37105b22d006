"""`expect`, what a tensor must hold after the launch, checked: a numpy-like expression.

    expect = "maximum(x, 0) @ w.T + bias"

Names are the file's tensors and its sizes. Operators, comparisons, indexing, the functions of `FUNCTIONS` and
`.T` are all there is: no other attribute, no names with underscores, nothing that could reach the machine.
`ptxkit.workloads.expect` evaluates it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ptxkit.card.expression import COMPARE, parsed
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, listing

MAX_LENGTH = 2000

NUMPY = (
    *("abs", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "sign", "square"),
    *("floor", "ceil", "round", "trunc", "maximum", "minimum", "where", "clip", "isnan", "isinf"),
    *("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "any", "all"),
    *("cumsum", "cumprod", "sort", "argsort", "dot", "matmul", "outer", "einsum", "transpose"),
    *("reshape", "concatenate", "stack", "flip", "roll", "repeat", "tile", "arange", "zeros", "ones"),
    *("full", "broadcast_to", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift"),
    *("right_shift", "float16", "float32", "float64", "int32", "int64", "uint32", "uint64"),
)
"""The functions that are numpy's."""
FUNCTIONS = (*NUMPY, "softmax")
"""What an `expect` may call: numpy's functions of these names, and `softmax(x, axis=-1)`."""
CONSTANTS = ("pi", "e", "inf", "nan")

BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitAnd,
          ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)  # fmt: skip
UNARY = (ast.UAdd, ast.USub, ast.Invert)
_HELP = "an `expect` has tensors, sizes, operators, comparisons, indexing, `.T` and numpy's usual functions"
_KNOWN = f"the functions are {', '.join(FUNCTIONS)}"


def shown(text: str) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= 60 else text[:57] + "..."


def refusal(message: str, span: Span | None, source: Source | None, help: str = _HELP) -> PtxkitError:
    """P557, at the place of the expression."""
    return PtxkitError(Diagnostic("P557", message, span, help=help, source=source))


def checked(
    text: str, names: Collection[str] | None, span: Span | None = None, source: Source | None = None
) -> ast.expr:
    """The tree of an expression.

    Args:
        text: the expression.
        names: the tensors and sizes that it may use; None where they are not known yet.

    Raises:
        PtxkitError: P557, it holds something else.
    """
    if len(text) > MAX_LENGTH:
        message = f"expected an `expect` of at most {MAX_LENGTH} characters, found {len(text)}"
        raise refusal(message, span, source)
    tree = parsed(text)
    if tree is None:
        raise refusal(f"expected an expression, found `{shown(text)}`", span, source)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if id(node) in called:
                if name not in FUNCTIONS:
                    message = f"expected one of numpy's usual functions, found `{name}`"
                    raise refusal(message, span, source, _near(name))
            case ast.Name(id=name):
                if names is not None and name not in names and name not in CONSTANTS:
                    listed = listing(names) or "none"
                    message = f"expected a tensor with initial content, or a size, found `{name}`"
                    raise refusal(message, span, source, f"there is {listed}")
            case ast.Call(func=ast.Name(), keywords=keywords):
                if any(keyword.arg is None for keyword in keywords):
                    raise refusal("expected named arguments, found `**`", span, source)
            case ast.Attribute(attr="T") | ast.Subscript() | ast.Slice() | ast.Tuple() | ast.List():
                pass
            case ast.Constant(value=value) if value is None or isinstance(value, (int, float, str)):
                pass
            case ast.BinOp(op=op) if type(op) in BINARY:
                pass
            case ast.UnaryOp(op=op) if type(op) in UNARY:
                pass
            case ast.Compare(ops=[op]) if type(op) in COMPARE:
                pass
            case ast.keyword() | ast.operator() | ast.unaryop() | ast.cmpop() | ast.expr_context():
                pass
            case _:
                found = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
                message = f"expected an expression over tensors, found `{shown(found)}`"
                raise refusal(message, span, source)
    return tree


def _near(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, FUNCTIONS, 1)
    return f"did you mean `{near[0]}`?" if near else _KNOWN
