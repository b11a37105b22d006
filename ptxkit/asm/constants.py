"""The value of a constant expression. PTX ISA 4.5.4 to 4.5.6."""

from __future__ import annotations

import struct

from ptxkit.asm.tree import Binary, Conditional, Float, Integer, Name, Operand, Parenthesized, Unary

_MASK = (1 << 64) - 1


def constant_value(operand: Operand) -> int | None:
    """The integer that an operand stands for, or None where it is not an integer constant.

    Negative numbers come out negative, as they are meant, though PTX computes in 64 bits.
    """
    if isinstance(operand, Integer):
        return operand.value if operand.value <= _MASK else operand.value & _MASK
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
    """The number that a floating-point literal stands for, negative with a minus before it; or None."""
    if isinstance(operand, Unary) and operand.operator == "-":
        value = number(operand.operand)
        return None if value is None else -value
    if not isinstance(operand, Float):
        return None
    if operand.width == 32:
        return float(struct.unpack("<f", operand.bits.to_bytes(4, "little"))[0])
    return float(struct.unpack("<d", operand.bits.to_bytes(8, "little"))[0])


def overflows(literal: Float) -> bool:
    """Whether a decimal literal is beyond the normal 64-bit numbers, too large or too small."""
    exponent = literal.bits >> 52 & 0x7FF
    if literal.width != 64 or 0 < exponent < 0x7FF or (literal.text or "0d").lower().startswith("0d"):
        return False
    digits = (literal.text or "").lower().partition("e")[0]
    return exponent == 0x7FF or any(digit in "123456789" for digit in digits)


def literal_kind(operand: Operand) -> str | None:
    """`int` or `float` for a constant expression, empty for one whose operands don't fit; None for others.

    Both sides of an operator are of one kind, `~ ! % & | ^ << >> && || ?:` and casts take integers, and
    nothing is divided by zero.
    """
    if isinstance(operand, Integer):
        return "int"
    if isinstance(operand, Float):
        return "float"
    if isinstance(operand, Name):
        return "int" if operand.name == "WARP_SZ" else None
    if isinstance(operand, Parenthesized):
        return literal_kind(operand.inner)
    if isinstance(operand, Unary):
        kind = literal_kind(operand.operand)
        return "" if kind == "float" and operand.operator not in ("-", "+") else kind
    if isinstance(operand, Conditional):
        parts = [literal_kind(part) for part in (operand.condition, operand.then, operand.otherwise)]
        return None if None in parts else "int" if parts == ["int"] * 3 else ""
    if isinstance(operand, Binary):
        left, right = literal_kind(operand.left), literal_kind(operand.right)
        if left is None or right is None:
            return None
        if left != right or (left == "float" and operand.operator in _OF_INTEGERS):
            return ""
        if operand.operator == "/" and constant_value(operand.right) == 0:
            return ""
        return "int" if operand.operator in _TRUTHS else left
    return None


_OF_INTEGERS = frozenset(("%", "&", "|", "^", "<<", ">>", "&&", "||"))
_TRUTHS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))
