"""Graph management: what of the driver's graphs has other structures or arguments in the runtime."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import KernelNode
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.copies import checked
from ptxkit.virtual.driver.graph_nodes import V1_BYTES, add_node, change_node, launch_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import KernelWork
from ptxkit.virtual.gpu.work import Copy
from ptxkit.virtual.results import DriverError
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.memory import SIDES, Copy3D, copy_of, in_symbol
from ptxkit.virtual.runtime.state import INVALID_DIRECTION, state

# ---- kernels: the function is one of the host


def _launch_of(machine: Machine, parameters: int) -> KernelWork:
    """The launch of a `cudaKernelNodeParams`, which differs from the driver's first revision in the
    function."""
    given = KernelNode.from_buffer_copy(ctypes.string_at(parameters, V1_BYTES).ljust(72, b"\0"))
    given.function = state.kernel(machine, given.function).handle
    return launch_of(machine, ctypes.addressof(given), False)


@runtime()
def cudaGraphAddKernelNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    state.context(machine)
    add_node(machine, node, graph, before, count, _launch_of(machine, parameters))


@runtime()
def cudaGraphKernelNodeSetParams(machine: Machine, node: int, parameters: int) -> None:
    change_node(machine, 0, node, KernelWork, _launch_of(machine, parameters))


@runtime()
def cudaGraphExecKernelNodeSetParams(machine: Machine, executable: int, node: int, parameters: int) -> None:
    change_node(machine, executable, node, KernelWork, _launch_of(machine, parameters))


# ---- copies: by a structure of the runtime's, flat, and of symbols


def _flat(machine: Machine, dst: int, src: int, size: int, kind: int) -> Copy:
    if kind not in SIDES:
        raise DriverError(INVALID_DIRECTION, f"there is no kind {kind} of a copy")
    return checked(machine, Copy(machine, dst, src, size), *SIDES[kind])


def _shaped(machine: Machine, parameters: int) -> Copy:
    given = Copy3D.from_address(parameters)
    if given.kind not in SIDES:
        raise DriverError(INVALID_DIRECTION, f"there is no kind {given.kind} of a copy")
    return checked(machine, copy_of(machine, given), *SIDES[given.kind])


def _to_symbol(machine: Machine, symbol: int, src: int, size: int, offset: int, kind: int) -> Copy:
    return _flat(machine, in_symbol(machine, symbol, offset, size), src, size, kind)


def _from_symbol(machine: Machine, dst: int, symbol: int, size: int, offset: int, kind: int) -> Copy:
    return _flat(machine, dst, in_symbol(machine, symbol, offset, size), size, kind)


def _register_copies(suffix: str, make: Any) -> None:
    """`cudaGraphAddMemcpyNodeX`, `cudaGraphMemcpyNodeSetParamsX` and `cudaGraphExecMemcpyNodeSetParamsX`."""

    def add(machine: Machine, node: int, graph: int, before: int, count: int, *given: int) -> None:
        state.context(machine)
        add_node(machine, node, graph, before, count, make(machine, *given))

    def change(machine: Machine, node: int, *given: int) -> None:
        change_node(machine, 0, node, Copy, make(machine, *given))

    def change_executable(machine: Machine, executable: int, node: int, *given: int) -> None:
        change_node(machine, executable, node, Copy, make(machine, *given))

    runtime(f"cudaGraphAddMemcpyNode{suffix}")(add)
    runtime(f"cudaGraphMemcpyNodeSetParams{suffix}")(change)
    runtime(f"cudaGraphExecMemcpyNodeSetParams{suffix}")(change_executable)


_register_copies("", _shaped)
_register_copies("1D", _flat)
_register_copies("ToSymbol", _to_symbol)
_register_copies("FromSymbol", _from_symbol)


@runtime()
def cudaGraphAddMemsetNode(
    machine: Machine, node: int, graph: int, before: int, count: int, parameters: int
) -> None:
    state.context(machine)
    driver.by_name["cuGraphAddMemsetNode"](machine, node, graph, before, count, parameters, 0)
