"""Contexts. Driver API, chapters "Primary context management" and "Context management"."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.stream import VirtualStream
from ptxkit.virtual.results import DriverError, failure

if TYPE_CHECKING:
    from ptxkit.virtual.gpu.machine import Machine, VirtualDevice

LEGACY, PER_THREAD = 1, 2
"""The handles that stand for the default streams."""


class VirtualContext(Object):
    """A context: what a program made on a device.

    Attributes:
        device: its device.
        flags: as it was made.
        identifier: unique among contexts.
        primary: whether it is the device's primary one.
        alive: False once destroyed.
        lost: the error code that every call returns since a kernel failed; else 0.
        limits: what `cuCtxSetLimit` set, by the limit's number.
        peers: the ordinals of the devices whose memory its kernels may reach.
        owned: what is destroyed with it: streams, events, modules.
    """

    noun: ClassVar[str] = "context"
    error: ClassVar[str] = "INVALID_CONTEXT"

    def __init__(self, machine: Machine, device: VirtualDevice, flags: int, primary: bool = False) -> None:
        self.machine = machine
        self.device = device
        self.flags = flags
        self.primary = primary
        machine.contexts += 1
        self.identifier = machine.contexts
        self.alive = True
        self.lost = 0
        self.limits: dict[int, int] = {}
        self.peers: set[int] = set()
        self.owned: dict[int, Object] = {}
        machine.handles.add(self)
        self.legacy = VirtualStream(self, 0, 0, "the legacy default stream")
        self._per_thread: dict[int, VirtualStream] = {}

    @property
    def per_thread(self) -> VirtualStream:
        """The default stream of the calling thread."""
        thread = threading.get_ident()
        if thread not in self._per_thread:
            self._per_thread[thread] = VirtualStream(self, 0, 0, "the default stream of a thread")
        return self._per_thread[thread]

    @property
    def streams(self) -> list[VirtualStream]:
        """All streams, the legacy one first."""
        made = [thing for thing in self.owned.values() if isinstance(thing, VirtualStream)]
        return [self.legacy, *self._per_thread.values(), *made]

    def stream(self, handle: int) -> VirtualStream:
        """A stream by its handle, the default ones among them."""
        if handle == 0:
            return self.per_thread if self.machine.per_thread_default else self.legacy
        if handle == LEGACY:
            return self.legacy
        if handle == PER_THREAD:
            return self.per_thread
        return self.machine.handles.get(VirtualStream, handle)

    def check(self) -> None:
        """Raise what every call with this context returns.

        Raises:
            DriverError: CONTEXT_IS_DESTROYED, or what it was lost to.
        """
        if not self.alive:
            raise failure("CONTEXT_IS_DESTROYED")
        if self.lost:
            raise DriverError(self.lost, "an earlier kernel of this context failed")

    def lose(self, problem: Exception) -> None:
        """An operation failed: it is reported, and the context is lost unless the program is to go on."""
        code = self.machine.report.failed(problem)
        if not self.machine.options.keep_going and not self.lost:
            self.lost = code

    def own(self, thing: Object) -> int:
        """Give an object its handle; it lives no longer than the context."""
        handle = self.machine.handles.add(thing)
        self.owned[handle] = thing
        return handle

    def disown(self, thing: Object) -> None:
        """An object is destroyed."""
        self.owned.pop(thing.handle, None)
        self.machine.handles.remove(thing)

    def synchronise(self) -> None:
        """Let everything that was queued happen.

        Raises:
            DriverError: what the context was lost to meanwhile.
        """
        self.machine.schedule.finish_all(self)
        self.check()

    def destroy(self) -> None:
        """Let go of everything that was made in it."""
        self.machine.schedule.finish_all(self)
        for thing in list(self.owned.values()):
            close: Callable[[], None] | None = getattr(thing, "close", None)
            if close is not None:
                close()
            self.disown(thing)
        self.alive = False
        self.machine.handles.remove(self)
        self.machine.forget_context(self)
