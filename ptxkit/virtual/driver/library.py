"""Library management: code that is loaded once for all contexts."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.abi import (
    Int,
    Pointer,
    Size,
    UInt,
    lasting_text,
    put,
    put_if,
    put_several,
    require_place,
    several,
    text,
)
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.context import check_choice
from ptxkit.virtual.driver.module import JitOptions, file_contents
from ptxkit.virtual.gpu.images import ptx_of
from ptxkit.virtual.gpu.library import LibraryKernel, VirtualLibrary, function_of
from ptxkit.virtual.gpu.loading import load_text
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.module import VirtualFunction
from ptxkit.virtual.results import DriverError, failure


def _load(
    machine: Machine, library: int, image: int, options: JitOptions, names: int, values: int, count: int
) -> None:
    require_place(library)
    if any(name not in (0, 1) for name in several(names, Int, count)):
        raise failure("INVALID_VALUE", "there is no such option of a library")
    try:
        device = machine.current.device if machine.current else machine.devices[0]
        source = ptx_of(image, device.target)
        if machine.current is None:
            load_text(device, source, "<library>").image.close()
        made = VirtualLibrary(machine, source)
        if machine.current is not None:
            made.module(machine.context())
        options.log(None)
    except DriverError as problem:
        options.log(problem)
        raise
    put(library, Pointer, machine.handles.add(made))


@driver()
def cuLibraryLoadData(
    machine: Machine, library: int, image: int, jit: int, values: int, count: int, *options: int
) -> None:
    _load(machine, library, image, JitOptions(count, jit, values), *options)


@driver()
def cuLibraryLoadFromFile(
    machine: Machine, library: int, path: int, jit: int, values: int, count: int, *options: int
) -> None:
    with file_contents(text(path)) as image:
        _load(machine, library, image, JitOptions(count, jit, values), *options)


@driver()
def cuLibraryUnload(machine: Machine, library: int) -> None:
    found = machine.handles.get(VirtualLibrary, library)
    machine.schedule.finish_all()
    found.close()


@driver()
def cuLibraryGetKernel(machine: Machine, kernel: int, library: int, name: int) -> None:
    found = machine.handles.get(VirtualLibrary, library)
    context = machine.context() if machine.current is not None else None
    put(kernel, Pointer, found.kernel(context, text(name)).handle)


@driver()
def cuLibraryGetKernelCount(machine: Machine, count: int, library: int) -> None:
    put(count, UInt, len(machine.handles.get(VirtualLibrary, library).module(machine.context()).names))


@driver()
def cuLibraryEnumerateKernels(machine: Machine, kernels: int, count: int, library: int) -> None:
    found, context = machine.handles.get(VirtualLibrary, library), machine.context()
    names = found.module(context).names[:count]
    put_several(kernels, Pointer, [found.kernel(context, name).handle for name in names])


@driver()
def cuLibraryGetModule(machine: Machine, module: int, library: int) -> None:
    put(module, Pointer, machine.handles.get(VirtualLibrary, library).module(machine.context()).handle)


def _variable(machine: Machine, address: int, size: int, library: int, name: int) -> None:
    where, count = machine.handles.get(VirtualLibrary, library).module(machine.context()).variable(text(name))
    put_if(address, Size, where)
    put_if(size, Size, count)


@driver()
def cuLibraryGetGlobal(machine: Machine, address: int, size: int, library: int, name: int) -> None:
    _variable(machine, address, size, library, name)


@driver()
def cuLibraryGetManaged(machine: Machine, address: int, size: int, library: int, name: int) -> None:
    _variable(machine, address, size, library, name)


@driver()
def cuKernelGetFunction(machine: Machine, function: int, kernel: int) -> None:
    found = machine.handles.get(LibraryKernel, kernel)
    put(function, Pointer, found.function(machine.context()).handle)


@driver()
def cuKernelGetLibrary(machine: Machine, library: int, kernel: int) -> None:
    put(library, Pointer, machine.handles.get(LibraryKernel, kernel).library.handle)


@driver()
def cuKernelGetName(machine: Machine, name: int, kernel: int) -> None:
    if not kernel:
        raise failure("INVALID_VALUE", "the kernel is null")
    put(name, Pointer, lasting_text(machine.handles.get(LibraryKernel, kernel).name))


def _on(machine: Machine, kernel: int, device: int) -> VirtualFunction:
    """A kernel on a device, whose primary context holds it unless the current one does."""
    found, one = machine.handles.get(LibraryKernel, kernel), machine.device(device)
    current = machine.current
    if current is not None and current.device is one:
        return found.function(current)
    primary = machine.primary(one)
    if primary is None:
        raise failure("INVALID_CONTEXT", f"device {device} has no context")
    return found.function(primary)


@driver()
def cuKernelGetAttribute(machine: Machine, value: int, attribute: int, kernel: int, device: int) -> None:
    put(value, Int, _on(machine, kernel, device).attribute(attribute))


@driver()
def cuKernelSetAttribute(machine: Machine, attribute: int, value: int, kernel: int, device: int) -> None:
    _on(machine, kernel, device).set_attribute(attribute, value)


@driver()
def cuKernelSetCacheConfig(machine: Machine, kernel: int, config: int, device: int) -> None:
    _on(machine, kernel, device)
    check_choice(config)


# ---- parameters, of kernels in libraries and in modules


def parameter(found: VirtualFunction, index: int) -> Any:
    """A parameter of a kernel.

    Raises:
        DriverError: INVALID_VALUE, it has fewer.
    """
    signature = found.kernel.signature
    if not 0 <= index < len(signature):
        raise failure(
            "INVALID_VALUE", f"`{found.name}` has {len(signature)} parameters, found number {index}"
        )
    return signature.parameters[index]


@driver("cuFuncGetParamInfo", "cuKernelGetParamInfo")
def cuKernelGetParamInfo(machine: Machine, kernel: int, index: int, offset: int, size: int) -> None:
    if not kernel:
        raise failure("INVALID_VALUE", "the kernel is null")
    found = parameter(function_of(machine, kernel), index)
    put(offset, Size, found.offset)
    put_if(size, Size, found.size)


@driver("cuFuncGetParamCount", "cuKernelGetParamCount")
def cuKernelGetParamCount(machine: Machine, kernel: int, count: int) -> None:
    put(count, Size, len(function_of(machine, kernel).kernel.signature))
