"""The registers that warpgroups hand to one another. PTX ISA 9.7.19.5."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.distinct import distinct
from ptxkit.emulator.faults import Site, fault

WARPGROUP = 4
"""Warps of a warpgroup."""


class WarpRegisters:
    """How many registers the warps of a batch have.

    Attributes:
        each: int64 (rows,), registers of each thread of a warp; 0 where the kernel does not say.
        pool: the same added up over the warps of a CTA when it starts.
        changed_by: the last `setmaxnreg`; None before the first.
        changes, changed_at: int64 (rows,), how often each warp has executed one, and the last time's event.
    """

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.each = np.full(batch.rows, batch.launch.program.registers)
        self.pool = batch.launch.program.registers * batch.warps
        self.changed_by: Site | None = None
        self.changes = np.zeros(batch.rows, np.int64)
        self.changed_at = np.zeros(batch.rows, np.int64)
        batch.at_exit.insert(0, self.check)

    def check(self, rows: np.ndarray) -> None:
        """Warps of a warpgroup that has exited must have executed the same `setmaxnreg`.

        Args:
            rows: some that have exited.

        Raises:
            EmulatorFault: P609, they have not.
        """
        batch = self.batch
        for first in distinct(rows - rows % batch.warps % WARPGROUP).tolist():
            behind = min(first + WARPGROUP, (first // batch.warps + 1) * batch.warps)
            counts = self.each[first:behind]
            if (counts != counts[0]).any() and not batch.alive[first:behind].any():
                raise fault(
                    "P609",
                    "warps of a warpgroup did not all execute the same `setmaxnreg`",
                    self.changed_by,
                    (f"{batch.thread(first, 0)} and on: {counts.tolist()} registers, warp by warp",),
                    "let all four warps of a warpgroup execute it",
                )
