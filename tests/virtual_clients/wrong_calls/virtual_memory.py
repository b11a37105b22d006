"""Virtual memory management: reservations, physical memory, mappings, access."""

from __future__ import annotations

import ctypes

from bindings import check
from cuda.bindings import driver as cuda
from kernels import begin

from wrong_calls.fixtures import GRANULARITY, Call, Fixtures, at, misused, physical_properties, place, raw

__all__ = ["CALLS", "begin"]


def _with(offset: int, value: int) -> int:
    """The address of the properties of physical memory with a word changed."""
    address = at(physical_properties())
    ctypes.c_int.from_address(address + offset).value = value
    return address


def _create(size: int, properties: int, flags: int = 0) -> tuple[int]:
    return raw("cuMemCreate", place(), size, properties, flags)


def _freed(_: Fixtures) -> int:
    """Addresses that were reserved."""
    made = check(cuda.cuMemAddressReserve(GRANULARITY, 0, 0, 0))
    check(cuda.cuMemAddressFree(made, GRANULARITY))
    return int(made)


def _access(f: Fixtures, kind: int, number: int, flags: int, size: int = 2 * GRANULARITY) -> tuple[int]:
    return raw("cuMemSetAccess", f.mapped, size, place(kind, number, flags), 1)


def _unmapped(f: Fixtures) -> int:
    check(cuda.cuMemUnmap(f.mapped, 2 * GRANULARITY))
    return f.mapped


def _released_when_mapped(f: Fixtures) -> tuple[int]:
    """The second release of what a mapping keeps."""
    mapped = f.mapped
    check(cuda.cuMemRelease(f.physical))
    found = raw("cuMemRelease", f.physical)
    check(cuda.cuMemUnmap(mapped, 2 * GRANULARITY))
    return found


CALLS: dict[str, Call] = {
    "the granularity by no properties": lambda _: raw("cuMemGetAllocationGranularity", place(), 0, 0),
    "the granularity of a type that there is not": lambda _: raw(
        "cuMemGetAllocationGranularity", place(), _with(0, 77), 0
    ),
    "the granularity of a device that is not there": lambda _: raw(
        "cuMemGetAllocationGranularity", place(), _with(12, 99), 0
    ),
    "the granularity of an option that there is not": lambda _: raw(
        "cuMemGetAllocationGranularity", place(), at(physical_properties()), 77
    ),
    "the granularity, nowhere": lambda _: raw(
        "cuMemGetAllocationGranularity", 0, at(physical_properties()), 0
    ),
    "no addresses are reserved": lambda _: raw("cuMemAddressReserve", place(), 0, 0, 0, 0),
    "addresses of no granule are reserved": lambda _: raw("cuMemAddressReserve", place(), 4096, 0, 0, 0),
    "addresses at no power of two are reserved": lambda _: raw(
        "cuMemAddressReserve", place(), GRANULARITY, 3 * GRANULARITY, 0, 0
    ),
    "addresses are reserved with flags": lambda _: raw("cuMemAddressReserve", place(), GRANULARITY, 0, 0, 1),
    "addresses are reserved, nowhere": lambda _: raw("cuMemAddressReserve", 0, GRANULARITY, 0, 0, 0),
    "more addresses are reserved than there are": lambda _: raw(
        "cuMemAddressReserve", place(), 1 << 60, 0, 0, 0
    ),
    "reserved addresses are freed twice": lambda f: raw("cuMemAddressFree", _freed(f), GRANULARITY),
    "some of the reserved addresses are freed": lambda f: raw("cuMemAddressFree", f.reserved, GRANULARITY),
    "more than the reserved addresses are freed": lambda f: raw(
        "cuMemAddressFree", f.reserved, 8 * GRANULARITY
    ),
    "no addresses are freed": lambda f: raw("cuMemAddressFree", f.reserved, 0),
    "null is freed": lambda _: raw("cuMemAddressFree", 0, GRANULARITY),
    "addresses are freed that are mapped": lambda f: raw("cuMemAddressFree", f.mapped, 4 * GRANULARITY),
    "an allocation is freed as addresses": lambda f: raw("cuMemAddressFree", f.address, GRANULARITY),
    "physical memory of no properties": lambda _: _create(GRANULARITY, 0),
    "physical memory of zeroes": lambda _: _create(GRANULARITY, place()),
    "physical memory of nothing": lambda _: _create(0, at(physical_properties())),
    "physical memory of no granule": lambda _: _create(4096, at(physical_properties())),
    "physical memory with flags": lambda _: _create(GRANULARITY, at(physical_properties()), 1),
    "physical memory of a type that there is not": lambda _: _create(GRANULARITY, _with(0, 77)),
    "physical memory shared in a way that there is not": lambda _: _create(GRANULARITY, _with(4, 0x800)),
    "physical memory at a location that there is not": lambda _: _create(GRANULARITY, _with(8, 77)),
    "physical memory of a device that is not there": lambda _: _create(GRANULARITY, _with(12, 99)),
    "more physical memory than there is": lambda _: _create(1 << 50, at(physical_properties())),
    "physical memory, nowhere": lambda _: raw("cuMemCreate", 0, GRANULARITY, at(physical_properties()), 0),
    "physical memory is released twice": lambda f: raw("cuMemRelease", f.released),
    "no physical memory is released": lambda _: raw("cuMemRelease", 0),
    "an allocation is released as physical memory": lambda f: raw("cuMemRelease", misused(f.address)),
    "mapped memory is released twice": _released_when_mapped,
    "a mapping of what was released": lambda f: raw("cuMemMap", f.reserved, GRANULARITY, 0, f.released, 0),
    "a mapping of nothing": lambda f: raw("cuMemMap", f.reserved, GRANULARITY, 0, 0, 0),
    "a mapping of no bytes": lambda f: raw("cuMemMap", f.reserved, 0, 0, f.physical, 0),
    "a mapping of no granule": lambda f: raw("cuMemMap", f.reserved, 4096, 0, f.physical, 0),
    "a mapping of more than there is": lambda f: raw(
        "cuMemMap", f.reserved, 4 * GRANULARITY, 0, f.physical, 0
    ),
    "a mapping of a part": lambda f: raw("cuMemMap", f.reserved, GRANULARITY, 0, f.physical, 0),
    "a mapping with an offset": lambda f: raw(
        "cuMemMap", f.reserved, GRANULARITY, GRANULARITY, f.physical, 0
    ),
    "a mapping beyond the end": lambda f: raw(
        "cuMemMap", f.reserved, GRANULARITY, 2 * GRANULARITY, f.physical, 0
    ),
    "a mapping with flags": lambda f: raw("cuMemMap", f.reserved, 2 * GRANULARITY, 0, f.physical, 1),
    "a mapping to no granule's beginning": lambda f: raw(
        "cuMemMap", f.reserved + 4096, 2 * GRANULARITY, 0, f.physical, 0
    ),
    "a mapping to addresses that are not reserved": lambda f: raw(
        "cuMemMap", _freed(f), 2 * GRANULARITY, 0, f.physical, 0
    ),
    "a mapping beyond the reserved addresses": lambda f: raw(
        "cuMemMap", f.reserved + 3 * GRANULARITY, 2 * GRANULARITY, 0, f.physical, 0
    ),
    "a mapping to null": lambda f: raw("cuMemMap", 0, 2 * GRANULARITY, 0, f.physical, 0),
    "a mapping where one is": lambda f: raw("cuMemMap", f.mapped, 2 * GRANULARITY, 0, f.physical, 0),
    "what was never mapped is unmapped": lambda f: raw("cuMemUnmap", f.reserved, 2 * GRANULARITY),
    "a mapping is unmapped twice": lambda f: raw("cuMemUnmap", _unmapped(f), 2 * GRANULARITY),
    "a part of a mapping is unmapped": lambda f: raw("cuMemUnmap", f.mapped, GRANULARITY),
    "more than a mapping is unmapped": lambda f: raw("cuMemUnmap", f.mapped, 4 * GRANULARITY),
    "an allocation is unmapped": lambda f: raw("cuMemUnmap", f.address, GRANULARITY),
    "null is unmapped": lambda _: raw("cuMemUnmap", 0, GRANULARITY),
    "access for a device that is not there": lambda f: _access(f, 1, 99, 3),
    "access at a location that there is not": lambda f: _access(f, 77, 0, 3),
    "access of a kind that there is not": lambda f: _access(f, 1, 0, 7),
    "access of kind 2": lambda f: _access(f, 1, 0, 2),
    "access to a part of a mapping": lambda f: _access(f, 1, 0, 3, GRANULARITY),
    "access to more than a mapping": lambda f: _access(f, 1, 0, 3, 4 * GRANULARITY),
    "access to no bytes": lambda f: _access(f, 1, 0, 3, 0),
    "access to what is not mapped": lambda f: raw(
        "cuMemSetAccess", f.reserved, GRANULARITY, place(1, 0, 3), 1
    ),
    "access to an allocation": lambda f: raw("cuMemSetAccess", f.address, GRANULARITY, place(1, 0, 3), 1),
    "access of nobody": lambda f: raw("cuMemSetAccess", f.mapped, 2 * GRANULARITY, place(1, 0, 3), 0),
    "access of one, given nowhere": lambda f: raw("cuMemSetAccess", f.mapped, 2 * GRANULARITY, 0, 1),
    "a copy to a mapping without access": lambda f: raw("cuMemcpyHtoD_v2", f.mapped, f.numbers, 16),
    "a copy to addresses without a mapping": lambda f: raw("cuMemcpyHtoD_v2", f.reserved, f.numbers, 16),
    "the access to what is not mapped": lambda f: raw("cuMemGetAccess", place(), place(1, 0), f.reserved),
    "the access of a device that is not there": lambda f: raw(
        "cuMemGetAccess", place(), place(1, 99), f.mapped
    ),
    "the access, nowhere": lambda f: raw("cuMemGetAccess", 0, place(1, 0), f.mapped),
    "the physical memory of an allocation": lambda f: raw("cuMemRetainAllocationHandle", place(), f.address),
    "the physical memory of what is not mapped": lambda f: raw(
        "cuMemRetainAllocationHandle", place(), f.reserved
    ),
    "the physical memory of null": lambda _: raw("cuMemRetainAllocationHandle", place(), 0),
    "the properties of nothing": lambda _: raw("cuMemGetAllocationPropertiesFromHandle", place(), 0),
    "the properties of what was released": lambda f: raw(
        "cuMemGetAllocationPropertiesFromHandle", place(), f.released
    ),
    "the properties, nowhere": lambda f: raw("cuMemGetAllocationPropertiesFromHandle", 0, f.physical),
    "physical memory is exported that is not shared": lambda f: raw(
        "cuMemExportToShareableHandle", place(), f.physical, 1, 0
    ),
    "a free of a mapping": lambda f: cuda.cuMemFree(f.mapped),
}
