"""Texture object management, surface object management."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import (
    ResourceDescriptor,
    Size,
    TextureDescriptor,
    ViewDescriptor,
    put,
    put_bytes,
    require_place,
)
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.device import TextureRecord
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.textures import (
    ResourceRequest,
    SamplerRequest,
    ViewRequest,
    new_surface,
    new_texture,
)
from ptxkit.virtual.results import failure


def structure(kind: Any, address: int, what: str) -> Any:
    """A structure at an address.

    Raises:
        DriverError: INVALID_VALUE, there is none.
    """
    if not address:
        raise failure("INVALID_VALUE", f"{what} is null")
    return kind.from_buffer_copy(ctypes.string_at(address, ctypes.sizeof(kind)))


def view_of(address: int) -> tuple[bytes, ViewRequest | None]:
    """A view, if there is one: its bytes, and what they ask for."""
    if not address:
        return b"", None
    given = structure(ViewDescriptor, address, "the view")
    names = ViewRequest._fields
    return bytes(given), ViewRequest(*(getattr(given, name) for name in names))


def _resource(address: int) -> tuple[bytes, ResourceRequest]:
    given = structure(ResourceDescriptor, address, "the description of a resource")
    if given.flags:
        raise failure("INVALID_VALUE", f"there are no flags {given.flags:#x} of a resource")
    return bytes(given), ResourceRequest(*(getattr(given, name) for name in ResourceRequest._fields))


def sampling_of(given: Any, filter: int, flags: int) -> SamplerRequest:
    """How a texture is to be sampled, by what both structures have and what they say otherwise."""
    return SamplerRequest(
        (given.x, given.y, given.z),
        filter,
        flags,
        given.anisotropy,
        given.level_filter,
        given.bias,
        given.lowest,
        given.highest,
        (given.red, given.green, given.blue, given.alpha),
    )


@driver()
def cuTexObjectCreate(machine: Machine, handle: int, resource: int, sampling: int, view: int) -> None:
    context = machine.context()
    require_place(handle)
    resource_bytes, request = _resource(resource)
    given = structure(TextureDescriptor, sampling, "the description of a texture")
    view_bytes, viewed = view_of(view)
    made = new_texture(context, request, sampling_of(given, given.filter, given.flags), viewed)
    record = TextureRecord(resource_bytes, bytes(given), view_bytes)
    put(handle, Size, context.device.add_texture(made, record))


@driver()
def cuSurfObjectCreate(machine: Machine, handle: int, resource: int) -> None:
    context = machine.context()
    require_place(handle)
    resource_bytes, request = _resource(resource)
    put(
        handle, Size, context.device.add_texture(new_surface(context, request), TextureRecord(resource_bytes))
    )


@driver("cuTexObjectDestroy", "cuSurfObjectDestroy")
def destroy(machine: Machine, handle: int) -> None:
    """What is queued may still fetch from it. To destroy none is right."""
    context = machine.context()
    if handle not in context.device.texture_records:
        return
    machine.schedule.finish_all(context)
    context.device.remove_texture(handle)


def _register(name: str, part: str, surfaces: bool = False) -> None:
    """A function that gives a structure back that an object was made from; of a view zeroes without one."""

    @driver(name)
    def describe(machine: Machine, into: int, handle: int) -> None:
        record = machine.context().device.texture_record(handle)
        if surfaces and record.sampling:
            raise failure("INVALID_VALUE", "the handle is of a texture")
        data = getattr(record, part) or bytes(ctypes.sizeof(ViewDescriptor))
        put_bytes(into, data)


_register("cuTexObjectGetResourceDesc", "resource")
_register("cuSurfObjectGetResourceDesc", "resource", surfaces=True)
_register("cuTexObjectGetTextureDesc", "sampling")
_register("cuTexObjectGetResourceViewDesc", "view")
