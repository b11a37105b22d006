"""Stops in a launch: where execution may stop, what a warp's next step is.

A debugger puts a stop before every instruction of the programs of its own device, which are compiled for that
device alone: a launch without a debugger runs the steps as they are. A stop calls `stopped` in the middle of
the launch, which goes on when that returns. Warps of a set execute together: a step of one is one of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.asm.tree import Instruction
from ptxkit.emulator.code import Code, CodeBlock
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.faults import Site
from ptxkit.emulator.image import Image
from ptxkit.emulator.lane_set import BlockToRun, End, LaneSchedule, LaneSet, Step, SyncPoint
from ptxkit.emulator.values import WARP


@dataclass(frozen=True, slots=True)
class WarpNumber:
    """One warp of a launch: the number of its CTA in the grid, x fastest, and its own in the CTA."""

    cta: int
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Breakpoint:
    """A stop that somebody asked for.

    Attributes:
        number: what it is called by.
        instruction: before which execution stops.
        warp: the only warp that stops; None for the first that comes.
    """

    number: int
    instruction: Instruction
    warp: WarpNumber | None


@dataclass(frozen=True, slots=True, eq=False)
class CodePlace:
    """Where a lane set stands: before an instruction.

    Attributes:
        block: of its code.
        index: of the instruction in the block.
    """

    lane_set: LaneSet
    block: BlockToRun
    index: int

    @property
    def site(self) -> Site | None:
        """The instruction; None at the end of a function's text."""
        return self.block.sites[self.index] if self.index < len(self.block.sites) else None


@dataclass(slots=True, eq=False)
class _Walk:
    """Steps that are left to a warp.

    Attributes:
        batch, row: the warp; None for the first warp that executes something.
        left: instructions until it stops.
        depth: most callers it may have to stop; None for any number.
    """

    batch: CtaBatch | None
    row: int
    left: int
    depth: int | None


def row_of(batch: CtaBatch, warp: WarpNumber) -> int | None:
    """The row of a warp in a batch; None where the batch hasn't its CTA."""
    at = np.flatnonzero(batch.ctas == warp.cta)
    return int(at[0]) * batch.warps_per_cta + warp.number if len(at) else None


def warp_of(batch: CtaBatch, row: int) -> WarpNumber:
    """The warp at a row of a batch."""
    cta, number = divmod(row, batch.warps_per_cta)
    return WarpNumber(int(batch.ctas[cta]), number)


def lanes_in(lane_set: LaneSet, row: int) -> np.ndarray | None:
    """The lanes of a row of the batch that a lane set has, bool (32,); None where it has none."""
    at = index_in(lane_set, row)
    if at is None:
        return None
    lanes = np.ones(WARP, bool) if lane_set.mask is None else lane_set.mask[at]
    lanes = lanes & (lane_set.batch.alive[row])
    return lanes if lanes.any() else None


def index_in(lane_set: LaneSet, row: int) -> int | None:
    """Where the values of a row of the batch stand in those of a lane set; None where it has not the row."""
    if row < 0:
        return None
    if lane_set.rows is None:
        return row
    at = int(np.searchsorted(lane_set.rows, row))
    return at if at < lane_set.n and lane_set.rows[at] == row else None


class Debugger:
    """Stops the launches of a device: set `Emulator.prepare` to its `prepare`.

    Args:
        image: the loaded module, for the instructions that can have breakpoints.
        stopped: called at each stop with why it stopped, in words.

    Attributes:
        execution: the launch, once it has begun.
        schedules: of the batches that have executed something and have not ended; the last one stays when all
            have.
        place: where the lane set stands that runs or ran last.
        warp: the warp that commands are about.
        breakpoints: by number.
    """

    def __init__(self, image: Image, stopped: Callable[[str], None]) -> None:
        self.image = image
        self.stopped = stopped
        self.execution: Execution | None = None
        self.schedules: list[LaneSchedule] = []
        self.place: CodePlace | None = None
        self.warp = WarpNumber(0, 0)
        self.breakpoints: dict[int, Breakpoint] = {}
        self._numbers = 0
        self._wanted: dict[int, list[Breakpoint]] = {}
        self._walk: _Walk | None = None
        self._interrupted = False
        self._prepared: set[Code] = set()

    # ---- what a user asks for

    def instructions(self) -> Iterator[tuple[str, Instruction]]:
        """Every instruction that can be executed, with its function's name."""
        for function in self.image.functions.values():
            for instruction in self.image.flow(function).instructions:
                yield function.name, instruction

    def labelled(self, name: str) -> list[Instruction]:
        """The first instruction of a function of that name, and those at labels of that name."""
        found = []
        for function in self.image.functions.values():
            flow = self.image.flow(function)
            places = [at for label, at in flow.at.items() if label.name == name]
            if function.name == name:
                places.insert(0, 0)
            found += [flow.instructions[at] for at in places if at < len(flow.instructions)]
        return found

    def add(self, instruction: Instruction, warp: WarpNumber | None) -> Breakpoint:
        """A further breakpoint."""
        self._numbers += 1
        made = Breakpoint(self._numbers, instruction, warp)
        self.breakpoints[made.number] = made
        self._wanted.setdefault(id(instruction), []).append(made)
        return made

    def delete(self, number: int) -> None:
        """Drop a breakpoint. Raises KeyError: there is none of that number."""
        gone = self.breakpoints.pop(number)
        self._wanted[id(gone.instruction)].remove(gone)

    def go_on(self) -> None:
        """Stop at breakpoints alone."""
        self._walk = None

    def step(self, count: int, over_calls: bool) -> None:
        """Stop when the current warp has executed `count` instructions, those of callees not counted where
        `over_calls`; before the first one of a launch when any warp has."""
        if self.execution is None:
            self._walk = _Walk(None, 0, 1, None)
            return
        place, batch = self.current()
        if batch is not None:
            depth = len(place.lane_set.frames) if over_calls and place else None
            row = row_of(batch, self.warp)
            assert row is not None
            self._walk = _Walk(batch, row, count, depth)

    def interrupt(self) -> None:
        """Stop before the next instruction, whoever executes it. For signal handlers."""
        self._interrupted = True

    # ---- who is where

    def current(self) -> tuple[CodePlace | None, CtaBatch | None]:
        """Where the current warp stands, and its batch; None where it has exited or not begun."""
        for schedule in self.schedules:
            row = row_of(schedule.batch, self.warp)
            if row is not None:
                places = (place for place, _ in self.places(schedule))
                found = (place for place in places if lanes_in(place.lane_set, row) is not None)
                return next(found, None), schedule.batch
        return None, None

    def places(self, schedule: LaneSchedule) -> Iterator[tuple[CodePlace, Any]]:
        """Where the lane sets of a batch stand, the one that runs first; with the synchronisation point
        at which one waits."""
        running = self.place
        if running is not None and running.lane_set.schedule is schedule:
            lanes = running.lane_set.in_batch() & schedule.batch.alive
            others = (*schedule.ready, *(entry.lane_set for entry in schedule.blocked))
            if lanes.any() and not any((lanes & lane_set.in_batch()).any() for lane_set in others):
                yield running, None
        for lane_set in schedule.ready:
            yield CodePlace(lane_set, lane_set.code.blocks[lane_set.pc], 0), None
        for entry in schedule.blocked:
            yield (
                CodePlace(entry.lane_set, entry.lane_set.code.blocks[entry.lane_set.pc], 0),
                entry.sync_point,
            )

    # ---- stopping

    def prepare(self, execution: Execution) -> None:
        """A launch is about to begin: put stops into its program."""
        self.execution = execution
        execution.execute = CodeBlock.run
        self.schedules = []
        self.place = None
        self._put_stops()

    def _put_stops(self) -> None:
        assert self.execution is not None
        for code in self.execution.program.codes:
            if code in self._prepared:
                continue
            self._prepared.add(code)
            for block in code.blocks:
                self._put_into(block)

    def _put_into(self, block: CodeBlock) -> None:
        """A stop before each instruction; that of a synchronisation point comes before the wait."""
        first = 0
        if block.sync_point is not None:
            block.sync_point, first = self._before_sync_point(block.sync_point, block), 1
        for steps in (block.steps, block.tracked):
            steps[first:] = [self._before(steps[at], block, at) for at in range(first, len(steps))]
        if block.sites and "calls" in block.sites[-1].row.traits:
            block.end = self._behind_call(block.end)

    def _before(self, step: Step, block: CodeBlock, index: int) -> Step:
        key = id(block.sites[index].instruction)

        def stop(lane_set: LaneSet) -> Any:
            self._reach(CodePlace(lane_set, block, index), key)
            return step(lane_set)

        return stop

    def _before_sync_point(self, sync_point: SyncPoint, block: CodeBlock) -> SyncPoint:
        key = id(block.sites[0].instruction)

        def stop(lane_set: LaneSet) -> LaneSet | None:
            self._reach(CodePlace(lane_set, block, 0), key)
            return sync_point(lane_set)

        return stop

    def _behind_call(self, end: End) -> End:
        """A call through a pointer may have compiled its callee just now."""

        def stop(lane_set: LaneSet) -> int:
            following = end(lane_set)
            self._put_stops()
            return following

        return stop

    def _reach(self, place: CodePlace, key: int) -> None:
        """A lane set is about to execute an instruction."""
        if self.place is None or self.place.lane_set.batch is not place.lane_set.batch:
            self._enter(place.lane_set.schedule)
        self.place = place
        if self._interrupted:
            self._interrupted = False
            self._stop(place, None, "interrupted")
        elif self._walk is not None and self._arrived(place, self._walk):
            pass
        else:
            for breakpoint in self._wanted.get(key, ()):
                if self._concerns(breakpoint, place.lane_set):
                    self._stop(place, breakpoint.warp, f"breakpoint {breakpoint.number}")
                    return

    def _enter(self, schedule: LaneSchedule) -> None:
        """A batch has its turn; drop those that have ended."""
        self.schedules = [one for one in self.schedules if one.batch.living and one is not schedule]
        self.schedules.append(schedule)

    def _arrived(self, place: CodePlace, walk: _Walk) -> bool:
        """Count a step of the walk, and stop at its end."""
        lane_set = place.lane_set
        if walk.batch is not None:
            if not walk.batch.alive[walk.row].any():
                self._stop(place, None, "the current warp has exited")
                return True
            if lane_set.batch is not walk.batch or lanes_in(lane_set, walk.row) is None:
                return False
            if walk.depth is not None and len(lane_set.frames) > walk.depth:
                return False
        walk.left -= 1
        if walk.left > 0:
            return False
        self._stop(place, self.warp if walk.batch is not None else None, "")
        return True

    @staticmethod
    def _concerns(breakpoint: Breakpoint, lane_set: LaneSet) -> bool:
        if breakpoint.warp is None:
            return True
        row = row_of(lane_set.batch, breakpoint.warp)
        return row is not None and lanes_in(lane_set, row) is not None

    def _stop(self, place: CodePlace, warp: WarpNumber | None, why: str) -> None:
        """Stop at a warp: the one that was meant, else the current one if it is there, else the first one."""
        self.warp = warp or self.warp
        self._choose(place.lane_set)
        self._walk = None
        self.stopped(why)

    def settle(self) -> None:
        """The launch has ended by a finding: choose a warp that was there, the current one if it was."""
        place = self.place
        if place is None:
            return
        found = [other for other, _ in self.places(place.lane_set.schedule)]
        if found and all(lanes_in(other.lane_set, self._row(other.lane_set)) is None for other in found):
            self._choose(found[0].lane_set)

    def _row(self, lane_set: LaneSet) -> int:
        """The current warp's row in a set's batch; -1 where the batch hasn't its CTA."""
        row = row_of(lane_set.batch, self.warp)
        return -1 if row is None else row

    def _choose(self, lane_set: LaneSet) -> None:
        """Make a warp of a lane set the current one, if the current one is not in it."""
        row = self._row(lane_set)
        if row < 0 or lanes_in(lane_set, row) is None:
            row = lane_set.first(np.bool_(True))[0]
            self.warp = warp_of(lane_set.batch, row if lane_set.rows is None else int(lane_set.rows[row]))
