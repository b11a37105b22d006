"""Scale factors of block-scaled MMAs: row-major, in shared memory and in tensor memory.

PTX ISA 9.7.16.10.7. A matrix of scales has a row a row of A (or a column of B) and a column a block of
16 or 32 elements of K. 128 rows by 4 blocks make an atom of 512 bytes, which one
`tcgen05.cp.32x128b.warpx4` carries to 4 columns of TMEM, into all four lane quarters.
"""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT

ATOM_ROWS = 128
ATOM_BLOCKS = 4
ATOM_BYTES = 512
VECTORS = {"1X": 1, "2X": 2, "4X": 4}
"""Scales of a row that one MMA consumes, by `.scale_vec`."""


def atom_offsets() -> np.ndarray:
    """Byte of the scale of row m and block j inside an atom; int64 (128, 4)."""
    m, j = np.indices((ATOM_ROWS, ATOM_BLOCKS))
    return m % 32 * 16 + m // 32 * 4 + j


def blocked_offsets(rows: int, blocks: int) -> np.ndarray:
    """Byte of every scale in the blocked order that cuBLAS, cuDNN and `tcgen05` share.

    Atoms follow each other along K first. Rows are padded to 128, blocks to 4.

    Returns:
        int64 (rows, blocks).
    """
    if rows <= 0 or blocks <= 0:
        raise error(LAYOUT_ARGUMENT, f"scales need rows and blocks, found {rows} x {blocks}")
    m, j = np.indices((rows, blocks))
    atom = m // ATOM_ROWS * -(-blocks // ATOM_BLOCKS) + j // ATOM_BLOCKS
    return atom * ATOM_BYTES + atom_offsets()[m % ATOM_ROWS, j % ATOM_BLOCKS]


def blocked_size(rows: int, blocks: int) -> int:
    """Bytes of the blocked order, padding included."""
    return -(-rows // ATOM_ROWS) * -(-blocks // ATOM_BLOCKS) * ATOM_BYTES


def to_blocked(scales: np.ndarray) -> np.ndarray:
    """Row-major scales (rows, blocks) of one byte each in the blocked order; padding is zero."""
    if scales.ndim != 2 or scales.dtype.itemsize != 1:
        raise error(LAYOUT_ARGUMENT, f"scales must be a matrix of bytes, found {scales.dtype} {scales.shape}")
    out = np.zeros(blocked_size(*scales.shape), dtype=np.uint8)
    out[blocked_offsets(*scales.shape)] = np.ascontiguousarray(scales).view(np.uint8)
    return out


def from_blocked(data: np.ndarray, rows: int, blocks: int) -> np.ndarray:
    """The row-major scales (uint8) out of the blocked order; undoes `to_blocked`."""
    return np.ascontiguousarray(data).view(np.uint8)[blocked_offsets(rows, blocks)]


def atom_descriptor(address: int) -> SmemDescTcgen05:
    """The descriptor by which `tcgen05.cp.32x128b.warpx4` reads one atom: cores of 128 bytes in a row."""
    return SmemDescTcgen05(address=address, leading_byte_offset=0, stride_byte_offset=128, swizzle="none")


def columns(rows: int, blocks: int) -> int:
    """TMEM columns that the scales of `rows` rows and `blocks` blocks take: 4 an atom."""
    return -(-rows // ATOM_ROWS) * -(-blocks // ATOM_BLOCKS) * 4


def tmem_cells(rows: int, blocks: int, halves: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where scales lie in TMEM: lane, column and byte of each, with all its copies.

    Row m is in lane m % 32 of every quarter; a column word holds four blocks; rows beyond 32 are in
    the following columns, further blocks after all rows (9.7.16.10.7.2).

    Args:
        rows: M for A, N for B; columns count by whole 128 rows.
        blocks: blocks along K.
        halves: the scales of B under `.cta_group::2` with M = 128 (layout B): the first half of N in
            quarters 0 and 2, the second in 1 and 3.

    Returns:
        Three int64 arrays (rows, blocks, copies).
    """
    copies = 2 if halves else 4
    m, j, copy = np.indices((rows, blocks, copies))
    if halves:
        half, m = np.divmod(m, rows // 2)
        quarter = half + 2 * copy
        wide = -(-rows // (2 * ATOM_ROWS)) * 4
    else:
        quarter = copy
        wide = -(-rows // ATOM_ROWS) * 4
    column = m // 32 + j // ATOM_BLOCKS * wide
    return m % 32 + 32 * quarter, column, j % ATOM_BLOCKS


def selected_bytes(scale_vec: str, scale_id: int, k96: bool = False) -> tuple[int, ...]:
    """The bytes of a column word that one MMA reads, by `.scale_vec` and scale factor id.

    With K = 96 it reads half as many again, and goes on in the word of the next four blocks: byte 4 is the
    first of that one (9.7.16.10.7.2.4 and .5).

    Raises:
        PtxkitError: P470, the id does not exist for this vector (table 44: 2X 0 or 2, 4X 0; with K = 96
            2X any, 4X 0 or 2).
    """
    if scale_vec not in VECTORS:
        raise error(LAYOUT_ARGUMENT, f"`scale_vec` must be 1X, 2X or 4X, found {scale_vec}")
    step, count = VECTORS[scale_vec], VECTORS[scale_vec]
    if k96:
        step, count = step // 2, count // 2 * 3
    if scale_id not in range(0, 4, step):
        allowed = ", ".join(str(i) for i in range(0, 4, step))
        raise error(LAYOUT_ARGUMENT, f"the scale id of {scale_vec} must be {allowed}, found {scale_id}")
    return tuple(range(scale_id, scale_id + count))
