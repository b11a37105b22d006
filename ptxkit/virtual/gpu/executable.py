"""Graphs as they were instantiated, and are launched. Driver API, chapter "Graph management"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.virtual.gpu.conditional import conditions
from ptxkit.virtual.gpu.context import VirtualStream
from ptxkit.virtual.gpu.graph import Child, GraphNode, VirtualGraph
from ptxkit.virtual.gpu.graph_memory import Allocate, Free
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.schedule import Operation
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

AUTO_FREE = 1
"""`CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`."""


class Executable(Object):
    """A graph as it was instantiated.

    Attributes:
        graph: its own copy.
        made_of: the graph that it was instantiated of.
        flags: as it was instantiated.
    """

    noun: ClassVar[str] = "executable graph"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, graph: VirtualGraph, flags: int) -> None:
        self.graph = graph.clone()
        if len(self.graph.nodes) < len(graph.nodes):
            self.graph.close()
            raise failure("INVALID_VALUE", "the dependencies of the graph are a circle")
        self.made_of = graph
        graph.instances += 1
        self.flags = flags
        self.last: Operation | None = None

    def close(self) -> None:
        """Let go of it."""
        self.made_of.instances -= 1
        self.graph.close()

    def node(self, origin: GraphNode) -> GraphNode:
        """Its own node for one of the graph that it was made of, also through updates.

        Raises:
            DriverError: INVALID_VALUE.
        """
        for node in self.graph.nodes:
            if node.origin is origin or node is origin:
                return node
        raise failure("INVALID_VALUE", "the node is not of the graph that was instantiated")

    def launch(self, stream: VirtualStream) -> None:
        """Queue all of it; a launch waits for the one before it.

        Raises:
            DriverError: INVALID_VALUE, memory that it allocated before was not freed.
        """
        context = stream.context
        self._take_memory()
        after: list[Operation | None] = [*stream.before(), self.last]
        for condition in set(conditions(self.graph)):
            if condition.default is not None:
                after = [context.machine.schedule.queue(condition.reset, context, after)]
        after = self.graph.queue(context, after)
        self.last = stream.queue(_nothing, after=after)

    def _take_memory(self) -> None:
        """What it allocates and does not free must have been freed since the last launch."""
        work = list(_all_work(self.graph))
        freed = {one.block for one in work if isinstance(one, Free)}
        kept = [one.block for one in work if isinstance(one, Allocate) and one.block not in freed]
        if any(block.outstanding for block in kept) and not self.flags & AUTO_FREE:
            raise failure("INVALID_VALUE", "memory that the graph allocated at its last launch was not freed")
        for block in freed:
            if block.outstanding:
                block.free()
        for block in kept:
            block.outstanding = True

    def update(self, graph: VirtualGraph) -> GraphNode | None:
        """Take over what the nodes of a graph of the same shape do; the first that does not fit, else
        None."""
        ours, theirs = self.graph.ordered(), graph.ordered()
        if len(ours) != len(theirs):
            return theirs[min(len(ours), len(theirs) - 1)] if theirs else ours[0]
        places = [{node: at for at, node in enumerate(nodes)} for nodes in (ours, theirs)]
        for own, other in zip(ours, theirs, strict=True):
            edges = [
                sorted(place[one] for one in node.after)
                for place, node in zip(places, (own, other), strict=True)
            ]
            if type(own.work) is not type(other.work) or edges[0] != edges[1]:
                return other
        for own, other in zip(ours, theirs, strict=True):
            before, own.work, own.origin = own.work, other.work.copy(), other
            before.close()
        return None


def _all_work(graph: VirtualGraph) -> Iterator[Work]:
    """What the nodes of a graph do, those of its child graphs, too."""
    for node in graph.nodes:
        if isinstance(node.work, Child):
            yield from _all_work(node.work.graph)
        else:
            yield node.work


def _nothing() -> None:
    """What happens where a graph has ended."""
