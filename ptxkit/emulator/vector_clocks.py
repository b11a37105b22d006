"""A vector clock for each warp: up to which number the accesses of the others happen before what it does now.

Numbers grow as the machine runs; every access that is sought for races, and every event that orders
accesses, has one. What its clock says of the warps of its own cluster (without clusters: its CTA) is kept
warp by warp; what it says of other CTAs is one number, so an order that goes through memory is taken to
cover everything before it. Mbarriers hand on exactly what was released to them (`ReleaseClocks`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import ASYNC, STRONG, THREAD, THREAD_BITS, AccessHistory
from ptxkit.emulator.clocks import SPACES, LanesApart, MbarrierSlots, ReleaseClocks
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import WARP, filled

Taker = Callable[[AccessHistory, np.ndarray, np.ndarray], np.ndarray]


class VectorClocks:
    """The vector clock of each warp of a batch.

    Where a method takes `history`, `record` and `rows`, each row of the batch has a record of that history.

    Attributes:
        clocks: int64 (rows, warps of a cluster): accesses of that warp with smaller numbers happen before
            what the row does now.
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
        cluster_arrivals: the relaxed arrivals at cluster barriers: the event of each, the rows that arrived,
            and how often each of these had then.
        cluster_waits: int64 (rows,), how often the row has waited at the cluster barrier.
        last_proxy_fence: int64 (rows,), the event of its last `fence.proxy.async`; 0 for none.
        read_fences: the events of the proxy fences for reads that a row has executed, in order.
        waits: int64 (rows, local numbers), the event of the row's last wait for such an mbarrier.
        phases: int64 of the same shape, how many phases of it were complete then.
        relaxed: int64 (rows,), the event of the row's last relaxed arrival or wait.
        exchanged: int64 (rows,), the event before which all lanes of the row had their last exchange, by
            `shfl.sync`, `vote.sync` and so on.
        met: bool (rows, CTAs of a cluster), which of them the row knows to be running.
        column: which warp of its cluster a row is.
        slots: the mbarriers of the batch.
        takers: functions that tell whether reads are over because something took the values that they read;
            see `took`.
        apart: what single lanes have acquired since the lanes of their warp last met.
    """

    slots: MbarrierSlots
    shared_by_ctas: tuple[str, ...] = ()
    """What else there is for each row, int64 (rows,): a barrier makes the most of its rows that of all."""
    further: tuple[str, ...] = ()
    """What of that is released to mbarriers and acquired from them, too."""

    def __init__(self, batch: Ctas, start: int) -> None:
        self.batch = batch
        warps, size = batch.warps_per_cta, batch.cluster
        width = size * warps
        self.start = start
        self.column = np.arange(batch.rows) % width
        self.rank = self.column // warps
        self.clocks = filled((batch.rows, width), start, np.int64)
        self.acquired = filled(batch.rows, start, np.int64)
        self.fenced = np.zeros(batch.rows, np.int64)
        self.pending = np.zeros(batch.rows, np.int64)
        self.proxied = filled((batch.rows, len(SPACES), width), start, np.int64)
        self.completed = np.zeros((batch.rows, size, 0), np.int64)
        self.initialised = np.zeros(batch.rows, np.int64)
        self.init_fenced = np.zeros(batch.rows, np.int64)
        self.cluster_arrivals: list[tuple[int, np.ndarray, np.ndarray]] = []
        self.cluster_waits = np.zeros(batch.rows, np.int64)
        self.last_proxy_fence = np.zeros(batch.rows, np.int64)
        self.read_fences: dict[int, list[int]] = {}
        self.waits = np.zeros((batch.rows, 0), np.int64)
        self.phases = np.zeros((batch.rows, 0), np.int64)
        self.relaxed = np.zeros(batch.rows, np.int64)
        self.exchanged = np.zeros(batch.rows, np.int64)
        self.met: np.ndarray = self.rank[:, None] == np.arange(size)
        self.takers: list[Taker] = []
        self.apart = LanesApart()
        self._owed: dict[int, set[int]] = {}
        self._gathered = self.releases(0)
        self._published = self.releases(0)
        self._succeeded: ReleaseClocks | None = None
        self._asynchronous = batch.launch.program.asynchronous
        self._limit: Any = None

    def releases(self, slots: int) -> ReleaseClocks:
        """What is released to some slots: nothing yet."""
        _, ctas, locals_ = self.completed.shape
        return ReleaseClocks(slots, self.clocks.shape[1], ctas, locals_, self.further)

    def limit(self, rows: np.ndarray | None, private: bool) -> Any:
        """The least number whose event may not happen before what a row does: a column, or one for all.
        `rows`: of the batch; None for all. `private`: whether only accesses of the own CTA count."""
        if self._limit is None:
            own = _least(self.clocks)
            if len(self._published.acquired):
                # What the asynchronous machine did counts by mbarrier: look at every record of this launch.
                own[:] = self.start
            elif self.completed.shape[2]:
                own = np.maximum(np.minimum(own, self.completed.min(axis=(1, 2)) + 1), self.start)
            self._limit = tuple(_column(limits) for limits in (own, np.minimum(own, self.acquired)))
        limit = self._limit[0 if private else 1]
        return limit[rows] if limit.ndim and rows is not None else limit

    # ---- what happens before what rows do now

    def covers(self, rows: np.ndarray, by: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Whether events of other rows of the batch happen before what rows do now."""
        width = self.clocks.shape[1]
        near = rows // width == by // width
        clocks = np.where(near, self.clocks[rows, self.column[by]], self.acquired[rows])
        known: np.ndarray = (rows == by) | (numbers < clocks)
        return known

    def covers_one(self, row: int, by: int, number: int) -> bool:
        """The same of one event."""
        width = self.clocks.shape[1]
        near = row // width == by // width
        known = self.clocks[row, self.column[by]] if near else self.acquired[row]
        return row == by or bool(number < known)

    def covers_records(
        self,
        history: AccessHistory,
        record: np.ndarray,
        rows: np.ndarray,
        strong: bool = False,
        lanes: np.ndarray | None = None,
    ) -> np.ndarray:
        """Whether the accesses of some records happen before what rows do now.

        Args:
            strong: whether relaxed reads of the rows count, which a fence has yet to make good.
            lanes: the lane of each row that asks; None where all of them do together.
        """
        number = history.number(record)
        near, column, rank = self._whose(history, record, rows)
        elsewhere = self.elsewhere(history, record, rows, strong)
        known: np.ndarray = number < np.where(near, self.clocks[rows, column], elsewhere)
        is_async = history.is_async(record)
        if is_async.any() and self.completed.shape[2]:
            local = _local(history, record, self.completed.shape[2])
            elsewhere = self.elsewhere(history, record, rows, False)
            by_machine = np.where(near, self.completed[rows, rank, local], elsewhere)
            known = np.where(is_async, number <= by_machine, known)
        if lanes is not None and self.apart.warps:
            for one, at in self.apart.pairs(rows, lanes):
                local = _local(history, record[at], one.completed.shape[1])
                clocks = np.where(is_async[at], one.completed[rank[at], local] + 1, one.clocks[column[at]])
                known[at] &= ~near[at] | (number[at] < clocks)
        return known

    def morally_strong(self, history: AccessHistory, record: Any, site: Site) -> Any:
        """Whether a strong access by an instruction and those of some records are so strong that they do not
        race."""
        return history.is_at_least(record, STRONG)

    def narrowly_ordered(self, row: int, number: int) -> bool:
        """Whether an access of another device would happen before what a row does now, if every scope were
        wide enough."""
        return False

    def elsewhere(
        self, history: AccessHistory, record: np.ndarray, rows: np.ndarray, strong: bool
    ) -> np.ndarray:
        """Up to which number accesses of CTAs outside the cluster happen before what rows do now. `strong`:
        see `covers_records`."""
        known = self.acquired[rows]
        return np.maximum(known, self.pending[rows]) if strong else known

    def surely_covers(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray, warps: int) -> bool:
        """Whether it is plain that some rows, and the next `warps` - 1, come after all that
        some records say.

        No for those of the asynchronous machine, and where CTAs share the memory or lanes are apart.
        """
        if not history.private or self.apart.warps or history.is_async(record).any():
            return False
        clocks = (
            self.clocks[rows] if warps == 1 else self.clocks[(rows[:, None] + np.arange(warps)).reshape(-1)]
        )
        return bool(history.number(record.max()) < clocks.min())

    def plainly_covers(
        self, history: AccessHistory, record: int, row: int, warps: int, lane: int, space: str | None
    ) -> bool:
        """Whether it is plain that the access of a record happens before what a lane of a row, and the next
        `warps` - 1 rows, do: never where it is of another cluster.

        Args:
            lane: of a single row; for several all lanes ask.
            space: where the async proxy must see it, too; None for anywhere.
        """
        batch, size = self.batch, self.batch.cluster
        number, thread = (record >> history.number_at) + history.base, record & (1 << history.strength_at) - 1
        cta = row // batch.warps_per_cta
        if not history.private:
            if number < batch.launch.events.first:
                return False
            first, who = cta // size * size, (thread >> THREAD_BITS) - batch.launch.first_cta
            cta = next((one for one in range(first, first + size) if batch.ctas[one] == who), -1)
            if cta < 0:
                return False
        rank, local = cta % size, thread & THREAD
        rows, parts = range(row, row + warps), self.apart.parts(row, lane) if warps == 1 else None
        if record >> history.strength_at & STRONG == ASYNC:
            if local >= self.completed.shape[2]:
                return False
            if not all(number <= self.completed[one, rank, local] for one in rows):
                return False
            return parts is None or any(
                local < one.completed.shape[1] and number <= one.completed[rank, local] for one in parts
            )
        column = rank * batch.warps_per_cta + min(local // WARP, batch.warps_per_cta - 1)
        if not all(number < self.clocks[one, column] for one in rows):
            return False
        if parts is not None and not any(number < one.clocks[column] for one in parts):
            return False
        return space is None or bool(number < self.proxied[row, SPACES.index(space), column])

    def has_waited(
        self, history: AccessHistory, record: np.ndarray, rows: np.ndarray, completion: np.ndarray
    ) -> np.ndarray:
        """Whether rows know that the asynchronous machine was done with something after some accesses.
        `completion`: for each warp of the record's CTA the number in `completed` by which that is known."""
        near, column, rank = self._whose(history, record, rows)
        done = self.completed[rows, rank, completion[column % self.batch.warps_per_cta]]
        known: np.ndarray = near & (history.number(record) < done)
        return known

    def is_over(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Whether reads are of lanes of the rows' own warps, before an exchange of all lanes of the warp.

        No order of memory comes with an exchange (9.7.9.6). But a load that stands before it has its value
        when a lane behind it stores, for a warp's accesses go to memory in order; cooperative groups rely
        on that.
        """
        near, column, _ = self._whose(history, record, rows)
        own = near & (column == self.column[rows]) & ~history.is_async(record)
        over: np.ndarray = own & (history.number(record) < self.exchanged[rows])
        return over

    def met_relaxed(self, by: int, number: int, row: int) -> bool:
        """Whether a row has waited at the cluster barrier for a relaxed arrival of another one, the first
        that this one made after an event. Such an arrival orders no memory."""
        for event, rows, times in self.cluster_arrivals:
            if event > number and by in rows:
                return bool(self.cluster_waits[row] >= times[rows == by][0])
        return False

    def took(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Whether rows know that threads' reads are over, because products took the values that they read."""
        found = np.zeros(len(rows), bool)
        for taker in self.takers:
            found |= taker(history, record, rows)
        return found

    def is_own(self, history: AccessHistory, record: Any, threads: Any) -> Any:
        """Whether records are of these threads themselves, and of this launch."""
        own, events = history.is_thread(record, threads), self.batch.launch.events
        return own if events.ordered == events.first else own & (history.number(record) >= events.first)

    def visible_to_async_proxy(
        self, history: AccessHistory, record: np.ndarray, rows: np.ndarray, space: str
    ) -> np.ndarray:
        """Whether what rows do through the async proxy sees the generic accesses of some records. `space`:
        `shared` or `global`, where the history's memory lies."""
        near, column, _ = self._whose(history, record, rows)
        visible: np.ndarray = ~near | (
            history.number(record) < self.proxied[rows, SPACES.index(space), column]
        )
        return visible

    def rows_of(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The rows of the threads of some records; -1 for those of another cluster, or another launch."""
        near, column, _ = self._whose(history, record, rows)
        width = self.clocks.shape[1]
        return np.where(near, rows // width * width + column, -1)

    def _whose(
        self, history: AccessHistory, record: np.ndarray, rows: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """For each record whether it is of the row's cluster, the column of its warp, the rank of its CTA."""
        warps, size = self.batch.warps_per_cta, self.batch.cluster
        thread = history.thread(record).astype(np.int64)
        warp = np.minimum((thread & THREAD) // WARP, warps - 1)
        if history.private:
            rank = self.rank[rows]
            return np.ones(len(rows), bool), rank * warps + warp, rank
        position = self.batch.position((thread >> THREAD_BITS) - self.batch.launch.first_cta)
        near = (position >= 0) & (position // size == rows // warps // size)
        near &= history.number(record) >= self.batch.launch.events.first
        rank = np.where(near, position % size, 0)
        return near, rank * warps + warp, rank

    def record_of(self, history: AccessHistory, rows: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """The threads of some rows and lanes as an access history's records name them."""
        warps = self.batch.warps_per_cta
        return self._named(history, rows // warps, rows % warps * WARP + lanes)

    def record_of_slot(self, history: AccessHistory, slots: np.ndarray) -> np.ndarray:
        """The same for what mbarriers tell of."""
        return self.record_of_machine(history, self.slots.local[slots], self.slots.cta_of(slots))

    def record_of_machine(self, history: AccessHistory, local: np.ndarray, cta: np.ndarray) -> np.ndarray:
        """What the asynchronous machine did to CTAs of the batch, as an access history's records name it."""
        return self._named(history, cta, np.minimum(local, THREAD))

    def _named(self, history: AccessHistory, cta: np.ndarray, number: np.ndarray) -> np.ndarray:
        own = number.astype(history.dtype)
        if history.private:
            return own
        ctas = self.batch.ctas[cta] + self.batch.launch.first_cta
        return ctas.astype(history.dtype) << history.dtype.type(THREAD_BITS) | own


def _least(clocks: np.ndarray) -> np.ndarray:
    """The least number of each row. Numpy goes along short rows one by one."""
    if clocks.shape[1] > WARP:
        least: np.ndarray = clocks.min(axis=1)
        return least
    least = clocks[:, 0].copy()
    for column in range(1, clocks.shape[1]):
        np.minimum(least, clocks[:, column], out=least)
    return least


def _column(numbers: np.ndarray) -> Any:
    return numbers[0] if (numbers == numbers[0]).all() else numbers.reshape(-1, 1)


def _local(history: AccessHistory, record: np.ndarray, count: int) -> np.ndarray:
    """The local numbers of what the asynchronous machine did, of `count` that are known."""
    return np.minimum((history.thread(record) & THREAD).astype(np.int64), count - 1)
