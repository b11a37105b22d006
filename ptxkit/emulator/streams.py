"""What each warp of some CTAs executes, one instruction after another, and what that hangs on.

A model of time replays it: which blocks of instructions a warp runs, what its accesses cost, which phases of
mbarriers it waits for, who contributes to these, and what asynchronous operations move. The launch runs in
eager order without the `jit` extra, so that what an instruction starts is over when the next one begins; when
it would be over on a GPU is for the model to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.barrier_sync_point import BarrierSyncPoint
from ptxkit.emulator.code import Code, CodeBlock
from ptxkit.emulator.counts import SECTOR, Traffic
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.sync_points import executing, executing_rows
from ptxkit.emulator.values import WARP, distinct
from ptxkit.isa.modifiers import Shape

Phase = tuple[int, int, int]
"""A phase of an mbarrier: the number of its batch, its slot there, its number."""
NOBODY = -1
_COMPUTES = frozenset(
    "add sub mul mad fma min max abs neg div rem and or xor not shl shr shf prmt bfe bfi bfind popc clz brev "
    "cvt mov setp set selp sin cos ex2 lg2 tanh rcp sqrt rsqrt lop3 cvta isspacep cnot".split()
)
"""Instructions, by the first word of their names, that touch registers alone: nothing is looked for there."""


@dataclass(slots=True, eq=False)
class RecordedOperation:
    """The part of an asynchronous operation that a warp, or a warpgroup, issued.

    Attributes:
        site: its instruction.
        rows: the warps that issue it: one, or the four of a warpgroup together.
        read, written: bytes of global memory; of bulk copies in whole sectors.
        misses: the part of the bytes read that no CTA had touched before.
        pieces: stretches of global memory that it reads and writes.
        shared: bytes of shared memory that it reads and writes.
        multiply_adds: of the tensor cores.
        completes: the phases of mbarriers to which its completion contributes.
        after: what must be over before it is.
    """

    site: Site
    rows: tuple[int, ...] = ()
    read: int = 0
    written: int = 0
    misses: float = 0.0
    pieces: int = 0
    shared: int = 0
    multiply_adds: int = 0
    completes: list[Phase] = field(default_factory=list)
    after: list[RecordedOperation] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Split:
    """The parts of an operation, one for each warp that issued some of it, and the part of each item."""

    parts: list[RecordedOperation]
    which: np.ndarray


@dataclass(slots=True)
class AccessCost:
    """What an instruction's accesses cost, on the average of the warps that execute it together.

    Attributes:
        shared: wavefronts of shared memory.
        requests, sectors: of global memory.
        missed: sectors that the CTA had not touched before.
        cold: sectors that no CTA had touched before.
    """

    shared: float = 0.0
    requests: float = 0.0
    sectors: float = 0.0
    missed: float = 0.0
    cold: float = 0.0


@dataclass(slots=True)
class Happening:
    """What an instruction of a block did when some warps ran it, beside computing.

    Attributes:
        cost: of its accesses; None without any.
        arrives: the phases of mbarriers that each row contributes to.
        awaits: the phase that each row waited for.
        operations: what each row issued.
        barriers: of each row the number of a barrier, and how many warps a phase of it takes; 0: all.
        absent: rows that did not execute the instruction, as its guard was false for all of their lanes.
        multiply_adds: of the tensor cores, a warp.
    """

    cost: AccessCost | None = None
    arrives: dict[int, list[Phase]] = field(default_factory=dict)
    awaits: dict[int, Phase] = field(default_factory=dict)
    operations: dict[int, list[RecordedOperation]] = field(default_factory=dict)
    barriers: dict[int, tuple[int, int]] = field(default_factory=dict)
    absent: frozenset[int] = frozenset()
    multiply_adds: float = 0.0


@dataclass(slots=True, eq=False)
class BlockRun:
    """One passage of some warps through a block.

    Attributes:
        code: the function.
        block: the block.
        happenings: by the number of the instruction in it.
    """

    code: Code
    block: CodeBlock
    happenings: dict[int, Happening] = field(default_factory=dict)


@dataclass(slots=True)
class CtaStream:
    """What a CTA did.

    Attributes:
        number: of the CTA, by `Ctas`.
        warps: for each of its warps the passages through blocks, each with the warp's row in its batch.
    """

    number: int
    warps: list[tuple[int, list[BlockRun]]] = field(default_factory=list)


@dataclass(slots=True)
class LaunchStreams:
    """What some CTAs of a launch did.

    Attributes:
        name: the entry.
        total: CTAs of the grid.
        cluster: CTAs of a cluster.
        threads: of a CTA.
        shared: bytes of shared memory of a CTA.
        ctas: those that ran, in the order of their start.
        contributions: how many each phase of an mbarrier took.
        requested: bytes of global memory that these CTAs asked for and had not lately.
        read, written: by allocation the bytes of it that these CTAs read and wrote, each counted once, and
            the allocation's size.
    """

    name: str
    total: int
    cluster: int
    threads: int
    shared: int
    ctas: list[CtaStream] = field(default_factory=list)
    contributions: dict[Phase, int] = field(default_factory=dict)
    requested: float = 0.0
    read: dict[str, tuple[int, int]] = field(default_factory=dict)
    written: dict[str, tuple[int, int]] = field(default_factory=dict)


class Streams:
    """Records all launches of a device; set `Emulator.prepare` to its `begin`.

    Args:
        choose: of a launch that is about to run, the CTAs to run, as a range in the order of their start.

    Attributes:
        launches: what was recorded.
    """

    def __init__(self, choose: Any) -> None:
        self.choose = choose
        self.launches: list[LaunchStreams] = []
        self._watch: MemoryWatch | None = None
        self._batches = 0

    def begin(self, execution: Execution) -> None:
        """Record a launch that is about to run."""
        self.finish()
        launch = execution.launch
        shape, grid = launch.shape, launch.grid
        made = LaunchStreams(execution.name, shape.ctas, launch.cluster, shape.threads, launch.shared.used)
        grid.started, grid.stop = self.choose(execution)
        self.launches.append(made)
        self._watch = launch.counts.traffic = MemoryWatch(launch.memory)
        execution.recorder = self  # type: ignore[assignment]

    def timeline(self, schedule: LaneSchedule) -> BatchStreams:
        """What records a batch."""
        self._batches += 1
        assert self._watch is not None
        return BatchStreams(self.launches[-1], self._watch, schedule, self._batches)

    def finish(self) -> None:
        """Sum up what the last launch touched."""
        if self._watch is not None:
            self.launches[-1].requested = self._watch.requested
            self.launches[-1].read = self._watch.unique(self._watch.read)
            self.launches[-1].written = self._watch.unique(self._watch.written)
            self._watch = None


class MemoryWatch(Traffic):
    """The costs of a launch's accesses, and which sectors of global memory it touched."""

    def __init__(self, memory: Any) -> None:
        super().__init__()
        self.memory = memory
        self.by: dict[int, np.ndarray] = {}
        self.read: dict[int, np.ndarray] = {}
        self.written: dict[int, np.ndarray] = {}
        self.owners: dict[int, Allocation] = {}
        self.ctas = np.zeros(0, np.int64)
        self.cost: AccessCost | None = None
        self.requested = 0.0

    def lanes(
        self,
        space: str,
        index: Any,
        active: Any,
        rows: int,
        size: int,
        what: str,
        stride: int = 0,
        offset: int = 0,
    ) -> None:
        """Count an access; see `Traffic.lanes`. Of one to global memory see which sectors are new."""
        before = dict(self.counts)
        super().lanes(space, index, active, rows, size, what, stride, offset)
        cost = self.cost
        if cost is None:
            return
        cost.shared += self.counts[f"shared_wavefronts_{what}"] - before.get(f"shared_wavefronts_{what}", 0)
        if space == "shared":
            return
        cost.requests += self.counts[f"global_requests_{what}"] - before.get(f"global_requests_{what}", 0)
        counted = self.counts[f"global_sectors_{what}"] - before.get(f"global_sectors_{what}", 0)
        cost.sectors += counted
        places = np.broadcast_to(np.asarray(index).astype(np.int64), (rows, WARP)) + offset
        ctas = np.broadcast_to(self.ctas[:, None], (rows, WARP))
        if active is not None:
            chosen = np.broadcast_to(active, (rows, WARP))
            places, ctas = places[chosen], ctas[chosen]
        if not places.size:
            return
        sectors = distinct((ctas.reshape(-1) << 40) | (places.reshape(-1) // SECTOR))
        missed, cold = self.touch(sectors & ((1 << 40) - 1), sectors >> 40, what != "loaded", what)
        share = counted / len(sectors)  # warps of one CTA may want the same ones
        cost.missed += missed * min(share, 1.0)
        if what == "loaded":
            self.requested += missed * min(share, 1.0) * SECTOR
        cost.cold += cold * min(share, 1.0)

    def copies(self, *given: Any, **named: Any) -> None:
        """Count copies by `cp.async`; what they touch their operation says."""
        before = dict(self.counts)
        cost, self.cost = self.cost, None
        super().copies(*given, **named)
        self.cost = cost
        if cost is not None:
            for name in ("requests", "sectors"):
                key = f"global_{name}_copied"
                setattr(cost, name, getattr(cost, name) + self.counts[key] - before.get(key, 0))

    def touch(self, sectors: np.ndarray, ctas: np.ndarray, writes: bool, what: str = "") -> tuple[int, int]:
        """Some CTAs touch sectors. Returns how many of them are new to their CTA, and how many to all."""
        missed = cold = 0
        at = 0
        order = np.argsort(sectors, kind="stable")
        sectors, ctas = sectors[order], ctas[order]
        while at < len(sectors):
            owner = self.memory.find(int(sectors[at]) * SECTOR + BASE)
            if owner is None:
                at += 1
                continue
            first = (owner.address - BASE) // SECTOR
            end = int(np.searchsorted(sectors, first + -(-owner.size // SECTOR) + 1))
            end = max(end, at + 1)
            by = self.by.get(owner.address)
            if by is None:
                count = -(-owner.size // SECTOR) + 2
                by = self.by[owner.address] = np.full(count, NOBODY, np.int32)
                self.read[owner.address] = np.zeros(count, bool)
                self.written[owner.address] = np.zeros(count, bool)
                self.owners[owner.address] = owner
            here = np.clip(sectors[at:end] - first, 0, len(by) - 1)
            held = by[here]
            if writes:
                self.written[owner.address][here] = True
            if not writes or what == "reduced":
                self.read[owner.address][here] = True
            missed += int(np.count_nonzero(held != ctas[at:end]))
            new = here[held == NOBODY]
            cold += len(distinct(new))
            by[here] = ctas[at:end]
            at = end
        return missed, cold

    def unique(self, touched: dict[int, np.ndarray]) -> dict[str, tuple[int, int]]:
        """Bytes of each allocation that were touched, and its size."""
        found: dict[str, tuple[int, int]] = {}
        for address, which in touched.items():
            count, owner = int(np.count_nonzero(which)), self.owners[address]
            if count:
                found[f"{owner.name or 'buffer'} at {address:#x}"] = (
                    min(count * SECTOR, owner.size),
                    owner.size,
                )
        return found


def _firsts(lane_set: LaneSet, lanes: np.ndarray | None) -> list[tuple[int, int]]:
    """Of each row of a lane set that takes part, its place in the set and its first lane that does."""
    if lanes is None:
        return [(row, 0) for row in range(lane_set.n)]
    rows = np.flatnonzero(lanes.any(axis=1))
    return list(zip(rows.tolist(), lanes[rows].argmax(axis=1).tolist(), strict=True))


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
    """

    def __init__(self, into: LaunchStreams, watch: MemoryWatch, schedule: LaneSchedule, number: int) -> None:
        self.into, self.watch, self.number = into, watch, number
        self.batch: CtaBatch = schedule.batch
        self.rows: list[list[BlockRun]] = [[] for _ in range(self.batch.rows)]
        per_cta = self.batch.warps_per_cta
        for at, cta in enumerate(self.batch.ctas.tolist()):
            warps = [(row, self.rows[row]) for row in range(at * per_cta, (at + 1) * per_cta)]
            into.ctas.append(CtaStream(cta, warps))
        self.batch.record(self)
        self._issued: list[RecordedOperation] = []
        self._operations: dict[int, _Split] = {}
        self._kept: list[AsyncOperation] = []  # so that none takes over the identity of another
        self._event: Any = None

    # ---- what the scheduler calls

    def run(self, block: CodeBlock, lane_set: LaneSet) -> None:
        """Run the instructions of a block one by one; see `CodeBlock.run`."""
        run = BlockRun(lane_set.code, block)  # type: ignore[arg-type]
        rows = lane_set.occupied()[0].tolist()
        for row in rows:
            self.rows[row].append(run)
        batch, watch = self.batch, self.watch
        tracked = bool(lane_set.undefined)
        everyone = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        watch.ctas = batch.ctas[everyone // batch.warps_per_cta]
        for number, (site, guard) in enumerate(zip(block.sites, block.guards, strict=True)):
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
            self._issued.clear()
            sums = batch.launch.counts.multiply_adds
            tracked = bool(step(lane_set)) or tracked
            watch.cost = None
            sums = batch.launch.counts.multiply_adds - sums
            if cost.shared or cost.requests:
                warps = max(len(taking), 1)
                for name in ("shared", "requests", "sectors", "missed", "cold"):
                    setattr(cost, name, getattr(cost, name) / warps)
                happening.cost = cost
            self._counted(site, happening)
            if sums and self._issued:
                for one in self._issued:
                    one.multiply_adds = sums // len(self._issued)
            elif sums:
                happening.multiply_adds = sums / max(len(taking), 1)
            run.happenings[number] = happening

    def settle(self) -> None:
        """The scheduler has run a lane set."""

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
                    happening.awaits[row] = self.number, slot, phase

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
                    node = self.number, slot, phase
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
        first, which = np.unique(operation.rows, return_inverse=True)
        regions = [(one, False) for one in (operation.reads if reads is None else reads)]
        regions += [(one, True) for one in operation.writes] if reads is None else []
        moved = np.zeros((4, count))
        cold = 0.0
        for region, writes in regions:
            bytes_of = np.bincount(region.item, weights=region.size, minlength=count)
            if isinstance(region.bank, TiledBank):
                moved[2] += bytes_of
                continue
            # One copy to several CTAs of a cluster reads what it reads once.
            threads = operation.rows * WARP + operation.lanes
            _, thread, several = np.unique(threads, return_inverse=True, return_counts=True)
            once = 1 if writes else several[thread]
            if "bulk" in operation.site.name:  # A copy by threads shares sectors with its neighbours.
                whole = (region.start + region.size + SECTOR - 1) // SECTOR - region.start // SECTOR
                sectors = np.where(region.size > 0, whole, 0) * SECTOR
                bytes_of = np.bincount(region.item, weights=sectors, minlength=count)
            moved[int(writes)] += bytes_of / once
            moved[3] += np.bincount(region.item, weights=region.size > 0, minlength=count) / once
            cold += self._touched(operation, region, writes)
        share = cold / max(float(moved[0].sum()), 1.0)
        split = []
        for at, row in enumerate(first.tolist()):
            sums = moved[:, which == at].sum(axis=1)
            made = RecordedOperation(site or operation.site, tuple(range(row, row + warps)))
            made.read, made.written, made.shared, made.pieces = (int(total) for total in sums)
            made.misses = min(share, 1.0)
            self.watch.requested += made.read
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

    def _touched(self, operation: AsyncOperation, region: Region, writes: bool) -> int:
        """Bytes of a region of global memory that no CTA had touched before."""
        sectors, interval = region.indices(SECTOR)
        if not len(sectors):
            return 0
        ctas = self.batch.ctas[operation.rows // self.batch.warps_per_cta][region.item[interval]]
        _, cold = self.watch.touch(sectors, ctas, writes)
        return 0 if writes else cold * SECTOR

    def completed(self, operation: AsyncOperation) -> None:
        """An operation has been done: it contributes to the phases that it signals."""
        split = self._operations.get(id(operation))
        match operation.signal:
            case Transaction(slots=slots) | Arrival(slots=slots) if split is not None:
                phases = self.batch.mbarriers.phase[slots].tolist()
                for slot, phase, part in zip(slots.tolist(), phases, split.which.tolist(), strict=True):
                    node = self.number, slot, phase
                    split.parts[part].completes.append(node)
                    self.into.contributions[node] = self.into.contributions.get(node, 0) + 1
            case _:
                pass

    def turned(self, slots: np.ndarray) -> None:
        """Phases of some mbarriers begin."""

    def invalidated(self, slots: np.ndarray) -> None:
        """Some mbarriers are no more."""

    def allocated(self, cta: int, first: int, columns: int, cta_group: int, site: Site) -> None:
        """A CTA gets columns of tensor memory."""

    def freed(self, cta: int, first: int) -> None:
        """A CTA gives columns of tensor memory back."""
