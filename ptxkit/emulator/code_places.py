"""Who stands where while a launch stands still: warps by number, their rows and lanes in lane sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import BlockToRun, LaneSet
from ptxkit.emulator.values import WARP


@dataclass(frozen=True, slots=True)
class WarpNumber:
    """One warp of a launch: the number of its CTA in the grid, x fastest, and its own in the CTA."""

    cta: int
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class CodePlace:
    """Where a lane set stands: before an instruction.

    Attributes:
        block: of its code.
        index: of the instruction in the block.
    """

    lane_set: LaneSet
    block: BlockToRun
    index: int

    @property
    def site(self) -> Site | None:
        """The instruction; None at the end of a function's text."""
        return self.block.sites[self.index] if self.index < len(self.block.sites) else None

    @property
    def callers(self) -> list[Site]:
        """The calls that led here, the innermost first."""
        frames = reversed(self.lane_set.frames)
        return [frame.code.blocks[frame.pc - 1].sites[-1] for frame in frames]


def row_of(batch: CtaBatch, warp: WarpNumber) -> int | None:
    """The row of a warp in a batch; None where the batch hasn't its CTA."""
    at = np.flatnonzero(batch.ctas == warp.cta)
    return int(at[0]) * batch.warps_per_cta + warp.number if len(at) else None


def warp_of(batch: CtaBatch, row: int) -> WarpNumber:
    """The warp at a row of a batch."""
    cta, number = divmod(row, batch.warps_per_cta)
    return WarpNumber(int(batch.ctas[cta]), number)


def lanes_in(lane_set: LaneSet, row: int) -> np.ndarray | None:
    """The lanes of a row of the batch that a lane set has, bool (32,); None where it has none."""
    at = index_in(lane_set, row)
    if at is None:
        return None
    lanes = np.ones(WARP, bool) if lane_set.mask is None else lane_set.mask[at]
    lanes = lanes & (lane_set.batch.alive[row])
    return lanes if lanes.any() else None


def index_in(lane_set: LaneSet, row: int) -> int | None:
    """Where the values of a row of the batch stand in those of a lane set; None where it has not the row."""
    if row < 0:
        return None
    if lane_set.rows is None:
        return row
    at = int(np.searchsorted(lane_set.rows, row))
    return at if at < lane_set.n and lane_set.rows[at] == row else None
