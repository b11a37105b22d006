"""Device memory: sizes, frees, sets, and what pointers are."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import SIZE, Call, Fixtures, halves, misused, place, raw

__all__ = ["CALLS", "begin"]

SYNC_MEMOPS = 6


def _attributes(address: int, *wanted: int) -> tuple[int]:
    """Several attributes of a pointer at once."""
    places = [place() for _ in wanted]
    words = [half for one in places for half in halves(one)]
    return raw("cuPointerGetAttributes", len(wanted), place(*wanted), place(*words), address)


def _freed_managed(_: Fixtures) -> int:
    made = check(cuda.cuMemAllocManaged(SIZE, cuda.CUmemAttach_flags(1)))
    check(cuda.cuMemFree(made))
    return int(made)


CALLS: dict[str, Call] = {
    "an allocation of nothing": lambda _: cuda.cuMemAlloc(0),
    "an allocation, nowhere": lambda _: raw("cuMemAlloc_v2", 0, 16),
    "more memory than there is": lambda _: cuda.cuMemAlloc(1 << 50),
    "as much memory as can be said": lambda _: cuda.cuMemAlloc((1 << 64) - 1),
    "a pitch of no bytes": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 0, 4, 4),
    "a pitch of no rows": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 64, 0, 4),
    "a pitch of elements of 3 bytes": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 64, 4, 3),
    "a pitch of elements of 0 bytes": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 64, 4, 0),
    "a pitch of elements of 32 bytes": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 64, 4, 32),
    "a pitch of 1 TiB": lambda _: raw("cuMemAllocPitch_v2", place(), place(), 1 << 40, 4, 4),
    "a pitch of more rows than there are bytes": lambda _: raw(
        "cuMemAllocPitch_v2", place(), place(), 1 << 40, 1 << 40, 4
    ),
    "a pitch, nowhere": lambda _: raw("cuMemAllocPitch_v2", place(), 0, 64, 4, 4),
    "a pitched address, nowhere": lambda _: raw("cuMemAllocPitch_v2", 0, place(), 64, 4, 4),
    "managed memory of nothing": lambda _: raw("cuMemAllocManaged", place(), 0, 1),
    "managed memory without flags": lambda _: raw("cuMemAllocManaged", place(), 16, 0),
    "managed memory of a single stream": lambda _: raw("cuMemAllocManaged", place(), 16, 4),
    "managed memory with two flags": lambda _: raw("cuMemAllocManaged", place(), 16, 3),
    "managed memory with flags that there are not": lambda _: raw("cuMemAllocManaged", place(), 16, 64),
    "managed memory, nowhere": lambda _: raw("cuMemAllocManaged", 0, 16, 1),
    "more managed memory than addresses": lambda _: raw("cuMemAllocManaged", place(), 1 << 60, 1),
    "a free of another address": lambda f: cuda.cuMemFree(f.address + 4),
    "a free of the end": lambda f: cuda.cuMemFree(f.address + SIZE),
    "a second free": lambda f: cuda.cuMemFree(f.freed),
    "a second free of managed memory": lambda f: cuda.cuMemFree(_freed_managed(f)),
    "a free of null": lambda _: cuda.cuMemFree(0),
    "a free of pinned memory as a device's": lambda f: cuda.cuMemFree(f.pinned),
    "a free of the host's memory as a device's": lambda f: cuda.cuMemFree(f.numbers),
    "a free of an odd number": lambda _: cuda.cuMemFree(0xDEAD),
    "the range of freed memory": lambda f: cuda.cuMemGetAddressRange(f.freed),
    "the range of null": lambda _: cuda.cuMemGetAddressRange(0),
    "the range of the host's memory": lambda f: cuda.cuMemGetAddressRange(f.numbers),
    "the range of an odd number": lambda _: cuda.cuMemGetAddressRange(0xDEAD),
    "the range, nowhere": lambda f: raw("cuMemGetAddressRange_v2", 0, 0, f.address),
    "how much memory is free, nowhere": lambda _: raw("cuMemGetInfo_v2", 0, 0),
    "a set beyond the end": lambda f: cuda.cuMemsetD8(f.address, 0, 2 * SIZE * 4096),
    "a set of misaligned words": lambda f: cuda.cuMemsetD32(f.address + 2, 0, 4),
    "a set of misaligned halves": lambda f: cuda.cuMemsetD16(f.address + 1, 0, 4),
    "a set of null": lambda _: cuda.cuMemsetD8(0, 0, 16),
    "a set of nothing at null": lambda _: cuda.cuMemsetD8(0, 0, 0),
    "a set of nothing": lambda f: cuda.cuMemsetD8(f.address, 0, 0),
    "a set of freed memory": lambda f: cuda.cuMemsetD8(f.freed, 0, 16),
    "a set of the host's memory": lambda f: cuda.cuMemsetD8(f.numbers, 0, 16),
    "a set of rows that overlap": lambda f: cuda.cuMemsetD2D8(f.address, 8, 0, 16, 4),
    "a set of rows of a pitch of 0": lambda f: cuda.cuMemsetD2D8(f.address, 0, 0, 16, 4),
    "a set of rows of a pitch of 0, one row": lambda f: cuda.cuMemsetD2D8(f.address, 0, 0, 16, 1),
    "a set of rows of a misaligned pitch": lambda f: cuda.cuMemsetD2D32(f.address, 18, 0, 4, 4),
    "a set of rows beyond the end": lambda f: cuda.cuMemsetD2D8(f.address, 64, 0, 64, 1 << 20),
    "a set in a destroyed stream": lambda f: raw("cuMemsetD8Async", f.address, 0, 16, f.destroyed_stream),
    "a set in an event as a stream": lambda f: raw("cuMemsetD8Async", f.address, 0, 16, misused(f.event)),
    "what null is": lambda _: raw("cuPointerGetAttribute", place(), 2, 0),
    "what the host's memory is": lambda f: raw("cuPointerGetAttribute", place(), 2, f.numbers),
    "what freed memory is": lambda f: raw("cuPointerGetAttribute", place(), 2, f.freed),
    "the context of the host's memory": lambda f: raw("cuPointerGetAttribute", place(), 1, f.numbers),
    "the device of the host's memory": lambda f: raw("cuPointerGetAttribute", place(), 9, f.numbers),
    "the host's address of device memory": lambda f: raw("cuPointerGetAttribute", place(), 4, f.address),
    "tokens of pinned memory": lambda f: raw("cuPointerGetAttribute", place(), 5, f.pinned),
    "an attribute that there is not": lambda f: raw("cuPointerGetAttribute", place(), 77, f.address),
    "attribute 0": lambda f: raw("cuPointerGetAttribute", place(), 0, f.address),
    "an attribute, nowhere": lambda f: raw("cuPointerGetAttribute", 0, 2, f.address),
    "several attributes of the host's memory": lambda f: _attributes(f.numbers, 1, 2, 3, 8),
    "several attributes of null": lambda _: _attributes(0, 1, 2, 3, 8),
    "several attributes, one that there is not": lambda f: _attributes(f.address, 2, 77),
    "no attributes": lambda f: _attributes(f.address),
    "synchronous copies of the host's memory": lambda f: raw(
        "cuPointerSetAttribute", place(1), SYNC_MEMOPS, f.numbers
    ),
    "synchronous copies of freed memory": lambda f: raw(
        "cuPointerSetAttribute", place(1), SYNC_MEMOPS, f.freed
    ),
    "the kind of memory is set": lambda f: raw("cuPointerSetAttribute", place(1), 2, f.address),
    "synchronous copies, from nowhere": lambda f: raw("cuPointerSetAttribute", 0, SYNC_MEMOPS, f.address),
    "advice for device memory": lambda f: raw("cuMemAdvise_v2", f.address, SIZE, 1, 1),
    "advice that there is not": lambda f: raw("cuMemAdvise_v2", f.managed, SIZE, 77, 1),
    "what was said of device memory": lambda f: raw("cuMemRangeGetAttribute", place(), 4, 1, f.address, SIZE),
    "what there is not of managed memory": lambda f: raw(
        "cuMemRangeGetAttribute", place(), 4, 77, f.managed, SIZE
    ),
    "what was said of managed memory, in 3 bytes": lambda f: raw(
        "cuMemRangeGetAttribute", place(), 3, 1, f.managed, SIZE
    ),
}
