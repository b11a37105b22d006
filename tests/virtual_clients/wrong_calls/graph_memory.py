"""Memory that graphs allocate and free."""

from __future__ import annotations

import ctypes
from typing import Any

from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import SIZE, Call, Fixtures, at, halves, place, raw

__all__ = ["CALLS", "begin"]

ADDRESS = 112
"""Where a `CUDA_MEM_ALLOC_NODE_PARAMS` has the address that is given."""


def _parameters(size: int = SIZE, device: int = 0) -> Any:
    made = cuda.CUDA_MEM_ALLOC_NODE_PARAMS()
    made.poolProps.allocType = cuda.CUmemAllocationType(1)
    made.poolProps.location.type = cuda.CUmemLocationType(1)
    made.poolProps.location.id = device
    made.bytesize = size
    return made


def _allocate(f: Fixtures, parameters: int) -> tuple[int]:
    return raw("cuGraphAddMemAllocNode", place(), f.graph, 0, 0, parameters)


def _allocated(f: Fixtures) -> tuple[int, int]:
    """A node that allocates, and the address."""
    parameters, node = at(_parameters()), place()
    code = raw("cuGraphAddMemAllocNode", node, f.graph, 0, 0, parameters)[0]
    assert code == 0, code
    return (
        ctypes.c_uint64.from_address(node).value,
        ctypes.c_uint64.from_address(parameters + ADDRESS).value,
    )


def _free(f: Fixtures, address: int, behind: int | None = None) -> tuple[int]:
    before = place(*halves(behind)) if behind is not None else 0
    return raw("cuGraphAddMemFreeNode", place(), f.graph, before, int(behind is not None), address)


def _freed_twice(f: Fixtures) -> tuple[int]:
    node, address = _allocated(f)
    _free(f, address, node)
    return _free(f, address, node)


def _freed_before(f: Fixtures) -> tuple[int]:
    return _free(f, _allocated(f)[1])


def _of_another_graph(f: Fixtures) -> tuple[int]:
    address = _allocated(f)[1]
    return raw("cuGraphAddMemFreeNode", place(), f.other_graph, 0, 0, address)


def _with_allocation(f: Fixtures) -> Any:
    assert _allocated(f)
    return f.graph


def _instantiated_twice(f: Fixtures) -> tuple[int]:
    graph = _with_allocation(f)
    assert raw("cuGraphInstantiateWithFlags", place(), graph, 0) == (0,)
    return raw("cuGraphInstantiateWithFlags", place(), graph, 0)


def _launched_twice(f: Fixtures) -> tuple[int]:
    """A second launch while what the first allocated is not freed."""
    _with_allocation(f)
    assert raw("cuGraphLaunch", f.executable, f.stream) == (0,)
    return raw("cuGraphLaunch", f.executable, f.stream)


def _freed_by_the_host(f: Fixtures) -> tuple[int]:
    """A free of an address that no launch has allocated yet."""
    return raw("cuMemFree_v2", _allocated(f)[1])


CALLS: dict[str, Call] = {
    "an allocation of no parameters": lambda f: _allocate(f, 0),
    "an allocation of zeroes": lambda f: _allocate(f, place()),
    "an allocation of nothing": lambda f: _allocate(f, at(_parameters(0))),
    "an allocation of more than there is": lambda f: _allocate(f, at(_parameters(1 << 50))),
    "an allocation of a device that is not there": lambda f: _allocate(f, at(_parameters(device=99))),
    "an allocation of no graph": lambda _: raw("cuGraphAddMemAllocNode", place(), 0, 0, 0, at(_parameters())),
    "a free of null": lambda f: _free(f, 0),
    "a free of what no graph allocated": lambda f: _free(f, f.address),
    "a free of the host's memory": lambda f: _free(f, f.numbers),
    "a free twice": _freed_twice,
    "a free that does not wait for the allocation": _freed_before,
    "a free of an address beside the allocation": lambda f: _free(f, _allocated(f)[1] + 8),
    "a free in another graph": _of_another_graph,
    "a free by the host before a launch": _freed_by_the_host,
    "a copy of a graph that allocates": lambda f: raw("cuGraphClone", place(), _with_allocation(f)),
    "a graph that allocates, in a graph": lambda f: raw(
        "cuGraphAddChildGraphNode", place(), f.other_graph, 0, 0, _with_allocation(f)
    ),
    "a node that allocates is destroyed": lambda f: raw("cuGraphDestroyNode", _allocated(f)[0]),
    "a graph that allocates is instantiated twice": _instantiated_twice,
    "a graph that allocates is launched twice": _launched_twice,
    "a graph that allocates, launched by a device": lambda f: raw(
        "cuGraphInstantiateWithFlags", place(), _with_allocation(f), 4
    ),
    "the parameters of a free of a node that allocates": lambda f: raw(
        "cuGraphMemFreeNodeGetParams", _allocated(f)[0], place()
    ),
    "the parameters, nowhere": lambda f: raw("cuGraphMemAllocNodeGetParams", _allocated(f)[0], 0),
}
