"""Which lanes of a batch run, and for how long.

The lane set at the lowest block of the innermost call runs first, so that lanes which parted meet again; one
that loops while others wait is set back now and then, so that every lane gets on eventually.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.addresses import LOCAL_START
from ptxkit.emulator.asynchronous.exits import exited
from ptxkit.emulator.calls import check_frame
from ptxkit.emulator.code import Code
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.deadlock import state
from ptxkit.emulator.lane_set import Blocked, Blocking, LaneSchedule, LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.merge import merge
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.sync_points import converge
from ptxkit.emulator.values import WARP, distinct

if TYPE_CHECKING:
    from ptxkit.emulator.profile import Profiler
    from ptxkit.emulator.trace import Recorder

PATIENCE = 4096
"""How many times a lane set may loop while others wait for it to pass."""
OUT_OF_TURN = 0.25
"""In random order, how often a lane set other than the first in line has its turn, of the times that this is
considered."""
PARTINGS = 8
"""In random order, how often some CTAs or warps of a batch part from the others, at most."""
LEAD = 128
"""In random order, for how many blocks a lane set may run on while others are behind it, at most."""
STEADY = 512
"""In random order, how many blocks may pass until the order is considered again, at most: so lanes that part
at every branch meet again nearly as often as in lazy order. Where lanes come to a synchronisation point, or
look at memory that others may change, it is considered at once."""


class Status(Enum):
    """Why a batch stopped running."""

    DONE = "done"
    BLOCKED = "blocked"
    PAUSED = "paused"


class Scheduler(LaneSchedule):
    """Runs the lane sets of a batch.

    Args:
        launch: what the batch belongs to.
        ctas: its CTAs; see `Ctas`.
        code: the entry.
        execute: runs the instructions of a block for a lane set.
        recorder: takes down what happens; None where nobody wants it.
    """

    def __init__(
        self,
        launch: LaunchState,
        ctas: np.ndarray,
        code: Code,
        execute: Callable[[Any, LaneSet], None],
        recorder: Recorder | Profiler | None,
    ) -> None:
        check_frame(code)
        super().__init__(CtaBatch(launch, ctas, code.frame))
        batch = self.batch
        batch.scheduling = self
        self.launch = launch
        self.execute = execute
        self._partings = PARTINGS
        self._lead = 0
        self._considered = 0
        if launch.sanitize:
            batch.at_exit.append(self._look_at_exits)
        mask = None if launch.shape.threads % WARP == 0 else batch.alive.copy()
        lane_set = LaneSet(
            self, code, 0, None, mask, batch.living, list(code.initial), dict(code.initial_undefined)
        )
        lane_set.local, lane_set.top = LOCAL_START, LOCAL_START + code.frame
        self.ready.append(lane_set)
        self.timeline = recorder.timeline(self) if recorder is not None else None
        if self.timeline is not None:
            self.execute = self.timeline.run

    def _look_at_exits(self, rows: np.ndarray) -> None:
        """See what threads that exit leave behind."""
        queue = self.batch.queue
        if queue.hazards.in_flight or self.batch.cluster > 1:
            exited(queue.hazards, queue.pending, rows)

    def run(self, quantum: int) -> Status:
        """Run lane sets until all lanes have exited, none can go on, or the quantum is used up."""
        queue = self.batch.queue
        self.budget = self._considered = quantum
        if self.blocked:
            converge(self)
        while self.ready or (self.blocked and (converge(self) or queue.awaken())):
            if queue.pending:
                queue.stir()
            self._run_lane_set(self._next())
            if self.timeline is not None:
                self.timeline.settle()
            if self.budget <= 0 and self.ready:
                queue.advance()
                return Status.PAUSED
        if self.blocked:
            return Status.BLOCKED
        queue.drain()
        if self.timeline is not None:
            self.timeline.end()
        return Status.DONE

    def _next(self) -> LaneSet:
        """The lane set to run, merged with those at the same place; taken out of `ready`."""
        ready = self.ready
        if len(ready) == 1:
            ready[0].spins = 0
            return self._parted(ready.pop())
        chosen = min(ready, key=_priority)
        random = self._chance()
        if random is not None:
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

    def _chance(self) -> np.random.Generator | None:
        """What chooses, where it is time for a turn out of turn."""
        random = self.launch.random
        if random is None or self.budget > self._considered:
            return None
        self._considered = self.budget - int(random.integers(STEADY))
        return random if random.random() < OUT_OF_TURN else None

    def _parted(self, lane_set: LaneSet) -> LaneSet:
        """In random order, now and then, some CTAs or warps of a set alone: they get ahead of others."""
        random = self.launch.random
        if random is None or not self._partings or random.random() >= OUT_OF_TURN:
            return lane_set
        rows = lane_set.occupied_rows()
        by_cta = random.random() < 0.5
        parties = distinct(rows // self.batch.warps_per_cta if by_cta else rows)
        if len(parties) < 2:
            return lane_set
        self._partings -= 1
        ahead = random.permutation(parties)[: int(random.integers(1, len(parties)))]
        own = np.arange(self.batch.rows) if lane_set.rows is None else lane_set.rows
        going = (
            lane_set.full_mask() & np.isin(own // self.batch.warps_per_cta if by_cta else own, ahead)[:, None]
        )
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
                    self._considered = self.budget
                    return
                lane_set = admitted
            lane_set.passed = False
            counts.instructions += lane_set.size * block.count
            counts.executed[block] = counts.executed.get(block, 0) + lane_set.size
            execute(block, lane_set)
            block = blocks[lane_set.pc]  # Blocks behind it may have run, too.
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

    def wake(self, slots: np.ndarray) -> None:
        """The lane sets that wait for one of these mbarriers look at it again."""
        woken = frozenset(slots.tolist())
        self._go_on(
            [
                e
                for e in self.blocked
                if _awaits(e.sync_point) and not woken.isdisjoint(e.lane_set.result.tolist())
            ]
        )

    def awaited(self) -> np.ndarray:
        """The mbarriers that lane sets wait for."""
        found = [e.lane_set.result for e in self.blocked if _awaits(e.sync_point)]
        return distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def expire(self) -> bool:
        """Time limits run out: whoever waits for an mbarrier goes on without it."""
        late = [e for e in self.blocked if _awaits(e.sync_point)]
        for entry in late:
            entry.lane_set.passed = True
        self._go_on(late)
        return bool(late)

    def _go_on(self, entries: list[Blocked]) -> None:
        if entries:
            self.blocked = [e for e in self.blocked if all(e is not other for other in entries)]
            for entry in entries:
                entry.lane_set.result = None
                self.ready.append(entry.lane_set)

    def runnable(self) -> bool:
        """Whether any lane can run."""
        return bool(self.ready)

    def state(self) -> bytes:
        """A digest of where all lanes are and what their registers hold."""
        return state(self.launch, [self])


def _awaits(sync_point: Blocking) -> bool:
    return isinstance(sync_point, PhaseSyncPoint)


def _priority(lane_set: LaneSet) -> tuple[int, int]:
    return -len(lane_set.frames), lane_set.pc
