"""From a plan to a prediction: some CTAs are emulated, a simulation says how long, the grid scales it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ptxkit.asm import Module
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import Emulator
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.streams import LaunchStreams, Streams
from ptxkit.emulator.values import WARP
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.targets import limits
from ptxkit.timing.gpu import Gpu
from ptxkit.timing.simulate import Simulated, Simulation
from ptxkit.workloads import Arrays

ROUNDS = 3
"""CTAs that are simulated one after another in each place of a multiprocessor; more are like these."""
REGISTERS_BESIDE = 10
"""Registers that a kernel needs beside those whose values count, by rule: no assembler is asked."""
MOST_CONTENT = 256 << 20
"""Bytes of tensors from which on only those of integers, which may be indices, get their contents."""
NAMED = {"issue": "issue slots", "tensor": "tensor cores"}
"""Resources as people call them."""
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
class Wait:
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
        bound: the resource, or the wait, that most of the time goes into.
        busy: for which part of the time each resource is busy, the busiest first.
        waits: what warps wait for, the longest first.
        occupancy: how the grid lies.
        ctas, threads: of the grid, and of a CTA.
        sampled: the CTAs that were emulated.
        memory: bytes that DRAM delivers and takes, of the whole grid.
        simulated: what the simulation said of the sampled multiprocessors.
    """

    entry: str
    cycles: float
    bound: str
    busy: dict[str, float]
    waits: tuple[Wait, ...]
    occupancy: Occupancy
    ctas: int
    threads: int
    sampled: int
    memory: float
    simulated: Simulated


def predict(
    module: Module,
    plan: LaunchPlan,
    gpu: Gpu,
    load: Callable[[Emulator, Module], object] | None = None,
    *,
    warm: bool = False,
    timed: bool = False,
) -> list[Prediction]:
    """What the launches of a plan would take, one after another.

    Args:
        module: the plan's program.
        plan: what to launch.
        gpu: where.
        load: loads the module on an emulator, with what is linked to it.
        warm: whether what fits into the L2 cache is there when a launch begins.
        timed: whether to keep timelines.

    Raises:
        PtxkitError: what the emulator finds in the sampled CTAs, and what `Case` raises.
    """
    device = Emulator(order="eager", sanitize=False, traffic=True, jit=False, threads=1, arch=gpu.target)
    placed: list[Occupancy] = []
    streams = Streams(partial(_choose, gpu, placed))
    try:
        loaded = device.load(module) if load is None else load(device, module)
        with LoadedPlan(device, loaded, plan) as on_device:  # type: ignore[arg-type]
            on_device.fill(_inputs(Case(plan)))
            device.prepare = streams.begin
            on_device.launch()
            streams.finish()
    finally:
        device.close()
    return [
        _of_launch(launch, one, gpu, warm, timed)
        for launch, one in zip(streams.launches, placed, strict=True)
    ]


def _inputs(case: Case) -> Arrays:
    """What tensors hold: of very large problems only those of integers, the others zeros."""
    tensors = case.plan.tensors
    if sum(one.tensor.nbytes for one in tensors) <= MOST_CONTENT:
        return case.inputs
    return case.some_inputs(
        frozenset(one.name for one in tensors if DTYPES[one.tensor.dtype].kind not in ("f", "b"))
    )


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


def _choose(gpu: Gpu, placed: list[Occupancy], execution: Execution) -> tuple[int, int]:
    """The CTAs of a launch that run: as many as a multiprocessor holds."""
    launch, alive = execution.launch, execution.program.live_registers
    registers = min(alive + REGISTERS_BESIDE, limits(gpu.target).registers_per_thread) if alive else 0
    total, threads = launch.shape.ctas, launch.shape.threads
    one = occupancy(gpu, total, launch.cluster, threads, launch.shared.used, registers)
    placed.append(one)
    return 0, min(one.resident * launch.cluster, total)


def _of_launch(streams: LaunchStreams, placed: Occupancy, gpu: Gpu, warm: bool, timed: bool) -> Prediction:
    sampled = max(len(streams.ctas), 1)
    scale = streams.total / sampled
    read, written = (
        sum(min(size, touched * scale) for touched, size in each.values())
        for each in (streams.read, streams.written)
    )
    dram = min(read / max(streams.requested * scale, 1.0), 1.0)
    if warm and read < gpu["l2_size"] / 2:
        dram = 0.0
    active = min(int(gpu["sm_count"]), streams.total)

    def simulated(rounds: int, timed: bool = False) -> Simulated:
        return Simulation(streams, gpu, placed.resident, dram, active, gpu["clock"], timed).run(rounds)

    rounds = min(placed.rounds, placed.resident * ROUNDS)
    found = simulated(rounds, timed)
    cycles = found.cycles
    if rounds < placed.rounds:
        # What is left goes at the rate of the rounds in the middle.
        each = (found.cycles - simulated(rounds - placed.resident).cycles) / placed.resident
        cycles += each * (placed.rounds - rounds)
    busy = {
        NAMED.get(name, name.removeprefix("pipe ")): min(time / found.cycles, 1.0)
        for name, time in _largest(found.busy)
    }
    waits = tuple(
        Wait(what, None, None, time / found.lived)
        if site is None
        else Wait(what, site.where, site.instruction.spelling, time / found.lived)
        for (what, site), time in _largest(found.waits)
    )
    cycles += (gpu["launch"] + (gpu["dram_start"] if dram else 0.0)) * gpu["clock"]
    return Prediction(
        streams.name, cycles, bound_of(busy, waits), busy, waits, placed, streams.total, streams.threads,
        sampled, (0.0 if not dram else read) + written, found,
    )  # fmt: skip


T = TypeVar("T")


def _largest(figures: Mapping[T, float]) -> list[tuple[T, float]]:
    """Figures by name, the largest first."""
    return sorted(figures.items(), key=lambda each: -each[1])


def bound_of(busy: dict[str, float], waits: tuple[Wait, ...]) -> str:
    """The resource that is busy for most of the time; where none is for long, the wait that takes longest."""
    name = max(busy, key=lambda each: busy[each], default="")
    if not waits or busy.get(name, 0.0) >= BUSY:
        return name
    totals: dict[str, float] = defaultdict(float)
    for one in waits:
        totals[one.what] += one.share
    return f"waits for {_largest(totals)[0][0]}"
