"""A launch plan before its launch: the problem's inputs and expectations, the tensors on a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.device.protocol import Buffer, Device, Kernel, LoadedModule
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import Counts, Emulator
from ptxkit.emulator.buffer import EmulatorBuffer
from ptxkit.emulator.device import EmulatorKernel
from ptxkit.emulator.last_writer import ctas_named, last_writer, writing_ctas
from ptxkit.encodings.tensor_maps import TensorMap, tensor_map
from ptxkit.plan import Argument, Launch, LaunchPlan, problem_of
from ptxkit.running.host_memory import check_host_memory, host_memory
from ptxkit.workloads import Arrays, Cost, Expected, Tensor, content, workload
from ptxkit.workloads.comparison import OutputComparison, compare

if TYPE_CHECKING:
    from ptxkit.driver import CudaKernel, Stopwatch
    from ptxkit.emulator.execution import Execution

PEAKS = frozenset({"tensor_memory_columns", "shared_bytes"})
"""The counters of which several launches have the greatest, not the sum."""


class Case:
    """A plan's problem: its inputs, and what the outputs must hold. Both are made when first asked for.

    Attributes:
        plan: the plan.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self.plan = plan
        self._problem = problem_of(plan)

    @cached_property
    def inputs(self) -> Arrays:
        """First contents by tensor, as stored.

        Raises:
            PtxkitError: P564, too little host memory.
        """
        check_host_memory(self.plan)
        with host_memory(self.plan):
            return self._problem.generate()

    def some_inputs(self, names: frozenset[str]) -> Arrays:
        """First contents of some tensors; those of others may be among them.

        Raises:
            PtxkitError: P564, too little host memory.
        """
        with host_memory(self.plan):
            return self._problem.generate(names)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Those of the problem by name, also what no argument is made of."""
        found = workload(self.plan.workload).tensors(self.plan.sizes) if self.plan.workload else ()
        own = (tensor.tensor for tensor in self.plan.tensors)
        return {tensor.name: tensor for tensor in (*found, *own)}

    @property
    def reference(self) -> Callable[[Arrays], dict[str, Expected]]:
        """What the outputs must hold, of inputs as stored."""
        return self._problem.reference

    @cached_property
    def cost(self) -> Cost | None:
        """What the problem asks of the hardware; None if unspecified."""
        return self._problem.cost()

    @property
    def in_place(self) -> bool:
        """Whether an output has a first content, so that a second launch would begin from another."""
        return any(tensor.role == "output" and tensor.name in self.inputs for tensor in self.plan.tensors)

    def compare(self, outputs: Arrays, patterned: bool = True) -> tuple[OutputComparison, ...]:
        """Outputs, as stored, against the reference; nothing where there is none.

        Args:
            outputs: by name.
            patterned: whether to look for what wrong elements have in common.

        Raises:
            PtxkitError: P557, P564.
        """
        with host_memory(self.plan):
            return tuple(
                compare(
                    tensor.tensor,
                    outputs[tensor.name],
                    self._expected[tensor.name],
                    tolerance,
                    patterned=patterned,
                )
                for tensor in self.plan.tensors
                if tensor.name in outputs and tensor.name in self._expected
                for tolerance in [self._problem.tolerance(tensor.name)]
            )

    @cached_property
    def _expected(self) -> dict[str, Expected]:
        return self._problem.reference(self.inputs)


class LoadedPlan:
    """A plan's tensors on a device, and its launches on them.

    Args:
        device: where.
        loaded: the plan's program, loaded there.
        plan: what to launch.

    Raises:
        PtxkitError: no such entry; P705, too little device memory.
    """

    def __init__(self, device: Device, loaded: LoadedModule, plan: LaunchPlan) -> None:
        self.device = device
        self.plan = plan
        self.kernels = [loaded.kernel(launch.entry) for launch in plan.launches]
        self.tensors = {tensor.name: tensor for tensor in plan.tensors}
        self.buffers: dict[str, Buffer] = {}
        self.suspicion: str | None = None
        self.mistyped: str | None = None
        """Behind `cause`: what products do with sums that may be meant, in words."""
        try:
            for name, tensor in self.tensors.items():
                layout = tensor.tensor
                self.buffers[name] = device.empty(layout.storage_shape, layout.storage_dtype, name)
        except BaseException:
            self.free()
            raise

    def __enter__(self) -> LoadedPlan:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def fill(self, inputs: Arrays) -> None:
        """Inputs to the device; poison into outputs without a content; scratch tensors stay undefined."""
        for name, buffer in self.buffers.items():
            tensor = self.tensors[name]
            if name in inputs:
                buffer.write(inputs[name])
            elif tensor.role == "output":
                buffer.write(content.poison(tensor.tensor))

    def compile(self) -> None:
        """On the emulator translate the entries now, which would else be part of their first launch.

        Raises:
            PtxkitError: P601, forms that the emulator does not execute.
        """
        for launch, kernel in zip(self.plan.launches, self.kernels, strict=True):
            if isinstance(kernel, EmulatorKernel):
                kernel.compile(clustered=prod(launch.cluster or (1,)) > 1)

    def launch(self, counters: Counter[str] | None = None) -> None:
        """Launch everything once, in order; on the emulator add up what it counts."""
        for launch, kernel in zip(self.plan.launches, self.kernels, strict=True):
            kernel.launch(**self._given(launch))
            if counters is not None and isinstance(self.device, Emulator):
                for name, count in _counted(self.device.counts).items():
                    counters[name] = max(counters[name], count) if name in PEAKS else counters[name] + count

    def launch_on_one_core(self, inputs: Arrays) -> None:
        """Launch everything again where several cores ran it, on the emulator: there, records tell who wrote
        what. What is found again is not kept."""
        device = self.device
        if (
            not isinstance(device, Emulator)
            or not device.last_launch
            or not device.last_launch.on_several_cores
        ):
            return
        options, known = device.options, len(device.findings)
        device.options = options._replace(threads=1)
        try:
            self.fill(inputs)
            self.launch()
        finally:
            device.options = options
            del device.findings[known:]

    def prepare(self, stopwatch: Stopwatch) -> Callable[[], None]:
        """On a GPU the same, checked and packed once, in the stopwatch's stream."""
        prepared = [
            _gpu_kernel(kernel).prepare(**self._given(launch), stream=stopwatch.stream)
            for launch, kernel in zip(self.plan.launches, self.kernels, strict=True)
        ]
        return prepared[0] if len(prepared) == 1 else partial(_call_all, prepared)

    def facts(self) -> tuple[dict[str, Any], ...]:
        """Of each launch the entry's name and what the device knows of it; on a GPU `ctas_per_sm` too."""
        found = []
        for launch, kernel in zip(self.plan.launches, self.kernels, strict=True):
            facts: dict[str, Any] = {"name": kernel.name, **kernel.attributes}
            if self.device.kind == "cuda":
                facts["ctas_per_sm"] = _gpu_kernel(kernel).occupancy(launch.block, launch.shared)
            found.append(facts)
        return tuple(found)

    def read(self, name: str) -> np.ndarray:
        """What a tensor holds, as stored."""
        return self.buffers[name].numpy()

    def outputs(self) -> Arrays:
        """What the outputs hold, as stored."""
        return {name: self.read(name) for name, tensor in self.tensors.items() if tensor.role == "output"}

    def check_arguments(self) -> None:
        """Whether a kernel left undefined bytes in tensors of which nothing says what they are for.

        Raises:
            EmulatorFault: P606, as `numpy` of a buffer of the emulator.
        """
        for name, tensor in self.tensors.items():
            if tensor.role == "argument" and isinstance(self.device, Emulator):
                self.read(name)

    def writer_of(self, comparison: OutputComparison) -> str | None:
        """Who wrote the first wrong element of an output; None where that is not known."""
        launch = self.device.last_launch if isinstance(self.device, Emulator) else None
        if launch is None or comparison.first is None:
            return None
        tensor, index = self.tensors[comparison.tensor].tensor, comparison.first.index
        place = sum(i * stride for i, stride in zip(index[:-1], tensor.strides, strict=True))
        inner = index[-1] if index else 0
        return last_writer(
            launch, self.buffers[tensor.name].address + place + inner * DTYPES[tensor.dtype].bits // 8
        )

    def wrong_ctas(self, comparison: OutputComparison) -> str | None:
        """Which CTAs wrote the wrong elements, in words; None unless all that they wrote is wrong, others
        wrote what is right, and one name says who they are."""
        launch = self.device.last_launch if isinstance(self.device, Emulator) else None
        if launch is None or comparison.which is None or not len(comparison.which):
            return None
        tensor = self.tensors[comparison.tensor].tensor
        index = np.indices(tensor.shape, sparse=True)
        offsets = sum((i * stride for i, stride in zip(index[:-1], tensor.strides, strict=True)), np.int64(0))
        offsets = offsets + index[-1] * DTYPES[tensor.dtype].bits // 8
        written_by = writing_ctas(launch, self.buffers[tensor.name].address + np.ravel(offsets))
        return None if written_by is None else ctas_named(launch, written_by, comparison.which)

    def cause(self, inputs: Arrays) -> str | None:
        """What is wrong with how a product reads a matrix in shared memory: the launches are run again on the
        emulator. None where nothing is known to be, or nothing multiplies such matrices."""
        assert isinstance(self.device, Emulator)
        text = self.plan.embedded().program.read()
        if not any(name in text for name in ("wgmma.mma_async", "tcgen05.mma", "ldmatrix", "mma.sync")):
            return None
        from ptxkit.emulator.matrix_layouts import LayoutWatch
        from ptxkit.emulator.matrix_reads import KnownTensor

        layouts = [(buffer, self.tensors[name].tensor) for name, buffer in self.buffers.items()]
        tensors = [
            KnownTensor(buffer.address, layout.shape, layout.strides, layout.nbytes, layout.dtype)
            for buffer, layout in layouts
        ]
        device, watch = self.device, LayoutWatch(tensors)
        known, prepare = len(device.findings), device.prepare

        def watched(execution: Execution) -> None:
            execution.launch.layouts = watch

        device.prepare = watched
        complete = False
        try:
            self.fill(inputs)
            self.launch()
            complete = True
        except PtxkitError:
            pass  # What ended it is known already.
        finally:
            device.prepare = prepare
            del device.findings[known:]
        self.suspicion, self.mistyped = watch.sums.suspicion, watch.mistyped
        return watch.found(complete)

    def untouched(self) -> list[Diagnostic]:
        """P809 for each tensor that no thread has read or written. Nothing on a GPU: it does not tell."""
        help = "compare the order of the arguments with the parameters, and the path that threads take"
        return [
            Diagnostic("P809", f"no thread read or wrote `{name}`", severity=Severity.NOTE, help=help)
            for name, buffer in self.buffers.items()
            if isinstance(buffer, EmulatorBuffer) and buffer.allocation.size and not buffer.allocation.touched
        ]

    def free(self) -> None:
        """Give the tensors back."""
        for buffer in self.buffers.values():
            buffer.free()

    def _given(self, launch: Launch) -> dict[str, Any]:
        """What both kinds of kernel take to be launched so."""
        return {
            "grid": launch.grid,
            "block": launch.block,
            "args": [self._argument(argument) for argument in launch.arguments],
            "cluster": launch.cluster,
            "shared": launch.shared,
            "cooperative": launch.cooperative,
        }

    def _argument(self, argument: Argument) -> Buffer | TensorMap | int | float | bytes:
        if argument.tensor is not None:
            return self.buffers[argument.tensor]
        if argument.tensor_map is not None:
            return self.map(argument.tensor_map)
        if argument.content is not None:
            return bytes.fromhex(argument.content)
        assert argument.value is not None
        return argument.value

    def map(self, name: str) -> TensorMap:
        """The tensor map of that name, over the tensor's buffer.

        Raises:
            PtxkitError: P450 to P459, no tensor map can be so.
        """
        (asked,) = (tensor_map for tensor_map in self.plan.tensor_maps if tensor_map.name == name)
        tensor = self.tensors[asked.tensor]
        options: dict[str, Any] = dict(asked.options)
        try:
            return tensor_map(
                self.buffers[asked.tensor],
                dtype=asked.dtype or tensor.dtype,
                shape=asked.shape or tensor.shape,
                strides=asked.strides,
                box=asked.box,
                element_strides=asked.element_strides,
                **options,
            )
        except PtxkitError as problem:
            whose = f"tensor map `{name}` of `{tensor.name}`, {tensor.dtype}{list(tensor.shape)}"
            noted = [replace(found, notes=(whose, *found.notes)) for found in problem.diagnostics]
            raise PtxkitError(noted) from None


def _gpu_kernel(kernel: Kernel) -> CudaKernel:
    from ptxkit.driver import CudaKernel

    assert isinstance(kernel, CudaKernel)
    return kernel


def _call_all(launches: Sequence[Callable[[], None]]) -> None:
    for launch in launches:
        launch()


def _counted(counts: Counts) -> dict[str, int]:
    """What the emulator counted, by name."""
    counted = {"thread_instructions": counts.instructions, "barriers": counts.barriers, "ctas": counts.ctas}
    counted |= {f"instructions.{chapter}": count for chapter, count in sorted(counts.by_chapter.items())}
    if counts.phases:
        counted["mbarrier_phases"] = counts.phases
    if counts.multiply_adds:
        counted["tensor_multiply_adds"] = counts.multiply_adds
    if counts.tensor_columns:
        counted["tensor_memory_columns"] = counts.tensor_columns
    if counts.shared_bytes:
        counted["shared_bytes"] = counts.shared_bytes
    counted |= {f"issued.{operation}": count for operation, count in sorted(counts.asynchronous.items())}
    for what, spaces in (("loaded", counts.loaded), ("stored", counts.stored)):
        counted |= {f"bytes_{what}_{space}": size for space, size in sorted(spaces.items())}
    if counts.traffic is not None:
        counted |= sorted(counts.traffic.counts.items())
    return counted
