"""Memory management: what differs from the driver's: kinds of copies, sets by bytes, symbols."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Int, Pointer, Size, put
from ptxkit.virtual.driver.copies import checked, place_in, submit
from ptxkit.virtual.driver.memory import obtain, pitch_of, set_rows
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.arrays import VirtualArray
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Copy
from ptxkit.virtual.results import DriverError, failure
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import INVALID_DIRECTION, state

HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = range(5)
"""`cudaMemcpyKind`."""
INVALID_PITCH = 12
SIDES = {
    HOST_TO_HOST: (None, None),
    HOST_TO_DEVICE: (False, None),
    DEVICE_TO_HOST: (None, False),
    DEVICE_TO_DEVICE: (False, False),
    DEFAULT: (None, None),
}
"""Whether destination and source must be memory that devices see (False)."""


class PitchedPointer(ctypes.Structure):
    """`cudaPitchedPtr`."""

    _fields_ = [("pointer", Pointer), ("pitch", Size), ("width", Size), ("height", Size)]


class Copy3D(ctypes.Structure):
    """`cudaMemcpy3DParms`."""

    _fields_ = [
        ("src_array", Pointer),
        ("src_at", Size * 3),
        ("src", PitchedPointer),
        ("dst_array", Pointer),
        ("dst_at", Size * 3),
        ("dst", PitchedPointer),
        ("extent", Size * 3),
        ("kind", Int),
    ]


class Copy3DPeer(ctypes.Structure):
    """`cudaMemcpy3DPeerParms`."""

    _fields_ = [
        ("src_array", Pointer),
        ("src_at", Size * 3),
        ("src", PitchedPointer),
        ("src_device", Int),
        ("dst_array", Pointer),
        ("dst_at", Size * 3),
        ("dst", PitchedPointer),
        ("dst_device", Int),
        ("extent", Size * 3),
    ]


def sides(kind: int) -> tuple[bool | None, bool | None]:
    """What a `cudaMemcpyKind` says of destination and source, as `checked` takes it.

    Raises:
        DriverError: 21, there is no such kind.
    """
    if kind not in SIDES:
        raise DriverError(INVALID_DIRECTION, f"there is no kind {kind} of a copy")
    return SIDES[kind]


def copy_memory(machine: Machine, copy: Copy, kind: int, stream: int | None) -> None:
    """Queue a copy; without a stream on the default one. Raises DriverError."""
    given = sides(kind)
    context = state.context(machine)
    submit(machine, checked(machine, copy, *given), context.stream(stream or 0), stream is None)


@runtime("cudaMemcpy", "cudaMemcpyAsync")
def cudaMemcpy(machine: Machine, dst: int, src: int, size: int, kind: int, stream: int | None = None) -> None:
    copy_memory(machine, Copy(machine, dst, src, size), kind, stream)


@runtime("cudaMemcpy2D", "cudaMemcpy2DAsync")
def cudaMemcpy2D(
    machine: Machine,
    dst: int,
    dst_pitch: int,
    src: int,
    src_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int | None = None,
) -> None:
    if width > dst_pitch or width > src_pitch:
        raise DriverError(INVALID_PITCH, f"rows of {width} bytes, {min(dst_pitch, src_pitch)} bytes apart")
    copy_memory(machine, Copy(machine, dst, src, width, height, 1, dst_pitch, src_pitch), kind, stream)


def copy_of(machine: Machine, given: Copy3D) -> Copy:
    """The copy that a `cudaMemcpy3DParms` describes.

    Raises:
        DriverError: INVALID_HANDLE, INVALID_VALUE of arrays.
    """
    arrays = [
        machine.handles.get(VirtualArray, handle) if handle else None
        for handle in (given.dst_array, given.src_array)
    ]
    width, height, depth = given.extent
    # Where an array takes part, its texels are the unit; of plain memory bytes are.
    width *= next((array.level.texel for array in arrays if array is not None), 1)
    places: list[tuple[int, int, int]] = []
    for array, side, at in zip(arrays, (given.dst, given.src), (given.dst_at, given.src_at), strict=True):
        x, y, z = at
        if array is not None:
            places.append(place_in(array, (x * array.level.texel, y, z), (width, height, depth)))
        else:
            plane = side.pitch * (side.height or height)
            places.append((side.pointer + x + y * side.pitch + z * plane, side.pitch, plane))
    (dst, dst_pitch, dst_plane), (src, src_pitch, src_plane) = places
    return Copy(machine, dst, src, width, height, depth, dst_pitch, src_pitch, dst_plane, src_plane)


@runtime("cudaMemcpy3D", "cudaMemcpy3DAsync")
def cudaMemcpy3D(machine: Machine, parameters: int, stream: int | None = None) -> None:
    given = Copy3D.from_address(parameters)
    copy_memory(machine, copy_of(machine, given), given.kind, stream)


@runtime("cudaMemcpy3DPeer", "cudaMemcpy3DPeerAsync")
def cudaMemcpy3DPeer(machine: Machine, parameters: int, stream: int | None = None) -> None:
    """Devices share one address space: it is a copy like any other."""
    given = Copy3DPeer.from_address(parameters)
    for device in (given.src_device, given.dst_device):
        machine.device(device)
    same = {name: getattr(given, name) for name, *_ in Copy3D._fields_ if name != "kind"}
    copy_memory(machine, copy_of(machine, Copy3D(**same)), DEFAULT, stream)


@runtime("cudaMemcpyPeer", "cudaMemcpyPeerAsync")
def cudaMemcpyPeer(
    machine: Machine,
    dst: int,
    dst_device: int,
    src: int,
    src_device: int,
    size: int,
    stream: int | None = None,
) -> None:
    for device in (dst_device, src_device):
        machine.device(device)
    copy_memory(machine, Copy(machine, dst, src, size), DEVICE_TO_DEVICE, stream)


def in_symbol(machine: Machine, symbol: int, offset: int, size: int) -> int:
    """The address of some bytes of a variable.

    Raises:
        DriverError: INVALID_VALUE, it has not so many; 13, there is none.
    """
    address, whole = state.variable(machine, symbol)
    if offset + size > whole:
        raise failure("INVALID_VALUE", f"bytes {offset} to {offset + size} of a variable of {whole} bytes")
    return address + offset


@runtime("cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync")
def cudaMemcpyToSymbol(
    machine: Machine, symbol: int, src: int, size: int, offset: int, kind: int, stream: int | None = None
) -> None:
    copy_memory(machine, Copy(machine, in_symbol(machine, symbol, offset, size), src, size), kind, stream)


@runtime("cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync")
def cudaMemcpyFromSymbol(
    machine: Machine, dst: int, symbol: int, size: int, offset: int, kind: int, stream: int | None = None
) -> None:
    copy_memory(machine, Copy(machine, dst, in_symbol(machine, symbol, offset, size), size), kind, stream)


# ---- sets


@runtime("cudaMemset", "cudaMemsetAsync")
def cudaMemset(machine: Machine, address: int, value: int, size: int, stream: int | None = None) -> None:
    state.context(machine)
    set_rows(machine, stream, address, bytes([value & 255]), size, 1, 0)


@runtime("cudaMemset2D", "cudaMemset2DAsync")
def cudaMemset2D(
    machine: Machine,
    address: int,
    pitch: int,
    value: int,
    width: int,
    height: int,
    stream: int | None = None,
) -> None:
    state.context(machine)
    set_rows(machine, stream, address, bytes([value & 255]), width, height, pitch)


@runtime("cudaMemset3D", "cudaMemset3DAsync")
def cudaMemset3D(
    machine: Machine,
    given: ctypes.Structure,
    value: int,
    extent: ctypes.Structure,
    stream: int | None = None,
) -> None:
    state.context(machine)
    place = PitchedPointer.from_buffer_copy(given)
    width, height, depth = (Size * 3).from_buffer_copy(extent)
    for plane in range(depth):
        address = place.pointer + plane * place.pitch * place.height
        set_rows(machine, stream, address, bytes([value & 255]), width, height, place.pitch)


# ---- allocations


@runtime()
def cudaMalloc(machine: Machine, address: int, size: int) -> None:
    """As the driver's, but of 0 bytes there is one, the null pointer."""
    state.context(machine)
    put(address, Pointer, obtain(machine, size, AllocationKind.DEVICE) if size else 0)


@runtime()
def cudaMallocPitch(machine: Machine, address: int, pitch: int, width: int, height: int) -> None:
    state.context(machine)
    row = pitch_of(width)
    put(address, Pointer, obtain(machine, row * height, AllocationKind.DEVICE) if width and height else 0)
    put(pitch, Size, row)


@runtime()
def cudaMalloc3D(machine: Machine, pitched: int, extent: ctypes.Structure) -> None:
    state.context(machine)
    width, height, depth = (Size * 3).from_buffer_copy(bytes(extent))
    row = pitch_of(width)
    found = PitchedPointer.from_address(pitched)
    found.pointer = (
        obtain(machine, row * height * depth, AllocationKind.DEVICE) if width * height * depth else 0
    )
    found.pitch, found.width, found.height = row, width, height


# ---- pointers


UNREGISTERED, HOST, DEVICE, MANAGED = range(4)
"""`cudaMemoryType`."""


@runtime()
def cudaPointerGetAttributes(machine: Machine, attributes: int, address: int) -> None:
    if not attributes:
        raise failure("INVALID_VALUE", "the attributes have no place")
    owner = machine.memory.owner(address)
    kind = machine.memory.kinds.get(owner.address, AllocationKind.DEVICE) if owner else None
    number = {None: UNREGISTERED, AllocationKind.DEVICE: DEVICE, AllocationKind.MANAGED: MANAGED}.get(
        kind, HOST
    )
    device = max(machine.memory.devices.get(owner.address, 0), 0) if owner else -2
    ctypes.memset(attributes, 0, 88)
    put(attributes, Int, number)
    put(attributes + 4, Int, device)
    put(attributes + 8, Pointer, address if owner else 0)
    put(attributes + 16, Pointer, address if number != DEVICE else 0)
