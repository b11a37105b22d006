"""IEEE 754 arithmetic on fractions, written from the standard: the reference of the numerics' tests.

Numbers are codes (the bits, as an int) of a `Form`. Nothing of ptxkit is used here.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Form:
    exponent_bits: int
    fraction_bits: int
    nan: int  # the NaN that operations are expected to return
    hands_on: bool = False  # whether it is that of an operand, made quiet, where one is a NaN

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def sign(self) -> int:
        return 1 << self.width - 1


F16 = Form(5, 10, 0x7FFF)
BF16 = Form(8, 7, 0x7FFF)
F32 = Form(8, 23, 0x7FFFFFFF)
F64 = Form(11, 52, 0xFFF8000000000000, hands_on=True)


def is_nan(form: Form, code: int) -> bool:
    return code & form.sign - 1 > form.infinity


def is_infinite(form: Form, code: int) -> bool:
    return code & form.sign - 1 == form.infinity


def nan_of(form: Form, *codes: int) -> int:
    """The NaN that comes of operands, given in the order in which theirs go before others'."""
    if form.hands_on:
        for code in codes:
            if is_nan(form, code):
                return code | 1 << form.fraction_bits - 1
    return form.nan


def number(form: Form, code: int) -> Fraction:
    """The value of a finite code."""
    exponent = code >> form.fraction_bits & (1 << form.exponent_bits) - 1
    significand = code & (1 << form.fraction_bits) - 1
    if exponent:
        significand += 1 << form.fraction_bits
    if code & form.sign:
        significand = -significand
    scale = max(exponent, 1) - form.bias - form.fraction_bits
    return Fraction(significand << scale) if scale >= 0 else Fraction(significand, 1 << -scale)


def ordered(form: Form, code: int) -> int:
    """An integer that grows with the value; -0 comes just below +0."""
    return -(code & form.sign - 1) - 1 if code & form.sign else code


def magnitude_exponent(x: Fraction) -> int:
    """The e with 2^e <= x < 2^(e+1)."""
    n, d = x.numerator, x.denominator
    e = n.bit_length() - d.bit_length()
    reached = n >= d << e if e >= 0 else n << -e >= d
    return e if reached else e - 1


def rounded(form: Form, x: Fraction, mode: str, zero_sign: int = 0) -> int:
    """The code nearest to `x`; `rna` is to nearest with ties away from zero."""
    if x == 0:
        return form.sign * zero_sign
    negative = x < 0
    x = abs(x)
    lowest = 1 - form.bias
    exponent = max(magnitude_exponent(x), lowest)
    # x / 2^unit = whole + rest / divisor
    unit = exponent - form.fraction_bits
    n, divisor = x.numerator, x.denominator
    n, divisor = (n, divisor << unit) if unit >= 0 else (n << -unit, divisor)
    whole, rest = divmod(n, divisor)
    match mode:
        case "rn":
            up = 2 * rest > divisor or (2 * rest == divisor and whole & 1)
        case "rna":
            up = 2 * rest >= divisor
        case "rz":
            up = False
        case _:
            up = rest > 0 and negative == (mode == "rm")
    code = ((exponent - lowest) << form.fraction_bits) + whole + bool(up)
    if code >= form.infinity:
        outward = mode in ("rn", "rna") or mode == ("rm" if negative else "rp")
        code = form.infinity if outward else form.infinity - 1
    return code | form.sign * negative


def fma(form: Form, a: int, b: int, c: int, mode: str) -> int:
    if any(is_nan(form, x) for x in (a, b, c)):
        return nan_of(form, b, c, a)
    sign = (a ^ b) & form.sign
    if is_infinite(form, a) or is_infinite(form, b):
        other = b if is_infinite(form, a) else a
        if other & form.sign - 1 == 0 or (is_infinite(form, c) and c & form.sign != sign):
            return form.nan
        return sign | form.infinity
    if is_infinite(form, c):
        return c
    product = number(form, a) * number(form, b)
    total = product + number(form, c)
    c_sign = c & form.sign
    zero_sign = bool(sign) if sign == c_sign else mode == "rm"
    return rounded(form, total, mode, int(zero_sign))


def add(form: Form, a: int, b: int, mode: str) -> int:
    return fma(form, a, (form.bias << form.fraction_bits), b, mode)


def subtract(form: Form, a: int, b: int, mode: str) -> int:
    return add(form, a, b if is_nan(form, b) else b ^ form.sign, mode)


def multiply(form: Form, a: int, b: int, mode: str) -> int:
    return fma(form, a, b, (a ^ b) & form.sign, mode)


def divide(form: Form, a: int, b: int, mode: str) -> int:
    sign = (a ^ b) & form.sign
    a_infinite, b_infinite = is_infinite(form, a), is_infinite(form, b)
    a_zero, b_zero = a & form.sign - 1 == 0, b & form.sign - 1 == 0
    if is_nan(form, a) or is_nan(form, b) or (a_infinite and b_infinite) or (a_zero and b_zero):
        return nan_of(form, a, b)
    if a_infinite or b_zero:
        return sign | form.infinity
    if b_infinite:
        return sign
    return rounded(form, number(form, a) / number(form, b), mode, int(bool(sign)))


def square_root(form: Form, a: int, mode: str) -> int:
    if a & form.sign - 1 == 0 or a == form.infinity:
        return a
    if is_nan(form, a) or a & form.sign:
        return nan_of(form, a)
    x = number(form, a)
    # An integer root with 200 bits to spare; the last bit stands for all that follow.
    bits = 400 - magnitude_exponent(x) // 2 * 2
    scaled = x * Fraction(2) ** bits
    assert scaled.denominator == 1
    root = isqrt(scaled.numerator)
    inexact = root * root != scaled.numerator
    return rounded(form, Fraction(2 * root + inexact) / Fraction(2) ** (bits // 2 + 1), mode)


def flush(form: Form, code: int) -> int:
    """What `.ftz` makes of a code."""
    exponent = code >> form.fraction_bits & (1 << form.exponent_bits) - 1
    return code if exponent else code & form.sign


def is_tiny(form: Form, x: Fraction, mode: str) -> bool:
    """Whether `x`, rounded to the form's precision as if exponents had no end, is below its least normal."""
    least = Fraction(2) ** (1 - form.bias)
    scale = Fraction(2) ** (form.bias // 2)
    return abs(number(form, rounded(form, x * scale, mode))) < least * scale


def flushed(form: Form, code: int, x: Fraction | None, mode: str) -> int:
    """What `.ftz` makes of a result `code`, the rounded `x` (None where it is no number)."""
    tiny = code & form.sign - 1 == 1 << form.fraction_bits and x is not None and is_tiny(form, x, mode)
    return code & form.sign if tiny else flush(form, code)


def specials(form: Form) -> list[int]:
    """Zeros, subnormals, powers of two, neighbours of all these, the ends of the range, infinities, NaN."""
    one = form.bias << form.fraction_bits
    unit = 1 << form.fraction_bits
    middle = 1 << form.fraction_bits // 2
    magnitudes = [
        0, 1, 2, 3, unit // 2, unit - 1, unit, unit + 1, 2 * unit - 1, one - unit, one - 1, one, one + 1,
        one + middle, one + unit // 2, one + unit - 1, one + unit, one + unit + 1, one + form.bias // 2 *
        unit, one - form.bias // 2 * unit, form.infinity - unit, form.infinity - 2, form.infinity - 1,
        form.infinity, form.infinity + 1, form.nan & form.sign - 1,
    ]  # fmt: skip
    return [code | sign for code in magnitudes for sign in (0, form.sign)]


def numbers(form: Form, count: int, seed: int) -> list[int]:
    """Codes of many kinds: any bits; exponents close together; significands of few bits, of long runs."""
    source = random.Random(seed)
    center = source.randrange(1 << form.exponent_bits)
    result = []
    for _ in range(count):
        kind = source.randrange(6)
        code = source.getrandbits(form.width)
        if kind:
            exponent = (center + source.randrange(-form.fraction_bits - 4, form.fraction_bits + 4)) % (
                1 << form.exponent_bits
            )
            fraction = code & (1 << form.fraction_bits) - 1
            if kind == 2:
                fraction &= -1 << source.randrange(form.fraction_bits)
            elif kind == 3:
                fraction = (1 << form.fraction_bits) - (1 << source.randrange(form.fraction_bits))
            elif kind == 4:
                fraction = (1 << source.randrange(form.fraction_bits)) ^ (
                    1 << source.randrange(form.fraction_bits)
                )
            if kind == 5:
                exponent = source.choice((0, 0, 1, form.bias, (1 << form.exponent_bits) - 2))
            code = code & form.sign | exponent << form.fraction_bits | fraction
        result.append(code)
    return result
