"""What each warp of some CTAs executes, one instruction after another, and what that hangs on.

A model of time replays it: which blocks of instructions a warp runs, what its accesses cost, which phases of
mbarriers it waits for, who contributes to these, and what asynchronous operations move. The launch runs in
eager order without the `jit` extra, so that what an instruction starts is over when the next one begins; when
it would be over on a GPU is for the model to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.barrier_sync_point import BarrierSyncPoint
from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.counts import LINE, SECTOR
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.sync_points import executing, executing_rows
from ptxkit.emulator.timing.loops import OuterLoops
from ptxkit.emulator.timing.private import add_cost
from ptxkit.emulator.timing.recorded import (
    AccessCost,
    BlockRun,
    CtaStream,
    Happening,
    LaunchStreams,
    Phase,
    RecordedOperation,
)
from ptxkit.emulator.timing.rounds import WatchedLoops
from ptxkit.emulator.timing.touched import SectorTouch, TouchedMemory, copied_waves
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import Shape

_COMPUTES = frozenset(
    "add sub mul mad fma min max abs neg div rem and or xor not shl shr shf prmt bfe bfi bfind popc clz brev "
    "cvt mov setp set selp sin cos ex2 lg2 tanh rcp sqrt rsqrt lop3 cvta isspacep cnot".split()
)
"""Instructions, by the first word of their names, that touch registers alone: nothing is looked for there."""


@dataclass(slots=True, eq=False)
class _Split:
    """The parts of an operation, one for each warp that issued some of it; of each item which one."""

    parts: list[RecordedOperation]
    which: np.ndarray


class SampledCtas(NamedTuple):
    """The CTAs of a launch that run.

    Attributes:
        ctas: which, in the order of their start.
        alone: whether a multiprocessor runs no more of them than it holds.
        near: bytes of L1 that they have together.
    """

    ctas: np.ndarray
    alone: bool
    near: float


class Streams:
    """Records all launches of a device; set `Emulator.prepare` to its `begin`.

    Args:
        choose: of a launch that is about to run what of it to run.

    Attributes:
        launches: what was recorded.
    """

    def __init__(self, choose: Callable[[Execution], SampledCtas]) -> None:
        self.choose = choose
        self.launches: list[LaunchStreams] = []
        self._watch: TouchedMemory | None = None
        self._batches = 0
        self._loops: OuterLoops | None = None

    def begin(self, execution: Execution) -> None:
        """Record a launch that is about to run."""
        self.finish()
        launch = execution.launch
        shape, grid = launch.shape, launch.grid
        made = LaunchStreams(execution.name, shape.grid, launch.cluster, shape.threads, launch.shared.used)
        sample = self.choose(execution)
        made.alone, made.signals = sample.alone, execution.program.launches_dependents
        made.ends = sample.alone and len(sample.ctas) < shape.ctas
        grid.only(sample.ctas)
        self.launches.append(made)
        program = execution.program
        self._loops = OuterLoops(program.flow(program.codes[0].name)) if sample.alone else None
        self._watch = launch.counts.traffic = TouchedMemory(launch.memory, sample.near, sample.ctas)
        execution.recorder = self  # type: ignore[assignment]

    def timeline(self, schedule: LaneSchedule) -> BatchStreams:
        """What records a batch."""
        self._batches += 1
        assert self._watch is not None
        return BatchStreams(self.launches[-1], self._watch, schedule, self._batches, self._loops)

    def finish(self) -> None:
        """Sum up what the last launch touched."""
        if self._watch is not None:
            last, watch = self.launches[-1], self._watch
            late = [one.number for one in last.inside[len(last.inside) // 2 :]]
            last.read, last.written = watch.unique(watch.read, late), watch.unique(watch.written, late)
            self._watch = None


def _firsts(lane_set: LaneSet, lanes: np.ndarray | None) -> list[tuple[int, int]]:
    """Of each row of a lane set that takes part, its place in the set and its first lane that does."""
    if lanes is None:
        return [(row, 0) for row in range(lane_set.n)]
    rows = np.flatnonzero(lanes.any(axis=1))
    return list(zip(rows.tolist(), lanes[rows].argmax(axis=1).tolist(), strict=True))


def _past_l1(site: Site) -> bool:
    """Whether an instruction copies past L1, thread by thread."""
    return site.name == "cp.async" and site.decoded["cg"] is not None


def _nothing(data: Any = None) -> Any:
    """What is done in place of a product."""
    return None


class BatchStreams:
    """Records one batch.

    Args:
        into: the launch.
        watch: of its memory.
        schedule: of the batch.
        number: of the batch, in all launches.
        loops: those of the entry, whose last rounds may be left out; None where they may not.
    """

    def __init__(
        self,
        into: LaunchStreams,
        watch: TouchedMemory,
        schedule: LaneSchedule,
        number: int,
        loops: OuterLoops | None,
    ) -> None:
        self.into, self.watch, self.schedule, self.number = into, watch, schedule, number
        self.batch: CtaBatch = schedule.batch
        self.rows: list[list[BlockRun]] = [[] for _ in range(self.batch.rows)]
        self.ctas: list[CtaStream] = []
        per_cta = self.batch.warps_per_cta
        for at, cta in enumerate(self.batch.ctas.tolist()):
            warps = [(row, self.rows[row]) for row in range(at * per_cta, (at + 1) * per_cta)]
            self.ctas.append(CtaStream(cta, warps))
        into.ctas += self.ctas
        self._loops = WatchedLoops(loops, self.rows) if loops is not None else None
        self.batch.record(self)
        self._past: dict[int, int] = {}
        self._issued: list[RecordedOperation] = []
        self._operations: dict[int, _Split] = {}
        self._kept: list[AsyncOperation] = []  # so that none takes over the identity of another
        self._event: Any = None

    # ---- what the scheduler calls

    def run(self, block: CodeBlock, lane_set: LaneSet) -> None:
        """Run the instructions of a block one by one; see `CodeBlock.run`."""
        run = BlockRun(lane_set.code, block)  # type: ignore[arg-type]
        rows = lane_set.occupied_rows().tolist()
        for row in rows:
            self.rows[row].append(run)
        batch, watch = self.batch, self.watch
        tracked = bool(lane_set.undefined)
        everyone = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        watch.ctas, watch.warps = batch.ctas[everyone // batch.warps_per_cta], everyone
        ends = self._loops.passes(block) if self._loops is not None and not lane_set.frames else {}
        for number, (site, guard) in enumerate(zip(block.sites, block.guards, strict=True)):
            if number in ends and self._loops is not None:
                self._loops.compares(block.ir[number], ends[number], lane_set)
                if self._loops.due:
                    self.schedule.budget = 0  # so that `settle` comes next
            step = block.tracked[number] if tracked else block.steps[number]
            if guard is None and site.name.partition(".")[0] in _COMPUTES:
                tracked = bool(step(lane_set)) or tracked
                continue
            happening = Happening()
            holds = guard.reader(lane_set) if guard is not None else None
            if holds is not None and holds.ndim == 0 and not holds:
                happening.absent = frozenset(rows)
                run.happenings[number] = happening
                tracked = bool(step(lane_set)) or tracked
                continue
            taking = executing_rows(lane_set, holds).tolist() if holds is not None else rows
            if holds is not None and len(taking) < len(rows):
                happening.absent = frozenset(rows) - frozenset(taking)
            if number == 0 and block.sync_point is not None:
                self._waited(block.sync_point, lane_set, holds, happening)
            watch.cost = cost = AccessCost()
            add_cost(cost, block.ir[number] if block.ir else None, site, lane_set, holds)
            self._issued.clear()
            sums = batch.launch.counts.multiply_adds
            tracked = bool(step(lane_set)) or tracked
            watch.cost = None
            sums = batch.launch.counts.multiply_adds - sums
            if cost.shared or cost.requests or cost.constants:
                cost.share(max(len(taking), 1))
                happening.cost = cost
            self._counted(site, happening)
            for one in self._issued if _past_l1(site) else ():
                one.spread(cost.sectors * SECTOR)
            if sums and self._issued:
                for one in self._issued:
                    one.multiply_adds = sums // len(self._issued)
            elif sums:
                happening.multiply_adds = sums / max(len(taking), 1)
            run.happenings[number] = happening

    def settle(self) -> None:
        """The scheduler has run a lane set: where the rest is known, nobody goes on."""
        schedule = self.schedule
        blocked = (one.lane_set for one in schedule.blocked)
        rounds = self._loops.settled((*schedule.ready, *blocked)) if self._loops is not None else None
        if rounds is not None:
            for cta in self.ctas:
                cta.rounds = {row: rounds[row] for row, _ in cta.warps if row in rounds}
            schedule.ready.clear()
            schedule.blocked.clear()

    def end(self) -> None:
        """The batch has ended."""
        self._operations.clear()
        self._kept.clear()

    # ---- what waits

    def _waited(self, sync_point: Any, lane_set: LaneSet, holds: Any, happening: Happening) -> None:
        """What the lanes that a synchronisation point let through had waited for."""
        if isinstance(sync_point, BarrierSyncPoint):
            shape = lane_set.n, WARP
            numbers = np.broadcast_to(sync_point.number.reader(lane_set), shape)
            counts = np.zeros(shape, np.uint32)
            if sync_point.count is not None:
                counts = np.broadcast_to(sync_point.count.reader(lane_set), shape)
            lanes = executing(lane_set, holds)
            for row, first in _firsts(lane_set, lanes):
                at = row if lane_set.rows is None else int(lane_set.rows[row])
                happening.barriers[at] = int(numbers[row, first]), int(counts[row, first]) // WARP
        elif isinstance(sync_point, PhaseSyncPoint):
            some = None if holds is not None and holds.ndim == 0 else holds
            issuers = sync_point.who(lane_set, some)
            if not len(issuers):
                return
            slots, done = sync_point.look(lane_set, issuers)
            phases = self.batch.mbarriers.phase[slots] - 1
            for row, slot, phase, over in zip(
                issuers.rows.tolist(), slots.tolist(), phases.tolist(), done.tolist(), strict=True
            ):
                if over:
                    happening.awaits[row] = self._phase(slot, phase)

    def _counted(self, site: Site, happening: Happening) -> None:
        """The phases of mbarriers that the instruction contributed to, and what it started."""
        events = self.batch.mbarriers.events
        if events and events[-1] is not self._event:
            new = []
            for event in reversed(events):
                if event is self._event:
                    break
                new.append(event)
            self._event = events[-1]
            own = {id(one.site) for one in self._issued}
            for event in reversed(new):
                if id(event.site) in own:
                    continue
                rows = (event.threads // WARP).tolist()
                for row, slot, phase in zip(rows, event.slots.tolist(), event.phases.tolist(), strict=True):
                    node = self._phase(slot, phase)
                    happening.arrives.setdefault(row, []).append(node)
                    self.into.contributions[node] = self.into.contributions.get(node, 0) + 1

        for one in self._issued:
            for row in one.rows:
                happening.operations.setdefault(row, []).append(one)

    # ---- what happens to operations

    def issued(
        self, operation: AsyncOperation, site: Site | None = None, reads: Sequence[Region] | None = None
    ) -> None:
        """An operation is queued, or an instruction has joined one."""
        count, warps = operation.count, operation.warps
        through_l1 = operation.site.name == "cp.async" and not _past_l1(operation.site)
        first, which = np.unique(operation.rows, return_inverse=True)
        regions = [(one, False) for one in (operation.reads if reads is None else reads)]
        regions += [(one, True) for one in operation.writes] if reads is None else []
        moved = np.zeros((7, count))
        owner = 0
        for region, writes in regions:
            bytes_of: np.ndarray = np.bincount(region.item, weights=region.size, minlength=count)
            if isinstance(region.bank, TiledBank):
                moved[2] += bytes_of
                if through_l1:
                    moved[6] += copied_waves(region, operation.rows)
                continue
            # One copy to several CTAs of a cluster reads what it reads once.
            threads = operation.rows * WARP + operation.lanes
            _, thread, several = np.unique(threads, return_inverse=True, return_counts=True)
            once = 1 if writes else several[thread]
            if "bulk" in operation.site.name:  # A copy by threads shares sectors with its neighbours.
                whole = (region.start + region.size + SECTOR - 1) // SECTOR - region.start // SECTOR
                sectors = np.where(region.size > 0, whole, 0) * SECTOR
                bytes_of = np.bincount(region.item, weights=sectors, minlength=count)
            elif not writes:
                rows = operation.rows[region.item].astype(np.int64) << 44
                for at, unit in ((4, LINE), (5, SECTOR)):
                    each = np.unique(rows | region.start // unit, return_index=True)[1]
                    moved[at] += np.bincount(region.item[each], minlength=count)
            touch = self._touch(operation, region, writes)
            if touch is not None and not writes:
                owner = touch.owner
                new = touch.missed / touch.sectors if through_l1 else 1.0
                bytes_of, moved[4:6] = bytes_of * new, moved[4:6] * new
            moved[int(writes)] += bytes_of / once
            moved[3] += np.bincount(region.item, weights=region.size > 0, minlength=count) / once
        split = []
        for at, row in enumerate(first.tolist()):
            *sums, lines_of, sectors_of, waves = moved[:, which == at].sum(axis=1)
            made = RecordedOperation(site or operation.site, tuple(range(row, row + warps)))
            made.read, made.written, made.shared, made.pieces = map(int, sums)
            made.lines, made.asked, made.waves = lines_of, sectors_of * SECTOR, waves
            made.owner = owner
            self.watch.requested[owner] += made.read
            if made.site.name == "wgmma.mma_async":
                shape = made.site.decoded.the(Shape)
                made.multiply_adds = shape.m * shape.n * shape.k
            split.append(made)
        if warps > 1:  # Sums take long, and nothing that is recorded hangs on them.
            operation.whole, operation.fetch, operation.deliver = _nothing, _nothing, _nothing
        for other in operation.after:
            known = self._operations.get(id(other))
            for made in split:
                made.after += known.parts if known is not None else []
        joined = self._operations.get(id(operation)) if site is not None else None
        if joined is not None:
            split[0].after += joined.parts
        self._operations[id(operation)] = _Split(split, which)
        self._kept.append(operation)
        self._issued += split

    def _touch(self, operation: AsyncOperation, region: Region, writes: bool) -> SectorTouch | None:
        """A region of global memory is touched; what of it was there, None of nothing."""
        sectors, interval = region.indices(SECTOR)
        if not len(sectors):
            return None
        ctas = self.batch.ctas[operation.rows // self.batch.warps_per_cta][region.item[interval]]
        return self.watch.touch(sectors, ctas, writes)

    def completed(self, operation: AsyncOperation) -> None:
        """An operation has been done: it contributes to the phases that it signals."""
        split = self._operations.get(id(operation))
        match operation.signal:
            case Transaction(slots=slots) | Arrival(slots=slots) if split is not None:
                phases = self.batch.mbarriers.phase[slots].tolist()
                for slot, phase, part in zip(slots.tolist(), phases, split.which.tolist(), strict=True):
                    node = self._phase(slot, phase)
                    split.parts[part].completes.append(node)
                    self.into.contributions[node] = self.into.contributions.get(node, 0) + 1
            case _:
                pass

    def turned(self, slots: np.ndarray) -> None:
        """Phases of some mbarriers begin."""

    def invalidated(self, slots: np.ndarray) -> None:
        """Some mbarriers are no more: the phases of those that come to their place count on."""
        for slot, phase in zip(slots.tolist(), self.batch.mbarriers.phase[slots].tolist(), strict=True):
            self._past[slot] = self._past.get(slot, 0) + phase + 1

    def _phase(self, slot: int, phase: int) -> Phase:
        """A phase of the mbarrier that is in a slot."""
        return self.number, slot, self._past.get(slot, 0) + phase

    def allocated(self, cta: int, first: int, columns: int, cta_group: int, site: Site) -> None:
        """A CTA gets columns of tensor memory."""

    def freed(self, cta: int, first: int) -> None:
        """A CTA gives columns of tensor memory back."""
