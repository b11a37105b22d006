"""The machine: its devices and its memory, what its programs made on it, and what was found."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ptxkit import targets
from ptxkit.emulator import Emulator
from ptxkit.emulator.origins import Origins
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.handles import Handles
from ptxkit.virtual.gpu.memory import UnifiedMemory
from ptxkit.virtual.gpu.physical import AddressSpace
from ptxkit.virtual.gpu.pool import Pool
from ptxkit.virtual.gpu.schedule import WorkSchedule
from ptxkit.virtual.gpu.undefined import undefined_result
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.report import ProcessReport
from ptxkit.virtual.results import failure


class VirtualDevice:
    """One virtual GPU.

    Attributes:
        ordinal: its number.
        emulator: what runs its kernels.
        limits: what it can hold.
        primary: its primary context, once somebody retained it.
        retained: how often that was.
        default_pool, pool: the memory pool that it came with, and the one that `cuMemAllocAsync` takes from.
    """

    def __init__(self, machine: Machine, ordinal: int) -> None:
        options = machine.options
        self.machine = machine
        self.ordinal = ordinal
        self.target = options.target
        self.limits = targets.limits(options.target)
        self.emulator = Emulator(
            order=options.order,
            seed=options.seed + ordinal,
            sanitize=options.sanitize,
            arch=options.arch,
            memory=machine.memory,
        )
        self.emulator.origins = machine.origins
        self.primary: VirtualContext | None = None
        self.primary_flags = 0
        self.retained = 0
        self.default_pool: Pool | None = None
        self.pool: Pool | None = None

    @property
    def name(self) -> str:
        """What `cuDeviceGetName` says."""
        return f"ptxkit virtual GPU ({self.target.name})"

    @property
    def total_memory(self) -> int:
        """Bytes of memory."""
        return self.machine.memory.budget


class Machine:
    """A host's virtual GPUs.

    Attributes:
        options: what they are like.
        report: takes what was found and what was not supported.
        memory: the one address space.
        addresses: what was reserved of it, and is mapped.
        origins: where undefined bits of all devices come from.
        schedule: when what was queued happens; its lock guards everything here.
        handles: of what programs made.
        initialised: whether `cuInit` was called.
        stacks: the contexts of each thread, the current one last.
    """

    def __init__(self, options: VirtualOptions) -> None:
        self.options = options
        self.report = ProcessReport(options)
        self.memory = UnifiedMemory(options.host_memory)
        self.addresses = AddressSpace(self.memory)
        self.origins = Origins()
        self.schedule = WorkSchedule(options.order, options.seed)
        self.handles = Handles()
        self.initialised = False
        self.stacks: dict[int, list[VirtualContext | None]] = {}
        self.devices = [VirtualDevice(self, ordinal) for ordinal in range(options.devices)]
        self.contexts = self.modules = self.allocations = self.captures = 0
        self.capture_modes: dict[int, int] = {}
        self.calls = 0
        self.ended = False
        """Whether the process is about to end."""
        self.per_thread_default = False
        """Whether the call at hand means the thread's own stream by the null stream."""
        self.address_of: Callable[[str], int] = lambda name: 0
        """Where the code of a symbol of the driver is."""

    def look_at(self, address: int, size: int) -> None:
        """The host reads memory: what is undefined there is a finding."""
        found = undefined_result(self.memory, self.origins, address, size)
        if found is not None:
            self.report.add(found)

    def device(self, ordinal: int) -> VirtualDevice:
        """A device by its number.

        Raises:
            DriverError: INVALID_DEVICE.
        """
        if not 0 <= ordinal < len(self.devices):
            raise failure("INVALID_DEVICE", f"there are {len(self.devices)} devices, found number {ordinal}")
        return self.devices[ordinal]

    @property
    def thread(self) -> int:
        """The calling thread."""
        return threading.get_ident()

    @property
    def stack(self) -> list[VirtualContext | None]:
        """The contexts of the calling thread."""
        return self.stacks.setdefault(threading.get_ident(), [])

    @property
    def current(self) -> VirtualContext | None:
        """The context that is current to the calling thread."""
        stack = self.stacks.get(threading.get_ident())
        return stack[-1] if stack else None

    def context(self) -> VirtualContext:
        """The current context, which must be sound.

        Raises:
            DriverError: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or what the context was lost to.
        """
        context = self.current
        if context is None:
            raise failure("INVALID_CONTEXT", "no context is current to this thread")
        context.check()
        return context

    def retain_primary(self, device: VirtualDevice) -> VirtualContext:
        """The primary context of a device, made on the first call."""
        if device.primary is None:
            device.primary = VirtualContext(self, device, device.primary_flags, primary=True)
        device.retained += 1
        return device.primary

    def release_primary(self, device: VirtualDevice) -> None:
        """Undo one `retain_primary`; the last one destroys the context.

        Raises:
            DriverError: INVALID_CONTEXT, it was not retained.
        """
        if device.primary is None or not device.retained:
            raise failure(
                "INVALID_CONTEXT", f"the primary context of device {device.ordinal} is not retained"
            )
        device.retained -= 1
        if not device.retained:
            self.reset_primary(device)

    def reset_primary(self, device: VirtualDevice) -> None:
        """Destroy the primary context; who holds it may use it again, empty, after the next retain."""
        if device.primary is not None:
            primary, device.primary = device.primary, None
            primary.destroy()

    def forget_context(self, context: VirtualContext) -> None:
        """A context is destroyed: it leaves the top of this thread's stack."""
        stack = self.stack
        if stack and stack[-1] is context:
            stack.pop()
