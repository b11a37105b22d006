"""Work of streams that touches the same bytes while nothing orders it: STREAM-RACE.

Each operation leaves what it has read and written. It is held against what others have that happen neither
before nor after it, until the host has waited for them. Atomic and other strong accesses of both do not race.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptxkit.diagnostics import Diagnostic, counted
from ptxkit.emulator.access_history import STRONG, AccessHistory
from ptxkit.emulator.faults import Site, finding, label_at
from ptxkit.emulator.global_memory import Allocation, GlobalMemory
from ptxkit.virtual.calling import HostStack
from ptxkit.virtual.gpu.stream_order import OrderedOperation, StreamOrder

CODE = "P6155"
MOST = 4096
"""Operations that are held against others, the last ones."""
HELP = (
    "record an event behind the first (`cuEventRecord`) and let the other's stream wait for it "
    "(`cuStreamWaitEvent`), or put both into one stream"
)


@dataclass(frozen=True, slots=True, eq=False)
class TouchedBytes:
    """Bytes of an allocation that an operation has read or written.

    Attributes:
        allocation: whose.
        starts, ends: of stretches in order, int64: addresses.
        write: whether they were written.
        strong: of each stretch, whether it was touched by a strong access.
        numbers: of each stretch the event of the launch.
        sites: the instruction behind each event from `first` on; none for what is no kernel.
    """

    allocation: Allocation
    starts: np.ndarray
    ends: np.ndarray
    write: bool
    strong: np.ndarray | None = None
    numbers: np.ndarray | None = None
    sites: list[Site | None] | None = None
    first: int = 0

    def site(self, at: int) -> Site | None:
        """The instruction that touched a stretch."""
        if self.numbers is None or self.sites is None:
            return None
        place = int(self.numbers[at]) - self.first + 1
        return self.sites[place] if 0 < place < len(self.sites) else None


@dataclass(frozen=True, slots=True, eq=False)
class FinishedWork:
    """An operation that has happened.

    Attributes:
        place: in the order of all.
        name: for findings: `` `scale`, launch 3 ``.
        stream: that of its stream.
        stack: where the host queued it.
        touched: its bytes.
    """

    place: OrderedOperation
    name: str
    stream: str
    stack: HostStack
    touched: list[TouchedBytes]

    @property
    def what(self) -> str:
        """The name without the number of the launch."""
        return self.name.partition(", launch ")[0]


def lines(
    memory: GlobalMemory, address: int, length: int, write: bool, count: int = 1, pitch: int = 0
) -> list[TouchedBytes]:
    """`count` lines of bytes that a copy or a fill touches; none where they are nobody's."""
    owner = memory.find(address)
    if owner is None or not length or not count:
        return []
    starts = address + pitch * np.arange(count, dtype=np.int64)
    return [TouchedBytes(owner, starts, starts + length, write)]


def touched_by_launch(memory: GlobalMemory) -> Iterator[TouchedBytes]:
    """What the launch that has just ended has touched, of the allocations that races are sought in."""
    events = memory.events
    for allocation in memory.allocations():
        if allocation.live and allocation.history is not None:
            for kind, write in (("write", True), ("last read", False)):
                if allocation.history.has(kind):
                    found = _stretches(allocation, allocation.history, kind, events.first)
                    if found is not None:
                        starts, ends, keys = found
                        strong = (keys & STRONG) == STRONG
                        numbers = (keys >> 2) + allocation.history.base
                        yield TouchedBytes(
                            allocation, starts, ends, write, strong, numbers, events.sites, events.first
                        )


def _stretches(
    allocation: Allocation, history: AccessHistory, kind: str, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Stretches of granules with records of one event and strength, from event `first` on: where they begin
    and end, and those; None for none."""
    count = -(-allocation.size // history.granule)
    records = history.records_since(kind, history.limit(first), count)
    keys = (records >> records.dtype.type(history.strength_at)).astype(np.int64)
    changes = np.flatnonzero(np.diff(keys, prepend=0, append=0))
    begin, end = changes[:-1], changes[1:]
    some = keys[begin] != 0 if len(begin) else np.zeros(0, bool)
    if not some.any():
        return None
    begin, end = begin[some], end[some]
    ends = np.minimum(end * history.granule, allocation.size)
    return allocation.address + begin * history.granule, allocation.address + ends, keys[begin]


class StreamRaces:
    """What has happened and may race with what is still to come."""

    def __init__(self, order: StreamOrder) -> None:
        self._order = order
        self._kept: list[FinishedWork] = []
        self._told: set[tuple[object, ...]] = set()

    def add(self, work: FinishedWork, oldest: OrderedOperation | None) -> Iterator[Diagnostic]:
        """Hold an operation against those that nothing orders it with; the races.

        Args:
            work: the operation.
            oldest: the one that was queued first of those that have not happened: it, and what was queued
                after it, may still race with what the host has waited for since.
        """
        self._kept = [
            one
            for one in self._kept[-MOST:]
            if not self._order.is_seen(one.place) or not (oldest is None or one.place.is_before(oldest))
        ]
        for other in self._kept:
            if not other.place.is_before(work.place) and not work.place.is_before(other.place):
                race = self._race(other, work)
                if race is not None:
                    yield race
        self._kept.append(work)

    def _race(self, first: FinishedWork, second: FinishedWork) -> Diagnostic | None:
        """What two operations race for, told once of the same instructions and calls."""
        for mine in second.touched:
            for theirs in first.touched:
                if mine.allocation is not theirs.allocation or not (mine.write or theirs.write):
                    continue
                pair = _overlap(theirs, mine)
                if pair is None:
                    continue
                there, here = pair
                parties = (
                    (work.what, work.stack.frames, one.write, id(one.site(at)))
                    for work, one, at in ((first, theirs, there), (second, mine, here))
                )
                key = tuple(sorted(parties))
                if key not in self._told:
                    self._told.add(key)
                    return _told(first, second, theirs, mine, there, here)
                return None
        return None


def _overlap(theirs: TouchedBytes, mine: TouchedBytes) -> tuple[int, int] | None:
    """The first stretches of both that share bytes and are not both strong."""
    if not len(theirs.starts) or not len(mine.starts):
        return None
    at = np.searchsorted(theirs.ends, mine.starts, side="right")
    inside = at < len(theirs.starts)
    at = np.minimum(at, len(theirs.starts) - 1)
    meets = inside & (theirs.starts[at] < mine.ends)
    if mine.strong is not None and theirs.strong is not None:
        meets &= ~(mine.strong & theirs.strong[at])
    if not meets.any():
        return None
    which = int(np.argmax(meets))
    return int(at[which]), which


def _told(
    first: FinishedWork, second: FinishedWork, theirs: TouchedBytes, mine: TouchedBytes, there: int, here: int
) -> Diagnostic:
    start = max(int(theirs.starts[there]), int(mine.starts[here]))
    end = min(int(theirs.ends[there]), int(mine.ends[here]))
    does = [("writes" if one.write else "reads") for one in (mine, theirs)]
    message = (
        f"{second.name} {does[0]} {counted(end - start, 'byte')} at {start:#x} of global memory that "
        f"{first.name} {does[1]}, and nothing orders the two"
    )
    notes = [f"{work.name} is in {work.stream}" for work in (second, first)]
    notes.append(f"byte {start - mine.allocation.address} of {mine.allocation}")
    notes += [f"{first.name} was queued from {frame}" for frame in first.stack.frames[:2]]
    site, other = mine.site(here), theirs.site(there)
    if site is None:
        site, other = other, None
    label = label_at(other, f"what {first.name} {does[1]}", site)
    return finding(CODE, message, site, notes, HELP, label)
