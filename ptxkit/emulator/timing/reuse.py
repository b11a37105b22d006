"""How many lines of memory are touched before one of them is touched again: whether a cache still has it."""

from __future__ import annotations

import numpy as np

NEVER = 0
"""The time of a line that was not touched yet."""
MOST_MARKS = 48
CLOSE = 1.1
"""Marks between whose counts lies less than this are thinned out."""


class Reuse:
    """Counts distinct lines between touches.

    Time goes by in calls of `touch`. At some times, the marks, it is known how many distinct lines have been
    touched since.
    """

    def __init__(self) -> None:
        self.now = NEVER
        self._marks = np.zeros(0, np.int64)
        self._distinct = np.zeros(0, np.int64)

    def touch(self, last: np.ndarray) -> np.ndarray:
        """Some distinct lines are touched.

        Args:
            last: when each was the last time, `NEVER` of those that never were.

        Returns:
            How many distinct lines were touched since, those of that time among them; 0 where it never was.
        """
        self.now += 1
        mark = np.searchsorted(self._marks, last, side="right") - 1
        known = (last != NEVER) & (mark >= 0)
        between = np.where(known, self._distinct[mark] if len(self._marks) else 0, 0)
        # A line counts from each mark on that lies behind its last time.
        since = np.bincount(mark + 1, minlength=len(self._marks) + 1)
        self._distinct += np.cumsum(since)[:-1]
        self._marks = np.append(self._marks, self.now)
        self._distinct = np.append(self._distinct, len(last))
        if len(self._marks) > MOST_MARKS:
            self._thin()
        return between

    def _thin(self) -> None:
        """Leave out marks that say nearly what the one before them says."""
        kept = [0]
        for at in range(1, len(self._marks)):
            if self._distinct[kept[-1]] > CLOSE * self._distinct[at] or at == len(self._marks) - 1:
                kept.append(at)
        if len(kept) > MOST_MARKS // 2:
            kept = [*kept[:-8:2], *kept[-8:]]
        self._marks, self._distinct = self._marks[kept], self._distinct[kept]
