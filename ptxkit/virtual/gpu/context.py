"""Contexts, their streams and events. Driver API, chapters "Primary context management", "Context
management", "Stream management" and "Event management"."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.schedule import Operation
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import DriverError, failure

LEGACY, PER_THREAD = 1, 2
"""The handles that stand for the default streams."""
NON_BLOCKING = 1
"""The flag of a stream that does not wait for the legacy default stream."""


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
        legacy: the default stream.
        blocking: the streams that wait for the legacy one, and it for them.
    """

    noun: ClassVar[str] = "context"
    error: ClassVar[str] = "INVALID_CONTEXT"
    destroyed: ClassVar[str] = "CONTEXT_IS_DESTROYED"

    def __init__(self, machine: Host, device: VirtualDevice, flags: int, primary: bool = False) -> None:
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
        self.blocking: list[VirtualStream] = []
        self._per_thread: dict[int, VirtualStream] = {}

    @property
    def per_thread(self) -> VirtualStream:
        """The default stream of the calling thread."""
        thread = threading.get_ident()
        if thread not in self._per_thread:
            made = VirtualStream(self, 0, 0, "the default stream of a thread")
            self._per_thread[thread] = made
            self.begin(made)
        return self._per_thread[thread]

    def begin(self, stream: VirtualStream) -> None:
        """A stream beside the legacy one is there."""
        self.machine.schedule.streams.several = True
        if not stream.flags & NON_BLOCKING:
            self.blocking.append(stream)

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

    def enable_peer(self, device: int) -> None:
        """Kernels may reach the memory of another device from now on.

        Raises:
            DriverError: PEER_ACCESS_ALREADY_ENABLED.
        """
        if device in self.peers:
            raise failure("PEER_ACCESS_ALREADY_ENABLED")
        self.peers.add(device)
        self.machine.memory.peers.setdefault(self.device.ordinal, set()).add(device)

    def disable_peer(self, device: int) -> None:
        """Undo that.

        Raises:
            DriverError: PEER_ACCESS_NOT_ENABLED.
        """
        if device not in self.peers:
            raise failure("PEER_ACCESS_NOT_ENABLED")
        self.peers.discard(device)
        self.machine.memory.peers[self.device.ordinal].discard(device)

    def own(self, thing: Object) -> int:
        """Give an object its handle; it lives no longer than the context."""
        handle = self.machine.handles.add(thing)
        self.owned[handle] = thing
        if isinstance(thing, VirtualStream):
            self.begin(thing)
        return handle

    def disown(self, thing: Object) -> None:
        """An object is destroyed."""
        self.owned.pop(thing.handle, None)
        if isinstance(thing, VirtualStream) and not thing.flags & NON_BLOCKING:
            self.blocking.remove(thing)
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


class Capturing(Protocol):
    """What takes a stream's work while it is captured (`ptxkit.virtual.gpu.capture`)."""

    def add(self, stream: VirtualStream, work: Work) -> None:
        """Work of a stream."""

    def join(self, stream: VirtualStream, captured: CapturedNodes) -> None:
        """A stream waits for an event of the capture."""

    def tail(self, stream: VirtualStream) -> list[Any]:
        """The nodes that the next of a stream depends on."""

    def check(self) -> None:
        """Raise STREAM_CAPTURE_INVALIDATED where it was."""

    def invalidate(self) -> None:
        """Something happened that can't be captured."""


class VirtualStream(Object):
    """A stream: operations that happen one after another.

    Attributes:
        context: its context.
        flags: 0 or `NON_BLOCKING`.
        priority: as it was made.
        name: what findings call it.
        last: what was queued last.
        capture: what takes its work instead of the device, while it is captured.
        attributes: what `cuStreamSetAttribute` set.
    """

    noun: ClassVar[str] = "stream"
    destroyed: ClassVar[str] = "INVALID_CONTEXT"
    other: ClassVar[str] = "CONTEXT_IS_DESTROYED"

    def __init__(self, context: VirtualContext, flags: int, priority: int, name: str = "") -> None:
        self.context = context
        self.flags = flags
        self.priority = priority
        self.name = name
        self.last: Operation | None = None
        self.capture: Capturing | None = None
        self.attributes: dict[int, bytes] = {}

    def before(self) -> list[Operation | None]:
        """What must have happened before what is queued next."""
        context = self.context
        if self is context.legacy:
            return [self.last, *[stream.last for stream in context.blocking]]
        return [self.last] if self.flags & NON_BLOCKING else [self.last, context.legacy.last]

    def queue(
        self,
        run: Callable[[], Any],
        outside: bool = False,
        after: Iterable[Operation | None] = (),
        beside: bool = False,
    ) -> Operation:
        """Queue an operation behind the others, and behind `after`."""
        context, ahead = self.context, self.before()
        ahead += after
        told = self.name or self.told
        self.last = context.machine.schedule.queue(run, context, ahead, outside, beside, told)
        return self.last

    @property
    def told(self) -> str:
        """What findings call it."""
        return self.name or f"stream {self.handle:#x}"

    def add(self, work: Work) -> None:
        """Queue work; a stream that is captured makes a node of it."""
        if self.capture is not None:
            self.capture.add(self, work)
            return
        if self.context.blocking and self is self.context.legacy:
            self._refuse_implicit()
        context, told = self.context, self.name or self.told
        self.last = context.machine.schedule.queue(
            work.run, context, self.before(), work.outside, work.beside, told
        )

    def _refuse_implicit(self) -> None:
        """The legacy stream waits for the blocking ones, which is impossible while one is captured."""
        for stream in self.context.blocking:
            if stream.capture is not None:
                stream.capture.invalidate()
                raise failure("STREAM_CAPTURE_IMPLICIT")

    def wait(self, event: VirtualEvent) -> None:
        """What is queued next waits for where an event was recorded last."""
        if event.nodes is not None:
            event.nodes.capture.join(self, event.nodes)
        elif self.capture is not None:
            self.capture.invalidate()
            raise failure("STREAM_CAPTURE_ISOLATION", "the event was recorded outside the capture")
        elif event.operation is not None:
            self.queue(_nothing, after=[event.operation])

    def synchronise(self) -> None:
        """Let everything that was queued here happen.

        Raises:
            DriverError: what the context was lost to meanwhile.
        """
        self.context.machine.schedule.finish(self.last)
        self.context.check()

    def ready(self) -> bool:
        """Whether everything has happened; a question lets one more operation happen."""
        return self.context.machine.schedule.step(self.last)


class VirtualEvent(Object):
    """An event: a place in a stream.

    Attributes:
        context: its context.
        flags: 2 for one without timing.
        operation: where it was recorded last.
        time: when that happened, in seconds.
        nodes: what it stands for where it was recorded in a captured stream.
    """

    noun: ClassVar[str] = "event"
    destroyed: ClassVar[str] = "CONTEXT_IS_DESTROYED"
    other: ClassVar[str] = "CONTEXT_IS_DESTROYED"

    def __init__(self, context: VirtualContext, flags: int) -> None:
        self.context = context
        self.flags = flags
        self.operation: Operation | None = None
        self.time: float | None = None
        self.nodes: CapturedNodes | None = None

    @property
    def timed(self) -> bool:
        """Whether it takes the time."""
        return not self.flags & 2

    @property
    def interprocess(self) -> bool:
        """Whether other processes may wait for it."""
        return bool(self.flags & 4)

    def record(self, stream: VirtualStream) -> None:
        """Stand for everything that is in a stream so far."""
        if stream.capture is not None:
            stream.capture.check()
            self.nodes = CapturedNodes(stream.capture, stream.capture.tail(stream))
            return
        self.nodes = None
        self.time = None
        self.operation = stream.queue(self.reach)

    def reach(self) -> None:
        """The place is reached."""
        self.time = time.perf_counter() + self.context.device.ahead


class CapturedNodes:
    """The nodes of a capture that an event stands for."""

    def __init__(self, capture: Capturing, nodes: list[Any]) -> None:
        self.capture = capture
        self.nodes = nodes


def _nothing() -> None:
    """What a wait does once it is over."""
