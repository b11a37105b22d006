"""Functions of the runtime that do what a function of the driver does, with the same arguments."""

from __future__ import annotations

from typing import Any

from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.runtime import runtime
from ptxkit.virtual.runtime.state import state

ANYWHERE = """
cudaRuntimeGetVersion=cuDriverGetVersion cudaGetDeviceCount=cuDeviceGetCount cudaDriverGetVersion
cudaDeviceGetAttribute cudaDeviceGetByPCIBusId cudaDeviceGetPCIBusId cudaDeviceCanAccessPeer
cudaDeviceGetP2PAttribute cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute
cudaDeviceGraphMemTrim cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool cudaDeviceSetMemPool
"""
"""Those that need no context. `cudaX` is the newest `cuX` that the driver has; `=` names another one."""

IN_A_CONTEXT = """
cudaDeviceSynchronize=cuCtxSynchronize cudaDeviceGetLimit=cuCtxGetLimit cudaDeviceSetLimit=cuCtxSetLimit
cudaDeviceGetCacheConfig=cuCtxGetCacheConfig cudaDeviceSetCacheConfig=cuCtxSetCacheConfig
cudaDeviceGetSharedMemConfig=cuCtxGetSharedMemConfig cudaDeviceSetSharedMemConfig=cuCtxSetSharedMemConfig
cudaDeviceGetStreamPriorityRange=cuCtxGetStreamPriorityRange cudaMallocManaged=cuMemAllocManaged
cudaMallocHost=cuMemAllocHost_v2 cudaHostAlloc=cuMemHostAlloc cudaFreeHost=cuMemFreeHost
cudaHostRegister=cuMemHostRegister_v2 cudaHostUnregister=cuMemHostUnregister
cudaHostGetDevicePointer=cuMemHostGetDevicePointer_v2 cudaHostGetFlags=cuMemHostGetFlags
cudaFree=cuMemFree_v2 cudaMallocAsync=cuMemAllocAsync cudaMallocFromPoolAsync=cuMemAllocFromPoolAsync
cudaFreeAsync=cuMemFreeAsync cudaStreamCreateWithFlags=cuStreamCreate cudaLaunchHostFunc=cuLaunchHostFunc
cudaEventCreateWithFlags=cuEventCreate cudaGraphInstantiate=cuGraphInstantiateWithFlags
cudaFreeArray=cuArrayDestroy cudaFreeMipmappedArray=cuMipmappedArrayDestroy
cudaGetMipmappedArrayLevel=cuMipmappedArrayGetLevel cudaArrayGetMemoryRequirements
cudaMipmappedArrayGetMemoryRequirements cudaDestroyTextureObject=cuTexObjectDestroy
cudaDestroySurfaceObject=cuSurfObjectDestroy
cudaCtxResetPersistingL2Cache cudaProfilerStart cudaProfilerStop cudaMemGetInfo cudaMemPoolCreate
cudaMemPoolDestroy cudaMemPoolTrimTo cudaMemPoolGetAttribute cudaMemPoolSetAttribute cudaMemPoolGetAccess
cudaMemPoolSetAccess cudaMemAdvise cudaMemPrefetchAsync
cudaMemPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemDiscardAndPrefetchBatchAsync
cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaMemGetDefaultMemPool cudaMemGetMemPool
cudaMemSetMemPool cudaStreamCreateWithPriority cudaStreamDestroy
cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent cudaStreamGetFlags cudaStreamGetPriority
cudaStreamGetId cudaStreamGetDevice cudaStreamAddCallback cudaStreamAttachMemAsync cudaStreamSetAttribute
cudaStreamGetAttribute cudaStreamCopyAttributes cudaLaunchHostFunc_v2 cudaEventDestroy cudaEventRecord
cudaEventRecordWithFlags cudaEventSynchronize cudaEventQuery cudaEventElapsedTime cudaLibraryLoadData
cudaLibraryLoadFromFile cudaLibraryUnload cudaLibraryGetKernel cudaLibraryGetKernelCount
cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetManaged cudaStreamBeginCapture
cudaStreamBeginCaptureToGraph cudaStreamEndCapture cudaStreamIsCapturing cudaStreamGetCaptureInfo
cudaStreamUpdateCaptureDependencies cudaThreadExchangeStreamCaptureMode cudaGraphCreate cudaGraphDestroy
cudaGraphDestroyNode cudaGraphClone cudaGraphNodeGetType cudaGraphNodeFindInClone cudaGraphGetNodes
cudaGraphGetRootNodes cudaGraphGetEdges cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes
cudaGraphAddDependencies cudaGraphRemoveDependencies cudaGraphDebugDotPrint cudaGraphInstantiateWithFlags
cudaGraphInstantiateWithParams cudaGraphLaunch cudaGraphUpload cudaGraphExecDestroy cudaGraphExecGetFlags
cudaGraphExecUpdate cudaGraphNodeSetEnabled cudaGraphNodeGetEnabled cudaGraphAddEmptyNode
cudaGraphAddHostNode cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams cudaGraphExecHostNodeSetParams
cudaGraphAddMemsetNode cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams
cudaGraphExecMemsetNodeSetParams cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeSetAttribute
cudaGraphAddChildGraphNode cudaGraphChildGraphNodeGetGraph cudaGraphExecChildGraphNodeSetParams
cudaGraphAddEventRecordNode cudaGraphEventRecordNodeGetEvent cudaGraphEventRecordNodeSetEvent
cudaGraphExecEventRecordNodeSetEvent cudaGraphAddEventWaitNode cudaGraphEventWaitNodeGetEvent
cudaGraphEventWaitNodeSetEvent cudaGraphExecEventWaitNodeSetEvent cudaUserObjectCreate cudaUserObjectRetain
cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams
cudaUserObjectRelease cudaGraphRetainUserObject cudaGraphReleaseUserObject
"""


def of_driver(name: str) -> str:
    """The driver's function that is called like one of the runtime, in its newest revision."""
    base = f"cu{name.removeprefix('cuda')}"
    return next(known for known in (f"{base}_v3", f"{base}_v2", base) if known in driver.by_name)


def _register(name: str, theirs: str, needs_context: bool) -> None:
    function = driver.by_name[theirs or of_driver(name)]

    def call(machine: Machine, *arguments: Any) -> None:
        if needs_context:
            state.context(machine)
        function(machine, *arguments)

    runtime(name)(call)


for _table, _needs in ((ANYWHERE, False), (IN_A_CONTEXT, True)):
    for _word in _table.split():
        _name, _, _theirs = _word.partition("=")
        _register(_name, _theirs, _needs)
