"""From a launch to a prediction: some CTAs are emulated, a simulation says how long, the grid scales it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ptxkit.asm.tree import Module
from ptxkit.emulator import Emulator
from ptxkit.emulator.execution import BATCH_LANES, Execution
from ptxkit.emulator.timing.assembled import BY_RULE, AssembledModule
from ptxkit.emulator.timing.assembling import assembled
from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import Gpu
from ptxkit.emulator.timing.parts import Simulated
from ptxkit.emulator.timing.recorded import LaunchStreams
from ptxkit.emulator.timing.requests import ATOMICS, RESOURCES, Resources
from ptxkit.emulator.timing.sampling import spread
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import DISPATCH, Simulation
from ptxkit.emulator.timing.streams import SampledCtas, Streams
from ptxkit.emulator.timing.tail import MOST_DEALT, stretch, work_of_all
from ptxkit.emulator.values import WARP
from ptxkit.targets import limits

ROUNDS, MORE_ROUNDS = 3, 12
"""CTAs that are simulated one after another in each place of a multiprocessor; more are like these. The
larger number where these are over after `SETTLED` cycles."""
SETTLED = 20_000
REGISTERS_BESIDE = 10
"""Registers that a kernel needs beside those whose values count, by rule: no assembler is asked."""
SAMPLED, SAMPLED_LANES = 16, 4096
"""Clusters that are recorded at least, as far as they have no more threads in all."""
NAMED = {"issue": "issue slots", "tensor": "tensor cores"}
"""Resources as people call them."""
PLACES = 4
"""Clusters that run of a grid that is over in one round, at least."""
LEAST_L1 = 16 << 10
"""Bytes of L1 that are there whatever shared memory a launch needs."""
TENSOR = ("tensor cores", "pipe tensor")
"""Resources whose work takes power."""
LEAST_LOSS = 0.02
"""The part of the clock that power must take away to be looked at."""
SHARED = ("L2", "DRAM")
"""Resources that all multiprocessors share."""
OFTEN = 0.8
"""One of them that is busy for less than this part of the time holds nobody back."""
STARTS = "launch"
"""What bounds a launch that takes longer to start than to run."""
REACHED = {"L2": 0.7, "DRAM": 0.9, "tensor": 0.88, "tensor cores": 0.96}
"""Of the peaks that profilers count by the part that these do where nothing else holds them back: stores and
loads of bench/results/profiles.stores.h200.json and profiles.strangers.h200.json; products by `mma` and
`wgmma` of profiles.strangers4.h200.json."""
BUSY = 0.6
"""The part of the time from which on a resource that is busy for it is what bounds a launch."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How a grid lies on a GPU.

    Attributes:
        resident: clusters that run at once in a place.
        places: multiprocessors, or groups of them as large as a cluster.
        rounds: clusters that the busiest place runs.
        limit: what holds `resident` down.
    """

    resident: int
    places: int
    rounds: int
    limit: str


@dataclass(frozen=True, slots=True)
class WaitedFor:
    """What warps waited for.

    Attributes:
        what: in words.
        line: of the instruction; None where it is none.
        instruction: its name with modifiers.
        share: of the time that warps were there.
    """

    what: str
    line: str | None
    instruction: str | None
    share: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a launch would take.

    Attributes:
        entry: its name.
        cycles: from the launch to the end of the last CTA.
        clock: at which, a second: the GPU's highest, or what its power leaves of that.
        bound: the resource, or the wait, that most of the time goes into; `launch`, where that is its start.
        busy: for which part of the time each resource is busy, on the average of all multiprocessors, whether
            they have a CTA or not; the busiest first.
        waits: what warps wait for, the longest first.
        occupancy: how the grid lies.
        ctas, threads: of the grid, and of a CTA.
        sampled: the CTAs that were emulated.
        memory: bytes that DRAM delivers and takes, of the whole grid.
        levers: by resource the part of the cycles that are left if it were twice as fast, the least first;
            empty where nobody asked.
        code: whose machine code was looked at: `by ptxas 13.0`, `by rule`; and whether each `wgmma` is
            waited for there before the next.
        simulated: what the simulation said of the sampled multiprocessors.
    """

    entry: str
    cycles: float
    clock: float
    bound: str
    busy: dict[str, float]
    waits: tuple[WaitedFor, ...]
    occupancy: Occupancy
    ctas: int
    threads: int
    sampled: int
    memory: float
    levers: dict[str, float]
    code: str
    simulated: Simulated

    @property
    def seconds(self) -> float:
        """The time, at its clock."""
        return self.cycles / self.clock

    @property
    def told(self) -> str:
        """The time as people read it."""
        return told(self.seconds)


class Predictor:
    """Predicts the launches of an emulator: set its `prepare` to `begin`.

    Of a launch of more than `BATCH_LANES` threads only some CTAs run, so that what they leave in memory is
    not what the kernel computes.

    Args:
        gpu: where.
        warm: whether what fits into the L2 cache is there when a launch begins.
        timed: whether to keep timelines.
        asked: whether to see what a faster resource would bring.
        by_rule: whether to take what ptxas does by rule, even where there is one.
    """

    def __init__(
        self,
        gpu: Gpu,
        warm: bool = False,
        timed: bool = False,
        asked: bool = False,
        by_rule: bool = False,
    ) -> None:
        self.gpu, self.warm, self.timed, self.asked = gpu, warm, timed, asked
        self.by_rule = by_rule
        self._assembled: list[tuple[Module, AssembledModule]] = []
        self._placed: list[tuple[Occupancy, AssembledModule]] = []
        self._streams = Streams(self._choose)

    @staticmethod
    def emulator(gpu: Gpu) -> Emulator:
        """An emulator as launches are recorded on: in eager order, without sanitizer, on one core."""
        return Emulator(order="eager", sanitize=False, traffic=True, jit=False, threads=1, arch=gpu.target)

    def begin(self, execution: Execution) -> None:
        """A launch is about to run."""
        self._streams.begin(execution)

    def predictions(self) -> list[Prediction]:
        """What the launches since the last call would take, one after another."""
        self._streams.finish()
        launches, placed = self._streams.launches, self._placed
        found = [self._of_launch(launch, *one) for launch, one in zip(launches, placed, strict=True)]
        if found:
            # What events around a launch add to it, they add to the first of several.
            found[0] = replace(found[0], cycles=found[0].cycles + self.gpu["launch"] * found[0].clock)
        launches.clear()
        placed.clear()
        return found

    def _of_launch(self, streams: LaunchStreams, placed: Occupancy, code: AssembledModule) -> Prediction:
        """What a launch would take."""
        gpu = self.gpu
        l1 = max(gpu["l1_size"] - placed.resident * streams.shared, LEAST_L1)
        scaled = Scaled.of(streams, gpu, self.warm, l1)
        clock, plans = gpu["clock"], Plans(gpu, code.functions)
        stack = code.functions[streams.name].stack if streams.name in code.functions else 0
        spills = self._spills(stack * streams.threads * placed.resident, l1, scaled.active)
        rounds = placed.resident * ROUNDS
        if streams.uneven:  # Each of those that were recorded, as often.
            rounds = -(-rounds // streams.recorded) * streams.recorded
        rounds = min(placed.rounds, rounds)

        def simulated(
            rounds: int, timed: bool = False, costs: Mapping[str, float] | None = None
        ) -> Simulated:
            ask = Resources(gpu, scaled, clock, costs, streams.cluster, spills, streams.signals)
            return Simulation(streams, placed.resident, ask, plans, timed).run(rounds)

        found = simulated(rounds, self.timed)
        if rounds < placed.rounds and found.cycles < SETTLED:
            rounds = min(placed.rounds, placed.resident * MORE_ROUNDS)
            found = simulated(rounds, self.timed)
        # Tensor cores at work take power, which lowers the clock.
        load = max(found.busy.get(name, 0.0) for name in TENSOR) / found.cycles
        if load * gpu["clock_loss"] > LEAST_LOSS:
            clock *= 1 - load * gpu["clock_loss"]
            found = simulated(rounds, self.timed)
        cycles, least = found.cycles, max(found.busy.values()) / rounds
        if rounds < placed.rounds:
            # What is left goes at the rate of the rounds in the middle, no faster than any resource allows.
            first, last = placed.resident, (rounds - 1) // placed.resident * placed.resident
            each = (found.starts[last] - found.starts[first]) / (last - first)
            cycles += max(each, least) * (placed.rounds - rounds)
        if streams.uneven and not streams.alone:
            # Those that are over soon make room first: their times tell, not their order.
            each = max(sum(found.lasted) / len(found.lasted) / placed.resident, least)
            cycles = each * streams.total / max(streams.cluster, 1) / placed.places
            parts = {name: min(time / rounds / each, 1.0) for name, time in found.busy.items()}
            cycles *= self._stretch(streams, placed, parts)
        levers = {}
        if self.asked:
            faster = {name: simulated(rounds, costs={name: 0.5}).cycles / found.cycles for name in RESOURCES}
            levers = dict(sorted(faster.items(), key=lambda one: one[1]))
        waits = tuple(
            WaitedFor(what, None, None, time / found.lived)
            if site is None
            else WaitedFor(what, site.where, site.instruction.spelling, time / found.lived)
            for (what, site), time in _largest(found.waits)
        )
        active = scaled.active / gpu["sm_count"]
        starts = (
            gpu["grid_start"] + (gpu["dram_start"] * active if any(scaled.dram.values()) else 0.0)
        ) * clock
        # Of the whole time, the grid's start and tail included, on the average of all multiprocessors.
        clusters = streams.total / max(streams.cluster, 1)
        each = clusters / rounds / (cycles + starts)
        places = {name: min(clusters, placed.places) for name in (*SHARED, DISPATCH, ATOMICS)}
        busy = {
            NAMED.get(name, name.removeprefix("pipe ")): min(
                time * each / places.get(name, placed.places), 1.0
            )
            for name, time in found.busy.items()
        }
        busy = dict(_largest(busy))
        bound = STARTS if starts > cycles else bound_of(busy, waits)
        cycles += starts
        return Prediction(
            streams.name, cycles, clock, bound, busy, waits, placed, streams.total,
            streams.threads, len(streams.ctas), scaled.memory + found.spilled * streams.total / rounds,
            levers, code.described(streams.name), found,
        )  # fmt: skip

    @staticmethod
    def _stretch(streams: LaunchStreams, placed: Occupancy, parts: Mapping[str, float]) -> float:
        """How much longer a grid takes as not all of its multiprocessors are through at once. `parts`: of the
        time that each resource is busy. If the others held one back by what all multiprocessors share, the
        last ones have it for themselves."""
        size = max(streams.cluster, 1)
        if streams.total // size > MOST_DEALT:
            return 1.0
        done = [one.passages for one in streams.ctas]
        work = work_of_all([one.number for one in streams.ctas], done, streams.grid)
        own = max((part for name, part in parts.items() if name not in SHARED), default=0.0)
        longer = stretch(work.reshape(-1, size).sum(axis=1), placed.places, placed.resident, own)
        both = max(parts.get(name, 0.0) for name in SHARED)
        return 1.0 + (longer - 1.0) * min((1.0 - both) / (1.0 - OFTEN), 1.0)

    def _spills(self, size: int, l1: float, active: int) -> tuple[float, float]:
        """The parts of what goes to local memory, of which a multiprocessor's CTAs have so many bytes, that
        L1 and L2 have no room for: what is wanted again after all the rest."""
        return tuple(  # type: ignore[return-value]
            max(1.0 - room / max(taken, 1.0), 0.0)
            for room, taken in ((l1, size), (self.gpu["l2_size"] / 2, size * active))
        )

    def _code_of(self, module: Module) -> AssembledModule:
        """The machine code of a module."""
        if self.by_rule:
            return BY_RULE
        for known, code in self._assembled:
            if known is module:
                return code
        code = assembled(module, self.gpu.target)
        self._assembled.append((module, code))
        return code

    def _choose(self, execution: Execution) -> SampledCtas:
        """All CTAs of a launch, if a batch holds them, or as many as a multiprocessor does."""
        launch, alive, gpu = execution.launch, execution.program.live_registers, self.gpu
        registers = min(alive + REGISTERS_BESIDE, limits(gpu.target).registers_per_thread) if alive else 0
        code = self._code_of(execution.program.image.module)
        if execution.name in code.functions:
            registers = code.functions[execution.name].registers
        total, threads = launch.shape.ctas, launch.shape.threads
        one = occupancy(gpu, total, launch.cluster, threads, launch.shared.used, registers)
        self._placed.append((one, code))
        alone = one.rounds <= one.resident
        each = min(one.resident, -(-total // int(gpu["sm_count"])))
        shared = launch.shared.used + limits(gpu.target).shared_reserved
        near = max(gpu["l1_size"] - each * shared, LEAST_L1) / each
        if total * threads <= BATCH_LANES:
            return SampledCtas(np.arange(total), alone, near * total)
        cluster, count = launch.cluster, one.resident
        if alone:
            count = max(count, min(PLACES, BATCH_LANES // (threads * cluster)))
        else:  # Not all do as much: of a triangle, say.
            count = max(count, min(SAMPLED, SAMPLED_LANES // (threads * cluster)))
        grid = launch.shape.grid if cluster == 1 else ()
        clusters = spread(total // cluster, count, alone, grid)
        ctas = (clusters[:, None] * cluster + np.arange(cluster)).reshape(-1)
        return SampledCtas(ctas, alone, near * len(ctas))


def occupancy(gpu: Gpu, total: int, cluster: int, threads: int, shared: int, registers: int) -> Occupancy:
    """How a grid lies on a GPU.

    Args:
        gpu: the GPU.
        total: CTAs.
        cluster: CTAs of a cluster.
        threads, shared: threads of a CTA, and bytes of its shared memory.
        registers: 32-bit registers of a thread, 0 for unknown.
    """
    most = limits(gpu.target)
    warps = -(-threads // WARP)
    by = {
        "warps": most.warps_per_sm // warps,
        "CTAs": most.ctas_per_sm,
        "shared memory": most.shared_per_sm // (shared + most.shared_reserved),
    }
    if registers:
        by["registers"] = most.registers_per_sm // (-(-registers // 8) * 8 * WARP * warps)
    limit = min(by, key=lambda name: by[name])
    places = int(gpu["sm_count"]) // cluster
    resident, rounds = max(by[limit], 1), -(-total // cluster // places)
    return Occupancy(min(resident, rounds), places, rounds, limit if rounds > resident else "the grid")


def told(seconds: float) -> str:
    """`18.83 us`, `1.080 ms`."""
    return f"{seconds * 1e6:,.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.3f} ms"


T = TypeVar("T")


def _largest(figures: Mapping[T, float]) -> list[tuple[T, float]]:
    """Figures by name, the largest first."""
    return sorted(figures.items(), key=lambda each: -each[1])


def bound_of(busy: dict[str, float], waits: tuple[WaitedFor, ...]) -> str:
    """The resource that does most of what its peak is, the dispatcher of CTAs only where no other does much;
    where none does, the wait that takes longest."""
    done = {name: part * REACHED.get(name, 1.0) for name, part in busy.items()}
    much = [name for name, part in done.items() if part >= BUSY]
    name = max(much or done, key=lambda each: (each != DISPATCH, done[each]), default="")
    if not waits or much:
        return name
    totals: dict[str, float] = defaultdict(float)
    for one in waits:
        totals[one.what] += one.share
    return f"waits for {_largest(totals)[0][0]}"
