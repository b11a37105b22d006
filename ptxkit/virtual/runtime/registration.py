"""What nvcc's host code calls before `main` and round `<<<..>>>`: crt/host_runtime.h of the toolkit."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Pointer, Size, put, text
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import DriverError
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import FatBinary, RegisteredVariable, state

MISSING_CONFIGURATION = 52


@runtime()
def __cudaRegisterFatBinary(machine: Machine, wrapper: int) -> int:
    handle = machine.handles.number()
    state.binaries[handle] = FatBinary(wrapper)
    return handle


@runtime()
def __cudaRegisterFatBinaryEnd(machine: Machine, handle: int) -> None:
    pass


@runtime()
def __cudaUnregisterFatBinary(machine: Machine, handle: int) -> None:
    """What is queued still uses it: at the program's end it stays."""


@runtime()
def __cudaRegisterFunction(
    machine: Machine, handle: int, host: int, device: int, name: int, *rest: int
) -> None:
    state.functions[host] = state.binaries[handle], text(name)


@runtime()
def __cudaRegisterVar(
    machine: Machine, handle: int, host: int, device: int, name: int, ext: int, size: int, *rest: int
) -> None:
    state.variables[host] = RegisteredVariable(state.binaries[handle], text(name), size)


@runtime()
def __cudaRegisterManagedVar(
    machine: Machine, handle: int, pointer: int, device: int, name: int, ext: int, size: int, *rest: int
) -> None:
    binary = state.binaries[handle]
    binary.managed[pointer] = text(name)
    state.variables[pointer] = RegisteredVariable(binary, text(name), size)


@runtime()
def __cudaInitModule(machine: Machine, handle: int) -> int:
    """Before the host first reaches managed variables: their pointers get their addresses."""
    binary = state.binaries[handle]
    for pointer in binary.managed:
        address, _ = state.variable(machine, pointer)
        put(pointer, Pointer, address)
    return 1


@runtime()
def __cudaPushCallConfiguration(
    machine: Machine, grid: ctypes.Structure, block: ctypes.Structure, shared: int, stream: int
) -> int:
    state.thread.launches.append((bytes(grid), bytes(block), shared, stream))
    return 0


@runtime()
def __cudaPopCallConfiguration(machine: Machine, grid: int, block: int, shared: int, stream: int) -> None:
    if not state.thread.launches:
        raise DriverError(MISSING_CONFIGURATION)
    sizes, threads, dynamic, queue = state.thread.launches.pop()
    ctypes.memmove(grid, sizes, 12)
    ctypes.memmove(block, threads, 12)
    put(shared, Size, dynamic)
    put(stream, Pointer, queue)


@runtime("__cudaGetKernel", "cudaGetKernel")
def get_kernel(machine: Machine, kernel: int, function: int) -> None:
    state.context(machine)
    put(kernel, Pointer, state.kernel(machine, function).handle)


@runtime()
def cudaGetFuncBySymbol(machine: Machine, function: int, symbol: int) -> None:
    context = state.context(machine)
    put(function, Pointer, state.kernel(machine, symbol).function(context).handle)


@runtime()
def cudaGetSymbolAddress(machine: Machine, address: int, symbol: int) -> None:
    put(address, Pointer, state.variable(machine, symbol)[0])


@runtime()
def cudaGetSymbolSize(machine: Machine, size: int, symbol: int) -> None:
    put(size, Size, state.variable(machine, symbol)[1])
