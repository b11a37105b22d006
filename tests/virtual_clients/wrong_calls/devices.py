"""Devices that are not there, and what no device has."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda

from wrong_calls.fixtures import Call, place, raw, text


def begin() -> None:
    """The driver is initialised; there is no context."""
    check(cuda.cuInit(0))


def _state_after_a_release(_: object) -> tuple[int]:
    check(cuda.cuDevicePrimaryCtxRetain(0))
    check(cuda.cuDevicePrimaryCtxRelease(0))
    return raw("cuDevicePrimaryCtxRelease_v2", 0)


CALLS: dict[str, Call] = {
    "a device that is not there": lambda _: cuda.cuDeviceGet(99),
    "a device of a negative number": lambda _: cuda.cuDeviceGet(-1),
    "a device, nowhere": lambda _: raw("cuDeviceGet", 0, 0),
    "the number of devices, nowhere": lambda _: raw("cuDeviceGetCount", 0),
    "an attribute of a device that is not there": lambda _: raw("cuDeviceGetAttribute", place(), 1, 99),
    "an attribute of a negative device": lambda _: raw("cuDeviceGetAttribute", place(), 1, -1),
    "an attribute that is not there": lambda _: raw("cuDeviceGetAttribute", place(), 9999, 0),
    "attribute 0": lambda _: raw("cuDeviceGetAttribute", place(), 0, 0),
    "a negative attribute": lambda _: raw("cuDeviceGetAttribute", place(), -1, 0),
    "an attribute, nowhere": lambda _: raw("cuDeviceGetAttribute", 0, 1, 0),
    "the name of a device that is not there": lambda _: raw("cuDeviceGetName", place(), 64, 99),
    "the name of a device in no bytes": lambda _: raw("cuDeviceGetName", place(), 0, 0),
    "the name of a device in 4 bytes": lambda _: raw("cuDeviceGetName", place(), 4, 0),
    "the name of a device in less than no bytes": lambda _: raw("cuDeviceGetName", place(), -1, 0),
    "the name of a device, nowhere": lambda _: raw("cuDeviceGetName", 0, 64, 0),
    "the memory of a device that is not there": lambda _: raw("cuDeviceTotalMem_v2", place(), 99),
    "the memory of a device, nowhere": lambda _: raw("cuDeviceTotalMem_v2", 0, 0),
    "the uuid of a device that is not there": lambda _: raw("cuDeviceGetUuid_v2", place(), 99),
    "the uuid of a device, nowhere": lambda _: raw("cuDeviceGetUuid_v2", 0, 0),
    "the properties of a device that is not there": lambda _: raw("cuDeviceGetProperties", place(), 99),
    "the properties of a device, nowhere": lambda _: raw("cuDeviceGetProperties", 0, 0),
    "the capability of a device that is not there": lambda _: raw(
        "cuDeviceComputeCapability", place(), place(), 99
    ),
    "the bus of a device that is not there": lambda _: raw("cuDeviceGetPCIBusId", place(), 64, 99),
    "the bus of a device in 4 bytes": lambda _: raw("cuDeviceGetPCIBusId", place(), 4, 0),
    "the bus of a device, nowhere": lambda _: raw("cuDeviceGetPCIBusId", 0, 64, 0),
    "a device at no bus": lambda _: raw("cuDeviceGetByPCIBusId", place(), text(b"ffff:ff:1f.7")),
    "a device at a name that is no bus": lambda _: raw("cuDeviceGetByPCIBusId", place(), text(b"nothing")),
    "a device at the empty name": lambda _: raw("cuDeviceGetByPCIBusId", place(), text(b"")),
    "a device at a null name": lambda _: raw("cuDeviceGetByPCIBusId", place(), 0),
    "the affinity of a device that is not there": lambda _: raw(
        "cuDeviceGetExecAffinitySupport", place(), 0, 99
    ),
    "an affinity that there is not": lambda _: raw("cuDeviceGetExecAffinitySupport", place(), 77, 0),
    "the peers of a device that is not there": lambda _: raw("cuDeviceCanAccessPeer", place(), 0, 99),
    "a device as its own peer": lambda _: raw("cuDeviceCanAccessPeer", place(), 0, 0),
    "what a device is to itself as a peer": lambda _: raw("cuDeviceGetP2PAttribute", place(), 1, 0, 0),
    "what a peer is that is not there": lambda _: raw("cuDeviceGetP2PAttribute", place(), 1, 0, 99),
    "what there is not of a peer": lambda _: raw("cuDeviceGetP2PAttribute", place(), 77, 0, 99),
    "the default pool of a device that is not there": lambda _: raw("cuDeviceGetDefaultMemPool", place(), 99),
    "the default pool, nowhere": lambda _: raw("cuDeviceGetDefaultMemPool", 0, 0),
    "the pool of a device that is not there": lambda _: raw("cuDeviceGetMemPool", place(), 99),
    "the pool of a device becomes none": lambda _: raw("cuDeviceSetMemPool", 0, 0),
    "the primary context of a device that is not there": lambda _: raw(
        "cuDevicePrimaryCtxRetain", place(), 99
    ),
    "the primary context, nowhere": lambda _: raw("cuDevicePrimaryCtxRetain", 0, 0),
    "a primary context is released that nobody has": lambda _: raw("cuDevicePrimaryCtxRelease_v2", 0),
    "a primary context is released twice": _state_after_a_release,
    "the primary context of no device is released": lambda _: raw("cuDevicePrimaryCtxRelease_v2", 99),
    "a primary context is reset that nobody has": lambda _: raw("cuDevicePrimaryCtxReset_v2", 0),
    "the primary context of no device is reset": lambda _: raw("cuDevicePrimaryCtxReset_v2", 99),
    "flags of the primary context that there are not": lambda _: raw(
        "cuDevicePrimaryCtxSetFlags_v2", 0, 0x8000
    ),
    "flags of the primary context that exclude each other": lambda _: raw(
        "cuDevicePrimaryCtxSetFlags_v2", 0, 3
    ),
    "flags of the primary context of no device": lambda _: raw("cuDevicePrimaryCtxSetFlags_v2", 99, 0),
    "the state of the primary context of no device": lambda _: raw(
        "cuDevicePrimaryCtxGetState", 99, place(), place()
    ),
    "the state of the primary context, nowhere": lambda _: raw("cuDevicePrimaryCtxGetState", 0, 0, 0),
    "the use of graphs' memory of no device": lambda _: raw("cuDeviceGetGraphMemAttribute", 99, 0, place()),
    "what there is not of graphs' memory": lambda _: raw("cuDeviceGetGraphMemAttribute", 0, 77, place()),
    "the use of graphs' memory is set": lambda _: raw("cuDeviceSetGraphMemAttribute", 0, 0, place()),
    "the highest use of graphs' memory is set to 5": lambda _: raw(
        "cuDeviceSetGraphMemAttribute", 0, 1, place(5)
    ),
    "a trim of graphs' memory of no device": lambda _: raw("cuDeviceGraphMemTrim", 99),
    "a context on a device that is not there": lambda _: raw("cuCtxCreate_v2", place(), 0, 99),
    "a context, nowhere": lambda _: raw("cuCtxCreate_v2", 0, 0, 0),
    "flags of a context that there are not": lambda _: raw("cuCtxCreate_v2", place(), 0x80000, 0),
    "flags of a context that exclude each other": lambda _: raw("cuCtxCreate_v2", place(), 3, 0),
}
