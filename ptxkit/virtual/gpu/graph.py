"""Graphs: work with its dependencies, made by hand or by capture of streams, launched as often as one likes.
Driver API, chapter "Graph management"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ptxkit.virtual.gpu.context import VirtualContext, VirtualEvent
from ptxkit.virtual.gpu.graph_memory import Allocate, Free, GraphBlock
from ptxkit.virtual.gpu.handles import Object
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.schedule import Operation
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

MEMORY_WORK = (Allocate, Free)
"""What is done to memory, which is bound to one graph."""


class GraphNode(Object):
    """A node of a graph.

    Attributes:
        graph: its graph.
        work: what happens.
        after: the nodes that it depends on.
        origin: in a clone, the node that it was made of.
        enabled: whether an executable graph runs it.
    """

    noun: ClassVar[str] = "graph node"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(
        self, graph: VirtualGraph, work: Work, after: Iterable[GraphNode], origin: GraphNode | None = None
    ) -> None:
        self.graph = graph
        self.work = work
        self.after = list(dict.fromkeys(after))
        self.origin = origin
        self.enabled = True
        self.storage: object = None
        """Memory that holds what a caller asked for, as long as the node lives."""


@dataclass(slots=True)
class Child(Work):
    """A graph as a node of another."""

    node_type: ClassVar[int] = 4
    graph: VirtualGraph

    def copy(self) -> Child:
        return Child(self.graph.clone())

    def close(self) -> None:
        self.graph.close()


@dataclass(slots=True)
class Empty(Work):
    """A node that does nothing: what depends on it depends on what it depends on."""

    node_type: ClassVar[int] = 5


@dataclass(slots=True)
class Record(Work):
    """An event that a graph records."""

    node_type: ClassVar[int] = 7
    event: VirtualEvent

    def run(self) -> None:
        self.event.reach()


@dataclass(slots=True)
class Wait(Work):
    """An event that a graph waits for: where it was recorded last when the graph is launched."""

    node_type: ClassVar[int] = 6
    event: VirtualEvent


class UserObject(Object):
    """Something of the program's that lives as long as references to it do.

    Attributes:
        references: how many there are.
    """

    noun: ClassVar[str] = "user object"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, machine: Host, destroy: Callable[[], object], references: int) -> None:
        self._machine = machine
        self._destroy = destroy
        self.references = references

    def release(self, count: int) -> None:
        """So many references less; without any it is destroyed.

        Raises:
            DriverError: INVALID_VALUE, there are not so many.
        """
        if count > self.references:
            raise failure("INVALID_VALUE", f"{self.references} references, {count} to be released")
        self.references -= count
        if not self.references:
            self._machine.handles.remove(self)
            self._destroy()


class VirtualGraph(Object):
    """A graph that can be changed.

    Attributes:
        machine: where.
        nodes: in the order of their making.
        objects: how many references it has to each user object.
        held: memory that is its own, besides that of its nodes.
        around: the graph that has it as the body of a conditional node.
        instances: how many executable graphs were made of it and live.
    """

    noun: ClassVar[str] = "graph"
    error: ClassVar[str] = "INVALID_VALUE"

    def __init__(self, machine: Host) -> None:
        self.machine = machine
        self.nodes: list[GraphNode] = []
        self.objects: Counter[UserObject] = Counter()
        self.held: list[GraphBlock] = []
        self.around: VirtualGraph | None = None
        self.instances = 0

    def refuse_memory(self, wrong: bool = True) -> None:
        """Refuse what is `wrong` with a graph that allocates or frees memory.

        Raises:
            DriverError: NOT_SUPPORTED.
        """
        if wrong and any(isinstance(node.work, MEMORY_WORK) for node in self.nodes):
            raise failure("NOT_SUPPORTED", "the graph allocates or frees memory")

    def and_around(self) -> Iterator[VirtualGraph]:
        """It, and the graphs that it is a body in."""
        one: VirtualGraph | None = self
        while one is not None:
            yield one
            one = one.around

    def add(self, work: Work, after: Iterable[GraphNode], origin: GraphNode | None = None) -> GraphNode:
        """Add a node.

        Raises:
            DriverError: INVALID_VALUE, it would depend on a node of another graph, or twice on one.
        """
        after = list(after)
        if any(node.graph is not self for node in after):
            raise failure("INVALID_VALUE", "a node depends on one of another graph")
        if len(set(after)) < len(after):
            raise failure("INVALID_VALUE", "a node depends on another twice")
        node = GraphNode(self, work, after, origin)
        self.nodes.append(node)
        self.machine.handles.add(node)
        return node

    def remove(self, node: GraphNode) -> None:
        """Remove a node, and the dependencies on it."""
        self.nodes.remove(node)
        node.work.close()
        for other in self.nodes:
            other.after = [one for one in other.after if one is not node]
        self.machine.handles.remove(node)

    def depend(self, node: GraphNode, on: GraphNode) -> None:
        """Let a node depend on another.

        Raises:
            DriverError: INVALID_VALUE, it does already, or is the other. A longer circle is found when the
            graph is instantiated.
        """
        if on in node.after or node.graph is not self or on.graph is not self:
            raise failure("INVALID_VALUE", "the dependency exists, or leads out of the graph")
        if node is on:
            raise failure("INVALID_VALUE", "a node can't depend on itself")
        node.after.append(on)

    def ordered(self) -> list[GraphNode]:
        """The nodes, each behind those that it depends on; none of a circle."""
        done: dict[GraphNode, None] = {}
        left = list(self.nodes)
        while left:
            ready = [node for node in left if all(one in done for one in node.after)]
            done.update(dict.fromkeys(ready))
            left = [node for node in left if node not in done] if ready else []
        return list(done)

    def clone(self) -> VirtualGraph:
        """A copy, whose nodes know what they were made of; child graphs are copied, too."""
        graph = VirtualGraph(self.machine)
        made: dict[GraphNode, GraphNode] = {}
        for node in self.ordered():
            made[node] = graph.add(node.work.copy(), [made[one] for one in node.after], node)
            made[node].enabled = node.enabled
        for thing, count in self.objects.items():
            graph.objects[thing] = count
            thing.references += count
        self.machine.handles.add(graph)
        return graph

    def close(self) -> None:
        """Let go of it and its nodes."""
        for node in self.nodes:
            node.work.close()
            self.machine.handles.remove(node)
        for block in self.held:
            block.drop()
        self.held.clear()
        for thing, count in self.objects.items():
            if count:
                thing.release(count)
        self.objects.clear()
        self.machine.handles.remove(self)

    def queue(self, context: VirtualContext, after: Sequence[Operation | None]) -> list[Operation | None]:
        """Queue every node behind `after`; the operations that the next must wait for."""
        operations: dict[GraphNode, list[Operation | None]] = {}
        schedule = self.machine.schedule
        for node in self.ordered():
            earlier = [operation for one in node.after for operation in operations[one]] or list(after)
            work = node.work
            if isinstance(work, Child):
                operations[node] = work.graph.queue(context, earlier)
                continue
            if not node.enabled:
                operations[node] = earlier
                continue
            if isinstance(work, Wait):
                earlier = [*earlier, work.event.operation]
            operation = schedule.queue(work.run, context, earlier, work.outside, work.beside)
            operations[node] = [operation]
            if isinstance(work, Record):
                work.event.operation = operation
        return [operation for found in operations.values() for operation in found] or list(after)


def before(nodes: Iterable[GraphNode]) -> set[GraphNode]:
    """Nodes and all that they depend on."""
    found: set[GraphNode] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left.extend(node.after)
    return found
