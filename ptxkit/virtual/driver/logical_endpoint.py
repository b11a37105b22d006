"""Logical endpoints. They are not shared between processes."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.abi import EndpointProperties, Int, Size, UInt, put
from ptxkit.virtual.driver import driver
from ptxkit.virtual.driver.multicast import bind_address, bind_memory
from ptxkit.virtual.gpu.endpoint import VirtualEndpoint
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.gpu.physical import GRANULARITY
from ptxkit.virtual.results import failure

UNICAST, MULTICAST = 1, 2
"""`CUlogicalEndpointType`."""
COUNTED = 1
"""The flag of `CUlogicalEndpointFlag`."""
LARGEST = 256 << 30
"""Bytes of the largest endpoint."""


def _properties(machine: Machine, address: int) -> Any:
    if not address:
        raise failure("INVALID_VALUE", "the properties are null")
    if machine.options.target.capability < (10, 0):
        raise failure("NOT_SUPPORTED", f"{machine.options.target} has no fabric operations")
    given = EndpointProperties.from_address(address)
    if given.type not in (UNICAST, MULTICAST) or given.flags & ~COUNTED or not given.size:
        raise failure("INVALID_VALUE", f"no endpoint has type {given.type}, flags {given.flags}")
    if given.type == UNICAST:
        machine.device(given.count)
    elif not 1 <= given.count <= len(machine.devices):
        why = f"expected from 1 to {len(machine.devices)} devices, found {given.count}"
        raise failure("INVALID_VALUE", why)
    return given


@driver()
def cuLogicalEndpointIdReserve(machine: Machine, first: int, count: int) -> None:
    if not count:
        raise failure("INVALID_VALUE", "no numbers were asked for")
    put(first, UInt, machine.endpoints.reserve(count))


@driver()
def cuLogicalEndpointIdRelease(machine: Machine, first: int, count: int) -> None:
    machine.endpoints.release(first, count)


@driver()
def cuLogicalEndpointGetLimits(machine: Machine, align: int, largest: int, prop: int) -> None:
    _properties(machine, prop)
    put(align, Size, GRANULARITY)
    put(largest, Size, LARGEST)


@driver()
def cuLogicalEndpointCreate(machine: Machine, number: int, prop: int) -> None:
    given, endpoints = _properties(machine, prop), machine.endpoints
    if number not in endpoints.reserved or number in endpoints.made:
        raise failure("INVALID_VALUE", f"{number} is no number that is reserved and names nothing")
    if given.size % GRANULARITY or given.size > LARGEST:
        why = f"expected a multiple of {GRANULARITY} bytes up to {LARGEST}, found {given.size}"
        raise failure("INVALID_VALUE", why)
    owner = given.count if given.type == UNICAST else None
    made = VirtualEndpoint(
        given.size, 1 if owner is not None else given.count, owner, bool(given.flags & COUNTED)
    )
    endpoints.made[number] = made
    machine.handles.add(made)


@driver()
def cuLogicalEndpointAddDevice(machine: Machine, number: int, device: int) -> None:
    found = machine.endpoints.get(number)
    if not found.endpoint.multicast:
        raise failure("INVALID_VALUE", f"logical endpoint {number} is a unicast one")
    found.add(machine.device(device).ordinal)


@driver()
def cuLogicalEndpointQuery(machine: Machine, first: int, count: int, status: int) -> None:
    asked = [machine.endpoints.get(number) for number in range(first, first + count)]
    ready = all(endpoint.constructed for endpoint in asked)
    for number, endpoint in enumerate(asked, first):
        endpoint.ready |= endpoint.constructed
        if endpoint.ready:
            machine.memory.endpoints[number] = endpoint.endpoint
    put(status, Int, int(ready))


@driver()
def cuLogicalEndpointBindMem(machine: Machine, number: int, device: int, *given: int) -> None:
    offset, memory, place, size, flags = given
    bind_memory(machine, machine.endpoints.get(number), device, offset, memory, place, size, flags)


@driver()
def cuLogicalEndpointBindAddr(machine: Machine, number: int, device: int, *given: int) -> None:
    offset, address, size, flags = given
    bind_address(machine, machine.endpoints.get(number), device, offset, address, size, flags)


@driver()
def cuLogicalEndpointUnbind(machine: Machine, number: int, device: int, offset: int, size: int) -> None:
    found = machine.endpoints.get(number)
    machine.schedule.finish_all()
    for gone in found.unbind_all(machine.device(device).ordinal, offset, size):
        machine.handles.remove(gone)


@driver()
def cuLogicalEndpointDestroy(machine: Machine, number: int) -> None:
    found = machine.endpoints.get(number)
    machine.schedule.finish_all()
    del machine.endpoints.made[number]
    machine.memory.endpoints.pop(number, None)
    machine.handles.remove(found)
    for gone in found.close():
        machine.handles.remove(gone)
