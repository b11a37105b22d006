"""What each instruction of a launch did: how often, by how many lanes, what its accesses cost, who waited.

Time is not modelled. Waits are told in steps, as the axis of a trace has them: one for each instruction that
a group of warps executes together. A batch runs as a `Timeline` would have it, without the `jit` extra.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.code import CodeBlock
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import Blocked, LaneSchedule, LaneSet
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP, distinct

NAMED = 4
"""How many mbarriers a wait names; of more it says how many there are."""
_Key = tuple[Site, str]


@dataclass(slots=True)
class WaitCount:
    """Warps that could not go on.

    Attributes:
        times: how often one began to wait.
        steps: how many steps went by meanwhile, summed over the warps.
    """

    times: int = 0
    steps: int = 0


@dataclass(slots=True)
class SiteProfile:
    """What an instruction did.

    Attributes:
        warps: how often a warp executed it with at least one lane.
        threads: how often a lane did.
        loaded, stored: bytes by state space.
        traffic: what its accesses cost; see `Traffic.counts`.
        issued: asynchronous operations.
        multiply_adds: of the tensor cores.
        waits: by what a warp waited for; the key is empty where the instruction itself says it.
    """

    warps: int = 0
    threads: int = 0
    loaded: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    traffic: Counter[str] = field(default_factory=Counter)
    issued: int = 0
    multiply_adds: int = 0
    waits: dict[str, WaitCount] = field(default_factory=dict)

    def add(self, other: SiteProfile) -> None:
        """Take in what another instruction did, or this one in another launch."""
        self.warps += other.warps
        self.threads += other.threads
        self.loaded.update(other.loaded)
        self.stored.update(other.stored)
        self.traffic.update(other.traffic)
        self.issued += other.issued
        self.multiply_adds += other.multiply_adds
        for what, wait in other.waits.items():
            mine = self.waits.setdefault(what, WaitCount())
            mine.times += wait.times
            mine.steps += wait.steps

    @property
    def wait_steps(self) -> int:
        """Of all waits."""
        return sum(wait.steps for wait in self.waits.values())

    @property
    def wait_times(self) -> int:
        """Of all waits."""
        return sum(wait.times for wait in self.waits.values())


class Profiled(Protocol):
    """A launch that can be profiled; see `ptxkit.emulator.execution.Execution`."""

    recorder: Any

    @property
    def name(self) -> str: ...


class Profiler:
    """Profiles all launches of a device; set `Emulator.prepare` to its `begin`.

    Attributes:
        sites: what each instruction did that was executed.
        launches: the entry of each launch.
        now: the step that is being executed.
    """

    def __init__(self) -> None:
        self.sites: dict[Site, SiteProfile] = {}
        self.launches: list[str] = []
        self.now = 0

    def begin(self, execution: Profiled) -> None:
        """Profile a launch that is about to run."""
        self.launches.append(execution.name)
        execution.recorder = self

    def timeline(self, schedule: LaneSchedule) -> ProfiledBatch:
        """What profiles a batch."""
        return ProfiledBatch(self, schedule)

    def of(self, site: Site) -> SiteProfile:
        """What an instruction did so far."""
        found = self.sites.get(site)
        if found is None:
            found = self.sites[site] = SiteProfile()
        return found


class ProfiledBatch:
    """Profiles one batch.

    Attributes:
        profiler: where it is summed up.
        schedule: of the batch.
    """

    def __init__(self, profiler: Profiler, schedule: LaneSchedule) -> None:
        self.profiler = profiler
        self.schedule = schedule
        self.batch: CtaBatch = schedule.batch
        self._seen = profiler.now
        self._keys: list[_Key] = []
        self._numbers: dict[_Key, int] = {}
        self._waiting = np.full(self.batch.rows, -1)

    def run(self, block: CodeBlock, lane_set: LaneSet) -> None:
        """Run the instructions of a block one by one; see `CodeBlock.run`."""
        counts, tracked = self.batch.launch.counts, bool(lane_set.undefined)
        everywhere = _taking_part(lane_set, None)
        for site, guard, step, careful in zip(
            block.sites, block.guards, block.steps, block.tracked, strict=True
        ):
            warps, threads = everywhere
            if guard is not None:
                warps, threads = _taking_part(lane_set, guard.reader(lane_set))
            before = _Before(counts)
            tracked = bool((careful if tracked else step)(lane_set)) or tracked
            found = self.profiler.of(site)
            found.warps += warps
            found.threads += threads
            before.add_since(counts, found)
            self.profiler.now += 1

    def settle(self) -> None:
        """Look where every warp is: it waits where all its lanes that have not exited do."""
        self._account()
        batch, blocked = self.batch, self.schedule.blocked
        alive = np.count_nonzero(batch.alive, axis=1)
        held, at = np.zeros(batch.rows, np.int64), np.full(batch.rows, -1)
        for entry in blocked:
            lane_set = entry.lane_set
            rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
            lanes = batch.alive[rows] if lane_set.mask is None else lane_set.mask & batch.alive[rows]
            held[rows] += np.count_nonzero(lanes, axis=1)
            at[rows[lanes.any(axis=1)]] = self._number(entry)
        at[(held < alive) | (alive == 0)] = -1
        for number, count in zip(
            *np.unique(at[(at >= 0) & (at != self._waiting)], return_counts=True), strict=True
        ):
            self._wait(int(number)).times += int(count)
        self._waiting = at

    def end(self) -> None:
        """The batch has ended."""
        self._account()

    def _account(self) -> None:
        """The steps since the last look were waited through."""
        steps, self._seen = self.profiler.now - self._seen, self.profiler.now
        if steps:
            waiting = self._waiting[self._waiting >= 0]
            for number, count in zip(*np.unique(waiting, return_counts=True), strict=True):
                self._wait(int(number)).steps += int(count) * steps

    def _wait(self, number: int) -> WaitCount:
        site, what = self._keys[number]
        return self.profiler.of(site).waits.setdefault(what, WaitCount())

    def _number(self, entry: Blocked) -> int:
        """The number of what a lane set waits for."""
        site = entry.lane_set.code.blocks[entry.lane_set.pc].sites[0]
        what = self._mbarriers(entry.lane_set.result) if isinstance(entry.sync_point, PhaseSyncPoint) else ""
        key = site, what
        if key not in self._numbers:
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]

    def _mbarriers(self, slots: np.ndarray) -> str:
        """The mbarriers of some slots, by the variables in which they lie."""
        batch, launch = self.batch, self.batch.launch
        places = distinct(batch.mbarriers.place[distinct(slots)] % batch.shared.stride)
        if len(places) > NAMED:
            return f"{len(places)} mbarriers"
        variables = sorted((start, symbol.name) for symbol, start in launch.program.shared_variables.items())
        named = []
        for place in places.tolist():
            address = place + launch.shared.start
            below = [(start, name) for start, name in variables if start <= address]
            if not below:
                named.append(f"mbarrier {address:#x}")
                continue
            start, name = below[-1]
            named.append(f"`{name}`" + (f" + {address - start}" if address > start else ""))
        return ", ".join(named)


class _Before:
    """What a launch had counted before an instruction."""

    def __init__(self, counts: Counts) -> None:
        self.loaded, self.stored = dict(counts.loaded), dict(counts.stored)
        self.issued, self.multiply_adds = sum(counts.asynchronous.values()), counts.multiply_adds
        self.traffic = dict(counts.traffic.counts) if counts.traffic is not None else {}

    def add_since(self, counts: Counts, found: SiteProfile) -> None:
        """Add what has come since to what the instruction did."""
        for mine, now, before in (
            (found.loaded, counts.loaded, self.loaded),
            (found.stored, counts.stored, self.stored),
            (found.traffic, counts.traffic.counts if counts.traffic is not None else {}, self.traffic),
        ):
            for name, count in now.items():
                if count != before.get(name, 0):
                    mine[name] += count - before.get(name, 0)
        found.issued += sum(counts.asynchronous.values()) - self.issued
        found.multiply_adds += counts.multiply_adds - self.multiply_adds


def _taking_part(lane_set: LaneSet, holds: np.ndarray | None) -> tuple[int, int]:
    """How many warps and threads execute an instruction with a guard that holds so."""
    if holds is not None and holds.ndim == 0 and not holds:
        return 0, 0
    lanes = executing(lane_set, holds)
    if lanes is None:
        return lane_set.n, lane_set.n * WARP
    return int(np.count_nonzero(lanes.any(axis=1))), int(np.count_nonzero(lanes))
