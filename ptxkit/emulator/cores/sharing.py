"""When a launch goes over to several cores, and what happens there and behind it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.cores.apart import apart
from ptxkit.emulator.cores.crew import MOST_TASKS, Crew, CrewMember, Task, add, fresh
from ptxkit.emulator.cores.footprints import Footprints
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.program import EntryProgram

PATIENCE = 0.1
"""Seconds that a launch runs on one core before it is worth the others, if as many are left of it: several
times what they cost."""
ROUNDS = 16
"""A launch with as many batches for each core goes over between two of them."""
VARIABLE = "PTXKIT_THREADS"
LARGEST_COPY = 512 << 20
"""Most bytes that are copied so that a launch can begin anew."""


def cores() -> int:
    """How many cores launches of this process use: what PTXKIT_THREADS says, else as many as it may use.

    Raises:
        PtxkitError: P520, the variable has no number of threads.
    """
    wanted = os.environ.get(VARIABLE)
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise error("P520", f"expected a number of threads in {VARIABLE}, found `{wanted}`")
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SharedLaunch(Protocol):
    """A launch under way; see `ptxkit.emulator.execution.Execution`."""

    launch: LaunchState
    program: EntryProgram
    programmatic: bool
    execute: Callable[[CodeBlock, LaneSet], None]

    @property
    def recorder(self) -> object: ...

    def run_started(
        self, progress: Callable[[int, int], None], ended: Callable[[CtaBatch], None]
    ) -> None: ...

    def stored_to(self) -> list[Allocation]: ...


def is_worth_others(launch: LaunchState, lasted: float) -> bool:
    """Whether a launch that has lasted some seconds will last as long again, by the CTAs that have ended."""
    done, total = launch.counts.ctas, launch.shape.ctas
    return lasted >= PATIENCE and lasted * (total - done) >= PATIENCE * done


class TimeIsUp(Exception):
    """A launch has run on one core long enough."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a process did.

    Attributes:
        counts: what it counted.
        executed: the blocks that threads ran: the number of the function, of the block, and of the threads.
        touched: the numbers of the allocations that it read or wrote, in the order of their addresses.
    """

    counts: Counts
    executed: list[tuple[int, int, int]]
    touched: list[int]


class Sharing:
    """The cores for one launch.

    Args:
        execution: the launch.
        size: CTAs of a batch on one core.

    Attributes:
        between_batches: whether it goes over between two batches; else it begins anew.
    """

    def __init__(self, execution: SharedLaunch, size: int) -> None:
        launch = execution.launch
        self._execution = execution
        self._threads = launch.options.threads
        self._size = size
        self._began = time.monotonic()
        self.between_batches = launch.shape.ctas >= ROUNDS * self._threads * size

    def due(self) -> bool:
        """Whether the launch should go over as soon as it can."""
        return is_worth_others(self._execution.launch, time.monotonic() - self._began)

    def run(self, progress: Callable[[int, int], None] | None) -> bool:
        """Run the CTAs that have not started. Returns False where nothing of it has happened."""
        launch = self._execution.launch
        grid, counts, total = launch.grid, launch.counts, launch.shape.ctas
        tasks = self._tasks(grid.started, total)
        footprints = Footprints(launch.memory, min(self._threads, len(tasks)))
        before, behind = counts.instructions, counts.ctas

        def told(ctas: int, instructions: int) -> None:
            counts.instructions = before + instructions
            if progress is not None:
                progress(behind + ctas, total)

        try:
            shares = Crew(tasks, footprints.processes).run(lambda w: self._work(w, footprints), told)
        finally:
            counts.instructions = before
        if shares is None or footprints.collide():
            return False
        footprints.commit()
        launch.on_several_cores = True
        self._take(shares)
        counts.ctas += total - grid.started
        grid.started = total
        if progress is not None:
            progress(counts.ctas, total)
        return True

    def _tasks(self, first: int, stop: int) -> list[Task]:
        """The CTAs, in equal parts that are no larger than a batch."""
        clusters, cluster = (stop - first) // self._execution.launch.cluster, self._execution.launch.cluster
        largest = max(self._size // cluster, 1)
        if self._execution.launch.random is not None:  # the batches of one core
            part = self._size * -(-clusters // (largest * MOST_TASKS))
            return [Task(at, min(at + part, stop)) for at in range(first, stop, part)]
        each = -(-clusters // (self._threads * largest))
        part = max(-(-clusters // (self._threads * each)), -(-clusters // MOST_TASKS)) * cluster
        return [Task(at, min(at + part, stop)) for at in range(first, stop, part)]

    # ---- in a process

    def _work(self, member: CrewMember, footprints: Footprints) -> Share | None:
        """Run tasks, until there is none left or something is found."""
        execution, launch = self._execution, self._execution.launch
        found = launch.found.changes
        fresh(launch.counts)
        touched = [allocation.touched for allocation in launch.memory.allocations()]

        def told(ctas: int, _: int) -> None:
            member.progress(ctas, launch.counts.instructions)

        for task in member.tasks():
            launch.grid.started, launch.grid.stop = task.first, task.stop
            execution.run_started(told, _settle)
            if launch.found.changes != found:
                return None
        if not footprints.leave(member.number):
            return None
        now = [allocation.touched for allocation in launch.memory.allocations()]
        new = [at for at, (was, is_now) in enumerate(zip(touched, now, strict=True)) if is_now and not was]
        executed = [
            (number, block.number, launch.counts.executed[block])
            for number, code in enumerate(execution.program.codes)
            for block in code.blocks
            if block in launch.counts.executed
        ]
        launch.counts.executed = {}
        return Share(launch.counts, executed, new)

    # ---- behind them

    def _take(self, shares: list[Share]) -> None:
        """Take over what was counted."""
        launch, codes = self._execution.launch, self._execution.program.codes
        add(launch.counts, [share.counts for share in shares])
        executed, allocations = launch.counts.executed, launch.memory.allocations()
        for share in shares:
            for number, place, threads in share.executed:
                block = codes[number].blocks[place]
                executed[block] = executed.get(block, 0) + threads
            for at in share.touched:
                allocations[at].touched = True


def _settle(batch: CtaBatch) -> None:
    """Enter what the asynchronous operations of a batch did that nobody waited for."""
    batch.queue.hazards.settle()


class Beginning:
    """What a launch may change before it goes over to several cores, as it was before.

    Args:
        execution: the launch, which has not begun.
    """

    def __init__(self, execution: SharedLaunch) -> None:
        launch = execution.launch
        self._launch = launch
        self._copies: list[tuple[Allocation, np.ndarray, np.ndarray | None]] = []
        memory = launch.memory
        assert memory.shadow is not None
        for allocation in execution.stored_to():
            where = slice(allocation.address - BASE, allocation.end - BASE)
            shadow = memory.shadow[where].copy() if allocation.undefined else None
            self._copies.append((allocation, memory.data[where].copy(), shadow))

    def restore(self) -> None:
        """Make it so again."""
        launch, memory = self._launch, self._launch.memory
        assert memory.shadow is not None
        for allocation, data, shadow in self._copies:
            where = slice(allocation.address - BASE, allocation.end - BASE)
            memory.data[where] = data
            if allocation.undefined:
                memory.shadow[where] = 0 if shadow is None else shadow
            allocation.undefined = shadow is not None
        memory.forget_histories()
        fresh(launch.counts)
        launch.begin_again()

    def knows(self) -> bool:
        """Whether the launch has stored only to what was copied."""
        copied = {id(allocation) for allocation, *_ in self._copies}
        return all(
            id(allocation) in copied
            for allocation in self._launch.memory.allocations()
            if allocation.history is not None
        )


def limited(
    execution: SharedLaunch, beginning: Beginning, prepare: Callable[[CodeBlock], bool] | None
) -> Callable[[CodeBlock, LaneSet], None]:
    """Runs blocks of a launch until it is time to begin anew; then raises TimeIsUp.

    Args:
        prepare: whether a block is to be compiled when it runs next: that comes first, or each process would
            do it again in each launch. None: nothing is compiled.
    """
    execute, began = execution.execute, time.monotonic()

    def run(block: CodeBlock, lane_set: LaneSet) -> None:
        up = is_worth_others(execution.launch, time.monotonic() - began) and beginning.knows()
        if up and not (prepare is not None and prepare(block)):
            raise TimeIsUp
        execute(block, lane_set)

    return run


def shareable(execution: SharedLaunch) -> bool:
    """Whether several cores may run a launch."""
    launch, program = execution.launch, execution.program
    options, shape = launch.options, launch.shape
    if options.threads < 2 or not options.sanitize or not hasattr(os, "fork"):
        return False
    if shape.cooperative or shape.ctas == launch.cluster or execution.programmatic:
        return False
    if program.takes_columns and shape.ctas > launch.sm_count:
        return False  # CTAs of one SM wait for each other's columns of tensor memory.
    if launch.company is not None or launch.layouts is not None or execution.recorder is not None:
        return False
    return stays_apart(program)


def stays_apart(program: EntryProgram) -> bool:
    """Whether the CTAs of a program can't talk to each other; see `apart`."""
    if program.apart is None:
        program.apart = apart(program)
    return program.apart
