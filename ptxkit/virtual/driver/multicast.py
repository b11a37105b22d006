"""Multicast object management."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.abi import MulticastProperties, Size, put, require_place
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.allocation_kind import AllocationKind
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.multicast import VirtualMulticast
from ptxkit.virtual.gpu.physical import GRANULARITY, PhysicalMemory
from ptxkit.virtual.results import failure

FINE_FROM = (10, 7)
"""The capability from which on memory may be bound at multiples of 256 bytes."""


def _properties(machine: Machine, address: int) -> Any:
    if not address:
        raise failure("INVALID_VALUE", "the properties are null")
    if machine.options.target.capability < (9, 0):
        raise failure("NOT_SUPPORTED", f"{machine.options.target} has no multicast")
    given = MulticastProperties.from_address(address)
    if given.flags or not 1 <= given.devices <= len(machine.devices) or not given.size:
        why = f"expected from 1 to {len(machine.devices)} devices, a size and no flags"
        raise failure("INVALID_VALUE", f"{why}, found {given.devices}, {given.size}, {given.flags}")
    if given.handles:
        raise failure("NOT_SUPPORTED", "multicast objects that processes share")
    return given


@driver()
def cuMulticastGetGranularity(machine: Machine, granularity: int, prop: int, option: int) -> None:
    _properties(machine, prop)
    if option not in (0, 1):
        raise failure("INVALID_VALUE", f"there is no option {option}")
    put(granularity, Size, GRANULARITY)


@driver()
def cuMulticastCreate(machine: Machine, handle: int, prop: int) -> None:
    given = _properties(machine, prop)
    if given.size % GRANULARITY:
        raise failure("INVALID_VALUE", f"expected a multiple of {GRANULARITY} bytes, found {given.size}")
    require_place(handle)
    put(handle, Size, machine.handles.add(VirtualMulticast(given.size, given.devices)))


@driver()
def cuMulticastAddDevice(machine: Machine, handle: int, device: int) -> None:
    machine.handles.get(VirtualMulticast, handle).add(machine.device(device).ordinal)


def bind_memory(
    machine: Machine,
    found: VirtualMulticast,
    device: int | None,
    offset: int,
    memory: int,
    place: int,
    size: int,
    flags: int,
) -> None:
    """Bind physical memory to a multicast object, or to what is one besides."""
    physical = machine.handles.get(PhysicalMemory, memory)
    _check(flags, device, physical.device)
    found.bind(
        physical.device,
        offset,
        size,
        place,
        physical.size,
        lambda: machine.addresses.address_of(physical, place, size),
        physical,
        machine.options.target.capability >= FINE_FROM,
    )


def bind_address(
    machine: Machine,
    found: VirtualMulticast,
    device: int | None,
    offset: int,
    address: int,
    size: int,
    flags: int,
) -> None:
    """Bind what is at an address."""
    memory = machine.memory
    owner = memory.check(address, size, "what is bound")
    mapped = owner.address in machine.addresses.mapped
    if memory.kinds.get(owner.address) is not AllocationKind.DEVICE or not (
        mapped or owner.address in memory.pools
    ):
        raise failure("INVALID_VALUE", "expected memory of `cuMemCreate` or `cuMemAllocAsync`")
    _check(flags, device, memory.devices[owner.address])
    found.bind(
        memory.devices[owner.address],
        offset,
        size,
        address - owner.address,
        owner.size,
        lambda: address,
        None,
        machine.options.target.capability >= FINE_FROM,
    )


def _check(flags: int, device: int | None, owner: int) -> None:
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    if device is not None and device != owner:
        raise failure("INVALID_DEVICE", f"the memory is of device {owner}, not {device}")


@driver()
def cuMulticastBindMem(machine: Machine, handle: int, *given: int) -> None:
    offset, memory, place, size, flags = given
    bind_memory(
        machine, machine.handles.get(VirtualMulticast, handle), None, offset, memory, place, size, flags
    )


@driver()
def cuMulticastBindMem_v2(machine: Machine, handle: int, device: int, *given: int) -> None:
    offset, memory, place, size, flags = given
    bind_memory(
        machine, machine.handles.get(VirtualMulticast, handle), device, offset, memory, place, size, flags
    )


@driver()
def cuMulticastBindAddr(machine: Machine, handle: int, *given: int) -> None:
    offset, address, size, flags = given
    bind_address(machine, machine.handles.get(VirtualMulticast, handle), None, offset, address, size, flags)


@driver()
def cuMulticastBindAddr_v2(machine: Machine, handle: int, device: int, *given: int) -> None:
    offset, address, size, flags = given
    bind_address(machine, machine.handles.get(VirtualMulticast, handle), device, offset, address, size, flags)


@driver()
def cuMulticastUnbind(machine: Machine, handle: int, device: int, offset: int, size: int) -> None:
    found = machine.handles.get(VirtualMulticast, handle)
    machine.schedule.finish_all()
    gone = found.unbind(machine.device(device).ordinal, offset, size)
    if gone is not None:
        machine.handles.remove(gone)
