"""Unified addressing: what a pointer is. Managed memory is in `managed`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ptxkit.emulator.global_memory import Allocation
from ptxkit.virtual.abi import Int, Pointer, Size, UInt, get, put, several
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure


def _kind(machine: Machine, owner: Allocation) -> AllocationKind:
    return machine.memory.kinds.get(owner.address, AllocationKind.DEVICE)


def _context(machine: Machine, owner: Allocation) -> int:
    device = machine.memory.devices.get(owner.address, 0)
    primary = machine.primary(machine.devices[max(device, 0)])
    current = machine.current
    if current is not None and current.device.ordinal == device:
        return current.handle
    return primary.handle if primary else 0


HOST_POINTER, SYNC_MEMOPS = 4, 6
"""The attribute that memory of a device has not, and the one that can be set."""
_ATTRIBUTES: dict[int, tuple[type, Callable[[Machine, Allocation, int], int]]] = {
    1: (Pointer, lambda machine, owner, at: _context(machine, owner)),
    2: (
        UInt,
        lambda machine, owner, at: (
            1 if _kind(machine, owner) in (AllocationKind.PINNED, AllocationKind.REGISTERED) else 2
        ),
    ),
    3: (Pointer, lambda machine, owner, at: at),
    HOST_POINTER: (
        Pointer,
        lambda machine, owner, at: at if _kind(machine, owner) is not AllocationKind.DEVICE else 0,
    ),
    SYNC_MEMOPS: (Int, lambda machine, owner, at: machine.memory.synchronous.get(owner.address, 0)),
    7: (Size, lambda machine, owner, at: owner.address),
    8: (UInt, lambda machine, owner, at: _kind(machine, owner) is AllocationKind.MANAGED),
    9: (Int, lambda machine, owner, at: max(machine.memory.devices.get(owner.address, 0), 0)),
    10: (UInt, lambda machine, owner, at: 0),
    11: (Pointer, lambda machine, owner, at: owner.address),
    12: (Size, lambda machine, owner, at: owner.size),
    13: (UInt, lambda machine, owner, at: 1),
    14: (Size, lambda machine, owner, at: 0),
    15: (UInt, lambda machine, owner, at: 0),
    16: (UInt, lambda machine, owner, at: 3),
    17: (Pointer, lambda machine, owner, at: machine.memory.pools.get(owner.address, 0)),
    18: (Size, lambda machine, owner, at: owner.size),
    19: (Pointer, lambda machine, owner, at: owner.address),
    20: (Size, lambda machine, owner, at: owner.address),
}
"""`CUpointer_attribute`: the type of each and its value for an address of an allocation."""

_HOST_HAS_NONE = {1: 0, 2: 0, 3: 0, 4: 0, 8: 0, 9: -2, 13: 0}
"""What `cuPointerGetAttributes` gives for plain memory of the host."""


@driver()
def cuPointerGetAttribute(machine: Machine, data: int, attribute: int, address: int) -> None:
    if attribute not in _ATTRIBUTES:
        raise failure("INVALID_VALUE", f"there is no attribute {attribute} of a pointer")
    owner = machine.memory.owner(address)
    if owner is None:
        raise failure("INVALID_VALUE", machine.memory.what_lies_at(address))
    if attribute == HOST_POINTER and _kind(machine, owner) is AllocationKind.DEVICE:
        raise failure("INVALID_VALUE", f"the host does not see {owner}")
    kind, value = _ATTRIBUTES[attribute]
    put(data, kind, value(machine, owner, address))


@driver()
def cuPointerGetAttributes(machine: Machine, count: int, attributes: int, data: int, address: int) -> None:
    if not count:
        raise failure("INVALID_VALUE", "no attributes are asked for")
    owner = machine.memory.owner(address)
    wanted, places = several(attributes, ctypes.c_int, count), several(data, Pointer, count)
    for attribute, place in zip(wanted, places, strict=True):
        if attribute not in _ATTRIBUTES:
            raise failure("INVALID_VALUE", f"there is no attribute {attribute} of a pointer")
        kind, value = _ATTRIBUTES[attribute]
        put(place, kind, value(machine, owner, address) if owner else _HOST_HAS_NONE.get(attribute, 0))


@driver()
def cuPointerSetAttribute(machine: Machine, value: int, attribute: int, address: int) -> None:
    """It is told again, and changes nothing."""
    if attribute != SYNC_MEMOPS:
        raise failure("INVALID_VALUE", f"attribute {attribute} of a pointer can't be set")
    owner = machine.memory.check(address, 1, "the pointer")
    machine.memory.synchronous[owner.address] = bool(get(value, UInt))
