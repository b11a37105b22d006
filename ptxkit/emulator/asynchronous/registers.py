"""The registers that warpgroups hand to one another. PTX ISA 9.7.19.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.faults import fault

if TYPE_CHECKING:
    from ptxkit.emulator.cta_batch import CtaBatch

WARPGROUP = 4
"""Warps of a warpgroup."""


def check_warpgroups(batch: CtaBatch, rows: np.ndarray) -> None:
    """Warps of a warpgroup that has exited must have executed the same `setmaxnreg`.

    Args:
        batch: the batch.
        rows: some that have exited.

    Raises:
        EmulatorFault: P609, they have not.
    """
    for first in np.unique(rows - rows % batch.warps % WARPGROUP).tolist():
        behind = min(first + WARPGROUP, (first // batch.warps + 1) * batch.warps)
        counts = batch.registers[first:behind]
        if (counts != counts[0]).any() and not batch.alive[first:behind].any():
            raise fault(
                "P609",
                "SETMAXNREG-PARTIAL-WG: warps of a warpgroup did not all execute the same `setmaxnreg`",
                batch.counted_by,
                (f"{batch.thread(first, 0)} and on: {counts.tolist()} registers, warp by warp",),
                "let all four warps of a warpgroup execute it",
            )
