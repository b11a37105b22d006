"""Launches that run at the same time, on devices that share one memory.

Their CTAs are numbered through, so that the record of an access tells which launch made it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.emulator.events import Events
from ptxkit.emulator.launch_state import LaunchState

MOST_CTAS = 1 << 24
"""How many CTAs a record can tell apart."""


class Company:
    """Some launches that run at the same time.

    Attributes:
        members: they, in the order in which they began.
        devices: int64, the number of each one's device.
        known: bool, by member which of the others had ended when it began: their accesses are ordered before
            it.
    """

    def __init__(self, events: Events) -> None:
        self.members: list[LaunchState] = []
        self.devices = np.zeros(0, np.int64)
        self.known: list[np.ndarray] = []
        self._events = events
        self._starts: list[int] = []
        self._ended: list[bool] = []
        self._next = 0

    def enter(self, launch: LaunchState) -> None:
        """A launch begins.

        Raises:
            PtxkitError: P516, there are more CTAs than records can tell apart.
        """
        if self._next + launch.shape.ctas > MOST_CTAS:
            message = f"launches that run at the same time have more than {MOST_CTAS} CTAs in all"
            raise error("P516", message, help="launch smaller grids, or one after the other")
        launch.company, launch.first_cta, launch.place = self, self._next, len(self.members)
        self._starts.append(self._next)
        self._next += launch.shape.ctas
        self.known.append(np.array(self._ended, bool))
        self.members.append(launch)
        self._ended.append(False)
        self.devices = np.array([member.device for member in self.members])

    def leave(self, launch: LaunchState) -> None:
        """A launch has ended."""
        self._ended[launch.place] = True

    def whose(self, ctas: np.ndarray) -> np.ndarray:
        """The places in `members` of those whose CTAs have some numbers."""
        found: np.ndarray = np.searchsorted(self._starts, ctas, side="right") - 1
        return found

    def owner(self, cta: int) -> tuple[LaunchState, int]:
        """The launch of a CTA, and its number in that one's grid."""
        member = self.members[bisect_right(self._starts, cta) - 1]
        return member, cta - member.first_cta


def launch_of(launch: LaunchState, cta: int) -> tuple[LaunchState, int]:
    """The launch of a CTA that a record of one launch's memory names, and its number in that one's grid."""
    company: Any = launch.company
    return (launch, cta) if company is None else company.owner(cta)
