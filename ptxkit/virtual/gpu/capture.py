"""The capture of streams into graphs. Programming guide, "Stream capture"; driver API, "Stream
management"."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence

from ptxkit.virtual.abi import Pointer
from ptxkit.virtual.gpu.context import CapturedNodes, VirtualStream
from ptxkit.virtual.gpu.graph import GraphNode, VirtualGraph, before
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

EDGE_BYTES = 8
"""Of a `CUgraphEdgeData`: ports of the edge, which are whole dependencies here."""
NONE, ACTIVE, INVALIDATED = 0, 1, 2
"""`CUstreamCaptureStatus`."""
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
"""`CUstreamCaptureMode`."""


def capture_of(stream: VirtualStream) -> Capture | None:
    """The capture that a stream is part of."""
    found = stream.capture
    assert found is None or isinstance(found, Capture)
    return found


class Capture:
    """The capture of streams into a graph.

    Attributes:
        graph: what it makes.
        origin: the stream in which it began.
        mode: what else the program may do meanwhile.
        identifier: unique among captures.
        status: ACTIVE or INVALIDATED.
    """

    def __init__(
        self, origin: VirtualStream, mode: int, identifier: int, graph: VirtualGraph | None = None
    ) -> None:
        self.graph = graph or VirtualGraph(origin.context.machine)
        self.origin = origin
        self.mode = mode
        self.identifier = identifier
        self.thread = threading.get_ident()
        self.status = ACTIVE
        self._tails: dict[VirtualStream, list[GraphNode]] = {origin: []}
        origin.capture = self

    def forbids(self, thread: int, mode: int) -> bool:
        """Whether a thread that is in a mode may make no call that is unsafe during captures."""
        if RELAXED in (mode, self.mode) or self.status == INVALIDATED:
            return False
        return thread == self.thread or GLOBAL == mode == self.mode

    def tail(self, stream: VirtualStream) -> list[GraphNode]:
        """What the next node of a stream depends on."""
        return list(self._tails[stream])

    def shown(self, stream: VirtualStream) -> int:
        """The address of an array of the tail's handles, which lasts until the next time."""
        tail = self._tails.get(stream, [])
        self._shown = (Pointer * max(len(tail), 1))(*(node.handle for node in tail))
        return ctypes.addressof(self._shown)

    def shown_edges(self) -> int:
        """The address of as many `CUgraphEdgeData` as `shown` gave handles: whole dependencies."""
        self._edges = ctypes.create_string_buffer(EDGE_BYTES * len(self._shown))
        return ctypes.addressof(self._edges)

    def set_tail(self, stream: VirtualStream, nodes: Sequence[GraphNode]) -> None:
        """Let the next node of a stream depend on these."""
        self._tails[stream] = list(dict.fromkeys(nodes))

    def add(self, stream: VirtualStream, work: Work) -> None:
        """Work of a stream becomes a node."""
        self.check()
        self._tails[stream] = [self.graph.add(work, self._tails[stream])]

    def join(self, stream: VirtualStream, captured: CapturedNodes) -> None:
        """A stream waits for an event of the capture, and with that is part of it."""
        self.check()
        if stream.capture not in (None, self):
            self.invalidate()
            raise failure("STREAM_CAPTURE_MERGE")
        stream.capture = self
        self.set_tail(stream, [*self._tails.get(stream, []), *captured.nodes])

    def check(self) -> None:
        """Raise STREAM_CAPTURE_INVALIDATED where it was."""
        if self.status == INVALIDATED:
            raise failure("STREAM_CAPTURE_INVALIDATED")

    def invalidate(self) -> None:
        """Something happened that can't be captured."""
        self.status = INVALIDATED

    def end(self, stream: VirtualStream) -> VirtualGraph:
        """The graph; the streams are streams again.

        Raises:
            DriverError: STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD, _UNJOINED, _INVALIDATED.
        """
        if stream is not self.origin:
            raise failure("STREAM_CAPTURE_UNMATCHED", "the capture began in another stream")
        if self.mode != RELAXED and self.thread != threading.get_ident():
            raise failure("STREAM_CAPTURE_WRONG_THREAD")
        for one in self._tails:
            one.capture = None
        self.check()
        joined = before(self._tails[stream])
        loose = [node for nodes in self._tails.values() for node in nodes if node not in joined]
        if loose:
            raise failure("STREAM_CAPTURE_UNJOINED", "a stream of the capture was not waited for")
        return self.graph
