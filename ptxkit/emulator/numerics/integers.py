"""Integer arithmetic: products wider than the operands, division, saturation, bit fields. PTX ISA 9.7.1.

Arguments are arrays of the operation's own integer type unless it says otherwise; results wrap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import (
    SIGNED,
    UNSIGNED,
    any_lane,
    count_ones,
    low_ones,
    ones_where,
    reverse,
    select,
    shift_left,
    shift_right,
    signed,
    unsigned,
    width,
)


def wide_type(dtype: np.dtype) -> type:
    """The integer type of twice the width."""
    return (SIGNED if dtype.kind == "i" else UNSIGNED)[16 * dtype.itemsize]


def multiply_wide(a: Any, b: Any) -> Any:
    """The full product of 16- or 32-bit words, in the type of twice the width."""
    wide = wide_type(a.dtype)
    return a.astype(wide) * b.astype(wide)


def multiply_high(a: Any, b: Any) -> Any:
    """The upper half of the full product."""
    size = width(a)
    if size < 64:
        product = multiply_wide(a, b)
        return (product >> product.dtype.type(size)).astype(a.dtype)
    x, y = unsigned(a), unsigned(b)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    x_low, x_high, y_low, y_high = x & mask, x >> half, y & mask, y >> half
    middle = x_high * y_low + (x_low * y_low >> half)
    carry = x_low * y_high + (middle & mask)
    high = x_high * y_high + (middle >> half) + (carry >> half)
    if a.dtype.kind == "i":
        high = high - (y & unsigned(a >> np.int64(63))) - (x & unsigned(b >> np.int64(63)))
    return high.view(a.dtype)


EVERY_FOURTH = 0x1111111111111111
"""Bits 0, 4, 8, .. of a word of 64."""


def carryless_low(a: Any, b: Any) -> Any:
    """The lower half of the product of 64-bit polynomials over GF(2).

    Bits are multiplied four apart, so that the at most 16 ones that meet in a place carry into no other place
    that is kept; the lowest bit of their sum is their sum modulo 2.
    """
    masks = [np.uint64(EVERY_FOURTH << i & 2**64 - 1) for i in range(4)]
    x, y = ([word & mask for mask in masks] for word in (a, b))
    result = np.uint64(0)
    for place, mask in enumerate(masks):
        terms = [x[i] * y[(place - i) % 4] for i in range(4)]
        result = result | (terms[0] ^ terms[1] ^ terms[2] ^ terms[3]) & mask
    return result


def carryless_high(a: Any, b: Any) -> Any:
    """The upper half: the lower half of the mirrored factors is the mirrored upper half, from bit 63 on."""
    return reverse(carryless_low(reverse(a), reverse(b))) >> np.uint64(1)


def divide(a: Any, b: Any) -> Any:
    """The quotient truncated toward zero. Divided by zero: all ones."""
    if a.dtype.kind == "u" and (np.ndim(b) == 0 or width(a) == 64):
        quotient = a // b
    elif width(a) < 64:
        # The quotient of 32-bit integers can't come closer to the next integer than f64 resolves.
        quotient = (a.astype(np.float64) / b.astype(np.float64)).astype(np.int64).astype(a.dtype)
    else:
        magnitude = unsigned(np.abs(a)) // unsigned(np.abs(b))
        quotient = select((a ^ b) < 0, np.negative(magnitude), magnitude).view(a.dtype)
    by_zero = b == 0
    return select(by_zero, ~np.zeros_like(quotient), quotient) if any_lane(by_zero) else quotient


def remainder(a: Any, b: Any) -> Any:
    """What `divide` leaves, with the sign of `a`. Divided by zero: all ones, as ptxas has it."""
    rest = a - divide(a, b) * b
    by_zero = b == 0
    return select(by_zero, ~np.zeros_like(rest), rest) if any_lane(by_zero) else rest


def clamp(value: Any, dtype: type | np.dtype) -> Any:
    """A value brought into the range of integer type `dtype`, and into that type."""
    limits, own = np.iinfo(dtype), np.iinfo(value.dtype)
    if limits.min > own.min:
        value = np.maximum(value, value.dtype.type(limits.min))
    if limits.max < own.max:
        value = np.minimum(value, value.dtype.type(limits.max))
    return value.astype(dtype)


def add_saturating(a: Any, b: Any) -> Any:
    """`a + b` on up to 32 bits, clamped."""
    return clamp(a.astype(np.int64) + b.astype(np.int64), a.dtype)


def subtract_saturating(a: Any, b: Any) -> Any:
    """`a - b` on up to 32 bits, clamped."""
    return clamp(a.astype(np.int64) - b.astype(np.int64), a.dtype)


def absolute_difference(a: Any, b: Any) -> Any:
    """`|a - b|` by a comparison in the type, wrapping."""
    return np.maximum(a, b) - np.minimum(a, b)


def field_bounds(position: Any, length: Any, size: int) -> tuple[Any, Any]:
    """What `bfe` and `bfi` make of their operands: on 32 bits they count modulo 256, as the manual says; on
    64 bits in full, as measured on an H200, for which ptxas 13.0 builds these instructions out of shifts."""
    if size == 32:
        return position & np.uint32(255), length & np.uint32(255)
    return np.minimum(position, np.uint32(size)), np.minimum(length, np.uint32(size))


def extract_field(a: Any, position: Any, length: Any) -> Any:
    """`bfe`: `length` bits of `a` from `position`, sign-extended on signed words."""
    size = width(a)
    position, length = field_bounds(position, length, size)
    if a.dtype.kind == "u":
        return shift_right(a, position) & low_ones(length, size)
    left = np.uint32(size) - np.minimum(position + length, np.uint32(size))
    down = np.minimum(left + position, np.uint32(size - 1))
    field = shift_right(signed(shift_left(unsigned(a), left)), down)
    return field & signed(ones_where(length != 0, size))


def insert_field(a: Any, b: Any, position: Any, length: Any) -> Any:
    """`bfi`: the low `length` bits of `a` put into `b` from `position` on."""
    position, length = field_bounds(position, length, width(a))
    ones = low_ones(length, width(a))
    mask = shift_left(ones, position)
    return (b & ~mask) | shift_left(a & ones, position)


def extend(a: Any, count: Any, wrap: bool) -> Any:
    """`szext`: the low `count` bits of `a`, sign-extended on signed words."""
    low = count & np.uint32(31)
    mask = shift_left(UNSIGNED[32](0xFFFFFFFF) + np.zeros_like(low), low)
    if not wrap:
        mask = mask & ones_where(count < 32, 32)
    kept = unsigned(a) & ~mask
    if a.dtype.kind == "i":
        sign = shift_right(unsigned(a), (low - np.uint32(1)) & np.uint32(31)) & np.uint32(1)
        kept = kept | (mask & np.negative(sign & (low != 0)))
    return kept.view(a.dtype)


def mask_field(position: Any, length: Any, wrap: bool) -> Any:
    """`bmsk`: `length` ones from `position` up."""
    if wrap:
        position, length = position & np.uint32(31), length & np.uint32(31)
    return shift_left(low_ones(length, 32), position)


LEAST = np.int32(-(1 << 31))


def find_nth_set(mask: Any, base: Any, offset: Any) -> Any:
    """`fns`: the position of the `|offset|`-th set bit from `base` on, in the direction of its sign."""
    bit, none = np.uint32(1), np.uint32(0xFFFFFFFF)
    downward = offset < 0
    region = mask & np.where(downward, low_ones(base + bit, 32), ~low_ones(base, 32))
    total = count_ones(region)
    rank = unsigned(np.abs(offset)) - bit
    exists = rank < total
    # The k-th of n bits from above is the (n-1-k)-th from below.
    rank = np.where(downward, total - bit - rank, rank)
    position = np.zeros_like(region)
    for size in (16, 8, 4, 2, 1):
        low = region & np.uint32((1 << size) - 1)
        beyond = rank >= count_ones(low)
        rank = rank - count_ones(low) * beyond
        region = np.where(beyond, region >> np.uint32(size), low)
        position = position + np.uint32(size) * beyond
    # What ptxas makes of it negates the least offset, which stays negative, and is not exceeded by any count.
    exists, position = exists | (offset == LEAST), np.where(offset == LEAST, np.uint32(0), position)
    at_base = shift_right(mask, base) & bit
    return np.where(offset == 0, np.where(at_base, base, none), np.where(exists, position, none))


def dot_bytes(a: Any, b: Any, c: Any, a_signed: bool, b_signed: bool) -> Any:
    """`dp4a`: four products of bytes added to `c`; `a`, `b`, `c` are uint32, wrapping."""
    kind, wide = (np.int16, np.int32) if a_signed or b_signed else (np.uint16, np.uint32)
    sixteen = wide(16)
    total = np.asarray(c).view(wide)
    for first, second in zip(byte_pairs(a, a_signed), byte_pairs(b, b_signed), strict=True):
        # Two products at a time, in 16 bits, for none of which is too large.
        product = (first * second).view(kind).view(wide)[..., 0]
        total = total + (product >> sixteen) + (product << sixteen >> sixteen)
    return total.view(np.uint32)


def byte_pairs(word: Any, is_signed: bool) -> tuple[Any, Any]:
    """Bytes 0 and 2, and bytes 1 and 3, of uint32 words, extended to 16 bits along a new last axis."""
    pairs = np.asarray(word)[..., None].view(np.uint16)
    eight = np.uint16(8)
    if not is_signed:
        return pairs & np.uint16(0xFF), pairs >> eight
    low, high = (pairs << eight).view(np.int16), pairs.view(np.int16)
    return (low >> np.int16(8)).view(np.uint16), (high >> np.int16(8)).view(np.uint16)


def dot_halves(a: Any, b: Any, c: Any, a_signed: bool, b_signed: bool, high: bool) -> Any:
    """`dp2a`: the halves of `a` times two bytes of `b`, added to `c`; all uint32, wrapping."""
    for lane in range(2):
        c = c + part(a, lane, 16, a_signed) * part(b, lane + 2 * high, 8, b_signed)
    return c


def part(word: Any, lane: int, bits: int, is_signed: bool) -> Any:
    """Field `lane` of `bits` bits of a uint32 word, extended to a uint32 word."""
    up = 32 - bits * (lane + 1)
    if is_signed:
        return unsigned(signed(word << np.uint32(up)) >> np.int32(32 - bits))
    return word << np.uint32(up) >> np.uint32(32 - bits)
