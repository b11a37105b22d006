"""Copies, in one to three dimensions. Driver API, "Memory management", and its section on API synchronization
behaviour: what the host waits for, and when memory that is not pinned is read."""

from __future__ import annotations

from typing import Any

from ptxkit.isa.modifiers import Geometry
from ptxkit.virtual.abi import Copy2D, Copy3D, memory
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.arrays import VirtualArray
from ptxkit.virtual.gpu.context import VirtualContext, VirtualStream
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.work import Copy, Upload, Work
from ptxkit.virtual.results import failure

HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
"""`CUmemorytype`."""


def checked(machine: Machine, copy: Copy, to_host: bool | None, from_host: bool | None) -> Copy:
    """A copy whose ranges are what its call says: True for the host's, False for a device's, None for either.

    Raises:
        DriverError: INVALID_VALUE.
    """
    for address, extent, host, side in (
        (copy.dst, copy.dst_extent, to_host, "the destination"),
        (copy.src, copy.src_extent, from_host, "the source"),
    ):
        if not extent:
            continue
        if not address:
            raise failure("INVALID_VALUE", f"{side} is null")
        found = machine.memory.known(address)
        known = found is not None and address < found.end
        if host is False or known:
            machine.memory.check(address, extent, side)
    return copy


def submit(machine: Machine, copy: Copy, stream: VirtualStream, wait: bool) -> None:
    """Queue a copy.

    Args:
        machine: where.
        copy: what to copy, checked.
        stream: where to queue it.
        wait: whether the call is one of those that the host waits for.
    """
    if not copy.dst_extent:
        return
    owners = [machine.memory.owner(address) for address in (copy.dst, copy.src)]
    to_pageable, from_pageable = (owner is None for owner in owners)
    work: Work = copy
    if from_pageable and not to_pageable and copy.height == copy.depth == 1 and stream.capture is None:
        # A driver stages such memory before the call returns.
        work = Upload(machine, copy.dst, memory(copy.src, copy.width))
    stream.add(work)
    if stream.capture is not None:
        return
    kinds = machine.memory.kinds
    devices = all(owner is not None and kinds.get(owner.address) is AllocationKind.DEVICE for owner in owners)
    if to_pageable or (wait and not devices):
        stream.synchronise()


def _flat(
    machine: Machine,
    dst: int,
    src: int,
    size: int,
    to_host: bool | None,
    from_host: bool | None,
    stream: int | None,
) -> None:
    context = machine.context()
    copy = checked(machine, Copy(machine, dst, src, size), to_host, from_host)
    submit(machine, copy, context.stream(stream or 0), stream is None)


def _register_flat(name: str, to_host: bool | None, from_host: bool | None, synchronous: str) -> None:
    """`cuMemcpyHtoD` and the like, on the default stream and on one that is named."""

    def copy(machine: Machine, dst: int, src: int, size: int, stream: int | None = None) -> None:
        _flat(machine, dst, src, size, to_host, from_host, stream)

    driver(synchronous)(copy)
    driver(f"{name}Async_v2" if name != "cuMemcpy" else "cuMemcpyAsync")(copy)


_register_flat("cuMemcpyHtoD", False, True, "cuMemcpyHtoD_v2")
_register_flat("cuMemcpyDtoH", True, False, "cuMemcpyDtoH_v2")
_register_flat("cuMemcpyDtoD", False, False, "cuMemcpyDtoD_v2")
_register_flat("cuMemcpy", None, None, "cuMemcpy")


@driver("cuMemcpyPeer", "cuMemcpyPeerAsync")
def cuMemcpyPeer(
    machine: Machine,
    dst: int,
    dst_context: int,
    src: int,
    src_context: int,
    size: int,
    stream: int | None = None,
) -> None:
    for handle in (dst_context, src_context):
        if handle:
            machine.handles.get(VirtualContext, handle)
    _flat(machine, dst, src, size, False, False, stream)


# ---- rows and planes


def array_of(machine: Machine, handle: int) -> VirtualArray:
    """The array of a handle.

    Raises:
        DriverError: INVALID_VALUE for null, else as for every handle.
    """
    if not handle:
        raise failure("INVALID_VALUE", "the array is null")
    return machine.handles.get(VirtualArray, handle)


def place_in(
    array: VirtualArray, place: tuple[int, ...], extent: tuple[int, int, int]
) -> tuple[int, int, int]:
    """Where a box of an array begins: its address, the bytes from row to row, and those from plane to plane
    or from layer to layer.

    Args:
        array: the array.
        place: of the box: bytes, rows, planes.
        extent: of the box, likewise.

    Raises:
        DriverError: INVALID_VALUE, the box is not inside.
    """
    level = array.level
    x, y, z = (*place, 0, 0)[:3]
    deep = level.geometry is Geometry.D3
    most = (level.width * level.texel, level.height, level.depth if deep else level.layers)
    for start, size, end in zip((x, y, z), extent, most, strict=True):
        if start + size > end:
            box = " x ".join(str(part) for part in extent)
            raise failure("INVALID_VALUE", f"{box} at ({x}, {y}, {z}) goes beyond a {level}")
    plane = level.plane if deep else level.layer
    return level.address + x + y * level.row + z * plane, level.row, plane


def _side(machine: Machine, parameters: Any, side: str, plane: bool) -> tuple[int, int, int]:
    """The first address, the pitch and the bytes of a plane of one side of a structure.

    Raises:
        DriverError: INVALID_VALUE, INVALID_HANDLE.
    """
    kind = getattr(parameters, f"{side}_kind")
    if kind == ARRAY:
        if plane and getattr(parameters, f"{side}_lod"):
            raise failure("INVALID_VALUE", f"a copy is of level 0, not {getattr(parameters, f'{side}_lod')}")
        array = array_of(machine, getattr(parameters, f"{side}_array"))
        names = ("x", "y", "z") if plane else ("x", "y")
        place = tuple(getattr(parameters, f"{side}_{name}") for name in names)
        depth = parameters.depth if plane else 1
        return place_in(array, place, (parameters.width, parameters.height, depth))
    if kind not in (HOST, DEVICE, UNIFIED):
        raise failure("INVALID_VALUE", f"there is no memory type {kind}")
    start = getattr(parameters, f"{side}_host" if kind == HOST else f"{side}_device")
    pitch = getattr(parameters, f"{side}_pitch") or parameters.width
    if getattr(parameters, f"{side}_x") + parameters.width > pitch:
        first = getattr(parameters, f"{side}_x")
        why = f"rows of {parameters.width} bytes from byte {first} on are {pitch} bytes apart"
        raise failure("INVALID_VALUE", why)
    rows = (getattr(parameters, f"{side}_height") or parameters.height) if plane else 0
    if plane and rows < parameters.height:
        raise failure("INVALID_VALUE", f"planes of {parameters.height} rows are {rows} rows apart")
    at = start + getattr(parameters, f"{side}_x") + getattr(parameters, f"{side}_y") * pitch
    if plane:
        at += getattr(parameters, f"{side}_z") * pitch * rows
    return at, pitch, pitch * rows


def copy_of(machine: Machine, parameters: Any) -> Copy:
    """The copy that a `CUDA_MEMCPY2D` or `CUDA_MEMCPY3D` describes, checked."""
    plane = isinstance(parameters, Copy3D)
    dst, dst_pitch, dst_plane = _side(machine, parameters, "dst", plane)
    src, src_pitch, src_plane = _side(machine, parameters, "src", plane)
    depth = parameters.depth if plane else 1
    copy = Copy(
        machine,
        dst,
        src,
        parameters.width,
        parameters.height,
        depth,
        dst_pitch,
        src_pitch,
        dst_plane,
        src_plane,
        bytes(parameters),
    )
    sides = (parameters.dst_kind, parameters.src_kind)
    to_host, from_host = ({HOST: True, DEVICE: False}.get(kind) for kind in sides)
    return checked(machine, copy, to_host, from_host)


def _shaped(machine: Machine, kind: Any, address: int, stream: int | None) -> None:
    context = machine.context()
    if not address:
        raise failure("INVALID_VALUE", "the parameters are null")
    submit(machine, copy_of(machine, kind.from_address(address)), context.stream(stream or 0), stream is None)


@driver("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2")
def cuMemcpy2D(machine: Machine, parameters: int, stream: int | None = None) -> None:
    _shaped(machine, Copy2D, parameters, stream)


@driver("cuMemcpy3D_v2", "cuMemcpy3DAsync_v2", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync")
def cuMemcpy3D(machine: Machine, parameters: int, stream: int | None = None) -> None:
    _shaped(machine, Copy3D, parameters, stream)


# ---- rows of arrays, flat


def _flat_place(machine: Machine, array: int, offset: int, size: int) -> int:
    """The address of bytes of an array of one dimension."""
    found = array_of(machine, array)
    return place_in(found, (offset,), (size, 1, 1))[0]


@driver("cuMemcpyHtoA_v2", "cuMemcpyHtoAAsync_v2", "cuMemcpyDtoA_v2")
def cuMemcpyHtoA(
    machine: Machine, array: int, offset: int, src: int, size: int, stream: int | None = None
) -> None:
    _flat(machine, _flat_place(machine, array, offset, size), src, size, False, None, stream)


@driver("cuMemcpyAtoH_v2", "cuMemcpyAtoHAsync_v2", "cuMemcpyAtoD_v2")
def cuMemcpyAtoH(
    machine: Machine, dst: int, array: int, offset: int, size: int, stream: int | None = None
) -> None:
    _flat(machine, dst, _flat_place(machine, array, offset, size), size, None, False, stream)


@driver("cuMemcpyAtoA_v2")
def cuMemcpyAtoA(machine: Machine, to: int, to_offset: int, array: int, offset: int, size: int) -> None:
    dst, src = _flat_place(machine, to, to_offset, size), _flat_place(machine, array, offset, size)
    _flat(machine, dst, src, size, False, False, None)
