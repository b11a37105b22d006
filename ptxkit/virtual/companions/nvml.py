"""`libnvidia-ml.so.1`: what devices there are, how much memory they have. NVML's manual."""

from __future__ import annotations

import ctypes
import os
from functools import wraps
from pathlib import Path
from typing import Any

from ptxkit.virtual.abi import Int, Pointer, Size, UInt, get, lasting_text, put, put_several, put_text, text
from ptxkit.virtual.dispatch import FunctionTable, Implementation
from ptxkit.virtual.driver.initialization import VERSION
from ptxkit.virtual.gpu.attributes import device_attribute
from ptxkit.virtual.gpu.device import VirtualDevice
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure
from ptxkit.virtual.symbols import ExportedSymbol, table

SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 0, 1, 2, 3, 4, 6
UNKNOWN = 999
TEXTS = {
    SUCCESS: "Success",
    UNINITIALIZED: "Uninitialized",
    INVALID_ARGUMENT: "Invalid Argument",
    NOT_SUPPORTED: "Not Supported",
    NO_PERMISSION: "Insufficient Permissions",
    NOT_FOUND: "Not Found",
}
"""`nvmlReturn_t`."""
FIRST_HANDLE = 0x5EED
"""Handles of devices are numbers from here on."""
PCI_DEVICE = 0x10DE
"""NVIDIA as the vendor, and no number of a product."""
ARCHITECTURES = {
    (7, 5): 6,
    (8, 0): 7,
    (8, 6): 7,
    (8, 7): 7,
    (8, 9): 8,
    (9, 0): 9,
    (10, 0): 10,
    (10, 3): 10,
    (12, 0): 10,
    (12, 1): 10,
}
"""`nvmlDeviceArchitecture_t` of a compute capability."""
DRIVER = "580.0"
"""What the driver's version is said to be: that of the first with the driver API 13.0."""

nvml = FunctionTable()


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    return table("nvml")


def load() -> FunctionTable:
    """Its functions."""
    return nvml


CODES = {
    1: INVALID_ARGUMENT,
    3: UNINITIALIZED,
    101: INVALID_ARGUMENT,
    500: NOT_FOUND,
    800: NO_PERMISSION,
    801: NOT_SUPPORTED,
}
"""Errors of the driver as NVML has them."""


def failed(code: int) -> int:
    """What a call returns for an error code of the driver."""
    return CODES.get(code, UNKNOWN)


def _device(machine: Machine, handle: int) -> VirtualDevice:
    return machine.device(handle - FIRST_HANDLE)


_users = 0
"""How often the library was initialised and not shut down."""


def _function(*names: str) -> Any:
    """Register a function that may be called once the library is initialised, whatever the driver is."""

    def register(function: Implementation) -> Implementation:
        @wraps(function)
        def call(machine: Machine, *arguments: int) -> None:
            if not _users:
                raise failure("NOT_INITIALIZED")
            function(machine, *arguments)

        nvml(*names, early=True)(call)
        return function

    return register


@nvml("nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", early=True)
def initialise(machine: Machine, flags: int = 0) -> None:
    """One user more."""
    global _users
    _users += 1


@_function("nvmlShutdown")
def shut_down(machine: Machine) -> None:
    """One user less."""
    global _users
    _users -= 1


@nvml("nvmlErrorString", early=True)
def error_string(machine: Machine, code: int) -> int:
    """What a code says."""
    return lasting_text(TEXTS.get(code, "Unknown Error"))


@_function("nvmlSystemGetDriverVersion")
def driver_version(machine: Machine, place: int, size: int) -> None:
    """The version that goes with the driver API."""
    put_text(place, size, DRIVER)


@_function("nvmlSystemGetDriverBranch")
def driver_branch(machine: Machine, place: int, size: int) -> None:
    """`nvmlSystemDriverBranchInfo_t`: its version, then the name."""
    put_text(place + 4, min(size, 80), f"r{DRIVER.partition('.')[0]}_00")


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


def _uuid(ordinal: int) -> str:
    data = (b"ptxkit virtual " + bytes([ordinal])).hex()
    parts = (data[:8], data[8:12], data[12:16], data[16:20], data[20:])
    return f"GPU-{'-'.join(parts)}"


@_function("nvmlDeviceGetUUID")
def uuid(machine: Machine, handle: int, place: int, size: int) -> None:
    """Its UUID, as the driver has it."""
    put_text(place, size, _uuid(_device(machine, handle).ordinal))


def _put_handle(machine: Machine, place: int, names: list[str], wanted: str) -> None:
    if wanted not in names:
        raise failure("NOT_FOUND", f"there is no device `{wanted}`")
    put(place, Pointer, FIRST_HANDLE + names.index(wanted))


@_function("nvmlDeviceGetHandleByUUID")
def handle_by_uuid(machine: Machine, wanted: int, place: int) -> None:
    """The device of a UUID, with or without the `GPU-` before it."""
    given = f"GPU-{text(wanted).removeprefix('GPU-')}"
    _put_handle(machine, place, [_uuid(device.ordinal) for device in machine.devices], given)


@_function("nvmlDeviceGetHandleByUUIDV")
def handle_by_uuid_structure(machine: Machine, wanted: int, place: int) -> None:
    """`nvmlUUID_t`: its version, whether it is text (1), and the text."""
    if get(wanted + 4, UInt) != 1:
        raise failure("NOT_SUPPORTED", "UUIDs that are bytes")
    handle_by_uuid(machine, wanted + 8, place)


def _bus(device: VirtualDevice) -> int:
    return device_attribute(device, 33)


def _bus_name(device: VirtualDevice) -> str:
    return f"00000000:{_bus(device):02X}:00.0"


@_function("nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByPciBusId_v2")
def handle_by_bus(machine: Machine, wanted: int, place: int) -> None:
    """The device on a bus, `00000000:01:00.0`; fewer digits of the domain will do."""
    domain, _, rest = text(wanted).upper().partition(":")
    given = f"{domain.rjust(8, '0')}:{rest}"
    _put_handle(machine, place, [_bus_name(device) for device in machine.devices], given)


@_function("nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3")
def pci_info(machine: Machine, handle: int, place: int) -> None:
    """`nvmlPciInfo_t`: the bus in the old form, domain, bus, device, what it is, and the bus."""
    device = _device(machine, handle)
    put_text(place, 16, _bus_name(device)[4:])
    put_several(place + 16, UInt, [0, _bus(device), 0, PCI_DEVICE, 0])
    put_text(place + 36, 32, _bus_name(device))


@_function("nvmlDeviceGetPciInfoExt")
def pci_info_ext(machine: Machine, handle: int, place: int) -> None:
    """`nvmlPciInfoExt_v1_t`: its version, domain, bus, device, what it is, its classes (a 3D controller), and
    the bus."""
    device = _device(machine, handle)
    put_several(place + 4, UInt, [0, _bus(device), 0, PCI_DEVICE, 0, 3, 2])
    put_text(place + 32, 32, _bus_name(device))


@_function("nvmlDeviceGetArchitecture")
def architecture(machine: Machine, handle: int, place: int) -> None:
    """`nvmlDeviceArchitecture_t`."""
    put(place, UInt, ARCHITECTURES.get(_device(machine, handle).target.capability, 0xFFFFFFFF))


@_function("nvmlDeviceGetMemoryInfo")
def memory_info(machine: Machine, handle: int, place: int) -> None:
    """`nvmlMemory_t`: total, free and used bytes."""
    whole, used = _device(machine, handle).total_memory, machine.memory.used
    ctypes.memmove(place, bytes((Size * 3)(whole, whole - used, used)), 24)


@_function("nvmlDeviceGetMemoryInfo_v2")
def memory_info_2(machine: Machine, handle: int, place: int) -> None:
    """`nvmlMemory_v2_t`: its version, total, reserved, free and used bytes."""
    whole, used = _device(machine, handle).total_memory, machine.memory.used
    put_several(place + 8, Size, [whole, 0, whole - used, used])


@_function("nvmlDeviceGetCudaComputeCapability")
def capability(machine: Machine, handle: int, major: int, minor: int) -> None:
    """Its compute capability."""
    for place, number in zip((major, minor), _device(machine, handle).target.capability, strict=True):
        put(place, Int, number)


@_function("nvmlDeviceGetNumGpuCores")
def cores(machine: Machine, handle: int, place: int) -> None:
    """128 a multiprocessor, as newer parts have them."""
    put(place, UInt, 128 * device_attribute(_device(machine, handle), 16))


NOTHING_HAPPENS = {
    "nvmlDeviceGetUtilizationRates": 2,  # of the multiprocessors, of memory
    "nvmlDeviceGetComputeMode": 1,
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetDisplayMode": 1,
    "nvmlDeviceGetDisplayActive": 1,
    "nvmlDeviceGetPerformanceState": 1,
    "nvmlDeviceGetNumFans": 1,
    "nvmlDeviceGetMaxMigDeviceCount": 1,
    "nvmlDeviceIsMigDeviceHandle": 1,
    "nvmlDeviceGetPcieReplayCounter": 1,
    "nvmlDeviceGetBrand": 1,
    "nvmlDeviceGetModuleId": 1,
    "nvmlDeviceGetVirtualizationMode": 1,
    "nvmlDeviceGetGridLicensableFeatures_v4": 2,
}
"""What is 0 of a virtual GPU, and how many numbers that are."""


def _zeros(count: int) -> Implementation:
    def call(machine: Machine, handle: int, place: int) -> None:
        _device(machine, handle)
        put_several(place, UInt, [0] * count)

    return call


for _name, _count in NOTHING_HAPPENS.items():
    _function(_name)(_zeros(_count))


@_function("nvmlDeviceGetCapabilities", "nvmlDeviceGetPdi")
def nothing_of_a_version(machine: Machine, handle: int, place: int) -> None:
    """Structures that begin with their version: no capability, no identifier of a module."""
    put_several(place + ctypes.sizeof(UInt), UInt, [0])


@_function("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3")
def running_processes(machine: Machine, handle: int, number: int, place: int) -> None:
    """Other processes have virtual GPUs of their own."""
    put(number, UInt, 0)


@_function("nvmlDeviceSetComputeMode", "nvmlDeviceSetPersistenceMode", "nvmlDeviceSetPowerManagementLimit_v2")
def not_permitted(machine: Machine, handle: int, *_: int) -> None:
    """What only an administrator may change."""
    raise failure("NOT_PERMITTED", "only an administrator may change that")


FIELD_BYTES, FIELD_RESULT = 40, 28
"""Of a `nvmlFieldValue_t`: its size, and where it says what came of the question."""


@_function("nvmlDeviceGetFieldValues", "nvmlDeviceClearFieldValues")
def field_values(machine: Machine, handle: int, number: int, place: int) -> None:
    """Counters and sensors of the hardware: there are none."""
    _device(machine, handle)
    for at in range(number):
        put(place + FIELD_BYTES * at + FIELD_RESULT, UInt, NOT_SUPPORTED)


@_function("nvmlDeviceGetP2PStatus")
def p2p_status(machine: Machine, handle: int, other: int, index: int, place: int) -> None:
    """Every device reaches every other one."""
    put(place, UInt, 0)


def _put_set(place: int, words: int, members: set[int]) -> None:
    bits = sum(1 << one for one in members if one < 64 * words)
    put_several(place, Size, [bits >> 64 * at & (1 << 64) - 1 for at in range(words)])


@_function("nvmlDeviceGetCpuAffinityWithinScope", "nvmlDeviceGetCpuAffinity")
def cpu_affinity(machine: Machine, handle: int, words: int, place: int, scope: int = 0) -> None:
    """Every processor that this process may use is as near as any other."""
    _put_set(place, words, os.sched_getaffinity(0))


@_function("nvmlDeviceGetMemoryAffinity")
def memory_affinity(machine: Machine, handle: int, words: int, place: int, scope: int) -> None:
    """The first node."""
    _put_set(place, words, {0})


@_function("nvmlSystemGetProcessName")
def process_name(machine: Machine, process: int, place: int, size: int) -> None:
    """What a process was started as."""
    try:
        name = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    except OSError:
        raise failure("NOT_FOUND", f"there is no process {process}") from None
    put_text(place, size, name)
