"""Putting element codes at bit offsets of a byte buffer, and taking them out again."""

from __future__ import annotations

import numpy as np

CODES = {1: np.uint8, 2: np.uint8, 4: np.uint8, 6: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}
"""The unsigned type that holds one element of that many bits."""


def codes(values: np.ndarray, bits: int) -> np.ndarray:
    """The bits of every element as an unsigned integer, whatever the numpy type."""
    array = np.ascontiguousarray(values)
    if array.dtype.kind in "iu" and array.dtype.itemsize * 8 != max(bits, 8):
        return array.astype(np.uint64) & np.uint64((1 << bits) - 1)
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize]
    return array.view(unsigned).astype(np.uint64) & np.uint64((1 << bits) - 1)


def scatter(values: np.ndarray, positions: np.ndarray, bits: int, nbytes: int) -> np.ndarray:
    """A buffer of `nbytes` (uint8) with each value at its bit position; the rest is zero.

    Args:
        values: elements, any numpy type of `bits` bits or unsigned codes; shape of `positions`.
        positions: bit offsets; no element may cross a multiple of 32 bits, save 6-bit ones.
    """
    image = np.zeros(nbytes * 8, dtype=np.uint8)
    flat = codes(values, bits).reshape(-1)
    start = positions.reshape(-1)
    for bit in range(bits):
        image[start + bit] = flat >> np.uint64(bit) & np.uint64(1)
    return np.packbits(image, bitorder="little")


def gather(data: np.ndarray, positions: np.ndarray, bits: int) -> np.ndarray:
    """The element codes at those bit positions, in the smallest unsigned type; undoes `scatter`."""
    image = np.unpackbits(np.ascontiguousarray(data).view(np.uint8), bitorder="little")
    out = np.zeros(positions.shape, dtype=np.uint64)
    for bit in range(bits):
        out |= image[positions + bit].astype(np.uint64) << np.uint64(bit)
    return out.astype(CODES[bits])
