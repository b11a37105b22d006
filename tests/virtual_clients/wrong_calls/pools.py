"""Memory pools, and allocations that streams make and free."""

from __future__ import annotations

import ctypes
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import SIZE, Call, Fixtures, at, misused, place, pool_properties, raw

__all__ = ["CALLS", "begin"]


def _with(offset: int, value: int) -> int:
    """The address of the properties of a pool with a word changed."""
    address = at(pool_properties())
    ctypes.c_int.from_address(address + offset).value = value
    return address


def _create(properties: int) -> tuple[int]:
    return raw("cuMemPoolCreate", place(), properties)


def _freed(_: Fixtures) -> int:
    """What a stream freed, the host having waited for it."""
    made = check(cuda.cuMemAllocAsync(SIZE, 0))
    check(cuda.cuMemFreeAsync(made, 0))
    check(cuda.cuCtxSynchronize())
    return int(made)


def _freed_not_awaited(f: Fixtures) -> tuple[int]:
    made = check(cuda.cuMemAllocAsync(SIZE, f.stream))
    check(cuda.cuMemFreeAsync(made, f.stream))
    return raw("cuMemFreeAsync", made, f.stream)


def _pool_of_live(f: Fixtures) -> tuple[int]:
    """The end of a pool that an allocation is of; then its free."""
    made = check(cuda.cuMemAllocFromPoolAsync(SIZE, f.pool, 0))
    check(cuda.cuMemPoolDestroy(f.pool))
    misused(f.pool)
    return raw("cuMemFreeAsync", made, 0)


def _limited(size: int) -> tuple[int]:
    properties = pool_properties()
    properties.maxSize = 32 << 20
    return raw("cuMemAllocFromPoolAsync", place(), size, check(cuda.cuMemPoolCreate(properties)), 0)


def _access(kind: int, number: int, flags: int) -> Any:
    return place(kind, number, flags)


CALLS: dict[str, Call] = {
    "a pool of no properties": lambda _: _create(0),
    "a pool of zeroes": lambda _: _create(place()),
    "a pool, nowhere": lambda _: raw("cuMemPoolCreate", 0, at(pool_properties())),
    "a pool of a type that there is not": lambda _: _create(_with(0, 77)),
    "a pool that is shared in a way that there is not": lambda _: _create(_with(4, 0x800)),
    "a pool at a location that there is not": lambda _: _create(_with(8, 77)),
    "a pool of a device that is not there": lambda _: _create(_with(12, 99)),
    "a pool of a negative device": lambda _: _create(_with(12, -1)),
    "a pool with a reserved byte": lambda _: _create(_with(40, 1)),
    "a pool is destroyed twice": lambda f: raw("cuMemPoolDestroy", f.destroyed_pool),
    "no pool is destroyed": lambda _: raw("cuMemPoolDestroy", 0),
    "the default pool is destroyed": lambda f: raw("cuMemPoolDestroy", f.default_pool),
    "a stream is destroyed as a pool": lambda f: raw("cuMemPoolDestroy", misused(f.stream)),
    "a destroyed pool becomes a device's": lambda f: raw("cuDeviceSetMemPool", 0, f.destroyed_pool),
    "a pool of a device that is not there becomes current": lambda f: raw("cuDeviceSetMemPool", 99, f.pool),
    "an attribute that there is not": lambda f: raw("cuMemPoolGetAttribute", f.pool, 77, place()),
    "attribute 0": lambda f: raw("cuMemPoolGetAttribute", f.pool, 0, place()),
    "an attribute, nowhere": lambda f: raw("cuMemPoolGetAttribute", f.pool, 1, 0),
    "an attribute of no pool": lambda _: raw("cuMemPoolGetAttribute", 0, 1, place()),
    "an attribute of a destroyed pool": lambda f: raw("cuMemPoolGetAttribute", f.destroyed_pool, 1, place()),
    "an attribute is set that there is not": lambda f: raw("cuMemPoolSetAttribute", f.pool, 77, place()),
    "what is reserved is set": lambda f: raw("cuMemPoolSetAttribute", f.pool, 5, place()),
    "the highest use is set to 5": lambda f: raw("cuMemPoolSetAttribute", f.pool, 8, place(5)),
    "an attribute is set from nowhere": lambda f: raw("cuMemPoolSetAttribute", f.pool, 4, 0),
    "a trim of no pool": lambda _: raw("cuMemPoolTrimTo", 0, 0),
    "a trim of a destroyed pool": lambda f: raw("cuMemPoolTrimTo", f.destroyed_pool, 0),
    "access for a device that is not there": lambda f: raw(
        "cuMemPoolSetAccess", f.pool, _access(1, 99, 3), 1
    ),
    "access of a kind that there is not": lambda f: raw("cuMemPoolSetAccess", f.pool, _access(1, 0, 7), 1),
    "no access for its own device": lambda f: raw("cuMemPoolSetAccess", f.pool, _access(1, 0, 0), 1),
    "access to read alone": lambda f: raw("cuMemPoolSetAccess", f.pool, _access(1, 0, 1), 1),
    "access at a location that there is not": lambda f: raw(
        "cuMemPoolSetAccess", f.pool, _access(77, 0, 3), 1
    ),
    "access of nobody": lambda f: raw("cuMemPoolSetAccess", f.pool, 0, 0),
    "access of one, given nowhere": lambda f: raw("cuMemPoolSetAccess", f.pool, 0, 1),
    "the access of a device that is not there": lambda f: raw(
        "cuMemPoolGetAccess", place(), f.pool, place(1, 99)
    ),
    "the access, nowhere": lambda f: raw("cuMemPoolGetAccess", 0, f.pool, place(1, 0)),
    "the access to no pool": lambda _: raw("cuMemPoolGetAccess", place(), 0, place(1, 0)),
    "an allocation of nothing": lambda _: raw("cuMemAllocAsync", place(), 0, 0),
    "an allocation, nowhere": lambda _: raw("cuMemAllocAsync", 0, 16, 0),
    "more memory than there is": lambda _: raw("cuMemAllocAsync", place(), 1 << 50, 0),
    "an allocation of a destroyed stream": lambda f: raw("cuMemAllocAsync", place(), 16, f.destroyed_stream),
    "an allocation from no pool": lambda _: raw("cuMemAllocFromPoolAsync", place(), 16, 0, 0),
    "an allocation from a destroyed pool": lambda f: raw(
        "cuMemAllocFromPoolAsync", place(), 16, f.destroyed_pool, 0
    ),
    "more than the pool gives out": lambda _: _limited(64 << 20),
    "a free of null": lambda _: raw("cuMemFreeAsync", 0, 0),
    "a second free": lambda f: raw("cuMemFreeAsync", _freed(f), 0),
    "a second free that is not awaited": _freed_not_awaited,
    "a second free by the host": lambda f: cuda.cuMemFree(_freed(f)),
    "a free of another address": lambda f: raw("cuMemFreeAsync", f.pooled + 8, 0),
    "a free of the host's memory": lambda f: raw("cuMemFreeAsync", f.numbers, 0),
    "a free of pinned memory": lambda f: raw("cuMemFreeAsync", f.pinned, 0),
    "a free of managed memory": lambda f: raw("cuMemFreeAsync", f.managed, 0),
    "a free of what a stream did not allocate": lambda f: raw("cuMemFreeAsync", f.address, 0),
    "a free in a destroyed stream": lambda f: raw("cuMemFreeAsync", f.pooled, f.destroyed_stream),
    "a free of a pool's memory by the host": lambda f: cuda.cuMemFree(f.pooled),
    "a free after the pool's end": _pool_of_live,
    "what was freed is copied from": lambda f: raw("cuMemcpyDtoH_v2", f.numbers, _freed(f), 16),
    "a pool is exported that is not shared": lambda f: raw(
        "cuMemPoolExportToShareableHandle", place(), f.pool, 1, 0
    ),
    "a pointer is exported of a pool that is not shared": lambda f: raw(
        "cuMemPoolExportPointer", place(), f.pooled
    ),
    "a pointer is exported of no pool": lambda f: raw("cuMemPoolExportPointer", place(), f.address),
    "a pointer is imported from zeroes": lambda f: raw("cuMemPoolImportPointer", place(), f.pool, place()),
    "the default pool of a location that there is not": lambda _: raw(
        "cuMemGetDefaultMemPool", place(), place(77, 0), 1
    ),
    "the default pool of a type that there is not": lambda _: raw(
        "cuMemGetDefaultMemPool", place(), place(1, 0), 77
    ),
    "the pool of a location of a device that is not there": lambda _: raw(
        "cuMemGetMemPool", place(), place(1, 99), 1
    ),
    "the pool of a location becomes none": lambda _: raw("cuMemSetMemPool", place(1, 0), 1, 0),
}
