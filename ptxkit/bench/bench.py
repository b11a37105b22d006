"""The measuring itself, in the process that owns the GPU: kernels, the empty kernel, the roofs."""

from __future__ import annotations

import contextlib
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ptxkit import card
from ptxkit.asm import Module, parse
from ptxkit.bench.measurement import ArithmeticRoof, problem_key
from ptxkit.bench.settings import Settings
from ptxkit.bench.statistics import Figure, Trial
from ptxkit.device.protocol import Device
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.driver import Stopwatch
from ptxkit.dtypes import DTYPES
from ptxkit.plan import LaunchPlan, Program, Request, make
from ptxkit.rules import Rules
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.report import Report, judge
from ptxkit.running.session import RunOptions, Session, Watch, as_gpu, open_for
from ptxkit.shipped import kernels

ROOF = "roofs/stream.ptx"
CTAS_PER_SM = (4, 8, 16, 32)
"""How many CTAs of the roof's kernel are tried; the fastest number is the roof."""
ARITHMETIC_CTAS_PER_SM = (1, 2)
ARITHMETIC_STEPS = (512, 65_536)
"""Least and most steps of the arithmetic roof's kernel: what it does beside them must not count."""

_VECTOR = 16
_PATTERN = 1 << 23
"""Bytes of random content that are repeated over the memory that the roof reads."""
_MEMORY_SHARE = 0.5
"""Of the free memory, what sets of buffers may take."""
_FLOOR = 320
"""Samples of the floor, which scatter by a few ticks of the clock."""
_LARGE_GAP, _SMALL_GAP = 1 << 28, 1 << 20
"""Bytes, at most, of what lies before a trial's buffers, where large and where small ones are allocated."""
_ROUND = 32
_ROUND_SECONDS = 0.5
"""Most samples, and seconds of them, between two looks at the rule."""
_BURST_SECONDS = 0.01
"""How long the GPU is under load between two pauses: too short to be slowed down for its power."""

_LATER = "the first launch was right; later launches on the same buffers left this"


class Bench:
    """Kernels of one file or several on one device.

    Args:
        options: which device.
        settings: how to measure.
        watch: told True before launches that are waited for, False after them.
        rules: by program, how much a breach of each of the emulator's rules weighs.
    """

    def __init__(
        self,
        options: RunOptions,
        settings: Settings,
        watch: Watch | None = None,
        rules: Mapping[Program, Rules] | None = None,
    ) -> None:
        self.options = options
        self.settings = settings
        self._watch = watch
        self._rules = rules or {}
        self._device: Device | None = None
        self._stopwatch: Stopwatch | None = None
        self._sessions: dict[Program, Session] = {}
        self._cases: list[Case] = []
        self._ctas: dict[tuple[int, int], int] = {}
        self._arithmetic: dict[str, int] = {}

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        if self._device is not None:
            self._device.close()

    def verify(self, plan: LaunchPlan) -> Report:
        """Launch a plan once and compare its outputs, as `ptxkit run` does.

        Raises:
            PtxkitError: what `Session.run` raises.
        """
        return self._session(plan.program).run(plan, self._case_of(plan))

    def trial(self, plan: LaunchPlan) -> Trial:
        """Time a plan on fresh buffers. Its outputs must be right afterwards too.

        Raises:
            PtxkitError: what the launches met; P801 or P802, an output is wrong after them.
        """
        session, case = self._session(plan.program), self._case_of(plan)
        with self._elsewhere(), contextlib.ExitStack() as held:
            placed: list[LoadedPlan] = []
            for _ in range(self._sets(plan)):
                placed.append(held.enter_context(LoadedPlan(session.device, session.loaded, plan)))
                placed[-1].fill(case.inputs)
            trial = self._measure(placed)
            if not case.in_place:
                for on_device in placed:
                    compared = case.compare(on_device.outputs())
                    wrong = [found for comparison in compared for found in judge(comparison)]
                    if wrong:
                        raise PtxkitError(replace(w, notes=(*w.notes, _LATER)) for w in wrong)
            return trial

    def floor(self) -> Trial:
        """Time what the measuring adds to a kernel: an empty one, less what a second one adds at best."""
        nothing = self._watched().nothing

        def twice() -> None:
            nothing()
            nothing()

        one, two = self._time(nothing, 1, 1, _FLOOR), self._time(twice, 2, 1, _FLOOR)
        return one.above(max(0.0, two.minimum - one.minimum))

    def roof(self, bytes_read: int, bytes_written: int) -> tuple[int, Trial]:
        """Time pure memory traffic.

        Args:
            bytes_read, bytes_written: rounded up to 16.

        Returns:
            The CTAs a multiprocessor that are fastest, and the trial with them.

        Raises:
            PtxkitError: P705, out of memory.
        """
        reads, writes = -(-bytes_read // _VECTOR), -(-bytes_written // _VECTOR)
        if (reads, writes) not in self._ctas:
            found = {ctas: self._roof_trial(reads, writes, ctas, _ROUND) for ctas in CTAS_PER_SM}
            self._ctas[reads, writes] = min(found, key=lambda ctas: found[ctas].median)
        ctas = self._ctas[reads, writes]
        return ctas, self._roof_trial(reads, writes, ctas)

    def arithmetic_roof(self, dtype: str, operations: int) -> ArithmeticRoof:
        """Time pure tensor-core products.

        Args:
            dtype: of what is multiplied: `bf16`, `f16`, `tf32`, `e4m3`, `s8`.
            operations: how many to make, rounded up to whole steps and to `ARITHMETIC_STEPS`.

        Returns:
            The roof with the number of CTAs that is fastest, and one trial.

        Raises:
            PtxkitError: P808, there is no kernel for this type and this GPU.
        """
        gpu = as_gpu(self._device_now())
        file, each = arithmetic_kernel(dtype, gpu.capability)
        found = self._arithmetic.get(dtype)
        if found is None:
            tried = {ctas: self._arithmetic_trial(file, each, ctas, operations, _ROUND)
                     for ctas in ARITHMETIC_CTAS_PER_SM}  # fmt: skip
            best = max(tried, key=lambda ctas: tried[ctas][0] / tried[ctas][1].median)
            found = self._arithmetic[dtype] = best
        made, trial = self._arithmetic_trial(file, each, found, operations)
        return ArithmeticRoof(file, dtype, made, found, Figure.of([trial]))

    def _arithmetic_trial(
        self, file: str, each: int, ctas_per_sm: int, operations: int, samples: int | None = None
    ) -> tuple[int, Trial]:
        """Operations made and their times; `each`: operations of a CTA's step."""
        program, module = _shipped_program(file)
        gpu = as_gpu(self._open(module))
        ctas = ctas_per_sm * gpu.sm_count
        least, most = ARITHMETIC_STEPS
        steps = min(most, max(least, -(-operations // (each * ctas))))
        sizes = {"CTAS": ctas, "STEPS": steps, "WRITERS": 1, **({"ADD": 0} if "wgmma" in file else {})}
        with self._load(program, module, sizes) as on_device:
            on_device.fill(Case(on_device.plan).inputs)
            return steps * each * ctas, self._measure([on_device], samples)

    def _load(self, program: Program, module: Module, sizes: Mapping[str, int]) -> LoadedPlan:
        """A shipped kernel, ready to be filled and launched."""
        found = card.read(module.source) if module.source else None
        plan = make(program, module, found, Request(sizes=sizes))
        session = self._session(program, replace(self.options, link=()))
        return LoadedPlan(session.device, session.loaded, plan)

    def _roof_trial(self, reads: int, writes: int, ctas: int, samples: int | None = None) -> Trial:
        program, module = _shipped_program(ROOF)
        gpu = as_gpu(self._open(module))
        sizes = {"R": reads, "W": writes, "CTAS": ctas * gpu.sm_count}
        with self._elsewhere(), self._load(program, module, sizes) as on_device:
            source = on_device.tensors["source"].tensor
            on_device.fill({"source": np.resize(_pattern(), source.storage_shape)})
            return self._measure([on_device], samples)

    def _measure(self, placed: list[LoadedPlan], samples: int | None = None) -> Trial:
        """A trial whose samples take turns over the plans."""
        stopwatch = self._watched()
        turns = itertools.cycle([on_device.prepare(stopwatch) for on_device in placed])
        commands, pause = len(placed[0].kernels), self.settings.pause
        return self._time(lambda: next(turns)(), commands, len(placed), samples, pause)

    def _time(
        self,
        launch: Callable[[], Any],
        commands: int,
        sets: int,
        samples: int | None = None,
        pause: float = 0.0,
    ) -> Trial:
        """Warm up, then sample until the rule is met, or so many samples."""
        stopwatch = self._watched()
        begin = time.perf_counter()
        for _ in range(sets):
            stopwatch.prime(launch)
        while time.perf_counter() - begin < self.settings.warmup:
            stopwatch.times(launch, _ROUND, commands)
        begin = time.perf_counter()
        found: list[float] = []
        clocks: list[float] = []
        stopped: str | None = None
        while stopped is None:
            time.sleep(pause)
            burst = time.perf_counter()
            stopwatch.start_clock()
            while True:
                found += stopwatch.times(launch, self._round(found, samples, pause), commands)
                stopped = self._stopped(found, time.perf_counter() - begin, samples)
                if stopped or (pause and time.perf_counter() - burst > _BURST_SECONDS):
                    break
            clock = stopwatch.sm_clock()
            if clock is not None:
                clocks.append(clock)
        state = as_gpu(self._device_now()).clocks()
        return Trial.of(
            found,
            stopped,
            sm_clock=statistics.median(clocks) if clocks else None,
            sets=sets,
            reasons=state.reasons if state else None,
        )

    def _round(self, found: Sequence[float], samples: int | None, pause: float) -> int:
        """How many samples to take before the next look at the rule."""
        if not found:
            return min(samples or _ROUND, self.settings.rule.min_samples)
        seconds = _BURST_SECONDS if pause else _ROUND_SECONDS
        return max(1, min(_ROUND, int(seconds / max(found[-1], 1e-6))))

    def _stopped(self, found: list[float], elapsed: float, samples: int | None) -> str | None:
        if samples is not None:
            return "samples" if len(found) >= samples else None
        return self.settings.rule.reached(found, elapsed)

    @contextlib.contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """What is allocated within lies elsewhere than the last time, as it would in another process.

        Where buffers lie moves the times of a kernel by some parts in a thousand. What is freed and allocated
        again would lie where it was, and all trials would agree on what another bench does not find.
        """
        gpu = as_gpu(self._device_now())
        most = min(_LARGE_GAP, gpu.memory()[0] // 256)
        gaps = [gpu.empty(random.randrange(limit) + 1, "u8") for limit in (most, _SMALL_GAP)]
        try:
            yield
        finally:
            for gap in gaps:
                gap.free()

    def _sets(self, plan: LaunchPlan) -> int:
        free, _ = as_gpu(self._device_now()).memory()
        return max(1, min(self.settings.sets, int(free * _MEMORY_SHARE / max(plan.bytes, 1))))

    def _case_of(self, plan: LaunchPlan) -> Case:
        """The plan's problem, kept for other trials and for other kernels that solve the same one."""
        if self._cases and problem_key(self._cases[0].plan) != problem_key(plan):
            self._cases.clear()
        for case in self._cases:
            if case.plan.tensors == plan.tensors:
                return case
        self._cases.append(Case(plan))
        return self._cases[-1]

    def _session(self, program: Program, options: RunOptions | None = None) -> Session:
        if program not in self._sessions:
            module = program.module()
            device = self._open(module)
            options = options or self.options
            options = replace(options, rules=self._rules.get(program, options.rules))
            self._sessions[program] = Session(module, options, self._watch, device)
        return self._sessions[program]

    def _open(self, module: Module) -> Device:
        if self._device is None:
            self._device = open_for(module, self.options)
        return self._device

    def _device_now(self) -> Device:
        return self._open(_shipped_program(ROOF)[1])

    def _watched(self) -> Stopwatch:
        if self._stopwatch is None:
            gpu = as_gpu(self._device_now())
            self._stopwatch = Stopwatch(gpu, self.settings.flush, self._watch)
        return self._stopwatch


def arithmetic_kernel(dtype: str, capability: tuple[int, int]) -> tuple[str, int]:
    """The shipped kernel of the arithmetic roof, and the operations of one step of one of its CTAs.

    Raises:
        PtxkitError: P808, there is none for this type and this GPU.
    """
    bits = DTYPES[dtype].bits if dtype in DTYPES else 0
    kinds = [("mma", 8 * 32 * 64 * 32)] if capability >= (8, 0) else []
    if capability == (9, 0):
        kinds.insert(0, ("wgmma", 128 * 256 * 128))
    for kind, bytes_along_k in kinds:
        file = f"roofs/{kind}_{dtype}.ptx"
        if file in kernels.shipped():
            return file, 2 * bytes_along_k * 8 // bits
    major, minor = capability
    message = f"no kernel of the arithmetic roof for `{dtype}` on compute capability {major}.{minor}"
    raise error("P808", message, help="shares of the memory roof stand; `ptxkit kernels` lists `roofs/`")


@cache
def _shipped_program(file: str) -> tuple[Program, Module]:
    name, path = kernels.find(file)
    return Program(name, str(path)), parse(path, name=name)


@cache
def _pattern() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 1 << 32, _PATTERN // 4, np.uint32)
