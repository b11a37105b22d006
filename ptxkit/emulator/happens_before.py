"""What orders accesses: barriers, fences, mbarriers, strong accesses of memory. See `vector_clocks`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.clocks import EVERY, SPACES, ReleaseClocks, Waited
from ptxkit.emulator.values import distinct
from ptxkit.emulator.vector_clocks import VectorClocks
from ptxkit.isa.modifiers import MemoryOrder


class HappensBefore(VectorClocks):
    """The vector clocks of the warps of a batch, and what advances them."""

    # ---- what orders

    def barrier(self, rows: Any, number: int) -> None:
        """Whole CTAs meet: `rows` are all their rows, a slice or a bool array."""
        if self.apart.warps:
            self.apart.meet(np.arange(self.batch.rows)[rows])
        warps = self.batch.warps_per_cta
        by_cta = (-1, warps)
        if self.batch.cluster == 1:
            self.clocks[rows] = number
        else:
            self._share(self.clocks, rows)
            own = self.rank[rows][:, None] == np.arange(self.clocks.shape[1]) // warps
            self.clocks[rows] = np.where(own, number, self.clocks[rows])
        for values in (self.acquired, self.fenced, self.pending, self.initialised):
            part = values[rows]
            if not part.size or (part == part[0]).all():
                continue
            values[rows] = np.repeat(part.reshape(by_cta).max(axis=1), warps)
        for name in self.shared_by_ctas:
            self._share(getattr(self, name), rows)
        if self._asynchronous:
            self._share(self.proxied, rows)
            self._share(self.completed, rows)
        self._limit = None

    def _share(self, values: np.ndarray, rows: Any) -> None:
        """The rows of a CTA know together what one of them knew."""
        part = values[rows]
        if not part.size:
            return
        warps = self.batch.warps_per_cta
        most = part.reshape(-1, warps, *values.shape[1:]).max(axis=1)
        values[rows] = np.repeat(most, warps, axis=0)

    def meet(self, arrived: np.ndarray, waiting: np.ndarray, covered: np.ndarray) -> None:
        """Some warps of a CTA meet, or of a cluster.

        Args:
            arrived: rows that take part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
        """
        if self.apart.warps:
            self.apart.meet(waiting)
        columns = self.column[arrived]
        best = self.clocks[arrived].max(axis=0)
        best[columns] = np.maximum(best[columns], covered)
        self.clocks[waiting] = np.maximum(self.clocks[waiting], best)
        for values in (self.acquired, self.fenced, self.initialised):
            values[waiting] = np.maximum(values[waiting], values[arrived].max())
        for name in self.shared_by_ctas:
            values = getattr(self, name)
            values[waiting] = np.maximum(values[waiting], values[arrived].max())
        if self._asynchronous:
            for table in (self.proxied, self.completed):
                if table.size:
                    table[waiting] = np.maximum(table[waiting], table[arrived].max(axis=0))
        self._limit = None

    def warps_meet(self, rows: np.ndarray, number: int) -> None:
        """The lanes of some rows meet, each row's own."""
        if self.apart.warps:
            self.apart.meet(rows)
        self.clocks[rows, self.column[rows]] = number
        self._limit = None

    def fence(self, rows: np.ndarray, number: int) -> None:
        """A fence publishes what came before it, and acquires what relaxed reads and waits have found."""
        self.fenced[rows] = number
        self._acquire(rows, self.pending[rows])
        for row in self._owed.keys() & set(rows.tolist()) if self._owed else ():
            self.apart.meet(np.array([row]))
            slots = np.array(sorted(self._owed.pop(row)))
            self._take_slots(np.full(len(slots), row), slots, self._published, self.slots.turned)

    def exchange(self, rows: np.ndarray | None) -> None:
        """All lanes of each of some rows, None for all, exchange values: what they read before is over."""
        self.exchanged[slice(None) if rows is None else rows] = self.batch.launch.events.now

    def launches_done(self, rows: np.ndarray) -> None:
        """`griddepcontrol.wait`: rows see everything that came before the launch."""
        self._acquire(rows, np.full(len(rows), self.batch.launch.events.first))

    def proxy_fence(self, rows: np.ndarray, number: int, spaces: Sequence[str]) -> None:
        """`fence.proxy.async`: what rows have seen, and did themselves, is visible to the async proxy.

        Args:
            rows: of the batch.
            number: the event of the fence.
            spaces: the state spaces that it is for.
        """
        for space in spaces:
            table = self.proxied[:, SPACES.index(space)]
            table[rows] = np.maximum(table[rows], self.clocks[rows])
            table[rows, self.column[rows]] = number
        self.last_proxy_fence[rows] = number

    def read_fence(self, rows: np.ndarray, number: int) -> None:
        """A proxy fence for reads of shared memory alone: what rows themselves have read is over for whoever
        writes it through the async proxy and knows of the fence. It is not cumulative: what rows know to have
        been read by others is not over.

        Args:
            rows: of the batch.
            number: the event of the fence.
        """
        if self.batch.launch.strict:
            for row in rows.tolist():
                self.read_fences.setdefault(row, []).append(number)

    def reads_fenced(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Whether such a fence covers some reads for what rows do through the async proxy.

        Args:
            history: whose records.
            record: a read for each row.
            rows: of the batch.
        """
        found = np.zeros(len(rows), bool)
        near, column, _ = self._whose(history, record, rows)
        for at in np.flatnonzero(near) if self.read_fences else ():
            row, width = int(rows[at]), self.clocks.shape[1]
            reader = row // width * width + int(column[at])
            numbers = self.read_fences.get(reader, [])
            first = bisect_right(numbers, int(history.number(record[at])))
            known = first < len(numbers)
            found[at] = known and (reader == row or numbers[first] < self.clocks[row, column[at]])
        return found

    def _acquire(self, rows: Any, numbers: np.ndarray) -> None:
        if self.apart.warps:
            self.apart.advance(np.arange(self.batch.rows)[rows], numbers)
        self.clocks[rows] = np.maximum(self.clocks[rows], numbers[:, None])
        self.acquired[rows] = np.maximum(self.acquired[rows], numbers)
        if self._asynchronous:
            self.proxied[rows] = np.maximum(self.proxied[rows], numbers[:, None, None])
            self.completed[rows] = np.maximum(self.completed[rows], numbers[:, None, None])
        self._limit = None

    # ---- mbarriers

    def grow_slots(self, slots: int, locals_: int) -> None:
        """Make room for the mbarriers of a batch."""
        more = locals_ - self.completed.shape[2]
        if more:
            self.completed = np.pad(self.completed, ((0, 0), (0, 0), (0, more)))
            self.waits = np.pad(self.waits, ((0, 0), (0, more)))
            self.phases = np.pad(self.phases, ((0, 0), (0, more)))
        self._gathered = self._gathered.grown(slots, locals_)
        self._published = self._published.grown(slots, locals_)

    def forget_slots(self, slots: np.ndarray) -> None:
        """Mbarriers begin anew: nothing has been released to them."""
        for clocks in (self._gathered, self._published):
            clocks.copy_from(self.releases(len(clocks.acquired)), slots)

    def release(self, rows: np.ndarray, slots: np.ndarray, number: int, relaxed: bool = False) -> None:
        """Rows arrive at mbarriers: what they have seen and done so far is released to them. `rows`, `slots`:
        the rows and where each arrives. `relaxed`: whether only what a fence has published is."""
        rows, slots = _pairs(rows, slots)
        if relaxed:
            self.relaxed[rows] = number
        covered = self.fenced[rows] if relaxed else np.full(len(rows), number)
        self.gather(self._gathered, rows, slots, covered)

    def released(self, slots: np.ndarray, by: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Whether some arrival has released events of rows of the own cluster to mbarriers."""
        known: np.ndarray = self._gathered.clocks[slots, self.column[by]] > numbers
        return known

    def release_acquired(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """What rows have seen so far, but not what they did themselves, is released to mbarriers."""
        rows, slots = _pairs(rows, slots)
        self.gather(self._gathered, rows, slots, self.clocks[rows, self.column[rows]])

    def gather(
        self, gathered: ReleaseClocks, rows: np.ndarray, keys: np.ndarray, covered: np.ndarray
    ) -> None:
        """Hand over what rows have seen, and did themselves up to some numbers; nothing where that is 0."""
        some = covered > 0
        known, keyed = rows[some], keys[some]
        clocks = self.clocks[known]
        clocks[np.arange(len(known)), self.column[known]] = covered[some]
        np.maximum.at(gathered.clocks, keyed, clocks)
        np.maximum.at(gathered.proxied, keyed, self.proxied[known])
        np.maximum.at(gathered.acquired, keyed, self.acquired[known])
        np.maximum.at(gathered.completed, keyed, self.completed[known])
        for name in self.further:
            np.maximum.at(getattr(gathered, name), keyed, getattr(self, name)[known])
        np.maximum.at(gathered.initialised, keys, np.maximum(self.init_fenced[rows], self.initialised[rows]))

    def take(self, published: ReleaseClocks, rows: np.ndarray, keys: np.ndarray) -> None:
        """Rows acquire what something hands on."""
        published = published.grown(len(published.acquired), self.completed.shape[2])
        for name in published.handed_on:
            np.maximum.at(getattr(self, name), rows, getattr(published, name)[keys])
        size = self.batch.cluster
        if size > 1:
            ranks = published.clocks[keys].reshape(len(keys), size, -1).max(axis=2) > self.start
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
        completed = self._gathered.completed[:, rank, local]
        completed[slots] = np.maximum(completed[slots], number)

    def complete(self, rows: np.ndarray, locals_: np.ndarray, number: int) -> None:
        """Rows have waited for the asynchronous machine, which is done with what it did for their CTAs.

        Args:
            rows: of the batch.
            locals_: the number of each by which that is known; see `MBarriers.reserve`.
            number: the event up to which it is done.
        """
        self.completed[rows, self.rank[rows], locals_] = number
        if self.apart.warps:
            self.apart.complete(rows, self.rank[rows], locals_, number)
        self._limit = None

    def publish(self, slots: np.ndarray) -> None:
        """The phases of mbarriers complete."""
        self._published.copy_from(self._gathered, slots)

    def keep_success(self, slots: np.ndarray) -> None:
        """The phases of mbarriers are about to complete, but not the conditional ones: what the last
        conditional phases told of stays known."""
        if self._succeeded is None:
            self._succeeded = self.releases(0)
        self._succeeded = self._succeeded.grown(len(self._published.acquired), self.completed.shape[2])
        self._succeeded.copy_from(self._published, slots)

    def acquire_success(self, rows: np.ndarray, slots: np.ndarray) -> None:
        """Rows have waited for conditional phases that completed before the last phases of their mbarriers,
        which did not succeed."""
        assert self._succeeded is not None
        self._take_slots(*_pairs(rows, slots), self._succeeded, self.slots.succeeded)

    def acquire(
        self,
        rows: np.ndarray,
        slots: np.ndarray,
        number: int,
        relaxed: bool = False,
        masks: np.ndarray | None = None,
        by_parity: bool = False,
    ) -> tuple[int, int, Waited] | None:
        """Rows have waited for mbarriers with success.

        Args:
            rows, slots: the rows and what each waited for.
            relaxed: whether a fence has yet to make it good.
            masks: the lanes of each that did; None for all of them.
            by_parity: whether they gave the parity of the phase.

        Returns:
            Lanes that might have come too early; see `LanesApart.acquire`.
        """
        early = None
        if not relaxed and (masks is not None or self.apart.warps):
            lanes = np.full(len(rows), EVERY) if masks is None else masks
            early = self.apart.acquire(self, self._published, rows, slots, lanes, number, by_parity)
        rows, slots = _pairs(rows, slots)
        local = self.slots.local[slots]
        self.waits[rows, local] = number
        self.phases[rows, local] = self.slots.phase[slots]
        if not relaxed:
            self._take_slots(rows, slots, self._published, self.slots.turned)
            return early
        self.relaxed[rows] = number
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            self._owed.setdefault(row, set()).add(slot)
        return None

    def _take_slots(
        self, rows: np.ndarray, slots: np.ndarray, published: ReleaseClocks, turned: np.ndarray
    ) -> None:
        """Rows acquire what was released to mbarriers, and know what those tell of.

        Args:
            rows, slots: the rows and what each waited for.
            published: what was released to each mbarrier.
            turned: the event that completed the phase of each.
        """
        mbarriers = self.slots
        self.take(published, rows, slots)
        local, rank = mbarriers.local[slots], mbarriers.cta_of(slots)
        at = (rows, rank % self.batch.cluster, local)
        np.maximum.at(self.completed, at, turned[slots])
        self._limit = None

    def last_wait(self, row: int, slot: int) -> int:
        """The event of a row's last successful wait for an mbarrier; 0 for none."""
        return int(self.waits[row, int(self.slots.local[slot])])

    # ---- order through memory

    def publish_at(self, history: AccessHistory, places: np.ndarray, number: int) -> None:
        """The asynchronous machine publishes everything up to a number by what it writes to granules."""
        np.maximum.at(history.release_numbers(), places, number)

    def synchronise(
        self,
        history: AccessHistory,
        rows: np.ndarray,
        places: np.ndarray,
        number: int,
        reads: MemoryOrder | None,
        writes: MemoryOrder | None,
    ) -> None:
        """A strong access passes an order on through memory.

        Args:
            history: of the memory.
            rows, places: who accesses it, and the granule that each does.
            number: of the access.
            reads: `ACQUIRE`, or `RELAXED`, which a later fence makes good; None where it reads nothing.
            writes: `RELEASE`, or `RELAXED`, which an earlier fence makes good; None where it writes nothing.
        """
        published = history.release_numbers()
        found = published[places]
        if writes is not None:
            own = np.full(len(rows), number) if writes is MemoryOrder.RELEASE else self.fenced[rows]
            np.maximum.at(published, places, own)
            if reads is not None and len(distinct(places)) < len(places):
                found = published[places]
        if reads is None:
            return
        best = np.zeros(self.batch.rows, np.int64)
        np.maximum.at(best, rows, found)
        self.pending = np.maximum(self.pending, best)
        if reads is MemoryOrder.ACQUIRE:
            self._acquire(slice(None), best)


def _pairs(rows: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of a row and a slot once."""
    if len(rows) < 2:
        return rows, slots
    most = int(slots.max()) + 1
    keys = distinct(rows * most + slots)
    return keys // most, keys % most
