"""Memory management: CUDA arrays, whose formats the runtime writes as channels of so many bits."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

from ptxkit.emulator.texels.formats import BY_CODE, FORMATS, ChannelKind
from ptxkit.virtual.abi import ChannelDescriptor, Pointer, Size, UInt, put, put_if
from ptxkit.virtual.driver.copies import place_in
from ptxkit.virtual.driver.textures import structure
from ptxkit.virtual.gpu.arrays import ArrayRequest, VirtualArray, new_array, new_mipmap, request_of
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Copy
from ptxkit.virtual.results import DriverError, failure
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.memory import DEVICE_TO_DEVICE, copy_memory
from ptxkit.virtual.runtime.state import state

KINDS = {0: ChannelKind.SIGNED, 1: ChannelKind.UNSIGNED, 2: ChannelKind.FLOAT}
"""`cudaChannelFormatKind`."""
INVALID_CHANNELS = 20
"""`cudaErrorInvalidChannelDescriptor`."""


def channels_of(given: Any) -> tuple[int, int]:
    """The `CUarray_format` and the number of channels that a `cudaChannelFormatDesc` says.

    Raises:
        DriverError: NOT_SUPPORTED for formats that are not emulated; 20, channels that can't be.
    """
    bits = [width for width in (given.x, given.y, given.z, given.w) if width]
    kind = KINDS.get(given.kind)
    if kind is None:
        raise failure("NOT_SUPPORTED", f"channels of the kind {given.kind}")
    for format_ in FORMATS.values():
        if format_.kind is kind and set(bits) == {8 * format_.bytes}:
            return format_.code, len(bits)
    raise DriverError(INVALID_CHANNELS, f"channels of {bits} bits")


def _request(
    machine: Machine, channels: int, width: int, height: int, depth: int, flags: int
) -> ArrayRequest:
    given = structure(ChannelDescriptor, channels, "the description of the channels")
    code, count = channels_of(given)
    return ArrayRequest(width, height, depth, code, count, flags)


@runtime()
def cudaMallocArray(machine: Machine, array: int, channels: int, width: int, height: int, flags: int) -> None:
    context = state.context(machine)
    request = _request(machine, channels, width, height, 0, flags)
    put(array, Pointer, context.own(new_array(context, request)))


def _extent(extent: ctypes.Structure) -> tuple[int, int, int]:
    width, height, depth = (Size * 3).from_buffer_copy(bytes(extent))
    return width, height, depth


@runtime()
def cudaMalloc3DArray(
    machine: Machine, array: int, channels: int, extent: ctypes.Structure, flags: int
) -> None:
    context = state.context(machine)
    request = _request(machine, channels, *_extent(extent), flags)
    put(array, Pointer, context.own(new_array(context, request)))


@runtime()
def cudaMallocMipmappedArray(
    machine: Machine, mipmap: int, channels: int, extent: ctypes.Structure, levels: int, flags: int
) -> None:
    context = state.context(machine)
    request = _request(machine, channels, *_extent(extent), flags)
    put(mipmap, Pointer, context.own(new_mipmap(context, request, levels)))


def _describe(address: int, request: ArrayRequest) -> None:
    """Write a `cudaChannelFormatDesc`."""
    format_ = BY_CODE[request.format]
    bits = [8 * format_.bytes] * request.channels + [0] * (4 - request.channels)
    kind = next(number for number, known in KINDS.items() if known is format_.kind)
    ctypes.memmove(address, bytes(ChannelDescriptor(*bits, kind)), ctypes.sizeof(ChannelDescriptor))


@runtime()
def cudaArrayGetInfo(machine: Machine, channels: int, extent: int, flags: int, array: int) -> None:
    found = machine.handles.get(VirtualArray, array)
    request = request_of(found.level, found.flags)
    if channels:
        _describe(channels, request)
    if extent:
        (Size * 3).from_address(extent)[:] = [request.width, request.height, request.depth]
    put_if(flags, UInt, found.flags)


@runtime()
def cudaGetChannelDesc(machine: Machine, channels: int, array: int) -> None:
    found = machine.handles.get(VirtualArray, array)
    if not channels:
        raise failure("INVALID_VALUE", "the description of the channels has no place")
    _describe(channels, request_of(found.level, found.flags))


def create_channels(machine: Machine, into: int, x: int, y: int, z: int, w: int, kind: int) -> int:
    """The structure is returned in memory that the caller names first."""
    ctypes.memmove(into, bytes(ChannelDescriptor(x, y, z, w, kind)), ctypes.sizeof(ChannelDescriptor))
    return into


if platform.machine() == "x86_64":  # aarch64 names that memory in a register that is no argument
    runtime("cudaCreateChannelDesc", early=True)(create_channels)


# ---- copies


def _rows(machine: Machine, array: int, x: int, y: int, width: int, height: int) -> tuple[int, int]:
    """The address of a box of an array, and the bytes from row to row."""
    address, pitch, _ = place_in(machine.handles.get(VirtualArray, array), (x, y), (width, height, 1))
    return address, pitch


@runtime("cudaMemcpy2DToArray", "cudaMemcpy2DToArrayAsync")
def cudaMemcpy2DToArray(
    machine: Machine,
    array: int,
    x: int,
    y: int,
    src: int,
    src_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int | None = None,
) -> None:
    dst, pitch = _rows(machine, array, x, y, width, height)
    copy_memory(machine, Copy(machine, dst, src, width, height, 1, pitch, src_pitch), kind, stream)


@runtime("cudaMemcpy2DFromArray", "cudaMemcpy2DFromArrayAsync")
def cudaMemcpy2DFromArray(
    machine: Machine,
    dst: int,
    dst_pitch: int,
    array: int,
    x: int,
    y: int,
    width: int,
    height: int,
    kind: int,
    stream: int | None = None,
) -> None:
    src, pitch = _rows(machine, array, x, y, width, height)
    copy_memory(machine, Copy(machine, dst, src, width, height, 1, dst_pitch, pitch), kind, stream)


@runtime()
def cudaMemcpy2DArrayToArray(
    machine: Machine,
    to: int,
    to_x: int,
    to_y: int,
    array: int,
    x: int,
    y: int,
    width: int,
    height: int,
    kind: int,
) -> None:
    dst, dst_pitch = _rows(machine, to, to_x, to_y, width, height)
    src, src_pitch = _rows(machine, array, x, y, width, height)
    copy = Copy(machine, dst, src, width, height, 1, dst_pitch, src_pitch)
    copy_memory(machine, copy, DEVICE_TO_DEVICE, None)


def _bytes(machine: Machine, array: int, x: int, y: int, count: int) -> int:
    """The address of bytes that go on from row to row.

    Raises:
        DriverError: INVALID_VALUE, they go beyond the array.
    """
    level = machine.handles.get(VirtualArray, array).level
    first = x + y * level.row
    if x >= level.row or first + count > level.row * level.height:
        raise failure("INVALID_VALUE", f"{count} bytes at ({x}, {y}) go beyond a {level}")
    return level.address + first


@runtime("cudaMemcpyToArray", "cudaMemcpyToArrayAsync")
def cudaMemcpyToArray(
    machine: Machine, array: int, x: int, y: int, src: int, count: int, kind: int, stream: int | None = None
) -> None:
    copy_memory(machine, Copy(machine, _bytes(machine, array, x, y, count), src, count), kind, stream)


@runtime("cudaMemcpyFromArray", "cudaMemcpyFromArrayAsync")
def cudaMemcpyFromArray(
    machine: Machine, dst: int, array: int, x: int, y: int, count: int, kind: int, stream: int | None = None
) -> None:
    copy_memory(machine, Copy(machine, dst, _bytes(machine, array, x, y, count), count), kind, stream)


@runtime()
def cudaMemcpyArrayToArray(
    machine: Machine, to: int, to_x: int, to_y: int, array: int, x: int, y: int, count: int, kind: int
) -> None:
    dst, src = _bytes(machine, to, to_x, to_y, count), _bytes(machine, array, x, y, count)
    copy_memory(machine, Copy(machine, dst, src, count), DEVICE_TO_DEVICE, None)
