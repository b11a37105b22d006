"""What each warp has seen: up to which number the accesses of the others happen before what it does now.

Numbers grow as the machine runs; every access that is sought for races, and every event that orders
accesses, has one. What a warp has seen of the warps of its own cluster (without clusters: its CTA) is kept
warp by warp; what it has seen of other CTAs is one number, so an order that goes through memory is taken to
cover everything before it. Mbarriers hand on exactly what was released to them (`Handover`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.handover import SPACES, Handover
from ptxkit.emulator.ledger import THREAD, THREAD_BITS, Ledger
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.asynchronous.mbarriers import MBarriers
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group


class Seen:
    """What each warp of a gang has seen.

    Attributes:
        seen: int64 (rows, warps of a cluster): accesses of that warp with smaller numbers happen before what
            the row does now.
        acquired: int64 (rows,), the same for all CTAs outside the cluster.
        fenced: int64 (rows,), up to which number a relaxed write publishes: the last fence.
        pending: int64 (rows,), what relaxed reads have found published and a fence will acquire.
        proxied: int64 (rows, 2, warps of a cluster): generic accesses of that warp to shared and to global
            memory with smaller numbers are visible to what the row does through the async proxy.
        completed: int64 (rows, CTAs of a cluster, local numbers of mbarriers): up to which number the row
            knows the asynchronous operations to be done that such an mbarrier tells of.
        initialised: int64 (rows,), up to which number the row knows every mbarrier of the cluster to be
            initialised: what `fence.mbarrier_init` and a relaxed cluster barrier give.
        init_fenced: int64 (rows,), the event of the row's last `fence.mbarrier_init`.
        last_proxy_fence: int64 (rows,), the event of its last `fence.proxy.async`; 0 for none.
        waits: int64 (rows, local numbers), the event of the row's last wait for such an mbarrier.
        relaxed: int64 (rows,), the event of the row's last relaxed arrival or wait.
        met: bool (rows, CTAs of a cluster), which of them the row knows to be running.
        column: which warp of its cluster a row is.
    """

    def __init__(self, gang: Gang, start: int) -> None:
        self.gang = gang
        warps, size = gang.warps, gang.cluster
        width = size * warps
        self.start = start
        self.column = np.arange(gang.rows) % width
        self.rank = self.column // warps
        self.seen = np.full((gang.rows, width), start, np.int64)
        self.acquired = np.full(gang.rows, start, np.int64)
        self.fenced = np.zeros(gang.rows, np.int64)
        self.pending = np.zeros(gang.rows, np.int64)
        self.proxied = np.full((gang.rows, len(SPACES), width), start, np.int64)
        self.completed = np.zeros((gang.rows, size, 0), np.int64)
        self.initialised = np.zeros(gang.rows, np.int64)
        self.init_fenced = np.zeros(gang.rows, np.int64)
        self.last_proxy_fence = np.zeros(gang.rows, np.int64)
        self.waits = np.zeros((gang.rows, 0), np.int64)
        self.relaxed = np.zeros(gang.rows, np.int64)
        self.met: np.ndarray = self.rank[:, None] == np.arange(size)
        self._owed: dict[int, set[int]] = {}
        self._gathered = Handover(0, width, size, 0)
        self._published = Handover(0, width, size, 0)
        self._asynchronous = gang.launch.program.asynchronous
        self._limit: Any = None

    def limit(self, group: Group, private: bool) -> Any:
        """The least number that a row may not have seen: a scalar where all rows agree, else a column.

        Args:
            group: whose rows.
            private: whether only accesses of the own CTA count.
        """
        if self._limit is None:
            own = self.seen.min(axis=1)
            if self.completed.shape[2]:
                # What the asynchronous machine did counts by mbarrier: look at every record of this launch.
                own[:] = self.start
            self._limit = tuple(_column(limits) for limits in (own, np.minimum(own, self.acquired)))
        limit = self._limit[0 if private else 1]
        return limit[group.rows] if limit.ndim and group.rows is not None else limit

    # ---- what has been seen

    def knows(self, rows: np.ndarray, by: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Whether rows have seen events of other rows of the gang."""
        width = self.seen.shape[1]
        near = rows // width == by // width
        seen = np.where(near, self.seen[rows, self.column[by]], self.acquired[rows])
        known: np.ndarray = (rows == by) | (numbers < seen)
        return known

    def has_seen(
        self, ledger: Ledger, record: np.ndarray, rows: np.ndarray, strong: bool = False
    ) -> np.ndarray:
        """Whether rows have seen the accesses of some records.

        Args:
            ledger: whose records.
            record: a record for each row.
            rows: of the gang.
            strong: whether relaxed reads of the rows count, which a fence has yet to make good.
        """
        number = ledger.number(record)
        near, column, rank = self._whose(ledger, record, rows)
        elsewhere = np.maximum(self.acquired[rows], self.pending[rows]) if strong else self.acquired[rows]
        known: np.ndarray = number < np.where(near, self.seen[rows, column], elsewhere)
        told = ledger.is_async(record)
        if told.any() and self.completed.shape[2]:
            local = np.minimum((ledger.thread(record) & THREAD).astype(np.int64), self.completed.shape[2] - 1)
            by_machine = np.where(near, self.completed[rows, rank, local], self.acquired[rows])
            known = np.where(told, number <= by_machine, known)
        return known

    def is_own(self, ledger: Ledger, record: Any, threads: Any) -> Any:
        """Whether records are of these threads themselves, and of this launch."""
        own, events = ledger.is_thread(record, threads), self.gang.launch.events
        return own if events.ordered == events.first else own & (ledger.number(record) >= events.first)

    def has_proxied(self, ledger: Ledger, record: np.ndarray, rows: np.ndarray, space: str) -> np.ndarray:
        """Whether what rows do through the async proxy sees the generic accesses of some records.

        Args:
            ledger: whose records.
            record: a record for each row.
            rows: of the gang.
            space: `shared` or `global`, where the ledger's memory lies.
        """
        near, column, _ = self._whose(ledger, record, rows)
        visible: np.ndarray = ~near | (
            ledger.number(record) < self.proxied[rows, SPACES.index(space), column]
        )
        return visible

    def _whose(
        self, ledger: Ledger, record: np.ndarray, rows: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """For each record whether it is of the row's cluster, the column of its warp, the rank of its CTA."""
        warps, size = self.gang.warps, self.gang.cluster
        thread = ledger.thread(record).astype(np.int64)
        warp = np.minimum((thread & THREAD) // WARP, warps - 1)
        if ledger.private:
            rank = self.rank[rows]
            return np.ones(len(rows), bool), rank * warps + warp, rank
        position = self.gang.position(thread >> THREAD_BITS)
        near = (position >= 0) & (position // size == rows // warps // size)
        near &= ledger.number(record) >= self.gang.launch.events.first
        rank = np.where(near, position % size, 0)
        return near, rank * warps + warp, rank

    def record_of(self, ledger: Ledger, rows: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """The threads of some rows and lanes as a ledger's records name them."""
        warps = self.gang.warps
        thread = (rows % warps * WARP + lanes).astype(ledger.dtype)
        if ledger.private:
            return thread
        return self.gang.ctas[rows // warps].astype(ledger.dtype) << ledger.dtype.type(THREAD_BITS) | thread

    def record_of_slot(self, ledger: Ledger, mbarriers: MBarriers, slots: np.ndarray) -> np.ndarray:
        """The same for what mbarriers tell of."""
        local = np.minimum(mbarriers.local[slots], THREAD).astype(ledger.dtype)
        if ledger.private:
            return local
        tile = mbarriers.place[slots] // self.gang.shared.stride
        return self.gang.ctas[tile].astype(ledger.dtype) << ledger.dtype.type(THREAD_BITS) | local

    def record_told(self, ledger: Ledger, local: int, cta: int) -> Any:
        """What the asynchronous machine did to a CTA of the gang, as a ledger's records name it."""
        if ledger.private:
            return ledger.dtype.type(local)
        return ledger.dtype.type(int(self.gang.ctas[cta]) << THREAD_BITS | local)


def _column(numbers: np.ndarray) -> Any:
    return numbers[0] if (numbers == numbers[0]).all() else numbers.reshape(-1, 1)
