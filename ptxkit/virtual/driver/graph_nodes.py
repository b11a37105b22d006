"""Graph management: nodes, what they do, and how that is changed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ptxkit.virtual.abi import (
    Copy3D,
    HostNode,
    KernelNode,
    MemsetNode,
    Pointer,
    get,
    pointed,
    put,
    put_bytes,
    require_place,
)
from ptxkit.virtual.calling import host_stack
from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.copies import copy_of
from ptxkit.virtual.driver.execution import ATTRIBUTES, arguments
from ptxkit.virtual.driver.graph import nodes_at
from ptxkit.virtual.gpu.context import VirtualEvent
from ptxkit.virtual.gpu.executable import Executable
from ptxkit.virtual.gpu.graph import Child, Empty, GraphNode, Record, VirtualGraph, Wait
from ptxkit.virtual.gpu.library import function_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import KernelWork
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


def set_of(machine: Machine, address: int, context: int = 0) -> Fill:
    """The set of a `CUDA_MEMSET_NODE_PARAMS`."""
    given = pointed(MemsetNode, address)
    if not given.width or not given.height:
        raise failure("INVALID_VALUE", "a set of nothing")
    if given.element_size not in (1, 2, 4):
        raise failure("INVALID_VALUE", f"elements of {given.element_size} bytes")
    value = (given.value & ((1 << 8 * given.element_size) - 1)).to_bytes(given.element_size, "little")
    if given.dst % len(value) or given.pitch % len(value):
        raise failure("INVALID_VALUE", f"elements of {len(value)} bytes at {given.dst:#x}")
    work = Fill(machine, given.dst, value, given.width, given.height, given.pitch)
    machine.memory.check(
        given.dst, (given.height - 1) * given.pitch + given.width * len(value), "memory to be set"
    )
    return work


def call_of(machine: Machine, address: int) -> HostCall:
    """The call of a `CUDA_HOST_NODE_PARAMS`."""
    given = pointed(HostNode, address)
    if not given.function:
        raise failure("INVALID_VALUE", "the function is null")
    return HostCall(given.function, given.data)


def copy_at(machine: Machine, address: int, context: int = 0) -> Copy:
    """The copy of a `CUDA_MEMCPY3D`."""
    given = pointed(Copy3D, address)
    if not (given.width and given.height and given.depth):
        raise failure("INVALID_VALUE", "a copy of nothing")
    return copy_of(machine, given)


# ---- making nodes


def add_node(machine: Machine, node: int, graph: int, before: int, count: int, work: Work) -> None:
    """Add a node that does some work to a graph."""
    found = machine.handles.get(VirtualGraph, graph)
    require_place(node)
    put(node, Pointer, found.add(work, nodes_at(machine, before, count)).handle)


# ---- asking and changing them


def work_of(kind: type[W], node: GraphNode) -> W:
    """What a node does, which must be of a kind."""
    if not isinstance(node.work, kind):
        raise failure("INVALID_VALUE", f"expected a node that is a {kind.__name__.lower()}")
    return node.work


def _kernel_parameters(machine: Machine, node: int, address: int, newer: bool) -> None:
    """The parameters lie in memory of the node's, as long as it lives."""
    found = machine.handles.get(GraphNode, node)
    work = work_of(KernelWork, found)
    kept = ctypes.create_string_buffer(work.arguments, max(len(work.arguments), 1))
    offsets = work.function.kernel.signature.offsets
    places = (Pointer * max(len(offsets), 1))(*(ctypes.addressof(kept) + offset for offset in offsets))
    found.storage = (kept, places)
    given = KernelNode(
        work.function.handle, *work.grid, *work.block, work.shared, ctypes.addressof(places) if offsets else 0
    )
    put_bytes(address, bytes(given)[: None if newer else V1_BYTES])


driver("cuGraphKernelNodeGetParams")(partial(_kernel_parameters, newer=False))
driver("cuGraphKernelNodeGetParams_v2")(partial(_kernel_parameters, newer=True))


@driver()
def cuGraphMemcpyNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = work_of(Copy, machine.handles.get(GraphNode, node))
    if not work.parameters:
        raise failure("NOT_SUPPORTED", "the parameters of a copy that was captured")
    put_bytes(parameters, work.parameters)


@driver()
def cuGraphMemsetNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = work_of(Fill, machine.handles.get(GraphNode, node))
    value, size = int.from_bytes(work.value, "little"), len(work.value)
    given = MemsetNode(work.dst, work.pitch, value, size, work.width, work.height)
    put_bytes(parameters, bytes(given))


@driver()
def cuGraphHostNodeGetParams(machine: Machine, node: int, parameters: int) -> None:
    work = work_of(HostCall, machine.handles.get(GraphNode, node))
    put_bytes(parameters, bytes(HostNode(work.function, work.data)))


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
        machine.schedule.finish(owner.last)
    work_of(kind, found)
    found.work = work


def register_nodes(
    functions: FunctionTable,
    node: str,
    kind: type[Work],
    make: Callable[..., Work],
    suffix: str = "",
    sets: str = "SetParams",
    begin: Callable[[Machine], object] = lambda machine: None,
) -> None:
    """`cuGraphAddXNode`, `cuGraphXNodeSetParams` and `cuGraphExecXNodeSetParams`, or the runtime's.

    Args:
        functions: where to register them.
        node: the beginning of their names and that of the node: `cu KernelNode`.
        kind: what the node does.
        make: its work, from what each function is given at the end.
        suffix: what ends their names.
        sets: what follows the node's name in the others.
        begin: what comes before a node is added.
    """
    api, node = node.split()

    @functions(f"{api}GraphAdd{node}{suffix}")
    def add(machine: Machine, place: int, graph: int, before: int, count: int, *given: int) -> None:
        begin(machine)
        add_node(machine, place, graph, before, count, make(machine, *given))

    @functions(f"{api}Graph{node}{sets}{suffix}")
    def change(machine: Machine, place: int, *given: int) -> None:
        change_node(machine, 0, place, kind, make(machine, *given))

    @functions(f"{api}GraphExec{node}{sets}{suffix}")
    def change_executable(machine: Machine, executable: int, place: int, *given: int) -> None:
        change_node(machine, executable, place, kind, make(machine, *given))


def record_of(machine: Machine, event: int) -> Record:
    """The record of an event."""
    require_place(event)
    return Record(machine.handles.get(VirtualEvent, event))


def wait_for(machine: Machine, event: int) -> Wait:
    """The wait for an event."""
    require_place(event)
    return Wait(machine.handles.get(VirtualEvent, event))


def child_of(machine: Machine, graph: int) -> Child:
    """A copy of a graph as a node."""
    found = machine.handles.get(VirtualGraph, graph)
    found.refuse_memory()
    return Child(found.clone())


register_nodes(driver, "cu KernelNode", KernelWork, partial(launch_of, newer=False))
register_nodes(driver, "cu KernelNode", KernelWork, partial(launch_of, newer=True), "_v2")
register_nodes(driver, "cu MemcpyNode", Copy, copy_at)
register_nodes(driver, "cu MemsetNode", Fill, set_of)
register_nodes(driver, "cu HostNode", HostCall, call_of)
register_nodes(driver, "cu EventRecordNode", Record, record_of, sets="SetEvent")
register_nodes(driver, "cu EventWaitNode", Wait, wait_for, sets="SetEvent")
register_nodes(driver, "cu ChildGraphNode", Child, child_of)


@driver()
def cuGraphAddEmptyNode(machine: Machine, node: int, graph: int, before: int, count: int) -> None:
    add_node(machine, node, graph, before, count, Empty())


# ---- attributes of kernel nodes


def _require_attribute(number: int) -> None:
    if not 0 <= number <= ATTRIBUTES:
        raise failure("INVALID_VALUE", f"a launch has no attribute {number}")


@driver()
def cuGraphKernelNodeGetAttribute(machine: Machine, node: int, attribute: int, value: int) -> None:
    work = work_of(KernelWork, machine.handles.get(GraphNode, node))
    _require_attribute(attribute)
    put_bytes(value, bytes(64))
    if attribute == 2:
        put(value, ctypes.c_int, work.cooperative)
    elif attribute == 4:
        for at, extent in enumerate(work.cluster or (0, 0, 0)):
            put(value + 4 * at, ctypes.c_uint, extent)


@driver()
def cuGraphKernelNodeSetAttribute(machine: Machine, node: int, attribute: int, value: int) -> None:
    work = work_of(KernelWork, machine.handles.get(GraphNode, node))
    _require_attribute(attribute)
    if attribute == 2:
        work.cooperative = bool(get(value, ctypes.c_int))
    elif attribute == 4:
        x, y, z = (get(value + 4 * at, ctypes.c_uint) for at in range(3))
        if not (x and y and z) or any(a % b for a, b in zip(work.grid, (x, y, z), strict=True)):
            raise failure("INVALID_CLUSTER_SIZE", f"clusters of {x} x {y} x {z} of a grid of {work.grid}")
        work.cluster = (x, y, z)


@driver()
def cuGraphKernelNodeCopyAttributes(machine: Machine, dst: int, src: int) -> None:
    to, of = (work_of(KernelWork, machine.handles.get(GraphNode, node)) for node in (dst, src))
    to.cooperative, to.cluster = of.cooperative, of.cluster
