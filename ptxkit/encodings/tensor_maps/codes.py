"""The codes that a tensor map stores, and sizes that follow from an element type."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ptxkit import targets
from ptxkit.dtypes import DTYPES

MODE_CODES = {"tile": 0, "im2col": 1}
ELEMENT_CODES = {
    "u8": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7, "f32.ftz": 8, "f64": 9,
    "bf16": 10, "b4x16": 11, "b4x16_p64": 12, "b6x16_p32": 13, "tf32": 7 + 16, "tf32.ftz": 8 + 16,
}  # fmt: skip
"""The code that the map stores. Neither `tensormap.replace`'s nor the driver's numbers."""
INTERLEAVE_CODES = {"none": 0, "16B": 1, "32B": 2}
DEFAULT_SWIZZLE = "128B"
"""Of a map that is made without one."""
SWIZZLE_CODES = {
    #                         mode  atomicity      96B
    "none":                     0,
    "32B":                      1,
    "64B":                      2,
    "128B":                     3,
    "128B-32B-atom":            3 + 1 * 4,
    "128B-32B-atom-8B-flip":    3 + 2 * 4,
    "128B-64B-atom":            3 + 3 * 4,
    "96B":                                         1 * 32,
}  # fmt: skip
L2_PROMOTION_CODES = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
OOB_FILL_CODES = {"zero": 0, "nan": 1}

PADDED = ("b4x16_p64", "b6x16_p32")
"""Types whose 16 elements take 16 bytes of shared memory, gaps included."""
SUB_BYTE = ("b4x16", *PADDED)
PADDED_SWIZZLES = {
    "b6x16_p32": ("none", "128B", "128B-32B-atom", "128B-64B-atom"),
    "b4x16_p64": ("none", "128B", "128B-32B-atom"),
}
SWIZZLE_SPAN = {"32B": 32, "64B": 64, "96B": 96, "128B": 128}
"""Bytes that the inner dimension of a box may have; by what the swizzle's name begins with."""
SHARED_ALIGNMENT = {"none": 16, "32B": 256, "64B": 512, "96B": 256, "128B": 1024}
ADDRESS_LIMIT = 2**57
"""Addresses of global memory are below it: as measured, the driver of an H200 makes no map from there on."""
SHARED_LIMIT = max(limits.shared_per_sm for limits in targets.LIMITS.values() if limits.capability >= (9, 0))
"""The largest box in bytes that a driver makes: the shared memory of the largest target's multiprocessor."""
CTA_LIMIT = max(limits.shared_per_cta for limits in targets.LIMITS.values() if limits.capability >= (9, 0))
"""The most bytes that one copy can write: what a CTA of the largest target may have of shared memory."""


def shared_bits(dtype: str) -> int:
    """Bits that one element of a tensor map takes in shared memory, gaps included."""
    return 8 if dtype in PADDED else 4 if dtype == "b4x16" else DTYPES[dtype].bits


def global_bits(dtype: str) -> int:
    """Bits that one element of a tensor map takes in global memory."""
    return DTYPES[dtype].bits // DTYPES[dtype].lanes


def contiguous_strides(shape: Sequence[int], dtype: str) -> list[int]:
    """Strides in bytes, outermost first, of a tensor without gaps; the innermost one is implied."""
    return [math.prod(shape[i + 1 :]) * global_bits(dtype) // 8 for i in range(len(shape) - 1)]


def box_bytes(dtype: str, box: Sequence[int], element_strides: Sequence[int]) -> int:
    """What the driver notes as the bytes of a box: floor(box / stride) of every dimension.

    The copy itself moves ceil(box / stride) elements (`TiledTensorMap.copied`).
    """
    elements = math.prod(size // step for size, step in zip(box, element_strides, strict=True))
    return elements * shared_bits(dtype) // 8
