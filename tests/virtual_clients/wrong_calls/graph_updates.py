"""Executable graphs: instantiation, launches, updates that do not fit."""

from __future__ import annotations

from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, at, misused, place, raw
from wrong_calls.launches import kernel

__all__ = ["CALLS", "begin"]


def _instantiate(graph: Any, flags: int) -> tuple[int]:
    return raw("cuGraphInstantiateWithFlags", place(), graph, flags)


def _update(f: Fixtures, graph: Any) -> tuple[int]:
    return raw("cuGraphExecUpdate_v2", f.executable, graph, place())


def _with_kernel(f: Fixtures, name: bytes = b"plain") -> Any:
    """Another graph, of one kernel without parameters' use."""
    parameters = f.kernel_parameters()
    parameters.func = kernel(name)
    check(cuda.cuGraphAddKernelNode(f.other_graph, None, 0, parameters))
    return f.other_graph


def _with_empty(f: Fixtures) -> Any:
    check(cuda.cuGraphAddEmptyNode(f.other_graph, None, 0))
    return f.other_graph


def _executable_of_kernel(f: Fixtures) -> Any:
    assert f.kernel_node
    return f.executable


def _executable_of_set(f: Fixtures) -> Any:
    assert f.set_node
    return f.executable


def _executable_of_nothing(f: Fixtures) -> Any:
    assert f.node
    return f.executable


def _set(f: Fixtures, **given: Any) -> tuple[int]:
    executable = _executable_of_set(f)
    context = check(cuda.cuCtxGetCurrent())
    parameters = at(f.set_parameters(**given))
    return raw("cuGraphExecMemsetNodeSetParams", executable, f.set_node, parameters, context)


def _kernel(f: Fixtures, parameters: Any) -> tuple[int]:
    executable = _executable_of_kernel(f)
    return raw("cuGraphExecKernelNodeSetParams_v2", executable, f.kernel_node, at(parameters))


def _other_kernel(f: Fixtures, name: bytes) -> Any:
    made = f.kernel_parameters()
    made.func = kernel(name)
    return made


def _twice(f: Fixtures) -> tuple[int]:
    """The end of an executable graph that is gone."""
    return raw("cuGraphExecDestroy", f.destroyed_executable)


def _updated(graph: Any) -> Any:
    def call(f: Fixtures) -> tuple[int]:
        executable = _executable_of_kernel(f)
        assert executable
        return _update(f, graph(f))

    return call


CALLS: dict[str, Call] = {
    "no graph is instantiated": lambda _: _instantiate(0, 0),
    "a destroyed graph is instantiated": lambda f: _instantiate(f.destroyed_graph, 0),
    "a graph is instantiated, nowhere": lambda f: raw("cuGraphInstantiateWithFlags", 0, f.graph, 0),
    "flags that there are not": lambda f: _instantiate(f.graph, 0x800),
    "launched by a device, without kernels": lambda f: _instantiate(f.graph, 4),
    "launched by a device, and memory freed at its launch": lambda f: _instantiate(f.graph, 5),
    "instantiated with no parameters": lambda f: raw("cuGraphInstantiateWithParams", place(), f.graph, 0),
    "instantiated with flags that there are not": lambda f: raw(
        "cuGraphInstantiateWithParams", place(), f.graph, place(0x800)
    ),
    "an executable graph is destroyed twice": _twice,
    "no executable graph is destroyed": lambda _: raw("cuGraphExecDestroy", 0),
    "a graph is destroyed as an executable one": lambda f: raw("cuGraphExecDestroy", misused(f.graph)),
    "no executable graph is launched": lambda f: raw("cuGraphLaunch", 0, f.stream),
    "a destroyed executable graph is launched": lambda f: raw(
        "cuGraphLaunch", f.destroyed_executable, f.stream
    ),
    "a graph is launched as an executable one": lambda f: raw("cuGraphLaunch", misused(f.graph), f.stream),
    "a launch in a destroyed stream": lambda f: raw("cuGraphLaunch", f.executable, f.destroyed_stream),
    "no executable graph is uploaded": lambda f: raw("cuGraphUpload", 0, f.stream),
    "an upload in a destroyed stream": lambda f: raw("cuGraphUpload", f.executable, f.destroyed_stream),
    "the flags of no executable graph": lambda _: raw("cuGraphExecGetFlags", 0, place()),
    "the flags, nowhere": lambda f: raw("cuGraphExecGetFlags", f.executable, 0),
    "an update by no graph": lambda f: _update(f, 0),
    "an update by a destroyed graph": lambda f: _update(f, f.destroyed_graph),
    "an update of no executable graph": lambda f: raw("cuGraphExecUpdate_v2", 0, f.graph, place()),
    "an update, its result nowhere": lambda f: raw("cuGraphExecUpdate_v2", f.executable, f.graph, 0),
    "an update by a graph of another kind of node": _updated(_with_empty),
    "an update by a graph of another kernel": _updated(_with_kernel),
    "an update by a graph of fewer nodes": _updated(lambda f: f.other_graph),
    "an update by a graph of more nodes": lambda f: _update(f, _with_empty(f)),
    "a kernel with an empty grid": lambda f: _kernel(f, f.kernel_parameters(0)),
    "a kernel of too many threads": lambda f: _kernel(f, f.kernel_parameters(1, 4096)),
    "another kernel": lambda f: _kernel(f, _other_kernel(f, b"plain")),
    "a kernel without parameters' places": lambda f: raw(
        "cuGraphExecKernelNodeSetParams_v2", _executable_of_kernel(f), f.kernel_node, place()
    ),
    "a kernel of an executable graph that has not that node": lambda f: raw(
        "cuGraphExecKernelNodeSetParams_v2",
        *(_executable_of_nothing(f), f.kernel_node, at(f.kernel_parameters())),
    ),
    "a kernel's parameters for an empty node": lambda f: raw(
        "cuGraphExecKernelNodeSetParams_v2",
        *(_executable_of_nothing(f), f.node, at(f.kernel_parameters())),
    ),
    "a kernel's parameters for no node": lambda f: raw(
        "cuGraphExecKernelNodeSetParams_v2", _executable_of_kernel(f), 0, at(f.kernel_parameters())
    ),
    "a set of elements of 3 bytes": lambda f: _set(f, element=3),
    "a set of null": lambda f: _set(f, address=0),
    "a set beyond the end": lambda f: _set(f, width=1 << 26),
    "a set of freed memory": lambda f: _set(f, address=f.freed),
    "a set of the host's memory instead": lambda f: _set(f, address=f.pinned),
    "another graph in a graph's place": lambda f: raw(
        "cuGraphExecChildGraphNodeSetParams", _executable_of_kernel(f), f.kernel_node, f.other_graph
    ),
    "another event for a kernel": lambda f: raw(
        "cuGraphExecEventRecordNodeSetEvent", _executable_of_kernel(f), f.kernel_node, f.event
    ),
    "a host's function for a kernel": lambda f: raw(
        "cuGraphExecHostNodeSetParams", _executable_of_kernel(f), f.kernel_node, place(1)
    ),
    "an empty node is left out": lambda f: raw("cuGraphNodeSetEnabled", _executable_of_nothing(f), f.node, 0),
    "no node is left out": lambda f: raw("cuGraphNodeSetEnabled", _executable_of_kernel(f), 0, 0),
    "a kernel is left out 77 times": lambda f: raw(
        "cuGraphNodeSetEnabled", _executable_of_kernel(f), f.kernel_node, 77
    ),
    "whether a node is left out, nowhere": lambda f: raw(
        "cuGraphNodeGetEnabled", _executable_of_kernel(f), f.kernel_node, 0
    ),
    "an attribute of an empty node": lambda f: raw("cuGraphKernelNodeGetAttribute", f.node, 8, place()),
    "an attribute that there is not": lambda f: raw(
        "cuGraphKernelNodeGetAttribute", f.kernel_node, 777, place()
    ),
    "an attribute is set that there is not": lambda f: raw(
        "cuGraphKernelNodeSetAttribute", f.kernel_node, 777, place()
    ),
    "a cluster that does not divide the grid": lambda f: raw(
        "cuGraphKernelNodeSetAttribute", f.kernel_node, 4, place(3, 1, 1)
    ),
    "attributes of an empty node": lambda f: raw("cuGraphKernelNodeCopyAttributes", f.kernel_node, f.node),
}
