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

SPARSE_CHUNK = {4: 8, 8: 4, 16: 4, 32: 2}
"""Elements of K that a nibble of sparsity metadata tells about, by their bits. PTX ISA 9.7.14.6.1."""


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


def mma_metadata(k: int, bits: int, selector: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the metadata of `mma.sp` lies: lane and lowest bit of the nibble of each row and chunk.

    A row's nibbles follow one another along K. 16 and 32-bit types keep the halves of a word for rows r
    and r + 8, narrower ones a word each. PTX ISA 9.7.14.6.2 has pictures of this only; the formulas follow
    CUTLASS's order of metadata (`reorder_meta`, `mma_traits_sm120_sparse.hpp`).

    Args:
        k: elements along K, dense.
        bits: of an element: 4, 8, 16, 32; 8 for all of `.kind::f8f6f4` and `.kind::mxf8f6f4`.
        selector: the sparsity selector.

    Returns:
        Two int64 arrays (16, chunks).

    Raises:
        PtxkitError: P470, the selector does not exist for this shape.
    """
    chunks = k // SPARSE_CHUNK[bits]
    threads = chunks // 4
    if not 0 <= selector < 4 // threads:
        raise error(
            LAYOUT_ARGUMENT, f"the sparsity selector must be less than {4 // threads}, found {selector}"
        )
    row, chunk = np.indices((16, chunks))
    high, group = np.divmod(row, 8)
    if bits >= 16:
        return 4 * group + threads * selector + chunk // 4, 16 * high + 4 * (chunk % 4)
    return 4 * group + 2 * selector + high + 2 * (chunk // 8), 4 * (chunk % 8)


def mma_scales_a(thread: int) -> np.ndarray:
    """The lane that gives the scale factors of each of the 16 rows of A, by `thread-id-a`; int64 (16,).

    PTX ISA 9.7.14.3 names the pair of lanes; the lower gives rows 0 to 7, as in CUTLASS's SFALayout.
    """
    row = np.arange(16)
    return 4 * (row % 8) + 2 * thread + row // 8


def mma_scales_b(thread: int) -> np.ndarray:
    """The lane that gives the scale factors of each of the 8 columns of B, by `thread-id-b`; int64 (8,)."""
    return 4 * np.arange(8) + thread


# ---- wmma


def wmma_a(m: int, n: int, k: int, bits: int, f16: bool = False) -> Cells:
    """Matrix A of `wmma.mMnNkK`: rows of M, columns of K.

    PTX leaves the layout of wmma fragments to the architecture (9.7.14.4.1). This one is what ptxas makes
    from sm_75 on, for either layout in memory: tiles of `mma`, for M of 8 and N of 32 those of the transposed
    product. A fragment of `.f16` always has sixteen elements, copies of the first where there are fewer.
    """
    height = 16 if m > 8 else 8
    row, column = _tiled(mma_a(height, k, bits), m // height, height, 0)
    return _copies((row, column), f16)


def wmma_b(m: int, n: int, k: int, bits: int, f16: bool = False) -> Cells:
    """Matrix B of `wmma.mMnNkK`: rows of K, columns of N."""
    if m == 8 and n == 32:
        column, row = wmma_a(n, m, k, bits, f16)
        return row, column
    return _copies(_tiled(mma_b(8, k, bits), n // 8, 8, 1), f16)


def wmma_c(m: int, n: int) -> Cells:
    """Accumulators C and D of `wmma` with these M and N."""
    if m == 8 and n == 32:
        column, row = wmma_c(n, m)
        return row, column
    height = 16 if m > 8 else 8
    return _tiled(_tiled(mma_cd(height), n // 8, 8, 1), m // height, height, 0)


def _tiled(cells: Cells, count: int, step: int, axis: int) -> Cells:
    """The fragments of `count` tiles, `step` apart along an axis, one after another."""
    offsets = [tile * step for tile in range(count)]
    row, column = (
        np.concatenate([part + (offset if axis == i else 0) for offset in offsets], axis=1)
        for i, part in enumerate(cells)
    )
    return row, column


def _copies(cells: Cells, f16: bool) -> Cells:
    count = 16 // cells[0].shape[1] if f16 else 1
    row, column = (np.tile(part, (1, count)) for part in cells)
    return row, column


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


def matrix_8x16() -> Cells:
    """One m8n16 matrix of `ldmatrix.b8x16`: rows of 16 elements of 4 or 6 bits, a byte each."""
    group, thread, i = _group(4)
    return group, 4 * thread + i


def matrix_16x16() -> Cells:
    """One m16n16 matrix of 8-bit elements of `ldmatrix.trans`: rows and columns as memory has them.

    The first of a thread's two registers has four rows of column g, the second of column g + 8. Thread i
    gives the address of row i of matrix 0, thread 16 + i of matrix 1.
    """
    group, thread, i = _group(8)
    return 4 * thread + i % 4, group + 8 * (i // 4)


def matrix_16x8() -> Cells:
    """One m16n8 matrix of 8-bit elements of `stmatrix.trans`: the accumulator of `mma.m16n8`.

    In memory each of its columns is a row of 16 bytes; thread i gives the address of column i.
    """
    return mma_cd(16, 8)


def _by_warps(cells: Cells) -> Cells:
    row, column = cells
    rows = np.concatenate([row + 16 * warp for warp in range(4)])
    return rows, np.concatenate([column] * 4)


def _elements(rows: int, columns: int) -> int:
    if rows not in (8, 16) or columns <= 0 or rows * columns % WARP:
        raise error(LAYOUT_ARGUMENT, f"`mma` has no matrix of {rows} x {columns}")
    return rows * columns // WARP
