"""Copies: beyond the end, to nowhere, of structures that contradict themselves."""

from __future__ import annotations

import ctypes
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import SIZE, Call, Fixtures, at, misused, place, raw

__all__ = ["CALLS", "begin"]

FAR = 64 << 20
"""More bytes than any allocation here has behind its beginning."""


def _rows(f: Fixtures, **given: Any) -> Any:
    """The copy of 4 rows of 16 bytes from the host to the device, but for what is given."""
    made = cuda.CUDA_MEMCPY2D()
    made.srcMemoryType, made.dstMemoryType = cuda.CUmemorytype(1), cuda.CUmemorytype(2)
    made.srcHost, made.dstDevice = f.numbers, f.address
    made.srcPitch = made.dstPitch = 64
    made.WidthInBytes, made.Height = 16, 4
    for name, value in given.items():
        setattr(made, name, value)
    return made


def _planes(f: Fixtures, **given: Any) -> Any:
    """The copy of 2 planes of 4 rows of 16 bytes from the host to the device, but for what is given."""
    made = cuda.CUDA_MEMCPY3D()
    made.srcMemoryType, made.dstMemoryType = cuda.CUmemorytype(1), cuda.CUmemorytype(2)
    made.srcHost, made.dstDevice = f.numbers, f.address
    made.srcPitch = made.dstPitch = 64
    made.srcHeight = made.dstHeight = 4
    made.WidthInBytes, made.Height, made.Depth = 16, 4, 2
    for name, value in given.items():
        setattr(made, name, value)
    return made


def _2d(f: Fixtures, **given: Any) -> tuple[int]:
    return raw("cuMemcpy2D_v2", at(_rows(f, **given)))


def _3d(f: Fixtures, **given: Any) -> tuple[int]:
    return raw("cuMemcpy3D_v2", at(_planes(f, **given)))


def _of_type(structure: Any, offset: int, kind: int) -> int:
    """The address of a structure with another memory type than the enumeration has."""
    address = at(structure)
    ctypes.c_int.from_address(address + offset).value = kind
    return address


ARRAY = cuda.CUmemorytype(3)
HOST, DEVICE = cuda.CUmemorytype(1), cuda.CUmemorytype(2)


def _primary() -> object:
    return check(cuda.cuCtxGetCurrent())


CALLS: dict[str, Call] = {
    "a copy to beyond the end": lambda f: raw("cuMemcpyHtoD_v2", f.address, f.numbers, 2 * SIZE),
    "a copy from beyond the end": lambda f: raw("cuMemcpyDtoH_v2", f.numbers, f.address, 2 * SIZE),
    "a copy from far beyond the end": lambda f: raw("cuMemcpyDtoD_v2", f.address, f.address, FAR),
    "a copy to the host's memory as a device's": lambda f: raw("cuMemcpyHtoD_v2", f.numbers, f.pages, 16),
    "a copy to freed memory": lambda f: raw("cuMemcpyHtoD_v2", f.freed, f.numbers, 16),
    "a copy from freed memory": lambda f: raw("cuMemcpyDtoH_v2", f.numbers, f.freed, 16),
    "a copy to null": lambda f: raw("cuMemcpyHtoD_v2", 0, f.numbers, 16),
    "a copy from null": lambda f: raw("cuMemcpyDtoH_v2", f.numbers, 0, 16),
    "a copy from the host's null": lambda f: raw("cuMemcpyHtoD_v2", f.address, 0, 16),
    "a copy to the host's null": lambda f: raw("cuMemcpyDtoH_v2", 0, f.address, 16),
    "a copy of nothing to null": lambda f: raw("cuMemcpyHtoD_v2", 0, f.numbers, 0),
    "a copy of nothing to freed memory": lambda f: raw("cuMemcpyHtoD_v2", f.freed, f.numbers, 0),
    "a copy between devices, from null": lambda f: raw("cuMemcpyDtoD_v2", f.address, 0, 16),
    "a copy between overlapping ranges": lambda f: raw("cuMemcpyDtoD_v2", f.address + 8, f.address, 64),
    "a copy of anything from null": lambda f: raw("cuMemcpy", f.address, 0, 16),
    "a copy of device memory from its end": lambda f: raw("cuMemcpy", f.address, f.address + SIZE, 16),
    "a copy in a destroyed stream": lambda f: raw(
        "cuMemcpyHtoDAsync_v2", f.address, f.numbers, 16, f.destroyed_stream
    ),
    "a copy beyond the end in a stream": lambda f: raw(
        "cuMemcpyDtoHAsync_v2", f.numbers, f.address, 2 * SIZE, f.stream
    ),
    "a copy in an event as a stream": lambda f: raw(
        "cuMemcpyAsync", f.address, f.numbers, 16, misused(f.event)
    ),
    "a copy between no contexts": lambda f: raw("cuMemcpyPeer", f.address, 0, f.address, 0, 16),
    "a copy to a destroyed context": lambda f: raw(
        "cuMemcpyPeer", f.address, f.destroyed_context, f.address, _primary(), 16
    ),
    "a copy between peers beyond the end": lambda f: raw(
        "cuMemcpyPeer", f.address, _primary(), f.address, _primary(), FAR
    ),
    "rows by no structure": lambda _: raw("cuMemcpy2D_v2", 0),
    "rows of a pitch that is less": lambda f: _2d(f, srcPitch=8),
    "rows to a pitch that is less": lambda f: _2d(f, dstPitch=8),
    "rows to a pitch of 0": lambda f: _2d(f, dstPitch=0),
    "one row to a pitch that is less": lambda f: _2d(f, dstPitch=8, Height=1),
    "rows to a pitch that is too great": lambda f: _2d(f, dstPitch=1 << 40),
    "rows beyond the end": lambda f: _2d(f, Height=32),
    "rows that begin at the end": lambda f: _2d(f, dstXInBytes=SIZE),
    "rows that begin in other rows": lambda f: _2d(f, dstXInBytes=60),
    "rows to null": lambda f: _2d(f, dstDevice=0),
    "rows from the host's null": lambda f: _2d(f, srcHost=0),
    "rows of no bytes": lambda f: _2d(f, WidthInBytes=0),
    "no rows": lambda f: _2d(f, Height=0),
    "no rows to null": lambda f: _2d(f, Height=0, dstDevice=0),
    "rows to memory of no type": lambda f: raw("cuMemcpy2D_v2", _of_type(_rows(f), 72, 0)),
    "rows to memory of type 9": lambda f: raw("cuMemcpy2D_v2", _of_type(_rows(f), 72, 9)),
    "rows to no array": lambda f: _2d(f, dstMemoryType=ARRAY),
    "rows to an array's beyond": lambda f: _2d(f, dstMemoryType=ARRAY, dstArray=f.array, dstY=14),
    "rows to a destroyed array": lambda f: _2d(f, dstMemoryType=ARRAY, dstArray=f.destroyed_array),
    "rows of half an element to an array": lambda f: _2d(
        f, dstMemoryType=ARRAY, dstArray=f.array, WidthInBytes=6
    ),
    "rows to the host's memory as a device's": lambda f: _2d(f, dstDevice=f.pages),
    "rows in a destroyed stream": lambda f: raw("cuMemcpy2DAsync_v2", at(_rows(f)), f.destroyed_stream),
    "planes by no structure": lambda _: raw("cuMemcpy3D_v2", 0),
    "planes of a pitch that is less": lambda f: _3d(f, srcPitch=8),
    "planes of a height that is less": lambda f: _3d(f, srcHeight=2),
    "planes to a height that is less": lambda f: _3d(f, dstHeight=2),
    "planes to a height of 0": lambda f: _3d(f, dstHeight=0),
    "planes beyond the end": lambda f: _3d(f, Depth=32),
    "no planes": lambda f: _3d(f, Depth=0),
    "planes to null": lambda f: _3d(f, dstDevice=0),
    "planes to a level that there is not": lambda f: _3d(f, dstLOD=3),
    "planes to an array of no planes": lambda f: _3d(
        f, dstMemoryType=ARRAY, dstArray=f.array, WidthInBytes=16
    ),
    "planes between no contexts": lambda f: raw("cuMemcpy3DPeer", place()),
    "an array's rows, flat": lambda f: raw("cuMemcpyHtoA_v2", f.array, 0, f.numbers, 16),
    "an array's bytes beyond its end": lambda f: raw("cuMemcpyHtoA_v2", f.array, 1 << 20, f.numbers, 16),
    "bytes of no array": lambda f: raw("cuMemcpyAtoH_v2", f.numbers, 0, 0, 16),
}
