"""Managed memory: where it had best be, and what was said of that. It is where it is."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

from ptxkit.virtual.abi import Int, Pointer, Size, UInt, put_several, several
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.pool import DEVICE_LOCATION, HOST_LOCATION
from ptxkit.virtual.results import failure

HOST, NOWHERE = -1, -2
"""`CU_DEVICE_CPU`, `CU_DEVICE_INVALID`."""
Location = tuple[int, int]
"""A `CUmemLocation`: its type and its number."""
NO_LOCATION: Location = (0, 0)


@dataclass(slots=True)
class Advice:
    """What was said of an allocation.

    Attributes:
        read_mostly: whether it is mostly read.
        preferred, prefetched: where it had best be, and where it was last brought.
        accessed_by: the devices that will reach it.
    """

    read_mostly: bool = False
    preferred: Location = NO_LOCATION
    prefetched: Location = NO_LOCATION
    accessed_by: list[int] = field(default_factory=list)


def _advice(machine: Machine, address: int, size: int) -> Advice:
    if not size:
        raise failure("INVALID_VALUE", "no bytes")
    owner = machine.memory.check(address, size, "the range")
    if machine.memory.is_device(address):
        raise failure("INVALID_VALUE", f"{owner} is neither managed memory nor the host's")
    return machine.memory.advice.setdefault(owner.address, Advice())


def _old(number: int) -> Location:
    """A location as the first revisions have it: a device's number, or the host's."""
    return (HOST_LOCATION, 0) if number == HOST else (DEVICE_LOCATION, number)


def _new(block: ctypes.Structure) -> Location:
    """A `CUmemLocation` that was passed by value."""
    kind, number = (ctypes.c_int * 2).from_buffer_copy(block)
    return kind, number


def _check(machine: Machine, location: Location) -> None:
    if location[0] == DEVICE_LOCATION:
        machine.device(location[1])
    elif not 0 < location[0] <= 4:
        raise failure("INVALID_VALUE", f"there is no kind {location[0]} of locations")


def _advise(machine: Machine, address: int, size: int, advice: int, location: Location) -> None:
    machine.context()
    found = _advice(machine, address, size)
    if advice in (1, 2):
        found.read_mostly = advice == 1
        return
    if not 3 <= advice <= 6:
        raise failure("INVALID_VALUE", f"there is no advice {advice}")
    if advice != 4:
        _check(machine, location)
    device = HOST if location[0] != DEVICE_LOCATION else location[1]
    if advice in (3, 4):
        found.preferred = location if advice == 3 else NO_LOCATION
    elif advice == 5:
        found.accessed_by = sorted({*found.accessed_by, device}, key=lambda one: (one == HOST, one))
    else:
        found.accessed_by = [one for one in found.accessed_by if one != device]


@driver()
def cuMemAdvise(machine: Machine, address: int, size: int, advice: int, device: int) -> None:
    _advise(machine, address, size, advice, _old(device))


@driver("cuMemAdvise_v2")
def cuMemAdvise_v2(
    machine: Machine, address: int, size: int, advice: int, location: ctypes.Structure
) -> None:
    _advise(machine, address, size, advice, _new(location))


def _prefetch(machine: Machine, address: int, size: int, location: Location, stream: int) -> None:
    machine.context().stream(stream)
    found = _advice(machine, address, size)
    _check(machine, location)
    found.prefetched = location


@driver()
def cuMemPrefetchAsync(machine: Machine, address: int, size: int, device: int, stream: int) -> None:
    _prefetch(machine, address, size, _old(device), stream)


@driver("cuMemPrefetchAsync_v2")
def cuMemPrefetchAsync_v2(
    machine: Machine, address: int, size: int, location: ctypes.Structure, flags: int, stream: int
) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    _prefetch(machine, address, size, _new(location), stream)


def _ranges(addresses: int, sizes: int, count: int) -> list[tuple[int, int]]:
    if not count:
        raise failure("INVALID_VALUE", "no ranges")
    return list(zip(several(addresses, Size, count), several(sizes, Size, count), strict=True))


@driver("cuMemPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync")
def cuMemPrefetchBatchAsync(
    machine: Machine,
    addresses: int,
    sizes: int,
    count: int,
    locations: int,
    starts: int,
    number: int,
    flags: int,
    stream: int,
) -> None:
    """Location n is that of the ranges from `starts[n]` on."""
    first = several(starts, Size, number)
    if flags or not number or first[0] != 0 or sorted(first) != first or first[-1] >= count:
        raise failure("INVALID_VALUE", "the flags are not 0, or the indices of the locations do not ascend")
    pairs = several(locations, Int, 2 * number)
    for at, (address, size) in enumerate(_ranges(addresses, sizes, count)):
        which = sum(start <= at for start in first) - 1
        _prefetch(machine, address, size, (pairs[2 * which], pairs[2 * which + 1]), stream)


@driver()
def cuMemDiscardBatchAsync(
    machine: Machine, addresses: int, sizes: int, count: int, flags: int, stream: int
) -> None:
    """What they hold is not needed any more."""
    machine.context().stream(stream)
    for address, size in _ranges(addresses, sizes, count):
        _advice(machine, address, size)


# ---- what was said


def _attribute(found: Advice, attribute: int) -> list[int]:
    """The value of a `CUmem_range_attribute`, of the devices that will reach it all of them."""

    def device(location: Location) -> int:
        return {0: NOWHERE, DEVICE_LOCATION: location[1]}.get(location[0], HOST)

    values = {
        1: [int(found.read_mostly)],
        2: [device(found.preferred)],
        3: found.accessed_by,
        4: [device(found.prefetched)],
        5: [found.preferred[0]],
        6: [found.preferred[1]],
        7: [found.prefetched[0]],
        8: [found.prefetched[1]],
    }
    if attribute not in values:
        raise failure("INVALID_VALUE", f"there is no attribute {attribute} of a range")
    return values[attribute]


@driver()
def cuMemRangeGetAttribute(
    machine: Machine, data: int, size: int, attribute: int, address: int, count: int
) -> None:
    values = _attribute(_advice(machine, address, count), attribute)
    room = size // 4
    if not data or size % 4 or not room or (attribute != 3 and room != 1):
        raise failure("INVALID_VALUE", f"the value of attribute {attribute} does not go into {size} bytes")
    put_several(data, Int, (values + [NOWHERE] * room)[:room])


@driver()
def cuMemRangeGetAttributes(
    machine: Machine, data: int, sizes: int, attributes: int, number: int, address: int, count: int
) -> None:
    wanted = several(attributes, UInt, number)
    places, rooms = several(data, Pointer, number), several(sizes, Size, number)
    for attribute, place, room in zip(wanted, places, rooms, strict=True):
        cuMemRangeGetAttribute(machine, place, room, attribute, address, count)
