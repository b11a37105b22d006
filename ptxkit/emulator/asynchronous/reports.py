"""The words of findings about asynchronous operations: who did what, and which wait is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.access_history import THREAD, THREAD_BITS, AccessHistory
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Membership, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.clocks import LANE_APART, MEET_FIRST
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site, label_at, show
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.values import distinct

READ_BY = {
    "wgmma": "`wgmma.wait_group`",
    "tcgen05": "the mbarrier of its `tcgen05.commit`",
    "compression": "the mbarrier of its `tcgen05.commit`",
}
"""What tells that an operation of these chapters has read its source."""


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """Earlier accesses where an operation works: records of one kind that stand in an access history.

    Attributes:
        region: as much of it as the history is for.
        kind: `write`, `first read` or `last read`.
        writes: whether the operation writes there.
        index, items, record: of each access the granule, the item that works there, and the record.
    """

    operation: AsyncOperation
    region: Region
    history: AccessHistory
    kind: str
    writes: bool
    index: np.ndarray
    items: np.ndarray
    record: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The issuing row of each item."""
        return self.operation.rows[self.items]

    def once(self) -> Earlier:
        """The same with each pair of item and record once, in some order and without `index`; all of them
        where no number holds both."""
        bits = int(self.items.max()).bit_length()
        if int(self.record.max()).bit_length() + bits > 64:
            return self
        shift = np.uint64(bits)
        keys = distinct(self.record.astype(np.uint64) << shift | self.items.astype(np.uint64))
        items = (keys & np.uint64((1 << bits) - 1)).astype(np.int64)
        record = (keys >> shift).astype(self.record.dtype)
        return replace(self, index=keys[:0], items=items, record=record)

    @property
    def space(self) -> str:
        """`shared` or `global`."""
        return "shared" if isinstance(self.region.bank, TiledBank) else "global"

    def place(self, at: int) -> int:
        """The offset in the bank of one of them."""
        return self.history.offset(int(self.index[at]))

    def thread(self, at: int) -> str:
        """Who issued the item that meets one of them."""
        return self.operation.thread(int(self.items[at]))


Excuse = Callable[[Earlier], Iterable[tuple[np.ndarray, str]]]
"""Tells which of some unordered accesses practice begins such a race with, and what it goes by."""


class Reports:
    """Reports the findings of a batch."""

    def __init__(self, batch: Ctas, mbarriers: MBarriers, happens_before: HappensBefore) -> None:
        self.batch, self.mbarriers, self.happens_before = batch, mbarriers, happens_before

    def place(self, region: Region, index: int) -> str:
        if isinstance(region.bank, TiledBank):
            tile, offset = divmod(index, self.batch.shared.stride)
            where = f"shared memory at {offset + self.batch.launch.shared.start:#x}"
            return f"{where} of CTA {self.batch.name_cta(tile)}"
        owner = self.batch.launch.memory.find(index + BASE)
        element = owner.element(index + BASE) if owner is not None else ""
        return f"global memory at {index + BASE:#x}" + (f", {element}" if element else "")

    def party(self, history: AccessHistory, record: Any, place: int) -> tuple[Site | None, str]:
        """The instruction behind a record, and who it is of."""
        batch = self.batch
        site = batch.launch.events.site(int(history.number(record)))
        thread = int(history.thread(record))
        launch = batch.launch
        if history.private:
            cta = int(batch.ctas[place // batch.shared.stride])
        else:
            launch, cta = launch.owner_of(thread >> THREAD_BITS)
        return site, self.maker(launch, cta, thread & THREAD, bool(history.is_async(record)))

    def maker(self, launch: LaunchState, cta: int, number: int, machine: bool) -> str:
        """Who made an access: a thread of a launch, or the asynchronous machine, by the record's number."""
        if not machine:
            return str(launch.thread(cta, number))
        if launch is self.batch.launch:
            return self.mbarriers.machine(cta, number)
        coordinates = launch.thread(cta, 0).ctaid
        return f"an asynchronous operation for CTA {show(coordinates)} on device {launch.device}"

    def unordered(self, found: Earlier, item: int, excuse: str | None = None) -> None:
        """Nothing orders an operation behind an earlier access. `excuse`: what practice goes by."""
        operation, history, record = found.operation, found.history, found.record[item]
        region, place = found.region, found.place(item)
        verb, earlier = "write" if found.writes else "read", found.kind.rpartition(" ")[2]
        if int(history.number(record)) < self.batch.launch.events.first:
            met_before_wait(self.batch.launch, operation.site, found.thread(item), place, earlier, verb)
            return
        code = "P650" if found.space == "shared" else "P651"
        site, who = self.party(history, record, place)
        message = (
            f"an asynchronous {verb} of {self.place(region, place)} races with another thread's {earlier}"
        )
        notes = [f"{found.thread(item)} issues the {verb} here"]
        if site is not None:
            notes.append(f"{who} made the {earlier}: `{site.instruction.spelling}` at {site.where}")
        labels = label_at(site, f"the other {earlier}", operation.site)
        help = (
            "let whoever used the bytes arrive at an mbarrier or barrier, and "
            "wait for it before this instruction"
            if found.writes
            else "put a barrier between the store and this instruction, and `fence.proxy.async` before it"
        )
        row = found.rows[item : item + 1]
        if self.happens_before.covers_records(history, np.array([record]), row).all():
            notes.append(LANE_APART)
            help = MEET_FIRST
        say = self.batch.launch.report
        if excuse is not None:
            notes.append(excuse)
            say = self.batch.launch.formally_wrong
        say(code, message, operation.site, notes, help, labels)

    def unfenced(self, found: Earlier, item: int, lenient: bool) -> None:
        """An operation reads what no proxy fence covers: a warning where practice does so, else an error."""
        operation, history, record = found.operation, found.history, found.record[item]
        region, place = found.region, found.place(item)
        site, who = self.party(history, record, place)
        message = (
            f"{self.place(region, place)} was written through the generic proxy, "
            "and no `fence.proxy.async` covers that"
        )
        notes = [f"{found.thread(item)} reads it here through the async proxy"]
        if site is not None:
            notes.append(f"{who} wrote it: `{site.instruction.spelling}` at {site.where}")
        labels = label_at(site, "written here")
        row = int(found.rows[item])
        fenced = int(self.happens_before.last_proxy_fence[row])
        if fenced:
            notes.append(
                "the issuing warp's last `fence.proxy.async` came before it had seen "
                "the write, or is for another space"
            )
        space = "shared::cta" if found.space == "shared" else "global"
        help = (
            f"put `fence.proxy.async.{space}` after the store and before the "
            "barrier that hands the bytes over, "
            "or after that barrier in the issuing thread"
        )
        say = self.batch.launch.warn if lenient else self.batch.launch.report
        say("P665", message, operation.site, notes, help, labels)

    def raw(self, slot: int, site: Site, who: str, verb: str, lenient: bool) -> None:
        """Something touches an mbarrier's bytes: a warning where practice does so, else an error."""
        barriers, launch = self.mbarriers, self.batch.launch
        say = launch.formally_wrong if lenient else launch.report
        say(
            "P672",
            f"`{site.instruction.spelling}` {verb} the bytes of {barriers.name(slot)}",
            site,
            (who, *barriers.state(slot)[:1]),
            "only mbarrier instructions may touch a live mbarrier; `mbarrier.inval` frees its bytes",
        )

    def in_flight(
        self,
        site: Site,
        who: str,
        row: int,
        lane: int,
        region: Region,
        place: int,
        operation: AsyncOperation,
        item: int,
        code: str,
    ) -> None:
        """Somebody touches bytes in flight: which rule it breaks hangs on what has been waited for."""
        where, waits = self.place(region, place), self._waits(operation, item)
        if code == "P653":
            message = f"{where} is overwritten while an asynchronous operation may still read it"
            told = READ_BY.get(operation.site.row.chapter, "`cp.async.bulk.wait_group.read`, or the mbarrier")
            help = f"wait until the operation has read its source: {told}"
        elif code == "P654":
            message = f"{where} is written while an asynchronous operation may still write it"
            help = "wait for the operation before the bytes are written otherwise"
        else:
            code, said, help = self._missed_wait(operation, item, row, lane)
            message = f"{where} is read {said}"
            if code == "P660":
                self.batch.launch.warn(code, message, site, (who, *waits, help))
                return
        self.report(code, message, site, who, operation, item, help, waits)

    def _missed_wait(self, operation: AsyncOperation, item: int, row: int, lane: int) -> tuple[str, str, str]:
        """Code, words and advice for a read of bytes that an operation in flight writes."""
        signal = operation.signal
        before = "while an asynchronous operation may still write it"
        if isinstance(signal, Membership):
            groups, index = signal.groups, int(signal.index[item])
            issuer = int(operation.rows[item]), int(operation.lanes[item])
            waited, left = int(groups.waited[issuer]), int(groups.left[issuer])
            wait = "cp.async.wait_group" if groups.name == "cp.async" else "cp.async.bulk.wait_group"
            commit = wait.replace("wait", "commit")
            if not operation.unread.all() and not operation.unread[item] and groups.name == "bulk":
                help = (
                    f"`{wait}.read` only frees the source: wait with `{wait}` and "
                    "then synchronise with the reader"
                )
                return "P660", "after a wait that covered the reads of the copy alone", help
            if waited > operation.number and index >= int(groups.committed[issuer]):
                return (
                    "P656",
                    "after a wait, but the copy was never committed",
                    f"put `{commit}` between the copy and the wait",
                )
            if waited > operation.number:
                said = f"after a wait that left {counted(left, 'group')} pending, the copy's own among them"
                return "P657", said, f"wait with a smaller number than {left}"
            mine = int(groups.waited[row, lane])
            if mine > operation.number and (row, lane) != issuer:
                said = "after a wait by a thread that did not issue the copy"
                return (
                    "P655",
                    said,
                    "a wait covers the copies of its own thread: let the issuing "
                    "threads wait, then synchronise",
                )
            return "P652", before, f"let the issuing thread execute `{wait}`, then synchronise"
        if isinstance(signal, Transaction | Arrival):
            slot = int(signal.slots[item % len(signal.slots)])
            last = self.happens_before.last_wait(row, slot)
            if last > operation.number:
                said = "after a wait that passed on a phase completed before: the parity is stale"
                return (
                    "P681",
                    said,
                    "flip the parity each time the mbarrier has been waited for, and "
                    "begin with that of the first phase",
                )
        return (
            "P652",
            before,
            "wait for the mbarrier's phase that the operation completes before its result is read",
        )

    def _waits(self, operation: AsyncOperation, item: int) -> list[str]:
        """Notes on what completes an operation and how far that is."""
        match operation.signal:
            case Membership(groups=groups, index=index):
                issuer = int(operation.rows[item]), int(operation.lanes[item])
                number, committed = int(index[item]), int(groups.committed[issuer])
                if number >= committed:
                    return [f"its `{groups.name}` group has not been committed"]
                if operation.proxied is not None and operation.proxied[item]:
                    return ["its thread has waited for it with `.sync_restrict::proxy::async`"]
                return [f"it is in `{groups.name}` group {number}; its thread has committed {committed}"]
            case Transaction(slots=slots) | Arrival(slots=slots):
                return self.mbarriers.state(int(slots[item % len(slots)]))
        return []

    def report(
        self,
        code: str,
        message: str,
        site: Site,
        who: str,
        operation: AsyncOperation,
        item: int,
        help: str,
        more: list[str] | None = None,
    ) -> None:
        labels = label_at(operation.site, "the asynchronous operation", site)
        notes = [
            f"{who} does it here",
            f"{operation.thread(item)} issued `{operation.spelling}` at {operation.site.where}",
            *(more or []),
        ]
        self.batch.launch.report(code, message, site, notes, help, labels)

    def leak(self, operation: AsyncOperation, hit: np.ndarray, site: Site) -> None:
        assert isinstance(operation.signal, Transaction)
        item = int(np.argmax(hit))
        slot = int(operation.signal.slots[item])
        barriers = self.mbarriers
        phase = int(barriers.phase[slot])
        labels = label_at(operation.site, "still in flight", site)
        self.batch.launch.report(
            "P678",
            f"phase {phase - 1} of {barriers.name(slot)} completes while a copy that signals it is in flight",
            site,
            (
                f"{counted(int(operation.signal.sizes[item]), 'byte')} of "
                f"`{operation.spelling}` at {operation.site.where}, "
                f"issued by {operation.thread(item)}, will count for phase {phase}",
                *barriers.story(slot, phase - 1),
            ),
            "expect the bytes of every copy of the phase before its last arrival",
            labels,
        )


def met_before_wait(
    launch: LaunchState, site: Site, thread: str, index: int, earlier: str, later: str
) -> None:
    """A thread of a programmatic launch meets what the launch ahead of it did, and has not waited for that.

    Args:
        launch: the programmatic one.
        thread: who executes it.
        index: the byte in global memory.
        earlier, later: `read` or `write`, what each of them does.

    Raises:
        EmulatorFault: P613, it reads what may not be written yet, unless the launch goes past that.
    """
    place = f"global memory at {index + BASE:#x}"
    notes = [f"{thread} makes the {later} here", f"the launch ahead of this one made the {earlier}"]
    if (owner := launch.memory.find(index + BASE)) is not None:
        notes.append(f"byte {index + BASE - owner.address} of {owner}")
    if later == "read":
        message = f"{place} is read, which the launch ahead of this one may yet write"
        launch.report("P613", message, site, notes, "put `griddepcontrol.wait` before the read")
        return
    message = f"{place} is written, which the launch ahead of this one may yet {earlier}"
    launch.warn("P616", message, site, notes)
