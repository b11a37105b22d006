"""Tensor memory: where `tcgen05.mma` keeps matrices, and what `tcgen05.ld`, `st` and `cp` move.

A CTA has 128 lanes of 512 columns of 32 bits (PTX ISA 9.7.16.1).
Data paths A to G: 9.7.16.10.5. The figures of the manual are pictures; the formulas follow CUTLASS's
layout algebra and JAX's Mosaic layouts, which agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.encodings.tensor_memory import TensorMemoryAddress
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT, LAYOUT_UNSUPPORTED

LANES = 128
COLUMNS = 512
QUARTER = 32
"""Lanes that one warp of a warpgroup reaches: warp w mod 4 has lanes 32w .. 32w + 31 (9.7.16.8.1)."""


def address(lane: int, column: int) -> int:
    """The 32-bit TMEM address of a lane and a column."""
    return int(TensorMemoryAddress(lane=lane, column=column))


class DataPath(NamedTuple):
    """One of layouts A to G (9.7.16.10.5): how the rows of one CTA spread over lanes and columns.

    Attributes:
        name: the manual's letter.
        rows: rows of the matrix in one CTA.
        groups: parts of the lanes that hold successive parts of N.
        lane_of_16: lanes from one group of 16 rows to the next, 16 where rows are dense.
    """

    name: str
    rows: int
    groups: int
    lane_of_16: int


DATA_PATHS = {
    #              name rows groups lane_of_16
    "A": DataPath("A", 128, 1, 16),
    "B": DataPath("B", 64, 2, 16),
    "C": DataPath("C", 64, 1, 32),
    "D": DataPath("D", 128, 1, 16),
    "E": DataPath("E", 64, 2, 16),
    "F": DataPath("F", 64, 1, 32),
    "G": DataPath("G", 32, 4, 16),
}
"""Layouts A to G. C and F use half the lanes and may start at lane 0 or 16."""


def data_path(m: int, cta_group: int = 1, sparse: bool = False, ws: bool = False) -> DataPath:
    """The layout that an MMA of that shape uses (the table of 9.7.16.10.5).

    Raises:
        PtxkitError: P470, there is no such MMA.
    """
    found = {
        (32, 1, True): "G",
        (64, 1, True): "E",
        (64, 1, False): "F",
        (128, 1, True): "D",
        (128, 1, False): "D",
        (128, 2, False): "C" if sparse else "B",
        (256, 2, False): "A",
    }.get((m, cta_group, ws))
    if found is None:
        way = f"`.cta_group::{cta_group}`{' `.ws`' if ws else ''}"
        raise error(LAYOUT_ARGUMENT, f"no data path has M = {m} with {way}", notes=("PTX ISA 9.7.16.10.5",))
    return DATA_PATHS[found]


def accumulator_cells(path: DataPath, n: int, start_lane: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The lane and column of every element of D in one CTA, relative to D's address.

    Args:
        path: the layout; under `.cta_group::2` row r of CTA c is row r + c * `path.rows` of D.
        n: columns of D.
        start_lane: 0, or 16 for layouts C and F.

    Returns:
        Two int64 arrays (path.rows, n). D takes one 32-bit word an element, 16-bit types too (9.7.16.10.4.1).
    """
    if start_lane not in ((0, 16) if path.lane_of_16 == 32 else (0,)):
        raise error(LAYOUT_ARGUMENT, f"layout {path.name} can't start at lane {start_lane}")
    if n <= 0 or n % path.groups:
        raise error(
            LAYOUT_ARGUMENT, f"`n` of layout {path.name} must be a multiple of {path.groups}, found {n}"
        )
    row, column = np.indices((path.rows, n))
    part, column = np.divmod(column, n // path.groups)
    lane = row % 16 + row // 16 * path.lane_of_16 + part * (LANES // path.groups) + start_lane
    return lane, column


def operand_a_cells(
    path: DataPath, k: int, bits: int, start_lane: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where matrix A lies when it is read from TMEM: lane, column and bit of every element.

    A is K-major and packed, 32 / bits elements to a column; 4-bit and 6-bit types of
    `.kind::f8f6f4` and `.kind::mxf8f6f4` take 8 bits each (9.7.16.10.4.3). Layout B keeps A's 64
    rows in both halves of the lanes.

    Args:
        path: the layout of D.
        k: elements along K, as stored.
        bits: container bits of an element: 4, 8, 16 or 32.
        start_lane: as for D.

    Returns:
        Three int64 arrays (copies, path.rows, k): two copies for layout B, else one.

    Raises:
        PtxkitError: P471, layouts E and G (`.ws` with M below 128): no text says where A lies.
    """
    if path.name in "EG":
        raise error(LAYOUT_UNSUPPORTED, f"matrix A in TMEM for layout {path.name} is described nowhere")
    copies = path.groups
    copy, row, column = np.indices((copies, path.rows, k))
    lane = row % 16 + row // 16 * path.lane_of_16 + copy * (LANES // copies) + start_lane
    word, inside = np.divmod(column, 32 // bits)
    return lane, word, inside * bits


# ---- tcgen05.ld and tcgen05.st


class MoveShape(NamedTuple):
    """A shape of `tcgen05.ld` and `tcgen05.st` (9.7.16.2.3, tables 49 and 50).

    Attributes:
        name: `32x32b` and so on.
        lanes: lanes that one warp moves.
        registers: 32-bit registers of a thread for `.x1`.
        columns: columns of `.x1`.
        most: the largest `.num`.
    """

    name: str
    lanes: int
    registers: int
    columns: int
    most: int

    def cells(self, num: int, half_split: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The lane and column of each thread's registers, relative to the instruction's address.

        Args:
            num: the repeat, `.x1` .. `.x128`.
            half_split: `immHalfSplitoff` of `16x32bx2`: columns from the first half to the second.

        Returns:
            Two int64 arrays (32 threads, registers). Lanes count from the lane of the address.
        """
        if num not in self.nums:
            allowed = ", ".join(f".x{n}" for n in self.nums)
            raise error(
                LAYOUT_ARGUMENT, f"`.{self.name}` has {allowed}, found .x{num}", notes=("PTX ISA table 49",)
            )
        thread, register = np.indices((32, self.registers * num))
        repeat, r = np.divmod(register, self.registers)
        if self.name == "32x32b":
            return thread, repeat
        if self.name == "16x64b":
            return thread // 4 + 8 * (thread % 2), thread // 2 % 2 + 2 * repeat
        if self.name == "16x128b":
            return thread // 4 + 8 * r, thread % 4 + 4 * repeat
        if self.name == "16x256b":
            return thread // 4 + 8 * (r // 2), 2 * (thread % 4) + r % 2 + 8 * repeat
        return thread % 16, thread // 16 * half_split + repeat

    @property
    def nums(self) -> tuple[int, ...]:
        """The repeats that exist."""
        return tuple(2**i for i in range(8) if 2**i <= self.most)


MOVE_SHAPES = {
    shape.name: shape
    for shape in (
        #          name        lanes registers columns most
        MoveShape("32x32b",    32,   1,        1,      128),
        MoveShape("16x64b",    16,   1,        2,      128),
        MoveShape("16x128b",   16,   2,        4,      64),
        MoveShape("16x256b",   16,   4,        8,      32),
        MoveShape("16x32bx2",  16,   1,        1,      128),
    )
}  # fmt: skip


# ---- tcgen05.cp


class CopyShape(NamedTuple):
    """A shape of `tcgen05.cp` with its multicast (9.7.16.9.2).

    Attributes:
        shape: `128x256b` and so on.
        multicast: the qualifier that must stand with it, or "".
        rows: rows of the source matrix.
        row_bytes: bytes of a row.
        lanes: for each row, the lanes that receive it.
    """

    shape: str
    multicast: str
    rows: int
    row_bytes: int
    lanes: np.ndarray


def _lanes(rows: int, *starts: int) -> np.ndarray:
    return np.arange(rows)[:, None] + np.array(starts)[None, :]


_PAIRED_01_23 = np.concatenate([_lanes(32, 0, 32), _lanes(32, 64, 96)])

COPY_SHAPES = {
    (copy.shape, copy.multicast): copy
    for copy in (
        CopyShape("128x256b", "", 128, 32, _lanes(128, 0)),
        CopyShape("128x128b", "", 128, 16, _lanes(128, 0)),
        CopyShape("64x128b", "warpx2::02_13", 64, 16, _lanes(64, 0, 64)),
        CopyShape("64x128b", "warpx2::01_23", 64, 16, _PAIRED_01_23),
        CopyShape("32x128b", "warpx4", 32, 16, _lanes(32, 0, 32, 64, 96)),
        CopyShape("4x256b", "", 4, 32, np.array([[31], [63], [95], [127]])),
    )
}
"""Every shape of `tcgen05.cp`. That `4x256b` fills the last lane of each quarter, the one that
`tcgen05.shift` leaves, is CUTLASS's reading; no text of the manual says it."""


def copy_cells(shape: str, multicast: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Where every byte of a `tcgen05.cp` goes, relative to its TMEM address.

    Returns:
        Two int64 arrays (rows, bytes of a row, copies): lane, and byte along the lane (4 to a column).

    Raises:
        PtxkitError: P470, no such shape, or not with this multicast.
    """
    found = COPY_SHAPES.get((shape, multicast))
    if found is None:
        need = [key[1] for key in COPY_SHAPES if key[0] == shape]
        message = f"`.{shape}` needs {' or '.join(f'`.{m}`' if m else 'no multicast' for m in need)}"
        if not need:
            message = f"`tcgen05.cp` has the shapes {', '.join(sorted({f'`.{k[0]}`' for k in COPY_SHAPES}))}"
        found_text = f"`.{multicast}`" if multicast and need else "none" if need else f"`.{shape}`"
        raise error(LAYOUT_ARGUMENT, f"{message}, found {found_text}", notes=("PTX ISA 9.7.16.9.2",))
    copies = found.lanes.shape[1]
    lane = np.broadcast_to(found.lanes[:, None, :], (found.rows, found.row_bytes, copies))
    byte = np.broadcast_to(np.arange(found.row_bytes)[None, :, None], lane.shape)
    return lane.copy(), byte.copy()
