"""`bar` and `barrier` as synchronisation points: arriving and waiting. PTX ISA 9.7.13.1."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptxkit.asm.flow import FunctionCode
from ptxkit.diagnostics import counted
from ptxkit.emulator.barriers import BARRIERS, MEET, TABLES, Barrier, Barriers, all_there, bits, release
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import BlockToRun, CodeToRun, LaneSchedule, LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import check_defined, executing
from ptxkit.emulator.values import WARP, distinct, first_true


@dataclass(frozen=True, slots=True, eq=False)
class _Arrival:
    """Lanes that arrive at a barrier, and how many threads it is to expect (0: all of the CTA).

    Attributes:
        rows: of the batch.
        mask: bool (rows, 32), the lanes of each.
        values: bool (rows of the batch, 32), the predicates of a `red`.
    """

    barrier: Barrier
    rows: np.ndarray
    mask: np.ndarray
    count: int
    values: np.ndarray | None

    def of(self, some: np.ndarray) -> _Arrival:
        """That of some of the rows."""
        return replace(self, rows=self.rows[some], mask=self.mask[some])


class BarrierSyncPoint:
    """The synchronisation point of `bar` and `barrier`: arrival, and for `sync` and `red` waiting.

    Args:
        number: the barrier.
        count: the threads that take part, None for all of the CTA.
        waits: False for `arrive`.
        predicate: of `red`.
        guard: the instruction's guard. Lanes that it switches off pass.
        aligned: whether the lanes of a warp must come to it together.
    """

    def __init__(
        self,
        site: Site,
        number: SourceOperand,
        count: SourceOperand | None,
        waits: bool,
        predicate: SourceOperand | None,
        guard: SourceOperand | None,
        aligned: bool,
    ) -> None:
        self.site = site
        self.aligned = aligned
        self.number, self.count = number, count
        self.waits = waits
        self.predicate = predicate.reader if predicate is not None else None
        self.guard = guard.reader if guard is not None else None
        self._operands = [
            one for one in (number, count, predicate) if one is not None and one.slot is not None
        ]
        constant = number.slot is None and number.compute is None
        self._fixed = int(number.value) if constant and count is None else None

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        batch = lane_set.batch
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0:
            if not guard:
                return lane_set
            guard = None
        for operand in self._operands:
            check_defined(lane_set, guard, operand, self.site)
        everyone = guard is None and lane_set.size == batch.living
        if everyone and self._fixed is not None and self.waits and self.predicate is None:
            state = batch.own(Barriers).by_number.get(self._fixed)
            if (state is None or not state.busy) and 0 <= self._fixed < BARRIERS:
                batch.launch.counts.barriers += len(batch.ctas)
                batch.happens_before.barrier(slice(None), batch.launch.events.take())
                return lane_set
        skipping = None
        if guard is not None:
            coming = executing(lane_set, guard)
            assert coming is not None
            count = int(np.count_nonzero(coming))
            if count == 0:
                return lane_set
            if count < lane_set.size:
                if self.aligned:
                    self._check_guard(lane_set, coming)
                rest = lane_set.full_mask() & ~coming
                skipping = lane_set.part(rest, lane_set.size - count, lane_set.pc)
                lane_set = lane_set.part(coming, count, lane_set.pc)
        admitted = self._arrive_each(lane_set)
        if skipping is None:
            return admitted
        if admitted is not None:
            admitted.passed = True
            lane_set.schedule.ready.append(admitted)
        return skipping

    def _arrive_each(self, lane_set: LaneSet) -> LaneSet | None:
        """Arrive at the barrier, or at each of several that a register names."""
        numbers = self.number.reader(lane_set)
        counts = self.count.reader(lane_set) if self.count is not None else np.uint32(0)
        if numbers.ndim == 0 and counts.ndim == 0:
            return self._arrive(lane_set, int(numbers), int(counts))
        mask = lane_set.full_mask()
        keys = np.broadcast_to(numbers.astype(np.uint64) << np.uint64(32) | counts, mask.shape)
        found = distinct(keys[mask])
        if len(found) == 1:
            return self._arrive(lane_set, int(found[0]) >> 32, int(found[0]) & 0xFFFF_FFFF)
        for key in found:
            lanes = mask & (keys == key)
            part = lane_set.part(lanes, int(np.count_nonzero(lanes)), lane_set.pc)
            admitted = self._arrive(part, int(key) >> 32, int(key) & 0xFFFF_FFFF)
            if admitted is not None:
                admitted.passed = True
                lane_set.schedule.ready.append(admitted)
        return None

    def _arrive(self, lane_set: LaneSet, number: int, count: int) -> LaneSet | None:
        batch = lane_set.batch
        self._check(lane_set, number, count)
        barrier = batch.own(Barriers).of(number)
        rows, mask = lane_set.occupied()
        values = None
        if self.predicate is not None:
            values = np.zeros((batch.rows, WARP), bool)
            values[slice(None) if lane_set.rows is None else lane_set.rows] = self.predicate(lane_set)
        arrival = _Arrival(barrier, rows, mask, count, values)
        if self.aligned and lane_set.mask is not None:
            self._check_together(lane_set, barrier, rows)
            self._note_absent(lane_set, barrier, rows, mask)
        self._check_generation(batch, arrival)
        if count > batch.warps_per_cta * WARP:
            where, has = f"{lane_set.thread(*lane_set.first(np.True_))}", batch.warps_per_cta * WARP
            message = f"barrier {number} expects {count} threads, and the CTA has {has}"
            raise fault("P636", message, self.site, (where,), "give the number of threads that take part")
        turns, room = None, count - int(np.bincount(rows // batch.warps_per_cta).max()) * WARP
        if (
            count
            and np.count_nonzero(barrier.arrived) > room
            and barrier.most_arrived(batch.warps_per_cta) * WARP > room
        ):
            turns = _turns(batch, arrival)
        if turns is None:
            if self.waits:
                lane_set.schedule.block(lane_set, barrier)
            self._enter(lane_set.schedule, arrival)
        else:
            self._enter_in_turn(lane_set, arrival, turns)
        return None if self.waits else lane_set

    def _enter_in_turn(self, lane_set: LaneSet, arrival: _Arrival, turns: np.ndarray) -> None:
        """More come than the phase takes: those with the next turn are of the next one."""
        batch, barrier, phases = lane_set.batch, arrival.barrier, arrival.barrier.phases
        happens_before = batch.happens_before
        tables = TABLES + happens_before.shared_by_ctas
        phases.before = {name: getattr(happens_before, name).copy() for name in tables}
        own = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        for turn in range(int(turns.max()) + 1):
            now = arrival.of(turns == turn)
            phases.coming = frozenset(arrival.rows[turns > turn].tolist())
            if self.waits:
                lanes = lane_set.full_mask() & np.isin(own, now.rows)[:, None]
                lane_set.schedule.block(
                    lane_set.part(lanes, int(np.count_nonzero(lanes)), lane_set.pc), barrier
                )
            self._enter(lane_set.schedule, now)
        phases.coming, phases.before = frozenset(), None

    def _enter(self, schedule: LaneSchedule, arrival: _Arrival) -> None:
        """Rows of some CTAs arrive, and whoever waited for no one else goes on."""
        barrier, rows, values = arrival.barrier, arrival.rows, arrival.values
        ctas = distinct(rows // schedule.batch.warps_per_cta)
        for cta in ctas:
            barrier.sites.setdefault(int(cta), self.site)
        barrier.expected[ctas] = arrival.count
        barrier.reducing[ctas] = values is not None
        barrier.arrived[rows] |= arrival.mask
        barrier.covered[rows] = schedule.batch.launch.events.take(self.site)
        if values is not None:
            barrier.values[rows] = np.where(arrival.mask, values[rows], barrier.values[rows])
        release(schedule, barrier)

    def _check(self, lane_set: LaneSet, number: int, count: int) -> None:
        where = str(lane_set.thread(*lane_set.first(np.True_)))
        if number >= BARRIERS:
            message = f"expected a barrier from 0 to {BARRIERS - 1}, found {number}"
            raise fault("P632", message, self.site, (where,))
        if count % WARP or (self.count is not None and count == 0 and not self.waits):
            message = f"expected a thread count that is a multiple of {WARP}, found {count}"
            raise fault("P631", message, self.site, (where,))

    def _check_together(self, lane_set: LaneSet, barrier: Barrier, rows: np.ndarray) -> None:
        """No lane of the set's warps may wait at the same barrier in another place, or in another call."""
        batch = lane_set.batch
        for entry in lane_set.schedule.blocked:
            other = entry.lane_set
            same = other.code is lane_set.code and other.pc == lane_set.pc and other.trail == lane_set.trail
            if entry.sync_point is not barrier or same:
                continue
            own, others = lane_set.in_batch(), other.in_batch()
            for row in np.intersect1d(rows, other.occupied_rows()):
                if others[row].any():
                    there = other.code.blocks[other.pc].sites[0]
                    raise fault(
                        "P635",
                        f"a warp reaches `{self.site.instruction.spelling}` in parts",
                        self.site,
                        (
                            f"{batch.thread(int(row), int(np.argmax(own[row])))} is here",
                            f"{batch.thread(int(row), int(np.argmax(others[row])))} waits at {there.where}",
                        ),
                        MEET,
                    )

    def _note_absent(self, lane_set: LaneSet, barrier: Barrier, rows: np.ndarray, mask: np.ndarray) -> None:
        """Remember the lanes of the set's warps that have gone around the barrier, and do more than end."""
        batch, schedule = lane_set.batch, lane_set.schedule
        absent = np.zeros((batch.rows, WARP), bool)
        absent[rows] = batch.alive[rows] & ~mask
        if not absent.any():
            return
        for other in (*schedule.ready, *(entry.lane_set for entry in schedule.blocked)):
            if not ends(other) and not may_come(other, lane_set):
                barrier.elsewhere |= absent & other.in_batch()

    def _check_guard(self, lane_set: LaneSet, coming: np.ndarray) -> None:
        """The lanes of a warp must agree about the guard."""
        mask = lane_set.full_mask()
        if (row := first_true(coming.any(axis=1) & (mask & ~coming).any(axis=1))) is not None:
            spelling = self.site.instruction.spelling
            raise fault(
                "P635",
                f"lanes of a warp disagree about the guard of `{spelling}`",
                self.site,
                (
                    f"{lane_set.thread(row, int(np.argmax(coming[row])))} is here",
                    f"the guard holds for lanes {bits(coming[row]):#010x} of the warp",
                ),
                MEET,
            )

    def _check_generation(self, batch: CtaBatch, arrival: _Arrival) -> None:
        """Everybody who arrives at one generation must agree on it."""
        barrier, rows, mask, count = arrival.barrier, arrival.rows, arrival.mask, arrival.count
        ctas = distinct(rows // batch.warps_per_cta)
        began = barrier.expected[ctas]
        active = began >= 0
        for wrong, code, text in (
            (active & (began != count), "P630", "barrier {number} expects {began}, found {count}"),
            (
                active & (barrier.reducing[ctas] != (self.predicate is not None)),
                "P633",
                "barrier {number} was begun by another kind of instruction than `{spelling}`",
            ),
        ):
            if (at := first_true(wrong)) is not None:
                cta = int(ctas[at])
                message = text.format(
                    number=barrier.number,
                    began=_threads(int(began[at])),
                    count=_threads(count),
                    spelling=self.site.instruction.spelling,
                )
                first = barrier.sites.get(cta)
                notes = [f"{batch.thread(*_lane_in(batch, rows, mask, cta))}"]
                if first is not None:
                    notes.append(f"begun by `{first.instruction.spelling}` at {first.where}")
                raise fault(code, message, self.site, notes)
        twice = barrier.arrived[rows] & mask
        if twice.any():
            row, lane = divmod(int(np.argmax(twice)), WARP)
            message = f"the warp reaches barrier {barrier.number} again before it completes"
            raise fault("P634", message, self.site, (f"{batch.thread(int(rows[row]), lane)}",))


def _turns(batch: CtaBatch, arrival: _Arrival) -> np.ndarray | None:
    """For each row that arrives the phase it is of, from the one at hand on; None where all are of that.

    In random order the seed decides who comes first. A warp of which a part has not come yet is of the last.
    """
    barrier, rows, mask, count = arrival.barrier, arrival.rows, arrival.mask, arrival.count
    arrived = barrier.arrived.copy()
    arrived[rows] |= mask
    before, here = all_there(batch, barrier.arrived), all_there(batch, arrived)[rows]
    turns = np.zeros(len(rows), np.int64)
    for cta in distinct(rows // batch.warps_per_cta).tolist():
        mine = np.flatnonzero((rows // batch.warps_per_cta == cta) & here)
        if batch.launch.random is not None:
            mine = batch.launch.random.permutation(mine)
        first = int(np.count_nonzero(before[cta * batch.warps_per_cta : (cta + 1) * batch.warps_per_cta]))
        turns[mine] = (first + np.arange(len(mine))) * WARP // count
        turns[(rows // batch.warps_per_cta == cta) & ~here] = (first + len(mine)) * WARP // count
    return turns if turns.any() else None


def _threads(count: int) -> str:
    return f"{counted(count, 'thread')}" if count else "all threads of the CTA"


def _lane_in(batch: CtaBatch, rows: np.ndarray, mask: np.ndarray, cta: int) -> tuple[int, int]:
    """The batch's row and lane of the first of some lanes that lies in a CTA."""
    own = mask & (rows // batch.warps_per_cta == cta)[:, None]
    row, lane = divmod(int(np.argmax(own)), WARP)
    return int(rows[row]), lane


def ends(lane_set: LaneSet) -> bool:
    """Whether a lane set does nothing more than end its threads, there or where jumps lead it."""
    if lane_set.frames:
        return False
    blocks, at = lane_set.code.blocks, lane_set.pc
    for _ in blocks:
        sites = blocks[at].sites
        if not sites or "ends" in sites[0].row.traits:
            return bool(sites)
        if not _jumps(sites[0]):
            return False
        at = blocks[at].end(lane_set)
    return False


def may_come(lane_set: LaneSet, there: LaneSet) -> bool:
    """Whether a lane set is in the same call of a function as another one, or in one that is called from it,
    on a way that leads to where that one stands."""
    depth = len(there.frames)
    if len(lane_set.frames) < depth:
        return False
    frame = lane_set if len(lane_set.frames) == depth else lane_set.frames[depth]
    if frame.code is not there.code:
        return False
    flow = there.batch.launch.program.flow(there.code.name)
    return _leads(flow, there.code, frame.pc, there.pc)


def _jumps(site: Site) -> bool:
    """Whether an instruction does nothing but go on at one other place."""
    return site.instruction.guard is None and "branches" in site.row.traits and "tgt" in site.decoded.operands


def _leads(flow: FunctionCode, code: CodeToRun, start: int, goal: int) -> bool:
    """Whether the block `start` is on a way to the block `goal`."""
    wanted = code.blocks[goal].sites[0].instruction
    first = next((block for block in code.blocks[start:] if block.sites), None)
    if first is None:
        return False
    ahead, seen = [_number(flow, first)], set[int]()
    while ahead:
        at = ahead.pop()
        if at == len(flow.instructions) or at in seen:
            continue
        if flow.instructions[at] is wanted:
            return True
        seen.add(at)
        ahead += flow.successors(at)
    return False


def _number(flow: FunctionCode, block: BlockToRun) -> int:
    return next(at for at, one in enumerate(flow.instructions) if one is block.sites[0].instruction)
