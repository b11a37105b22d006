"""The warpgroups that execute a `wgmma` instruction. PTX ISA 9.7.15.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.aligned import check_whole_warps
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.warpgroup.registers import WARPS
from ptxkit.emulator.warpgroup.sync_point import warpgroup_of

DIVERGED = "P637"


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The warpgroups of a set that execute an instruction.

    Attributes:
        which: their numbers in the batch.
        rows: int64 (warpgroups, 4), the set's rows that they are; None for all of them, in order.
    """

    which: np.ndarray
    rows: np.ndarray | None

    @classmethod
    def of(cls, lane_set: LaneSet, guard: Any, site: Site) -> Members:
        """The warpgroups whose lanes a guard holds for.

        Raises:
            EmulatorFault: P637, a warpgroup is not whole; P640, P641, a warp is not.
        """
        batch = lane_set.batch
        check_whole_warps(lane_set, guard, site)
        lanes = executing(lane_set, guard)
        at = np.arange(lane_set.n) if lanes is None else np.flatnonzero(lanes[:, 0])
        rows = at if lane_set.rows is None else lane_set.rows[at]
        which = warpgroup_of(batch, rows)
        numbers, counts = np.unique(which, return_counts=True)
        if (counts != WARPS).any():
            short = int(np.argmax(counts != WARPS))
            row = int(rows[np.argmax(which == numbers[short])])
            raise fault(
                DIVERGED,
                f"`{site.instruction.spelling}` needs all four warps of the warpgroup",
                site,
                (f"{batch.thread(row, 0)} executes it with {counted(int(counts[short]), 'warp')}",),
                "launch whole warpgroups of 128 threads, and keep their warps together; PTX ISA 9.7.15.1",
            )
        return cls(numbers, None if len(at) == lane_set.n else at.reshape(-1, WARPS))
