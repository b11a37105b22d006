"""Words of bits: selection, extension, shifts with any amount, counting and reversing; some lanes repaired.

Words are unsigned numpy arrays or scalars; shift amounts are `uint32` of any value.
"""

from __future__ import annotations

from collections.abc import Callable
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


def ones_where(condition: Any, bits: int) -> Any:
    """A word of all ones where the condition holds, of zeros elsewhere."""
    if np.ndim(condition) == 0:
        return UNSIGNED[bits](2**bits - 1 if condition else 0)
    return np.negative(np.asarray(condition).view(np.int8)).astype(SIGNED[bits]).view(UNSIGNED[bits])


def select(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, else `otherwise`: `np.where` by arithmetic, at half its cost.

    Both have one dtype, which the result has too: a number's bits pass through unchanged, NaN included.
    """
    if np.ndim(condition) == 0 or then.dtype == bool:
        return np.where(condition, then, otherwise)
    first, second = unsigned(then), unsigned(otherwise)
    return ((first ^ second) & ones_where(condition, width(first)) ^ second).view(then.dtype)


def number_first(result: Any, a: Any, b: Any) -> Any:
    """The larger or smaller of two floats, where it is a NaN the operand that is a number, if one is.

    Numpy's `fmax` and `fmin` lose a number against a signalling NaN in some lanes, and not in others.
    """
    return np.where(np.isnan(result), np.where(np.isnan(a), b, a), result)


def any_lane(condition: Any) -> bool:
    """Whether the condition holds in any lane."""
    return bool(np.any(condition))


def shift_amount(amount: Any, value: Any) -> Any:
    """A uint32 shift amount in the type of the words to shift, large ones as any that exceeds the width."""
    if value.dtype.itemsize == 2:
        amount = np.minimum(amount, np.uint32(16))
    return amount.astype(value.dtype, copy=False) if np.ndim(amount) else value.dtype.type(amount)


def shift_left(value: Any, amount: Any) -> Any:
    """`value << amount` on unsigned words; 0 from the width on, which numpy sees to."""
    return value << shift_amount(amount, value)


def shift_right(value: Any, amount: Any) -> Any:
    """`value >> amount` on unsigned words, zeros moving in; on signed words copies of the sign."""
    if value.dtype.kind == "i":
        amount = np.minimum(amount, np.uint32(width(value) - 1))
    return value >> shift_amount(amount, value)


def low_ones(count: Any, bits: int) -> Any:
    """A word whose lowest `count` bits are set; `count` is `uint32`, from the width on all are."""
    one: Any = UNSIGNED[bits](1)
    return shift_left(one, count) - one


def reverse(value: Any) -> Any:
    """The bits in opposite order."""
    value = np.asarray(value).byteswap()
    for distance, mask in ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555)):
        keep, shift = value.dtype.type(mask & (1 << width(value)) - 1), value.dtype.type(distance)
        value = (value >> shift & keep) | (value & keep) << shift
    return value


def count_ones(value: Any) -> Any:
    """The number of set bits, as `uint32`."""
    return np.bitwise_count(value).astype(np.uint32)


def highest_one(value: Any) -> Any:
    """The position of the highest set bit as `uint32`, 0xffffffff where there is none."""
    if width(value) == 64:
        # Without the bit below the highest one, rounding to f64 doesn't carry to a higher one.
        value = value & ~(value >> np.uint64(1))
    exponent = value.astype(np.float64).view(np.uint64) >> np.uint64(52)
    return np.maximum(exponent.astype(np.uint32), np.uint32(1022)) - np.uint32(1023)


def smear_up(mask: Any) -> Any:
    """Every bit from the lowest set one up: what an undefined bit spoils through carries."""
    return mask | np.negative(mask)


def repair(result: Any, doubtful: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """The result with the `doubtful` lanes computed anew by `function`, which gets operands of one axis."""
    shape = np.shape(result)
    doubtful = np.broadcast_to(doubtful, shape)
    if np.count_nonzero(doubtful) * 2 > doubtful.size:
        lanes: Any = slice(None)
    else:
        lanes = np.flatnonzero(doubtful)
    chosen = [np.broadcast_to(operand, shape).reshape(-1)[lanes] for operand in operands]
    fixed = np.array(result).reshape(-1)
    fixed[lanes] = function(*chosen)
    return fixed.reshape(shape)
