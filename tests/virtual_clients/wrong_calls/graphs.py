"""Graphs: circles, duplicates, nodes of the wrong kind, graphs that are gone, user objects."""

from __future__ import annotations

import ctypes
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, at, halves, misused, place, raw, text

__all__ = ["CALLS", "begin"]


def _second(f: Fixtures) -> Any:
    """An empty node behind the first."""
    return check(cuda.cuGraphAddEmptyNode(f.graph, [f.node], 1))


def _depend(graph: Any, sources: list[Any], targets: list[Any]) -> tuple[int]:
    words = [[half for one in side for half in halves(one)] for side in (sources, targets)]
    return raw("cuGraphAddDependencies_v2", graph, *(place(*side) for side in words), 0, len(sources))


def _undepend(graph: Any, source: Any, target: Any) -> tuple[int]:
    return raw("cuGraphRemoveDependencies_v2", graph, place(*halves(source)), place(*halves(target)), 0, 1)


def _circle(f: Fixtures) -> tuple[int]:
    return _depend(f.graph, [_second(f)], [f.node])


def _circle_instantiated(f: Fixtures) -> tuple[int]:
    _circle(f)
    return raw("cuGraphInstantiateWithFlags", place(), f.graph, 0)


def _destroyed_node(f: Fixtures) -> Any:
    check(cuda.cuGraphDestroyNode(f.node))
    return misused(f.node)


def _of_destroyed_graph(f: Fixtures) -> Any:
    """A node whose graph is gone."""
    node = f.node
    check(cuda.cuGraphDestroy(f.graph))
    return misused(node)


def _set(f: Fixtures, parameters: Any) -> tuple[int]:
    context = check(cuda.cuCtxGetCurrent())
    return raw("cuGraphAddMemsetNode", place(), f.graph, 0, 0, at(parameters), context)


def _launched(f: Fixtures, parameters: Any) -> tuple[int]:
    return raw("cuGraphAddKernelNode_v2", place(), f.graph, 0, 0, at(parameters))


def _host(f: Fixtures, function: int) -> tuple[int]:
    return raw("cuGraphAddHostNode", place(), f.graph, 0, 0, place(*halves(function), 0, 0))


def _child(f: Fixtures, child: Any) -> tuple[int]:
    return raw("cuGraphAddChildGraphNode", place(), f.graph, 0, 0, child)


def _any(f: Fixtures, kind: int, *words: int) -> tuple[int]:
    return raw("cuGraphAddNode_v2", place(), f.graph, 0, 0, 0, place(kind, 0, 0, 0, *words))


def _copy(f: Fixtures, size: int) -> tuple[int]:
    made = cuda.CUDA_MEMCPY3D()
    made.srcMemoryType, made.dstMemoryType = cuda.CUmemorytype(1), cuda.CUmemorytype(2)
    made.srcHost, made.dstDevice = f.numbers, f.address
    made.WidthInBytes, made.Height, made.Depth = size, 1, 1
    context = check(cuda.cuCtxGetCurrent())
    return raw("cuGraphAddMemcpyNode", place(), f.graph, 0, 0, at(made), context)


def _user_object(flags: int = 1, references: int = 1, destroy: bool = True) -> tuple[int]:
    return raw("cuUserObjectCreate", place(), 0, _nothing_at() if destroy else 0, references, flags)


def _nothing_at() -> int:
    """The address of a function of the C library that takes a pointer and does nothing with null."""
    return ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p).value or 0


def _made_object() -> int:
    where = place()
    raw("cuUserObjectCreate", where, 0, _nothing_at(), 1, 1)
    return ctypes.c_uint64.from_address(where).value


CALLS: dict[str, Call] = {
    "a graph with flags": lambda _: raw("cuGraphCreate", place(), 1),
    "a graph, nowhere": lambda _: raw("cuGraphCreate", 0, 0),
    "a graph is destroyed twice": lambda f: raw("cuGraphDestroy", f.destroyed_graph),
    "no graph is destroyed": lambda _: raw("cuGraphDestroy", 0),
    "a stream is destroyed as a graph": lambda f: raw("cuGraphDestroy", misused(f.stream)),
    "a copy of a destroyed graph": lambda f: raw("cuGraphClone", place(), f.destroyed_graph),
    "a copy of no graph": lambda _: raw("cuGraphClone", place(), 0),
    "an empty node of no graph": lambda _: raw("cuGraphAddEmptyNode", place(), 0, 0, 0),
    "an empty node of a destroyed graph": lambda f: raw(
        "cuGraphAddEmptyNode", place(), f.destroyed_graph, 0, 0
    ),
    "an empty node, nowhere": lambda f: raw("cuGraphAddEmptyNode", 0, f.graph, 0, 0),
    "a node behind one of another graph": lambda f: raw(
        "cuGraphAddEmptyNode", place(), f.other_graph, place(*halves(f.node)), 1
    ),
    "a node behind no node": lambda f: raw("cuGraphAddEmptyNode", place(), f.graph, place(), 1),
    "a node behind one, from nowhere": lambda f: raw("cuGraphAddEmptyNode", place(), f.graph, 0, 1),
    "a node behind the same twice": lambda f: raw(
        "cuGraphAddEmptyNode", place(), f.graph, place(*halves(f.node), *halves(f.node)), 2
    ),
    "a node behind a destroyed one": lambda f: raw(
        "cuGraphAddEmptyNode", place(), f.graph, place(*halves(_destroyed_node(f))), 1
    ),
    "a node is destroyed twice": lambda f: raw("cuGraphDestroyNode", _destroyed_node(f)),
    "no node is destroyed": lambda _: raw("cuGraphDestroyNode", 0),
    "the kind of no node": lambda _: raw("cuGraphNodeGetType", 0, place()),
    "the kind of a node of a destroyed graph": lambda f: raw(
        "cuGraphNodeGetType", _of_destroyed_graph(f), place()
    ),
    "the kind of a node, nowhere": lambda f: raw("cuGraphNodeGetType", f.node, 0),
    "a node behind itself": lambda f: _depend(f.graph, [f.node], [f.node]),
    "a circle": _circle,
    "a circle is instantiated": _circle_instantiated,
    "a dependency twice": lambda f: _depend(f.graph, [f.node], [_second(f)]),
    "a dependency between graphs": lambda f: _depend(
        f.graph, [f.node], [check(cuda.cuGraphAddEmptyNode(f.other_graph, None, 0))]
    ),
    "a dependency of no node": lambda f: _depend(f.graph, [0], [f.node]),
    "a dependency of no graph": lambda f: _depend(0, [f.node], [_second(f)]),
    "no dependencies": lambda f: _depend(f.graph, [], []),
    "a dependency ends that never was": lambda f: _undepend(
        f.graph, f.node, check(cuda.cuGraphAddEmptyNode(f.graph, None, 0))
    ),
    "a dependency of no node ends": lambda f: _undepend(f.graph, 0, f.node),
    "the nodes of no graph": lambda _: raw("cuGraphGetNodes", 0, 0, place()),
    "the nodes, nowhere": lambda f: raw("cuGraphGetNodes", f.graph, 0, 0),
    "the first nodes of no graph": lambda _: raw("cuGraphGetRootNodes", 0, 0, place()),
    "the edges of no graph": lambda _: raw("cuGraphGetEdges_v2", 0, 0, 0, 0, place()),
    "what no node depends on": lambda _: raw("cuGraphNodeGetDependencies_v2", 0, 0, 0, place()),
    "what depends on no node": lambda _: raw("cuGraphNodeGetDependentNodes_v2", 0, 0, 0, place()),
    "a node of a graph that is no copy": lambda f: raw(
        "cuGraphNodeFindInClone", place(), f.node, f.other_graph
    ),
    "the parameters of a kernel of an empty node": lambda f: raw(
        "cuGraphKernelNodeGetParams_v2", f.node, place()
    ),
    "the parameters of a copy of an empty node": lambda f: raw("cuGraphMemcpyNodeGetParams", f.node, place()),
    "the parameters of a set of a kernel": lambda f: raw(
        "cuGraphMemsetNodeGetParams", f.kernel_node, place()
    ),
    "the parameters of a host's function of a kernel": lambda f: raw(
        "cuGraphHostNodeGetParams", f.kernel_node, place()
    ),
    "the graph of an empty node": lambda f: raw("cuGraphChildGraphNodeGetGraph", f.node, place()),
    "the event of an empty node": lambda f: raw("cuGraphEventRecordNodeGetEvent", f.node, place()),
    "the event that a kernel waits for": lambda f: raw(
        "cuGraphEventWaitNodeGetEvent", f.kernel_node, place()
    ),
    "the allocation of an empty node": lambda f: raw("cuGraphMemAllocNodeGetParams", f.node, place()),
    "the parameters of no node": lambda _: raw("cuGraphKernelNodeGetParams_v2", 0, place()),
    "the parameters, nowhere": lambda f: raw("cuGraphKernelNodeGetParams_v2", f.kernel_node, 0),
    "parameters for no node": lambda f: raw("cuGraphKernelNodeSetParams_v2", 0, at(f.kernel_parameters())),
    "parameters of a kernel for an empty node": lambda f: raw(
        "cuGraphKernelNodeSetParams_v2", f.node, at(f.kernel_parameters())
    ),
    "a kernel node of no parameters": lambda f: raw("cuGraphAddKernelNode_v2", place(), f.graph, 0, 0, 0),
    "a kernel node of zeroes": lambda f: raw("cuGraphAddKernelNode_v2", place(), f.graph, 0, 0, place()),
    "a kernel node of an empty grid": lambda f: _launched(f, f.kernel_parameters(0)),
    "a kernel node of too many threads": lambda f: _launched(f, f.kernel_parameters(1, 4096)),
    "a set of nothing": lambda f: _set(f, f.set_parameters(0)),
    "a set of null": lambda f: _set(f, f.set_parameters(address=0)),
    "a set of elements of 3 bytes": lambda f: _set(f, f.set_parameters(element=3)),
    "a set of misaligned elements": lambda f: _set(f, f.set_parameters(4, 4, f.address + 2)),
    "a set beyond the end": lambda f: _set(f, f.set_parameters(1 << 26)),
    "a set of freed memory": lambda f: _set(f, f.set_parameters(address=f.freed)),
    "a set in no context": lambda f: raw(
        "cuGraphAddMemsetNode", place(), f.graph, 0, 0, at(f.set_parameters()), 0
    ),
    "a copy of nothing": lambda f: _copy(f, 0),
    "a copy beyond the end": lambda f: _copy(f, 1 << 15),
    "a copy of no parameters": lambda f: raw(
        "cuGraphAddMemcpyNode", place(), f.graph, 0, 0, 0, check(cuda.cuCtxGetCurrent())
    ),
    "a host's function that is none": lambda f: _host(f, 0),
    "a graph in no graph": lambda f: _child(f, 0),
    "a graph in itself": lambda f: _child(f, f.graph),
    "a destroyed graph in a graph": lambda f: _child(f, f.destroyed_graph),
    "a record of no event": lambda f: raw("cuGraphAddEventRecordNode", place(), f.graph, 0, 0, 0),
    "a record of a destroyed event": lambda f: raw(
        "cuGraphAddEventRecordNode", place(), f.graph, 0, 0, f.destroyed_event
    ),
    "a wait for no event": lambda f: raw("cuGraphAddEventWaitNode", place(), f.graph, 0, 0, 0),
    "a node of no parameters": lambda f: raw("cuGraphAddNode_v2", place(), f.graph, 0, 0, 0, 0),
    "a node of a kind that there is not": lambda f: _any(f, 77),
    "a node of a negative kind": lambda f: _any(f, -1),
    "a kernel of zeroes": lambda f: _any(f, 0),
    "a conditional node of no condition": lambda f: _any(f, 13),
    "a condition of no graph": lambda _: raw("cuGraphConditionalHandleCreate", place(), 0, 0, 0, 0),
    "a condition with flags that there are not": lambda f: raw(
        "cuGraphConditionalHandleCreate", place(), f.graph, check(cuda.cuCtxGetCurrent()), 0, 77
    ),
    "a user object without a destructor": lambda _: _user_object(destroy=False),
    "a user object without flags": lambda _: _user_object(flags=0),
    "a user object with no references": lambda _: _user_object(references=0),
    "no user object is kept": lambda _: raw("cuUserObjectRetain", 0, 1),
    "a user object is kept 0 times": lambda _: raw("cuUserObjectRetain", _made_object(), 0),
    "no user object is let go": lambda _: raw("cuUserObjectRelease", 0, 1),
    "a graph keeps no user object": lambda f: raw("cuGraphRetainUserObject", f.graph, 0, 1, 0),
    "a graph keeps a user object with flags that there are not": lambda f: raw(
        "cuGraphRetainUserObject", f.graph, _made_object(), 1, 77
    ),
    "a graph lets a user object go that it has not": lambda f: raw(
        "cuGraphReleaseUserObject", f.graph, _made_object(), 1
    ),
    "a picture of no graph": lambda _: raw("cuGraphDebugDotPrint", 0, text(b"/dev/null"), 0),
    "a picture in a folder that is not there": lambda f: raw(
        "cuGraphDebugDotPrint", f.graph, text(b"/nothing/there.dot"), 0
    ),
    "a picture without a name": lambda f: raw("cuGraphDebugDotPrint", f.graph, 0, 0),
}
