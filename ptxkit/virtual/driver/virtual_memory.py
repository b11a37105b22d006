"""Virtual memory management."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.emulator.global_memory import CAPACITY
from ptxkit.virtual.abi import AllocationProperties, Int, Size, get, put, put_bytes, require_place, several
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.multicast import VirtualMulticast
from ptxkit.virtual.gpu.physical import GRANULARITY, PhysicalMemory
from ptxkit.virtual.gpu.pool import HANDLES, NEAREST_NODE
from ptxkit.virtual.results import failure

PINNED, DEVICE = 1, 1
"""The allocation type and the location that there are."""
READ_WRITE = 3


def _properties(address: int) -> ctypes.Structure:
    if not address:
        raise failure("INVALID_VALUE", "the properties are null")
    given = AllocationProperties.from_address(address)
    if given.type != PINNED:
        raise failure("INVALID_VALUE", f"there is no allocation type {given.type}")
    if not DEVICE <= given.location <= NEAREST_NODE or given.handles not in HANDLES:
        raise failure("INVALID_VALUE", f"no location {given.location}, or handles {given.handles:#x}")
    if given.location != DEVICE or given.handles:
        raise failure("NOT_SUPPORTED", "memory of another place than a device, or shared between processes")
    return given


@driver()
def cuMemGetAllocationGranularity(machine: Machine, size: int, properties: int, option: int) -> None:
    if not properties:
        raise failure("INVALID_VALUE", "the properties are null")
    if option not in (0, 1):
        raise failure("INVALID_VALUE", f"there is no granularity {option}")
    put(size, Size, GRANULARITY)


@driver()
def cuMemAddressReserve(
    machine: Machine, address: int, size: int, align: int, wanted: int, flags: int
) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    if not size or size % GRANULARITY or align & (align - 1):
        raise failure("INVALID_VALUE", f"expected a multiple of {GRANULARITY} bytes, found {size}")
    if size > CAPACITY:
        raise failure("OUT_OF_MEMORY", f"asked for {size} bytes of addresses")
    require_place(address)
    put(address, Size, machine.addresses.reserve(size, align))


@driver()
def cuMemAddressFree(machine: Machine, address: int, size: int) -> None:
    machine.addresses.unreserve(address, size)


@driver()
def cuMemCreate(machine: Machine, handle: int, size: int, properties: int, flags: int) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    given = _properties(properties)
    device = machine.device(given.device).ordinal
    if not size or size % GRANULARITY:
        raise failure("INVALID_VALUE", f"expected a multiple of {GRANULARITY} bytes, found {size}")
    if size > machine.memory.budget - machine.memory.used:
        raise failure("OUT_OF_MEMORY", f"asked for {size} bytes")
    require_place(handle)
    put(handle, Size, machine.handles.add(PhysicalMemory(size, device)))


def _drop(machine: Machine, physical: Any) -> None:
    machine.handles.remove(physical)
    if isinstance(physical, VirtualMulticast):
        for held in physical.close():
            machine.handles.remove(held)


def _mappable(machine: Machine, handle: int) -> PhysicalMemory | VirtualMulticast:
    multicast = machine.handles.find(VirtualMulticast, handle)
    return machine.handles.get(PhysicalMemory, handle) if multicast is None else multicast


@driver()
def cuMemRelease(machine: Machine, handle: int) -> None:
    found = _mappable(machine, handle)
    if not found.handles:
        raise failure("INVALID_VALUE", "the memory was released; mappings alone keep it")
    found.handles -= 1
    if found.release():
        _drop(machine, found)


@driver()
def cuMemMap(machine: Machine, address: int, size: int, offset: int, handle: int, flags: int) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    machine.addresses.map(_mappable(machine, handle), address, size, offset)


@driver()
def cuMemUnmap(machine: Machine, address: int, size: int) -> None:
    machine.schedule.finish_all()
    for physical in machine.addresses.unmap(address, size):
        _drop(machine, physical)


@driver()
def cuMemSetAccess(machine: Machine, address: int, size: int, access: int, count: int) -> None:
    if not size or not count:
        raise failure("INVALID_VALUE", "access to nothing, or of nobody")
    for index in range(count):
        kind, number, flags = several(access, Int, 3 * count)[3 * index : 3 * index + 3]
        if flags not in (0, 1, READ_WRITE):
            raise failure("INVALID_VALUE", f"there are no flags {flags} of an access")
        if not DEVICE <= kind <= NEAREST_NODE:
            raise failure("INVALID_VALUE", f"there is no kind {kind} of locations")
        if kind != DEVICE:
            continue  # the host reaches what is mapped anyway
        device = machine.device(number, "INVALID_VALUE").ordinal
        if flags:
            machine.addresses.allow(address, size, device)
        else:
            machine.addresses.deny(address, device)


@driver()
def cuMemGetAccess(machine: Machine, flags: int, location: int, address: int) -> None:
    machine.addresses.at(address)
    device = machine.device(get(location + 4, Int)).ordinal if get(location, Int) == DEVICE else -1
    put(flags, Size, READ_WRITE if machine.addresses.allowed(address, device) else 0)


@driver()
def cuMemRetainAllocationHandle(machine: Machine, handle: int, address: int) -> None:
    found = _mappable(machine, machine.addresses.at(address).handle)
    found.references += 1
    found.handles += 1
    put(handle, Size, found.handle)


@driver()
def cuMemGetAllocationPropertiesFromHandle(machine: Machine, properties: int, handle: int) -> None:
    found = machine.handles.get(PhysicalMemory, handle)
    made = AllocationProperties(type=PINNED, location=DEVICE, device=found.device)
    put_bytes(properties, bytes(made))
