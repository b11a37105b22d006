"""`libnvidia-ml.so.1`: what devices there are, how much memory they have. NVML's manual."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import Int, Pointer, Size, UInt, lasting_text, put, put_text
from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.driver.initialization import VERSION
from ptxkit.virtual.gpu.attributes import device_attribute
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.symbols import ExportedSymbol, table

SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, UNKNOWN = 0, 1, 2, 3, 6, 999
TEXTS = {
    SUCCESS: "Success",
    UNINITIALIZED: "Uninitialized",
    INVALID_ARGUMENT: "Invalid Argument",
    NOT_SUPPORTED: "Not Supported",
    NOT_FOUND: "Not Found",
}
"""`nvmlReturn_t`."""
FIRST_HANDLE = 0x5EED
"""Handles of devices are numbers from here on."""
DRIVER = "580.0"
"""What the driver's version is said to be: that of the first with the driver API 13.0."""

nvml = FunctionTable()


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return table("nvml")


def load() -> FunctionTable:
    """Its functions."""
    return nvml


def failed(code: int) -> int:
    """What a call returns for an error code: those of the driver have others."""
    return {801: NOT_SUPPORTED, 3: UNINITIALIZED, 1: INVALID_ARGUMENT, 101: INVALID_ARGUMENT}.get(
        code, UNKNOWN
    )


def _device(machine: Machine, handle: int) -> VirtualDevice:
    return machine.device(handle - FIRST_HANDLE)


def _function(*names: str) -> Any:
    return nvml(*names, early=True)


@_function("nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown")
def initialised(machine: Machine, flags: int = 0) -> None:
    """There is nothing to be done."""


@nvml("nvmlErrorString", early=True)
def error_string(machine: Machine, code: int) -> int:
    """What a code says."""
    return lasting_text(TEXTS.get(code, "Unknown Error"))


@_function("nvmlSystemGetDriverVersion")
def driver_version(machine: Machine, place: int, size: int) -> None:
    """The version that goes with the driver API."""
    put_text(place, size, DRIVER)


@_function("nvmlSystemGetNVMLVersion")
def nvml_version(machine: Machine, place: int, size: int) -> None:
    """The same."""
    put_text(place, size, f"13.{DRIVER}")


@_function("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
def cuda_version(machine: Machine, place: int) -> None:
    """Of the driver API."""
    put(place, Int, VERSION)


@_function("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2")
def count(machine: Machine, place: int) -> None:
    """How many devices there are."""
    put(place, UInt, len(machine.devices))


@_function("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2")
def handle_by_index(machine: Machine, index: int, place: int) -> None:
    """The handle of a device."""
    put(place, Pointer, FIRST_HANDLE + machine.device(index).ordinal)


@_function("nvmlDeviceGetIndex", "nvmlDeviceGetMinorNumber")
def index_of(machine: Machine, handle: int, place: int) -> None:
    """The number of a device."""
    put(place, UInt, _device(machine, handle).ordinal)


@_function("nvmlDeviceGetName")
def name(machine: Machine, handle: int, place: int, size: int) -> None:
    """Its name."""
    put_text(place, size, _device(machine, handle).name)


@_function("nvmlDeviceGetUUID")
def uuid(machine: Machine, handle: int, place: int, size: int) -> None:
    """Its UUID, as the driver has it."""
    data = (b"ptxkit virtual " + bytes([_device(machine, handle).ordinal])).hex()
    parts = (data[:8], data[8:12], data[12:16], data[16:20], data[20:])
    put_text(place, size, f"GPU-{'-'.join(parts)}")


@_function("nvmlDeviceGetMemoryInfo")
def memory_info(machine: Machine, handle: int, place: int) -> None:
    """`nvmlMemory_t`: total, free and used bytes."""
    whole, used = _device(machine, handle).total_memory, machine.memory.used
    ctypes.memmove(place, bytes((Size * 3)(whole, whole - used, used)), 24)


@_function("nvmlDeviceGetCudaComputeCapability")
def capability(machine: Machine, handle: int, major: int, minor: int) -> None:
    """Its compute capability."""
    for place, number in zip((major, minor), _device(machine, handle).target.capability, strict=True):
        put(place, Int, number)


@_function("nvmlDeviceGetNumGpuCores")
def cores(machine: Machine, handle: int, place: int) -> None:
    """128 a multiprocessor, as newer parts have them."""
    put(place, UInt, 128 * device_attribute(_device(machine, handle), 16))
