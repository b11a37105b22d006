"""What a simulation moves: multiprocessors, CTAs, warps, and what they wait for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ptxkit.emulator.code import Code
from ptxkit.emulator.faults import Site
from ptxkit.emulator.timing.blocks import BlockStep, Plans
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.recorded import BlockRun, RecordedOperation, Rounds

Waited = tuple[str, Site | None]
"""What a warp waited for, and at which instruction."""


@dataclass(slots=True, eq=False)
class Moment:
    """Something that becomes true at a time: a phase, a barrier, the end of an operation.

    Attributes:
        left: contributions that are not known yet.
        time: of the latest one that is.
        read: of an operation's end, when it has read what it reads.
        then: what to call with the time once all are.
    """

    left: int
    time: float = 0.0
    read: float = 0.0
    then: list[Callable[[float], None]] = field(default_factory=list)

    @staticmethod
    def of_all(others: Iterable[Moment], time: float = 0.0, read: bool = False) -> Moment:
        """When others have all come, not before a time. `read`: of those that have, when they had read."""
        others = list(others)
        waiting = [one for one in others if one.left > 0]
        found = Moment(
            len(waiting), max([time, *((one.read if read else one.time) for one in others if one.left <= 0)])
        )
        for one in waiting:
            one.when(found.contribute)
        return found

    def contribute(self, time: float) -> None:
        """One of the contributions comes at a time."""
        self.time = max(self.time, time)
        self.left -= 1
        if self.left == 0:
            waiting, self.then = self.then, []
            for each in waiting:
                each(self.time)

    def when(self, call: Callable[[float], None]) -> None:
        """Call with the time, now or once it is known."""
        if self.left <= 0:
            call(self.time)
        else:
            self.then.append(call)


class Multiprocessor:
    """The resources of one: until when each is busy, and for how long it has been."""

    def __init__(self, gpu: Gpu, number: int) -> None:
        self.number = number
        self.issue = [0.0] * int(gpu["schedulers"])
        self.pipes: list[dict[str, float]] = [{} for _ in self.issue]
        self.shared = self.constants = self.tensor = self.copies = self.l2 = self.dram = 0.0
        self.atomics = 0.0  # on words that others change, too
        self.maps: set[Site] = set()
        self.load = self.seen = 0.0  # of DRAM lately, and until when that is known
        self.busy: dict[str, float] = defaultdict(float)
        self.warps = 0
        self.warm = False  # a CTA has been here: L1 has what all of them touch
        self.spilled = 0.0  # bytes of local memory that DRAM delivered and took

    @property
    def times(self) -> dict[str, float]:
        """For how many cycles each was busy; what each scheduler has, on the average of these."""
        each = len(self.issue)
        return {
            name: cycles / each if name.startswith(("issue", "pipe ")) else cycles
            for name, cycles in self.busy.items()
        }


@dataclass(slots=True, eq=False)
class Cluster:
    """CTAs that share phases of mbarriers and operations.

    Attributes:
        phases, operations: by what the recording calls them.
        contributions: how many each phase takes.
        warps: that have not ended.
        started: warps that have issued their part of each operation.
        barrier: when the phase at hand of the cluster's barrier is over.
    """

    contributions: dict[tuple[int, int, int], int]
    warps: int
    phases: dict[tuple[int, int, int], Moment] = field(default_factory=dict)
    operations: dict[int, Moment] = field(default_factory=dict)
    started: Counter[int] = field(default_factory=Counter)
    barrier: Moment | None = None

    def phase(self, key: tuple[int, int, int]) -> Moment:
        """When a phase is over; nothing contributes to the one before the first."""
        found = self.phases.get(key)
        if found is None:
            found = self.phases[key] = Moment(self.contributions.get(key, 0))
        return found

    def operation(self, one: RecordedOperation) -> Moment:
        """When an operation is over."""
        found = self.operations.get(id(one))
        if found is None:
            found = self.operations[id(one)] = Moment(1)
        return found


@dataclass(slots=True, eq=False)
class Cta:
    """A CTA that runs.

    Attributes:
        place: its multiprocessor.
        cluster: of it.
        running: warps that have not ended.
        over: when it has ended.
        barriers: by number when the phase at hand is over.
        everyone: the numbers of those that take all warps.
        peer: the other CTA of its pair.
    """

    place: Multiprocessor
    cluster: Cluster
    running: int
    over: Moment
    barriers: dict[int, Moment] = field(default_factory=dict)
    everyone: set[int] = field(default_factory=set)
    peer: Cta | None = None


class Dispatcher:
    """Deals CTAs out to a multiprocessor.

    All begin at once and take turns; later others leave theirs to one of which several CTAs end together.

    Args:
        each: cycles from one of its turns to the next.
        saved: turns that it has at most.
    """

    def __init__(self, each: float, saved: int) -> None:
        self.each, self.saved, self._last = each, saved, 0.0

    def start(self, now: float) -> float:
        """When a CTA starts that could at a time."""
        self._last = max(self._last, now - self.saved * self.each) + self.each
        return max(now, self._last)


class Warp:
    """A warp that runs."""

    __slots__ = (
        "began",
        "cluster_phase",
        "cta",
        "first",
        "groups",
        "now",
        "number",
        "open",
        "plan",
        "ready",
        "rounds",
        "row",
        "run",
        "runs",
        "scheduler",
        "since",
        "step",
        "then",
    )

    def __init__(
        self,
        cta: Cta,
        row: int,
        runs: Sequence[BlockRun],
        number: int,
        now: float,
        rounds: Rounds | None = None,
    ) -> None:
        self.cta, self.row, self.runs, self.number, self.now = cta, row, runs, number, now
        self.rounds, self.since, self.then = rounds, 0.0, 0.0
        self.scheduler = number % len(cta.place.issue)
        self.run = self.step = self.first = 0
        self.plan: Sequence[BlockStep] = ()
        self.ready: dict[int, tuple[float, str, Site]] = {}
        self.began: dict[tuple[Code, int | None], float] = {}
        self.open: dict[str, list[Moment]] = {}
        self.groups: dict[str, list[list[Moment]]] = {}
        self.cluster_phase: Moment | None = None

    def mark(self, rounds: Rounds) -> None:
        """See when the rounds began that tell how long a round takes."""
        if self.run <= rounds.first:
            self.since = self.now
        if self.run <= rounds.last:
            self.then = self.now

    def until(self, rounds: Rounds) -> float:
        """When those are over, too, that were left out."""
        return self.then + rounds.left * (self.then - self.since) / rounds.count

    def go_on(self, plans: Plans) -> None:
        """Go on to the next block, or to several that the machine code has as one."""
        first = self.run
        self.plan, count = plans.of(self.runs, first)
        self.began[plans.stretch(self.runs[first])] = self.now
        self.first, self.run, self.step = first, first + count, 0


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of the timeline.

    Attributes:
        place: the multiprocessor.
        track: who: `warp 3`, `tensor cores`, `copies`.
        what: what it did or waited for.
        site: the instruction.
        start, end: in cycles.
    """

    place: int
    track: str
    what: str
    site: Site | None
    start: float
    end: float


@dataclass(slots=True)
class Simulated:
    """What came of it.

    Attributes:
        cycles: from the first CTA's start to the last one's end.
        starts, ends: when each cluster started, and when they ended.
        lasted: from when each could start until it ended, in the order of their ends.
        busy: cycles that the resources of the first multiprocessor were busy, by name; of four schedulers
            their mean.
        waits: cycles that warps waited, by what for and at which instruction.
        lived: cycles that warps were there, in all.
        timeline: what warps waited for and when operations were in flight, if somebody wants to know.
        spilled: bytes of local memory that DRAM delivers to the first multiprocessor, and takes.
    """

    cycles: float
    starts: list[float]
    ends: list[float]
    lasted: list[float]
    busy: dict[str, float]
    waits: dict[Waited, float]
    lived: float
    timeline: list[Slice]
    spilled: float = 0.0
