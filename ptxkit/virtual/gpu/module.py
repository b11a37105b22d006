"""Modules and their kernels. Driver API, "Module management"."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ptxkit.asm.launch import CheckedLaunch as Shape
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.device import EmulatorKernel
from ptxkit.virtual.abi import gatherer
from ptxkit.virtual.calling import NOWHERE, HostStack
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.loading import load_text, refusing_ptx
from ptxkit.virtual.gpu.reported import ReportedWork
from ptxkit.virtual.gpu.schedule import Rounds
from ptxkit.virtual.gpu.stream_races import touched_by_launch
from ptxkit.virtual.gpu.work import Dim3, Work
from ptxkit.virtual.results import DriverError, code, failure

if TYPE_CHECKING:
    from ptxkit.emulator.concurrency import Concurrency
    from ptxkit.emulator.execution import Execution

MAX_THREADS, SHARED, CONST, LOCAL, REGISTERS = range(5)
PTX_VERSION, BINARY_VERSION, CACHE_MODE, MAX_DYNAMIC_SHARED, CARVEOUT = range(5, 10)
CLUSTER_REQUIRED, CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH = range(10, 14)
NON_PORTABLE_CLUSTER, CLUSTER_POLICY = 14, 15
"""`CUfunction_attribute`."""
_SIZES = range(1 << 31)
SETTABLE = {
    MAX_DYNAMIC_SHARED: _SIZES,
    CARVEOUT: range(-1, 101),
    **dict.fromkeys((CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH), _SIZES),
    NON_PORTABLE_CLUSTER: _SIZES,
    CLUSTER_POLICY: range(3),
}
"""Those that can be set, and to what."""
ASSUMED_REGISTERS = 32
"""What a kernel is said to need of registers: only an assembler knows."""


class VirtualModule(Object):
    """PTX that was loaded into a context.

    Attributes:
        context: where.
        text: the PTX.
        loaded: on the emulator.
    """

    noun: ClassVar[str] = "module"

    def __init__(self, context: VirtualContext, text: str) -> None:
        machine = context.machine
        machine.modules += 1
        self.context = context
        self.text = text
        self.loaded = load_text(context.device, text, f"<module {machine.modules}>")
        self._functions: dict[str, VirtualFunction] = {}

    @property
    def names(self) -> list[str]:
        """Its kernels."""
        return [entry.name for entry in self.loaded.module.entries]

    def function(self, name: str) -> VirtualFunction:
        """A kernel by its name.

        Raises:
            DriverError: NOT_FOUND; INVALID_PTX, the kernel has errors.
        """
        if not name:
            raise failure("INVALID_VALUE", "the name of a kernel is empty")
        if name not in self._functions:
            if name not in self.names:
                raise failure("NOT_FOUND", f"the module has no kernel `{name}`")
            with refusing_ptx():
                self._functions[name] = VirtualFunction(self, self.loaded.kernel(name))
            self.context.own(self._functions[name])
        return self._functions[name]

    def variable(self, name: str) -> tuple[int, int]:
        """The address and the bytes of a variable.

        Raises:
            DriverError: NOT_FOUND; INVALID_VALUE, it is a kernel.
        """
        found = self.loaded.variable(name)
        if name in self.names:
            raise failure("INVALID_VALUE", f"`{name}` is a kernel")
        if found is None:
            raise failure("NOT_FOUND", f"the module has no variable `{name}`")
        return found

    def close(self) -> None:
        """Unload it: its kernels and variables are gone."""
        for function in self._functions.values():
            self.context.disown(function)
        self._functions.clear()
        self.loaded.image.close()


@dataclass(slots=True)
class KernelWork(Work):
    """A kernel's launch.

    Attributes:
        function: the kernel.
        grid, block, cluster: its shape; no cluster for what the kernel says.
        shared: bytes of dynamic shared memory.
        arguments: the bytes of the parameter space.
        cooperative: whether all CTAs are resident at once.
        programmatic: whether it may begin before the launch ahead of it has ended.
        stack: where the host launched it.
    """

    node_type: ClassVar[int] = 0
    beside: ClassVar[bool] = True
    function: VirtualFunction
    grid: Dim3
    block: Dim3
    cluster: Dim3 | None
    shared: int
    arguments: bytes
    cooperative: bool = False
    programmatic: bool = False
    stack: HostStack = NOWHERE

    def run(self) -> Rounds | None:
        return self.function.run(self)


MOST_CHECKED = 64
"""Shapes of launches of a kernel that are known to be right."""


class VirtualFunction(Object):
    """A kernel of a module.

    Attributes:
        module: its module.
        kernel: on the emulator.
        settings: what `cuFuncSetAttribute` set.
        gather: puts the parameter space together, of an array of the parameters' addresses.
    """

    noun: ClassVar[str] = "kernel"

    def __init__(self, module: VirtualModule, kernel: EmulatorKernel) -> None:
        self.module = module
        self.kernel = kernel
        self.settings: dict[int, int] = {}
        self._told = f"`{kernel.name}`"
        self._checked: set[tuple[object, ...]] = set()
        signature = kernel.signature
        self.gather = gatherer(((one.offset, one.size) for one in signature), signature.size)

    @property
    def name(self) -> str:
        """The entry's name."""
        return self.kernel.name

    @property
    def device(self) -> VirtualDevice:
        """Where it runs."""
        return self.module.context.device

    @property
    def cluster(self) -> Dim3 | None:
        """The cluster that `cuFuncSetAttribute` set, if it did."""
        x, y, z = (self.settings.get(at, 0) for at in (CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH))
        return (x, y or 1, z or 1) if x else None

    def attribute(self, number: int) -> int:
        """The value of an attribute.

        Raises:
            DriverError: INVALID_VALUE, there is no such attribute.
        """
        if not 0 <= number <= CLUSTER_POLICY:
            raise failure("INVALID_VALUE", f"there is no attribute {number} of a kernel")
        if number in self.settings:
            return self.settings[number]
        requirements, limits = self.kernel.requirements, self.device.limits
        known = self.kernel.attributes
        version = self.module.loaded.module.version or (0, 0)
        major, minor = self.device.target.capability
        cluster = requirements.required_cluster or (0, 0, 0)
        return {
            MAX_THREADS: requirements.max_threads or limits.threads_per_cta,
            SHARED: known["shared_bytes"],
            CONST: known["constant_bytes"],
            LOCAL: known["local_bytes"],
            REGISTERS: self.kernel.program.registers or ASSUMED_REGISTERS,
            PTX_VERSION: 10 * version[0] + version[1],
            BINARY_VERSION: 10 * major + minor,
            MAX_DYNAMIC_SHARED: max(0, limits.shared_static - known["shared_bytes"]),
            CARVEOUT: -1,
            CLUSTER_REQUIRED: int(requirements.explicit_cluster),
            CLUSTER_WIDTH: cluster[0],
            CLUSTER_HEIGHT: cluster[1],
            CLUSTER_DEPTH: cluster[2],
        }.get(number, 0)

    def set_attribute(self, number: int, value: int) -> None:
        """Set one of the attributes that can be set.

        Raises:
            DriverError: INVALID_VALUE, among others for the cluster of a kernel that says its own.
        """
        if value not in SETTABLE.get(number, ()):
            raise failure("INVALID_VALUE", f"attribute {number} of a kernel can't be set to {value}")
        most = self.device.limits.shared_per_cta - self.kernel.attributes["shared_bytes"]
        if number == MAX_DYNAMIC_SHARED and value > most:
            raise failure("INVALID_VALUE", f"at most {most} bytes of dynamic shared memory, found {value}")
        if CLUSTER_WIDTH <= number <= CLUSTER_DEPTH and self.kernel.requirements.required_cluster:
            raise failure("INVALID_VALUE", f"`{self.name}` has a cluster of its own")
        self.settings[number] = value
        self._checked.clear()

    def check(self, launch: KernelWork) -> None:
        """Refuse what the driver refuses before a launch is queued.

        Raises:
            DriverError: INVALID_VALUE, INVALID_CLUSTER_SIZE, COOPERATIVE_LAUNCH_TOO_LARGE,
            LAUNCH_OUT_OF_RESOURCES.
        """
        shape_of = (launch.grid, launch.block, launch.cluster, launch.shared, launch.cooperative)
        if shape_of in self._checked:
            return
        most = self.attribute(MAX_DYNAMIC_SHARED) if launch.shared else 0
        if launch.shared > most:
            raise failure(
                "COOPERATIVE_LAUNCH_TOO_LARGE" if launch.cooperative else "INVALID_VALUE",
                f"`{self.name}` takes at most {most} bytes of dynamic shared memory unless "
                f"MAX_DYNAMIC_SHARED_SIZE_BYTES says so, found {launch.shared}",
            )
        try:
            shape: Shape = self.kernel.check(
                launch.grid, launch.block, launch.cluster, launch.shared, launch.cooperative
            )
        except PtxkitError as problem:
            raise DriverError(_code_of(problem, launch), str(problem)) from None
        ctas = shape.cluster[0] * shape.cluster[1] * shape.cluster[2]
        if ctas > 8 and not self.attribute(NON_PORTABLE_CLUSTER):
            why = f"a cluster of {ctas} CTAs needs NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
            raise failure("INVALID_CLUSTER_SIZE", why)
        if len(self._checked) < MOST_CHECKED:
            self._checked.add(shape_of)

    def run(self, launch: KernelWork) -> Rounds | None:
        """Run a launch to its end; where there are several devices, give the rounds in which it does."""
        device = self.module.context.device
        machine, report = device.machine, device.machine.report
        report.launches += 1
        name = f"{self._told}, launch {report.launches}"
        if machine.concurrency is not None:
            return self._rounds(launch, name, machine.concurrency)
        with ReportedWork(machine, name, launch.stack, device.emulator.findings):
            execution = self._execution(launch)
            execution.follows_reads = sought = machine.seeks_stream_races
            begun = time.perf_counter()
            execution.run(device.emulator.progress)
            if execution.launch.clock:
                device.passed(execution.launch, time.perf_counter() - begun)
            if sought:
                machine.touched(name, touched_by_launch(machine.memory), launch.stack)
            if device.predictor is not None:
                for one in device.predictor.predictions():
                    report.predicted(name, one)
        return None

    def _execution(self, launch: KernelWork) -> Execution:
        return self.kernel.execution(
            launch.grid,
            launch.block,
            launch.arguments,
            launch.cluster,
            launch.shared,
            launch.cooperative,
            launch.programmatic,
        )

    def _rounds(self, launch: KernelWork, name: str, concurrency: Concurrency) -> Rounds:
        reported = ReportedWork(self.device.machine, name, launch.stack, self.device.emulator.findings)
        with reported:
            execution, begun = self._execution(launch), time.perf_counter()
            one = concurrency.begin(execution)
        try:
            yield
            while True:
                with reported:
                    if concurrency.turn(one):
                        if execution.launch.clock:
                            self.device.passed(execution.launch, time.perf_counter() - begun)
                        return
                if one.stalled or self.device.machine.options.order == "random":
                    yield
        finally:
            if one in concurrency.under_way:
                concurrency.end(one)


def _code_of(problem: PtxkitError, launch: KernelWork) -> int:
    """What the driver says of a launch that `check_launch` refuses."""
    codes = {diagnostic.code for diagnostic in problem.diagnostics}
    if "P601" in codes:
        return code("NOT_SUPPORTED")
    if launch.cooperative and "P516" in codes:
        return code("COOPERATIVE_LAUNCH_TOO_LARGE")
    if "P513" in codes:
        return code("INVALID_CLUSTER_SIZE")
    return code("INVALID_VALUE")
