"""`tcgen05.fence`, and the relaxed operations on mbarriers that need it. PTX ISA 9.7.16.6.3, 9.7.16.11.

A barrier, and an mbarrier with `.release` and `.acquire`, orders instructions on tensor memory as it orders
everything else. A relaxed operation orders nothing; together with a fence it orders these instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ptxkit.emulator.tensor_memory.engine import Engine
    from ptxkit.emulator.tensor_memory.flights import Flight


class Fences:
    """What the warps of a gang have fenced.

    Attributes:
        engine: of the gang.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        rows = engine.gang.rows
        self._used = np.zeros(rows, np.int64)
        self._before = np.zeros(rows, np.int64)
        self._bare = np.zeros(rows, np.int64)
        self._waited: dict[int, set[int]] = {}

    def used(self, row: int, number: int) -> None:
        """A row has used tensor memory, or waited for its loads or stores."""
        self._used[row] = number

    def before(self, rows: np.ndarray, number: int) -> None:
        """Rows execute `tcgen05.fence::before_thread_sync`."""
        self._before[rows] = number

    def arrive(self, rows: np.ndarray, slots: np.ndarray, number: int) -> None:
        """Rows arrive at mbarriers with `.relaxed`: what came before their fence is released."""
        fenced = self._before[rows] > self._used[rows]
        self._bare[rows[~fenced]] = number
        for row, slot in zip(rows[fenced].tolist(), slots[fenced].tolist(), strict=True):
            one = np.array([row])
            self.engine.gang.order.release(one, np.array([slot]), int(self._before[row]))

    def wait(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """Rows have waited for mbarriers with `.relaxed`: a fence will acquire that."""
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            self._waited.setdefault(row, set()).add(slot)

    def after(self, rows: np.ndarray, number: int) -> None:
        """Rows execute `tcgen05.fence::after_thread_sync`."""
        gang = self.engine.gang
        for row in np.unique(rows).tolist():
            slots = self._waited.pop(row, None)
            if slots:
                found = np.array(sorted(slots))
                gang.order.acquire(np.full(len(found), row), found, gang.mbarriers, number)

    def missing(self, earlier: Flight, later: Flight) -> tuple[str, str, str, str] | None:
        """Code, name, words and advice where a relaxed operation lacks its fence between two instructions."""
        name = f"`tcgen05.{earlier.kind}`"
        if self._waited.get(later.row):
            help = "put `tcgen05.fence::after_thread_sync` behind the relaxed wait"
            return (
                "P6103",
                "TCGEN-FENCE-AFTER-MISSING",
                f"and its relaxed wait for {name} has no fence behind",
                help,
            )
        if self._bare[earlier.row] > (earlier.done or earlier.number) and earlier.row != later.row:
            help = "put `tcgen05.fence::before_thread_sync` before the relaxed arrival"
            return (
                "P6104",
                "TCGEN-FENCE-BEFORE-MISSING",
                f"and no fence orders the arrival after {name}",
                help,
            )
        return None
