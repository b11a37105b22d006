"""The machine: its devices, and the contexts of its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ptxkit.virtual.gpu.capture import GLOBAL, Capture
from ptxkit.virtual.gpu.conditional import GraphCondition
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.endpoint import Endpoints
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.physical import AddressSpace
from ptxkit.virtual.gpu.pool import Pool, PoolPlace
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.results import failure


class Machine(Host):
    """A host's virtual GPUs.

    Attributes:
        devices: them.
        addresses: what was reserved of the address space, and is mapped.
        endpoints: the logical endpoints.
        conditions: of conditional nodes, by their handles.
        pools: the default memory pool and the current one of places that are no device's own.
        initialised: whether `cuInit` was called.
        stacks: the contexts of each thread, the current one last.
        capture_modes: what each thread said by `cuThreadExchangeStreamCaptureMode`.
        capturing: the captures that have not ended.
    """

    def __init__(self, options: VirtualOptions) -> None:
        super().__init__(options)
        self.addresses = AddressSpace(self.memory)
        self.endpoints = Endpoints()
        self.conditions: dict[int, GraphCondition] = {}
        self.pools: dict[PoolPlace, list[Pool]] = {}
        self.initialised = False
        self.stacks: dict[int, list[VirtualContext | None]] = {}
        self.devices = [VirtualDevice(self, ordinal) for ordinal in range(options.devices)]
        self._primaries: dict[VirtualDevice, VirtualContext] = {}
        self.capture_modes: dict[int, int] = {}
        self.capturing: list[Capture] = []
        self.calls = 0
        self.ended = False
        """Whether the process is about to end."""
        self.address_of: Callable[[str], int] = lambda name: 0
        """Where the code of a symbol of the driver is."""

    def device(self, ordinal: int, error: str = "INVALID_DEVICE") -> VirtualDevice:
        """A device by its number.

        Raises:
            DriverError: what is said of one that is not there, by default INVALID_DEVICE.
        """
        if not 0 <= ordinal < len(self.devices):
            raise failure(error, f"there are {len(self.devices)} devices, found number {ordinal}")
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
        context = stack[-1] if stack else None
        if context is None or context.alive or not context.primary:
            return context
        return self._made_again(context)

    def _made_again(self, context: VirtualContext) -> VirtualContext:
        """What a primary context that was destroyed stands for: the device's new one, once it is retained."""
        now = self._primaries.get(context.device)
        if now is not None:
            self.stack[-1] = now
        return now or context

    def some_context(self) -> VirtualContext:
        """The current context, sound or not.

        Raises:
            DriverError: INVALID_CONTEXT, there is none.
        """
        stack = self.stacks.get(threading.get_ident())
        context = stack[-1] if stack else None
        if context is None:
            raise failure("INVALID_CONTEXT", "no context is current to this thread")
        if context.primary and not context.alive:
            return self._made_again(context)
        return context

    def context(self) -> VirtualContext:
        """The current context, which must be sound.

        Raises:
            DriverError: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or what the context was lost to.
        """
        stack = self.stacks.get(threading.get_ident())
        if stack and (context := stack[-1]) is not None and context.alive and not context.lost:
            return context
        context = self.some_context()
        context.check()
        return context

    def refuse_while_captured(self) -> None:
        """Refuse a call that a capture forbids meanwhile, to which it is the end.

        Raises:
            DriverError: STREAM_CAPTURE_UNSUPPORTED.
        """
        if not self.capturing:
            return
        mode = self.capture_modes.get(self.thread, GLOBAL)
        against = [
            one for one in self.capturing if one.origin.context.alive and one.forbids(self.thread, mode)
        ]
        for one in against:
            one.invalidate()
        if against:
            raise failure(
                "STREAM_CAPTURE_UNSUPPORTED", "a stream is being captured, in a mode that forbids it"
            )

    def primary(self, device: VirtualDevice) -> VirtualContext | None:
        """The primary context of a device, while somebody retains it."""
        return self._primaries.get(device)

    def retain_primary(self, device: VirtualDevice) -> VirtualContext:
        """The primary context of a device, made on the first call."""
        if device not in self._primaries:
            self._primaries[device] = VirtualContext(self, device, device.primary_flags, primary=True)
        device.retained += 1
        return self._primaries[device]

    def release_primary(self, device: VirtualDevice) -> None:
        """Undo one `retain_primary`; the last one destroys the context.

        Raises:
            DriverError: INVALID_CONTEXT, it was not retained.
        """
        if device not in self._primaries or not device.retained:
            raise failure(
                "INVALID_CONTEXT", f"the primary context of device {device.ordinal} is not retained"
            )
        device.retained -= 1
        if not device.retained:
            self.reset_primary(device)

    def reset_primary(self, device: VirtualDevice) -> None:
        """Destroy the primary context; who holds it may use it again, empty, after the next retain."""
        primary = self._primaries.pop(device, None)
        if primary is not None:
            primary.destroy()
