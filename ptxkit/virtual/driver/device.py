"""Device management; peer access between devices."""

from __future__ import annotations

import re

from ptxkit.virtual.abi import Int, Size, put, put_bytes, put_several, put_text, text
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.attributes import device_attribute, peer_attribute
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

BUS_BYTES = 13
"""Of the name of a device's bus, with its last zero."""
_BUS = re.compile(r"(?:[0-9A-F]{1,8}:)?[0-9A-F]{1,2}:[0-9A-F]{1,2}(?:\.[0-9A-F])?")


@driver()
def cuDeviceGet(machine: Machine, device: int, ordinal: int) -> None:
    put(device, Int, machine.device(ordinal).ordinal)


@driver()
def cuDeviceGetCount(machine: Machine, count: int) -> None:
    put(count, Int, len(machine.devices))


@driver()
def cuDeviceGetName(machine: Machine, name: int, size: int, device: int) -> None:
    put_text(name, size, machine.device(device).name)


@driver("cuDeviceGetUuid", "cuDeviceGetUuid_v2")
def cuDeviceGetUuid(machine: Machine, uuid: int, device: int) -> None:
    ordinal = machine.device(device).ordinal
    put_bytes(uuid, b"ptxkit virtual " + bytes([ordinal]))


@driver("cuDeviceTotalMem_v2")
def cuDeviceTotalMem(machine: Machine, size: int, device: int) -> None:
    put(size, Size, machine.device(device).total_memory)


@driver()
def cuDeviceGetAttribute(machine: Machine, value: int, attribute: int, device: int) -> None:
    put(value, Int, device_attribute(machine.device(device), attribute))


@driver()
def cuDeviceComputeCapability(machine: Machine, major: int, minor: int, device: int) -> None:
    for address, number in zip((major, minor), machine.device(device).target.capability, strict=True):
        put(address, Int, number)


@driver()
def cuDeviceGetProperties(machine: Machine, properties: int, device: int) -> None:
    numbers = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    values = [device_attribute(machine.device(device), number) for number in numbers]
    put_several(properties, Int, values)


@driver()
def cuDeviceGetPCIBusId(machine: Machine, bus: int, size: int, device: int) -> None:
    if size < BUS_BYTES:
        raise failure("INVALID_VALUE", f"the name of a bus takes {BUS_BYTES} bytes, found {size}")
    put_text(bus, size, f"0000:{machine.device(device).ordinal + 1:02X}:00.0")


@driver()
def cuDeviceGetByPCIBusId(machine: Machine, device: int, bus: int) -> None:
    name = text(bus).upper()
    if not _BUS.fullmatch(name):
        raise failure("INVALID_VALUE", f"`{name}` is no name of a bus")
    for one in machine.devices:
        if name in (f"0000:{one.ordinal + 1:02X}:00.0", f"{one.ordinal + 1:02X}:00.0"):
            put(device, Int, one.ordinal)
            return
    raise failure("INVALID_DEVICE", f"no device is at {name}")


@driver()
def cuDeviceGetExecAffinitySupport(machine: Machine, supported: int, kind: int, device: int) -> None:
    machine.device(device)
    put(supported, Int, 0)


# ---- peers


@driver()
def cuDeviceCanAccessPeer(machine: Machine, can: int, device: int, peer: int) -> None:
    put(can, Int, machine.device(device) is not machine.device(peer))


@driver()
def cuDeviceGetP2PAttribute(machine: Machine, value: int, attribute: int, source: int, other: int) -> None:
    if machine.device(source) is machine.device(other):
        raise failure("INVALID_DEVICE", "a device is no peer of itself")
    put(value, Int, peer_attribute(attribute))


@driver()
def cuCtxEnablePeerAccess(machine: Machine, peer: int, flags: int) -> None:
    context, other = machine.context(), machine.handles.get(VirtualContext, peer)
    if flags:
        raise failure("INVALID_VALUE", f"expected 0 as the flags, found {flags}")
    if other.device is context.device:
        raise failure("PEER_ACCESS_UNSUPPORTED", "a device is no peer of itself")
    context.enable_peer(other.device.ordinal)


@driver()
def cuCtxDisablePeerAccess(machine: Machine, peer: int) -> None:
    context, other = machine.context(), machine.handles.get(VirtualContext, peer)
    context.disable_peer(other.device.ordinal)
