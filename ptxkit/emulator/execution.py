"""A launch at work: the queue of CTAs, and the batches that run them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator import jit
from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.cores.sharing import (
    LARGEST_COPY,
    Beginning,
    Sharing,
    TimeIsUp,
    limited,
    shareable,
    stays_apart,
)
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.deadlock import Watch, deadlock, livelock
from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.program import EntryProgram
from ptxkit.emulator.scheduler import Scheduler, Status
from ptxkit.emulator.values import WARP
from ptxkit.support import collector
from ptxkit.targets import Limits

if TYPE_CHECKING:
    from ptxkit.emulator.company import Company
    from ptxkit.emulator.profile import Profiler
    from ptxkit.emulator.trace import Recorder

BATCH_LANES, MOST_LANES, LANES_APART = 16384, 65536, 131072
"""Threads of a batch, where there are as many, of kernels with many live registers, with few, and with few
whose CTAs don't talk to each other: enough that the work outweighs its interpretation, few enough that the
registers in use stay in the cache."""
BATCH_REGISTERS = 64 * BATCH_LANES
"""Registers of all threads of a batch that is larger than `BATCH_LANES`."""
BATCH_BYTES = 256 << 20
"""Most bytes of shared and local memory of a batch, if it is not a single CTA."""
WORKSPACE = 256
"""Bytes that a cooperative launch has for its grid barrier."""
QUANTUM = 1 << 14
"""Blocks that a batch may run before another one has its turn, if nothing else is said."""

LONG = 64
"""Rounds after which a batch that has not ended may wait for one that has not begun."""

Progress = Callable[[int, int], None]
"""Called with the number of CTAs that have finished and that of all."""


def resident_ctas(limits: Limits, threads: int, shared: int) -> int:
    """How many CTAs of so many threads and bytes of shared memory a device holds at once."""
    by_threads = limits.threads_per_sm // (-(-threads // WARP) * WARP)
    shared += limits.shared_reserved
    by_shared = limits.shared_per_sm // shared if shared else limits.ctas_per_sm
    return (limits.sm_count or 1) * max(1, min(limits.ctas_per_sm, by_threads, by_shared))


class Execution:
    """One launch as it runs.

    Args:
        program: the entry.
        launch: what its CTAs share.
        programmatic: whether it may begin before the launch ahead of it has ended.

    Attributes:
        recorder: takes down what happens; None unless somebody sets it before the launch runs.
        execute: runs the instructions of a block for a lane set: the seam between numpy and the `jit` extra.
        resident: the batches that have begun and not ended.
        quantum: blocks that each of them may run in a round.
        follows_reads: whether it keeps what it reads, too, for work of other streams; it then has one core.
    """

    def __init__(self, program: EntryProgram, launch: LaunchState, programmatic: bool = False) -> None:
        collector.launch()
        self.program = program
        self.launch = launch
        self.programmatic = programmatic
        self.follows_reads = False
        self.recorder: Recorder | Profiler | None = None
        self.resident: list[Scheduler] = []
        self.quantum = QUANTUM
        self._seed: int | None = None
        self.execute: Callable[[CodeBlock, LaneSet], None] = jit.run if launch.options.jit else CodeBlock.run

    @property
    def name(self) -> str:
        """The entry."""
        return self.program.entry.name

    def run(self, progress: Progress | None = None) -> None:
        """Run every CTA to its end. Raises EmulatorFault: the first error that it does not go past."""
        if shareable(self) and not self.follows_reads:
            self._share(progress)
        else:
            self._run(self.rounds(progress))

    def _share(self, progress: Progress | None) -> None:
        """The same on several cores, if it lasts."""
        lasting, shape = self.program.lasting, self.launch.shape
        sharing = Sharing(self, self._batch()[0])
        if sharing.between_batches:
            self._run(self.rounds(progress, sharing if lasting.get(shape, True) else None))
            return
        if shape not in lasting and sum(each.size for each in self.stored_to()) <= LARGEST_COPY:
            lasting[shape] = not self._ends_soon(progress)
            if not lasting[shape]:
                return
        if lasting.get(shape):
            with np.errstate(all="ignore"):
                self.begin()
                if sharing.run(progress):
                    self.launch.found.close()
                    return
            lasting[shape] = False
        self._run(self.rounds(progress))

    def _ends_soon(self, progress: Progress | None) -> bool:
        """Run every CTA on one core, if that does not last. Returns False where it does: then nothing has
        happened."""
        alone, beginning = self.execute, Beginning(self)
        self.execute = limited(self, beginning, jit.prepare if self.launch.options.jit else None)
        try:
            self._run(self.rounds(progress))
        except TimeIsUp:
            beginning.restore()
            self.resident.clear()
            return False
        finally:
            self.execute = alone
        return True

    def run_started(self, progress: Progress, ended: Callable[[CtaBatch], None]) -> None:
        """Run the CTAs that the grid has left, in a launch that has begun. `ended`: called with each batch
        that has come to its end."""
        self._run(self._rounds(progress, ended=ended))

    def _run(self, rounds: Generator[bool]) -> None:
        """Run rounds to their end. Raises EmulatorFault: also P608, nothing will ever change."""
        watch, watched = Watch(), False
        with np.errstate(all="ignore"), closing(rounds):
            for stalled in rounds:
                if stalled and watched and watch.stuck([self]):
                    raise livelock([self])
                watched = stalled

    def rounds(self, progress: Progress | None = None, sharing: Sharing | None = None) -> Generator[bool]:
        """The same round by round: in each, every batch that is resident has a turn. Numpy's warnings are to
        be off.

        Args:
            sharing: the cores that the launch goes over to between two batches; None for one core.

        Yields:
            Whether it stalls: no CTA came to its end, and none began.

        Raises:
            EmulatorFault: the first error that it does not go past; a deadlock of its own among them.
        """
        launch = self.launch
        if launch.company is None:
            self.begin()
        held = []
        try:
            if launch.shape.cooperative:
                held.append(launch.memory.allocate(WORKSPACE, "workspace of the cooperative launch"))
                launch.workspace = held[-1].address
            if self.program.cta_memory:
                size = self.program.cta_memory * launch.shape.ctas
                held.append(launch.memory.allocate(size, "memory of each CTA"))
                launch.cta_memory = held[-1].address
                if launch.sanitize:
                    launch.memory.forget(held[-1])
            yield from self._rounds(progress, sharing)
        finally:
            launch.found.close()
            for allocation in held:
                launch.memory.free(allocation, "the launch has ended")

    def _seed_of_batches(self) -> int | None:
        """In random order, where batches can run one after the other, what seeds their own orders: so they
        hang neither on one another nor on how many cores there are. Else None."""
        launch = self.launch
        if launch.random is None or launch.company is not None or launch.shape.cooperative:
            return None
        if self._seed is None and stays_apart(self.program):
            self._seed = int(launch.random.integers(1 << 62))
        return self._seed

    def _batch(self) -> tuple[int, int]:
        """CTAs of a batch, and those that may be resident."""
        launch = self.launch
        total, cluster, threads = launch.shape.ctas, launch.cluster, launch.shape.threads
        resident = resident_ctas(launch.limits, threads, launch.shared.used)
        resident = total if launch.shape.cooperative else max(resident // cluster, 1) * cluster
        most = BATCH_BYTES // (launch.shared.total + threads * self.program.code.frame + 1)
        many = total * threads > MOST_LANES
        lanes = LANES_APART if many and stays_apart(self.program) else MOST_LANES
        lanes = max(BATCH_LANES, min(lanes, BATCH_REGISTERS // max(self.program.live_registers, 1)))
        size = min(lanes // (launch.warps_per_cta * WARP), total, resident, most)
        return max(size // cluster, 1) * cluster, resident

    def _rounds(
        self,
        progress: Progress | None,
        sharing: Sharing | None = None,
        ended: Callable[[CtaBatch], None] | None = None,
    ) -> Generator[bool]:
        launch, grid = self.launch, self.launch.grid
        total, cluster = launch.shape.ctas, launch.cluster
        size, resident = self._batch()
        seed, waited = self._seed_of_batches(), 0
        running = self.resident
        while grid.unstarted or running:
            moved = finished = False
            for one in list(running):
                status = one.run(self.quantum)
                moved |= status is not Status.BLOCKED
                if status is Status.DONE:
                    finished = True
                    running.remove(one)
                    launch.counts.ctas += len(one.batch.ctas)
                    if ended is not None:
                        ended(one.batch)
                    elif self.recorder is one.batch.trace is launch.company is None:
                        one.batch.dissolve()
                    if progress is not None:
                        progress(launch.counts.ctas, total)
            if sharing is not None and sharing.due():
                if running:
                    yield False
                    continue
                if grid.unstarted > 2 * size and not sharing.run(progress):
                    self.program.lasting[launch.shape] = False
                sharing = None
            room = resident - sum(one.batch.running for one in running) if grid.unstarted else 0
            if seed is not None:
                waited = waited + 1 if running else 0
                if waited == LONG and ended is not None:
                    raise TimeIsUp  # on one core others begin now
                room = 0 if 0 < waited < LONG else room
                if room:
                    launch.random = np.random.default_rng((seed, grid.started))
            wanted = min(size, grid.unstarted)
            stalled = False
            if room >= wanted > 0 or (room >= cluster and launch.watching):
                ctas = grid.start(min(wanted, room // cluster * cluster))
                running.append(Scheduler(launch, ctas, self.program.code, self.execute, self.recorder))
            elif running and not moved:
                raise deadlock(running)
            else:
                stalled = bool(running) and not finished
            launch.watching = stalled
            yield stalled

    def begin(self, company: Company | None = None) -> None:
        """Everything before the launch is ordered before it; races are sought in what it may store to.

        Args:
            company: the launches that run at the same time; None for a launch that runs alone.
        """
        launch = self.launch
        if company is not None:
            company.enter(launch)
        elif launch.events.start(self.programmatic, self.program.launches_dependents):
            launch.memory.forget_histories()
        for allocation in self.pointed_to() if self.follows_reads else self.stored_to():
            launch.seek_races(allocation)

    def pointed_to(self) -> list[Allocation]:
        """The allocations whose addresses its parameters have, wherever in them."""
        program, launch = self.program, self.launch
        if not launch.sanitize or "global" not in program.smallest:
            return []
        data = launch.parameters.data.tobytes()
        words = np.frombuffer(data[: len(data) // 8 * 8], np.uint64)
        found = [(int(word), launch.memory.find(int(word))) for word in words[words != 0]]
        return [one for word, one in found if one is not None and one.live and word < one.end]

    def stored_to(self) -> list[Allocation]:
        """The allocations whose addresses its parameters have, as far as it may store to them and races are
        sought."""
        program, launch = self.program, self.launch
        if not launch.sanitize or "global" not in program.smallest:
            return []
        found = []
        for name in program.stored_through:
            at = program.offsets[name]
            pointer = int.from_bytes(launch.parameters.data[at : at + 8].tobytes(), "little")
            allocation = launch.memory.find(pointer)
            if allocation is not None and allocation.live and pointer < allocation.end:
                found.append(allocation)
        return found
