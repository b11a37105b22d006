"""Scalar and SIMD video instructions. PTX ISA 9.7.18.

Sources are 32-bit words of which parts are selected (`%r1.h1`); the arithmetic runs on int64, which holds
every intermediate result but those of `vmad` and of a saturating `vshl`.
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
SECONDARY: dict[str, Callable[[Any, Any], Any]] = {"add": np.add, "min": np.minimum, "max": np.maximum}


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


def scalar(m: Modifiers, signs: tuple[bool, bool, bool], saturate: bool, main: Callable[..., Any]) -> Pure:
    """A scalar video instruction around its main operation.

    Args:
        m: the modifiers, of which a secondary operation is left.
        signs: whether the destination, `a` and `b` are signed.
        saturate: whether the main operation's result is clamped to the destination.
        main: gets `a` and `b` as int64 and the limits to clamp to, or None.
    """
    secondary = m.choose(*SECONDARY)
    place, size = part(m, 0)
    (a_low, a_size), (b_low, b_size) = part(m, 1), part(m, 2)
    merge = m.selector(0) is not None
    if secondary is not None and merge:
        raise Unsupported(f"`{m.opcode}.{secondary}` into a part of its destination")
    bounds = limits(size, signs[0]) if saturate else None
    field = np.uint32(((1 << size) - 1) << place)

    def function(a: Any, b: Any, c: Any = None) -> Any:
        result = main(extract(a, a_low, a_size, signs[1]), extract(b, b_low, b_size, signs[2]), bounds)
        if secondary is not None:
            result = SECONDARY[secondary](result, extract(c, 0, 32, signs[0]))
        word = low_word(result)
        return (word << np.uint32(place) & field) | (c & ~field) if merge else word

    count = 3 if merge or secondary is not None else 2
    return Pure(("b32",), ("b32",) * count, function)


def clamped(result: Any, bounds: tuple[int, int] | None) -> Any:
    """A result within bounds, where there are any."""
    return result if bounds is None else np.clip(result, np.int64(bounds[0]), np.int64(bounds[1]))


@pure("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def arithmetic(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.1."""
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")
    operate = ARITHMETIC[m.opcode]
    return scalar(m, signs, m.flag("sat"), lambda a, b, bounds: clamped(operate(a, b), bounds))


@pure("vshl", "vshr")
def shift(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.2."""
    signs = (m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32", False)
    m.need("u32")
    wrap = m.need("clamp", "wrap") == "wrap"
    left = m.opcode == "vshl"

    def main(a: Any, b: Any, bounds: tuple[int, int] | None) -> Any:
        amount = b & np.int64(31) if wrap else np.minimum(b, np.int64(32))
        if not left:
            return clamped(a >> amount, bounds)
        if bounds is None:
            return a << amount
        # Of 33 bits shifted by 32, f64 holds the exact value where int64 would wrap.
        exact = np.ldexp(a.astype(np.float64), amount.astype(np.int32))
        return np.clip(exact, np.float64(bounds[0]), np.float64(bounds[1])).astype(np.int64)

    return scalar(m, signs, m.flag("sat"), main)


@pure("vset")
def compare(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.4."""
    signs = (False, m.need("u32", "s32") == "s32", m.need("u32", "s32") == "s32")
    test = COMPARISONS[m.need(*COMPARISONS)]
    return scalar(m, signs, False, lambda a, b, _: test(a, b).astype(np.int64))


@pure("vmad")
def multiply_add(m: Modifiers) -> Pure:
    """PTX ISA 9.7.18.1.3."""
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
    bounds = limits(32, signed)
    half, mask = np.int64(32), np.int64(0xFFFFFFFF)

    def function(a: Any, b: Any, c: Any) -> Any:
        product = extract(a, a_low, a_size, a_signed) * extract(b, b_low, b_size, b_signed)
        # The result is high * 2^32 + low; a product of unsigned words may fill all 64 bits.
        high, low = product >> half, product & mask
        if not (a_signed or b_signed):
            high = high & mask
        if negative:
            high, low = -high, -low
        addend = extract(c, 0, 32, signed)
        low = low + (-addend if negative_c else addend) + np.int64(plus_one)
        high, low = high + (low >> half), low & mask
        low = ((high & np.int64((1 << scale) - 1)) << half | low) >> np.int64(scale)
        high = high >> np.int64(scale)
        if not saturate:
            return low_word(low)
        beyond = np.int64(1 << 30)
        return low_word(clamped(np.clip(high, -beyond, beyond) << half | low, bounds))

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
    bounds = limits(size, signs[0]) if saturate else None
    field = (1 << size) - 1

    def function(a: Any, b: Any, c: Any) -> Any:
        result = c
        for lane in sorted(written):
            operands = []
            for source, signed in ((a_lanes[lane], signs[1]), (b_lanes[lane], signs[2])):
                operands.append(extract(b if source >= count else a, source % count * size, size, signed))
            word = low_word(clamped(main(*operands), bounds))
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
