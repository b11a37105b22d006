"""Device management."""

from __future__ import annotations

import ctypes
from typing import Any

from ptxkit.virtual.abi import Int, UInt, put
from ptxkit.virtual.gpu.attributes import device_attribute
from ptxkit.virtual.gpu.context import VirtualContext
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import state

PROPERTY_BYTES = 1008
"""Of a `cudaDeviceProp`."""

_TYPES = {"i": ctypes.c_int, "z": ctypes.c_size_t}

PROPERTIES = """
sharedMemPerBlock:z=8 regsPerBlock:i=12 warpSize:i=10 memPitch:z=11 maxThreadsPerBlock:i=1
maxThreadsDim:i=2,3,4 maxGridSize:i=5,6,7 totalConstMem:z=9 major:i=75 minor:i=76 textureAlignment:z=14
texturePitchAlignment:z=51 multiProcessorCount:i=16 integrated:i=18 canMapHostMemory:i=19
maxTexture1D:i=21 maxTexture1DMipmap:i=77 maxTexture2D:i=22,23 maxTexture2DMipmap:i=73,74
maxTexture2DLinear:i=70,71,72 maxTexture2DGather:i=45,46 maxTexture3D:i=24,25,26 maxTexture3DAlt:i=47,48,49
maxTextureCubemap:i=52 maxTexture1DLayered:i=42,43 maxTexture2DLayered:i=27,28,29
maxTextureCubemapLayered:i=53,54 maxSurface1D:i=55 maxSurface2D:i=56,57 maxSurface3D:i=58,59,60
maxSurface1DLayered:i=61,62 maxSurface2DLayered:i=63,64,65 maxSurfaceCubemap:i=66
maxSurfaceCubemapLayered:i=67,68 surfaceAlignment:z=30 concurrentKernels:i=31 ECCEnabled:i=32 pciBusID:i=33
pciDeviceID:i=34 pciDomainID:i=50 tccDriver:i=35 asyncEngineCount:i=40 unifiedAddressing:i=41
memoryBusWidth:i=37 l2CacheSize:i=38 persistingL2CacheMaxSize:i=108 maxThreadsPerMultiProcessor:i=39
streamPrioritiesSupported:i=78 globalL1CacheSupported:i=79 localL1CacheSupported:i=80
sharedMemPerMultiprocessor:z=81 regsPerMultiprocessor:i=82 managedMemory:i=83 isMultiGpuBoard:i=84
multiGpuBoardGroupID:i=85 hostNativeAtomicSupported:i=86 pageableMemoryAccess:i=88
concurrentManagedAccess:i=89 computePreemptionSupported:i=90 canUseHostPointerForRegisteredMem:i=91
cooperativeLaunch:i=95 sharedMemPerBlockOptin:z=97 pageableMemoryAccessUsesHostPageTables:i=100
directManagedMemAccessFromHost:i=101 maxBlocksPerMultiProcessor:i=106 accessPolicyMaxWindowSize:i=109
reservedSharedMemPerBlock:z=111 hostRegisterSupported:i=99 sparseCudaArraySupported:i=112
hostRegisterReadOnlySupported:i=113 timelineSemaphoreInteropSupported:i=114 memoryPoolsSupported:i=115
gpuDirectRDMASupported:i=116 gpuDirectRDMAFlushWritesOptions:i=117 gpuDirectRDMAWritesOrdering:i=118
memoryPoolSupportedHandleTypes:i=119 deferredMappingCudaArraySupported:i=121 ipcEventSupported:i=125
clusterLaunch:i=120 unifiedFunctionPointers:i=129 deviceNumaConfig:i=130 deviceNumaId:i=131 mpsEnabled:i=133
hostNumaId:i=134 gpuPciDeviceID:i=139 gpuPciSubsystemID:i=140 hostNumaMultinodeIpcSupported:i=143
"""
"""The fields of a `cudaDeviceProp` behind `totalGlobalMem`, in order: type, and the device attributes that
they are."""


def _structure() -> Any:
    fields: list[tuple[str, Any]] = [("name", ctypes.c_char * 256), ("uuid", ctypes.c_uint8 * 16)]
    fields += [
        ("luid", ctypes.c_uint8 * 8),
        ("luidDeviceNodeMask", UInt),
        ("totalGlobalMem", ctypes.c_size_t),
    ]
    for word in PROPERTIES.split():
        name, _, rest = word.partition(":")
        letter, _, attributes = rest.partition("=")
        count = attributes.count(",") + 1
        fields.append((name, _TYPES[letter] * count if count > 1 else _TYPES[letter]))
    return type("Properties", (ctypes.Structure,), {"_fields_": fields})


Properties = _structure()
"""`cudaDeviceProp` without what it reserves."""


@runtime("cudaGetDeviceProperties", "cudaGetDeviceProperties_v2")
def cudaGetDeviceProperties(machine: Machine, properties: int, device: int) -> None:
    one = machine.device(device)
    if not properties:
        raise failure("INVALID_VALUE", "the properties have no place")
    ctypes.memset(properties, 0, PROPERTY_BYTES)
    found = Properties.from_address(properties)
    found.name = one.name.encode()
    found.uuid[:] = b"ptxkit virtual " + bytes([device])
    found.totalGlobalMem = one.total_memory
    for word in PROPERTIES.split():
        name, _, rest = word.partition(":")
        numbers = [device_attribute(one, int(number)) for number in rest.partition("=")[2].split(",")]
        if len(numbers) == 1:
            setattr(found, name, numbers[0])
        else:
            getattr(found, name)[:] = numbers


@runtime()
def cudaGetDevice(machine: Machine, device: int) -> None:
    current = machine.current
    put(device, Int, current.device.ordinal if current is not None else state.thread.device)


def _set(machine: Machine, device: int) -> VirtualContext:
    one = machine.device(device)
    state.thread.device = device
    context = machine.primary(one) or machine.retain_primary(one)
    machine.stack[-1:] = [context]
    return context


@runtime()
def cudaSetDevice(machine: Machine, device: int) -> None:
    _set(machine, device).check()


@runtime()
def cudaInitDevice(machine: Machine, device: int, flags: int, device_flags: int) -> None:
    one = machine.device(device)
    if machine.primary(one) is None:
        machine.retain_primary(one)


@runtime("cudaSetValidDevices")
def cudaSetValidDevices(machine: Machine, devices: int, count: int) -> None:
    pass


@runtime()
def cudaChooseDevice(machine: Machine, device: int, properties: int) -> None:
    put(device, Int, 0)


@runtime()
def cudaDeviceReset(machine: Machine) -> None:
    current = (
        state.context(machine) if machine.current is None or not machine.current.lost else machine.current
    )
    machine.reset_primary(current.device)
    current.device.retained = 0


@runtime()
def cudaSetDeviceFlags(machine: Machine, flags: int) -> None:
    one = machine.device(state.thread.device)
    one.primary_flags = flags
    if (primary := machine.primary(one)) is not None:
        primary.flags = flags


@runtime()
def cudaGetDeviceFlags(machine: Machine, flags: int) -> None:
    put(flags, UInt, machine.device(state.thread.device).primary_flags)


# ---- peers


@runtime()
def cudaDeviceEnablePeerAccess(machine: Machine, peer: int, flags: int) -> None:
    context = state.context(machine)
    other = machine.device(peer)
    if flags or other is context.device:
        raise failure("INVALID_VALUE" if flags else "INVALID_DEVICE")
    context.enable_peer(peer)


@runtime()
def cudaDeviceDisablePeerAccess(machine: Machine, peer: int) -> None:
    context = state.context(machine)
    machine.device(peer)
    context.disable_peer(peer)
