"""What warps release to one another through mbarriers and cluster barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

SPACES = ("shared", "global")
"""The state spaces that a proxy fence may be for."""


class ReleaseClocks:
    """The clocks that were released to each mbarrier of a batch: who waits for it acquires them.

    Attributes:
        clocks, proxied: int64 (slots, warps of a cluster) and (slots, 2, warps), as in `HappensBefore`.
        acquired: int64 (slots,).
        completed: int64 (slots, CTAs of a cluster, local numbers).
        initialised: int64 (slots,).
    """

    def __init__(self, slots: int, width: int, ctas: int, locals_: int) -> None:
        self.clocks = np.zeros((slots, width), np.int64)
        self.proxied = np.zeros((slots, len(SPACES), width), np.int64)
        self.acquired = np.zeros(slots, np.int64)
        self.initialised = np.zeros(slots, np.int64)
        self.completed = np.zeros((slots, ctas, locals_), np.int64)

    def copy_from(self, other: ReleaseClocks, slots: Any) -> None:
        """Take over what another one has for some slots."""
        for name in ("clocks", "proxied", "acquired", "completed", "initialised"):
            getattr(self, name)[slots] = getattr(other, name)[slots]

    def grown(self, slots: int, locals_: int) -> ReleaseClocks:
        """The same with room for more."""
        count, width = self.clocks.shape
        if (slots, locals_) == (count, self.completed.shape[2]):
            return self
        larger = ReleaseClocks(slots, width, self.completed.shape[1], locals_)
        old = len(self.acquired)
        larger.clocks[:old], larger.proxied[:old], larger.acquired[:old] = (
            self.clocks,
            self.proxied,
            self.acquired,
        )
        larger.initialised[:old] = self.initialised
        larger.completed[:old, :, : self.completed.shape[2]] = self.completed
        return larger
