"""Putting element codes at bit offsets of a byte buffer, and taking them out again.

Elements of whole bytes begin at whole bytes.
"""

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
        positions: bit offsets of elements that do not overlap.
    """
    image = np.zeros(nbytes, dtype=np.uint8)
    start = positions.reshape(-1)
    moved = codes(values, bits).reshape(-1) << (start % 8).astype(np.uint64)
    for byte in range(_span(bits)):
        piece = (moved >> np.uint64(8 * byte)).astype(np.uint8)
        touched = piece != 0
        np.bitwise_or.at(image, start[touched] // 8 + byte, piece[touched])
    return image


def gather(data: np.ndarray, positions: np.ndarray, bits: int) -> np.ndarray:
    """The element codes at those bit positions, in the smallest unsigned type; undoes `scatter`."""
    image = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    first, shift = np.divmod(positions, 8)
    out = np.zeros(positions.shape, dtype=np.uint64)
    for byte in range(_span(bits)):
        at = np.minimum(first + byte, image.size - 1)
        out |= image[at].astype(np.uint64) << np.uint64(8 * byte)
    return (out >> shift.astype(np.uint64) & np.uint64((1 << bits) - 1)).astype(CODES[bits])


def _span(bits: int) -> int:
    """Bytes that an element may touch."""
    return bits // 8 if bits % 8 == 0 else 2
