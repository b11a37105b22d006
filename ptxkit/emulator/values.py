"""Raw register values and typed views of them.

A register's raw dtype is the unsigned integer of its width, bool for predicates, and for `.b128` an
array of `uint64` with a last axis of two. A value may travel with any dtype of the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES, Kind

WARP = 32
"""Threads of a warp."""

BOOL = np.dtype(bool)
U8, U16, U32, U64 = np.dtype("u1"), np.dtype("u2"), np.dtype("u4"), np.dtype("u8")
I64 = np.dtype("i8")
RAW = {1: BOOL, 8: U8, 16: U16, 32: U32, 64: U64, 128: U64}
"""The dtype of a register by its width in bits."""


@cache
def raw_dtype(bits: int) -> np.dtype:
    """The smallest raw dtype that holds `bits` bits: `uint8` for the 4 bits of `e2m1`."""
    return RAW[next(width for width in RAW if width >= bits)]


@cache
def dtype_of(type_name: str) -> np.dtype:
    """The numpy dtype that an operation computes a PTX type in; see `ptxkit.emulator.operation`."""
    dtype = DTYPES[type_name]
    if dtype.kind is Kind.SIGNED and dtype.lanes == 1 and dtype.bits >= 8:
        return np.dtype(f"i{dtype.bits // 8}")
    if type_name in ("f32", "f64"):
        return np.dtype(f"f{dtype.bits // 8}")
    return raw_dtype(dtype.bits)


UNITS: dict[int, np.dtype] = {
    1: RAW[8],
    2: RAW[16],
    4: RAW[32],
    8: RAW[64],
    16: np.dtype(np.complex128),
    32: np.dtype("V32"),
}
"""What is moved at once, by its size: types that numpy moves fast and whose bits it leaves alone."""


def zero(bits: int) -> Any:
    """The value 0 of a register of that width."""
    return np.zeros(2, U64) if bits == 128 else RAW[bits].type(0)


def filled(shape: int | tuple[int, ...], value: int, dtype: Any) -> np.ndarray:
    """An array of one value; `np.full` for what is made with each launch."""
    made = np.empty(shape, dtype)
    made.fill(value)
    return made


def ones(bits: int) -> Any:
    """All bits of a register of that width."""
    if bits == 128:
        return np.full(2, 2**64 - 1, U64)
    return RAW[bits].type(True) if bits == 1 else RAW[bits].type(2**bits - 1)


def constant(value: int, type_name: str) -> Any:
    """A literal's low bits as a scalar of the type's dtype."""
    bits = DTYPES[type_name].bits
    if bits == 128:
        return np.array([value & (2**64 - 1), value >> 64 & (2**64 - 1)], U64)
    if bits == 1:
        return np.bool_(value != 0)
    raw = raw_dtype(bits).type(value & (2**bits - 1))
    return raw.view(dtype_of(type_name))


def viewed(value: Any, dtype: np.dtype) -> Any:
    """The same bits as `dtype`, which is as wide."""
    return value if value.dtype is dtype else value.view(dtype)


def reader(bits: int, type_name: str) -> Callable[[Any], Any] | None:
    """What turns the value of a register of `bits` bits into an operand of a type, low bits first. Returns
    None where a view does."""
    wanted = DTYPES[type_name].bits
    dtype = dtype_of(type_name)
    if bits == wanted or (bits == 8 and wanted < 8):
        return None
    raw, narrow = RAW[bits], raw_dtype(wanted)
    if bits == 128:
        return lambda value: value[..., 0].astype(narrow).view(dtype)
    return lambda value: viewed(value, raw).astype(narrow).view(dtype)


def writer(bits: int, type_name: str) -> Callable[[Any], Any] | None:
    """What turns a result of a type into the value of a register of `bits` bits.

    A signed result is sign-extended into a wider register, every other one zero-extended (PTX ISA 9.4.1).

    Returns:
        None where the result may be stored as it is.
    """
    size = DTYPES[type_name].bits
    dtype = dtype_of(type_name)
    if bits == size or (bits < 128 and raw_dtype(size) is RAW[bits]):
        return None
    if bits == 128:
        to_64 = writer(64, type_name)
        return lambda value: _to_128(to_64(value) if to_64 is not None else value)
    if size < bits and dtype.kind == "i":
        signed = np.dtype(f"i{bits // 8}")
        return lambda value: value.astype(signed)
    narrow, wide = raw_dtype(size), RAW[bits]
    return lambda value: viewed(value, narrow).astype(wide)


def _to_128(word: Any) -> Any:
    """A 64-bit word extended by its sign if it has one."""
    high = (word >> np.int64(63)).view(U64) if word.dtype.kind == "i" else np.zeros(word.shape, U64)
    return np.stack([viewed(word, U64), high], axis=-1)


def select(condition: Any, chosen: Any, other: Any) -> Any:
    """`chosen` where the condition holds, else `other`, which may be of another dtype of the same size."""
    if other.dtype is not chosen.dtype:
        other = other.view(chosen.dtype)
    return np.where(condition, chosen, other)


def select_wide(condition: Any, chosen: Any, other: Any) -> Any:
    """`select` for `.b128`."""
    return np.where(np.asarray(condition)[..., None], chosen, other)


def fold(condition: Any, shape: tuple[int, ...]) -> Any:
    """Where a value of `shape`, broadcast over a condition, is wanted by any of the lanes that share it."""
    if condition.shape == shape or condition.ndim == 0:
        return condition
    if len(shape) == 0:
        return condition.any()
    for axis in range(2):
        if shape[axis] == 1 and condition.shape[axis] != 1:
            condition = condition.any(axis=axis, keepdims=True)
    return condition


def distinct(values: Any) -> np.ndarray:
    """The values of an array, each once, in ascending order.

    What `np.unique` gives without further arguments; the first call of that one loads `numpy.ma`, which takes
    longer than many a launch.
    """
    flat = np.sort(values, axis=None)
    first = np.ones(flat.shape, bool)
    np.not_equal(flat[1:], flat[:-1], out=first[1:])
    return flat[first]


def first_true(mask: np.ndarray | np.bool_) -> int | None:
    """The place of the first True in a flat view of a mask; None where there is none."""
    return int(mask.argmax()) if mask.any() else None


def any_lane(lanes: np.ndarray) -> np.ndarray:
    """Of rows of 32 lanes which have one that is true: bool (n,)."""
    words = np.ascontiguousarray(lanes).view(np.uint64)
    found: np.ndarray = (words[:, 0] | words[:, 1] | words[:, 2] | words[:, 3]) != 0
    return found
