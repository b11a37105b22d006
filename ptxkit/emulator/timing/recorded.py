"""What was recorded of some CTAs of a launch: data that a simulation replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from math import prod

from ptxkit.emulator.code import Code, CodeBlock
from ptxkit.emulator.faults import Site

Phase = tuple[int, int, int]
"""A phase of an mbarrier: the number of its batch, its slot there, its number among all phases of those that
were there one after another."""


EVEN = 0.9
"""CTAs of whose passages the fewest are not below this part of the most do the same."""


@dataclass(slots=True, eq=False)
class RecordedOperation:
    """The part of an asynchronous operation that a warp, or a warpgroup, issued.

    Attributes:
        site: its instruction.
        rows: the warps that issue it: one, or the four of a warpgroup together.
        read, written: bytes of global memory; of bulk copies in whole sectors.
        pieces: stretches of global memory that it reads and writes.
        asked: bytes of the sectors that it asks L2 for: of copies by threads past L1 one for each sector that
            they write to, and for each that L1 lacks of those through it.
        lines: of copies by threads, the requests that their warps send to L2.
        shared: bytes of shared memory that it reads and writes.
        waves: the wavefronts that these take, of copies by threads through L1: others it does not see.
        multiply_adds: of the tensor cores.
        owner: the address of the allocation that it reads.
        completes: the phases of mbarriers to which its completion contributes.
        after: what must be over before it is.
    """

    site: Site
    rows: tuple[int, ...] = ()
    read: int = 0
    written: int = 0
    pieces: int = 0
    asked: float = 0.0
    lines: float = 0.0
    shared: int = 0
    waves: float = 0.0
    multiply_adds: int = 0
    owner: int = 0
    completes: list[Phase] = field(default_factory=list)
    after: list[RecordedOperation] = field(default_factory=list)

    def spread(self, size: float) -> None:
        """Its sectors go to more sectors of shared memory, of so many bytes: each asks for its own."""
        more = max(size / self.asked, 1.0) if self.asked else 1.0
        self.asked *= more
        self.lines *= more


@dataclass(frozen=True, slots=True)
class Touched:
    """What some CTAs touched of an allocation.

    Attributes:
        bytes: each counted once.
        late: those of them that CTAs were the first to touch which stand for all that did not run.
        latecomers: how many these are.
        size: of the allocation.
        requested: what they asked L2 for, each time.
        again: by how many bytes were touched since, to a power of two, the bytes that L1 no longer had.
        returned: of these what came back by loads to the CTA that had been the first to touch it.
        common: of `requested` what all CTAs touch.
        changed: sectors that all CTAs change by atomic operations.
        brought: bytes that DRAM delivers for each that was touched: it delivers two sectors at once.
    """

    bytes: int
    late: int
    latecomers: int
    size: int
    requested: float = 0.0
    again: Counter[int] = field(default_factory=Counter)
    returned: Counter[int] = field(default_factory=Counter)
    common: float = 0.0
    changed: int = 0
    brought: float = 1.0

    def of_all(self, sampled: int, total: int, part: float = 1.0) -> float:
        """The bytes that all CTAs touch: each of the others as many new ones as the latecomers.
        `part`: of what the CTAs do, how much was seen."""
        if sampled < 2:
            return min(self.size, self.bytes * total / max(sampled, 1) / part)
        each = self.late / max(self.latecomers, 1)
        return min(self.size, (self.bytes + each * (total - sampled)) / part)


@dataclass(slots=True)
class AccessCost:
    """What an instruction's accesses cost, on the average of the warps that execute it together.

    Attributes:
        shared: wavefronts of shared memory.
        wide8, wide16: those of a load of 8 or 16 bytes a lane that has these words; 0 of wider ones.
        again: how often a word of shared memory is changed by a warp's atomics after another of its lanes.
        apart: wavefronts of shared memory that atomics would take if no words were the same.
        requests, lines, sectors: of global memory; a line has 128 bytes; of atomics a sector for each turn.
        waves: wavefronts of L1 that these take.
        missed: sectors that the CTA had not touched before.
        returned: sectors that the CTA itself had been the first to touch, and L1 has lost since.
        between: of these the bytes that were touched since, summed up.
        common: of the others that it missed those that all CTAs touch.
        owner: the address of the allocation that has most of these sectors.
        sent: lines of which some sectors are sent to L2.
        partial: sectors by which what is written would be fewer if they were filled.
        constants: different addresses of constants.
    """

    shared: float = 0.0
    wide8: float = 0.0
    wide16: float = 0.0
    again: float = 0.0
    apart: float = 0.0
    requests: float = 0.0
    lines: float = 0.0
    waves: float = 0.0
    sectors: float = 0.0
    missed: float = 0.0
    sent: float = 0.0
    returned: float = 0.0
    between: float = 0.0
    common: float = 0.0
    owner: int = 0
    partial: float = 0.0
    constants: float = 0.0

    def share(self, warps: int) -> None:
        """Make what so many warps cost together what each of them costs."""
        for one in fields(self):
            if one.type == "float":
                setattr(self, one.name, getattr(self, one.name) / warps)


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


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of a warp in a loop that was left before its end, as all that are left are alike.

    Attributes:
        first, last: how many passages through blocks the warp had behind it when some round began, and when
            the last one that is known began.
        count: rounds between these.
        left: how many more begin, or end the loop.
    """

    first: int
    last: int
    count: int
    left: int

    @property
    def passages(self) -> float:
        """How many passages are left."""
        return self.left * (self.last - self.first) / self.count


@dataclass(slots=True)
class CtaStream:
    """What a CTA did.

    Attributes:
        number: of the CTA, by `Ctas`.
        warps: for each of its warps the passages through blocks, each with the warp's row in its batch.
        rounds: of the rows that have rounds left which are like those before them.
    """

    number: int
    warps: list[tuple[int, list[BlockRun]]] = field(default_factory=list)
    rounds: dict[int, Rounds] = field(default_factory=dict)

    @property
    def passages(self) -> float:
        """Passages of its warps, with those that are left."""
        left = sum(one.passages for one in self.rounds.values())
        return sum(len(runs) for _, runs in self.warps) + left

    @property
    def part(self) -> float:
        """The part of its passages that was recorded."""
        return sum(len(runs) for _, runs in self.warps) / max(self.passages, 1)


@dataclass(slots=True)
class LaunchStreams:
    """What some CTAs of a launch did.

    Attributes:
        name: the entry.
        grid: its extents.
        cluster: CTAs of a cluster.
        threads: of a CTA.
        shared: bytes of shared memory of a CTA.
        ctas: those that ran, in the order of their start.
        alone: whether all CTAs of the grid run at once.
        signals: whether CTAs say that grids which depend on theirs may begin.
        ends: whether the first and the last of these clusters are those of the grid, and stand for no others.
        contributions: how many each phase of an mbarrier took.
        read, written: by the address of an allocation what these CTAs read and wrote of it.
    """

    name: str
    grid: tuple[int, ...]
    cluster: int
    threads: int
    shared: int
    ctas: list[CtaStream] = field(default_factory=list)
    alone: bool = False
    signals: bool = False
    ends: bool = False
    contributions: dict[Phase, int] = field(default_factory=dict)
    read: dict[int, Touched] = field(default_factory=dict)
    written: dict[int, Touched] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """CTAs of the grid."""
        return prod(self.grid)

    @property
    def part(self) -> float:
        """The part of what these CTAs do that was recorded."""
        return sum(one.part for one in self.ctas) / len(self.ctas) if self.ctas else 1.0

    @property
    def inside(self) -> list[CtaStream]:
        """The CTAs that stand for those that did not run."""
        size = max(self.cluster, 1)
        return self.ctas[size:-size] if self.ends and len(self.ctas) > 2 * size else self.ctas

    @property
    def times(self) -> float:
        """How often all CTAs do what was recorded."""
        inside = self.inside
        alone = len(self.ctas) - len(inside)
        done = sum(one.passages for one in inside)
        every = sum(one.passages for one in self.ctas) - done
        every += done / max(len(inside), 1) * (self.total - alone)
        recorded = sum(len(runs) for one in self.ctas for _, runs in one.warps)
        return every / max(recorded, 1)

    @property
    def recorded(self) -> int:
        """Clusters that were recorded."""
        return len(self.ctas) // max(self.cluster, 1)

    @property
    def uneven(self) -> bool:
        """Whether some CTAs do clearly less than others."""
        done = [one.passages for one in self.ctas]
        return bool(done) and min(done) < EVEN * max(done)

    def clusters(self, count: int) -> Iterator[list[CtaStream]]:
        """So many clusters: those that were recorded, over and over, or of more the one that does most and
        some that do less."""
        size = max(self.cluster, 1)
        found = [self.ctas[at : at + size] for at in range(0, len(self.ctas) - size + 1, size)]
        if count < len(found):
            found.sort(key=lambda one: -sum(cta.passages for cta in one))
            found = [found[at * len(found) // count] for at in range(count)]
        return (found[number % len(found)] for number in range(count))
