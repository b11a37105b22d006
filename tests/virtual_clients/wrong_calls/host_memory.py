"""The host's memory: pinned, registered, and what is neither."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import SIZE, Call, Fixtures, place, raw

__all__ = ["CALLS", "begin"]


def _register(address: int, size: int, flags: int = 0) -> tuple[int]:
    return raw("cuMemHostRegister_v2", address, size, flags)


def _second_free(_: Fixtures) -> tuple[object, ...]:
    made = check(cuda.cuMemHostAlloc(SIZE, 0))
    check(cuda.cuMemFreeHost(made))
    return raw("cuMemFreeHost", made)


def _second_unregister(f: Fixtures) -> tuple[int]:
    check(cuda.cuMemHostUnregister(f.registered))
    return raw("cuMemHostUnregister", f.registered)


CALLS: dict[str, Call] = {
    "pinned memory of nothing": lambda _: raw("cuMemHostAlloc", place(), 0, 0),
    "pinned memory of the old kind of nothing": lambda _: raw("cuMemAllocHost_v2", place(), 0),
    "pinned memory with flags that there are not": lambda _: raw("cuMemHostAlloc", place(), 16, 0x80),
    "pinned memory, nowhere": lambda _: raw("cuMemHostAlloc", 0, 16, 0),
    "more pinned memory than addresses": lambda _: raw("cuMemHostAlloc", place(), 1 << 60, 0),
    "a free of null": lambda _: raw("cuMemFreeHost", 0),
    "a free of another address": lambda f: raw("cuMemFreeHost", f.pinned + 8),
    "a second free": _second_free,
    "a free of plain memory": lambda f: raw("cuMemFreeHost", f.numbers),
    "a free of device memory as the host's": lambda f: raw("cuMemFreeHost", f.address),
    "a free of managed memory as the host's": lambda f: raw("cuMemFreeHost", f.managed),
    "a free of registered memory": lambda f: raw("cuMemFreeHost", f.registered),
    "nothing is registered": lambda f: _register(f.pages, 0),
    "null is registered": lambda _: _register(0, 4096),
    "registered with flags that there are not": lambda f: _register(f.pages, 4096, 0x80),
    "registered at no page's beginning": lambda f: _register(f.pages + 8, 4096),
    "registered twice": lambda f: _register(f.registered, 8192),
    "registered twice, a part": lambda f: _register(f.registered + 4096, 4096),
    "registered twice, and more": lambda f: _register(f.registered, 16384),
    "registered across the end of what is": lambda f: _register(f.registered + 4096, 16384),
    "pinned memory is registered": lambda f: _register(f.pinned, SIZE),
    "device memory is registered": lambda f: _register(f.address, SIZE),
    "managed memory is registered": lambda f: _register(f.managed, SIZE),
    "registered as a device's registers": lambda f: _register(f.pages, 4096, 4),
    "addresses that are not mapped are registered": lambda _: _register(1 << 44, 4096),
    "the inside of registered memory, no more": lambda f: raw("cuMemHostUnregister", f.registered + 4096),
    "memory that was not registered, no more": lambda f: raw("cuMemHostUnregister", f.pages),
    "null, no more": lambda _: raw("cuMemHostUnregister", 0),
    "pinned memory, no more": lambda f: raw("cuMemHostUnregister", f.pinned),
    "device memory, no more": lambda f: raw("cuMemHostUnregister", f.address),
    "no more registered, twice": _second_unregister,
    "the device's address of plain memory": lambda f: raw(
        "cuMemHostGetDevicePointer_v2", place(), f.numbers, 0
    ),
    "the device's address of null": lambda _: raw("cuMemHostGetDevicePointer_v2", place(), 0, 0),
    "the device's address with flags": lambda f: raw("cuMemHostGetDevicePointer_v2", place(), f.pinned, 1),
    "the device's address of device memory": lambda f: raw(
        "cuMemHostGetDevicePointer_v2", place(), f.address, 0
    ),
    "the device's address, nowhere": lambda f: raw("cuMemHostGetDevicePointer_v2", 0, f.pinned, 0),
    "the flags of plain memory": lambda f: raw("cuMemHostGetFlags", place(), f.numbers),
    "the flags of null": lambda _: raw("cuMemHostGetFlags", place(), 0),
    "the flags of device memory": lambda f: raw("cuMemHostGetFlags", place(), f.address),
    "the flags of registered memory": lambda f: raw("cuMemHostGetFlags", place(), f.registered),
    "the flags, nowhere": lambda f: raw("cuMemHostGetFlags", 0, f.pinned),
}
