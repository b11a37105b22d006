"""Graphs: launches recorded once and replayed with one call. CUDA driver API, graph management.

with device.capture() as graph:
    first.launch(grid, block, args, stream=graph.stream)
    second.launch(grid, block, args, stream=graph.stream)
graph.launch()
"""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import Any

from ptxkit.diagnostics import error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.errors import bindings, check
from ptxkit.driver.streams import Stream, stream_handle


class Graph:
    """Work that was captured in `with device.capture() as graph:`.

    Attributes:
        context: the GPU that it runs on.
        stream: the stream to capture from; what is launched into it is recorded, not run.
        nodes: launches and copies in the graph, once it is captured.
    """

    def __init__(self, context: CudaContext) -> None:
        self.context = context
        self.stream = Stream(context)
        self.nodes = 0
        self._kept: list[Any] = []
        self._executable: Any = None

    def __enter__(self) -> Graph:
        if self._executable is not None:
            raise error(
                "P715", "the graph has been captured already", help="`device.capture()` makes a new one"
            )
        driver = bindings()
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        with self.context:
            check(driver.cuStreamBeginCapture(self.stream.handle, mode), "capture a graph")
        self.context.postpone()
        self.stream.captured = self._kept
        self._kept.extend(prepared.references for prepared in self.stream.prepared)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, caught: BaseException | None, trace: TracebackType | None
    ) -> None:
        driver = bindings()
        self.stream.captured = None
        with self.context:
            result = driver.cuStreamEndCapture(self.stream.handle)
            self.context.catch_up()
            if caught is not None:
                if not result[0]:
                    driver.cuGraphDestroy(result[1])
                return
            captured = check(result, "end the capture of a graph")
            try:
                self.nodes = int(check(driver.cuGraphGetNodes(captured), "count the nodes of a graph")[1])
                self._executable = check(driver.cuGraphInstantiate(captured, 0), "instantiate a graph")
            finally:
                driver.cuGraphDestroy(captured)
            check(driver.cuGraphUpload(self._executable, 0), "upload a graph")
        self._destroy = self.context.own(self, driver.cuGraphExecDestroy, self._executable)
        self._launch = driver.cuGraphLaunch
        self.context.users.add(self)

    def launch(self, stream: Any = None) -> None:
        """Run everything in the graph, in the default stream or in `stream`.

        Raises:
            PtxkitError: P715, nothing has been captured; P714, the graph was closed.
        """
        if self._executable is None:
            raise error("P715", "the graph is launched before it was captured, or after it was closed")
        handle = 0 if stream is None else stream_handle(stream, self.context)
        status = self._launch(self._executable, handle)[0]
        if status:
            again = partial(self._launch, self._executable, handle)
            self.context.retry(status, again, "launch a graph")

    def close(self) -> None:
        """Give the graph back; what runs still ends."""
        if self._executable is not None:
            self._destroy()
            self._executable = None
        self._kept.clear()
        self.stream.close()
