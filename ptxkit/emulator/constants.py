"""Constant operands and their bits. PTX ISA 4.5."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from ptxkit.asm import tree
from ptxkit.dtypes import DTYPES

_UNSIGNED = (1 << 64) - 1


def is_constant(operand: tree.Operand) -> bool:
    """Whether an operand is made of literals alone."""
    match operand:
        case tree.Integer() | tree.Float():
            return True
        case tree.Unary(operand=inner) | tree.Parenthesized(inner=inner):
            return is_constant(inner)
        case tree.Binary(left=left, right=right):
            return is_constant(left) and is_constant(right)
        case tree.Conditional():
            return True
    return isinstance(operand, tree.Name) and operand.name == "WARP_SZ"


def literal(operand: tree.Operand, type_name: str) -> int | None:
    """The bits of a constant as a type has them; None where the operand is no constant."""
    if not is_constant(operand):
        return None
    value = _evaluate(operand)
    dtype = DTYPES[type_name]
    if isinstance(value, tuple):
        bits, width = value
        return _float_bits(bits, width, type_name)
    return value & ((1 << max(dtype.bits, 1)) - 1) if dtype.bits > 1 else int(value != 0)


def _float_bits(bits: int, width: int, type_name: str) -> int:
    """A float literal's bits in another format; a type of another width takes the bits as they are."""
    wanted = DTYPES[type_name].bits
    if width == wanted:
        return bits
    if width == 64 and wanted == 32:
        number = struct.unpack("<d", struct.pack("<Q", bits))[0]
        with np.errstate(all="ignore"):
            return int(np.float32(number).view(np.uint32))
    if width == 32 and wanted == 64:
        number = struct.unpack("<f", struct.pack("<I", bits))[0]
        return int(np.float64(number).view(np.uint64))
    if wanted == 16 and type_name in ("f16", "b16"):
        number = struct.unpack("<d" if width == 64 else "<f", bits.to_bytes(width // 8, "little"))[0]
        with np.errstate(all="ignore"):
            return int(np.float16(number).view(np.uint16))
    return bits


def _evaluate(operand: tree.Operand) -> int | tuple[int, int]:
    """An integer, or the (bits, width) of a float."""
    match operand:
        case tree.Integer(value=value):
            return value
        case tree.Float(bits=bits, width=width):
            return bits, width
        case tree.Name():
            return 32
        case tree.Parenthesized(inner=inner):
            return _evaluate(inner)
        case tree.Unary(operator=operator, operand=inner):
            operand_value = _evaluate(inner)
            if isinstance(operand_value, tuple):
                bits, width = operand_value
                return (bits ^ 1 << (width - 1), width) if operator == "-" else operand_value
            return _unary(operator, operand_value)
        case tree.Binary(operator=operator, left=left, right=right):
            a, b = _evaluate(left), _evaluate(right)
            if isinstance(a, tuple) or isinstance(b, tuple):
                raise ArithmeticError("arithmetic on float literals")
            return _binary(operator, a, b)
        case tree.Conditional(condition=condition, then=then, otherwise=otherwise):
            return (
                _evaluate(then) if _evaluate(condition) not in (0, (0, 32), (0, 64)) else _evaluate(otherwise)
            )
    raise ArithmeticError("this is no constant")


def _unary(operator: str, value: int) -> int:
    if operator == "-":
        return -value
    if operator == "~":
        return ~value
    if operator == "!":
        return int(value == 0)
    if operator == "(.s64)":
        value &= _UNSIGNED
        return value - (1 << 64) if value >> 63 else value
    if operator == "(.u64)":
        return value & _UNSIGNED
    return value


def _binary(operator: str, a: int, b: int) -> int:
    if operator in ("/", "%"):
        if b == 0:
            raise ArithmeticError("division by zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    if operator in ("<<", ">>"):
        distance = b & _UNSIGNED
        if operator == "<<":
            return a << distance if distance < 64 else 0
        return a >> min(distance, 64)
    return _OPERATORS[operator](a, b)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}
