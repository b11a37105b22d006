"""Run a launch plan on a device and verify what comes out: generate, load, launch, compare, report.

The same on the emulator and on a GPU. Outputs are poisoned before the launch, so that what the kernel leaves
out is seen; on a GPU the verified launches are then timed.
"""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ptxkit.asm import Module
from ptxkit.device import Device
from ptxkit.devices import open_device
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.emulator import Emulator
from ptxkit.plan import LaunchPlan, problem_of
from ptxkit.report import Report, Timing, judge, not_verified
from ptxkit.stage import Stage
from ptxkit.workloads import Arrays, content
from ptxkit.workloads.comparison import compare

if TYPE_CHECKING:
    from ptxkit.driver import CudaDevice, Stopwatch

WARMUP, SAMPLES = 3, 20
"""Launches before a run's timing, and launches timed."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to run, beside what: plain data, so that a worker process can be told.

    Attributes:
        device: `auto`, `emu`, `cuda`, `cuda:1`.
        order, seed: in which order the emulator completes asynchronous work, and the seed for `random`.
        sanitize: whether to look for races and undefined data; None: on the emulator yes, on a GPU no.
        arch: the target that the emulator plays, by default the file's.
        save: where to keep tensors after the run, by name.
    """

    device: str = "auto"
    order: str = "lazy"
    seed: int = 0
    sanitize: bool | None = None
    arch: str | None = None
    save: Mapping[str, str] = field(default_factory=dict)


class Session:
    """A module loaded on a device, for one run or several.

    Args:
        module: the parsed program of the plans to come.
        options: device and emulator options.

    Raises:
        PtxkitError: no such device, or the module does not load there.
    """

    def __init__(self, module: Module, options: Options) -> None:
        self.options = options
        self.device = _open(module, options)
        self.arch = options.arch or module.target
        self._fraction: float | None = None
        self._stopwatch: Stopwatch | None = None
        if isinstance(self.device, Emulator):
            self.device.progress = self._progressed
        try:
            self._loaded = self.device.load(module)
            if not isinstance(self.device, Emulator):
                # Now rather than later: its memory must not be what a verified run fails for.
                self._stopwatch = _gpu(self.device).stopwatch()
        except BaseException:
            self.device.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.device.close()

    def progress(self) -> float | None:
        """The part of the running launch that is done, 0 to 1; None where nobody can say. For any thread."""
        return self._fraction

    def _progressed(self, done: int, total: int) -> None:
        self._fraction = done / total if total else None

    def run(self, plan: LaunchPlan) -> Report:
        """Run and verify one plan of the session's module.

        Raises:
            PtxkitError: what the plan, the arguments or the device has against it; P564, too little host
                memory.
        """
        known_findings = len(self.device.findings)
        _check_tensor_maps(plan)
        problem = problem_of(plan)
        try:
            with Stage(self.device, self._loaded, plan) as stage:
                _check_host_memory(plan)
                inputs = problem.generate()
                stage.fill(inputs)
                counters: Counter[str] = Counter()
                start = time.perf_counter()
                stage.launch(counters)
                self.device.synchronize()
                outputs = stage.outputs()
                wall = time.perf_counter() - start
                expected = problem.reference(inputs)
                compared = tuple(
                    compare(stage.tensors[name].tensor, outputs[name], what, problem.tolerance(name))
                    for name, what in expected.items()
                    if name in outputs
                )
                self._save(stage, outputs)
                judged = [diagnostic for comparison in compared for diagnostic in judge(comparison)]
                if not compared:
                    judged = [not_verified(plan)]
                return Report(
                    plan=plan,
                    device=self.device.name,
                    kind=self.device.kind,
                    arch=self.arch if self.device.kind == "emu" else None,
                    outputs=compared,
                    diagnostics=(*self.device.findings[known_findings:], *judged),
                    cost=problem.cost(),
                    wall_seconds=wall,
                    timing=self._time(stage),
                    counters=dict(counters),
                    kernels=tuple({"name": kernel.name, **kernel.attributes} for kernel in stage.kernels),
                    gpu=None if self.device.kind == "emu" else _gpu(self.device).describe(),
                )
        except MemoryError:
            raise _too_little_memory(plan, None) from None

    def _time(self, stage: Stage) -> Timing | None:
        """On a GPU the time of all launches with a cold L2 cache; the emulator has no time."""
        stopwatch = self._stopwatch
        if stopwatch is None:
            return None
        device, launch, launches = _gpu(self.device), stage.prepare(stopwatch), len(stage.kernels)
        stopwatch.times(launch, WARMUP, launches)
        stopwatch.start_clock()
        times = stopwatch.times(launch, SAMPLES, launches)
        sm_clock, clocks = stopwatch.sm_clock(), device.clocks()
        low, median, high = statistics.quantiles(times, n=4)
        return Timing(
            median,
            (high - low) / 2,
            len(times),
            device.peak_bandwidth,
            stopwatch.flush,
            sm_clock,
            clocks.to_json() if clocks else None,
        )

    def _save(self, stage: Stage, outputs: Arrays) -> None:
        for name, file in self.options.save.items():
            array = outputs[name] if name in outputs else stage.read(name)
            content.save(stage.tensors[name].tensor, array, Path(file))


def check_save(plan: LaunchPlan, options: Options) -> None:
    """Every tensor to save exists, and every folder to save into: said before the work rather than after it.

    Raises:
        PtxkitError: P562 (no such tensor), P555 (no such folder).
    """
    known = {tensor.name for tensor in plan.tensors}
    for name, file in options.save.items():
        if name not in known:
            listed = ", ".join(f"`{tensor}`" for tensor in sorted(known))
            raise error(
                "P562", f"expected a tensor after `--save`, found `{name}`", help=f"the launch has {listed}"
            )
        folder = Path(file).parent
        if not folder.is_dir():
            raise error("P555", f"cannot write `{name}` to `{file}`: there is no folder `{folder}`")


def _open(module: Module, options: Options) -> Device:
    return open_device(
        options.device,
        order=options.order,
        seed=options.seed,
        sanitize=options.sanitize is not False,
        arch=options.arch,
        target=module.target,
    )


def _gpu(device: Device) -> CudaDevice:
    from ptxkit.driver import CudaDevice

    assert isinstance(device, CudaDevice)
    return device


def _check_tensor_maps(plan: LaunchPlan) -> None:
    for tensor_map in plan.tensor_maps:
        raise error("P563", f"this version of ptxkit can't make the tensor map `{tensor_map.name}`")


def _check_host_memory(plan: LaunchPlan) -> None:
    """Refuse what would not fit, rather than be killed for it; the reference works in small pieces."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return
    if plan.bytes > free:
        raise _too_little_memory(plan, free)


def _too_little_memory(plan: LaunchPlan, free: int | None) -> PtxkitError:
    found = f", found {free:,} free" if free is not None else ""
    message = f"expected {plan.bytes:,} bytes of host memory for the tensors{found}"
    return error("P564", message, help="choose smaller sizes")
