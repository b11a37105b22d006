"""Memory management: CUDA arrays and mipmaps. Copies are in `copies`."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import ArrayDescriptor, ArrayDescriptor3D, Pointer, put, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.arrays import (
    ArrayRequest,
    VirtualArray,
    VirtualMipmap,
    new_array,
    new_mipmap,
    request_of,
)
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure


def described(kind: Any, address: int) -> ArrayRequest:
    """What a `CUDA_ARRAY_DESCRIPTOR` or a `CUDA_ARRAY3D_DESCRIPTOR` asks for. Raises DriverError."""
    if not address:
        raise failure("INVALID_VALUE", "the descriptor of an array is null")
    given = kind.from_address(address)
    depth, flags = getattr(given, "depth", 0), getattr(given, "flags", 0)
    return ArrayRequest(given.width, given.height, depth, given.format, given.channels, flags)


def _describe(kind: Any, address: int, array: VirtualArray) -> None:
    """Write the descriptor of an array."""
    if not address:
        raise failure("INVALID_VALUE", "the descriptor of an array has no place")
    ctypes.memset(address, 0, ctypes.sizeof(kind))
    found = kind.from_address(address)
    for name, value in request_of(array.level, array.flags)._asdict().items():
        if hasattr(found, name):
            setattr(found, name, value)


def _register(name: str, kind: Any) -> None:
    """`cuArrayCreate` and `cuArrayGetDescriptor`, and those of three dimensions."""

    def create(machine: Machine, handle: int, descriptor: int) -> None:
        context = machine.context()
        require_place(handle)
        put(handle, Pointer, context.own(new_array(context, described(kind, descriptor))))

    def describe(machine: Machine, descriptor: int, array: int) -> None:
        _describe(kind, descriptor, machine.handles.get(VirtualArray, array))

    driver(f"cu{name}Create_v2")(create)
    driver(f"cu{name}GetDescriptor_v2")(describe)


_register("Array", ArrayDescriptor)
_register("Array3D", ArrayDescriptor3D)


@driver()
def cuArrayDestroy(machine: Machine, array: int) -> None:
    found = machine.handles.get(VirtualArray, array)
    if found.whole is not None:
        raise failure("INVALID_VALUE", "the array is a level of a mipmap")
    machine.schedule.finish_all(found.context)
    found.close()
    found.context.disown(found)


@driver()
def cuMipmappedArrayCreate(machine: Machine, handle: int, descriptor: int, levels: int) -> None:
    context = machine.context()
    require_place(handle)
    made = new_mipmap(context, described(ArrayDescriptor3D, descriptor), levels)
    put(handle, Pointer, context.own(made))


@driver()
def cuMipmappedArrayDestroy(machine: Machine, mipmap: int) -> None:
    found = machine.handles.get(VirtualMipmap, mipmap)
    machine.schedule.finish_all(found.context)
    found.close()
    for level in found.levels:
        found.context.disown(level)
    found.context.disown(found)


@driver()
def cuMipmappedArrayGetLevel(machine: Machine, array: int, mipmap: int, level: int) -> None:
    levels = machine.handles.get(VirtualMipmap, mipmap).levels
    if level >= len(levels):
        raise failure("INVALID_VALUE", f"level {level} of a mipmap of {len(levels)}")
    put(array, Pointer, levels[level].handle)


@driver(
    "cuArrayGetMemoryRequirements",
    "cuMipmappedArrayGetMemoryRequirements",
    "cuArrayGetSparseProperties",
    "cuMipmappedArrayGetSparseProperties",
    "cuArrayGetPlane",
)
def no_such_array(machine: Machine, *given: int) -> None:
    """What deferred, sparse and planar arrays have: there is none of them."""
    raise failure("INVALID_VALUE", "the array is neither deferred nor sparse nor in planes")
