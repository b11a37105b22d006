"""Memory of graphs: nodes that allocate and free. Programming guide, "Graph memory nodes".

An allocation has its address from the making of its node on, and is the graph's as long as that or an
executable of it lives. It begins and ends, whenever the graph runs, with undefined bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.memory import HeldMemory
from ptxkit.virtual.gpu.work import Work


class GraphBlock:
    """Memory that lives as long as what holds it.

    Attributes:
        address: of its first byte.
        size: in bytes.
        outstanding: whether a graph that does not free it was launched, and nobody has freed it since.
    """

    def __init__(self, machine: Host, address: int, size: int) -> None:
        self._machine = machine
        self.address = address
        self.size = size
        self.outstanding = False
        self._holders = 0

    def hold(self) -> None:
        """One more holds it."""
        self._holders += 1

    def drop(self) -> None:
        """One holds it no more."""
        self._holders -= 1
        self.settle()

    def free(self) -> None:
        """Who used it after the graph has freed it."""
        self.outstanding = False
        self.settle()

    def forget(self) -> None:
        """Its bytes are undefined from now on."""
        memory = self._machine.memory
        owner = memory.owner(self.address)
        if owner is not None and self._machine.options.sanitize:
            memory.forget(owner)

    def settle(self) -> None:
        """Where nobody holds or uses it, it is gone."""
        memory = self._machine.memory
        if self._holders or self.outstanding:
            return
        if memory.graph_blocks.pop(self.address, None) is not None:
            memory.release(self.address, *AllocationKind, by="its graph is gone")


@dataclass(slots=True)
class Allocate(Work):
    """An allocation as a node.

    Attributes:
        block: what it gives.
        parameters: the structure that asked for it.
    """

    node_type: ClassVar[int] = 10
    block: GraphBlock
    parameters: bytes

    def __post_init__(self) -> None:
        self.block.hold()

    def run(self) -> None:
        self.block.forget()

    def copy(self) -> Allocate:
        return Allocate(self.block, self.parameters)

    def close(self) -> None:
        self.block.drop()


@dataclass(slots=True)
class Free(Work):
    """The end of an allocation as a node."""

    node_type: ClassVar[int] = 11
    block: HeldMemory

    def run(self) -> None:
        self.block.forget()


class GraphUsage:
    """What graphs use of a device's memory. `CUgraphMem_attribute`.

    Attributes:
        current, high: bytes now, until unused memory is given back, and at most.
    """

    def __init__(self) -> None:
        self.current = self.high = 0

    def add(self, size: int) -> None:
        """Memory for a graph."""
        self.current += size
        self.high = max(self.high, self.current)
