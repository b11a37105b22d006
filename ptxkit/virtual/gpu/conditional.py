"""Conditional nodes of graphs: IF, WHILE, SWITCH. Programming guide, "Conditional graph nodes"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ptxkit.virtual.abi import UInt, get
from ptxkit.virtual.gpu.graph import Child, VirtualGraph
from ptxkit.virtual.gpu.graph_memory import GraphBlock
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.schedule import Rounds
from ptxkit.virtual.gpu.work import Work

IF, WHILE, SWITCH = 0, 1, 2
"""`CUgraphConditionalNodeType`."""
WORD = 4
"""Bytes of a condition."""


@dataclass(frozen=True, slots=True, eq=False)
class GraphCondition:
    """What a conditional node asks: a word of the device's memory, whose address is the handle.

    Attributes:
        machine: where.
        block: the word.
        default: what it is at the launch of its graph; None for what it was.
    """

    machine: Host
    block: GraphBlock
    default: int | None

    def reset(self) -> None:
        """Let the word be its default."""
        assert self.default is not None
        self.machine.memory.write(self.block.address, self.default.to_bytes(WORD, "little"))

    @property
    def value(self) -> int:
        """The word."""
        return int(get(self.block.address, UInt))


@dataclass(slots=True)
class ConditionalNode(Work):
    """A node whose bodies run as its condition says, one node after another.

    Attributes:
        condition: what it asks.
        kind: IF, WHILE or SWITCH.
        bodies: its graphs.
    """

    node_type: ClassVar[int] = 13
    condition: GraphCondition
    kind: int
    bodies: list[VirtualGraph]

    def __post_init__(self) -> None:
        self.condition.block.hold()

    def run(self) -> Rounds:
        value = self.condition.value
        if self.kind == SWITCH:
            chosen = self.bodies[value : value + 1]
        else:
            chosen = self.bodies[:1] if value else self.bodies[1:2]
        for body in chosen:
            yield from _rounds(body)
        while self.kind == WHILE and self.condition.value:
            yield from _rounds(self.bodies[0])

    def copy(self) -> ConditionalNode:
        return ConditionalNode(self.condition, self.kind, [body.clone() for body in self.bodies])

    def close(self) -> None:
        for body in self.bodies:
            body.close()
        self.condition.block.drop()


def _rounds(graph: VirtualGraph) -> Rounds:
    """The nodes of a graph happen here and now."""
    for node in graph.ordered():
        if not node.enabled:
            continue
        rounds = _rounds(node.work.graph) if isinstance(node.work, Child) else node.work.run()
        if rounds is not None:
            yield from rounds


def conditions(graph: VirtualGraph) -> Iterator[GraphCondition]:
    """Every condition that a graph's nodes ask, those in their bodies, too."""
    for node in graph.nodes:
        if isinstance(node.work, ConditionalNode):
            yield node.work.condition
            for body in node.work.bodies:
                yield from conditions(body)
        elif isinstance(node.work, Child):
            yield from conditions(node.work.graph)
