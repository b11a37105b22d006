"""The CTAs that execute together: who is who among their warps, and their shared memory."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.faults import Dim3, ThreadIndex, show
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.values import WARP


class Scheduling(Protocol):
    """What the parts of a batch ask of its schedule; see `ptxkit.emulator.scheduler`."""

    def runnable(self) -> bool: ...

    def wake(self, slots: np.ndarray) -> None: ...

    def awaited(self) -> np.ndarray: ...

    def expire(self) -> bool: ...

    def reconsider(self) -> None: ...

    def state(self) -> bytes: ...


class Ctas:
    """Some CTAs of a grid; their warps are the rows of every register.

    Attributes:
        launch: what they belong to.
        ctas: their numbers in the grid, x fastest.
        warps_per_cta: warps of one CTA.
        cluster: CTAs of a cluster; those of one follow one another in `ctas`, by rank.
        rows: warps of all of them.
        alive: bool (rows, 32), the threads that exist and have not exited.
        living: how many those are.
        shared: their shared memory.
        scheduling: decides which of their lanes run.
        values: special registers, and other values that hang on the row and lane alone, by name.
    """

    scheduling: Scheduling

    def __init__(self, launch: LaunchState, ctas: np.ndarray) -> None:
        self.launch = launch
        self.ctas = ctas
        self.warps_per_cta: int = launch.warps_per_cta
        self.cluster: int = launch.cluster
        self.rows: int = len(ctas) * self.warps_per_cta
        threads = launch.shape.threads
        self.alive = np.ones((self.rows, WARP), bool)
        if threads % WARP:
            self.alive[self.warps_per_cta - 1 :: self.warps_per_cta, threads % WARP :] = False
        self.living = len(ctas) * threads
        self.values: dict[str, Any] = {}
        self._by_number = np.argsort(ctas) if self.cluster > 1 else None
        self.shared = TiledBank(len(ctas), launch.shared.total, launch.sanitize)
        self.shared.define(launch.program.reserved)
        self.shared.end(launch.shared.total)
        granule = launch.program.smallest.get("shared")
        if launch.sanitize and granule:
            size = self.shared.stride * self.shared.tiles
            self.shared.history = AccessHistory(size, granule, private=self.cluster == 1)

    def cta_coordinates(self, cta: int) -> Dim3:
        """`%ctaid` of one of them."""
        x, y, _ = self.launch.shape.grid
        number = int(self.ctas[cta])
        return number % x, number // x % y, number // (x * y)

    def thread(self, row: int, lane: int) -> ThreadIndex:
        """The thread of a row and lane."""
        cta, warp = divmod(row, self.warps_per_cta)
        return self.launch.thread(int(self.ctas[cta]), warp * WARP + lane)

    def name_cta(self, cta: int) -> str:
        """`(0, 0, 0)`, and in clusters the rank."""
        name = show(self.cta_coordinates(cta))
        return name if self.cluster == 1 else f"{name}, rank {cta % self.cluster}"

    def position(self, numbers: Any) -> Any:
        """Where CTAs of the grid stand among them, -1 for others."""
        ctas = self.ctas if self._by_number is None else self.ctas[self._by_number]
        at = np.minimum(np.searchsorted(ctas, numbers), len(ctas) - 1)
        found = ctas[at] == numbers
        return np.where(found, at if self._by_number is None else self._by_number[at], -1)

    def peer(self, rows: Any, ranks: Any) -> Any:
        """The CTA with a rank in the cluster of a row."""
        return rows // self.warps_per_cta // self.cluster * self.cluster + ranks

    @property
    def running(self) -> int:
        """How many of them have threads that have not exited."""
        return int(np.count_nonzero(self.alive.reshape(len(self.ctas), -1).any(axis=1)))
