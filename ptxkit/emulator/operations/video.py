"""Scalar and SIMD video instructions. PTX ISA 9.7.18.

Sources are 32-bit words of which parts are selected (`%r1.h1`); the arithmetic runs on int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure

PARTS: dict[str | None, tuple[int, int]] = {
    None: (0, 32),
    "h0": (0, 16),
    "h1": (16, 16),
    **{f"b{i}": (8 * i, 8) for i in range(4)},
}
"""Lowest bit and width of each part of a word."""

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> np.int64(1),
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def extract(word: Any, low: int, size: int, signed: bool) -> Any:
    """Bits of a uint32 word, extended to int64."""
    field = word << np.uint32(32 - low - size)
    if signed:
        return (bits.signed(field) >> np.int32(32 - size)).astype(np.int64)
    return (field >> np.uint32(32 - size)).astype(np.int64)


def limits(size: int, signed: bool) -> tuple[int, int]:
    """The least and greatest integer of a width."""
    return (-1 << size - 1, (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)


def low_word(value: Any) -> Any:
    """The lower 32 bits of int64."""
    return bits.unsigned(value).astype(np.uint32)


def part(m: Modifiers, operand: int) -> tuple[int, int]:
    """The part that an operand's selector names.

    Raises:
        Unsupported: there is no such part.
    """
    selector = m.selector(operand)
    if selector not in PARTS:
        raise Unsupported(f"`{m.opcode}` with an operand's part `.{selector}`")
    return PARTS[selector]


def scalar(
    m: Modifiers,
    signs: tuple[bool, bool, bool],
    main: Callable[[Any, Any], Any],
    clamp: Callable[[Any, int], Any] | None,
    narrow: bool,
) -> Pure:
    """A scalar video instruction around its main operation, as measured on an H200.

    For sm_90 ptxas 13.0 and the driver 580.159.04 expand these instructions, not always as the manual has it.
    `.min` and `.max` compare all 64 bits of the intermediate result in the sign of the destination. What is
    merged into `.h1` is the upper half of the intermediate result, not the lower one.

    Args:
        m: the modifiers, of which a secondary operation is left.
        signs: whether the destination, `a` and `b` are signed.
        main: gets `a` and `b` as int64.
        clamp: `.sat`: gets the result and the size of the part of the destination.
        narrow: whether a secondary operation gets the result's lower 32 bits, extended by their sign.
    """
    secondary = m.choose("add", "min", "max")
    place, size = part(m, 0)
    (a_low, a_size), (b_low, b_size) = part(m, 1), part(m, 2)
    merge = m.selector(0) is not None
    if secondary is not None and merge:
        raise Unsupported(f"`{m.opcode}.{secondary}` into a part of its destination")
    field = np.uint32(((1 << size) - 1) << place)
    up = np.uint32(0 if size == 16 else place)
    compared = np.int64 if signs[0] else np.uint64

    def function(a: Any, b: Any, c: Any = None) -> Any:
        result = main(extract(a, a_low, a_size, signs[1]), extract(b, b_low, b_size, signs[2]))
        if clamp is not None:
            result = clamp(result, size)
        word = low_word(result)
        if merge:
            return (word << up & field) | (c & ~field)
        if secondary is None:
            return word
        if secondary == "add":
            return word + c
        result = (bits.signed(word).astype(np.int64) if narrow else result).astype(compared)
        other = extract(c, 0, 32, signs[0]).astype(compared)
        return low_word((np.minimum if secondary == "min" else np.maximum)(result, other))

    count = 3 if merge or secondary is not None else 2
    return Pure(("b32",), ("b32",) * count, function)


@pure("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def arithmetic(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.1, as measured on an H200.

    Without a part of the destination, `.sat` to u32 does not clamp what is too large. With a part, everything
    that is negative or too large becomes the greatest value of the part, and never its least one.
    """
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")

    def clamp(result: Any, size: int) -> Any:
        least, greatest = (np.int64(bound) for bound in limits(size, signs[0]))
        if size < 32:
            return np.where((result >= 0) & (result <= greatest), result, greatest)
        return np.clip(result, least, greatest) if signs[0] else np.maximum(result, least)

    saturating = clamp if m.flag("sat") else None
    return scalar(m, signs, ARITHMETIC[m.opcode], saturating, narrow=m.opcode in ("vadd", "vsub"))


@pure("vshl", "vshr")
def shift(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.2, as measured on an H200: `.sat` takes the lower 34 bits of the shifted value as a
    signed number and clamps it to 32 bits, whatever part of the destination is written."""
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32", False)
    m.need("u32")
    saturate, wrap = m.flag("sat"), m.need("clamp", "wrap") == "wrap"
    operate = np.left_shift if m.opcode == "vshl" else np.right_shift
    least, greatest = (np.int64(bound) for bound in limits(32, signs[0]))
    beyond = np.int64(64 - 34)

    def main(a: Any, b: Any) -> Any:
        return operate(a, b & np.int64(31) if wrap else np.minimum(b, np.int64(32)))

    def clamp(result: Any, _: int) -> Any:
        return np.clip(result << beyond >> beyond, least, greatest)

    return scalar(m, signs, main, clamp if saturate else None, narrow=saturate)


@pure("vset")
def compare(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.4, as measured on an H200: a secondary operation takes `c` in the sign of `a`."""
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")
    test = COMPARISONS[m.need(*COMPARISONS)]
    return scalar(m, (signs[0], *signs), lambda a, b: test(a, b).astype(np.int64), None, narrow=False)


@pure("vmad")
def multiply_add(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.3, as measured on an H200.

    A whole word of `a`, `b` or `c` counts as signed, even where its type is unsigned. Where the final result
    is unsigned, scaling shifts zeros into its 64 bits, but `.sat` still takes them as signed.
    """
    m.need("u32", "s32")
    a_signed, b_signed = m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32"
    plus_one, saturate = m.flag("po"), m.flag("sat")
    scale = {"shr7": 7, "shr15": 15}.get(m.choose("shr7", "shr15") or "", 0)
    negative, negative_c = m.negation(1) != m.negation(2), m.negation(3)
    if m.selector(0) is not None or m.selector(3) is not None:
        raise Unsupported("`vmad` with a part of `d` or `c`")
    if (plus_one and (m.negation(1) or m.negation(2) or negative_c)) or (negative and negative_c):
        raise Unsupported("`vmad` with these operands negated")
    signed = a_signed or b_signed or negative or negative_c
    (a_low, a_size), (b_low, b_size) = part(m, 1), part(m, 2)
    least, greatest = (np.int64(bound) for bound in limits(32, signed))

    def function(a: Any, b: Any, c: Any) -> Any:
        product = extract(a, a_low, a_size, a_signed or a_size == 32)
        product = product * extract(b, b_low, b_size, b_signed or b_size == 32)
        addend = extract(c, 0, 32, True)
        result = (-product if negative else product) + (-addend if negative_c else addend)
        result = result + np.int64(plus_one)
        if signed:
            result = result >> np.int64(scale)
        else:
            result = bits.signed(bits.unsigned(result) >> np.uint64(scale))
        return low_word(np.clip(result, least, greatest) if saturate else result)

    return Pure(("b32",), ("b32",) * 3, function)


def simd(
    m: Modifiers, saturate: bool, signs: tuple[bool, bool, bool], main: Callable[[Any, Any], Any]
) -> Pure:
    """A SIMD video instruction around its operation on int64, lane by lane."""
    count = int(m.opcode[-1])
    size = 32 // count
    letter = "h" if count == 2 else "b"
    everything = letter + "".join(str(lane) for lane in reversed(range(count)))
    others = letter + "".join(str(lane + count) for lane in reversed(range(count)))
    a_lanes = lanes(m, 1, everything, count)
    b_lanes = lanes(m, 2, others, count)
    mask = m.selector(0) or everything
    digits = mask[1:]
    if (
        mask[0] != letter
        or digits != "".join(sorted(set(digits), reverse=True))
        or digits[:1] > str(count - 1)
    ):
        raise Unsupported(f"`{m.opcode}` with mask `.{mask}`")
    written = {int(digit) for digit in digits}
    accumulate = m.flag("add")
    if accumulate and saturate:
        raise Unsupported(f"`{m.opcode}.sat.add`")
    least, greatest = (np.int64(bound) for bound in limits(size, signs[0]))
    field = (1 << size) - 1

    def function(a: Any, b: Any, c: Any) -> Any:
        result = c
        for lane in sorted(written):
            operands = []
            for source, signed in ((a_lanes[lane], signs[1]), (b_lanes[lane], signs[2])):
                operands.append(extract(b if source >= count else a, source % count * size, size, signed))
            value = main(*operands)
            word = low_word(np.clip(value, least, greatest) if saturate else value)
            if accumulate:
                result = result + word
            else:
                place = lane * size
                kept = np.uint32(0xFFFFFFFF ^ field << place)
                result = (result & kept) | (word & np.uint32(field)) << np.uint32(place)
        return result

    return Pure(("b32",), ("b32",) * 3, function)


def lanes(m: Modifiers, operand: int, default: str, count: int) -> list[int]:
    """For each lane, lowest first, which part of the two sources an operand's selector puts there.

    Raises:
        Unsupported: the selector isn't one of this instruction.
    """
    selector = m.selector(operand) or default
    digits = selector[1:]
    if (
        selector[0] != default[0]
        or len(digits) != count
        or not all("0" <= d < str(2 * count) for d in digits)
    ):
        raise Unsupported(f"`{m.opcode}` with an operand's parts `.{selector}`")
    return [int(digit) for digit in reversed(digits)]


@pure(*(f"{name}{count}" for name in ARITHMETIC for count in (2, 4)))
def simd_arithmetic(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.2.1 and 9.7.18.2.3."""
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")
    return simd(m, m.flag("sat"), signs, ARITHMETIC[m.opcode[:-1]])


@pure("vset2", "vset4")
def simd_compare(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.2.2 and 9.7.18.2.4."""
    signs = (False, m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")
    test = COMPARISONS[m.need(*COMPARISONS)]
    return simd(m, False, signs, lambda a, b: test(a, b).astype(np.int64))
