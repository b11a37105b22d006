"""The emulator as a device: the same calls as the driver's. See `ptxkit.device.protocol`."""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.asm.check import check_read
from ptxkit.asm.check.reached import CheckedFunctions
from ptxkit.asm.launch import CheckedLaunch, Requirements, check_launch, check_resident
from ptxkit.asm.tree import Function, Module
from ptxkit.device.arguments import Signature, device_address
from ptxkit.device.calls import AnyDevice, OnDevice
from ptxkit.device.protocol import element_type, extents, host_array
from ptxkit.diagnostics import Diagnostic, PtxkitError, error
from ptxkit.emulator.buffer import EmulatorBuffer
from ptxkit.emulator.builder import build
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.execution import Execution, Progress, resident_ctas
from ptxkit.emulator.faults import EmulatorFault, Origins
from ptxkit.emulator.global_memory import GlobalMemory
from ptxkit.emulator.image import Image
from ptxkit.emulator.launch_findings import LaunchFindings
from ptxkit.emulator.launch_state import DeviceState, LaunchState
from ptxkit.emulator.prepared import PreparableKernel
from ptxkit.emulator.program import EntryProgram
from ptxkit.emulator.settings import options_of, refuse_machine
from ptxkit.emulator.texels.table import Textures


class Emulator(AnyDevice):
    """A device that runs PTX on the CPU.

    Args:
        order: when asynchronous work completes: `lazy`, as late as the rules allow, `eager`, at issue, or
            `random`, by `seed`, which then also decides which warps run and in which order atomics happen.
        seed: for `random`.
        sanitize: whether undefined bits are tracked and races sought; bounds and alignment always are.
        arch: the target whose limits and numerics hold, `sm_90a`; by default the loaded file's `.target`.
        tensor_cores: how matrix instructions sum: `measured`, by the models of `arch`'s tensor cores, or
            `float32`, in IEEE f32 along K.
        strict: whether the manual's text is the law: what shipping kernels do against it is an error instead
            of a warning, and what most of them leave out is warned of, too: a proxy
            fence between a generic read and an asynchronous write (P666), a wait in each phase (P683),
            an order between products and what overwrites their operands (P6131).
        traffic: whether to count wavefronts and bank conflicts of shared memory and sectors of global memory,
            in `counts.traffic`, too.
        memory: the global memory, which emulators may share; by default one of its own.
        jit: whether blocks that run often are compiled, to the same results; None: where the `jit` extra is
            installed.
        keep_going: whether launches go past errors: True, past up to 100 distinct ones, or how many. They are
            in `findings`, each once. Nothing goes past a trap or a launch without progress.
        rules: `allow`, `warn` or `deny`, by the code or name of a rule (`ptxkit.rules`).
        threads: how many cores a launch may use; by default those that this process may, or what the
            environment variable PTXKIT_THREADS says. Devices that share their memory use one.

    Raises:
        PtxkitError: P520, an unknown order or arithmetic, `jit` without the extra, no thread; P305, an
            unknown target; P518, an unknown rule or level.
    """

    def __init__(
        self,
        order: str = "lazy",
        seed: int = 0,
        sanitize: bool = True,
        arch: str | None = None,
        tensor_cores: str = "measured",
        jit: bool | None = None,
        strict: bool = False,
        traffic: bool = False,
        memory: GlobalMemory | None = None,
        keep_going: bool | int = False,
        rules: Mapping[str, str] | None = None,
        threads: int | None = None,
    ) -> None:
        refuse_machine(arch, tensor_cores)
        self.arch = arch
        self.tensor_cores = tensor_cores
        threads = 1 if threads is None and memory is not None else threads
        self.options = options_of(order, sanitize, strict, traffic, jit, keep_going, rules, threads)
        self.memory = GlobalMemory() if memory is None else memory
        self._shares = memory is not None
        self.origins = Origins()
        self.textures = Textures()
        self.random = np.random.default_rng(seed) if order == "random" else None
        self.counts = Counts()
        self.progress: Progress | None = None
        self.prepare: Callable[[Execution], None] | None = None
        """Called with each launch before it begins."""
        self.output: Callable[[str], None] = _print
        self.launches = 0
        self.last_launch: LaunchState | None = None
        self.number = 0
        """Among the devices that share its memory."""
        self.together: list[Execution] | None = None
        """Takes launches that are to run at the same time as others, instead of running them."""
        self._findings: list[Diagnostic] = []
        self._modules: weakref.WeakSet[EmulatorModule] = weakref.WeakSet()

    name = kind = "emu"

    @property
    def findings(self) -> list[Diagnostic]:
        """Warnings so far, and errors that launches went past, in order."""
        return self._findings

    def load(self, source: str | Path | Module) -> EmulatorModule:
        """As `Device.load`. Raises PtxkitError: also P714, the emulator was closed."""
        self.memory.refuse_closed()
        module = source if isinstance(source, Module) else parse(source)
        if errors := [found for found in check_read(module, self.arch, lints=False) if found.is_error]:
            raise PtxkitError(errors)
        loaded = EmulatorModule(self, module)
        self._modules.add(loaded)
        return loaded

    def array(self, source: Any, name: str | None = None) -> EmulatorBuffer:
        """A device copy of an array: numpy, DLPack, or anything that numpy can make an array of."""
        host = host_array(source)
        buffer = EmulatorBuffer(
            self.memory, self.origins, host.shape, host.dtype, name or "array", self._refuse
        )
        buffer.write(host)
        return buffer

    def empty(self, shape: int | Sequence[int], dtype: Any, name: str | None = None) -> EmulatorBuffer:
        """As `Device.empty`. Raises PtxkitError: also P714, the emulator was closed."""
        buffer = EmulatorBuffer(
            self.memory, self.origins, extents(shape), element_type(dtype), name or "empty", self._refuse
        )
        if self.options.sanitize:
            self.memory.forget(buffer.allocation)
        return buffer

    def _refuse(self, fault: EmulatorFault) -> None:
        """A read of the host's met an error: it is raised, or noted where launches go past errors."""
        options = self.options
        found = LaunchFindings(self._findings, options.keep_going, options.rules)
        for each in fault.diagnostics:
            found.add(each)

    def __rich_repr__(self) -> Iterator[Any]:
        options = self.options
        yield "arch", self.arch, None
        yield "order", options.order, "lazy"
        yield "sanitize", options.sanitize, True
        yield "strict", options.strict, False
        yield "launches", self.launches, 0
        yield "findings", len(self._findings), 0
        yield "closed", self.memory.closed, False

    def synchronize(self) -> None:
        """Wait for everything launched so far. A launch of the emulator has finished when it returns."""
        self.memory.refuse_closed()

    def address_of(self, value: Any) -> int | None:
        """The address of an argument, as `ptxkit.device.arguments` asks for it.

        Raises:
            PtxkitError: P509, a buffer of another emulator or of a GPU.
        """
        if getattr(value, "memory", None) is self.memory:
            address: int = value.address
            return address
        if not isinstance(value, EmulatorBuffer) and device_address(value) is None:
            return None
        there = "another emulator" if isinstance(value, EmulatorBuffer) else "a GPU"
        message = f"expected a buffer of this emulator, found one of {there}"
        raise error(
            "P509", message, help="make it with `array` or `empty` of the device that runs the kernel"
        )

    def close(self) -> None:
        """As `Device.close`."""
        for module in list(self._modules):
            module.image.close()
        self._modules.clear()
        self.memory.closed = self.memory.closed or not self._shares


class EmulatorModule(OnDevice):
    """A module on the emulator."""

    def __init__(self, device: Emulator, module: Module) -> None:
        self.device = device
        self.module = module
        target = targets.parse(device.arch or module.target or "")
        assert target is not None, "`check` lets no module pass without a target"
        self.limits = targets.limits(target)
        shared = device.memory, device.tensor_cores, device.textures, device.options.jit
        self.image = Image(module, target.capability, *shared)
        weakref.finalize(self, self.image.close)
        self._checked = CheckedFunctions(module, device.arch)
        self._kernels: dict[str, EmulatorKernel] = {}

    def kernel(self, name: str | None = None) -> EmulatorKernel:
        """The entry `name`; None where the module has exactly one.

        Raises:
            PtxkitError: P504, no such entry, or several and no name; errors in what `load` left unread.
        """
        entries = {entry.name: entry for entry in self.module.entries}
        if name is None and len(entries) == 1:
            (name,) = entries
        if name is None or name not in entries:
            notes = (f"entries: {', '.join(f'`{entry}`' for entry in entries) or 'none'}",)
            several = f"expected the name of an entry: the module has {len(entries)}"
            message = f"no entry `{name}`" if name else several if entries else "no entry"
            raise error("P504", message, notes=notes, source=self.module.source)
        if name not in self._kernels:
            self._checked.reach(entries[name])
            self._kernels[name] = EmulatorKernel(self, entries[name])
        return self._kernels[name]

    def __rich_repr__(self) -> Iterator[Any]:
        yield "target", self.module.target
        yield "entries", [entry.name for entry in self.module.entries]

    def variable(self, name: str) -> tuple[int, int] | None:
        """Of a variable of global or constant memory the address, in global memory, and the bytes, if any."""
        return self.image.variable(name)


class EmulatorKernel(PreparableKernel):
    """One `.entry`."""

    def __init__(self, module: EmulatorModule, entry: Function) -> None:
        self._module = module
        self._entry = entry
        self._signature = Signature.of(entry, module.module.source)
        self._programs: dict[bool, EntryProgram] = {}
        self._requirements: Requirements | None = None
        self._last_shape: Any = None
        self._last_launch: CheckedLaunch | None = None

    @property
    def name(self) -> str:
        """The entry's name."""
        return self._entry.name

    @property
    def signature(self) -> Signature:
        """The parameters, from the `.entry`."""
        return self._signature

    @property
    def program(self) -> EntryProgram:
        """The compiled entry; what is in both of its kinds is asked of the one that there is.

        Raises:
            PtxkitError: P601, one finding for each instruction that the emulator does not execute.
        """
        return next(iter(self._programs.values()), None) or self._compiled(False)

    def compile(self, clustered: bool) -> None:
        """Translate the entry now, for launches with clusters of several CTAs, or for those without.

        Raises:
            PtxkitError: P601, as `program`.
        """
        self._compiled(clustered)

    def _compiled(self, clustered: bool) -> EntryProgram:
        """The entry compiled for launches with clusters of several CTAs, or for those without."""
        if clustered not in self._programs:
            offsets = {parameter.name: parameter.offset for parameter in self._signature}
            start = self._module.limits.shared_reserved
            self._programs[clustered] = EntryProgram(
                self._module.image, self._entry, offsets, start, build, clustered
            )
        return self._programs[clustered]

    @property
    def attributes(self) -> dict[str, int]:
        """Bytes of static shared memory, of local memory, of the parameters and of the module's constants;
        most threads of a CTA."""
        program = self.program
        return {
            "shared_bytes": program.shared_static,
            "local_bytes": program.code.frame,
            "parameter_bytes": self._signature.size,
            "constant_bytes": self._module.image.constant_bytes,
            "max_threads": self._module.limits.threads_per_cta,
        }

    @property
    def requirements(self) -> Requirements:
        """What its directives and its shared memory demand of launches."""
        if self._requirements is None:
            statics = self.program.shared_static
            self._requirements = Requirements.of(self._entry, statics, source=self._module.module.source)
        return self._requirements

    def check(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
    ) -> CheckedLaunch:
        """What a launch of this shape would be.

        Raises:
            PtxkitError: a bad shape or size (P5), a form that is not executed (P601).
        """
        shape = (grid, block, cluster, shared, cooperative)
        if shape == self._last_shape and self._last_launch is not None:
            return self._last_launch
        requirements = self.requirements
        launch = check_launch(requirements, self._module.limits, grid, block, cluster, shared, cooperative)
        check_resident(requirements, launch, self.resident_ctas(launch.threads, launch.shared))
        self._last_shape, self._last_launch = shape, launch
        return launch

    def resident_ctas(self, threads: int, shared: int = 0) -> int:
        """How many CTAs of so many threads and bytes of dynamic shared memory the device holds at once."""
        program = self.program
        used = program.dynamic_start - program.shared_start + shared
        if not shared and not program.has_dynamic:
            used = program.shared_static
        return resident_ctas(self._module.limits, threads, used)

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] | bytes = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        stream: Any = None,
        programmatic: bool = False,
    ) -> None:
        """Run the kernel to its end. See `ptxkit.device.protocol.Kernel.launch`.

        Args:
            args: as there; or the bytes of the whole parameter space.
            programmatic: may begin before the kernel ahead of it has ended (`griddepcontrol`): it runs after
                that one, but what it does before `griddepcontrol.wait` is not ordered behind it.

        Raises:
            PtxkitError: a bad shape, size or argument (P5), a form that is not executed (P601), a closed
                emulator (P714).
            EmulatorFault: the first error finding that the device does not go past.
        """
        execution = self.execution(grid, block, args, cluster, shared, cooperative, programmatic)
        device = self._module.device
        if device.together is not None:
            device.together.append(execution)
        else:
            execution.run(device.progress)

    def execution(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] | Mapping[str, Any] | bytes = (),
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        programmatic: bool = False,
    ) -> Execution:
        """A launch that is ready to run. Takes the arguments of `launch`, and raises what it does before the
        kernel begins."""
        device, limits = self._module.device, self._module.limits
        device.memory.refuse_closed()
        launch = self.check(grid, block, cluster, shared, cooperative)
        program = self._compiled(math.prod(launch.cluster) > 1)
        parameters = args if isinstance(args, bytes) else self._signature.pack(args, device.address_of)
        device.launches += 1
        shown = device.origins, device.findings, device.textures
        machine = DeviceState(device.memory, device.random, device.output, *shown, device.number)
        state = LaunchState(program, launch, parameters, machine, device.options, limits, device.launches)
        execution = Execution(program, state, programmatic)
        device.counts, device.last_launch = state.counts, state
        if device.prepare is not None:
            device.prepare(execution)
        return execution

    def address_of(self, value: Any) -> int | None:
        """The address of an argument, as `Emulator.address_of`."""
        return self._module.device.address_of(value)


def _print(text: str) -> None:
    """Where kernels print to unless somebody sets `Emulator.output`."""
    sys.stdout.write(text)
