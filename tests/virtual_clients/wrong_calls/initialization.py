"""Calls before cuInit, and of what needs none."""

from __future__ import annotations

from cuda.bindings import driver as cuda
from kernels import NEXT

from wrong_calls.fixtures import Call, place, raw, text


def begin() -> None:
    """Nothing is initialised."""


CALLS: dict[str, Call] = {
    "the number of devices": lambda _: raw("cuDeviceGetCount", place()),
    "a device": lambda _: raw("cuDeviceGet", place(), 0),
    "an attribute": lambda _: raw("cuDeviceGetAttribute", place(), 1, 0),
    "the current context": lambda _: raw("cuCtxGetCurrent", place()),
    "an allocation": lambda _: raw("cuMemAlloc_v2", place(), 16),
    "a free of null": lambda _: raw("cuMemFree_v2", 0),
    "a module": lambda _: raw("cuModuleLoadData", place(), text(NEXT)),
    "a library": lambda _: raw("cuLibraryLoadData", place(), text(NEXT), 0, 0, 0, 0, 0, 0),
    "a graph": lambda _: raw("cuGraphCreate", place(), 0),
    "a wait": lambda _: raw("cuCtxSynchronize"),
    "the primary context": lambda _: raw("cuDevicePrimaryCtxRetain", place(), 0),
    "the version of the driver": lambda _: raw("cuDriverGetVersion", place()),
    "the version of the driver, nowhere": lambda _: raw("cuDriverGetVersion", 0),
    "the name of an error": lambda _: raw("cuGetErrorName", 1, place()),
    "the name of no error": lambda _: raw("cuGetErrorName", 123456, place()),
    "the name of a negative error": lambda _: raw("cuGetErrorName", -1, place()),
    "the name of an error, nowhere": lambda _: raw("cuGetErrorName", 1, 0),
    "what no error says": lambda _: raw("cuGetErrorString", 123456, place()),
    "the address of a function": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuMemAlloc"), place(), 12000, 0, place()
    ),
    "the address of no function": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuNothing"), place(), 12000, 0, place()
    ),
    "the address of no function, without a status": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuNothing"), place(), 12000, 0, 0
    ),
    "the address of a function that is newer": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuGraphAddNode"), place(), 10000, 0, place()
    ),
    "the address of a function for no version": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuMemAlloc"), place(), 0, 0, place()
    ),
    "the address of a function, flags that there are not": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuMemAlloc"), place(), 12000, 64, place()
    ),
    "the address of a function without a name": lambda _: raw(
        "cuGetProcAddress_v2", 0, place(), 12000, 0, place()
    ),
    "the address of a function, nowhere": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuMemAlloc"), 0, 12000, 0, place()
    ),
    "the address of the empty name": lambda _: raw(
        "cuGetProcAddress_v2", text(b""), place(), 12000, 0, place()
    ),
    "the address of a name with its revision": lambda _: raw(
        "cuGetProcAddress_v2", text(b"cuMemAlloc_v2"), place(), 12000, 0, place()
    ),
    "flags of cuInit": lambda _: cuda.cuInit(1),
    "other flags of cuInit": lambda _: cuda.cuInit(0x80000000),
}
