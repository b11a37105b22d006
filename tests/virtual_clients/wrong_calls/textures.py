"""Textures and surfaces of what they can't be of."""

from __future__ import annotations

import ctypes
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, at, misused, place, raw

__all__ = ["CALLS", "begin"]

LAYERED, SURFACE, CUBE = 1, 2, 4
READ_AS_INTEGER, NORMALIZED, SRGB = 1, 2, 16
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = range(2)
INT32 = 0x0A
FLOAT, FLOATS = 0x16, 0x18
"""Formats of views: one number and four."""


def _of_array(array: Any) -> Any:
    made = cuda.CUDA_RESOURCE_DESC()
    made.resType = cuda.CUresourcetype(0)
    made.res.array.hArray = array
    return made


def _of_mipmap(mipmap: Any) -> Any:
    made = cuda.CUDA_RESOURCE_DESC()
    made.resType = cuda.CUresourcetype(1)
    made.res.mipmap.hMipmappedArray = mipmap
    return made


def _of_bytes(address: int, size: int, format: int = 0x20, channels: int = 1) -> Any:
    made = cuda.CUDA_RESOURCE_DESC()
    made.resType = cuda.CUresourcetype(2)
    made.res.linear.devPtr = address
    made.res.linear.format = cuda.CUarray_format(format)
    made.res.linear.numChannels = channels
    made.res.linear.sizeInBytes = size
    return made


def _of_rows(address: int, width: int = 16, height: int = 4, pitch: int = 512) -> Any:
    made = cuda.CUDA_RESOURCE_DESC()
    made.resType = cuda.CUresourcetype(3)
    made.res.pitch2D.devPtr = address
    made.res.pitch2D.format = cuda.CUarray_format(0x20)
    made.res.pitch2D.numChannels = 1
    made.res.pitch2D.width, made.res.pitch2D.height = width, height
    made.res.pitch2D.pitchInBytes = pitch
    return made


def _sampled(mode: int = CLAMP, filter: int = POINT, flags: int = 0, **more: Any) -> Any:
    """A description of a texture: words, as C has them."""
    numbers = [mode, mode, mode, filter, flags, more.get("anisotropy", 0), more.get("levels", 0)]
    return place(*numbers)


def _texture(resource: Any, sampling: int | None = None, view: int = 0) -> tuple[int]:
    given = _sampled() if sampling is None else sampling
    return raw("cuTexObjectCreate", place(), at(resource), given, view)


def _changed(resource: Any, offset: int, value: int) -> int:
    """The address of a resource with a word changed."""
    address = at(resource)
    ctypes.c_int.from_address(address + offset).value = value
    return address


def _array(f: Fixtures, *extents: int, **given: Any) -> Any:
    return check(cuda.cuArray3DCreate(f.described(*extents, **given)))


def _integers(f: Fixtures, filter: int, flags: int) -> tuple[int]:
    array = _array(f, Format=INT32)
    return _texture(_of_array(array), _sampled(filter=filter, flags=flags))


def _made(f: Fixtures) -> int:
    where = place()
    raw("cuTexObjectCreate", where, at(_of_array(f.array)), _sampled(), 0)
    return ctypes.c_uint64.from_address(where).value


def _destroyed(f: Fixtures) -> int:
    made = _made(f)
    raw("cuTexObjectDestroy", made)
    return misused(made)


def _view(format: int, width: int, height: int, depth: int = 0, *levels: int) -> int:
    """A view: format, extents of 64 bits, levels and layers."""
    return place(format, 0, width, 0, height, 0, depth, 0, *levels)


CALLS: dict[str, Call] = {
    "a texture of nothing": lambda _: raw("cuTexObjectCreate", place(), 0, _sampled(), 0),
    "a texture of zeroes": lambda _: raw("cuTexObjectCreate", place(), place(), _sampled(), 0),
    "a texture, nowhere": lambda f: raw("cuTexObjectCreate", 0, at(_of_array(f.array)), _sampled(), 0),
    "a texture that says not how": lambda f: raw("cuTexObjectCreate", place(), at(_of_array(f.array)), 0, 0),
    "a texture of a kind that there is not": lambda f: raw(
        "cuTexObjectCreate", place(), _changed(_of_array(f.array), 0, 77), _sampled(), 0
    ),
    "a texture of flags that there are not": lambda f: raw(
        "cuTexObjectCreate", place(), _changed(_of_array(f.array), 136, 77), _sampled(), 0
    ),
    "a texture of a destroyed array": lambda f: _texture(_of_array(f.destroyed_array)),
    "a texture of a mipmap as an array": lambda f: _texture(_of_array(misused(f.mipmap))),
    "a texture of an array as a mipmap": lambda f: _texture(_of_mipmap(misused(f.array))),
    "a texture of null bytes": lambda _: _texture(_of_bytes(0, 64)),
    "a texture of no bytes": lambda f: _texture(_of_bytes(f.address, 0)),
    "a texture of misaligned bytes": lambda f: _texture(_of_bytes(f.address + 4, 64)),
    "a texture of bytes beyond the end": lambda f: _texture(_of_bytes(f.address, 1 << 22)),
    "a texture of freed bytes": lambda f: _texture(_of_bytes(f.freed, 64)),
    "a texture of the host's bytes": lambda f: _texture(_of_bytes(f.pages, 64)),
    "a texture of too many bytes": lambda f: _texture(_of_bytes(f.address, 1 << 40)),
    "a texture of bytes of 3 channels": lambda f: _texture(_of_bytes(f.address, 48, channels=3)),
    "a texture of bytes in half a texel": lambda f: _texture(_of_bytes(f.address, 6)),
    "a linear filter of bytes": lambda f: _texture(_of_bytes(f.address, 64), _sampled(filter=LINEAR)),
    "normalized coordinates of bytes": lambda f: _texture(
        _of_bytes(f.address, 64), _sampled(flags=NORMALIZED)
    ),
    "a texture of rows of a pitch that is less": lambda f: _texture(_of_rows(f.address, 64, 2, 32)),
    "a texture of rows of a pitch of 24": lambda f: _texture(_of_rows(f.address, 4, 4, 24)),
    "a texture of misaligned rows": lambda f: _texture(_of_rows(f.address + 16, 16, 1, 512)),
    "a texture of no rows": lambda f: _texture(_of_rows(f.address, 16, 0)),
    "a texture of too many rows": lambda f: _texture(_of_rows(f.address, 16, 1 << 20)),
    "a texture of rows at null": lambda _: _texture(_of_rows(0)),
    "a linear filter of integers": lambda f: _integers(f, LINEAR, READ_AS_INTEGER),
    "a linear filter of integers of 32 bits": lambda f: _integers(f, LINEAR, 0),
    "integers of 32 bits as fractions": lambda f: _integers(f, POINT, 0),
    "an address mode that there is not": lambda f: _texture(_of_array(f.array), _sampled(77)),
    "a wrap of coordinates that are not normalized": lambda f: _texture(_of_array(f.array), _sampled(WRAP)),
    "a mirror of coordinates that are not normalized": lambda f: _texture(
        _of_array(f.array), _sampled(MIRROR)
    ),
    "a filter that there is not": lambda f: _texture(_of_array(f.array), _sampled(filter=77)),
    "flags that there are not": lambda f: _texture(_of_array(f.array), _sampled(flags=0x4000)),
    "sRGB of floats": lambda f: _texture(_of_array(f.array), _sampled(flags=SRGB)),
    "an anisotropy of 77": lambda f: _texture(_of_array(f.array), _sampled(anisotropy=77)),
    "a filter of levels that there is not": lambda f: _texture(_of_array(f.array), _sampled(levels=77)),
    "levels of coordinates that are not normalized": lambda f: _texture(_of_mipmap(f.mipmap)),
    "a cube of coordinates that are not normalized": lambda f: _texture(
        _of_array(_array(f, 16, 16, 6, Flags=CUBE))
    ),
    "a view of another size": lambda f: _texture(_of_array(f.array), None, _view(FLOAT, 8, 16)),
    "a view of a format that there is not": lambda f: _texture(_of_array(f.array), None, _view(0x77, 16, 16)),
    "a view of texels of another size": lambda f: _texture(_of_array(f.array), None, _view(FLOATS, 16, 16)),
    "a view of layers that there are not": lambda f: _texture(
        _of_array(f.array), None, _view(FLOAT, 16, 16, 0, 0, 0, 3, 5)
    ),
    "a view of bytes": lambda f: _texture(_of_bytes(f.address, 64), None, _view(FLOAT, 16, 0)),
    "no texture is destroyed": lambda _: raw("cuTexObjectDestroy", 0),
    "a texture is destroyed twice": lambda f: raw("cuTexObjectDestroy", _destroyed(f)),
    "what no texture is of": lambda _: raw("cuTexObjectGetResourceDesc", place(), 0),
    "what a destroyed texture is of": lambda f: raw("cuTexObjectGetResourceDesc", place(), _destroyed(f)),
    "what a texture is of, nowhere": lambda f: raw("cuTexObjectGetResourceDesc", 0, _made(f)),
    "the view of a texture without": lambda f: raw("cuTexObjectGetResourceViewDesc", place(), _made(f)),
    "a surface of nothing": lambda _: raw("cuSurfObjectCreate", place(), 0),
    "a surface of zeroes": lambda _: raw("cuSurfObjectCreate", place(), place()),
    "a surface of an array not made for it": lambda f: raw(
        "cuSurfObjectCreate", place(), at(_of_array(f.array))
    ),
    "a surface of a destroyed array": lambda f: raw(
        "cuSurfObjectCreate", place(), at(_of_array(f.destroyed_array))
    ),
    "a surface of bytes": lambda f: raw("cuSurfObjectCreate", place(), at(_of_bytes(f.address, 64))),
    "a surface of a mipmap": lambda f: raw("cuSurfObjectCreate", place(), at(_of_mipmap(f.mipmap))),
    "no surface is destroyed": lambda _: raw("cuSurfObjectDestroy", 0),
    "a texture as a surface": lambda f: raw("cuSurfObjectGetResourceDesc", place(), _made(f)),
}
