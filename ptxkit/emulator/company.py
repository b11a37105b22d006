"""Launches that run at the same time, on devices that share one memory.

Their CTAs are numbered through, so that the record of an access tells which launch made it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.emulator.global_memory import GlobalMemory
from ptxkit.emulator.launch_state import LaunchState

MOST_CTAS = 1 << 24
"""How many CTAs a record can tell apart."""

LARGEST = 16
"""Bytes of the largest access."""


class Numbered(NamedTuple):
    """The numbers of a launch's CTAs: the first, the one behind the last, its place among the members."""

    start: int
    end: int
    place: int


class Company:
    """Some launches that run at the same time.

    Attributes:
        members: they, in the order in which they began, also those that have ended.
        devices: int64, the number of each one's device.
        granule: bytes of the smallest access to global memory of any of them.
        known: bool, by member which of those before had ended when it began: their accesses are ordered
            before it.
    """

    def __init__(self, memory: GlobalMemory) -> None:
        self.members: list[LaunchState] = []
        self.devices = np.zeros(0, np.int64)
        self.granule = LARGEST
        self.known: list[np.ndarray] = []
        self._memory = memory
        self._ended: list[bool] = []
        self._numbered: list[Numbered] = []
        self._starts, self._places = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def enter(self, launch: LaunchState) -> None:
        """A launch begins.

        Raises:
            PtxkitError: P516, there are more CTAs than records can tell apart.
        """
        launch.company, launch.place = self, len(self.members)
        launch.first_cta = self._number(launch.shape.ctas, launch.place)
        self.granule = min(self.granule, launch.program.smallest.get("global", LARGEST))
        self._memory.refine_histories(self.granule)
        self.known.append(np.array(self._ended, bool))
        self.members.append(launch)
        self._ended.append(False)
        self.devices = np.append(self.devices, launch.device)

    def leave(self, launch: LaunchState) -> None:
        """A launch has ended."""
        self._ended[launch.place] = True

    def _number(self, ctas: int, place: int) -> int:
        """The first of so many numbers that no CTA has."""
        start = self._numbered[-1].end if self._numbered else 0
        if start + ctas > MOST_CTAS:
            # What those did that have ended is forgotten, so that their numbers can be given again.
            self._memory.forget_histories()
            self._numbered = [one for one in self._numbered if not self._ended[one.place]]
            gaps = zip([0, *(one.end for one in self._numbered)],
                       [*(one.start for one in self._numbered), MOST_CTAS], strict=True)  # fmt: skip
            start = next((low for low, high in gaps if high - low >= ctas), -1)
            if start < 0:
                message = f"launches that run at the same time have more than {MOST_CTAS} CTAs in all"
                raise error("P516", message, help="launch smaller grids, or one after the other")
        self._numbered.append(Numbered(start, start + ctas, place))
        self._numbered.sort()
        self._starts = np.array([one.start for one in self._numbered])
        self._places = np.array([one.place for one in self._numbered])
        return start

    def whose(self, ctas: np.ndarray) -> np.ndarray:
        """The places in `members` of those whose CTAs have some numbers."""
        found: np.ndarray = self._places[np.searchsorted(self._starts, ctas, side="right") - 1]
        return found

    def owner(self, cta: int) -> tuple[LaunchState, int]:
        """The launch of a CTA, and its number in that one's grid."""
        at = self._numbered[bisect_right(self._numbered, (cta, MOST_CTAS + 1)) - 1]
        return self.members[at.place], cta - at.start
