"""Groups of asynchronous operations that a thread commits and waits for. PTX ISA 9.7.9.25.3, 9.7.9.25.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.asynchronous.operation import Membership, Operation
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.cta_batch import CtaBatch


class Groups:
    """The groups of one kind, `cp.async` or `bulk`, of every thread of a batch.

    Attributes:
        name: the kind.
        committed: int64 (rows, 32), how many groups each thread has committed; the number of the open one.
        waited: int64 (rows, 32), the event of each thread's last wait; 0 for none.
        left: int64 (rows, 32), how many groups that wait left pending.
    """

    def __init__(self, name: str, batch: CtaBatch) -> None:
        self.name = name
        self.batch = batch
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

    def covered(self, operation: Operation, rows: np.ndarray, lanes: np.ndarray, left: int) -> np.ndarray:
        """The items of an operation that a wait of these threads for all but `left` groups covers."""
        assert isinstance(operation.signal, Membership)
        limit = np.full(self.committed.shape, -1, np.int64)
        limit[rows, lanes] = self.committed[rows, lanes] - left
        covered: np.ndarray = operation.signal.index < limit[operation.rows, operation.lanes]
        return covered

    def wait(self, rows: np.ndarray, lanes: np.ndarray, left: int, number: int) -> None:
        """Take note that these threads waited."""
        self.waited[rows, lanes] = number
        self.left[rows, lanes] = left
