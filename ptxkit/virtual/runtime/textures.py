"""Texture object management, surface object management: the runtime's structures differ from the driver's."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import (
    ChannelDescriptor,
    RuntimeResourceDescriptor,
    RuntimeTextureDescriptor,
    Size,
    put,
)
from ptxkit.virtual.driver.textures import sampling_of, structure, view_of
from ptxkit.virtual.gpu.device import TextureRecord
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.textures import (
    AS_INTEGER,
    NORMALIZED,
    SEAMLESS,
    SRGB,
    UNTOUCHED,
    ResourceRequest,
    ResourceType,
    SamplerRequest,
    new_surface,
    new_texture,
)
from ptxkit.virtual.results import failure
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.arrays import channels_of
from ptxkit.virtual.runtime.state import state

ELEMENT_TYPE = 0
"""`cudaReadModeElementType`."""


def _resource(address: int) -> tuple[bytes, ResourceRequest]:
    given = structure(RuntimeResourceDescriptor, address, "the description of a resource")
    if given.flags:
        raise failure("INVALID_VALUE", f"there are no flags {given.flags:#x} of a resource")
    if given.type not in (ResourceType.LINEAR, ResourceType.PITCHED):
        return bytes(given), ResourceRequest(given.type, given.place)
    code, channels = channels_of(ChannelDescriptor(given.x, given.y, given.z, given.w, given.kind))
    request = ResourceRequest(given.type, given.place, code, channels, given.width, given.height, given.pitch)
    return bytes(given), request


def _sampling(address: int) -> tuple[bytes, SamplerRequest]:
    given = structure(RuntimeTextureDescriptor, address, "the description of a texture")
    flags = (
        (given.read_mode == ELEMENT_TYPE, AS_INTEGER),
        (given.normalized, NORMALIZED),
        (given.srgb, SRGB),
        (given.untouched, UNTOUCHED),
        (given.seamless, SEAMLESS),
    )
    return bytes(given), sampling_of(given, given.filter, sum(flag for wanted, flag in flags if wanted))


@runtime()
def cudaCreateTextureObject(machine: Machine, handle: int, resource: int, sampling: int, view: int) -> None:
    context = state.context(machine)
    resource_bytes, request = _resource(resource)
    sampling_bytes, how = _sampling(sampling)
    view_bytes, viewed = view_of(view)
    made = new_texture(context, request, how, viewed)
    record = TextureRecord(resource_bytes, sampling_bytes, view_bytes)
    put(handle, Size, context.device.add_texture(made, record))


@runtime()
def cudaCreateSurfaceObject(machine: Machine, handle: int, resource: int) -> None:
    context = state.context(machine)
    resource_bytes, request = _resource(resource)
    made = new_surface(context, request)
    put(handle, Size, context.device.add_texture(made, TextureRecord(resource_bytes)))


def _register(part: str, *names: str) -> None:
    """Functions that give a structure back that an object was made from."""

    @runtime(*names)
    def describe(machine: Machine, into: int, handle: int) -> None:
        data = getattr(state.context(machine).device.texture_record(handle), part)
        if not data or not into:
            raise failure("INVALID_VALUE", "the structure has no place, or the object was made without one")
        ctypes.memmove(into, data, len(data))


_register("resource", "cudaGetTextureObjectResourceDesc", "cudaGetSurfaceObjectResourceDesc")
_register("sampling", "cudaGetTextureObjectTextureDesc")
_register("view", "cudaGetTextureObjectResourceViewDesc")
