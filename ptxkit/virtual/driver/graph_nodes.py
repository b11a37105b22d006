"""Graph management: nodes, what they do, and how that is changed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

from ptxkit.virtual.abi import Copy3D, HostNode, KernelNode, MemsetNode, Pointer, get, put
from ptxkit.virtual.calling import host_stack
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.copies import copy_of
from ptxkit.virtual.driver.execution import arguments
from ptxkit.virtual.driver.graph import nodes_at
from ptxkit.virtual.gpu.context import VirtualEvent
from ptxkit.virtual.gpu.graph import Child, Empty, Executable, GraphNode, Record, VirtualGraph, Wait
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import KernelWork, function_of
from ptxkit.virtual.gpu.work import Copy, Fill, HostCall, Work
from ptxkit.virtual.results import failure

W = TypeVar("W", bound=Work)
V1_BYTES = 56
"""Of the first revision of a kernel node's structure, which ends before `kernel`."""


# ---- from structures to work


def launch_of(machine: Machine, address: int, newer: bool) -> KernelWork:
    """The launch of a `CUDA_KERNEL_NODE_PARAMS`."""
    if not address:
        raise failure("INVALID_VALUE", "the parameters are null")
    data = ctypes.create_string_buffer(
        ctypes.string_at(address, ctypes.sizeof(KernelNode) if newer else V1_BYTES), 72
    )
    given = KernelNode.from_buffer(data)
    function = function_of(machine, given.function or given.kernel)
    work = KernelWork(
        function,
        (given.grid_x, given.grid_y, given.grid_z),
        (given.block_x, given.block_y, given.block_z),
        None,
        given.shared,
        arguments(function, given.parameters, given.extra),
        stack=host_stack(),
    )
    function.check(work)
    return work


def _set_of(machine: Machine, address: int) -> Fill:
    given = MemsetNode.from_address(address)
    if given.element_size not in (1, 2, 4):
        raise failure("INVALID_VALUE", f"elements of {given.element_size} bytes")
    value = (given.value & ((1 << 8 * given.element_size) - 1)).to_bytes(given.element_size, "little")
    work = Fill(machine, given.dst, value, given.width, given.height, given.pitch)
    machine.memory.check(
        given.dst, (given.height - 1) * given.pitch + given.width * len(value), "memory to be set"
    )
    return work


def _call_of(machine: Machine, address: int) -> HostCall:
    given = HostNode.from_address(address)
    if not given.function:
        raise failure("INVALID_VALUE", "the function is null")
    return HostCall(given.function, given.data)


def _copy_of(machine: Machine, address: int) -> Copy:
    return copy_of(machine, Copy3D.from_address(address))


# ---- making nodes


def add_node(machine: Machine, node: int, graph: int, before: int, count: int, work: Work) -> None:
    """Add a node that does some work to a graph."""
    found = machine.handles.get(VirtualGraph, graph)
    if not node:
        raise failure("INVALID_VALUE", "a result has no place: the pointer is null")
    put(node, Pointer, found.add(work, nodes_at(machine, before, count)).handle)


@driver("cuGraphAddKernelNode")
def cuGraphAddKernelNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    add_node(machine, node, graph, before, count, launch_of(machine, parameters, False))


@driver("cuGraphAddKernelNode_v2")
def cuGraphAddKernelNode_v2(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    add_node(machine, node, graph, before, count, launch_of(machine, parameters, True))


@driver()
def cuGraphAddMemcpyNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int, context: int
) -> None:
    add_node(machine, node, graph, before, count, _copy_of(machine, parameters))


@driver()
def cuGraphAddMemsetNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int, context: int
) -> None:
    add_node(machine, node, graph, before, count, _set_of(machine, parameters))


@driver()
def cuGraphAddHostNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    add_node(machine, node, graph, before, count, _call_of(machine, parameters))


@driver()
def cuGraphAddEmptyNode(machine: Machine, node: int, graph: int, before: int, count: int) -> None:
    add_node(machine, node, graph, before, count, Empty())


@driver()
def cuGraphAddChildGraphNode(
    machine: Machine, node: int, graph: int, before: int, count: int, child: int
) -> None:
    add_node(machine, node, graph, before, count, Child(machine.handles.get(VirtualGraph, child).clone()))


@driver()
def cuGraphAddEventRecordNode(
    machine: Machine, node: int, graph: int, before: int, count: int, event: int
) -> None:
    add_node(machine, node, graph, before, count, Record(machine.handles.get(VirtualEvent, event)))


@driver()
def cuGraphAddEventWaitNode(
    machine: Machine, node: int, graph: int, before: int, count: int, event: int
) -> None:
    add_node(machine, node, graph, before, count, Wait(machine.handles.get(VirtualEvent, event)))


# ---- asking and changing them


def _work(kind: type[W], node: GraphNode) -> W:
    if not isinstance(node.work, kind):
        raise failure("INVALID_VALUE", f"expected a node that is a {kind.__name__.lower()}")
    return node.work


def _kernel_parameters(machine: Machine, node: int, address: int, newer: bool) -> None:
    """The parameters lie in memory of the node's, as long as it lives."""
    found = machine.handles.get(GraphNode, node)
    work = _work(KernelWork, found)
    kept = ctypes.create_string_buffer(work.arguments, max(len(work.arguments), 1))
    offsets = work.function.kernel.signature.offsets
    places = (Pointer * max(len(offsets), 1))(*(ctypes.addressof(kept) + offset for offset in offsets))
    found.storage = (kept, places)
    given = KernelNode(
        work.function.handle, *work.grid, *work.block, work.shared, ctypes.addressof(places) if offsets else 0
    )
    ctypes.memmove(address, bytes(given), ctypes.sizeof(KernelNode) if newer else V1_BYTES)


@driver()
def cuGraphKernelNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    _kernel_parameters(machine, node, parameters, False)


@driver("cuGraphKernelNodeGetParams_v2")
def cuGraphKernelNodeGetParams_v2(machine: Machine, node: int, parameters: int) -> None:
    _kernel_parameters(machine, node, parameters, True)


@driver()
def cuGraphMemcpyNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = _work(Copy, machine.handles.get(GraphNode, node))
    if not work.parameters:
        raise failure("NOT_SUPPORTED", "the parameters of a copy that was captured")
    ctypes.memmove(parameters, work.parameters, len(work.parameters))


@driver()
def cuGraphMemsetNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = _work(Fill, machine.handles.get(GraphNode, node))
    value, size = int.from_bytes(work.value, "little"), len(work.value)
    given = MemsetNode(work.dst, work.pitch, value, size, work.width, work.height)
    ctypes.memmove(parameters, bytes(given), ctypes.sizeof(given))


@driver()
def cuGraphHostNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = _work(HostCall, machine.handles.get(GraphNode, node))
    ctypes.memmove(parameters, bytes(HostNode(work.function, work.data)), ctypes.sizeof(HostNode))


@driver("cuGraphEventRecordNodeGetEvent", "cuGraphEventWaitNodeGetEvent")
def cuGraphEventNodeGetEvent(machine: Machine, node: int, event: int) -> None:
    work = machine.handles.get(GraphNode, node).work
    if not isinstance(work, Record | Wait):
        raise failure("INVALID_VALUE", "the node is of no event")
    put(event, Pointer, work.event.handle)


def change_node(machine: Machine, executable: int, node: int, kind: type[Work], work: Work) -> None:
    """Let a node of some kind do other work: of its graph, or of an executable one where its handle is
    given."""
    found = machine.handles.get(GraphNode, node)
    if executable:
        owner = machine.handles.get(Executable, executable)
        found = owner.node(found)
        machine.schedule.finish([owner.last])
    _work(kind, found)
    found.work = work


def _register_changes(name: str, kind: type[Work], make: Callable[[Machine, int], Work]) -> None:
    """`cuGraphXNodeSetParams` and `cuGraphExecXNodeSetParams`."""
    base, _, revision = name.partition("_")
    suffix = f"_{revision}" if revision else ""

    def change(machine: Machine, node: int, parameters: int) -> None:
        change_node(machine, 0, node, kind, make(machine, parameters))

    def change_executable(machine: Machine, executable: int, node: int, parameters: int, *rest: Any) -> None:
        change_node(machine, executable, node, kind, make(machine, parameters))

    driver(f"cuGraph{base}{suffix}")(change)
    driver(f"cuGraphExec{base}{suffix}")(change_executable)


_register_changes("KernelNodeSetParams", KernelWork, lambda machine, at: launch_of(machine, at, False))
_register_changes("KernelNodeSetParams_v2", KernelWork, lambda machine, at: launch_of(machine, at, True))
_register_changes("MemcpyNodeSetParams", Copy, _copy_of)
_register_changes("MemsetNodeSetParams", Fill, _set_of)
_register_changes("HostNodeSetParams", HostCall, _call_of)
_register_changes(
    "EventRecordNodeSetEvent", Record, lambda machine, at: Record(machine.handles.get(VirtualEvent, at))
)
_register_changes(
    "EventWaitNodeSetEvent", Wait, lambda machine, at: Wait(machine.handles.get(VirtualEvent, at))
)
_register_changes(
    "ChildGraphNodeSetParams", Child, lambda machine, at: Child(machine.handles.get(VirtualGraph, at).clone())
)


# ---- attributes of kernel nodes


@driver()
def cuGraphKernelNodeGetAttribute(machine: Machine, node: int, attribute: int, value: int) -> None:
    work = _work(KernelWork, machine.handles.get(GraphNode, node))
    ctypes.memset(value, 0, 64)
    if attribute == 2:
        put(value, ctypes.c_int, work.cooperative)
    elif attribute == 4:
        for at, extent in enumerate(work.cluster or (0, 0, 0)):
            put(value + 4 * at, ctypes.c_uint, extent)


@driver()
def cuGraphKernelNodeSetAttribute(machine: Machine, node: int, attribute: int, value: int) -> None:
    work = _work(KernelWork, machine.handles.get(GraphNode, node))
    if attribute == 2:
        work.cooperative = bool(get(value, ctypes.c_int))
    elif attribute == 4:
        x, y, z = (get(value + 4 * at, ctypes.c_uint) for at in range(3))
        work.cluster = (x, y, z)
