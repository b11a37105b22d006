"""What `tcgen05.ld`, `.st`, `.cp` and `.shift` move. PTX ISA 9.7.16.8, tables 49 and 50, and 9.7.16.9."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ptxkit.emulator.tensor_memory.cells import PITCH, Box, lane_bits
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand, shared_operand
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts.tensor_memory import COPY_SHAPES, MOVE_SHAPES, QUARTER

LOW = np.uint32(0xFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One shape and repeat of a load or store.

    Attributes:
        shape, num, half_split, packed: as the instruction has them.
        cells: int64 (registers, 32 threads), relative to the address; of the low half where packed.
        boxes: the same cells as boxes.
        lanes: lanes that it covers from that of the address on.
    """

    shape: str
    num: int
    half_split: int
    packed: bool
    cells: np.ndarray
    boxes: tuple[Box, ...]
    lanes: int

    @property
    def registers(self) -> int:
        """Registers of each thread."""
        return len(self.cells)

    def places(self, address: int) -> np.ndarray:
        """The cells from a TMEM address on."""
        return self.cells + ((address >> 16) * PITCH + (address & 0xFFFF))


@cache
def move(shape: str, num: int, half_split: int = 0, packed: bool = False) -> Move:
    """A shape with its repeat.

    Two 16-bit values, each in the low half of neighbouring columns, share a register where `packed`; so the
    columns of the base shape count twice. The offset `immHalfSplitoff` counts columns all the same.

    Raises:
        PtxkitError: P470, the shape has no such repeat.
    """
    known = MOVE_SHAPES[shape]
    step = 2 if packed else 1
    lane, column = known.cells(num)
    column = column * step
    if shape == "16x32bx2":
        column = column + np.arange(32)[:, None] // 16 * half_split
    ends = column + step
    boxes = []
    for lanes, columns, last in _parts(lane, column, ends, shape):
        boxes.append(Box(lane_bits(int(i) for i in lanes), int(columns.min()), int(last.max())))
    cells = np.ascontiguousarray((lane * PITCH + column).T)
    return Move(shape, num, half_split, packed, cells, tuple(boxes), known.lanes)


def _parts(
    lane: np.ndarray, column: np.ndarray, ends: np.ndarray, shape: str
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The threads whose cells make a box: all, or the halves of `16x32bx2`."""
    threads = [slice(0, 16), slice(16, 32)] if shape == "16x32bx2" else [slice(None)]
    return [(lane[part].reshape(-1), column[part], ends[part]) for part in threads]


def pack(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Words of two cells as `.pack::16b` makes them of their low halves."""
    return low & LOW | high << np.uint32(16)


def unpack(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of two cells that `.unpack::16b` makes of one; the upper halves are zero."""
    return words & LOW, words >> np.uint32(16)


SOURCE_TYPES = {None: "u8", "b6x16_p32": "e3m2", "b4x16_p64": "e2m1"}
"""For each source format a type of as many bits."""
SHIFTED_COLUMNS = 8
"""Columns of `tcgen05.shift`: 32 bytes of each lane, the shape 31x256b of 9.7.16.2.3."""


@dataclass(frozen=True, slots=True, eq=False)
class Tcgen05Copy:
    """A shape of `tcgen05.cp`.

    Attributes:
        rows, row_bytes: of the source matrix as it arrives in tensor memory.
        cells: int64 (rows, columns, copies), relative to the address.
        boxes: the same cells as boxes.
    """

    rows: int
    row_bytes: int
    cells: np.ndarray
    boxes: tuple[Box, ...]

    def source(self, descriptor: SmemDescTcgen05, source_format: str | None) -> Tcgen05SharedOperand:
        """What is read from shared memory: K-major rows of bytes, or of 4-bit or 6-bit elements with gaps."""
        dtype = SOURCE_TYPES[source_format]
        padded = source_format is not None
        return shared_operand(descriptor, self.rows, self.row_bytes, dtype, "K", padded)

    def words(self, codes: np.ndarray, source_format: str | None) -> np.ndarray:
        """The words for `cells`, (rows, columns, 1), of the elements that were read, (row bytes, rows)."""
        expanded = np.ascontiguousarray(decompressed(codes, source_format).T)
        return expanded.view(np.uint32)[..., None]


def decompressed(codes: np.ndarray, source_format: str | None) -> np.ndarray:
    """Elements as the bytes that hold them in tensor memory: 4 bits in bits 2 to 5, 6 bits in bits 0 to 5.

    The manual shows this in figures 195, 197 and 198; it is the container of `mma` in 9.7.14.5.14.
    """
    return codes << np.uint8(2) if source_format == "b4x16_p64" else codes


@cache
def copy(shape: str, multicast: str) -> Tcgen05Copy:
    """A shape with its multicast, which exist."""
    known = COPY_SHAPES[shape, multicast]
    columns = known.row_bytes // 4
    cells = known.lanes[:, None, :] * PITCH + np.arange(columns)[None, :, None]
    boxes = (Box(lane_bits(int(lane) for lane in known.lanes.reshape(-1)), 0, columns),)
    return Tcgen05Copy(known.rows, known.row_bytes, cells, boxes)


def shift_cells(address: int) -> tuple[np.ndarray, np.ndarray]:
    """The cells that `tcgen05.shift.down` reads, and those that take their values.

    Each lane takes the next one's; the last of the 32 keeps its own.
    """
    first = (address >> 16) * PITCH + (address & 0xFFFF)
    rows = first + np.arange(QUARTER - 1)[:, None] * PITCH
    written = rows + np.arange(SHIFTED_COLUMNS)
    return written + PITCH, written


def shift_boxes(address: int) -> tuple[Box, Box]:
    """The same cells as boxes."""
    lane, column = address >> 16, address & 0xFFFF
    written = Box(lane_bits(range(QUARTER - 1)), 0, SHIFTED_COLUMNS).moved(lane, column)
    return written.moved(1, 0), written
