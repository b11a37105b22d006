"""Which sectors of a store L1 sends to L2 together with those of the stores just before it.

L1 holds back what a warp writes for a short while. Of stores to neighbouring words of four lines an H200
sends 40 to 70 % of the sectors together where nothing else is done, all where warps also read; of those to
two lines 90 %, to eight or more none (bench/results/profiles.stores.h200.json, profiles.strangers.h200.json).
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ptxkit.emulator.timing.recorded import AccessCost

SECTOR = 32
MOST_LINES = 4
"""Lines that a store may touch to be sent together with others."""
ALL_LINES = 2
ALL, SOME = 0.9, 0.85
"""Parts of the sectors that are sent together: of stores to so many lines at most, and to more."""
STORES = 8
"""Stores of a warp, the last, that are remembered."""


class WriteMerging:
    """The stores of a launch's warps, one after another."""

    def __init__(self) -> None:
        self._last: deque[tuple[np.ndarray, np.ndarray, AccessCost, int]] = deque(maxlen=STORES)

    def merge(
        self, cost: AccessCost, warps: np.ndarray, places: np.ndarray, lines: np.ndarray, size: int
    ) -> tuple[float, float]:
        """A store of some lanes. What was written before is not sent together with what takes its place.

        Args:
            cost: what it costs; of earlier stores it is corrected.
            warps: the warp of each lane.
            places: the address of each lane.
            lines: how many lines each lane's warp touches.
            size: bytes of a lane.

        Returns:
            The part of its sectors that join earlier ones, and the bytes that lie in these.
        """
        own = warps << 44 | places // SECTOR
        keys, of, counts = np.unique(own, return_inverse=True, return_counts=True)
        few = np.unique(own[lines <= MOST_LINES])
        written = np.zeros(len(keys), np.int64)  # a bit for each byte of a sector
        np.bitwise_or.at(written, of, ((1 << min(size, SECTOR)) - 1) << places % SECTOR)
        rows = len(np.unique(warps))
        left = np.isin(keys, few)
        part = ALL if not lines.size or lines.mean() <= ALL_LINES else SOME
        joined = filled = 0.0
        for before, bytes_before, opener, several in self._last:
            at = np.minimum(np.searchsorted(before, keys), len(before) - 1)
            here = left & (before[at] == keys) & (bytes_before[at] & written == 0)
            bytes_before[at[here]] |= written[here]
            more = part * int(counts[here].sum()) * size
            opener.partial -= more / SECTOR / several
            filled += more
            joined += part * int(np.count_nonzero(here))
            left &= ~here
        if left.any():
            self._last.append((keys[left], written[left], cost, rows))
        return joined / len(keys), filled
