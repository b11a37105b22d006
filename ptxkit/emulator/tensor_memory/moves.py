"""What `tcgen05.ld` and `tcgen05.st` move: cells and registers. PTX ISA 9.7.16.8, tables 49 and 50."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ptxkit.emulator.tensor_memory.cells import Box, lane_bits
from ptxkit.layouts.tensor_memory import COLUMNS, MOVE_SHAPES

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
        return self.cells + ((address >> 16) * COLUMNS + (address & 0xFFFF))


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
    cells = np.ascontiguousarray((lane * COLUMNS + column).T)
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
