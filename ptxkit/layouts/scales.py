"""Scale factors of block-scaled MMAs: row-major, in shared memory and in tensor memory.

PTX ISA 9.7.16.10.7. A matrix of scales has a row a row of A (or a column of B) and a column a block of
16 or 32 elements of K. 128 rows by 4 blocks make an atom of 512 bytes, which one
`tcgen05.cp.32x128b.warpx4` carries to 4 columns of TMEM, into all four lane quarters.
"""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import counted, error
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT

ATOM_ROWS = 128
ATOM_BLOCKS = 4
ATOM_BYTES = 512
VECTORS = {"1X": 1, "2X": 2, "4X": 4}
"""Scales of a row that one MMA of a kind's first K consumes, by `.scale_vec`."""
IDS = {1: (0, 1, 2, 3), 2: (0, 2), 3: (0, 1, 2, 3), 4: (0,), 6: (0, 2), 8: (0,)}
"""Scale factor ids by the number of scales that one MMA consumes (9.7.18.10.7.2 of 9.4)."""


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


def tmem_cells(
    rows: int, blocks: int, halves: bool = False, lanes: int = 32
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where scales lie in TMEM: lane, column and byte of each, with all its copies.

    Row m is in lane m % 32 of every quarter; a column word holds four blocks; rows beyond 32 are in
    the following columns, further blocks after all rows (9.7.16.10.7.2).

    Args:
        rows: M for A, N for B; columns count by whole 128 rows.
        blocks: blocks along K.
        halves: the scales of B under `.cta_group::2` with M = 128 (layout B): the first half of N in
            quarters 0 and 2, the second in 1 and 3.
        lanes: 128 where every row of A has a lane of its own, without copies, as sm_107 may have it; further
            blocks are in the following columns then.

    Returns:
        Three int64 arrays (rows, blocks, copies).
    """
    if lanes == 128:
        m, j, _ = np.indices((rows, blocks, 1))
        return m % 128, m // 128 + j // ATOM_BLOCKS * -(-rows // ATOM_ROWS), j % ATOM_BLOCKS
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


def factor_count(scale_vec: str, k_code: int = 0, by_block: bool = True) -> int:
    """Scales of a row that one MMA reads (9.7.18.10.7.1 of PTX ISA 9.4, table 68).

    Args:
        scale_vec: `1X`, `2X` or `4X`.
        k_code: which of its kind's K it has; see `ptxkit.encodings.shapes.K_SIZES`.
        by_block: whether the modifier gives the size of a block; `.scale_vec::NX` stays N where K doubles.
    """
    if scale_vec not in VECTORS:
        raise error(LAYOUT_ARGUMENT, f"`scale_vec` must be 1X, 2X or 4X, found {scale_vec}")
    count = VECTORS[scale_vec]
    if count == 1 or k_code == 0:
        return count
    return count // 2 * 3 if k_code == 1 else count * 2 if by_block else count


def selected_bytes(count: int, scale_id: int) -> tuple[int, ...]:
    """The bytes of a column word that one MMA reads, by how many there are and the scale factor id.

    Where they go on in the word of the next four blocks, byte 4 is the first of that one (9.7.18.10.7.2).

    Raises:
        PtxkitError: P470, the id does not exist for so many.
    """
    if scale_id not in IDS[count]:
        allowed = ", ".join(map(str, IDS[count]))
        message = f"the scale id for {counted(count, 'scale factor')} must be {allowed}, found {scale_id}"
        raise error(LAYOUT_ARGUMENT, message)
    return tuple(range(scale_id, scale_id + count))
