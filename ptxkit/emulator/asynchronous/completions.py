"""What is in flight, as the sanitizer knows it, until somebody has seen that it is done.

Then its accesses are entered into the access histories, as those of the thread that waited for its group or
of the mbarrier whose phase it completed; what follows is happens-before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptxkit.emulator.access_history import ASYNC, WEAK, AccessHistory
from ptxkit.emulator.asynchronous.granules import Granules, begins
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.asynchronous.reports import Earlier, Excuse, Reports
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.values import distinct

FEW = 64
"""Accesses that are looked at one by one sooner than all at once."""


class StrongCopies:
    """The events by which strong copies of a launch were entered into access histories."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def among(self, numbers: np.ndarray) -> np.ndarray:
        """Which events are of them."""
        found: np.ndarray = np.isin(numbers, self.numbers)
        return found


class Completions:
    """The operations of a batch that are in flight, and how their completion is seen. `in_flight`: those
    whose completion somebody has yet to see; empty without the sanitizer. `excuses`: asked about what nothing
    orders."""

    def __init__(self, batch: Ctas, mbarriers: MBarriers, happens_before: HappensBefore) -> None:
        self.batch, self.mbarriers, self.happens_before = batch, mbarriers, happens_before
        self.reports = Reports(batch, mbarriers, happens_before)
        self.in_flight: list[AsyncOperation] = []
        self.excuses: list[Excuse] = []

    def phases_completed(self, slots: np.ndarray, site: Site) -> None:
        """Enter the accesses of what these phases, which have just completed, signal. Raises P678, an
        operation that signals one of them is not done."""
        phase = self.mbarriers.phase
        turned = frozenset(slots.tolist())
        for operation in list(self.in_flight):
            signal = operation.signal
            if not isinstance(signal, Transaction | Arrival):
                continue
            signalled = signal.slots.tolist()
            if turned.isdisjoint(signalled):
                continue
            hit = np.array([slot in turned for slot in signalled])
            if not operation.delivered:
                if isinstance(signal, Transaction) and bool((signal.sizes[hit] > 0).any()):
                    self.reports.leak(operation, hit, site)
                continue
            items = hit & (operation.phases == phase[signal.slots] - 1)
            if isinstance(signal, Transaction):
                self._leave(operation, items, signal.slots)
            elif signal.covers_after:
                for item in np.flatnonzero(items).tolist():
                    self._tell(operation, item, int(signal.slots[item]))
        self._forget()

    def enter_writes(self, operation: AsyncOperation) -> None:
        """An operation has written, and others than who waits for its mbarriers may learn of it."""
        if isinstance(operation.signal, Transaction) and self.batch.launch.sanitize:
            self._leave(operation, np.ones(operation.count, bool), operation.signal.slots, reads=False)

    def observe(self, operation: AsyncOperation, items: np.ndarray, reads: bool, writes: bool) -> None:
        """The issuing threads know from now on that some items of an operation are done. `items`: which, bool
        (count,). `reads`, `writes`: which of its accesses."""
        self._leave(operation, items, None, reads, writes)
        self._forget()

    def settle(self) -> None:
        """All operations are over, waited for or not: their accesses are entered."""
        for operation in self.in_flight:
            self._leave(operation, np.ones(operation.count, bool), None)
        self.in_flight.clear()

    def _forget(self) -> None:
        self.in_flight = [
            operation
            for operation in self.in_flight
            if not operation.delivered or operation.unread.any() or operation.unwritten.any()
        ]

    def _tell(self, operation: AsyncOperation, item: int, slot: int) -> None:
        """An arrival tells of what its CTA's threads issued before it."""
        warps = self.batch.warps_per_cta
        for tracked in operation.after:
            mine = tracked.rows // warps == operation.rows[item] // warps
            self._leave(tracked, mine, np.full(tracked.count, slot))

    def _leave(
        self,
        operation: AsyncOperation,
        items: np.ndarray,
        slots: np.ndarray | None,
        reads: bool = True,
        writes: bool = True,
    ) -> None:
        """Some items are done, and somebody knows: their accesses become those of who does.

        Args:
            items: bool (count,).
            slots: the mbarriers whose phases tell, one an item; None where a wait does.
            reads, writes: which of the accesses.
        """
        batch = self.batch
        read, written = items & operation.unread & reads, items & operation.unwritten & writes
        own = batch.launch.events.take(operation.site) if read.any() or written.any() else 0
        if operation.strong and own:
            batch.launch.own(StrongCopies).numbers.append(own)
        for regions, chosen, kinds in (
            (operation.reads, read, ("first read", "last read")),
            (operation.writes, written, ("write",)),
        ):
            if not chosen.any():
                continue
            for region in regions:
                part = region.of_items(chosen)
                for history, within in histories(self.batch, part, kinds[0]):
                    touched, item = Granules(batch, history, within), within.item
                    if slots is not None:
                        threads = self.happens_before.record_of_slot(history, slots[item])
                        records = history.own(own, ASYNC, threads)
                    elif operation.completion is not None:
                        ctas = operation.rows[item] // batch.warps_per_cta
                        threads = self.happens_before.record_of_machine(
                            history, operation.completion[item], ctas
                        )
                        records = history.own(own, ASYNC, threads)
                    else:
                        threads = self.happens_before.record_of(
                            history, operation.rows[item], operation.lanes[item]
                        )
                        records = history.own(own, WEAK, threads)
                    for kind in kinds:
                        if kind == "first read" and self._read_before(touched):
                            index, interval = touched.every
                            each = records[interval]
                            kept = self._first_reads(
                                operation, history, index, item[interval], each, slots is None
                            )
                            history.put(kind, index, kept)
                        else:
                            touched.fill(kind, records)
        operation.unread &= ~read
        operation.unwritten &= ~written

    @staticmethod
    def _read_before(touched: Granules) -> bool:
        """Whether there are first reads by threads themselves."""
        history = touched.history
        if not history.has("first read"):
            return False
        _, _, record = touched.runs("first read")
        return not history.is_async(record).all()

    def _first_reads(
        self,
        operation: AsyncOperation,
        history: AccessHistory,
        index: np.ndarray,
        item: np.ndarray,
        records: np.ndarray,
        waited: bool,
    ) -> np.ndarray:
        """The first reads of some granules once an operation has read them.

        A thread's own read stays, unless whoever knows of the operation knows of that read too: where the
        issuing warps, which had seen it, have waited.
        """
        before = history.take("first read", index)
        own = (before != 0) & ~history.is_async(before)
        if not own.any():
            return records
        at = np.flatnonzero(own)
        if waited:
            first_of = begins(before[at], item[at])
            first = at[first_of]
            rows, lanes = operation.rows[item[first]], operation.lanes[item[first]]
            ordered = self._ordered(operation, history, before[first], rows, lanes)
            at = at[~ordered.all(axis=1).repeat(np.diff(np.append(np.flatnonzero(first_of), len(at))))]
        kept = records.copy()
        kept[at] = before[at]
        return kept

    def _is_plain(self, earlier: Earlier) -> bool:
        """Whether it is plain that nothing is wrong: for a few accesses that is found sooner one by one."""
        operation, history = earlier.operation, earlier.history
        over = earlier.writes and earlier.kind != "write"
        if over and (self.batch.launch.strict or "cancels" in operation.site.row.traits):
            return False
        through = operation.proxy == "async" or (operation.proxy == "fabric" and earlier.space == "shared")
        if len(earlier.record) * operation.warps > FEW:
            once = earlier.once() if len(earlier.record) > FEW else earlier
            if not self._surely(once).all():
                return False
            return earlier.writes or not through or not self._unfenced(once).any()
        space = earlier.space if through and not earlier.writes else None
        covers = self.happens_before.plainly_covers
        for item, record in set(zip(earlier.items.tolist(), earlier.record.tolist(), strict=True)):
            row, lane = int(operation.rows[item]), int(operation.lanes[item])
            if not covers(history, record, row, operation.warps, lane, space):
                return False
        return True

    def _surely(self, earlier: Earlier) -> np.ndarray:
        """Which accesses happen before what the operation does, or are over by what products took."""
        happens_before, operation, history = self.happens_before, earlier.operation, earlier.history
        record, rows, lanes = earlier.record, earlier.rows, operation.lanes[earlier.items]
        if happens_before.surely_covers(history, record, operation.rows, operation.warps):
            return np.ones(len(record), bool)
        known = self._ordered(operation, history, record, rows, lanes)
        known[:, 0] |= happens_before.is_own(history, record, happens_before.record_of(history, rows, lanes))
        surely: np.ndarray = np.asarray(known.all(axis=1))
        if earlier.kind != "write" and not surely.all():
            surely |= happens_before.took(history, record, rows)
        return surely

    def _unfenced(self, earlier: Earlier) -> np.ndarray:
        """Which accesses of threads no proxy fence covers for the async proxy."""
        history, record = earlier.history, earlier.record
        covered = self.happens_before.visible_to_async_proxy(history, record, earlier.rows, earlier.space)
        unfenced: np.ndarray = ~(history.is_async(record) | covered)
        return unfenced

    def _ordered(
        self,
        operation: AsyncOperation,
        history: AccessHistory,
        record: np.ndarray,
        rows: np.ndarray,
        lanes: np.ndarray,
    ) -> np.ndarray:
        """Whether a record happens before what the issuing lane does, or the issuing warps: (rows, warps)."""
        if operation.warps == 1:
            return self.happens_before.covers_records(history, record, rows, lanes=lanes)[:, None]
        each = (rows[:, None] + np.arange(operation.warps)).reshape(-1)
        ordered = self.happens_before.covers_records(history, record.repeat(operation.warps), each)
        return ordered.reshape(-1, operation.warps)


def histories(batch: Ctas, region: Region, kind: str) -> Iterator[tuple[AccessHistory, Region]]:
    """The histories for a region, each with the intervals that it is for."""
    bank = region.bank
    if not len(region.start):
        return
    if isinstance(bank, TiledBank):
        if bank.history is not None:
            yield bank.history, region
    elif isinstance(bank, GlobalMemory):
        owner = bank.find(region.first + BASE)
        if owner is not None and region.last + BASE <= owner.end:
            parts = [(owner, region)]
        else:
            parts = []
            for start in distinct(region.start).tolist():
                found = bank.find(start + BASE)
                if found is not None and all(found is not known for known, _ in parts):
                    keep = (region.start + BASE >= found.address) & (region.start + BASE < found.end)
                    parts.append(
                        (found, Region(bank, region.start[keep], region.size[keep], region.item[keep]))
                    )
        for owner, part in parts:
            history = owner.history
            if history is None and kind == "write":
                history = batch.launch.seek_races(owner)
            if history is not None:
                yield history, part
