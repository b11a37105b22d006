"""Graph management: nodes that allocate and free memory, and how much graphs use."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Pointer, PoolProperties, Size, get, put, put_bytes
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.graph_nodes import add_node, work_of
from ptxkit.virtual.driver.memory import obtain
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.graph import GraphNode, VirtualGraph
from ptxkit.virtual.gpu.graph_memory import Allocate, Free, GraphBlock
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.pool import PoolPlace
from ptxkit.virtual.results import failure

BYTES = 120
"""Of `CUDA_MEM_ALLOC_NODE_PARAMS`: the properties of a pool, then what follows."""
ASKED, MADE = 104, 112
"""Where it says how many bytes are asked for, and where its address is put."""
USED, USED_HIGH, RESERVED, RESERVED_HIGH = range(4)
"""`CUgraphMem_attribute`."""


def obtain_block(machine: Machine, size: int, kind: AllocationKind = AllocationKind.DEVICE) -> GraphBlock:
    """Memory of the current device for a graph, or of the host."""
    made = GraphBlock(machine, obtain(machine, size, kind), size)
    machine.memory.graph_blocks[made.address] = made
    return made


def allocation(machine: Machine, parameters: int) -> Allocate:
    """The allocation that a `CUDA_MEM_ALLOC_NODE_PARAMS` asks for; its address is put there."""
    if not parameters:
        raise failure("INVALID_VALUE", "the parameters are null")
    given = PoolProperties.from_address(parameters)
    if given.handles:
        raise failure("NOT_SUPPORTED", "memory of graphs that is shared between processes")
    place = PoolPlace(given.type, given.location, given.device)
    if place.kind is AllocationKind.DEVICE:
        machine.device(given.device, "INVALID_VALUE")
    size = get(parameters + ASKED, Size)
    block = obtain_block(machine, size, place.kind)
    if place.kind is AllocationKind.DEVICE:
        device = machine.device(given.device)
        machine.memory.devices[block.address] = device.ordinal
        device.graph_usage.add(size)
    put(parameters + MADE, Size, block.address)
    return Allocate(block, ctypes.string_at(parameters, BYTES))


def freed(machine: Machine, graph: VirtualGraph, address: int) -> Free:
    """The end of an allocation of a graph.

    Raises:
        DriverError: INVALID_VALUE, there is none, or the graph frees it already.
    """
    block = machine.memory.graph_blocks.get(address)
    if block is None:
        raise failure("INVALID_VALUE", f"no graph allocates {address:#x}")
    if any(isinstance(node.work, Free) and node.work.block is block for node in graph.nodes):
        raise failure("INVALID_VALUE", f"the graph frees {address:#x} already")
    return Free(block)


@driver()
def cuGraphAddMemAllocNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    machine.handles.get(VirtualGraph, graph)
    add_node(machine, node, graph, before, count, allocation(machine, parameters))


@driver()
def cuGraphAddMemFreeNode(
    machine: Machine, node: int, graph: int, before: int, count: int, address: int
) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    add_node(machine, node, graph, before, count, freed(machine, found, address))


@driver()
def cuGraphMemAllocNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = work_of(Allocate, machine.handles.get(GraphNode, node))
    put_bytes(parameters, work.parameters)


@driver()
def cuGraphMemFreeNodeGetParams(machine: Machine, node: int, address: int) -> None:
    put(address, Pointer, work_of(Free, machine.handles.get(GraphNode, node)).block.address)


@driver()
def cuDeviceGetGraphMemAttribute(machine: Machine, device: int, attribute: int, value: int) -> None:
    usage = machine.device(device).graph_usage
    if not USED <= attribute <= RESERVED_HIGH:
        raise failure("INVALID_VALUE", f"there is no attribute {attribute} of graphs' memory")
    put(value, Size, usage.high if attribute in (USED_HIGH, RESERVED_HIGH) else usage.current)


@driver()
def cuDeviceSetGraphMemAttribute(machine: Machine, device: int, attribute: int, value: int) -> None:
    usage = machine.device(device).graph_usage
    if attribute not in (USED_HIGH, RESERVED_HIGH) or get(value, Size):
        raise failure("INVALID_VALUE", "only the highest use can be set, and only to 0")
    usage.high = usage.current


@driver()
def cuDeviceGraphMemTrim(machine: Machine, device: int) -> None:
    found, memory = machine.device(device), machine.memory
    blocks = [block for block in memory.graph_blocks.values() if memory.devices[block.address] == device]
    found.graph_usage.current = sum(block.size for block in blocks)
