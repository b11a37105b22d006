"""The registers that warpgroups hand to one another. PTX ISA 9.7.19.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.faults import fault

if TYPE_CHECKING:
    from ptxkit.emulator.gang import Gang

WARPGROUP = 4
"""Warps of a warpgroup."""


def check_warpgroups(gang: Gang, rows: np.ndarray) -> None:
    """Warps of a warpgroup that has exited must have executed the same `setmaxnreg`.

    Args:
        gang: the gang.
        rows: some that have exited.

    Raises:
        EmulatorFault: P609, they have not.
    """
    for first in np.unique(rows - rows % gang.warps % WARPGROUP).tolist():
        behind = min(first + WARPGROUP, (first // gang.warps + 1) * gang.warps)
        counts = gang.registers[first:behind]
        if (counts != counts[0]).any() and not gang.alive[first:behind].any():
            raise fault(
                "P609",
                "SETMAXNREG-PARTIAL-WG: warps of a warpgroup did not all execute the same `setmaxnreg`",
                gang.counted_by,
                (f"{gang.thread(first, 0)} and on: {counts.tolist()} registers, warp by warp",),
                "let all four warps of a warpgroup execute it",
            )
