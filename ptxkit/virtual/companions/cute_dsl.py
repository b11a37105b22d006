"""`libcute_dsl_runtime.so`: what the host code calls that CuTe DSL compiles.

Each of its functions `_cudaX` and `_cuX` does what `cudaX` or `cuX` does, with the same arguments, as the
declarations in the host code show: `Compiler.compile` gives that as text. NVIDIA's library has a CUDA runtime
of its own within it, which asks the driver for private tables.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.virtual import driver, runtime
from ptxkit.virtual.dispatch import FunctionTable
from ptxkit.virtual.runtime.state import failed
from ptxkit.virtual.symbols import ExportedSymbol, table

__all__ = ["cute_dsl", "failed", "load", "symbols"]

OF_THE_DRIVER = """
cuDeviceGet cuKernelGetAttribute cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetKernelCount
cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile
cuLibraryUnload
"""
OF_THE_RUNTIME = """
cudaDeviceGetAttribute cudaDeviceSynchronize cudaEventCreate cudaEventDestroy cudaEventElapsedTime
cudaEventRecord cudaFree cudaFreeAsync cudaFreeHost cudaFuncSetAttribute cudaGetDevice cudaGetDeviceCount
cudaGraphDestroy cudaGraphExecDestroy cudaGraphInstantiate cudaGraphLaunch cudaKernelSetAttributeForDevice
cudaLibraryGetGlobal cudaLibraryGetKernel cudaLibraryGetKernelCount cudaLibraryGetManaged
cudaLibraryGetUnifiedFunction cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload cudaMalloc
cudaMallocAsync cudaMallocHost cudaMallocManaged cudaMemcpy cudaMemcpyAsync cudaMemset cudaMemsetAsync
cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaSetDevice cudaStreamAddCallback cudaStreamBeginCapture
cudaStreamCreate cudaStreamDestroy cudaStreamEndCapture cudaStreamSynchronize cudaStreamWaitEvent
"""
CALLED_OTHERWISE = {
    "_cudaLaunchKernelEx": "cudaLaunchKernelExC",
    "cuda_dialect_get_error_name": "cudaGetErrorName",
}
"""What does the same as a function of the runtime with another name."""
NOTHING_YET = """
_cuTensorMapEncodeTiled _cudaGetDeviceProperties _cudaLaunchKernel _cudaProfilerStart _cudaProfilerStop
CuteDSLRT_Function_Run CuteDSLRT_GetErrorName CuteDSLRT_GetErrorString CuteDSLRT_Module_Create_From_Bytes
CuteDSLRT_Module_Destroy CuteDSLRT_Module_Get_Function CuteDSLRT_TVMFFISetRaisedCudaError
CuteDSLRT_TVMFFISetRaisedCudaLaunchError cuda_dialect_assert_success cuda_dialect_init_library_once
cuda_dialect_print_on_error cuda_dialect_unload_library_once
"""
"""What is exported so that host code which names it can be loaded: TVM FFI, functions from files."""

cute_dsl = FunctionTable()


def symbols() -> tuple[ExportedSymbol, ...]:
    """What the library exports."""
    known = {symbol.name: symbol for name in ("driver", "runtime") for symbol in table(name)}
    same = [known[theirs] for theirs in _functions().values()]
    found = [replace(one, name=name, version=0) for name, one in zip(_functions(), same, strict=True)]
    found += [ExportedSymbol(name, 0, (), declared=False) for name in NOTHING_YET.split()]
    return tuple(sorted(found, key=lambda symbol: symbol.name))


def _functions() -> dict[str, str]:
    """The function that each does the same as."""
    same = {f"_{name}": name for name in (*OF_THE_DRIVER.split(), *OF_THE_RUNTIME.split())}
    return same | CALLED_OTHERWISE


def load() -> FunctionTable:
    """Its functions."""
    for name, theirs in _functions().items():
        functions = (runtime if theirs.startswith("cuda") else driver).load()
        if theirs in functions.by_name:
            cute_dsl(name, early=theirs in functions.early)(functions.by_name[theirs])
    return cute_dsl
