"""A launch that can be stopped before any instruction, and looked for in its past.

A debugger puts a stop before every instruction of the programs of its own device, which are compiled for that
device alone: a launch without a debugger runs the steps as they are. A stop calls `stopped` in the middle of
the launch, which goes on when that returns. Warps of a set execute together: a step of one is one of all.

Instructions are numbered as lane sets come to them, from 1, through all launches: *steps*. The emulator is
deterministic, so from the same beginning the same step is the same state: `goal` lets launches run up to a
step without a stop, and `search` finds the last stop before one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ptxkit.emulator.code import Code, CodeBlock
from ptxkit.emulator.code_places import CodePlace, WarpNumber, lanes_in, row_of, warp_of
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.image import Image
from ptxkit.emulator.lane_set import End, LaneSchedule, LaneSet, Step, SyncPoint
from ptxkit.emulator.stops import (
    Breakpoint,
    ConditionError,
    LastDone,
    Search,
    Stop,
    Walk,
    Watched,
    Watchpoint,
    change,
)


class RewindError(Exception):
    """The launch is to begin anew, up to a step of its past."""


class Debugger:
    """Stops the launches of a device: set `Emulator.prepare` to its `prepare`.

    Args:
        image: the loaded module, for the instructions that can have breakpoints.
        stopped: called at each stop.

    Attributes:
        execution: the launch, once it has begun.
        schedules: of the batches that have executed something and have not ended; the last one stays when all
            have.
        place: where the lane set stands that runs or ran last.
        warp: the warp that commands are about.
        breakpoints, watchpoints: by number.
        now: the step: instructions that lane sets have come to.
        goal: the step to run up to, and what the stop there is called; None to run until something stops.
        search: what is looked for in the past; None where nothing is.
        attend: called once before the next instruction, whoever executes it.
    """

    def __init__(self, image: Image, stopped: Callable[[Stop], None]) -> None:
        self.image = image
        self.stopped = stopped
        self.execution: Execution | None = None
        self.schedules: list[LaneSchedule] = []
        self.place: CodePlace | None = None
        self.warp = WarpNumber(0, 0)
        self.breakpoints: dict[int, Breakpoint] = {}
        self.watchpoints: dict[int, Watchpoint] = {}
        self.now = 0
        self.goal: tuple[int, Stop] | None = None
        self.search: Search | None = None
        self.attend: Callable[[], None] | None = None
        self._numbers = 0
        self._wanted: dict[int, list[Breakpoint]] = {}
        self._walk: Walk | None = None
        self._interrupted = False
        self._prepared: set[Code] = set()
        self._done = LastDone()

    # ---- what a user asks for

    def number(self) -> int:
        """The number of a further breakpoint or watchpoint."""
        self._numbers += 1
        return self._numbers

    def add(self, breakpoint: Breakpoint) -> None:
        """Stop there, too."""
        self.breakpoints[breakpoint.number] = breakpoint
        for instruction in breakpoint.instructions:
            self._wanted.setdefault(id(instruction), []).append(breakpoint)

    def watch(self, watched: Watched, missing: Any = None) -> Watchpoint:
        """Stop where something changes, too. `missing`: what it counts as while it can't be seen yet."""
        value = watched.value() if self.schedules else None
        made = Watchpoint(self.number(), watched, last=missing if value is None else value)
        self.watchpoints[made.number] = made
        return made

    def delete(self, number: int) -> None:
        """Drop a breakpoint or watchpoint. Raises KeyError: there is none of that number."""
        if number in self.watchpoints:
            del self.watchpoints[number]
            return
        gone = self.breakpoints.pop(number)
        for instruction in gone.instructions:
            self._wanted[id(instruction)].remove(gone)

    def go_on(self) -> None:
        """Stop at breakpoints and watchpoints alone."""
        self._walk = None

    def walk(self, count: int, arrives: Callable[[CodePlace], bool]) -> None:
        """Stop when the current warp has arrived `count` times; before the first instruction of a launch when
        any warp comes to it."""
        if self.execution is None:
            self._walk = Walk(None, 0, 1, arrives)
            return
        _, batch = self.current()
        if batch is not None:
            row = row_of(batch, self.warp)
            assert row is not None
            self._walk = Walk(batch, row, count, arrives)

    def interrupt(self) -> None:
        """Stop before the next instruction, whoever executes it. For signal handlers and other threads."""
        self._interrupted = True

    def forget(self) -> None:
        """The launches are to begin anew."""
        self.now, self.schedules, self.place, self._walk = 0, [], None, None
        self._done.sites.clear()

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
        self.now += 1
        before = self.place
        if before is None or before.lane_set.batch is not place.lane_set.batch:
            self._enter(place.lane_set.schedule)
        self.place = place
        if self.attend is not None:
            attend, self.attend = self.attend, None
            attend()
        if self._interrupted:
            self._interrupted = False
            self.goal = self.search = None
            self._look_again()
            self._stop(place, Stop("pause", "interrupted"))
        elif self.goal is not None:
            if self.now >= self.goal[0]:
                arrived, self.goal = self.goal[1], None
                self._look_again()
                self._stop(place, arrived)
        elif self.search is not None:
            self._look_back(self.search, place, key, before)
        else:
            stop = self._changed(before) if self.watchpoints else None
            walked = self._walked(place, self._walk) if self._walk is not None else None
            stop = stop or self._broken(place, key, counts=True) or walked
            if stop is not None:
                self._stop(place, stop)
        if self._done.sites:
            self._done.sites.clear()

    def _enter(self, schedule: LaneSchedule) -> None:
        """A batch has its turn; drop those that have ended."""
        if schedule.batch.trace is None:
            schedule.batch.record(self._done)
        self.schedules = [one for one in self.schedules if one.batch.living and one is not schedule]
        self.schedules.append(schedule)

    def _look_again(self) -> None:
        """What watchpoints see now is no change."""
        for watchpoint in self.watchpoints.values():
            watchpoint.last = watchpoint.watched.value()

    def _look_back(self, search: Search, place: CodePlace, key: int, before: CodePlace | None) -> None:
        """Note where the launch would have stopped, going backwards; begin anew once the step is reached."""
        if search.arrives is None:
            stop = self._changed(before, search)
            if stop is not None and before is not None:
                search.note(self.now - 1, stop)
        if self.now >= search.limit:
            search.done = True
            raise RewindError
        if search.arrives is not None:
            if search.arrives(place):
                search.note(self.now, Stop("step"))
            return
        stop = self._broken(place, key, counts=False) if search.only is None else None
        if stop is not None:
            search.note(self.now, stop)

    def _changed(self, before: CodePlace | None, search: Search | None = None) -> Stop | None:
        """The first watchpoint that sees a change; all of them look."""
        found: Stop | None = None
        back = search is not None
        asked = [search.only] if search is not None and search.only else list(self.watchpoints.values())
        for watchpoint in asked:
            value = watchpoint.watched.value()
            if value is None or not watchpoint.enabled:
                continue
            last = watchpoint.last
            changed, watchpoint.last = watchpoint.watched.seen(last, value)
            if not changed or found is not None:
                continue
            if not back and watchpoint.ignored:
                watchpoint.ignored -= 1
                continue
            watchpoint.hits += not back
            found = self._told(
                watchpoint, before, (watchpoint.last, last) if back else (last, watchpoint.last)
            )
        return found

    def last_change(self) -> Stop | None:
        """The launch has ended: what a watchpoint sees since the last instruction, which a search notes."""
        search = self.search
        stop = self._changed(self.place, search) if search is None or search.arrives is None else None
        if stop is not None and search is not None:
            search.note(self.now, stop)
        return stop

    def _told(self, watchpoint: Watchpoint, before: CodePlace | None, values: tuple[Any, Any]) -> Stop:
        """A change at a warp that made it."""
        warp = None
        if before is not None and lanes_in(before.lane_set, self._row(before.lane_set)) is None:
            rows = before.lane_set.occupied_rows()
            warp = warp_of(before.lane_set.batch, int(rows[0])) if len(rows) else None
        by = before.site if before is not None else None
        text = change(watchpoint, values, by, self._done.sites)
        return Stop("data breakpoint", text, (watchpoint.number,), warp)

    def _walked(self, place: CodePlace, walk: Walk) -> Stop | None:
        """Count a step of the walk; the stop at its end."""
        lane_set = place.lane_set
        if walk.batch is not None:
            if not walk.batch.alive[walk.row].any():
                return Stop("exited", "the current warp has exited")
            if lane_set.batch is not walk.batch or lanes_in(lane_set, walk.row) is None:
                return None
            if not walk.arrives(place):
                return None
        walk.left -= 1
        if walk.left > 0:
            return None
        return Stop("step" if walk.batch is not None else "entry", warp=self.warp if walk.batch else None)

    def _broken(self, place: CodePlace, key: int, counts: bool) -> Stop | None:
        """The breakpoint here that stops somebody; `counts`: that it has."""
        for breakpoint in tuple(self._wanted.get(key, ())):
            if not breakpoint.enabled:
                continue
            why = ""
            batch = place.lane_set.batch
            row = self._concerned(breakpoint, place.lane_set)
            if row is None:
                continue
            if breakpoint.condition is not None:
                try:
                    row = breakpoint.condition.first(place, row if row >= 0 else None)
                except ConditionError as error:
                    why = f": its condition can't be told: {error}"
                if row is None:
                    continue
            if counts and breakpoint.ignored:
                breakpoint.ignored -= 1
                continue
            if counts:
                breakpoint.hits += 1
                if breakpoint.temporary:
                    self.delete(breakpoint.number)
            who = warp_of(batch, row) if row >= 0 else None
            return Stop("breakpoint", f"breakpoint {breakpoint.number}{why}", (breakpoint.number,), who)
        return None

    def _concerned(self, breakpoint: Breakpoint, lane_set: LaneSet) -> int | None:
        """The row of a breakpoint's warp; -1 where any will do, None where it is not in the set."""
        if breakpoint.warp is None:
            return -1
        row = row_of(lane_set.batch, breakpoint.warp)
        return row if row is not None and lanes_in(lane_set, row) is not None else None

    def _stop(self, place: CodePlace, stop: Stop) -> None:
        """Stop at a warp: the one that was meant, else the current one if it is there, else the first one."""
        self.warp = stop.warp or self.warp
        if stop.reason != "data breakpoint" or self.current()[0] is None:
            self._choose(place.lane_set)
        self._walk = None
        self.stopped(stop)

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
