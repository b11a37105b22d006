"""Streams and events. CUDA driver API, stream and event management."""

from __future__ import annotations

import weakref
from typing import Any

from ptxkit.diagnostics import error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, check

_NON_BLOCKING = 1
_DISABLE_TIMING = 2
CLOSED = -1
"""The handle of a stream that was closed."""
CLOSED_MESSAGE = "the stream was closed"


class Stream:
    """Work in order. Other libraries take it through `__cuda_stream__`.

    Attributes:
        context: the GPU that it is on.
        handle: the `CUstream` as an int.
        captured: while a graph is captured, what its launches refer to; else None.
        prepared: the launches into it that are ready to go.
    """

    __slots__ = ("__weakref__", "_destroy", "captured", "context", "handle", "prepared")

    def __init__(self, context: CudaContext, non_blocking: bool = False, priority: int = 0) -> None:
        """A new stream.

        Args:
            context: the GPU.
            non_blocking: whether it does not wait for the default stream, nor that one for it.
            priority: lower numbers run first; out of range is taken as the nearest.
        """
        driver = bindings()
        with context:
            flags = _NON_BLOCKING if non_blocking else 0
            made = check(driver.cuStreamCreateWithPriority(flags, priority), "make a stream")
        self.context = context
        self.handle = int(made)
        self.captured: list[Any] | None = None
        self.prepared: weakref.WeakSet[Any] = weakref.WeakSet()
        self._destroy = context.own(self, driver.cuStreamDestroy, made)
        context.users.add(self)

    def synchronize(self) -> None:
        """Wait for everything in the stream; raises what a kernel met."""
        with self.context:
            self.context.check(bindings().cuStreamSynchronize(self.handle), "wait for a stream")

    def wait(self, event: Event) -> None:
        """Let what comes later in this stream wait for an event, without stopping the host."""
        with self.context:
            check(bindings().cuStreamWaitEvent(self.handle, event.handle, 0), "wait for an event in a stream")

    def close(self) -> None:
        """Give the stream back; what is in it still runs."""
        self._destroy()
        self.handle = CLOSED
        for prepared in self.prepared:
            prepared.refuse(CLOSED_MESSAGE)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version and handle, for libraries that speak this protocol."""
        return 0, self.handle


class Event:
    """A moment in a stream."""

    __slots__ = ("__weakref__", "_destroy", "context", "handle")

    def __init__(self, context: CudaContext, timing: bool = True) -> None:
        driver = bindings()
        with context:
            made = check(driver.cuEventCreate(0 if timing else _DISABLE_TIMING), "make an event")
        self.context = context
        self.handle = int(made)
        self._destroy = context.own(self, driver.cuEventDestroy, made)

    def record(self, stream: Any = None) -> None:
        """Set the event after what the stream holds so far."""
        with self.context:
            recorded = bindings().cuEventRecord(self.handle, stream_handle(stream, self.context))
            self.context.check(recorded, "record an event")

    def synchronize(self) -> None:
        """Wait for the event; raises what a kernel before it met."""
        with self.context:
            self.context.check(bindings().cuEventSynchronize(self.handle), "wait for an event")

    def seconds_since(self, start: Event) -> float:
        """Time between two recorded and completed events, to about half a microsecond."""
        with self.context:
            elapsed = bindings().cuEventElapsedTime(start.handle, self.handle)
            return float(self.context.check(elapsed, "read the time between events")) / 1e3


def stream_handle(stream: Any, context: CudaContext) -> int:
    """The `CUstream` of a stream: ours, an int, what has `__cuda_stream__`; None is the default stream.

    Raises:
        PtxkitError: P509, a stream of another GPU; P714, a closed one; P510, no stream at all.
    """
    if stream is None:
        return 0
    if isinstance(stream, Stream):
        if stream.context is not context:
            message = f"expected a stream of GPU {context.ordinal}, found one of GPU {stream.context.ordinal}"
            raise error("P509", message)
        if stream.handle == CLOSED:
            raise error("P714", CLOSED_MESSAGE)
        return stream.handle
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        help = "a stream of this device, an int, or an object with `__cuda_stream__`"
        raise error("P510", f"expected a stream, found {stream!r}", help=help)
    version_and_handle = protocol() if callable(protocol) else protocol
    return int(version_and_handle[1])
