"""Structured sparsity: stored elements at their places along K. PTX ISA 9.7.14.6, 9.7.16.10.8."""

from __future__ import annotations

import numpy as np

TF32 = (0b0100, 0b1110)
"""The nibbles of tf32: the first of two elements is stored, or the second."""
ORDERED = (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)
"""Those of `.sp::ordered_metadata`: two places of four, the lower one first."""
ANY_ORDER = tuple(nibble for nibble in range(16) if nibble & 3 != nibble >> 2)
"""Those without: two places of four."""


def expand(stored: np.ndarray, nibbles: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrix A with its dense K, zeros between.

    Args:
        stored: codes (K / 2, rows ..).
        nibbles: metadata (chunks, rows ..).
        bits: of an element: 32 for tf32; 4 where neighbours go together; 8 or 16 for the others.

    Returns:
        Codes (K, rows ..) and which of them were stored.
    """
    chunks, *rest = nibbles.shape
    if bits == 32:
        places = [(nibbles == TF32[1]).astype(np.uint8)]
        width, together = 2, 1
    else:
        places = [nibbles & np.uint8(3), nibbles >> np.uint8(2)]
        width, together = 4, 2 if bits == 4 else 1
    kept = stored.reshape(chunks, len(places), together, *rest)
    dense = np.zeros((chunks, width, together, *rest), stored.dtype)
    present = np.zeros((chunks, width, *rest), bool)
    for at, place in enumerate(places):
        for i in range(width):
            here = place == i
            present[:, i] |= here
            for j in range(together):
                np.copyto(dense[:, i, j], kept[:, at, j], where=here)
    whole = np.repeat(present[:, :, None], together, axis=2)
    return dense.reshape(-1, *rest), whole.reshape(-1, *rest)
