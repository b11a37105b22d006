"""The stream ordered memory allocator: pools, and allocations that streams make and free."""

from __future__ import annotations

import ctypes

from ptxkit.virtual.abi import Int, Pointer, PoolProperties, Size, get, put, require_place, several
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.graph_memory import ASKED, BYTES, allocation, freed
from ptxkit.virtual.driver.memory import obtain
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.capture import capture_of
from ptxkit.virtual.gpu.context import VirtualStream
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.graph_memory import Allocate, Free
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.memory import HeldMemory
from ptxkit.virtual.gpu.pool import (
    DEVICE_LOCATION,
    HANDLES,
    HOST_LOCATION,
    MANAGED,
    NEAREST_NODE,
    PINNED,
    RESERVED_HIGH,
    THRESHOLD,
    USED_HIGH,
    Pool,
    PoolPlace,
)
from ptxkit.virtual.gpu.work import Action
from ptxkit.virtual.results import failure

ALLOCATE, FREE = 10, 11
"""Kinds of graph nodes."""
POOL_BYTES, RESERVED_WORDS = 88, 34
"""Of a `CUmemPoolProps`, and where its reserved bytes begin."""
PAGE = 4096
"""Memory that the host sees begins at a multiple of so many bytes."""


def default_pool(machine: Machine, device: VirtualDevice) -> Pool:
    """The default pool of a device."""
    if device.default_pool is None:
        place = PoolPlace(PINNED, DEVICE_LOCATION, device.ordinal)
        device.default_pool = device.pool = Pool(place)
        machine.handles.add(device.default_pool)
    return device.default_pool


def _current_pool(machine: Machine, device: VirtualDevice) -> Pool:
    default_pool(machine, device)
    assert device.pool is not None
    return device.pool


@driver()
def cuDeviceGetDefaultMemPool(machine: Machine, pool: int, device: int) -> None:
    put(pool, Pointer, default_pool(machine, machine.device(device)).handle)


@driver()
def cuDeviceGetMemPool(machine: Machine, pool: int, device: int) -> None:
    put(pool, Pointer, _current_pool(machine, machine.device(device, "INVALID_VALUE")).handle)


@driver()
def cuDeviceSetMemPool(machine: Machine, device: int, pool: int) -> None:
    one, found = machine.device(device, "INVALID_VALUE"), machine.handles.get(Pool, pool)
    if found.ordinal != one.ordinal:
        raise failure("INVALID_VALUE", "the pool is of another device")
    default_pool(machine, one)
    one.pool = found


@driver()
def cuMemPoolCreate(machine: Machine, pool: int, properties: int) -> None:
    if not properties:
        raise failure("INVALID_VALUE", "the properties are null")
    require_place(pool)
    given = PoolProperties.from_address(properties)
    if any(several(properties + RESERVED_WORDS, ctypes.c_ubyte, POOL_BYTES - RESERVED_WORDS)):
        raise failure("INVALID_VALUE", "a reserved byte of the properties is not 0")
    if given.handles not in HANDLES:
        raise failure("INVALID_VALUE", f"there are no kinds {given.handles:#x} of handles")
    if given.handles:
        raise failure("NOT_SUPPORTED", "pools that are shared between processes")
    place = _place(machine, given.type, given.location, given.device)
    put(pool, Pointer, machine.handles.add(Pool(place, given.most)))


def _place(machine: Machine, kind: int, location: int, number: int) -> PoolPlace:
    """A place that memory can be at.

    Raises:
        DriverError: INVALID_VALUE.
    """
    if kind not in (PINNED, MANAGED):
        raise failure("INVALID_VALUE", f"there is no type {kind} of allocations")
    if location == DEVICE_LOCATION:
        machine.device(number, "INVALID_VALUE")
    elif not (0 if kind == MANAGED else HOST_LOCATION) <= location <= NEAREST_NODE:
        raise failure("INVALID_VALUE", f"there is no kind {location} of locations")
    return PoolPlace(kind, location, number)


def _pools_of(machine: Machine, location: int, kind: int) -> list[Pool]:
    """The default pool of a location and the current one."""
    where = get(location, Int)
    if not 0 <= where <= NEAREST_NODE:
        raise failure("NOT_SUPPORTED", f"there is no kind {where} of locations")
    place = _place(machine, kind, where, get(location + 4, Int))
    if place.kind is AllocationKind.DEVICE:
        device = machine.device(place.number)
        return [default_pool(machine, device), _current_pool(machine, device)]
    if place not in machine.pools:
        made = Pool(place)
        machine.handles.add(made)
        machine.pools[place] = [made, made]
    return machine.pools[place]


@driver()
def cuMemGetDefaultMemPool(machine: Machine, pool: int, location: int, kind: int) -> None:
    put(pool, Pointer, _pools_of(machine, location, kind)[0].handle)


@driver()
def cuMemGetMemPool(machine: Machine, pool: int, location: int, kind: int) -> None:
    put(pool, Pointer, _pools_of(machine, location, kind)[1].handle)


@driver()
def cuMemSetMemPool(machine: Machine, location: int, kind: int, pool: int) -> None:
    found, pools = machine.handles.get(Pool, pool), _pools_of(machine, location, kind)
    if found.place != pools[0].place:
        raise failure("INVALID_VALUE", "the pool is of another place")
    if found.ordinal >= 0 and found.place.kind is AllocationKind.DEVICE:
        machine.device(found.ordinal).pool = found
    else:
        pools[1] = found


@driver()
def cuMemPoolDestroy(machine: Machine, pool: int) -> None:
    found = machine.handles.get(Pool, pool)
    defaults = [pools[0] for pools in machine.pools.values()]
    defaults += [device.default_pool for device in machine.devices if device.default_pool is not None]
    if found in defaults:
        raise failure("INVALID_VALUE", "a default pool can't be destroyed")
    for device in machine.devices:
        if found is device.pool:
            device.pool = device.default_pool
    for pools in machine.pools.values():
        pools[1] = pools[0] if pools[1] is found else pools[1]
    machine.handles.remove(found)


@driver()
def cuMemPoolTrimTo(machine: Machine, pool: int, keep: int) -> None:
    machine.handles.get(Pool, pool)


@driver()
def cuMemPoolGetAttribute(machine: Machine, pool: int, attribute: int, value: int) -> None:
    found = machine.handles.get(Pool, pool).attribute(attribute)
    put(value, Size if attribute in (4, 5, 6, 7, 8, 13) else Int, found)


@driver()
def cuMemPoolSetAttribute(machine: Machine, pool: int, attribute: int, value: int) -> None:
    found = machine.handles.get(Pool, pool)
    if attribute in (RESERVED_HIGH, USED_HIGH):
        if get(value, Size):
            raise failure("INVALID_VALUE", "the highest use can only be set to 0")
        found.highest = sum(found.used.values())
    elif attribute in found.settings:
        found.settings[attribute] = get(value, Size if attribute == THRESHOLD else Int)
    else:
        raise failure("INVALID_VALUE", f"attribute {attribute} of a memory pool can't be set")


@driver()
def cuMemPoolSetAccess(machine: Machine, pool: int, access: int, count: int) -> None:
    found = machine.handles.get(Pool, pool)
    if not count:
        raise failure("INVALID_VALUE", "the access of nobody")
    for index in range(count):
        location, device, flags = several(access, Int, 3 * count)[3 * index : 3 * index + 3]
        if flags not in (0, 1, 3):
            raise failure("INVALID_VALUE", f"there are no flags {flags} of an access")
        if flags == 1 or not DEVICE_LOCATION <= location <= NEAREST_NODE:
            raise failure("NOT_SUPPORTED", f"access to read alone, or at a location {location}")
        if location != DEVICE_LOCATION:
            continue  # the host reaches what is its own, and nothing else
        if machine.device(device).ordinal == found.ordinal and not flags:
            raise failure("INVALID_DEVICE", "a pool's own device keeps its access")
        found.access[device] = flags
        (found.devices.add if flags else found.devices.discard)(device)


@driver()
def cuMemPoolGetAccess(machine: Machine, flags: int, pool: int, location: int) -> None:
    found = machine.handles.get(Pool, pool)
    kind, number = several(location, Int, 2)
    if kind == DEVICE_LOCATION:
        machine.device(number, "INVALID_VALUE")
    put(flags, Int, found.access.get(number, 0))


# ---- allocations


def _allocate(machine: Machine, address: int, size: int, pool: Pool, stream: int) -> None:
    place = machine.context().stream(stream)
    require_place(address)
    size = max(size, 1)  # of 0 bytes there is one, too, at an address of its own
    if place.capture is not None:
        captured = captured_allocation(machine, pool, size)
        place.add(captured)
        put(address, Size, captured.block.address)
        return
    used = sum(pool.used.values())
    if pool.most and used + size > pool.most:
        raise failure("OUT_OF_MEMORY", f"the pool gives out at most {pool.most} bytes")
    kind = pool.place.kind
    made = obtain(machine, size, kind, PAGE if kind is not AllocationKind.DEVICE else 512)
    machine.memory.pools[made] = pool.handle
    machine.memory.allowed[made] = pool.devices
    pool.used[made] = size
    pool.highest = max(pool.highest, used + size)
    put(address, Size, made)


@driver()
def cuMemAllocAsync(machine: Machine, address: int, size: int, stream: int) -> None:
    device = machine.context().stream(stream).context.device
    _allocate(machine, address, size, _current_pool(machine, device), stream)


@driver()
def cuMemAllocFromPoolAsync(machine: Machine, address: int, size: int, pool: int, stream: int) -> None:
    _allocate(machine, address, size, machine.handles.get(Pool, pool), stream)


def captured_allocation(machine: Machine, pool: Pool, size: int) -> Allocate:
    """An allocation of a captured stream's."""
    properties = PoolProperties(type=1, location=DEVICE_LOCATION, device=pool.ordinal)
    given = ctypes.create_string_buffer(bytes(properties), BYTES)
    Size.from_buffer(given, ASKED).value = size
    return allocation(machine, ctypes.addressof(given))


def _free_of_graph(machine: Machine, stream: VirtualStream, block: HeldMemory) -> None:
    """Free what a graph has allocated: in a captured stream by a node, else for its next launch."""
    capture = capture_of(stream)
    if capture is not None:
        stream.add(freed(machine, capture.graph, block.address))
        return
    if not block.outstanding:
        raise failure("INVALID_VALUE", "no graph that was launched has left this allocation")
    block.outstanding = False
    stream.add(Free(block))
    stream.queue(block.settle)


@driver()
def cuMemFreeAsync(machine: Machine, address: int, stream: int) -> None:
    place = machine.context().stream(stream)
    memory = machine.memory
    if not address:
        return
    if address in memory.graph_blocks:
        _free_of_graph(machine, place, memory.graph_blocks[address])
        return
    owner = memory.check(address, 1, "the allocation")
    if memory.kinds.get(owner.address) is AllocationKind.MANAGED and owner.address not in memory.pools:
        raise failure("NOT_SUPPORTED", "managed memory of no pool is freed by `cuMemFree` alone")
    if (
        owner.address != address
        or not (memory.kinds.get(address) is AllocationKind.DEVICE or address in memory.pools)
        or address in memory.freeing
    ):
        raise failure("INVALID_VALUE", f"no allocation that can be freed: {memory.what_lies_at(address)}")
    memory.freeing.add(address)
    pool = machine.handles.find(Pool, memory.pools.get(address, 0))

    def free() -> None:
        memory.freeing.discard(address)
        memory.release(address, *AllocationKind, by="the host freed it by `cuMemFreeAsync`")
        if pool is not None:
            pool.used.pop(address, None)

    place.add(Action(free, FREE))
