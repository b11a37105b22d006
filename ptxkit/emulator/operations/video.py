"""Scalar and SIMD video instructions. PTX ISA 9.7.18.

Sources are 32-bit words of which parts are selected (`%r1.h1`); the arithmetic runs on int64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.numerics import bits
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.operations.comparison import INTEGER
from ptxkit.isa.modifiers import MemoryOperation, Mode

operation = Operations("video")

PARTS: dict[str | None, tuple[int, int]] = {
    None: (0, 32),
    "h0": (0, 16),
    "h1": (16, 16),
    **{f"b{i}": (8 * i, 8) for i in range(4)},
}
"""Lowest bit and width of each part of a word."""


def extract(word: Any, low: int, size: int, signed: bool) -> Any:
    """Bits of a uint32 word, extended to int64."""
    field = word << np.uint32(32 - low - size)
    if signed:
        return (bits.signed(field) >> np.int32(32 - size)).astype(np.int64)
    return (field >> np.uint32(32 - size)).astype(np.int64)


def limits(size: int, signed: bool) -> tuple[int, int]:
    """The least and greatest integer of a width."""
    return (-1 << size - 1, (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)


def absolute_difference(a: Any, b: Any) -> Any:
    """`|a - b|`."""
    return np.abs(a - b)


def average(a: Any, b: Any) -> Any:
    """Half of `a + b`, rounded away from 0 where it is not negative, up else."""
    return (a + b + (a + b >= 0)) >> np.int64(1)


def low_word(value: Any) -> Any:
    """The lower 32 bits of int64."""
    return bits.unsigned(value).astype(np.uint32)


def words(instruction: Decoded, function: Callable[..., Any]) -> Pure:
    """A function of words, which come as bits."""
    return computes(
        instruction, function, results=("b32",), sources=("b32",) * len(instruction.values(written=False))
    )


def signed(instruction: Decoded, slot: str) -> bool:
    """Whether the type in a slot is signed."""
    return bool(instruction[slot].is_signed)


def scalar(
    instruction: Decoded,
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
        signs: whether the destination, `a` and `b` are signed.
        main: gets `a` and `b` as int64.
        clamp: `.sat`: gets the result and the size of the part of the destination.
        narrow: whether a secondary operation gets the result's lower 32 bits, extended by their sign.
    """
    secondary, merge = instruction["op2"], instruction.selector("d") is not None
    place, size = PARTS[instruction.selector("d")]
    (a_low, a_size), (b_low, b_size) = PARTS[instruction.selector("a")], PARTS[instruction.selector("b")]
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
        if secondary is MemoryOperation.ADD:
            return word + c
        result = (bits.signed(word).astype(np.int64) if narrow else result).astype(compared)
        other = extract(c, 0, 32, signs[0]).astype(compared)
        return low_word((np.minimum if secondary is MemoryOperation.MIN else np.maximum)(result, other))

    return words(instruction, function)


def arithmetic(main: Callable[[Any, Any], Any], narrow: bool = False) -> Callable[[Decoded], Pure]:
    """PTX ISA 9.7.18.1.1, as measured on an H200.

    Without a part of the destination, `.sat` to u32 does not clamp what is too large. With a part, everything
    that is negative or too large becomes the greatest value of the part, and never its least one.
    """

    def made(instruction: Decoded) -> Pure:
        signs = (signed(instruction, "dtype"), signed(instruction, "atype"), signed(instruction, "btype"))

        def clamp(result: Any, size: int) -> Any:
            least, greatest = (np.int64(bound) for bound in limits(size, signs[0]))
            if size < 32:
                return np.where((result >= 0) & (result <= greatest), result, greatest)
            return np.clip(result, least, greatest) if signs[0] else np.maximum(result, least)

        return scalar(instruction, signs, main, clamp if instruction["sat"] else None, narrow)

    return made


operation("vadd")(arithmetic(np.add, narrow=True))
operation("vsub")(arithmetic(np.subtract, narrow=True))
operation("vabsdiff")(arithmetic(absolute_difference))
operation("vmin")(arithmetic(np.minimum))
operation("vmax")(arithmetic(np.maximum))


def shift(operate: Callable[[Any, Any], Any]) -> Callable[[Decoded], Pure]:
    """PTX ISA 9.7.18.1.2, as measured on an H200: `.sat` takes the lower 34 bits of the shifted value as a
    signed number and clamps it to 32 bits, whatever part of the destination is written."""

    def made(instruction: Decoded) -> Pure:
        signs = (signed(instruction, "dtype"), signed(instruction, "atype"), False)
        saturate, wrap = instruction["sat"] is not None, instruction["mode"] is Mode.WRAP
        least, greatest = (np.int64(bound) for bound in limits(32, signs[0]))
        beyond = np.int64(64 - 34)

        def main(a: Any, b: Any) -> Any:
            return operate(a, b & np.int64(31) if wrap else np.minimum(b, np.int64(32)))

        def clamp(result: Any, _: int) -> Any:
            return np.clip(result << beyond >> beyond, least, greatest)

        return scalar(instruction, signs, main, clamp if saturate else None, narrow=saturate)

    return made


operation("vshl")(shift(np.left_shift))
operation("vshr")(shift(np.right_shift))


@operation("vset")
def compare(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.18.1.4, as measured on an H200: a secondary operation takes `c` in the sign of `a`."""
    signs = (signed(instruction, "atype"), signed(instruction, "btype"))
    test = INTEGER[instruction["cmp"]]
    return scalar(
        instruction, (signs[0], *signs), lambda a, b: test(a, b).astype(np.int64), None, narrow=False
    )


@operation("vmad")
def multiply_add(instruction: Decoded) -> Pure:
    """PTX ISA 9.7.18.1.3, as measured on an H200.

    A whole word of `a`, `b` or `c` counts as signed, even where its type is unsigned. Where the final result
    is unsigned, scaling shifts zeros into its 64 bits, but `.sat` still takes them as signed.
    """
    a_signed, b_signed = signed(instruction, "atype"), signed(instruction, "btype")
    plus_one, saturate, scale = instruction["po"] is not None, instruction["sat"], instruction["scale"] or 0
    negative, negative_c = instruction.negated("a") != instruction.negated("b"), instruction.negated("c")
    any_sign = a_signed or b_signed or negative or negative_c
    (a_low, a_size), (b_low, b_size) = PARTS[instruction.selector("a")], PARTS[instruction.selector("b")]
    least, greatest = (np.int64(bound) for bound in limits(32, any_sign))

    def function(a: Any, b: Any, c: Any) -> Any:
        product = extract(a, a_low, a_size, a_signed or a_size == 32)
        product = product * extract(b, b_low, b_size, b_signed or b_size == 32)
        addend = extract(c, 0, 32, True)
        result = (-product if negative else product) + (-addend if negative_c else addend)
        result = result + np.int64(plus_one)
        if any_sign:
            result = result >> np.int64(scale)
        else:
            result = bits.signed(bits.unsigned(result) >> np.uint64(scale))
        return low_word(np.clip(result, least, greatest) if saturate else result)

    return words(instruction, function)


def simd(
    instruction: Decoded, count: int, signs: tuple[bool, bool, bool], main: Callable[[Any, Any], Any]
) -> Pure:
    """A SIMD video instruction around its operation on int64, on `count` lanes one by one."""
    size, saturate, accumulate = 32 // count, instruction["sat"], instruction["add"]
    a_lanes = parts(instruction, "a", range(count))
    b_lanes = parts(instruction, "b", range(count, 2 * count))
    written = sorted(parts(instruction, "d", range(count)))
    least, greatest = (np.int64(bound) for bound in limits(size, signs[0]))
    field = (1 << size) - 1

    def function(a: Any, b: Any, c: Any) -> Any:
        result = c
        for lane in written:
            operands = []
            for source, is_signed in ((a_lanes[lane], signs[1]), (b_lanes[lane], signs[2])):
                word = b if source >= count else a
                operands.append(extract(word, source % count * size, size, is_signed))
            value = main(*operands)
            word = low_word(np.clip(value, least, greatest) if saturate else value)
            if accumulate:
                result = result + word
            else:
                place = lane * size
                kept = np.uint32(0xFFFFFFFF ^ field << place)
                result = (result & kept) | (word & np.uint32(field)) << np.uint32(place)
        return result

    return words(instruction, function)


def parts(instruction: Decoded, operand: str, default: Iterable[int]) -> list[int]:
    """The numbers of an operand's selector, the last first: of `.b3210` 0, 1, 2, 3.

    Of `a` and `b` they say for each lane which part of the two sources comes there, of the destination which
    lanes are written.
    """
    selector = instruction.selector(operand)
    return [int(digit) for digit in reversed(selector[1:])] if selector is not None else list(default)


def simd_arithmetic(count: int, main: Callable[[Any, Any], Any]) -> Callable[[Decoded], Pure]:
    """PTX ISA 9.7.18.2.1 and 9.7.18.2.3."""

    def made(instruction: Decoded) -> Pure:
        signs = (signed(instruction, "dtype"), signed(instruction, "atype"), signed(instruction, "btype"))
        return simd(instruction, count, signs, main)

    return made


def simd_compare(count: int) -> Callable[[Decoded], Pure]:
    """PTX ISA 9.7.18.2.2 and 9.7.18.2.4."""

    def made(instruction: Decoded) -> Pure:
        test = INTEGER[instruction["cmp"]]
        signs = (False, signed(instruction, "atype"), signed(instruction, "btype"))
        return simd(instruction, count, signs, lambda a, b: test(a, b).astype(np.int64))

    return made


for lanes in (2, 4):
    operation(f"vadd{lanes}")(simd_arithmetic(lanes, np.add))
    operation(f"vsub{lanes}")(simd_arithmetic(lanes, np.subtract))
    operation(f"vavrg{lanes}")(simd_arithmetic(lanes, average))
    operation(f"vabsdiff{lanes}")(simd_arithmetic(lanes, absolute_difference))
    operation(f"vmin{lanes}")(simd_arithmetic(lanes, np.minimum))
    operation(f"vmax{lanes}")(simd_arithmetic(lanes, np.maximum))
    operation(f"vset{lanes}")(simd_compare(lanes))
