"""Graph management: what of the driver's graphs has other structures or arguments in the runtime."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Int, KernelNode, get
from ptxkit.virtual.driver.copies import checked
from ptxkit.virtual.driver.graph_conditional import (
    COPY_AT,
    UNION,
    add_any,
    cuGraphConditionalHandleCreate,
)
from ptxkit.virtual.driver.graph_nodes import V1_BYTES, add_node, launch_of, register_nodes, set_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import KernelWork
from ptxkit.virtual.gpu.work import Copy
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.memory import Copy3D, copy_of, in_symbol, sides
from ptxkit.virtual.runtime.state import state

KERNEL, COPY, SET = range(3)
"""`cudaGraphNodeType`."""

# ---- kernels: the function is one of the host


def _launch_of(machine: Machine, parameters: int) -> KernelWork:
    """The launch of a `cudaKernelNodeParams`, which differs from the driver's first revision in the
    function."""
    given = KernelNode.from_buffer_copy(ctypes.string_at(parameters, V1_BYTES).ljust(72, b"\0"))
    given.function = state.kernel(machine, given.function).handle
    return launch_of(machine, ctypes.addressof(given), False)


register_nodes(runtime, "cuda KernelNode", KernelWork, _launch_of, begin=state.context)

# ---- nodes of any kind. `cudaGraphNodeParams` differs from the driver's in kernels and copies


@runtime()
def cudaGraphAddNode(
    machine: Machine, node: int, graph: int, before: int, edges: int, count: int, parameters: int
) -> None:
    context = state.context(machine)
    kind, own = get(parameters, Int), parameters + UNION
    if kind == KERNEL:
        add_node(machine, node, graph, before, count, _launch_of(machine, own))
    elif kind == COPY:
        add_node(machine, node, graph, before, count, _shaped(machine, own + COPY_AT))
    elif kind == SET:  # without the context that the driver's has
        add_node(machine, node, graph, before, count, set_of(machine, own, context.handle))
    else:
        add_any(machine, node, graph, before, count, parameters)


@runtime("cudaGraphConditionalHandleCreate")
def cudaGraphConditionalHandleCreate(
    machine: Machine, handle: int, graph: int, default: int, flags: int
) -> None:
    context = state.context(machine)
    cuGraphConditionalHandleCreate(machine, handle, graph, context.handle, default, flags)


runtime("cudaGraphConditionalHandleCreate_v2")(cuGraphConditionalHandleCreate)

# ---- copies: by a structure of the runtime's, flat, and of symbols


def _flat(machine: Machine, dst: int, src: int, size: int, kind: int) -> Copy:
    return checked(machine, Copy(machine, dst, src, size), *sides(kind))


def _shaped(machine: Machine, parameters: int) -> Copy:
    given = Copy3D.from_address(parameters)
    given_sides = sides(given.kind)
    return checked(machine, copy_of(machine, given), *given_sides)


def _to_symbol(machine: Machine, symbol: int, src: int, size: int, offset: int, kind: int) -> Copy:
    return _flat(machine, in_symbol(machine, symbol, offset, size), src, size, kind)


def _from_symbol(machine: Machine, dst: int, symbol: int, size: int, offset: int, kind: int) -> Copy:
    return _flat(machine, dst, in_symbol(machine, symbol, offset, size), size, kind)


for _suffix, _make in (("", _shaped), ("1D", _flat), ("ToSymbol", _to_symbol), ("FromSymbol", _from_symbol)):
    register_nodes(runtime, "cuda MemcpyNode", Copy, _make, _suffix, begin=state.context)
