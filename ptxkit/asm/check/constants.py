"""The value of a constant expression. PTX ISA 4.5.4 to 4.5.6."""

from __future__ import annotations

import struct

from ptxkit.asm.tree import (
    Binary,
    Conditional,
    Float,
    Integer,
    Name,
    Operand,
    Parenthesized,
    Unary,
)

_MASK = (1 << 64) - 1


def constant_value(operand: Operand) -> int | None:
    """The integer that an operand stands for, or None where it is no integer constant.

    Negative numbers come out negative, as they are meant, though PTX computes in 64 bits.
    """
    if isinstance(operand, Integer):
        return operand.value
    if isinstance(operand, Name):
        return 32 if operand.name == "WARP_SZ" else None
    if isinstance(operand, Parenthesized):
        return constant_value(operand.inner)
    if isinstance(operand, Unary):
        value = constant_value(operand.operand)
        if value is None:
            return None
        match operand.operator:
            case "-":
                return -value
            case "~":
                return ~value
            case "!":
                return int(not value)
        return value
    if isinstance(operand, Binary):
        return _binary(operand)
    if isinstance(operand, Conditional):
        condition = constant_value(operand.condition)
        if condition is None:
            return None
        return constant_value(operand.then if condition else operand.otherwise)
    return None


def _binary(operand: Binary) -> int | None:
    a, b = constant_value(operand.left), constant_value(operand.right)
    if a is None or b is None:
        return None
    match operand.operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            if b == 0:
                return None
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if operand.operator == "/" else a - b * quotient
        case "<<":
            return (a << (b & 63)) & _MASK
        case ">>":
            return a >> (b & 63)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "&&":
            return int(bool(a) and bool(b))
        case "||":
            return int(bool(a) or bool(b))
        case "<":
            return int(a < b)
        case ">":
            return int(a > b)
        case "<=":
            return int(a <= b)
        case ">=":
            return int(a >= b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
    return None


def number(operand: Operand) -> float | None:
    """The number that a floating-point literal stands for, or None."""
    if not isinstance(operand, Float):
        return None
    if operand.width == 32:
        return float(struct.unpack("<f", operand.bits.to_bytes(4, "little"))[0])
    return float(struct.unpack("<d", operand.bits.to_bytes(8, "little"))[0])
