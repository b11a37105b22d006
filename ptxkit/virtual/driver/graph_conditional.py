"""Graph management: conditional nodes, and nodes of any kind by one structure, `CUgraphNodeParams`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ptxkit.virtual.abi import Int, Pointer, Size, UInt, get, put, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver import graph_nodes as nodes
from ptxkit.virtual.driver.graph_memory import allocation, freed, obtain_block
from ptxkit.virtual.gpu.conditional import IF, SWITCH, WHILE, WORD, ConditionalNode, GraphCondition
from ptxkit.virtual.gpu.graph import Empty, GraphNode, VirtualGraph
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Work
from ptxkit.virtual.results import failure

ASSIGN_DEFAULT = 1
"""`CU_GRAPH_COND_ASSIGN_DEFAULT`."""
UNION = 16
"""Where a `CUgraphNodeParams` has what belongs to its kind."""
COPY_AT = 16
"""Where a `CUDA_MEMCPY_NODE_PARAMS` has the copy: after flags and context."""


@driver()
def cuGraphConditionalHandleCreate(
    machine: Machine, handle: int, graph: int, context: int, default: int, flags: int
) -> None:
    owner = machine.handles.get(VirtualGraph, graph)
    if flags & ~ASSIGN_DEFAULT:
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of a condition")
    require_place(handle)
    block = obtain_block(machine, WORD)
    machine.memory.write(block.address, default.to_bytes(WORD, "little"))
    block.hold()
    owner.held.append(block)
    machine.conditions[block.address] = GraphCondition(machine, block, default if flags else None)
    put(handle, Size, block.address)


def conditional(machine: Machine, graph: VirtualGraph, parameters: int) -> ConditionalNode:
    """The node of a `CUDA_CONDITIONAL_NODE_PARAMS`, its bodies empty."""
    condition = machine.conditions.get(get(parameters, Size))
    kind, size = get(parameters + 8, Int), get(parameters + 12, UInt)
    if condition is None or not any(condition.block in one.held for one in graph.and_around()):
        raise failure("INVALID_VALUE", "the condition was not created for this graph")
    if not IF <= kind <= SWITCH or size not in {IF: (1, 2), WHILE: (1,)}.get(kind, range(1, 1 << 16)):
        raise failure("INVALID_VALUE", f"there is no conditional node of kind {kind} with {size} bodies")
    bodies = [VirtualGraph(machine) for _ in range(size)]
    for body in bodies:
        body.around = graph
        machine.handles.add(body)
    return ConditionalNode(condition, kind, bodies)


def _work(machine: Machine, graph: VirtualGraph | None, parameters: int) -> Work:
    """What the node of a `CUgraphNodeParams` does."""
    if not parameters:
        raise failure("INVALID_VALUE", "the parameters are null")
    kind, own = get(parameters, Int), parameters + UNION
    if kind == 13 and graph is not None:
        return conditional(machine, graph, own)
    if kind == 11 and graph is not None:
        return freed(machine, graph, get(own, Size))
    if not 0 <= kind <= 13:
        raise failure("INVALID_VALUE", f"there are no nodes of kind {kind}")
    if kind not in _MAKERS:
        raise failure("NOT_SUPPORTED", f"nodes of kind {kind} by `CUgraphNodeParams`")
    return _MAKERS[kind](machine, own)


_MAKERS: dict[int, Callable[[Machine, int], Work]] = {
    0: lambda machine, own: nodes.launch_of(machine, own, newer=True),
    1: lambda machine, own: nodes.copy_at(machine, own + COPY_AT),
    2: nodes.set_of,
    3: nodes.call_of,
    4: lambda machine, own: nodes.child_of(machine, get(own, Pointer)),
    5: lambda machine, own: Empty(),
    6: lambda machine, own: nodes.wait_for(machine, get(own, Pointer)),
    7: lambda machine, own: nodes.record_of(machine, get(own, Pointer)),
    10: allocation,
}
"""What makes the work of a kind of node. `CUgraphNodeType`."""


def add_any(machine: Machine, node: int, graph: int, before: int, count: int, parameters: int) -> None:
    """Add the node of a `CUgraphNodeParams`; of a conditional one the bodies are put there."""
    found = machine.handles.get(VirtualGraph, graph)
    work = _work(machine, found, parameters)
    nodes.add_node(machine, node, graph, before, count, work)
    if isinstance(work, ConditionalNode):
        handles = (Pointer * len(work.bodies))()
        handles[:] = [body.handle for body in work.bodies]
        machine.handles.get(GraphNode, get(node, Pointer)).storage = handles
        put(parameters + UNION + 16, Pointer, ctypes.addressof(handles))


driver("cuGraphAddNode")(add_any)


@driver("cuGraphAddNode_v2", "cuGraphAddNode_v3")
def cuGraphAddNode_v2(
    machine: Machine, node: int, graph: int, before: int, edges: int, count: int, parameters: int
) -> None:
    add_any(machine, node, graph, before, count, parameters)


@driver("cuGraphNodeSetParams", "cuGraphNodeSetParams_v2")
def cuGraphNodeSetParams(machine: Machine, node: int, parameters: int) -> None:
    work = _work(machine, None, parameters)
    nodes.change_node(machine, 0, node, type(work), work)


@driver()
def cuGraphExecNodeSetParams(machine: Machine, executable: int, node: int, parameters: int) -> None:
    work = _work(machine, None, parameters)
    nodes.change_node(machine, executable, node, type(work), work)
