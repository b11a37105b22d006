"""The capture of streams into graphs. Programming guide, "Stream capture"; driver API, "Stream
management"."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence

from ptxkit.virtual.abi import Pointer
from ptxkit.virtual.gpu.graph import Graph, Node, before
from ptxkit.virtual.gpu.stream import CapturedNodes, Stream
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

NONE, ACTIVE, INVALIDATED = 0, 1, 2
"""`CUstreamCaptureStatus`."""
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
"""`CUstreamCaptureMode`."""


class Capture:
    """The capture of streams into a graph.

    Attributes:
        graph: what it makes.
        origin: the stream in which it began.
        mode: what else the program may do meanwhile.
        identifier: unique among captures.
        status: ACTIVE or INVALIDATED.
    """

    def __init__(self, origin: Stream, mode: int, identifier: int, graph: Graph | None = None) -> None:
        self.graph = graph or Graph(origin.context.machine)
        self.origin = origin
        self.mode = mode
        self.identifier = identifier
        self.thread = threading.get_ident()
        self.status = ACTIVE
        self._tails: dict[Stream, list[Node]] = {origin: []}
        origin.capture = self

    def tail(self, stream: Stream) -> list[Node]:
        """What the next node of a stream depends on."""
        return list(self._tails[stream])

    def shown(self, stream: Stream) -> int:
        """The address of an array of the tail's handles, which lasts until the next time."""
        tail = self._tails[stream]
        self._shown = (Pointer * max(len(tail), 1))(*(node.handle for node in tail))
        return ctypes.addressof(self._shown)

    def set_tail(self, stream: Stream, nodes: Sequence[Node]) -> None:
        """Let the next node of a stream depend on these."""
        self._tails[stream] = list(dict.fromkeys(nodes))

    def add(self, stream: Stream, work: Work) -> None:
        """Work of a stream becomes a node."""
        self.check()
        self._tails[stream] = [self.graph.add(work, self._tails[stream])]

    def join(self, stream: Stream, captured: CapturedNodes) -> None:
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

    def end(self, stream: Stream) -> Graph:
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
