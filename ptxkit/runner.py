"""Run a launch plan on a device and verify what comes out: generate, load, launch, compare, report.

The same on the emulator and on a GPU. Outputs are poisoned before the launch, so that what the kernel leaves
out is seen; on a GPU the verified launches are then timed.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ptxkit.asm import Module
from ptxkit.device import Buffer, Device, Kernel
from ptxkit.devices import open_device
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.emulator import Counts, Emulator
from ptxkit.plan import Argument, LaunchPlan, PlanTensor, problem_of
from ptxkit.report import Report, Timing, judge, not_verified
from ptxkit.workloads import Arrays, content
from ptxkit.workloads.comparison import compare


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
        if isinstance(self.device, Emulator):
            self.device.progress = self._progressed
        try:
            self._loaded = self.device.load(module)
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
        kernels = [self._loaded.kernel(launch.entry) for launch in plan.launches]
        tensors = {tensor.name: tensor for tensor in plan.tensors}
        buffers: dict[str, Buffer] = {}
        try:
            for name, tensor in tensors.items():
                layout = tensor.tensor
                buffers[name] = self.device.empty(layout.storage_shape, layout.storage_dtype)
            _check_host_memory(plan)
            inputs = problem.generate()
            _fill(buffers, tensors, inputs)
            counters: Counter[str] = Counter()
            start = time.perf_counter()
            self._launch(plan, kernels, buffers, counters)
            self.device.synchronize()
            outputs = self._read(plan, buffers)
            wall = time.perf_counter() - start
            expected = problem.reference(inputs)
            compared = tuple(
                compare(tensors[name].tensor, outputs[name], what, problem.tolerance(name))
                for name, what in expected.items()
                if name in outputs
            )
            self._save(plan, buffers, outputs)
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
                timing=self._time(plan, kernels, buffers),
                counters=dict(counters),
                kernels=tuple({"name": kernel.name, **kernel.attributes} for kernel in kernels),
            )
        except MemoryError:
            raise _too_little_memory(plan, None) from None
        finally:
            for buffer in buffers.values():
                buffer.free()

    def _launch(
        self,
        plan: LaunchPlan,
        kernels: list[Kernel],
        buffers: Mapping[str, Buffer],
        counters: Counter[str] | None = None,
    ) -> None:
        for launch, kernel in zip(plan.launches, kernels, strict=True):
            kernel.launch(
                launch.grid,
                launch.block,
                [_argument(argument, buffers) for argument in launch.arguments],
                cluster=launch.cluster,
                shared=launch.shared,
                cooperative=launch.cooperative,
            )
            if counters is not None and isinstance(self.device, Emulator):
                counters.update(_counted(self.device.counts))

    def _time(self, plan: LaunchPlan, kernels: list[Kernel], buffers: Mapping[str, Buffer]) -> Timing | None:
        """On a GPU the time of all launches with a cold L2 cache; the emulator has no time."""
        if self.device.kind != "cuda":
            return None
        from ptxkit.driver.device import CudaDevice

        device = self.device
        assert isinstance(device, CudaDevice)
        measured = device.time(lambda: self._launch(plan, kernels, buffers))
        # Memory transfers twice a clock; the clock is in kHz, the bus width in bits.
        clock, width = device.attribute("MEMORY_CLOCK_RATE"), device.attribute("GLOBAL_MEMORY_BUS_WIDTH")
        bandwidth = 2 * clock * 1e3 * width / 8
        return Timing(measured.median, measured.spread, len(measured.seconds), bandwidth or None)

    def _read(self, plan: LaunchPlan, buffers: Mapping[str, Buffer]) -> Arrays:
        return {
            tensor.name: buffers[tensor.name].numpy() for tensor in plan.tensors if tensor.role == "output"
        }

    def _save(self, plan: LaunchPlan, buffers: Mapping[str, Buffer], outputs: Arrays) -> None:
        tensors = {tensor.name: tensor.tensor for tensor in plan.tensors}
        for name, file in self.options.save.items():
            array = outputs[name] if name in outputs else buffers[name].numpy()
            content.save(tensors[name], array, Path(file))


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


def _counted(counts: Counts) -> dict[str, int]:
    """What the emulator counted, by name."""
    counted = {"thread_instructions": counts.instructions, "barriers": counts.barriers, "ctas": counts.ctas}
    for what, spaces in (("loaded", counts.loaded), ("stored", counts.stored)):
        counted |= {f"bytes_{what}_{space}": size for space, size in sorted(spaces.items())}
    return counted


def _argument(argument: Argument, buffers: Mapping[str, Buffer]) -> Buffer | int | float:
    if argument.tensor is not None:
        return buffers[argument.tensor]
    assert argument.value is not None
    return argument.value


def _fill(buffers: Mapping[str, Buffer], tensors: Mapping[str, PlanTensor], inputs: Arrays) -> None:
    """Inputs to the device; poison into outputs without a content; scratch tensors stay undefined."""
    for name, buffer in buffers.items():
        tensor = tensors[name]
        if name in inputs:
            buffer.write(inputs[name])
        elif tensor.role == "output":
            buffer.write(content.poison(tensor.tensor))


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
