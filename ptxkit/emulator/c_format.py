"""C's formatted output, as the host writes what device code prints.

Programming guide, formatted output: flags, width, precision, sizes h, l, ll and the conversions of C. What is
printed is what glibc prints, as seen with the driver's host side on Linux.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([a-zA-Z%])")
"""Flags, width, precision, length and kind of a conversion."""
INTEGERS = frozenset("diouxX")
FLOATS = frozenset("eEfFgGaA")
SIZES = {"hh": 1, "h": 2, "l": 8, "ll": 8, "j": 8, "z": 8, "t": 8}
"""Bytes of an integer by its length; 4 without one."""


def formatted(form: str, take: Callable[[str], int | float | str | None]) -> str:
    """A format with its arguments put in.

    Args:
        form: the format.
        take: gives the next argument: `int` and `long` as an unsigned integer of 4 or 8 bytes, `double` as a
            float, `string` as a text or None for a null pointer, `pointer` as an integer.
    """

    def convert(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        if width == "*":
            number = signed(_integer(take("int")), 4)
            flags, width = (flags + "-", str(-number)) if number < 0 else (flags, str(number))
        if precision == "*":
            number = signed(_integer(take("int")), 4)
            precision = str(number) if number >= 0 else None
        digits = None if precision is None else int(precision or 0)
        if kind in INTEGERS:
            size = SIZES.get(length or "", 4)
            value = _integer(take("long" if size == 8 else "int")) & ((1 << 8 * size) - 1)
            text = _integer_text(signed(value, size) if kind in "di" else value, kind, flags, digits)
            flags = flags if digits is None else flags.replace("0", "")
        elif kind in FLOATS:
            value_ = take("double")
            assert isinstance(value_, float)
            text = _real(value_, kind, flags, digits)
            flags = flags if math.isfinite(value_) else flags.replace("0", "")
        elif kind in "csp":
            flags = flags.replace("0", "")
            text = _text(kind, digits, take)
        else:
            # As seen with device code on an H200, which drops what it does not know.
            return "%"
        return _padded(text, flags, int(width or 0))

    return CONVERSION.sub(convert, form)


def signed(value: int, size: int) -> int:
    """An unsigned integer of `size` bytes as a signed one."""
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def _integer(value: int | float | str | None) -> int:
    assert isinstance(value, int)
    return value


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer_text(value: int, kind: str, flags: str, digits: int | None) -> str:
    base = {"o": "o", "x": "x", "X": "X"}.get(kind, "d")
    text = "" if digits == 0 and value == 0 else f"{abs(value):{base}}"
    text = text.rjust(digits or 0, "0")
    if "#" in flags and kind == "o" and not text.startswith("0"):
        text = "0" + text
    if "#" in flags and kind in "xX" and value:
        text = f"0{kind}{text}"
    return (_sign(value < 0, flags) if kind in "di" else "") + text


def _real(value: float, kind: str, flags: str, digits: int | None) -> str:
    sign = _sign(math.copysign(1.0, value) < 0, flags)
    value = abs(value)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        return sign + (text.upper() if kind.isupper() else text)
    if kind in "aA":
        text = _hexadecimal(value, "#" in flags, digits)
        return sign + (text.upper() if kind == "A" else text)
    number = 6 if digits is None else digits
    return sign + f"%{'#' if '#' in flags else ''}.{number}{kind}" % value


def _hexadecimal(value: float, point: bool, digits: int | None) -> str:
    fraction, exponent = math.frexp(value)
    whole = int(fraction * 2.0**53)
    if value == 0:
        exponent = 1
    elif exponent - 1 < -1022:
        # A subnormal number begins with 0.
        whole, exponent = whole >> -1021 - exponent, -1021
    if digits is not None and digits < 13:
        drop = 4 * (13 - digits)
        whole = round(whole / 2**drop) if whole < 2**53 and drop <= 52 else whole >> drop
        places = digits
    else:
        places = 13 if digits is None else digits
        whole <<= 4 * (places - 13)
    head, tail = divmod(whole, 16**places)
    text = f"{tail:0{places}x}" if places else ""
    if digits is None:
        text = text.rstrip("0")
    return f"0x{head}{'.' if text or point else ''}{text}p{exponent - 1:+d}"


def _text(kind: str, digits: int | None, take: Callable[[str], int | float | str | None]) -> str:
    if kind == "c":
        return chr(_integer(take("int")) & 0xFF)
    if kind == "p":
        pointer = _integer(take("pointer"))
        return f"{pointer:#x}" if pointer else "(nil)"
    found = take("string")
    if found is None:
        return "(null)" if digits is None or digits >= 6 else ""
    assert isinstance(found, str)
    return found[:digits]


def _padded(text: str, flags: str, width: int) -> str:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags:
        sign = re.match(r"[-+ ]?(0[xX])?", text)
        assert sign is not None
        return sign[0] + text[sign.end() :].rjust(width - sign.end(), "0")
    return text.rjust(width)
