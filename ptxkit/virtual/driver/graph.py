"""Graph management: graphs, their edges, what is launched of them. Their nodes are in `graph_nodes`."""

from __future__ import annotations

import ctypes
from pathlib import Path

from ptxkit.virtual.abi import (
    Int,
    Pointer,
    Size,
    UInt,
    get,
    put,
    put_if,
    put_several,
    require_place,
    several,
    text,
)
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.stream import not_captured
from ptxkit.virtual.gpu.capture import EDGE_BYTES
from ptxkit.virtual.gpu.executable import AUTO_FREE, Executable
from ptxkit.virtual.gpu.graph import MEMORY_WORK, Child, GraphNode, VirtualGraph
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

UPDATED, UPDATE_ERROR, TOPOLOGY_CHANGED = 0, 1, 2
"""`CUgraphExecUpdateResult`."""
DEVICE_NODES = (0, 1, 2, 4)
"""`CUgraphNodeType` of what is in a graph that a kernel launches: kernels, copies, sets, graphs."""
DEVICE_LAUNCH, INSTANTIATE = 4, 15
"""`CUgraphInstantiate_flags`: that a kernel may launch it, and all there are."""


@driver()
def cuGraphCreate(machine: Machine, graph: int, flags: int) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    require_place(graph)
    put(graph, Pointer, machine.handles.add(VirtualGraph(machine)))


@driver()
def cuGraphDestroy(machine: Machine, graph: int) -> None:
    machine.handles.get(VirtualGraph, graph).close()


@driver()
def cuGraphClone(machine: Machine, clone: int, graph: int) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    require_place(clone)
    found.refuse_memory()
    put(clone, Pointer, found.clone().handle)


@driver()
def cuGraphDestroyNode(machine: Machine, node: int) -> None:
    found = machine.handles.get(GraphNode, node)
    if isinstance(found.work, MEMORY_WORK):
        raise failure("NOT_SUPPORTED", "a node that allocates or frees memory can't be destroyed")
    found.graph.remove(found)


@driver()
def cuGraphNodeGetType(machine: Machine, node: int, kind: int) -> None:
    put(kind, Int, machine.handles.get(GraphNode, node).work.node_type)


@driver()
def cuGraphNodeFindInClone(machine: Machine, node: int, original: int, clone: int) -> None:
    wanted, graph = machine.handles.get(GraphNode, original), machine.handles.get(VirtualGraph, clone)
    found = next((one for one in graph.nodes if one.origin is wanted), None)
    if found is None:
        raise failure("INVALID_VALUE", "the clone has no such node")
    put(node, Pointer, found.handle)


@driver()
def cuGraphChildGraphNodeGetGraph(machine: Machine, node: int, graph: int) -> None:
    work = machine.handles.get(GraphNode, node).work
    if not isinstance(work, Child):
        raise failure("INVALID_VALUE", "the node is no graph")
    put(graph, Pointer, work.graph.handle)


# ---- lists of nodes and edges: with a null pointer the call gives their number


def _listed(nodes: list[GraphNode], places: int, count: int) -> None:
    room = get(count, Size)
    if places:
        put_several(places, Pointer, [node.handle for node in nodes[:room]] + [0] * (room - len(nodes)))
    put(count, Size, min(room, len(nodes)) if places else len(nodes))


@driver()
def cuGraphGetNodes(machine: Machine, graph: int, nodes: int, count: int) -> None:
    _listed(machine.handles.get(VirtualGraph, graph).nodes, nodes, count)


@driver()
def cuGraphGetRootNodes(machine: Machine, graph: int, nodes: int, count: int) -> None:
    _listed([node for node in machine.handles.get(VirtualGraph, graph).nodes if not node.after], nodes, count)


@driver()
def cuGraphNodeGetDependencies(machine: Machine, node: int, nodes: int, count: int) -> None:
    _listed(machine.handles.get(GraphNode, node).after, nodes, count)


@driver("cuGraphNodeGetDependencies_v2")
def cuGraphNodeGetDependencies_v2(machine: Machine, node: int, nodes: int, edges: int, count: int) -> None:
    found = machine.handles.get(GraphNode, node).after
    _whole_edges(edges, len(found), count)
    _listed(found, nodes, count)


def _dependents(node: GraphNode) -> list[GraphNode]:
    return [other for other in node.graph.nodes if node in other.after]


@driver()
def cuGraphNodeGetDependentNodes(machine: Machine, node: int, nodes: int, count: int) -> None:
    _listed(_dependents(machine.handles.get(GraphNode, node)), nodes, count)


@driver("cuGraphNodeGetDependentNodes_v2")
def cuGraphNodeGetDependentNodes_v2(machine: Machine, node: int, nodes: int, edges: int, count: int) -> None:
    found = _dependents(machine.handles.get(GraphNode, node))
    _whole_edges(edges, len(found), count)
    _listed(found, nodes, count)


def _whole_edges(edges: int, number: int, count: int) -> None:
    if edges:
        ctypes.memset(edges, 0, EDGE_BYTES * min(number, get(count, Size)))


@driver()
def cuGraphGetEdges(machine: Machine, graph: int, sources: int, targets: int, count: int) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    edges = [(before, node) for node in found.nodes for before in node.after]
    room = get(count, Size)
    for places, side in ((sources, 0), (targets, 1)):
        if places:
            put_several(places, Pointer, [edge[side].handle for edge in edges[:room]])
    put(count, Size, min(room, len(edges)) if sources or targets else len(edges))


@driver("cuGraphGetEdges_v2")
def cuGraphGetEdges_v2(
    machine: Machine, graph: int, sources: int, targets: int, edges: int, count: int
) -> None:
    number = sum(len(node.after) for node in machine.handles.get(VirtualGraph, graph).nodes)
    _whole_edges(edges, number, count)
    cuGraphGetEdges(machine, graph, sources, targets, count)


def nodes_at(machine: Machine, places: int, count: int) -> list[GraphNode]:
    """The nodes of an array of handles."""
    return [machine.handles.get(GraphNode, handle) for handle in several(places, Pointer, count)]


def _pairs(machine: Machine, sources: int, targets: int, count: int) -> list[tuple[GraphNode, GraphNode]]:
    return list(zip(nodes_at(machine, sources, count), nodes_at(machine, targets, count), strict=True))


@driver()
def cuGraphAddDependencies(machine: Machine, graph: int, sources: int, targets: int, count: int) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    for before, node in _pairs(machine, sources, targets, count):
        found.depend(node, before)


@driver("cuGraphAddDependencies_v2")
def cuGraphAddDependencies_v2(
    machine: Machine, graph: int, sources: int, targets: int, edges: int, count: int
) -> None:
    cuGraphAddDependencies(machine, graph, sources, targets, count)


@driver()
def cuGraphRemoveDependencies(machine: Machine, graph: int, sources: int, targets: int, count: int) -> None:
    machine.handles.get(VirtualGraph, graph)
    for before, node in _pairs(machine, sources, targets, count):
        if before not in node.after:
            raise failure("INVALID_VALUE", "there is no such dependency")
        node.after.remove(before)


@driver("cuGraphRemoveDependencies_v2")
def cuGraphRemoveDependencies_v2(
    machine: Machine, graph: int, sources: int, targets: int, edges: int, count: int
) -> None:
    cuGraphRemoveDependencies(machine, graph, sources, targets, count)


@driver()
def cuGraphDebugDotPrint(machine: Machine, graph: int, path: int, flags: int) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    names = {node: f"node_{at}" for at, node in enumerate(found.nodes)}
    lines = [f'  {name} [label="{type(node.work).__name__}"];' for node, name in names.items()]
    lines += [f"  {names[before]} -> {name};" for node, name in names.items() for before in node.after]
    try:
        Path(text(path)).write_text("digraph graph_1 {\n" + "\n".join(lines) + "\n}\n", "utf-8")
    except OSError as problem:
        raise failure("OPERATING_SYSTEM", str(problem)) from None


# ---- executable graphs


def _require_device_work(graph: VirtualGraph) -> None:
    """Refuse a graph that a kernel may not launch. Raises DriverError."""
    kinds = [node.work.node_type for node in graph.nodes]
    if not kinds or any(kind not in DEVICE_NODES for kind in kinds):
        raise failure(
            "INVALID_VALUE", "a graph that a kernel launches has kernels, copies, sets and graphs alone"
        )


@driver()
def cuGraphInstantiateWithFlags(machine: Machine, executable: int, graph: int, flags: int) -> None:
    found = machine.handles.get(VirtualGraph, graph)
    require_place(executable)
    if flags & ~INSTANTIATE or flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH:
        raise failure("INVALID_VALUE", f"there are no flags {flags:#x} of an executable graph")
    if flags & DEVICE_LAUNCH:
        _require_device_work(found)
    found.refuse_memory(found.instances > 0)
    made = Executable(found, flags)
    put(executable, Pointer, machine.handles.add(made))


@driver("cuGraphInstantiate", "cuGraphInstantiate_v2")
def cuGraphInstantiate(machine: Machine, executable: int, graph: int, node: int, log: int, size: int) -> None:
    cuGraphInstantiateWithFlags(machine, executable, graph, 0)
    put_if(node, Pointer, 0)
    if log and size:
        ctypes.memset(log, 0, 1)


@driver()
def cuGraphInstantiateWithParams(machine: Machine, executable: int, graph: int, parameters: int) -> None:
    """`CUDA_GRAPH_INSTANTIATE_PARAMS`: flags, a stream to upload in, the node at fault, the result."""
    cuGraphInstantiateWithFlags(machine, executable, graph, get(parameters, Size))
    put(parameters + 16, Pointer, 0)
    put(parameters + 24, Int, 0)


@driver()
def cuGraphExecDestroy(machine: Machine, executable: int) -> None:
    found = machine.handles.get(Executable, executable)
    machine.schedule.finish(found.last)
    found.close()
    machine.handles.remove(found)


@driver()
def cuGraphExecGetFlags(machine: Machine, executable: int, flags: int) -> None:
    put(flags, Size, machine.handles.get(Executable, executable).flags)


@driver()
def cuGraphUpload(machine: Machine, executable: int, stream: int) -> None:
    machine.handles.get(Executable, executable)
    not_captured(machine.context().stream(stream))


@driver()
def cuGraphLaunch(machine: Machine, executable: int, stream: int) -> None:
    place = machine.context().stream(stream)
    found = machine.handles.get(Executable, executable)
    if place.capture is not None:
        place.capture.add(place, Child(found.graph.clone()))
    else:
        found.launch(place)


@driver("cuGraphExecUpdate")
def cuGraphExecUpdate(machine: Machine, executable: int, graph: int, node: int, result: int) -> None:
    found, by = machine.handles.get(Executable, executable), machine.handles.get(VirtualGraph, graph)
    machine.schedule.finish(found.last)
    wrong = found.update(by)
    put_if(node, Pointer, wrong.handle if wrong else 0)
    put_if(result, UInt, TOPOLOGY_CHANGED if wrong else UPDATED)
    if wrong:
        raise failure("GRAPH_EXEC_UPDATE_FAILURE", "the graphs have not the same shape")


@driver("cuGraphExecUpdate_v2")
def cuGraphExecUpdate_v2(machine: Machine, executable: int, graph: int, information: int) -> None:
    """`CUgraphExecUpdateResultInfo`: the result, the node at fault, the one that it depends on."""
    node, result = (information + 8, information) if information else (0, 0)
    cuGraphExecUpdate(machine, executable, graph, node, result)


@driver()
def cuGraphNodeSetEnabled(machine: Machine, executable: int, node: int, enabled: int) -> None:
    found = machine.handles.get(Executable, executable).node(machine.handles.get(GraphNode, node))
    if found.work.node_type not in (0, 1, 2):
        raise failure("INVALID_VALUE", "only kernels, copies and sets can be left out")
    found.enabled = bool(enabled)


@driver()
def cuGraphNodeGetEnabled(machine: Machine, executable: int, node: int, enabled: int) -> None:
    found = machine.handles.get(Executable, executable).node(machine.handles.get(GraphNode, node))
    put(enabled, UInt, found.enabled)
