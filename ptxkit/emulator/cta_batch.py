"""Batches: the CTAs that execute together, their warps as the rows of every register.

A batch holds its lane sets: those that are ready and those that wait at a synchronisation point. The one at
the lowest block of the innermost call runs first, so that lanes which parted meet again; one that loops while
others wait is set back now and then, so that every lane gets on eventually.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.addresses import LOCAL_START
from ptxkit.emulator.asynchronous.exits import exited
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.phases import PhaseSyncPoint
from ptxkit.emulator.asynchronous.queue import Queue
from ptxkit.emulator.asynchronous.registers import check_warpgroups
from ptxkit.emulator.clusters import ClusterBarrier
from ptxkit.emulator.faults import Dim3, EmulatorFault, Site, Thread, fault, show
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.lane_set import LaneSet, merge
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.special import SPECIAL
from ptxkit.emulator.sync_points import converge
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.code import Block, Code
    from ptxkit.emulator.launch_state import LaunchState
    from ptxkit.emulator.tensor_memory.engine import Engine
    from ptxkit.emulator.warpgroup.in_flight import Warpgroups

PATIENCE = 4096
"""How many times a lane set may loop while others wait for it to pass."""
POLL = 512
"""How many turns of a loop a look at memory that others may change counts for."""


LOCAL_LIMIT = 512 << 10
"""Bytes of local memory of a thread, on every target."""


OUT_OF_TURN = 0.25
"""In random order, how often a lane set other than the first in line has its turn."""
PARTINGS = 8
"""In random order, how often some CTAs or warps of a batch part from the others, at most."""
LEAD = 128
"""In random order, for how many blocks a lane set may run on while others are behind it, at most."""


class Status(Enum):
    """Why a batch stopped running."""

    DONE = "done"
    BLOCKED = "blocked"
    PAUSED = "paused"


@dataclass(slots=True, eq=False)
class Waiting:
    """A lane set at a synchronisation point.

    Attributes:
        lane_set: the lane set; its `pc` is the block behind the synchronisation point.
        sync_point: the object that lets it through; see `ptxkit.emulator.sync_points`.
    """

    lane_set: LaneSet
    sync_point: Any


class CtaBatch:
    """CTAs that execute together.

    Attributes:
        launch: what they belong to.
        ctas: their numbers in the grid, x fastest.
        warps: warps of one CTA.
        cluster: CTAs of a cluster; those of one follow one another in `ctas`, by rank.
        rows: warps of all of them.
        alive: bool (rows, 32), the threads that exist and have not exited.
        living: how many those are.
        happens_before: the vector clocks of its warps, and what advances them.
        ready: lane sets that can run.
        waiting: lane sets at a synchronisation point.
        mbarriers: the objects in its shared memory.
        queue: its asynchronous operations.
        warpgroups: what `wgmma` has in flight; None before the first.
        tensor: its tensor memory, once an instruction has used it.
        cluster_barrier: the barriers of its clusters.
        refused: bool (CTAs,), which of them have been told that no cluster is left to cancel.
        registers: int64 (rows,), registers of each thread of a warp; 0 where the kernel does not say.
        counted_by: the last `setmaxnreg`; None before the first.
        counted, counted_at: int64 (rows,), how often each warp has executed one, and the last time's event.
        register_pool: the same added up over the warps of a CTA when it starts.
        trace: takes down what happens here; None where nobody wants it.
    """

    def __init__(
        self,
        launch: LaunchState,
        ctas: np.ndarray,
        code: Code,
        execute: Callable[[Block, LaneSet], None],
    ) -> None:
        self.launch: LaunchState = launch
        self.ctas: np.ndarray = ctas
        self.warps: int = launch.warps
        self.rows: int = len(ctas) * self.warps
        threads = launch.shape.threads
        self.cluster: int = launch.cluster
        self.alive = np.ones((self.rows, WARP), bool)
        if threads % WARP:
            self.alive[self.warps - 1 :: self.warps, threads % WARP :] = False
        self.living = len(ctas) * threads
        self.ready: list[LaneSet] = []
        self.waiting: list[Waiting] = []
        self.barriers: dict[int, Any] = {}
        self.budget = 0
        self.execute = execute
        self._partings = PARTINGS
        self._lead = 0
        self.shared: TiledBank = TiledBank(len(ctas), launch.shared.total, launch.sanitize)
        self.shared.define(launch.program.reserved)
        self.happens_before: HappensBefore = HappensBefore(self, launch.events.ordered)
        if launch.sanitize and launch.program.smallest.get("shared"):
            size = self.shared.stride * self.shared.tiles
            self.shared.history = AccessHistory(
                size, launch.program.smallest["shared"], private=self.cluster == 1
            )
        self.mbarriers = MBarriers(self)
        self.queue = Queue(self)
        self.warpgroups: Warpgroups | None = None
        self.tensor: Engine | None = None
        self.cluster_barrier = ClusterBarrier(self)
        self.refused = np.zeros(len(ctas), bool)
        self.registers = np.full(self.rows, launch.program.registers)
        self.counted_by: Site | None = None
        self.counted = np.zeros(self.rows, np.int64)
        self.counted_at = np.zeros(self.rows, np.int64)
        self.register_pool = launch.program.registers * self.warps
        self._by_number = np.argsort(ctas) if self.cluster > 1 else None
        if code.frame > LOCAL_LIMIT:
            raise _overflow(code.frame, None, (f"variables of `{code.name}`",))
        self.local = TiledBank(self.rows * WARP, code.frame, launch.sanitize)
        self._values: dict[str, Any] = {}
        mask = None if threads % WARP == 0 else self.alive.copy()
        lane_set = LaneSet(
            self, code, 0, None, mask, self.living, list(code.initial), dict(code.initial_undefined)
        )
        lane_set.local, lane_set.top = LOCAL_START, LOCAL_START + code.frame
        self.ready.append(lane_set)
        self.trace = launch.recorder.timeline(self) if launch.recorder is not None else None

    def reach_local(self, lane_set: LaneSet, top: int, site: Site | None) -> None:
        """Make sure that every thread has local memory up to address `top`.

        Raises:
            EmulatorFault: P611, more than a thread can have.
        """
        size = top - LOCAL_START
        if size <= self.local.stride:
            return
        if size > LOCAL_LIMIT:
            thread = lane_set.thread(*lane_set.first(np.True_))
            raise _overflow(size, site, (f"{thread}",), "a recursion without an end is the usual cause")
        self.local = self.local.grown(max(size, 2 * self.local.stride))

    # ---- who is who

    def cta_coordinates(self, cta: int) -> Dim3:
        """`%ctaid` of a CTA of the batch."""
        x, y, _ = self.launch.shape.grid
        number = int(self.ctas[cta])
        return number % x, number // x % y, number // (x * y)

    def thread(self, row: int, lane: int) -> Thread:
        """The thread of a row and lane."""
        cta, warp = divmod(row, self.warps)
        number = warp * WARP + lane
        x, y, _ = self.launch.shape.block
        return Thread(self.cta_coordinates(cta), (number % x, number // x % y, number // (x * y)))

    def name_cta(self, cta: int) -> str:
        """`(0, 0, 0)`, and in clusters the rank."""
        name = show(self.cta_coordinates(cta))
        return name if self.cluster == 1 else f"{name}, rank {cta % self.cluster}"

    def position(self, numbers: Any) -> Any:
        """Where CTAs of the grid stand in the batch, -1 for those that are not in it."""
        ctas = self.ctas if self._by_number is None else self.ctas[self._by_number]
        at = np.minimum(np.searchsorted(ctas, numbers), len(ctas) - 1)
        found = ctas[at] == numbers
        return np.where(found, at if self._by_number is None else self._by_number[at], -1)

    def peer(self, rows: Any, ranks: Any) -> Any:
        """The CTA of the batch with a rank in the cluster of a row."""
        return rows // self.warps // self.cluster * self.cluster + ranks

    def value(self, name: str) -> Any:
        """A special register, or another value that hangs on the row and lane alone."""
        try:
            return self._values[name]
        except KeyError:
            value = SPECIAL[name](self)
            self._values[name] = value
            return value

    @property
    def running(self) -> int:
        """How many of the CTAs have threads that have not exited."""
        return int(np.count_nonzero(self.alive.reshape(len(self.ctas), -1).any(axis=1)))

    # ---- running

    def run(self, quantum: int) -> Status:
        """Run lane sets until all lanes have exited, none can go on, or the quantum is used up."""
        self.budget = quantum
        if self.waiting:
            converge(self)
        while self.ready or (self.waiting and (converge(self) or self.queue.awaken())):
            if self.queue.pending:
                self.queue.stir()
            self._run_lane_set(self._next())
            if self.trace is not None:
                self.trace.settle()
            if self.budget <= 0 and self.ready:
                self.queue.advance()
                return Status.PAUSED
        if self.waiting:
            return Status.BLOCKED
        self.queue.drain()
        if self.trace is not None:
            self.trace.end()
        return Status.DONE

    def poll(self, lane_set: LaneSet, site: Site | None) -> None:
        """The lane set looks at memory that others may change: let those others have a turn before long."""
        lane_set.polled = site
        self.budget -= POLL
        lane_set.spins += POLL

    def _next(self) -> LaneSet:
        """The lane set to run, merged with those at the same place; taken out of `ready`."""
        ready = self.ready
        if len(ready) == 1:
            ready[0].spins = 0
            return self._parted(ready.pop())
        chosen = min(ready, key=_priority)
        random = self.launch.random
        if random is not None and random.random() < OUT_OF_TURN:
            chosen = ready[int(random.integers(len(ready)))]
            self._lead = int(random.integers(LEAD))
        elif chosen.spins > PATIENCE:
            rested = min(ready, key=lambda lane_set: lane_set.spins)
            if rested.spins <= PATIENCE:
                chosen = rested
            else:
                for lane_set in ready:
                    lane_set.spins = 0
        same = [
            lane_set
            for lane_set in ready
            if lane_set.pc == chosen.pc
            and lane_set.code is chosen.code
            and lane_set.trail == chosen.trail
            and lane_set.passed == chosen.passed
            and lane_set.result is chosen.result
            and lane_set.joint is chosen.joint
        ]
        if len(same) == 1:
            ready.remove(chosen)
            return self._parted(chosen)
        self.ready = [lane_set for lane_set in ready if all(lane_set is not other for other in same)]
        merged = merge(same)
        merged.passed, merged.result, merged.joint = chosen.passed, chosen.result, chosen.joint
        return self._parted(merged)

    def _parted(self, lane_set: LaneSet) -> LaneSet:
        """In random order, now and then, some CTAs or warps of a set alone: they get ahead of others."""
        random = self.launch.random
        if random is None or not self._partings or random.random() >= OUT_OF_TURN:
            return lane_set
        rows, _ = lane_set.occupied()
        by_cta = random.random() < 0.5
        parties = np.unique(rows // self.warps if by_cta else rows)
        if len(parties) < 2:
            return lane_set
        self._partings -= 1
        ahead = random.permutation(parties)[: int(random.integers(1, len(parties)))]
        own = np.arange(self.rows) if lane_set.rows is None else lane_set.rows
        going = lane_set.full_mask() & np.isin(own // self.warps if by_cta else own, ahead)[:, None]
        count = int(np.count_nonzero(going))
        for mask, lanes in ((lane_set.full_mask() & ~going, lane_set.size - count), (going, count)):
            part = lane_set.part(mask, lanes, lane_set.pc)
            part.passed, part.result, part.joint = lane_set.passed, lane_set.result, lane_set.joint
            self.ready.append(part)
        self._lead = int(random.integers(LEAD))
        return self.ready.pop()

    def _run_lane_set(self, lane_set: LaneSet) -> None:
        """Run one lane set as far as it should."""
        blocks = lane_set.code.blocks
        counts, execute = self.launch.counts, self.execute
        while True:
            block = blocks[lane_set.pc]
            if block.sync_point is not None and not lane_set.passed:
                admitted = block.sync_point(lane_set)
                if admitted is None:
                    return
                lane_set = admitted
            lane_set.passed = False
            counts.instructions += lane_set.size * block.count
            counts.executed[block] = counts.executed.get(block, 0) + lane_set.size
            if self.trace is not None:
                self.trace.run(lane_set, block)
            else:
                execute(block, lane_set)
            lane_set.joint = None
            if lane_set.undefined:
                block.forget_dead(lane_set.undefined)
            at = lane_set.pc
            lane_set.pc = pc = block.end(lane_set)
            if pc < 0:
                return
            blocks = lane_set.code.blocks
            self.budget -= 1
            if self.ready:
                if pc <= at:
                    lane_set.spins += 1
                if self.budget <= 0 or self._others_first(lane_set):
                    self.ready.append(lane_set)
                    return
            elif self.budget <= 0:
                self.ready.append(lane_set)
                return

    def _others_first(self, lane_set: LaneSet) -> bool:
        """Whether another ready lane set is to run before this one, or to merge with it."""
        if self._lead > 0 and lane_set.spins <= PATIENCE:
            self._lead -= 1
            return False
        mine = _priority(lane_set)
        return lane_set.spins > PATIENCE or any(_priority(other) <= mine for other in self.ready)

    def retire(self, lane_set: LaneSet) -> None:
        """The set's lanes exit."""
        rows = slice(None) if lane_set.rows is None else lane_set.rows
        if lane_set.mask is None:
            self.alive[rows] = False
        else:
            self.alive[rows] &= ~lane_set.mask
        self.living -= lane_set.size
        if self.counted_by is not None:
            check_warpgroups(self, lane_set.occupied()[0])
        if self.launch.sanitize and (self.queue.in_flight or self.cluster > 1):
            exited(self.queue, lane_set.occupied()[0])
        if self.tensor is not None:
            self.tensor.retired()
        self.reconsider()

    def reconsider(self) -> None:
        """Ask every synchronisation point again: lanes that others waited for have exited or moved."""
        for sync_point in {id(entry.sync_point): entry.sync_point for entry in self.waiting}.values():
            sync_point.reconsider(self)

    def add_blocked(self, lane_set: LaneSet, sync_point: Any) -> None:
        """Block a lane set at a synchronisation point."""
        self.waiting.append(Waiting(lane_set, sync_point))

    def wake(self, slots: np.ndarray) -> None:
        """The lane sets that wait for one of these mbarriers look at it again."""
        woken = frozenset(slots.tolist())
        self._go_on(
            [
                e
                for e in self.waiting
                if _awaits(e.sync_point) and not woken.isdisjoint(e.lane_set.result.tolist())
            ]
        )

    def awaited(self) -> np.ndarray:
        """The mbarriers that lane sets wait for."""
        found = [e.lane_set.result for e in self.waiting if _awaits(e.sync_point)]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def expire(self) -> bool:
        """Time limits run out: whoever waits for an mbarrier goes on without it."""
        late = [e for e in self.waiting if _awaits(e.sync_point)]
        for entry in late:
            entry.lane_set.passed = True
        self._go_on(late)
        return bool(late)

    def _go_on(self, entries: list[Waiting]) -> None:
        if entries:
            self.waiting = [e for e in self.waiting if all(e is not other for other in entries)]
            for entry in entries:
                entry.lane_set.result = None
                self.ready.append(entry.lane_set)

    def take_blocked(self, sync_point: Any, choose: Callable[[LaneSet], bool] | None = None) -> list[LaneSet]:
        """Take the lane sets that wait at a synchronisation point, or some of them, out of `waiting`."""
        taken = [
            e.lane_set
            for e in self.waiting
            if e.sync_point is sync_point and (choose is None or choose(e.lane_set))
        ]
        self.waiting = [e for e in self.waiting if all(e.lane_set is not lane_set for lane_set in taken)]
        return taken

    def join(self, sync_point: Any, lane_set: LaneSet) -> LaneSet:
        """A lane set that has come to a synchronisation point, merged with those that wait there at the same
        place."""
        waiting = self.take_blocked(
            sync_point,
            lambda other: (
                other.pc == lane_set.pc and other.code is lane_set.code and other.trail == lane_set.trail
            ),
        )
        return merge([lane_set, *waiting]) if waiting else lane_set


def _awaits(sync_point: Any) -> bool:
    return isinstance(sync_point, PhaseSyncPoint)


def _priority(lane_set: LaneSet) -> tuple[int, int]:
    return -len(lane_set.frames), lane_set.pc


def _overflow(size: int, site: Site | None, notes: tuple[str, ...], help: str | None = None) -> EmulatorFault:
    message = f"stack overflow: expected at most {LOCAL_LIMIT} bytes of local memory, found {size}"
    return fault("P611", message, site, notes, help)
