"""A launch at work: the queue of CTAs, the batches that run them, what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ptxkit.device.launch import Launch
from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.emulator import jit
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.code import Block
from ptxkit.emulator.cta_batch import CtaBatch, Status
from ptxkit.emulator.deadlock import Watch, deadlock, livelock
from ptxkit.emulator.events import Events
from ptxkit.emulator.faults import Dim3, Site, Thread, fault, finding
from ptxkit.emulator.memory import BASE, Allocation, Bank, GlobalMemory
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.origins import Origins
from ptxkit.emulator.traffic import Traffic
from ptxkit.emulator.values import WARP
from ptxkit.targets import Limits

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.image import Program
    from ptxkit.emulator.lane_set import LaneSet
    from ptxkit.emulator.tensor_copies.maps import MapFences
    from ptxkit.emulator.tensor_memory.allocation import Pool
    from ptxkit.emulator.trace import Recorder

BATCH_LANES = 16384
"""Threads of a batch, where there are as many: enough that the work outweighs its interpretation, few enough
that the registers in use stay in the cache."""
BATCH_BYTES = 256 << 20
"""Most bytes of shared and local memory of a batch, if it is not a single CTA."""
WORKSPACE = 256
"""Bytes that a cooperative launch has for its grid barrier."""
QUANTUM = 1 << 14
"""Blocks that a batch may run before another one has its turn."""

HEAP = 8 << 20
"""Bytes that device code may have from `malloc` at once: the driver's default."""

Progress = Callable[[int, int], None]
"""Called with the number of CTAs that have finished and that of all."""


@dataclass(slots=True)
class Counts:
    """What a launch did.

    Attributes:
        instructions: thread-instructions, those with a false guard included.
        loaded, stored: bytes by state space, each lane's own.
        barriers: barriers completed, one a CTA; those of clusters one a cluster.
        phases: phases of mbarriers completed.
        executed: how many threads have run each block; `by_chapter` makes counts of it.
        asynchronous: operations queued, by `Site.name`: one a thread and destination, of `wgmma` one a
            warpgroup.
        tensor_columns: most columns of tensor memory that a CTA had at once.
        shared_bytes: shared memory of a CTA, static and dynamic.
        ctas: CTAs finished.
        traffic: what accesses cost the memory system; None where nobody asked.
    """

    instructions: int = 0
    loaded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    executed: dict[Block, int] = field(default_factory=dict, compare=False, repr=False)
    barriers: int = 0
    phases: int = 0
    asynchronous: dict[str, int] = field(default_factory=dict)
    tensor_columns: int = 0
    shared_bytes: int = 0
    ctas: int = 0
    traffic: Traffic | None = None

    def load(self, space: str, size: int) -> None:
        """Count bytes that lanes loaded."""
        self.loaded[space] = self.loaded.get(space, 0) + size

    def store(self, space: str, size: int) -> None:
        """Count bytes that lanes stored."""
        self.stored[space] = self.stored.get(space, 0) + size

    @property
    def by_chapter(self) -> dict[str, int]:
        """Thread-instructions by the chapter of `ptxkit.isa` that they belong to."""
        found: dict[str, int] = {}
        for block, lanes in self.executed.items():
            for site in block.sites:
                found[site.row.chapter] = found.get(site.row.chapter, 0) + lanes
        return found

    def issue(self, operation: str, count: int) -> None:
        """Count asynchronous operations."""
        self.asynchronous[operation] = self.asynchronous.get(operation, 0) + count


def resident_ctas(limits: Limits, threads: int, shared: int) -> int:
    """How many CTAs of so many threads and bytes of shared memory a device holds at once."""
    by_threads = limits.threads_per_sm // (-(-threads // WARP) * WARP)
    shared += limits.shared_reserved
    by_shared = limits.shared_per_sm // shared if shared else limits.ctas_per_sm
    return (limits.sm_count or 1) * max(1, min(limits.ctas_per_sm, by_threads, by_shared))


def in_clusters(grid: Dim3, cluster: Dim3) -> np.ndarray:
    """The numbers of a grid's CTAs, x fastest: cluster by cluster, and in each cluster by rank."""
    if prod(cluster) == 1:
        return np.arange(prod(grid))
    (gx, gy, gz), (cx, cy, cz) = grid, cluster
    numbers = np.arange(prod(grid)).reshape(gz // cz, cz, gy // cy, cy, gx // cx, cx)
    return numbers.transpose(0, 2, 4, 1, 3, 5).reshape(-1)


class Execution:
    """One launch.

    Attributes:
        program: the entry.
        code: its code.
        launch: dimensions.
        parameters: the bank of kernel parameters.
        memory: global memory.
        limits: of the device.
        sanitize: whether undefined bits are tracked.
        programmatic: whether it may begin before the launch ahead of it has ended.
        strict: whether to warn of what kernels in practice leave out, too.
        traffic: whether to count what accesses cost the memory system.
        number: of the launch on its device.
        events: the numbers of accesses that may race, and of what orders them.
        timing: when asynchronous work happens: `lazy`, `eager` or `random`.
        random: decides what the rules leave open, in random order; else None.
        cluster: CTAs of a cluster.
        sequence: the numbers of the CTAs in the order of their start, those of a cluster by rank.
        output: takes what kernels print.
        counts: what it did so far.
        workspace: the address of the workspace of a cooperative launch, else 0.
        clock: time as kernels see it, in steps.
        elect_from: the lane from which on `elect.sync` seeks a leader: 0, unless strict and in random order.
        started: CTAs that have started or been cancelled.
        watching: whether it matters if anything changes: the last round ended no batch.
        changes: stores that changed something since.
        tensor_pools: the columns of tensor memory of each SM that has given any.
        recorder: takes down what happens; None unless somebody sets it before the launch runs.
        execute: runs the instructions of a block for a lane set: the seam between numpy and the `jit` extra.
    """

    def __init__(
        self,
        program: Program,
        launch: Launch,
        parameters: bytes,
        memory: GlobalMemory,
        limits: Limits,
        origins: Origins,
        sanitize: bool,
        number: int,
        events: Events,
        timing: str,
        random: np.random.Generator | None,
        findings: list[Diagnostic],
        output: Callable[[str], None],
        compiled: bool = False,
        programmatic: bool = False,
        strict: bool = False,
        traffic: bool = False,
    ) -> None:
        self.program = program
        self.code = program.code
        self.launch: Launch = launch
        self.grid, self.block = launch.grid, launch.block
        self.threads = launch.threads
        self.warps = -(-launch.threads // WARP)
        self.cluster = prod(launch.cluster)
        self.sequence = in_clusters(launch.grid, launch.cluster)
        padded = np.zeros(-(-len(parameters) // 32) * 32 + 32, np.uint8)
        padded[: len(parameters)] = np.frombuffer(parameters, np.uint8)
        self.parameters = Bank(padded)
        self.parameter_size = len(parameters)
        self.memory = memory
        self.limits: Limits = limits
        self.sm_count: int = limits.sm_count or 1
        self.origins = origins
        self.sanitize = sanitize
        self.number: int = number
        self.counts = Counts(traffic=Traffic() if traffic else None)
        self.events = events
        self.timing = timing
        self.programmatic, self.strict = programmatic, strict
        self.map_fences: MapFences | None = None
        self.random = random
        self._findings = findings
        self._warned: set[tuple[str, int]] = set()
        self.output = output
        self.clock = 0
        self.workspace: int = 0
        lane = int(random.integers(WARP)) if random is not None else 0  # a seed's order is the same if strict
        self.elect_from: int = lane if strict else 0
        self.started = 0
        self.watching = False
        self.changes = 0
        self.tensor_pools: dict[int, Pool] = {}
        self.recorder: Recorder | None = None
        self.execute: Callable[[Block, LaneSet], None] = jit.run if compiled else Block.run
        self.shared_start: int = program.shared_start - program.reserved
        self.shared_dynamic: int = launch.shared
        self.shared_used: int = program.dynamic_start - program.shared_start + launch.shared
        if not launch.shared and not program.has_dynamic:
            self.shared_used = program.shared_static
        self.shared_total: int = self.shared_used + program.reserved
        self.counts.shared_bytes = self.shared_used

    # ---- running

    def run(self, progress: Progress | None = None) -> None:
        """Run every CTA to its end.

        Raises:
            EmulatorFault: the first error finding.
        """
        self._begin()
        if not self.launch.cooperative:
            self._run(progress)
            return
        workspace = self.memory.allocate(WORKSPACE, "workspace of the cooperative launch")
        self.workspace = workspace.address
        try:
            self._run(progress)
        finally:
            self.memory.free(workspace, "the launch has ended")

    def _run(self, progress: Progress | None) -> None:
        total = self.launch.ctas
        whole = self.cluster
        resident = total if self.launch.cooperative else max(self.resident_ctas() // whole, 1) * whole
        most = BATCH_BYTES // (self.shared_total + self.threads * self.code.frame + 1)
        size = min(BATCH_LANES // (self.warps * WARP), total, resident, most)
        size = max(size // whole, 1) * whole
        batches: list[CtaBatch] = []
        watch = Watch()
        with np.errstate(all="ignore"):
            while self.started < total or batches:
                moved = finished = False
                for batch in list(batches):
                    status = batch.run(QUANTUM)
                    moved |= status is not Status.BLOCKED
                    if status is Status.DONE:
                        finished = True
                        batches.remove(batch)
                        self.counts.ctas += len(batch.ctas)
                        if progress is not None:
                            progress(self.counts.ctas, total)
                room = resident - sum(batch.running for batch in batches) if self.started < total else 0
                wanted = min(size, total - self.started)
                if room >= wanted > 0 or (room >= whole and self.watching):
                    count = min(wanted, room // whole * whole)
                    first, self.started = self.started, self.started + count
                    batches.append(CtaBatch(self, self.sequence[first : first + count]))
                    self.watching = False
                elif batches and not moved:
                    raise deadlock(batches)
                elif batches and not finished:
                    if self.watching and watch.stuck(self, batches):
                        raise livelock(batches, total - self.started)
                    self.watching = True
                else:
                    self.watching = False

    def cancel(self) -> tuple[int, int, int, int]:
        """Take the next cluster that has not started out of the queue, for a CTA that runs.

        Returns:
            The coordinates of its first CTA, and 1; zeros where there is none left.
        """
        if self.started >= self.launch.ctas:
            return 0, 0, 0, 0
        x, y, _ = self.grid
        first = int(self.sequence[self.started])
        self.started += self.cluster
        self.counts.ctas += self.cluster
        return first % x, first // x % y, first // (x * y), 1

    def seek_races(self, allocation: Allocation) -> AccessHistory:
        """Enter accesses to an allocation from now on."""
        granule = self.program.smallest["global"]
        if allocation.history is None or allocation.history.granule > granule:
            allocation.history = AccessHistory(allocation.size, granule, allocation.address - BASE)
        return allocation.history

    def _begin(self) -> None:
        """Everything before the launch is ordered before it; races are sought in what it may store to."""
        if self.events.start(self.programmatic):
            self.memory.forget_histories()
        if not self.sanitize or "global" not in self.program.smallest:
            return
        for name in self.program.stored_through:
            at = self.program.offsets[name]
            pointer = int.from_bytes(self.parameters.data[at : at + 8].tobytes(), "little")
            allocation = self.memory.find(pointer)
            if allocation is not None and allocation.live and pointer < allocation.end:
                self.seek_races(allocation)

    def resident_ctas(self) -> int:
        """How many CTAs the device holds at once."""
        return resident_ctas(self.limits, self.launch.threads, self.shared_used)

    def thread(self, cta: int, number: int) -> Thread:
        """The thread of a CTA, by the number of each: in the grid, and in the CTA."""
        (gx, gy, _), (bx, by, _) = self.grid, self.block
        coordinates = (cta % gx, cta // gx % gy, cta // (gx * gy))
        return Thread(coordinates, (number % bx, number // bx % by, number // (bx * by)))

    # ---- what the system does for kernels

    def allocate_heap(self, size: int, thread: str) -> Allocation | None:
        """Memory that device code asks for; None where the heap is used up."""
        if self.memory.heap_used + size > HEAP:
            return None
        found = self.memory.allocate(size, f"heap memory of {thread}", heap=True)
        if self.sanitize:
            self.memory.forget(found)
        return found

    # ---- findings

    def warn(
        self,
        code: str,
        message: str,
        site: Site,
        notes: Sequence[str] = (),
        help: str | None = None,
        labels: Sequence[Label] = (),
    ) -> None:
        """Add a warning to the device's findings, once for each instruction."""
        if (code, id(site)) not in self._warned:
            self._warned.add((code, id(site)))
            self._findings.append(finding(code, message, site, notes, help, labels, Severity.WARNING))

    def undefined_decides(self, lane_set: LaneSet, mask: Any, origin: int, site: Site, what: str) -> NoReturn:
        """Something undefined decides what the machine does."""
        number = self.origins.root(origin, self.program, site)
        lanes = lanes_of(lane_set, None, mask.shape)
        some = mask != 0 if lanes is None else (mask != 0) & lanes
        thread = lane_set.thread(*lane_set.first(some))
        notes, labels = self.origins.describe(number)
        raise fault(
            "P605",
            f"undefined: {what} hangs on bits that nobody wrote",
            site,
            (f"{thread}", *notes),
            labels=[label for label in labels if label.span != site.span],
        )

    def discard(self, access: Access, size: int) -> None:
        """Make bytes of global memory undefined."""
        if not self.sanitize:
            return
        index, _, active = access.spread((np.uint8(0),))
        starts = np.atleast_1d(np.asarray(index))
        shadow = self.memory.shadow
        assert shadow is not None
        for start in np.unique(starts if active is None else starts[active]):
            shadow[start : start + size] = 0xFF
            owner = self.memory.find(int(start) + BASE)
            if owner is not None:
                owner.undefined = True
