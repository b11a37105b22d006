"""Register fragments: which element of a matrix each thread holds in which register.

PTX ISA 9.7.14.5 and .6 (mma, mma.sp, ldmatrix, stmatrix), 9.7.15.5.1.1 (wgmma). Every function gives two
int64 arrays, row and column, of shape (threads, elements): element i of a thread is `a_i` of the
manual; with elements of b bits, register r holds elements r * 32 / b and following, low bits first.

Sparse `mma.sp` and `wgmma.sp` hold the stored matrix A (M x K/2) as the dense forms hold an A of that size.
"""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT

Cells = tuple[np.ndarray, np.ndarray]

WARP = 32


def _packed(bits: int) -> int:
    return max(1, 32 // bits)


def _group(elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lane, i = np.indices((WARP, elements))
    return lane // 4, lane % 4, i


def mma_a(m: int, k: int, bits: int) -> Cells:
    """Matrix A of `mma.mMnNkK`: rows of M, columns of K.

    Args:
        m: 8 or 16.
        k: elements along K; of the stored matrix where A is sparse.
        bits: of an element: 1, 4, 8, 16, 32 (tf32), 64. 4-bit and 6-bit types of `.kind::f8f6f4` and
            `.kind::mxf8f6f4` sit in 8 bits.
    """
    p = _packed(bits)
    group, thread, i = _group(_elements(m, k))
    word, inside = np.divmod(i, p)
    rows_high = m // 8
    return group + 8 * (word % rows_high), thread * p + inside + 4 * p * (word // rows_high)


def mma_b(n: int, k: int, bits: int) -> Cells:
    """Matrix B of `mma`: rows of K, columns of N (8)."""
    p = _packed(bits)
    group, thread, i = _group(_elements(n, k))
    word, inside = np.divmod(i, p)
    return thread * p + inside + 4 * p * word, group


def mma_cd(m: int, n: int = 8) -> Cells:
    """Accumulators C and D of `mma` with M of 8 or 16; f16 ones lie two to a register in this order."""
    group, thread, i = _group(_elements(m, n))
    return group + 8 * (i // 2), 2 * thread + i % 2


def mma_m8n8k4(matrix: str, column_major: bool = False, f32: bool = False) -> Cells:
    """Matrix `a`, `b` or `c` of `mma.m8n8k4` with f16: four products, by threads 4q .. 4q+3 and 16 above.

    Args:
        matrix: `a` (8 x 4), `b` (4 x 8) or `c` (8 x 8, also D).
        column_major: `.col` for A and B.
        f32: the accumulator is f32.
    """
    elements = 8 if matrix == "c" else 4
    lane, i = np.indices((WARP, elements))
    quad, high = lane % 4, 4 * (lane // 16)
    if matrix == "c" and f32:
        return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)
    if matrix == "c":
        return quad + high, i
    if matrix == "a":
        return (i + high, quad) if column_major else (quad + high, i)
    return (i, quad + high) if column_major else (quad, i + high)


def wgmma_a(k: int, bits: int) -> Cells:
    """Matrix A of `wgmma.m64nNkK` in registers, by the 128 threads of the warpgroup."""
    return _by_warps(mma_a(16, k, bits))


def wgmma_d(n: int) -> Cells:
    """The accumulator of `wgmma.m64nNkK`, 64 x N; f16 ones lie two to a register in this order."""
    if n % 8 or not 8 <= n <= 256:
        raise error(LAYOUT_ARGUMENT, f"`n` of wgmma must be 8 .. 256 in steps of 8, found {n}")
    group, thread, i = _group(n // 2)
    return _by_warps((group + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * thread + i % 2))


def matrix_8x8(trans: bool = False) -> Cells:
    """One m8n8 matrix of 16-bit elements of `ldmatrix` and `stmatrix`: two elements a thread.

    `.trans` exchanges row and column. Thread i gives the address of row i of matrix 0, thread 8 + i of
    matrix 1, and so on; matrix j is in register j.
    """
    group, thread, i = _group(2)
    row, column = group, 2 * thread + i
    return (column, row) if trans else (row, column)


def _by_warps(cells: Cells) -> Cells:
    row, column = cells
    rows = np.concatenate([row + 16 * warp for warp in range(4)])
    return rows, np.concatenate([column] * 4)


def _elements(rows: int, columns: int) -> int:
    if rows not in (8, 16) or columns <= 0 or rows * columns % WARP:
        raise error(LAYOUT_ARGUMENT, f"`mma` has no matrix of {rows} x {columns}")
    return rows * columns // WARP
