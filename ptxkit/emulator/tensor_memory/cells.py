"""The tensor memory of CTAs: 128 lanes of 512 columns of 32 bits each, 576 on sm_107. PTX ISA 9.7.16.1.

A cell is one column of one lane; cell `lane * PITCH + column` of a CTA. Fresh cells are undefined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.layouts.tensor_memory import LANES, DataPath

PITCH = 576
"""Cells from a lane to the next: the columns of the device that has most."""
CELLS = LANES * PITCH
EVERY_LANE = (1 << LANES) - 1

Mask = tuple[Any, int] | None
"""Undefined bits and their origin; None where there are none."""


@dataclass(frozen=True, slots=True)
class Box:
    """Cells that an operation touches: some lanes of neighbouring columns.

    Attributes:
        lanes: bit i stands for lane i.
        first, end: the columns, `end` not included.
    """

    lanes: int
    first: int
    end: int

    def meets(self, other: Box) -> bool:
        """Whether both have a cell in common."""
        return self.first < other.end and other.first < self.end and self.lanes & other.lanes != 0

    def moved(self, lane: int, column: int) -> Box:
        """The box further on."""
        return Box(self.lanes << lane, self.first + column, self.end + column)

    def beyond(self, columns: int) -> bool:
        """Whether some of it lies outside a tensor memory of so many columns."""
        return self.end > columns or self.first < 0 or self.lanes > EVERY_LANE

    def __str__(self) -> str:
        return f"lanes {_ranges(self.lanes)}, columns {self.first} to {self.end - 1}"


def _ranges(lanes: int) -> str:
    """`0-31, 64-95`."""
    on = [lane for lane in range(lanes.bit_length()) if lanes >> lane & 1]
    starts = [lane for lane in on if lane == 0 or not lanes >> (lane - 1) & 1]
    ends = [lane for lane in on if not lanes >> (lane + 1) & 1]
    return ", ".join(
        str(start) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)
    )


def lane_bits(lanes: Iterable[int]) -> int:
    """The set of lanes as bits."""
    bits = 0
    for lane in set(lanes):
        bits |= 1 << lane
    return bits


def boxes_meet(some: Iterable[Box], others: Iterable[Box]) -> Box | None:
    """A box of the first that has a cell in common with one of the second."""
    other = tuple(others)
    for box in some:
        if any(box.meets(one) for one in other):
            return box
    return None


class TensorMemory:
    """The tensor memory of the CTAs of a batch.

    Attributes:
        data: uint32 (ctas, cells).
        defined: uint32 of the same shape, the bits that somebody wrote; None where that is not tracked.
        origins: for every cell the origin of what is undefined in it, 0 for none; None until there is one.
    """

    def __init__(self, ctas: int, tracked: bool) -> None:
        self.data = np.zeros((ctas, CELLS), np.uint32)
        self.defined = np.zeros((ctas, CELLS), np.uint32) if tracked else None
        self.origins: np.ndarray | None = None

    def load(self, cta: Any, cells: np.ndarray) -> np.ndarray:
        """Words of one CTA, or of several where `cta` is an array that broadcasts against `cells`."""
        if isinstance(cta, int):
            return self.data[cta].take(cells)
        return self.data.reshape(-1).take(cells + cta * CELLS)

    def undefined(self, cta: Any, cells: np.ndarray) -> np.ndarray | None:
        """The undefined bits of what `load` gives; None where there are none."""
        if self.defined is None:
            return None
        if isinstance(cta, int):
            masks = ~self.defined[cta].take(cells)
        else:
            masks = ~self.defined.reshape(-1).take(cells + cta * CELLS)
        return masks if masks.any() else None

    def origin(self, cta: Any, cells: np.ndarray) -> int:
        """The origin of undefined bits among some cells, 0 where no kernel stored them."""
        if self.origins is None:
            return 0
        return int(self.origins.reshape(-1).take(cells + cta * CELLS).max(initial=0))

    def store(self, cta: Any, cells: np.ndarray, words: np.ndarray, undefined: Mask = None) -> None:
        """Write words, of which some bits may be undefined."""
        at = cells + cta * CELLS
        self.data.reshape(-1)[at] = words
        if self.defined is None:
            return
        if undefined is None:
            self.defined.reshape(-1)[at] = np.uint32(0xFFFF_FFFF)
            if self.origins is not None:
                self.origins.reshape(-1)[at] = 0
            return
        mask, origin = undefined
        self.defined.reshape(-1)[at] = ~mask
        if self.origins is None:
            self.origins = np.zeros(self.data.shape, np.uint32)
        self.origins.reshape(-1)[at] = np.where(mask != 0, np.uint32(origin), np.uint32(0))

    def forget(self, cta: int, columns: slice) -> None:
        """Columns become undefined, as freshly allocated ones are."""
        if self.defined is not None:
            self.defined[cta].reshape(LANES, PITCH)[:, columns] = 0
        if self.origins is not None:
            self.origins[cta].reshape(LANES, PITCH)[:, columns] = 0


# ---- the matrix D, and others that spread over a data path


@dataclass(frozen=True, slots=True)
class Area:
    """Where a matrix of one 32-bit word an element lies, by a data path.

    Attributes:
        path: layout A to G.
        n: columns of the matrix.
        lane, column: of its address.
    """

    path: DataPath
    n: int
    lane: int
    column: int

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The cells."""
        end = self.column + self.n // self.path.groups
        if self.path.lane_of_16 == 32:
            lanes = lane_bits(row % 16 + row // 16 * 32 + self.lane for row in range(self.path.rows))
        else:
            lanes = EVERY_LANE << self.lane
        return (Box(lanes, self.column, end),)

    def _view(self, bank: np.ndarray) -> np.ndarray:
        """The words of one CTA as (groups or 1, rows in blocks .., columns), a view."""
        columns = bank.reshape(LANES, PITCH)[:, self.column : self.column + self.n // self.path.groups]
        if self.path.lane_of_16 == 32:
            return columns.reshape(4, 32, -1)[:, self.lane : self.lane + 16]
        return columns.reshape(self.path.groups, self.path.rows, -1)

    def cells(self, bank: np.ndarray) -> np.ndarray:
        """The words of one CTA that hold the matrix, in some order: a view."""
        return self._view(bank)

    def read(self, bank: np.ndarray) -> np.ndarray:
        """The matrix (rows, n) out of the words of one CTA."""
        view = self._view(bank)
        if self.path.lane_of_16 == 32:
            return view.reshape(self.path.rows, self.n)
        return view.transpose(1, 0, 2).reshape(self.path.rows, self.n)

    def write(self, bank: np.ndarray, matrix: np.ndarray, where: np.ndarray | None = None) -> None:
        """Put a matrix (rows, n) into the words of one CTA, in some lanes alone where `where` says so.
        `where`: bool (lanes,), the lanes that are written."""
        view = self._view(bank)
        values: np.ndarray = matrix.reshape(-1, 16, self.n)
        if self.path.lane_of_16 != 32:
            values = matrix.reshape(self.path.rows, self.path.groups, -1).transpose(1, 0, 2)
        if where is None:
            view[...] = values
            return
        np.copyto(view, values, where=self._lanes(where, view.shape[:2])[..., None])

    def _lanes(self, where: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Lanes (128,) as the first axes of a view."""
        if self.path.lane_of_16 == 32:
            return where.reshape(4, 32)[:, self.lane : self.lane + 16]
        return where.reshape(shape)

    def choose(self, where: np.ndarray) -> np.ndarray:
        """For each element (rows, n) whether its lane is among some (128,)."""
        groups, rows = self.path.groups, self.path.rows
        if self.path.lane_of_16 == 32:
            lanes = self._lanes(where, ()).reshape(rows, 1)
        else:
            lanes = where.reshape(groups, rows).T
        return np.repeat(lanes, self.n // groups, axis=1)
