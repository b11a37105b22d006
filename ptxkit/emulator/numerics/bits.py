"""Words of bits: selection, extension, shifts with any amount, counting and reversing.

Words are unsigned numpy arrays or scalars; shift amounts are `uint32` of any value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def width(value: Any) -> int:
    """Bits in a word of this array."""
    return 8 * value.dtype.itemsize


def unsigned(value: Any) -> Any:
    """The same bits as unsigned words."""
    return value.view(UNSIGNED[width(value)])


def signed(value: Any) -> Any:
    """The same bits as signed words."""
    return value.view(SIGNED[width(value)])


def spread(condition: Any, bits: int) -> Any:
    """A word of all ones where the condition holds, of zeros elsewhere."""
    return np.negative(np.asarray(condition).view(np.int8)).astype(SIGNED[bits]).view(UNSIGNED[bits])


def select(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, else `otherwise`: `np.where` by arithmetic, at half its cost.

    Both have one dtype, which the result has too: a number's bits pass through unchanged, NaN included.
    """
    if np.ndim(condition) == 0 or then.dtype == bool:
        return np.where(condition, then, otherwise)
    first, second = unsigned(then), unsigned(otherwise)
    return ((first ^ second) & spread(condition, width(first)) ^ second).view(then.dtype)


def any_lane(condition: Any) -> bool:
    """Whether the condition holds in any lane."""
    return bool(np.any(condition))


def shift_left(value: Any, amount: Any) -> Any:
    """`value << amount` on unsigned words; 0 from the width on."""
    size = width(value)
    if np.ndim(amount) == 0:
        return value << value.dtype.type(amount) if amount < size else np.zeros_like(value)
    shifted = value << (amount & np.uint32(size - 1)).astype(value.dtype)
    return shifted & spread(amount < size, size)


def shift_right(value: Any, amount: Any) -> Any:
    """`value >> amount` on unsigned words, zeros moving in; on signed words copies of the sign."""
    size = width(value)
    if value.dtype.kind == "i":
        return value >> np.minimum(amount, np.uint32(size - 1)).astype(value.dtype)
    if np.ndim(amount) == 0:
        return value >> value.dtype.type(amount) if amount < size else np.zeros_like(value)
    shifted = value >> (amount & np.uint32(size - 1)).astype(value.dtype)
    return shifted & spread(amount < size, size)


def low_ones(count: Any, bits: int) -> Any:
    """A word whose lowest `count` bits are set; `count` is `uint32`, from the width on all are."""
    one: Any = UNSIGNED[bits](1)
    return shift_left(one, count) - one


def reverse(value: Any) -> Any:
    """The bits in opposite order."""
    size = width(value)
    distance = size // 2
    mask = (1 << size) - 1
    while distance:
        mask ^= (mask << distance) & ((1 << size) - 1)
        keep, shift = value.dtype.type(mask), value.dtype.type(distance)
        value = (value >> shift & keep) | (value & keep) << shift
        distance //= 2
    return value


def count_ones(value: Any) -> Any:
    """The number of set bits, as `uint32`."""
    return np.bitwise_count(value).astype(np.uint32)


def highest_one(value: Any) -> Any:
    """The position of the highest set bit as `uint32`, 0xffffffff where there is none."""
    size = width(value)
    distance = 1
    while distance < size:
        value = value | value >> value.dtype.type(distance)
        distance *= 2
    return count_ones(value) - np.uint32(1)


def smear_up(mask: Any) -> Any:
    """Every bit from the lowest set one up: what an undefined bit spoils through carries."""
    return mask | np.negative(mask)
