"""Functions of the runtime that do what a function of the driver does, with the same arguments."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import state

ANYWHERE = """
cudaDriverGetVersion cuDriverGetVersion
cudaRuntimeGetVersion cuDriverGetVersion
cudaGetDeviceCount cuDeviceGetCount
cudaDeviceGetAttribute cuDeviceGetAttribute
cudaDeviceGetByPCIBusId cuDeviceGetByPCIBusId
cudaDeviceGetPCIBusId cuDeviceGetPCIBusId
cudaDeviceCanAccessPeer cuDeviceCanAccessPeer
cudaDeviceGetP2PAttribute cuDeviceGetP2PAttribute
cudaDeviceGetDefaultMemPool cuDeviceGetDefaultMemPool
cudaDeviceGetMemPool cuDeviceGetMemPool
cudaDeviceSetMemPool cuDeviceSetMemPool
"""
"""Those that need no context."""

IN_A_CONTEXT = """
cudaDeviceSynchronize cuCtxSynchronize
cudaDeviceGetLimit cuCtxGetLimit
cudaDeviceSetLimit cuCtxSetLimit
cudaDeviceGetCacheConfig cuCtxGetCacheConfig
cudaDeviceSetCacheConfig cuCtxSetCacheConfig
cudaDeviceGetSharedMemConfig cuCtxGetSharedMemConfig
cudaDeviceSetSharedMemConfig cuCtxSetSharedMemConfig
cudaDeviceGetStreamPriorityRange cuCtxGetStreamPriorityRange
cudaCtxResetPersistingL2Cache cuCtxResetPersistingL2Cache
cudaProfilerStart cuProfilerStart
cudaProfilerStop cuProfilerStop
cudaMallocManaged cuMemAllocManaged
cudaMallocHost cuMemAllocHost_v2
cudaHostAlloc cuMemHostAlloc
cudaFreeHost cuMemFreeHost
cudaHostRegister cuMemHostRegister_v2
cudaHostUnregister cuMemHostUnregister
cudaHostGetDevicePointer cuMemHostGetDevicePointer_v2
cudaHostGetFlags cuMemHostGetFlags
cudaFree cuMemFree_v2
cudaMemGetInfo cuMemGetInfo_v2
cudaMallocAsync cuMemAllocAsync
cudaMallocFromPoolAsync cuMemAllocFromPoolAsync
cudaFreeAsync cuMemFreeAsync
cudaMemPoolCreate cuMemPoolCreate
cudaMemPoolDestroy cuMemPoolDestroy
cudaMemPoolTrimTo cuMemPoolTrimTo
cudaMemPoolGetAttribute cuMemPoolGetAttribute
cudaMemPoolSetAttribute cuMemPoolSetAttribute
cudaMemPoolGetAccess cuMemPoolGetAccess
cudaMemPoolSetAccess cuMemPoolSetAccess
cudaMemAdvise cuMemAdvise_v2
cudaMemPrefetchAsync cuMemPrefetchAsync_v2
cudaStreamCreateWithFlags cuStreamCreate
cudaStreamCreateWithPriority cuStreamCreateWithPriority
cudaStreamDestroy cuStreamDestroy_v2
cudaStreamSynchronize cuStreamSynchronize
cudaStreamQuery cuStreamQuery
cudaStreamWaitEvent cuStreamWaitEvent
cudaStreamGetFlags cuStreamGetFlags
cudaStreamGetPriority cuStreamGetPriority
cudaStreamGetId cuStreamGetId
cudaStreamGetDevice cuStreamGetDevice
cudaStreamAddCallback cuStreamAddCallback
cudaStreamAttachMemAsync cuStreamAttachMemAsync
cudaStreamSetAttribute cuStreamSetAttribute
cudaStreamGetAttribute cuStreamGetAttribute
cudaStreamCopyAttributes cuStreamCopyAttributes
cudaLaunchHostFunc cuLaunchHostFunc
cudaLaunchHostFunc_v2 cuLaunchHostFunc_v2
cudaEventCreateWithFlags cuEventCreate
cudaEventDestroy cuEventDestroy_v2
cudaEventRecord cuEventRecord
cudaEventRecordWithFlags cuEventRecordWithFlags
cudaEventSynchronize cuEventSynchronize
cudaEventQuery cuEventQuery
cudaEventElapsedTime cuEventElapsedTime_v2
cudaLibraryLoadData cuLibraryLoadData
cudaLibraryLoadFromFile cuLibraryLoadFromFile
cudaLibraryUnload cuLibraryUnload
cudaLibraryGetKernel cuLibraryGetKernel
cudaLibraryGetKernelCount cuLibraryGetKernelCount
cudaLibraryEnumerateKernels cuLibraryEnumerateKernels
cudaLibraryGetGlobal cuLibraryGetGlobal
cudaLibraryGetManaged cuLibraryGetManaged
"""


def _register(name: str, of_driver: str, needs_context: bool) -> None:
    function = driver.by_name[of_driver]

    def call(machine: Machine, *arguments: Any) -> None:
        if needs_context:
            state.context(machine)
        function(machine, *arguments)

    runtime(name)(call)


for _table, _needs in ((ANYWHERE, False), (IN_A_CONTEXT, True)):
    for _name, _of_driver in (line.split() for line in _table.split("\n") if line):
        _register(_name, _of_driver, _needs)
