"""Execution control, streams and events as far as they differ from the driver's; occupancy."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

from ptxkit.virtual.abi import Int, Pointer, RuntimeLaunchConfig, Size, lasting_text, put
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.execution import configured, launch
from ptxkit.virtual.driver.occupancy import active_clusters
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Dim3
from ptxkit.virtual.results import DriverError, code, failure
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.same import of_driver
from ptxkit.virtual.runtime.state import INVALID_CONFIGURATION, state

FUNCTION_ATTRIBUTES = (1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14)
"""The fields of `cudaFuncAttributes` in order; the first three have 64 bits."""


def _launch(machine: Machine, function: int, grid: Dim3, block: Dim3, parameters: int, **how: Any) -> None:
    state.context(machine)
    kernel = state.kernel(machine, function)
    if not 0 < block[0] * block[1] * block[2] <= 1024 or not all(grid):
        raise DriverError(INVALID_CONFIGURATION, f"a grid of {grid} CTAs of {block} threads")
    try:
        launch(machine, kernel.handle, grid, block, parameters=parameters, extra=0, **how)
    except DriverError as problem:
        # The runtime has a code of its own for shapes that don't fit.
        if problem.code == code("INVALID_VALUE") and "shared" not in problem.why:
            raise DriverError(INVALID_CONFIGURATION, problem.why) from None
        raise


def _dim3(value: ctypes.Structure) -> Dim3:
    x, y, z = (ctypes.c_uint * 3).from_buffer_copy(bytes(value))
    return x, y, z


@runtime("cudaLaunchKernel", "__cudaLaunchKernel")
def cudaLaunchKernel(
    machine: Machine,
    function: int,
    grid: ctypes.Structure,
    block: ctypes.Structure,
    given: int,
    shared: int,
    stream: int,
    cooperative: bool = False,
) -> None:
    how = {"shared": shared, "stream": stream, "cooperative": cooperative}
    _launch(machine, function, _dim3(grid), _dim3(block), given, **how)


runtime("cudaLaunchCooperativeKernel")(partial(cudaLaunchKernel, cooperative=True))


@runtime()
def cudaLaunchKernelExC(machine: Machine, config: int, function: int, given: int) -> None:
    _launch(machine, function, parameters=given, **configured(RuntimeLaunchConfig, config))


# ---- functions


@runtime()
def cudaFuncGetAttributes(machine: Machine, attributes: int, function: int) -> None:
    if not attributes:
        raise failure("INVALID_VALUE", "the attributes have no place")
    context = state.context(machine)
    found = state.kernel(machine, function).function(context)
    ctypes.memset(attributes, 0, 144)
    at = attributes
    for index, number in enumerate(FUNCTION_ATTRIBUTES):
        kind: Any = Size if index < 3 else Int
        put(at, kind, found.attribute(number))
        at += ctypes.sizeof(kind)


@runtime()
def cudaFuncSetAttribute(machine: Machine, function: int, attribute: int, value: int) -> None:
    state.kernel(machine, function).function(state.context(machine)).set_attribute(attribute, value)


@runtime()
def cudaKernelSetAttributeForDevice(
    machine: Machine, kernel: int, attribute: int, value: int, device: int
) -> None:
    state.context(machine)
    found = state.kernel(machine, kernel).handle
    driver.by_name["cuKernelSetAttribute"](machine, attribute, value, found, device)


@runtime("cudaFuncSetCacheConfig", "cudaFuncSetSharedMemConfig")
def cudaFuncSetCacheConfig(machine: Machine, function: int, config: int) -> None:
    state.kernel(machine, function)


@runtime()
def cudaFuncGetName(machine: Machine, name: int, function: int) -> None:
    put(name, Pointer, lasting_text(state.kernel(machine, function).name))


def _of_a_kernel(name: str, at: int) -> None:
    """The driver's function of that name, whose argument number `at` is a kernel."""
    function = driver.by_name[of_driver(name)]

    def call(machine: Machine, *arguments: int) -> None:
        state.context(machine)
        given = list(arguments)
        given[at] = state.kernel(machine, given[at]).handle
        function(machine, *given)

    runtime(name)(call)


for _name in (
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyAvailableDynamicSMemPerBlock",
    "cudaOccupancyMaxPotentialClusterSize",
):
    _of_a_kernel(_name, 1)
_of_a_kernel("cudaFuncGetParamInfo", 0)
_of_a_kernel("cudaFuncGetParamCount", 0)


@runtime()
def cudaOccupancyMaxActiveClusters(machine: Machine, count: int, function: int, config: int) -> None:
    context = state.context(machine)
    found = state.kernel(machine, function).function(context)
    given = RuntimeLaunchConfig.from_address(config)
    put(count, Int, active_clusters(found, given))


# ---- streams and events


@runtime()
def cudaStreamCreate(machine: Machine, stream: int) -> None:
    state.context(machine)
    driver.by_name["cuStreamCreate"](machine, stream, 0)


@runtime()
def cudaEventCreate(machine: Machine, event: int) -> None:
    state.context(machine)
    driver.by_name["cuEventCreate"](machine, event, 0)
