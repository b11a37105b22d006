"""Integer matrix products: exact sums, wrapped or clamped once at the end. PTX ISA 9.7.14.5.14.

Where ptxas builds an instruction of several (4-bit and 1-bit types from sm_90 on) it clamps once, too.
"""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.tensor_cores.fused import along_k, blocks

LIMITS = np.iinfo(np.int32)


def multiply_integers(a: np.ndarray, b: np.ndarray, c: np.ndarray, saturate: bool) -> np.ndarray:
    """`c` plus the products.

    Args:
        a, b: int32 that hold the elements, with K as the first axis; the others broadcast to those of `c`.
        c: int32.
        saturate: `.satfinite`: clamp the sum to 32 bits; else it wraps.
    """
    out = np.empty_like(c)
    for where in blocks(c.shape, len(a)):
        products = a[along_k(a.shape, where)] * b[along_k(b.shape, where)]
        out[where] = _close(np.add.reduce(products, axis=0, dtype=np.int32), c[where], saturate)
    return out


def multiply_bits(a: np.ndarray, b: np.ndarray, c: np.ndarray, operator: str) -> np.ndarray:
    """`c` plus the number of bits set in `a & b` or `a ^ b`.

    Args:
        a, b: uint32, 32 elements of K each, with words of K as the first axis.
        c: int32.
        operator: `and` or `xor`.
    """
    combine = np.bitwise_and if operator == "and" else np.bitwise_xor
    out = np.empty_like(c)
    for where in blocks(c.shape, len(a)):
        both = np.bitwise_count(combine(a[along_k(a.shape, where)], b[along_k(b.shape, where)]))
        out[where] = _close(np.add.reduce(both, axis=0, dtype=np.int32), c[where], saturate=False)
    return out


def _close(total: np.ndarray, c: np.ndarray, saturate: bool) -> np.ndarray:
    if not saturate:
        return total + c
    exact = total.astype(np.int64) + c
    return np.clip(exact, LIMITS.min, LIMITS.max).astype(np.int32)
