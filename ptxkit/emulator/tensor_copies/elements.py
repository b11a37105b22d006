"""What tensor copies do to the elements that they move: fill, conversion, reduction. PTX ISA 9.7.9.27.1.

Pure functions of byte arrays; `ptxkit.layouts.tensor_copy` says which bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.values import dtype_of
from ptxkit.layouts.tensor_copy import Moves

OOB_NAN = np.uint16(0x7FF7)
"""Every 16 bits of what stands for elements outside the tensor, as an H200 fills."""
TF32_NAN = np.uint32(0x7FFFE000)
F64_NAN = np.uint64(0x7FFFFFFFFFFFFFFF)
"""What a sum of f64 has been seen to be, once, on an H200."""


def load(
    moves: Moves,
    dtype: str,
    fill: str,
    memory: np.ndarray,
    shared: np.ndarray,
    addresses: np.ndarray,
    places: np.ndarray,
) -> None:
    """Copy a box from `memory` to `shared`, both uint8, at these offsets; what is outside is filled."""
    inside = moves.inside
    at = addresses if inside is None else np.where(inside, addresses, 0)
    values = _taken(memory, at, moves.unit)
    values = converted(values, dtype)
    if inside is not None:
        values[~inside] = filling(fill, moves.unit)
    _put(shared, places, values)


def store(
    moves: Moves,
    dtype: str,
    operation: str,
    shared: np.ndarray,
    memory: np.ndarray,
    places: np.ndarray,
    addresses: np.ndarray,
) -> None:
    """Write or reduce a box of `shared` into `memory`, both uint8; what is outside is left out."""
    values = _taken(shared, places, moves.unit)
    if moves.inside is not None:
        values, addresses = values[moves.inside], addresses[moves.inside]
        if not len(values):
            return
    if operation != "store":
        values = reduced(operation, dtype, _taken(memory, addresses, moves.unit), values)
    _put(memory, addresses, values)


def _taken(data: np.ndarray, at: np.ndarray, unit: int) -> np.ndarray:
    """Units at these offsets, uint8 (n, unit)."""
    return data[at[:, None] + np.arange(unit)]


def _put(data: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    data[at[:, None] + np.arange(values.shape[1])] = values


def converted(values: np.ndarray, dtype: str) -> np.ndarray:
    """What loads make of elements, uint8 (n, unit): those of `tf32` are rounded to 10 bits of fraction.

    To nearest, ties to even, subnormal numbers too; a NaN becomes 0x7fffe000. All other types stay as they
    are, `f32.ftz` too, and stores convert nothing. As an H200 does.
    """
    if not dtype.startswith("tf32"):
        return values
    words = np.ascontiguousarray(values).view(np.uint32)
    rounded = words + np.uint32(0xFFF) + (words >> np.uint32(13) & np.uint32(1)) & np.uint32(0xFFFFE000)
    nan = words & np.uint32(0x7FFFFFFF) > np.uint32(0x7F800000)
    return np.where(nan, TF32_NAN, rounded).view(np.uint8).reshape(values.shape)


@cache
def filling(fill: str, unit: int) -> np.ndarray:
    """A unit of what stands for elements outside the tensor."""
    word = OOB_NAN if fill == "nan" else np.uint16(0)
    return np.full(8, word).view(np.uint8)[:unit]


def reduced(operation: str, dtype: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The reduction of units, uint8 (n, unit)."""
    combine, name = reduction(operation, dtype)
    kind = dtype_of(name)
    with np.errstate(all="ignore"):
        result: Any = combine(old.reshape(-1).view(kind), new.reshape(-1).view(kind))
    if name == "f64":
        result = np.where(np.isnan(result.view(np.float64)), F64_NAN, result.view(np.uint64))
    return np.ascontiguousarray(result).view(np.uint8).reshape(old.shape)


REDUCTIONS = {
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f32.ftz", "tf32", "tf32.ftz", "f64"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("u32", "s32", "u64", "s64"),
    "or": ("u32", "s32", "u64", "s64"),
    "xor": ("u32", "s32", "u64", "s64"),
}
"""The types that each reduction has: PTX ISA 9.7.9.27.1.3, and `.add` of tf32 and f64, which an H200 does."""


@cache
def reduction(operation: str, dtype: str) -> tuple[Any, str]:
    """The elementwise function of a reduction, and the type that it takes.

    Raises:
        Unsupported: there is none for that type of map.
    """
    if dtype not in REDUCTIONS[operation]:
        raise Unsupported(f"`.{operation}` of a tensor of `{dtype}`")
    name = dtype.removesuffix(".ftz").replace("tf32", "f32")
    if operation in ("and", "or", "xor"):
        name = f"b{DTYPES[name].bits}"
    return combiner(operation, DTYPES[name], dtype.endswith(".ftz") or name == "f64"), name


def packed_sixes(chunks: np.ndarray) -> np.ndarray:
    """Stores of `b6p2x16`: the low six bits of sixteen bytes without gaps; uint8 (n, 16) to uint32 (n, 3)."""
    bits = np.unpackbits(chunks, axis=1, bitorder="little").reshape(-1, 16, 8)[:, :, :6]
    return np.packbits(bits.reshape(-1, 96), axis=1, bitorder="little").view(np.uint32)
