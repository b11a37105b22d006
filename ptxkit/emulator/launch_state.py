"""What all CTAs of a launch share: its shape, its options, the memory, the numbers of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.launch import CheckedLaunch
from ptxkit.asm.symbols import Symbol
from ptxkit.diagnostics import Diagnostic, Severity, SpanLabel
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.counts import Counts, Traffic
from ptxkit.emulator.faults import Dim3, Origins, Site, ThreadIndex, finding
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory
from ptxkit.emulator.launch_findings import LaunchFindings
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.texels.table import Textures
from ptxkit.emulator.values import WARP
from ptxkit.rules import Rules
from ptxkit.targets import Limits

T = TypeVar("T")


class Layouts(Protocol):
    """Takes down how matrices come into shared memory and are read; see `ptxkit.emulator.matrix_layouts`."""

    def copied(
        self,
        batch: Any,
        places: np.ndarray,
        addresses: np.ndarray,
        unit: int,
        inside: np.ndarray | None = None,
        tensor_map: Any = None,
    ) -> None: ...

    def box(self, where: str, tensor_map: Any, at: Sequence[int], to: int, moves: Any, out: bool) -> None: ...

    def rows(self, batch: Any, where: str, places: np.ndarray) -> None: ...

    def scales(self, batch: Any, ctas: Sequence[int], where: str, word: int, column: int) -> None: ...

    def fragments(self, batch: Any, where: str, *matrices: Any) -> None: ...

    def adds(self, batch: Any, to: Any, where: str, adds: bool, negated: bool) -> None: ...

    def loaded(self, batch: Any, ctas: np.ndarray) -> None: ...

    def summed(self, batch: Any, which: Any, accumulator: int, where: str, values: np.ndarray) -> None: ...

    def product(
        self, batch: Any, ctas: tuple[int, ...], where: str, *reads: Any, scales: Any = None, of: Any = None
    ) -> None: ...


class EmulatorOptions(NamedTuple):
    """How a device executes; see `Emulator`.

    Attributes:
        order: when asynchronous work happens: `lazy`, `eager` or `random`.
        sanitize: whether undefined bits are tracked and races sought.
        strict: whether the manual's text is the law; see `Emulator`.
        traffic: whether to count what accesses cost the memory system.
        jit: whether blocks that run often are compiled.
        keep_going: how many distinct errors a launch goes past before one ends it; 0: none.
        rules: how much a breach of each rule weighs, where somebody says so.
        threads: how many cores a launch may use.
    """

    order: str
    sanitize: bool
    strict: bool
    traffic: bool
    jit: bool
    keep_going: int = 0
    rules: Rules = MappingProxyType({})
    threads: int = 1


@dataclass(slots=True)
class DeviceState:
    """What a device keeps from launch to launch.

    Attributes:
        memory: global memory.
        origins: of undefined bits.
        random: decides what the rules leave open, in random order; else None.
        findings: the warnings so far, and the errors that launches went past.
        output: takes what kernels print.
        textures: what handles of textures, samplers and surfaces stand for.
        device: its number among those that share the memory.
    """

    memory: GlobalMemory
    random: np.random.Generator | None
    output: Callable[[str], None]
    origins: Origins = field(default_factory=Origins)
    findings: list[Diagnostic] = field(default_factory=list)
    textures: Textures = field(default_factory=Textures)
    device: int = 0


class ProgramFacts(Protocol):
    """What a launch asks of the entry that it runs; see `ptxkit.emulator.program.Program`."""

    capability: tuple[int, int]
    unset: list[str]
    smallest: dict[str, int]
    reads_clock: bool
    reserved: int
    asynchronous: bool
    tensor_fences: bool
    launches_dependents: bool
    registers: int
    cta_memory: int
    shared_start: int
    shared_static: int
    dynamic_start: int
    has_dynamic: bool

    @property
    def shared_variables(self) -> Mapping[Symbol, int]: ...

    @property
    def constants(self) -> tuple[Bank, int]: ...

    def flow(self, function: str) -> Flow: ...

    def has_body(self, function: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """The shared memory of a CTA.

    Attributes:
        start: the address of its first byte.
        dynamic: bytes that the launch asks for.
        used: bytes of variables and of dynamic shared memory.
        total: the same with what the system keeps ahead of them, where the kernel may use that.
    """

    start: int
    dynamic: int
    used: int
    total: int

    @classmethod
    def of(cls, program: ProgramFacts, dynamic: int) -> SharedLayout:
        """Of a program that is launched with so many bytes of dynamic shared memory."""
        used = program.dynamic_start - program.shared_start + dynamic
        if not dynamic and not program.has_dynamic:
            used = program.shared_static
        return cls(program.shared_start - program.reserved, dynamic, used, used + program.reserved)


class Grid:
    """The CTAs of a grid, in the order of their start: cluster by cluster, and in each cluster by rank.
    `started`: CTAs that have started or been cancelled. `stop`: how many may start."""

    def __init__(self, shape: CheckedLaunch) -> None:
        self.shape = shape
        self.cluster = prod(shape.cluster)
        self.started = 0
        self.stop = shape.ctas
        self._numbers = in_clusters(shape.grid, shape.cluster)

    def only(self, places: np.ndarray) -> None:
        """None but these start: their places in the order of all."""
        self._numbers, self.started, self.stop = self._numbers[places], 0, len(places)

    @property
    def unstarted(self) -> int:
        """CTAs that have not started and may."""
        return self.stop - self.started

    def start(self, count: int) -> np.ndarray:
        """The numbers of the next CTAs, which start."""
        first, self.started = self.started, self.started + count
        return self._numbers[first : first + count]


def in_clusters(grid: Dim3, cluster: Dim3) -> np.ndarray:
    """The numbers of a grid's CTAs, x fastest: cluster by cluster, and in each cluster by rank."""
    if prod(cluster) == 1:
        return np.arange(prod(grid))
    (gx, gy, gz), (cx, cy, cz) = grid, cluster
    numbers = np.arange(prod(grid)).reshape(gz // cz, cz, gy // cy, cy, gx // cx, cx)
    return numbers.transpose(0, 2, 4, 1, 3, 5).reshape(-1)


class LaunchState:
    """One launch.

    Attributes:
        program: the entry.
        shape: the dimensions.
        options: of the device.
        limits: of the device.
        number: of the launch on its device.
        memory, origins, random, output, textures: of the device; see `DeviceState`.
        events: the numbers of accesses that may race, and of what orders them.
        parameters: the bank of kernel parameters.
        parameter_size: bytes of them.
        warps_per_cta: warps of one CTA.
        cluster: CTAs of a cluster.
        grid: the CTAs that have not started.
        shared: the shared memory of a CTA.
        counts: what it did so far.
        workspace: the address of the workspace of a cooperative launch, else 0.
        cta_memory: the address of the global memory that each CTA has a slice of, else 0.
        device: the number of its device among those that share the memory.
        company: the launches that run at the same time; None where it runs alone. See
            `ptxkit.emulator.company`.
        first_cta, place: the number that its first CTA has in records of accesses, and its own place among
            them.
        found: its findings.
        clock: time as kernels see it, in steps.
        elect_from: the lane from which on `elect.sync` seeks a leader: 0, unless strict and in random order.
        watching: whether it matters if anything changes: the last round ended no batch.
        changes: stores that changed something since.
        layouts: asked by copies and products; None but where a launch that went wrong is run again.
        on_several_cores: whether processes ran some of it: then no record tells who accessed what.
    """

    def __init__(
        self,
        program: ProgramFacts,
        shape: CheckedLaunch,
        parameters: bytes,
        machine: DeviceState,
        options: EmulatorOptions,
        limits: Limits,
        number: int,
    ) -> None:
        self.program: ProgramFacts = program
        self.shape: CheckedLaunch = shape
        self.options: EmulatorOptions = options
        self.sanitize, self.strict = options.sanitize, options.strict
        self.limits: Limits = limits
        self.sm_count: int = limits.sm_count or 1
        self.number: int = number
        self.memory = machine.memory
        self.origins = machine.origins
        self.events = machine.memory.events
        self.random = machine.random
        self.output = machine.output
        self.textures = machine.textures
        self.found = LaunchFindings(machine.findings, options.keep_going, options.rules)
        padded = np.zeros(-(-len(parameters) // 32) * 32 + 32, np.uint8)
        padded[: len(parameters)] = np.frombuffer(parameters, np.uint8)
        self.parameters = Bank(padded)
        self.parameter_size = len(parameters)
        self.warps_per_cta = -(-shape.threads // WARP)
        self.cluster = prod(shape.cluster)
        self.grid = Grid(shape)
        self.shared: SharedLayout = SharedLayout.of(program, shape.shared)
        self.counts = Counts(traffic=Traffic() if options.traffic else None, shared_bytes=self.shared.used)
        self.workspace: int = 0
        self.cta_memory: int = 0
        self.device: int = machine.device
        self.company: Any = None
        self.first_cta: int = 0
        self.place: int = 0
        self.clock: int = 0
        lane = int(self.random.integers(WARP)) if self.random is not None else 0  # the same order if strict
        self.elect_from = lane if options.strict else 0
        self.watching = False
        self.changes = 0
        self.layouts: Layouts | None = None
        self.on_several_cores = False
        self._own: dict[type, Any] = {}

    def own(self, kind: type[T]) -> T:
        """What a part of the machine keeps for the launch, one of a kind; made when it is first asked for."""
        found = self._own.get(kind)
        if found is None:
            found = self._own[kind] = kind()
        return found

    def begin_again(self) -> None:
        """Nothing has happened yet. What it counted and stored is somebody else's to forget."""
        self.grid.started, self.changes, self.watching = 0, 0, False
        self._own.clear()
        self.found.forget()

    def forgotten(self, space: str) -> str | None:
        """What to do about an access out of bounds where the launch asks for no dynamic shared memory, and
        the entry has a variable for it."""
        if space != "shared" or self.shared.dynamic or not self.program.has_dynamic:
            return None
        return (
            "the launch asks for no dynamic shared memory: say how many bytes, by `--shared`, `shared` in the"
            " card or the launch's `shared=`"
        )

    def cancel(self) -> tuple[int, int, int, int]:
        """Take the next cluster that has not started out of the queue, for a CTA that runs. Returns the
        coordinates of its first CTA, and 1; zeros where there is none left."""
        if not self.grid.unstarted:
            return 0, 0, 0, 0
        x, y, _ = self.shape.grid
        first = int(self.grid.start(self.cluster)[0])
        self.counts.ctas += self.cluster
        return first % x, first // x % y, first // (x * y), 1

    def owner_of(self, cta: int) -> tuple[LaunchState, int]:
        """The launch of a CTA that the record of an access names, and its number in that one's grid."""
        if self.company is None:
            return self, cta
        owner: tuple[LaunchState, int] = self.company.owner(cta)
        return owner

    @property
    def where(self) -> str:
        """What messages say behind a CTA: which device's it is, where several launches run."""
        return "" if self.company is None else f" on device {self.device}"

    def thread(self, cta: int, number: int) -> ThreadIndex:
        """The thread of a CTA, by the number of each: in the grid, and in the CTA."""
        (gx, gy, _), (bx, by, _) = self.shape.grid, self.shape.block
        coordinates = (cta % gx, cta // gx % gy, cta // (gx * gy))
        thread = number % bx, number // bx % by, number // (bx * by)
        return ThreadIndex(coordinates, thread, None if self.company is None else self.device)

    def seek_races(self, allocation: Allocation) -> AccessHistory:
        """Enter accesses to an allocation from now on."""
        granule: int = self.program.smallest["global"] if self.company is None else self.company.granule
        if allocation.history is None or allocation.history.granule > granule:
            allocation.history = AccessHistory(allocation.size, granule, allocation.address - BASE)
        return allocation.history

    def origin(self, number: int, site: Site) -> int:
        """The origin of a value that an instruction reads; see `Origins.root`."""
        return self.origins.root(number, self.program.unset, site)

    def origin_of_store(self, number: int, site: Site) -> int:
        """The origin of bytes into which an instruction stores a value with undefined bits."""
        return self.origins.of_store(self.origin(number, site), site)

    def warn(
        self,
        code: str,
        message: str,
        site: Site | None,
        notes: Sequence[str] = (),
        help: str | None = None,
        labels: Sequence[SpanLabel] = (),
    ) -> None:
        """Add a warning to the device's findings, once for each instruction."""
        self.found.add(finding(code, message, site, notes, help, labels, Severity.WARNING))

    def hint(
        self, code: str, message: str, site: Site, notes: Sequence[str] = (), help: str | None = None
    ) -> None:
        """Add a hint to the device's findings, something legal: once for each rule and module."""
        self.found.add(finding(code, message, site, notes, help, severity=Severity.NOTE))

    def formally_wrong(
        self,
        code: str,
        message: str,
        site: Site | None,
        notes: Sequence[str] = (),
        help: str | None = None,
        labels: Sequence[SpanLabel] = (),
    ) -> None:
        """Report what the manual's text forbids and shipping code does: a warning, where the device is strict
        an error.

        Raises:
            EmulatorFault: the error, unless the launch goes past it.
        """
        say = self.report if self.strict else self.warn
        say(code, message, site, notes, help, labels)

    def report(
        self,
        code: str,
        message: str,
        site: Site | None,
        notes: Sequence[str] = (),
        help: str | None = None,
        labels: Sequence[SpanLabel] = (),
    ) -> None:
        """Report an error of an instruction that can be executed nevertheless.

        Raises:
            EmulatorFault: the error, unless the launch goes past it.
        """
        self.found.add(finding(code, message, site, notes, help, labels))
