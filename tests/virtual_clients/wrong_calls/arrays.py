"""Arrays and mipmaps: formats, channels, sizes, layers and cubes that contradict themselves."""

from __future__ import annotations

import ctypes
from typing import Any

from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, at, misused, place, raw

__all__ = ["CALLS", "begin"]

LAYERED, SURFACE, CUBE, GATHER, DEPTH, COLOUR, SPARSE = (1 << bit for bit in range(7))


def _create(f: Fixtures, *extents: int, **given: Any) -> tuple[int]:
    return raw("cuArray3DCreate_v2", place(), at(f.described(*extents, **given)))


def _of_format(f: Fixtures, format: int, name: str = "cuArray3DCreate_v2") -> tuple[int]:
    """An array of a format by its number."""
    address = at(f.described())
    ctypes.c_int.from_address(address + 24).value = format
    return raw(name, place(), address)


def _mipmap(f: Fixtures, levels: int, *extents: int, **given: Any) -> tuple[int]:
    return raw("cuMipmappedArrayCreate", place(), at(f.described(*extents, **given)), levels)


def _level(f: Fixtures) -> int:
    where = place()
    raw("cuMipmappedArrayGetLevel", where, f.mipmap, 0)
    return ctypes.c_uint64.from_address(where).value


def _gone_mipmap(f: Fixtures) -> Any:
    raw("cuMipmappedArrayDestroy", f.mipmap)
    return misused(f.mipmap)


CALLS: dict[str, Call] = {
    "an array of no description": lambda _: raw("cuArray3DCreate_v2", place(), 0),
    "an array, nowhere": lambda f: raw("cuArray3DCreate_v2", 0, at(f.described())),
    "an array of zeroes": lambda _: raw("cuArray3DCreate_v2", place(), place()),
    "a flat array of zeroes": lambda _: raw("cuArrayCreate_v2", place(), place()),
    "an array of no width": lambda f: _create(f, 0, 16),
    "an array of depth but no height": lambda f: _create(f, 16, 0, 16),
    "an array of a format that there is not": lambda f: _of_format(f, 77),
    "an array of format 0": lambda f: _of_format(f, 0),
    "an array of 3 channels": lambda f: _create(f, NumChannels=3),
    "an array of no channels": lambda f: _create(f, NumChannels=0),
    "an array of 5 channels": lambda f: _create(f, NumChannels=5),
    "an array that is too wide": lambda f: _create(f, 1 << 20, 0),
    "an array that is too wide and high": lambda f: _create(f, 1 << 18, 1 << 18),
    "an array that is too deep": lambda f: _create(f, 16, 16, 1 << 15),
    "an array with flags that there are not": lambda f: _create(f, Flags=0x8000),
    "layers of none": lambda f: _create(f, 16, 16, 0, Flags=LAYERED),
    "layers of too many": lambda f: _create(f, 16, 16, 4096, Flags=LAYERED),
    "a cube that is no square": lambda f: _create(f, 16, 8, 6, Flags=CUBE),
    "a cube of 5 sides": lambda f: _create(f, 16, 16, 5, Flags=CUBE),
    "a cube of 12 sides": lambda f: _create(f, 16, 16, 12, Flags=CUBE),
    "layers of cubes of 8 sides": lambda f: _create(f, 16, 16, 8, Flags=CUBE | LAYERED),
    "a gather of three dimensions": lambda f: _create(f, 16, 16, 16, Flags=GATHER),
    "a gather of one dimension": lambda f: _create(f, 16, 0, 0, Flags=GATHER),
    "a gather of layers": lambda f: _create(f, 16, 16, 4, Flags=GATHER | LAYERED),
    "depths of two channels": lambda f: _create(f, NumChannels=2, Flags=DEPTH),
    "a sparse array of one dimension": lambda f: _create(f, 16, 0, 0, Flags=SPARSE),
    "an array is destroyed twice": lambda f: raw("cuArrayDestroy", f.destroyed_array),
    "no array is destroyed": lambda _: raw("cuArrayDestroy", 0),
    "a level of a mipmap is destroyed": lambda f: raw("cuArrayDestroy", _level(f)),
    "a mipmap is destroyed as an array": lambda f: raw("cuArrayDestroy", misused(f.mipmap)),
    "the description of no array": lambda _: raw("cuArray3DGetDescriptor_v2", place(), 0),
    "the description of a destroyed array": lambda f: raw(
        "cuArray3DGetDescriptor_v2", place(), f.destroyed_array
    ),
    "the description, nowhere": lambda f: raw("cuArray3DGetDescriptor_v2", 0, f.array),
    "what no array needs": lambda _: raw("cuArrayGetMemoryRequirements", place(), 0, 0),
    "what an array needs of no device": lambda f: raw("cuArrayGetMemoryRequirements", place(), f.array, 99),
    "what an array needs, whose memory is its own": lambda f: raw(
        "cuArrayGetMemoryRequirements", place(), f.array, 0
    ),
    "the tiles of an array that is not sparse": lambda f: raw("cuArrayGetSparseProperties", place(), f.array),
    "a plane of an array that has one": lambda f: raw("cuArrayGetPlane", place(), f.array, 0),
    "a mipmap of no levels": lambda f: _mipmap(f, 0),
    "a mipmap of too many levels": lambda f: _mipmap(f, 100),
    "a mipmap of no description": lambda _: raw("cuMipmappedArrayCreate", place(), 0, 1),
    "a mipmap of a cube that is no square": lambda f: _mipmap(f, 2, 16, 8, 6, Flags=CUBE),
    "a mipmap of 3 channels": lambda f: _mipmap(f, 2, NumChannels=3),
    "a level that there is not": lambda f: raw("cuMipmappedArrayGetLevel", place(), f.mipmap, 3),
    "a level, nowhere": lambda f: raw("cuMipmappedArrayGetLevel", 0, f.mipmap, 0),
    "a level of no mipmap": lambda _: raw("cuMipmappedArrayGetLevel", place(), 0, 0),
    "a level of an array": lambda f: raw("cuMipmappedArrayGetLevel", place(), misused(f.array), 0),
    "a mipmap is destroyed twice": lambda f: raw("cuMipmappedArrayDestroy", _gone_mipmap(f)),
    "no mipmap is destroyed": lambda _: raw("cuMipmappedArrayDestroy", 0),
}
