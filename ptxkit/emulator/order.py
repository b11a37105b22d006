"""Happens-before: the numbers of accesses, and up to which each warp has seen those of the others.

Numbers grow as the machine runs; every access that is sought for races, and every event that orders
accesses, has one. What a warp has seen of the warps of its own cluster (without clusters: its CTA) is kept
warp
by warp; what it has seen of other CTAs is one number, so an order that goes through memory is taken to cover
everything before it. Mbarriers hand on exactly what was released to them (`Handover`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.handover import SPACES, Handover
from ptxkit.emulator.ledger import THREAD, THREAD_BITS, Ledger
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.asynchronous.mbarriers import MBarriers
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group


class Order:
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

    # ---- what orders

    def barrier(self, rows: Any, number: int) -> None:
        """Whole CTAs meet: `rows` are all their rows, a slice or a bool array."""
        warps = self.gang.warps
        by_cta = (-1, warps)
        if self.gang.cluster == 1:
            self.seen[rows] = number
        else:
            self._share(self.seen, rows)
            own = self.rank[rows][:, None] == np.arange(self.seen.shape[1]) // warps
            self.seen[rows] = np.where(own, number, self.seen[rows])
        for values in (self.acquired, self.fenced, self.pending, self.initialised):
            values[rows] = np.repeat(values[rows].reshape(by_cta).max(axis=1), warps)
        if self._asynchronous:
            self._share(self.proxied, rows)
            self._share(self.completed, rows)
        self._limit = None

    def _share(self, values: np.ndarray, rows: Any) -> None:
        """The rows of a CTA know together what one of them knew."""
        part = values[rows]
        if not part.size:
            return
        warps = self.gang.warps
        most = part.reshape(-1, warps, *values.shape[1:]).max(axis=1)
        values[rows] = np.repeat(most, warps, axis=0)

    def meet(self, arrived: np.ndarray, waiting: np.ndarray, covered: np.ndarray) -> None:
        """Some warps of a CTA meet, or of a cluster.

        Args:
            arrived: rows that take part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
        """
        columns = self.column[arrived]
        best = self.seen[arrived].max(axis=0)
        best[columns] = np.maximum(best[columns], covered)
        self.seen[waiting] = np.maximum(self.seen[waiting], best)
        for values in (self.acquired, self.fenced, self.initialised):
            values[waiting] = np.maximum(values[waiting], values[arrived].max())
        if self._asynchronous:
            for table in (self.proxied, self.completed):
                if table.size:
                    table[waiting] = np.maximum(table[waiting], table[arrived].max(axis=0))
        self._limit = None

    def warp_sync(self, group: Group, number: int) -> None:
        """The lanes of each of the group's warps meet."""
        self.warps_meet(group.occupied()[0], number)

    def warps_meet(self, rows: np.ndarray, number: int) -> None:
        """The lanes of some rows meet, each row's own."""
        self.seen[rows, self.column[rows]] = number
        self._limit = None

    def fence(self, group: Group, number: int) -> None:
        """A fence publishes what came before it, and acquires what relaxed reads and waits have found."""
        rows, _ = group.occupied()
        self.fenced[rows] = number
        self._acquire(rows, self.pending[rows])
        for row in self._owed.keys() & set(rows.tolist()) if self._owed else ():
            slots = np.array(sorted(self._owed.pop(row)))
            self._take_slots(np.full(len(slots), row), slots)

    def launches_done(self, rows: np.ndarray) -> None:
        """`griddepcontrol.wait`: rows see everything that came before the launch."""
        self._acquire(rows, np.full(len(rows), self.gang.launch.events.first))

    def proxy_fence(self, rows: np.ndarray, number: int, spaces: Sequence[str]) -> None:
        """`fence.proxy.async`: what rows have seen, and did themselves, is visible to the async proxy.

        Args:
            rows: of the gang.
            number: the event of the fence.
            spaces: the state spaces that it is for.
        """
        for space in spaces:
            table = self.proxied[:, SPACES.index(space)]
            table[rows] = np.maximum(table[rows], self.seen[rows])
            table[rows, self.column[rows]] = number
        self.last_proxy_fence[rows] = number

    def _acquire(self, rows: Any, numbers: np.ndarray) -> None:
        self.seen[rows] = np.maximum(self.seen[rows], numbers[:, None])
        self.acquired[rows] = np.maximum(self.acquired[rows], numbers)
        if self._asynchronous:
            self.proxied[rows] = np.maximum(self.proxied[rows], numbers[:, None, None])
            self.completed[rows] = np.maximum(self.completed[rows], numbers[:, None, None])
        self._limit = None

    # ---- mbarriers

    def grow_slots(self, slots: int, locals_: int) -> None:
        """Make room for the mbarriers of a gang."""
        more = locals_ - self.completed.shape[2]
        if more:
            self.completed = np.pad(self.completed, ((0, 0), (0, 0), (0, more)))
            self.waits = np.pad(self.waits, ((0, 0), (0, more)))
        self._gathered = self._gathered.grown(slots, locals_)
        self._published = self._published.grown(slots, locals_)

    @property
    def _extent(self) -> tuple[int, int, int]:
        return self.seen.shape[1], self.completed.shape[1], self.completed.shape[2]

    def forget_slots(self, slots: np.ndarray) -> None:
        """Mbarriers begin anew: nothing has been released to them."""
        for handover in (self._gathered, self._published):
            handover.copy_from(Handover(len(handover.acquired), *self._extent), slots)

    def release(self, rows: np.ndarray, slots: np.ndarray, number: int, relaxed: bool = False) -> None:
        """Rows arrive at mbarriers: what they have seen and done so far is released to them.

        Args:
            rows, slots: the rows and where each arrives.
            number: the event.
            relaxed: whether only what a fence has published is.
        """
        rows, slots = _pairs(rows, slots)
        if relaxed:
            self.relaxed[rows] = number
        covered = self.fenced[rows] if relaxed else np.full(len(rows), number)
        self.gather(self._gathered, rows, slots, covered)

    def released(self, slots: np.ndarray, by: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Whether some arrival has released events of rows of the own cluster to mbarriers."""
        known: np.ndarray = self._gathered.seen[slots, self.column[by]] > numbers
        return known

    def release_seen(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """What rows have seen so far, but not what they did themselves, is released to mbarriers."""
        rows, slots = _pairs(rows, slots)
        self.gather(self._gathered, rows, slots, self.seen[rows, self.column[rows]])

    def gather(self, gathered: Handover, rows: np.ndarray, keys: np.ndarray, covered: np.ndarray) -> None:
        """Hand over what rows have seen, and did themselves up to some numbers; nothing where that is 0."""
        some = covered > 0
        known, keyed = rows[some], keys[some]
        seen = self.seen[known]
        seen[np.arange(len(known)), self.column[known]] = covered[some]
        np.maximum.at(gathered.seen, keyed, seen)
        np.maximum.at(gathered.proxied, keyed, self.proxied[known])
        np.maximum.at(gathered.acquired, keyed, self.acquired[known])
        np.maximum.at(gathered.completed, keyed, self.completed[known])
        np.maximum.at(gathered.initialised, keys, np.maximum(self.init_fenced[rows], self.initialised[rows]))

    def take(self, published: Handover, rows: np.ndarray, keys: np.ndarray) -> None:
        """Rows acquire what something hands on."""
        published = published.grown(len(published.acquired), self.completed.shape[2])
        for mine, theirs in (
            (self.seen, published.seen),
            (self.proxied, published.proxied),
            (self.acquired, published.acquired),
            (self.completed, published.completed),
            (self.initialised, published.initialised),
        ):
            np.maximum.at(mine, rows, theirs[keys])
        size = self.gang.cluster
        if size > 1:
            ranks = published.seen[keys].reshape(len(keys), size, -1).max(axis=2) > self.start
            np.logical_or.at(self.met, rows, ranks)
        self._limit = None

    def tell(self, slots: np.ndarray, rank: int, local: int, number: int) -> None:
        """The asynchronous machine releases to mbarriers what it has done.

        Args:
            slots: the mbarriers.
            rank: of the CTA whose memory it worked on.
            local: the number by which its work is known; see `MBarriers.reserve`.
            number: the event up to which it is done.
        """
        told = self._gathered.completed[:, rank, local]
        told[slots] = np.maximum(told[slots], number)

    def publish(self, slots: np.ndarray) -> None:
        """The phases of mbarriers complete."""
        self._published.copy_from(self._gathered, slots)

    def acquire(
        self, rows: np.ndarray, slots: np.ndarray, mbarriers: MBarriers, number: int, relaxed: bool = False
    ) -> None:
        """Rows have waited for mbarriers with success.

        Args:
            rows, slots: the rows and what each waited for.
            mbarriers: of the gang.
            number: the event.
            relaxed: whether a fence has yet to make it good.
        """
        rows, slots = _pairs(rows, slots)
        self.waits[rows, mbarriers.local[slots]] = number
        if not relaxed:
            self._take_slots(rows, slots)
            return
        self.relaxed[rows] = number
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            self._owed.setdefault(row, set()).add(slot)

    def _take_slots(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """Rows acquire what was released to mbarriers, and know what those tell of."""
        mbarriers = self.gang.mbarriers
        self.take(self._published, rows, slots)
        local, rank = mbarriers.local[slots], mbarriers.place[slots] // self.gang.shared.stride
        told = (rows, rank % self.gang.cluster, local)
        np.maximum.at(self.completed, told, mbarriers.turned[slots])
        self._limit = None

    def last_wait(self, row: int, slot: int, mbarriers: MBarriers) -> int:
        """The event of a row's last successful wait for an mbarrier; 0 for none."""
        return int(self.waits[row, int(mbarriers.local[slot])])

    # ---- order through memory

    def synchronise(self, access: Access, ledger: Ledger, number: int, acquires: str, releases: str) -> None:
        """A strong access passes an order on through memory.

        Args:
            access: what is accessed.
            ledger: of that memory.
            number: of the access.
            acquires, releases: `yes`, `fence` (only together with one), or `no`.
        """
        group = access.group
        shape = (group.n, WARP)
        index = np.broadcast_to(np.asarray(access.index), shape)
        active = lanes_of(group, access.guard, shape)
        row, lane = np.nonzero(np.ones(shape, bool) if active is None else active)
        places = ledger.granules(index[row, lane])
        rows = row if group.rows is None else group.rows[row]
        published = ledger.release_numbers()
        found = published[places]
        if releases != "no":
            own = np.full(len(rows), number) if releases == "yes" else self.fenced[rows]
            np.maximum.at(published, places, own)
            if acquires != "no" and len(np.unique(places)) < len(places):
                found = published[places]
        if acquires == "no":
            return
        best = np.zeros(self.gang.rows, np.int64)
        np.maximum.at(best, rows, found)
        self.pending = np.maximum(self.pending, best)
        if acquires == "yes":
            self._acquire(slice(None), best)


def _column(numbers: np.ndarray) -> Any:
    return numbers[0] if (numbers == numbers[0]).all() else numbers.reshape(-1, 1)


def _pairs(rows: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of a row and a slot once."""
    if len(rows) < 2:
        return rows, slots
    most = int(slots.max()) + 1
    keys = np.unique(rows * most + slots)
    return keys // most, keys % most
