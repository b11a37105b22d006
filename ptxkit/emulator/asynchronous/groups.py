"""Groups of asynchronous operations that a thread commits and waits for. PTX ISA 9.7.9.25.3, 9.7.9.25.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.values import WARP


class Groups:
    """The groups of one kind, `cp.async` or `bulk`, of every thread of a batch.

    Attributes:
        name: the kind.
        committed: int64 (rows, 32), how many groups each thread has committed; the number of the open one.
        waited: int64 (rows, 32), the event of each thread's last wait; 0 for none.
        left: int64 (rows, 32), how many groups that wait left pending.
    """

    def __init__(self, name: str, batch: Ctas) -> None:
        self.name = name
        shape = (batch.rows, WARP)
        self.committed = np.zeros(shape, np.int64)
        self.waited = np.zeros(shape, np.int64)
        self.left = np.zeros(shape, np.int64)

    def join(self, rows: np.ndarray, lanes: np.ndarray) -> Membership:
        """The signal of an operation that these threads issue: it belongs to the group that each has open."""
        return Membership(self, self.committed[rows, lanes])

    def commit(self, rows: np.ndarray, lanes: np.ndarray) -> None:
        """These threads close their open groups, empty ones too."""
        self.committed[rows, lanes] += 1

    def reach(self, rows: np.ndarray, lanes: np.ndarray, left: int) -> np.ndarray:
        """For each thread, int64 (rows, 32), which of its groups is the first that a wait of these threads
        for all but `left` groups doesn't cover."""
        reach = np.full(self.committed.shape, -1, np.int64)
        reach[rows, lanes] = self.committed[rows, lanes] - left
        return reach

    def wait(self, rows: np.ndarray, lanes: np.ndarray, left: int, number: int) -> None:
        """Take note that these threads waited."""
        self.waited[rows, lanes] = number
        self.left[rows, lanes] = left


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Each item belongs to a group of its issuing thread, which waits for it there.

    Attributes:
        groups: of which kind.
        index: the number of the thread's group.
    """

    groups: Groups
    index: np.ndarray
