"""Streams and events. Driver API, chapters "Stream management" and "Event management"."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.schedule import Operation
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

if TYPE_CHECKING:
    from ptxkit.virtual.gpu.capture import Capture
    from ptxkit.virtual.gpu.context import VirtualContext
    from ptxkit.virtual.gpu.graph import GraphNode

NON_BLOCKING = 1
"""The flag of a stream that does not wait for the legacy default stream."""


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

    def __init__(self, context: VirtualContext, flags: int, priority: int, name: str = "") -> None:
        self.context = context
        self.flags = flags
        self.priority = priority
        self.name = name
        self.last: Operation | None = None
        self.capture: Capture | None = None
        self.attributes: dict[int, bytes] = {}

    @property
    def blocking(self) -> bool:
        """Whether it and the legacy default stream wait for each other."""
        return not self.flags & NON_BLOCKING and self is not self.context.legacy

    def before(self) -> list[Operation | None]:
        """What must have happened before what is queued next."""
        legacy = self.context.legacy
        if self is legacy:
            return [self.last, *(stream.last for stream in self.context.streams if stream.blocking)]
        return [self.last, legacy.last] if self.blocking else [self.last]

    def queue(
        self, run: Callable[[], Any], outside: bool = False, after: Iterable[Operation | None] = ()
    ) -> Operation:
        """Queue an operation behind the others, and behind `after`."""
        schedule = self.context.machine.schedule
        self.last = schedule.queue(run, self.context, [*self.before(), *after], outside)
        return self.last

    def add(self, work: Work) -> None:
        """Queue work; a stream that is captured makes a node of it."""
        if self.capture is not None:
            self.capture.add(self, work)
        else:
            self._refuse_implicit()
            self.queue(work.run, work.outside)

    def _refuse_implicit(self) -> None:
        """The legacy stream waits for the blocking ones, which is impossible while one is captured."""
        if self is self.context.legacy:
            for stream in self.context.streams:
                if stream.capture is not None and stream.blocking:
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
        self.context.machine.schedule.finish([self.last])
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

    def record(self, stream: VirtualStream) -> None:
        """Stand for everything that is in a stream so far."""
        if stream.capture is not None:
            self.nodes = CapturedNodes(stream.capture, stream.capture.tail(stream))
            return
        self.nodes = None
        self.time = None
        self.operation = stream.queue(self.reach)

    def reach(self) -> None:
        """The place is reached."""
        self.time = time.perf_counter()


class CapturedNodes:
    """The nodes of a capture that an event stands for."""

    def __init__(self, capture: Capture, nodes: list[GraphNode]) -> None:
        self.capture = capture
        self.nodes = nodes


def _nothing() -> None:
    """What a wait does once it is over."""
