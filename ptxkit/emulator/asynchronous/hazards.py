"""What asynchronous operations may not meet: bytes in flight, missing waits, missing proxy fences.

While an operation is in flight, nobody may read what it writes or write what it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.asynchronous.completions import (
    Completions,
    StrongCopies,
    histories,
)
from ptxkit.emulator.asynchronous.granules import Granules
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Membership
from ptxkit.emulator.asynchronous.region import Data, Region
from ptxkit.emulator.asynchronous.reports import Earlier
from ptxkit.emulator.faults import Site
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.values import distinct


class Synchronous(Protocol):
    """A thread's own access; see `ptxkit.emulator.access.Access`."""

    site: Site
    space: str
    bank: Bank
    index: Any
    first: int
    last: int

    def each(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...


class Accesses(Completions):
    """Holds synchronous accesses of a batch against what is in flight."""

    def check(self, access: Synchronous, size: int, writes: bool) -> None:
        """Hold a synchronous access against what is in flight. Raises EmulatorFault: it reads what has not
        been seen completed, or writes what is in use."""
        barriers = self.mbarriers
        shared = access.space == "shared"
        if shared and len(barriers.place):
            self._check_access_objects(access, size, writes)
        flat: Any = None
        for operation in self.in_flight:
            for regions, flags, reads in (
                (operation.writes, operation.unwritten, False),
                (operation.reads, operation.unread, True),
            ):
                if reads and not writes:
                    continue
                for region in regions:
                    if region.bank is not access.bank or not _near(region, access, size) or not flags.any():
                        continue
                    if flat is None:
                        flat = access.each()
                    self._check_region(access, flat, size, operation, region, flags, writes, reads)

    def _check_region(
        self,
        access: Synchronous,
        flat: tuple[np.ndarray, np.ndarray, np.ndarray],
        size: int,
        operation: AsyncOperation,
        region: Region,
        flags: np.ndarray,
        writes: bool,
        reads: bool,
    ) -> None:
        index, rows, lanes = flat
        held = region.of_items(flags)
        if not len(held.start):
            return
        found = held.holding(index, size)
        hit = found >= 0
        if not hit.any():
            return
        at = int(np.argmax(hit))
        item = int(held.item[int(found[at])])
        row, lane = int(rows[at]), int(lanes[at])
        who = str(self.batch.thread(row, lane))
        code = "P653" if reads else "P654" if writes else "P652"
        self.reports.in_flight(access.site, who, row, lane, region, int(index[at]), operation, item, code)

    def _check_access_objects(self, access: Synchronous, size: int, writes: bool) -> None:
        index, rows, lanes = access.each()
        barriers = self.mbarriers
        for offset in {0, max(size - 1, 0)}:
            slots = barriers.at[(index + offset) >> 3].astype(np.int64) - 1
            hit = slots >= 0
            if hit.any():
                hit &= barriers.live[np.maximum(slots, 0)]
            if hit.any():
                free = np.zeros_like(hit)
                # Without the sanitizer nobody has seen that a copy wrote what is read now.
                if writes or not self.batch.launch.sanitize:
                    free[hit] = barriers.overwrite(slots[hit])
                at = int(np.argmax(hit & ~free if (hit & ~free).any() else hit))
                who = str(self.batch.thread(int(rows[at]), int(lanes[at])))
                verb = "writes" if writes else "reads"
                self.reports.raw(int(slots[at]), access.site, who, verb, bool(free[at]))


def _near(region: Region, access: Synchronous, size: int) -> bool:
    """Whether an access may touch a region, by the least and greatest offset."""
    if isinstance(region.bank, TiledBank):
        low, high = region.within
        return access.first < high and access.last >= low
    index = access.index
    if isinstance(index, int):
        return index < region.last and index + size > region.first
    return int(index.min()) < region.last and int(index.max()) + size > region.first


MATRIX_UNITS = ("wgmma", "tcgen05", "compression")
"""Chapters of `ptxkit.isa` whose asynchronous instructions feed matrix units."""
KINDS = ("write", "first read", "last read")


class Hazards(Accesses):
    """The sanitizer of a batch's queue."""

    # ---- an operation is issued

    def enter(self, operation: AsyncOperation) -> None:
        """Hold an operation's bytes against what is in flight and what happened before. Raises EmulatorFault:
        they are in use, or their last writer is not ordered before the operation."""
        count = operation.count
        operation.unread = np.full(count, any(len(r.start) for r in operation.reads))
        operation.unwritten = np.full(count, any(len(r.start) for r in operation.writes))
        for other in self.in_flight:
            if operation.writes or other.writes:
                self._meet(operation, other)
        if not operation.reduces:
            self._check_items(operation)
        if not self._reads_plainly(operation):
            for region in operation.reads:
                self._look_back(operation, region, ("write",))
        for region in operation.writes:
            self._look_back(operation, region, KINDS)
            self._check_objects(operation, region)

    def _reads_plainly(self, operation: AsyncOperation) -> bool:
        """Whether it is plain, from one look at all that an operation reads, that all of it may be read."""
        region = operation.reads_at_once
        if region is None:
            return False
        for history, part in histories(self.batch, region, "read"):
            if history.has("write"):
                found = Granules(self.batch, history, part).runs("write")
                if not self._is_plain(Earlier(operation, part, history, "write", False, *found)):
                    return False
        return True

    def _check_items(self, operation: AsyncOperation) -> None:
        """Two items may not write the same bytes, unless they are the same, which is P607."""
        for region in operation.writes:
            order = np.argsort(region.start, kind="stable")
            start, end = region.start[order], (region.start + region.size)[order]
            item = region.item[order]
            clash = (start[1:] < end[:-1]) & (item[1:] != item[:-1])
            for at in np.flatnonzero(clash).tolist():
                first, second = int(item[at]), int(item[at + 1])
                if start[at] == start[at + 1] and _same_bytes(operation, region, first, second):
                    what = "copy" if operation.reads else "store"
                    place = self.reports.place(region, int(start[at]))
                    said = f"several threads issue the same {what} to {place}"
                    notes = (operation.thread(first), operation.thread(second))
                    # CUTLASS stores by whole warps: that counts nowhere, and writes the same bytes 32 times.
                    rows = operation.rows[item[start == start[at]]]
                    stored = isinstance(operation.signal, Membership) and operation.reads
                    hint = stored and (rows == rows[0]).all()
                    say = self.batch.launch.hint if hint else self.batch.launch.warn
                    say("P607", said, operation.site, notes)
                    continue
                place = self._overlapping(int(start[at + 1]), (region, first), (region, second))
                message = f"two threads of one instruction write {place}"
                help = "let each thread write its own bytes, or one thread issue the operation"
                who = operation.thread(second)
                self.reports.report("P654", message, operation.site, who, operation, first, help)

    def _meet(self, operation: AsyncOperation, other: AsyncOperation) -> None:
        """Two operations in flight may only both read the same bytes, unless both are strong."""
        if operation.strong and other.strong:
            return
        for mine, theirs, flags, code in (
            (operation.writes, other.writes, other.unwritten, "P654"),
            (operation.writes, other.reads, other.unread, "P653"),
            (operation.reads, other.writes, other.unwritten, "P652"),
        ):
            if not mine or not theirs or (code == "P654" and operation.reduces and other.reduces):
                continue
            whole = operation.reads_at_once if mine is operation.reads else None
            if whole is not None and all(whole.apart(held) for held in theirs):
                continue
            for region in mine:
                for held in theirs:
                    if region.apart(held) or not flags.any():
                        continue
                    for part, items in self._in_the_way(operation, other, region, flags):
                        left = held.of_items(items)
                        found = part.overlap(left)
                        if found is not None:
                            self._collide(operation, part, found, other, left, code)

    def _overlapping(self, place: int, *items: tuple[Region, int]) -> str:
        """Where two items write the same byte; in shared memory also from where to where each writes in that
        CTA, unless that is the same."""
        where = self.reports.place(items[0][0], place)
        ends, firsts = list[str](), list[tuple[int, int]]()
        for region, item in items:
            if not isinstance(region.bank, TiledBank):
                return where
            stride = region.bank.stride
            mine = (region.item == item) & (region.start // stride == place // stride)
            start, offset = region.start[mine] % stride, self.batch.launch.shared.start
            last = (start + region.size[mine]).max() - 1
            ends.append(f"from {int(start.min()) + offset:#x} to {int(last) + offset:#x}")
            firsts.append((int(start.min()), int(last - start.min()) + 1))
        if ends[0] == ends[1]:
            return where
        (first, size), (second, other) = firsts
        apart = f": of {size} bytes each, they begin {abs(first - second)} apart" if size == other else ""
        return f"{where}, one {ends[0]}, the other {ends[1]}{apart}"

    def _in_the_way(
        self, operation: AsyncOperation, other: AsyncOperation, region: Region, flags: np.ndarray
    ) -> Iterator[tuple[Region, np.ndarray]]:
        """A region of an operation in parts, each with the items of another one that it may not meet: of
        those in flight all but what is over for the async proxy, as the issuing thread knows."""
        if other.proxied is None or operation.proxy != "async":
            yield region, flags
            return
        for row in distinct(operation.rows).tolist():
            rows = np.full(other.count, row)
            over = (other.proxied > 0) & self.happens_before.covers(rows, other.rows, other.proxied)
            yield region.of_items(operation.rows == row), flags & ~over

    def _collide(
        self,
        operation: AsyncOperation,
        region: Region,
        found: tuple[int, int],
        other: AsyncOperation,
        held: Region,
        code: str,
    ) -> None:
        mine, theirs = int(region.item[found[0]]), int(held.item[found[1]])
        place = max(int(region.start[found[0]]), int(held.start[found[1]]))
        who = operation.thread(mine)
        row = int(operation.rows[mine])
        if code == "P654":
            where = self._overlapping(place, (held, theirs), (region, mine))
            message = f"two asynchronous operations write {where}, and nothing orders them"
            help = "wait for the first one to complete before the second is issued"
            self.reports.report(code, message, operation.site, who, other, theirs, help)
        self.reports.in_flight(
            operation.site, who, row, int(operation.lanes[mine]), region, place, other, theirs, code
        )

    def _look_back(self, operation: AsyncOperation, region: Region, kinds: tuple[str, ...]) -> None:
        """Hold a region against the accesses that are entered for its bytes."""
        for history, part in histories(self.batch, region, "write" if len(kinds) > 1 else "read"):
            present = [kind for kind in kinds if history.has(kind)]
            if not present:
                continue
            touched = Granules(self.batch, history, part)
            for kind in present:
                # Granules of one access that lie side by side are judged by the first of them.
                index, items, record = touched.runs(kind)
                some = np.ones(len(record), bool)
                if operation.reduces:
                    # Reductions need not be ordered with one another.
                    some &= ~self._has_trait(history, record, "reduces")
                if operation.strong:
                    some &= ~self.batch.launch.own(StrongCopies).among(history.number(record))
                if operation.reduces or operation.strong:
                    index, items, record = index[some], items[some], record[some]
                if len(record):
                    earlier = Earlier(operation, part, history, kind, len(kinds) > 1, index, items, record)
                    self._judge(earlier)

    def _has_trait(self, history: AccessHistory, record: np.ndarray, trait: str) -> np.ndarray:
        """Whether records are of instructions with a trait."""
        numbers, which = np.unique(history.number(record), return_inverse=True)
        sites = [self.batch.launch.events.site(int(number)) for number in numbers]
        return np.array([site is not None and trait in site.row.traits for site in sites], bool)[which]

    def _judge(self, earlier: Earlier) -> None:
        if self._is_plain(earlier):
            return
        operation, history, record = earlier.operation, earlier.history, earlier.record
        over = earlier.writes and earlier.kind != "write"
        excused = None
        surely = self._surely(earlier)
        if not surely.all():
            excused = self._report_unordered(earlier, np.logical_not(surely))
        if over and "cancels" in operation.site.row.traits:
            self._check_slot(earlier)
        # The fabric proxy has fences of its own; its operations reach shared memory through the async proxy.
        through = operation.proxy == "async" or (operation.proxy == "fabric" and earlier.space == "shared")
        if over and through and self.batch.launch.strict:
            self._check_readers(earlier)
        if not through or earlier.writes:
            return
        unfenced = self._unfenced(earlier)
        if excused is not None:
            unfenced &= ~excused
        if not unfenced.any():
            return
        # `cp.async` writes through the generic proxy: it is a weak memory operation (9.7.9.25.3.1), and only
        # bulk copies are in the async proxy (9.7.9.25.2). Triton and FlashMLA hand what it wrote to matrix
        # units without a proxy fence.
        copied = self._has_trait(history, record, "copies_generic")
        copied &= operation.site.row.chapter in MATRIX_UNITS
        for some, lenient in ((unfenced & ~copied, False), (unfenced & copied, True)):
            if some.any() and (self.batch.launch.strict or not lenient):
                self.reports.unfenced(earlier, int(np.argmax(some)), lenient)

    def _report_unordered(self, earlier: Earlier, unordered: np.ndarray) -> np.ndarray:
        """Report the first access that nothing orders, and the first that practice takes for ordered. Returns
        which are of the second kind: bool, as `unordered` is."""
        excused = np.zeros(len(unordered), bool)
        for excuse in self.excuses:
            for which, why in excuse(earlier):
                which = which & unordered & ~excused
                if which.any():
                    self.reports.unordered(earlier, int(np.argmax(which)), why)
                excused |= which
        if (unordered & ~excused).any():
            self.reports.unordered(earlier, int(np.argmax(unordered & ~excused)))
        return excused

    def _check_readers(self, earlier: Earlier) -> None:
        """An asynchronous write after a generic read, without a proxy fence: the manual's example of
        `try_cancel` has one (9.7.13.18), pipelines in practice have none."""
        unfenced = self._unfenced(earlier)
        if earlier.space == "shared" and unfenced.any():
            unfenced &= ~self.happens_before.reads_fenced(earlier.history, earlier.record, earlier.rows)
        if unfenced.any():
            at = int(np.argmax(unfenced))
            message = (
                f"{self.reports.place(earlier.region, earlier.place(at))} is written through the async proxy "
                "after generic reads, and no `fence.proxy.async` covers these"
            )
            site, who = self.reports.party(earlier.history, earlier.record[at], earlier.place(at))
            read = f"{who} read it" + (f": `{site.instruction.spelling}` at {site.where}" if site else "")
            notes = (f"{earlier.thread(at)} issues the write here", read)
            self.batch.launch.warn("P666", message, earlier.operation.site, notes)

    def _check_slot(self, earlier: Earlier) -> None:
        """A response may only be overwritten once a proxy fence covers its readers."""
        unfenced = self._unfenced(earlier)
        if unfenced.any():
            self.batch.launch.report(
                "P612",
                "a response is overwritten that threads have read, and no proxy fence covers that",
                earlier.operation.site,
                (earlier.thread(int(np.argmax(unfenced))),),
                "put `fence.proxy.async::generic.release..` after the load of the response, then a barrier",
            )

    def _check_objects(self, operation: AsyncOperation, region: Region) -> None:
        """Nothing may write the bytes of a live mbarrier."""
        barriers = self.mbarriers
        if region.bank is not self.batch.shared or not barriers.live.any():
            return
        slots = np.flatnonzero(barriers.live)
        found = region.holding(barriers.place[slots], 8)
        slots, found = slots[found >= 0], found[found >= 0]
        if len(slots):
            free = barriers.overwrite(slots)
            at = int(np.argmin(free))
            item = int(region.item[int(found[at])])
            who = operation.thread(item)
            self.reports.raw(int(slots[at]), operation.site, who, "writes", bool(free[at]))


def _same_bytes(operation: AsyncOperation, region: Region, first: int, second: int) -> bool:
    """Whether two items copy the same bytes; of an operation that reads no memory, store equal ones."""
    for read in operation.reads:
        if not np.array_equal(read.start[read.item == first], read.start[read.item == second]):
            return False
    if operation.reads:
        return True
    data = operation.fetch()  # registers, as they were at issue
    if not isinstance(data, Data) or data.undefined is not None or len(data.data) != region.total:
        return False
    items = np.repeat(region.item, region.size)
    return np.array_equal(data.data[items == first], data.data[items == second])
