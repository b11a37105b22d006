"""The timeline of a batch: what its warps, operations, mbarriers and tensor memory do, as events of a trace.

`trace.Recorder` makes one for each batch that is shown, and keeps the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Membership, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.sync_points import executing_rows
from ptxkit.emulator.values import distinct

MBARRIERS, OPERATIONS, COLUMNS = 1 << 10, 1 << 16, 1 << 20
"""The first track of a CTA's mbarriers, of its asynchronous operations, and of its columns of tensor memory;
its warps have those before."""
RUNNING, WAITING, EXITED = 0, 1, 2
INSTANTS = frozenset({"fences", "commits", "awaits", "arrives", "programmatic"})
"""The traits (`ptxkit.isa.traits`) of what is shown on its warp's track."""


Event = dict[str, Any]


def _place(site: Site) -> Event:
    """The line of an instruction, and what a compiler made it of."""
    if site.place is None:
        return {"function": site.function}
    file, line = site.place
    found: Event = {"line": line, "file": file} if file else {"line": line}
    return {**found, "compiled_from": written} if (written := site.compiled_from) else found


@dataclass(slots=True)
class _OperationSlice:
    """An operation in flight, as one CTA sees it: its slice so far."""

    track: int
    lane: int
    event: Event


class TraceRecord:
    """What has been taken down so far.

    Attributes:
        ctas: how many CTAs of each grid are shown, those with the lowest numbers.
        events: what has ended.
        now: the step that is being executed.
        launches: the entry of each launch.
    """

    def __init__(self, ctas: int) -> None:
        self.ctas = ctas
        self.events: list[Event] = []
        self.now = 0
        self.launches: list[str] = []
        self._processes = 0

    def process(self) -> int:
        """A new process number: a CTA of a launch."""
        self._processes += 1
        return self._processes


class Timeline:
    """Records one batch.

    Attributes:
        recorder: where events go.
        schedule: of the batch.
        ended: whether nothing more will come.
    """

    def __init__(self, recorder: TraceRecord, schedule: LaneSchedule) -> None:
        self.recorder = recorder
        self.schedule = schedule
        self.batch = batch = schedule.batch
        batch.record(self)
        self.shown = batch.ctas < recorder.ctas
        self.rows = np.repeat(self.shown, batch.warps_per_cta)
        self.processes = {int(cta): recorder.process() for cta in np.flatnonzero(self.shown)}
        self._state = np.full(batch.rows, RUNNING)
        self._since = np.full(batch.rows, recorder.now)
        self._waits: list[tuple[Site, Event] | None] = [None] * batch.rows
        self._phases: dict[int, Event] = {}
        self._columns: dict[tuple[int, int], Event] = {}
        self._named: set[int] = set()
        self._in_flight: dict[int, list[_OperationSlice]] = {}
        self._lanes: dict[int, list[bool]] = {cta: [] for cta in self.processes}
        self.ended = False
        launch = len(recorder.launches)
        for cta, process in self.processes.items():
            name = f"launch {launch}, {recorder.launches[-1]}: CTA {batch.name_cta(cta)}"
            self._name(process, None, name)
            for warp in range(batch.warps_per_cta):
                self._name(process, warp, f"warp {warp}")

    def _name(self, process: int, track: int | None, name: str) -> None:
        kind = "process" if track is None else "thread"
        where = {"pid": process} if track is None else {"pid": process, "tid": track}
        order = process if track is None else track
        events = self.recorder.events
        events.append({"ph": "M", "name": f"{kind}_name", **where, "args": {"name": name}})
        events.append({"ph": "M", "name": f"{kind}_sort_index", **where, "args": {"sort_index": order}})

    def _begun(self, kind: str, name: str, track: Event, details: Event) -> Event:
        """A slice that begins now."""
        return {"ph": "X", "cat": kind, "name": name, "ts": self.recorder.now, **track, "args": details}

    def _slice(self, event: Event) -> None:
        """Close a slice now, and keep it unless it is empty."""
        event["dur"] = self.recorder.now - event["ts"]
        if event["dur"] > 0:
            self.recorder.events.append(event)

    # ---- warps

    def run(self, block: CodeBlock, lane_set: LaneSet) -> None:
        """Run the instructions of a block one by one; see `CodeBlock.run`."""
        self._enter(lane_set)
        tracked = bool(lane_set.undefined)
        for site, guard, step, careful in zip(
            block.sites, block.guards, block.steps, block.tracked, strict=True
        ):
            if not INSTANTS.isdisjoint(site.row.traits):
                self._instant(lane_set, site, guard)
            tracked = bool((careful if tracked else step)(lane_set)) or tracked
            self.recorder.now += 1

    def _enter(self, lane_set: LaneSet) -> None:
        rows = lane_set.occupied_rows()
        rows = rows[self.rows[rows] & (self._state[rows] == WAITING)]
        for row in rows.tolist():
            self._turn(row, RUNNING, None)

    def settle(self) -> None:
        """Look where every warp is: it waits where all its lanes that have not exited do."""
        batch = self.batch
        alive = np.count_nonzero(batch.alive, axis=1)
        held = np.zeros(batch.rows, np.int64)
        at = np.full(batch.rows, -1)
        for number, entry in enumerate(self.schedule.blocked):
            lane_set = entry.lane_set
            rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
            lanes = batch.alive[rows] if lane_set.mask is None else lane_set.mask & batch.alive[rows]
            held[rows] += np.count_nonzero(lanes, axis=1)
            at[rows[lanes.any(axis=1)]] = number
        state = np.where(alive == 0, EXITED, np.where(held >= alive, WAITING, RUNNING))
        for row in np.flatnonzero(self.rows & ((state != self._state) | (state == WAITING))).tolist():
            wait = self._wait(int(at[row]), row) if state[row] == WAITING else None
            before = self._waits[row]
            if state[row] != self._state[row] or (wait and before and wait[0] is not before[0]):
                self._turn(row, int(state[row]), wait)

    def _wait(self, number: int, row: int) -> tuple[Site, Event]:
        """At which instruction a warp waits, and for what."""
        entry, batch = self.schedule.blocked[number], self.batch
        site = entry.lane_set.code.blocks[entry.lane_set.pc].sites[0]
        details = _place(site)
        slots = entry.lane_set.result
        if isinstance(entry.sync_point, PhaseSyncPoint):
            barriers = batch.mbarriers
            mine = [s for s in distinct(slots).tolist() if self._cta_of(s) == row // batch.warps_per_cta]
            details["for"] = [f"phase {int(barriers.phase[s])} of {self._mbarrier(s)}" for s in mine]
        return site, details

    def _turn(self, row: int, state: int, wait: tuple[Site, Event] | None) -> None:
        """A warp goes over to another state: what it did until now becomes a slice."""
        before = self._waits[row]
        event: Event = {"ph": "X", "cat": "warp", "ts": int(self._since[row]), **self._track(row)}
        if self._state[row] == RUNNING:
            self._slice({**event, "name": "run", "args": {}})
        elif before is not None:
            site, details = before
            self._slice({**event, "name": f"wait: {site.instruction.spelling}", "args": details})
        self._state[row], self._since[row], self._waits[row] = state, self.recorder.now, wait

    def _track(self, row: int) -> dict[str, int]:
        cta, warp = divmod(row, self.batch.warps_per_cta)
        return {"pid": self.processes[cta], "tid": warp}

    def _instant(self, lane_set: LaneSet, site: Site, guard: SourceOperand | None) -> None:
        """The warps of which a lane executes an instruction."""
        holds = guard.reader(lane_set) if guard is not None else None
        if holds is not None and holds.ndim == 0 and not holds:
            return
        rows = executing_rows(lane_set, holds)
        for row in rows[self.rows[rows]].tolist():
            event = {"ph": "i", "s": "t", "cat": "instruction", "ts": self.recorder.now, **self._track(row)}
            self.recorder.events.append({**event, "name": site.instruction.spelling, "args": _place(site)})

    # ---- asynchronous operations

    def issued(
        self, operation: AsyncOperation, site: Site | None = None, reads: Sequence[Region] | None = None
    ) -> None:
        """An operation is queued: a slice for each CTA whose threads issued some of it. `site` and `reads`:
        of an instruction that joins an operation, itself and what it reads."""
        reads = operation.reads if reads is None else reads
        site = site or operation.site
        ctas = operation.rows // self.batch.warps_per_cta
        for cta in distinct(ctas).tolist():
            if cta not in self.processes:
                continue
            items = ctas == cta
            taken = self._lanes[cta]
            lane = taken.index(False) if False in taken else len(taken)
            if lane == len(taken):
                taken.append(False)
                self._name(self.processes[cta], OPERATIONS + lane, f"asynchronous {lane}")
            taken[lane] = True
            first = int(np.argmax(items))
            details = _place(site) | {
                "items": int(np.count_nonzero(items)),
                "warp": int(operation.rows[first]) % self.batch.warps_per_cta,
                "bytes_read": _bytes(reads, items),
                "bytes_written": _bytes(operation.writes, items),
                "signal": self._signal(operation, items),
            }
            track = {"pid": self.processes[cta], "tid": OPERATIONS + lane}
            event = self._begun("operation", site.name, track, details)
            self._in_flight.setdefault(id(operation), []).append(_OperationSlice(cta, lane, event))
        if operation.delivered:
            self.completed(operation)

    def completed(self, operation: AsyncOperation) -> None:
        """An operation has been done, with all that joined it."""
        slices = self._in_flight.pop(id(operation), ())
        if slices:
            self.recorder.now += 1
        for each in slices:
            self._lanes[each.track][each.lane] = False
            self._slice(each.event)

    def _signal(self, operation: AsyncOperation, items: np.ndarray) -> str:
        match operation.signal:
            case Transaction(slots=slots, sizes=sizes):
                size = int(np.broadcast_to(sizes, items.shape)[items].sum())
                return f"complete-tx of {counted(size, 'byte')} on {self._mbarriers(slots[items])}"
            case Arrival(slots=slots):
                return f"arrive on {self._mbarriers(slots[items])}"
            case Membership(groups=groups, index=index):
                numbers = ", ".join(str(number) for number in distinct(index[items]).tolist())
                return f"{groups.name} group {numbers}"
            case _:
                return "none of its own"

    # ---- mbarriers

    def _cta_of(self, slot: int) -> int:
        return int(self.batch.mbarriers.place[slot]) // self.batch.shared.stride

    def _mbarrier(self, slot: int) -> str:
        batch = self.batch
        address = int(batch.mbarriers.place[slot]) % batch.shared.stride + batch.launch.shared.start
        variables = batch.launch.program.shared_variables
        name = next((symbol.name for symbol, start in variables.items() if start == address), None)
        return f"mbarrier {address:#x}" + (f" `{name}`" if name else "")

    def _mbarriers(self, slots: np.ndarray) -> str:
        names = [
            f"{self._mbarrier(s)} of CTA {self.batch.name_cta(self._cta_of(s))}" for s in distinct(slots)
        ]
        return ", ".join(names)

    def turned(self, slots: np.ndarray) -> None:
        """The current phase of some mbarriers begins: after their init, or after the one before."""
        barriers = self.batch.mbarriers
        for slot in distinct(slots).tolist():
            cta = self._cta_of(slot)
            if cta not in self.processes:
                continue
            self._close(slot, True)
            track = {"pid": self.processes[cta], "tid": MBARRIERS + int(barriers.local[slot])}
            if slot not in self._named:
                self._named.add(slot)
                self._name(track["pid"], track["tid"], self._mbarrier(slot))
            name, expected = f"phase {int(barriers.phase[slot])}", int(barriers.expected[slot])
            self._phases[slot] = self._begun("mbarrier", name, track, {"expected": expected})

    def invalidated(self, slots: np.ndarray) -> None:
        """Some mbarriers are no more."""
        for slot in distinct(slots).tolist():
            self._close(slot, False)

    def _close(self, slot: int, complete: bool) -> None:
        event = self._phases.pop(slot, None)
        if event is not None:
            event["args"]["complete"] = complete
            self._slice(event)

    # ---- tensor memory

    def allocated(self, cta: int, first: int, columns: int, cta_group: int, site: Site) -> None:
        """A CTA gets columns of tensor memory."""
        if cta not in self.processes:
            return
        track = {"pid": self.processes[cta], "tid": COLUMNS + first}
        self._name(track["pid"], track["tid"], f"tensor memory {first}")
        name = f"columns {first} to {first + columns - 1}"
        details = {**_place(site), "columns": columns, "cta_group": cta_group, "freed": True}
        self._columns[cta, first] = self._begun("tensor memory", name, track, details)

    def freed(self, cta: int, first: int) -> None:
        """A CTA gives columns of tensor memory back."""
        event = self._columns.pop((cta, first), None)
        if event is not None:
            self._slice(event)

    # ---- the end

    def end(self) -> None:
        """The batch has ended, or a fault ended it: close what is open."""
        if self.ended:
            return
        self.ended = True
        for row in np.flatnonzero(self.rows).tolist():
            self._turn(row, EXITED, None)
        for slot in list(self._phases):
            self._close(slot, False)
        for event in self._columns.values():
            event["args"]["freed"] = False
            self._slice(event)
        for slices in self._in_flight.values():
            for each in slices:
                each.event["args"]["in_flight_at_end"] = True
                self._slice(each.event)
        self._in_flight.clear()


def _bytes(regions: Sequence[Region], items: np.ndarray) -> int:
    """Bytes of some items of an operation."""
    return sum(region.of_items(items).total for region in regions)
