"""Calls that need a context, without one."""

from __future__ import annotations

import threading

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT

from wrong_calls.fixtures import (
    GRANULARITY,
    Call,
    at,
    physical_properties,
    place,
    pool_properties,
    raw,
    text,
)


def begin() -> None:
    """The driver is initialised; there is no context."""
    check(cuda.cuInit(0))


def _in_a_thread(_: object) -> tuple[object, ...]:
    """An allocation in a thread that never made a context current, while another has."""
    found: list[tuple[object, ...]] = []
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(0))))
    thread = threading.Thread(target=lambda: found.append(cuda.cuMemAlloc(16)))
    thread.start()
    thread.join()
    check(cuda.cuCtxSetCurrent(0))
    return found[0]


def _kernel() -> object:
    library = check(cuda.cuLibraryLoadData(NEXT, None, None, 0, None, None, 0))
    return check(cuda.cuLibraryGetKernel(library, b"next"))


CALLS: dict[str, Call] = {
    "an allocation": lambda _: cuda.cuMemAlloc(16),
    "an allocation of nothing": lambda _: cuda.cuMemAlloc(0),
    "an allocation, nowhere": lambda _: raw("cuMemAlloc_v2", 0, 16),
    "a managed allocation": lambda _: raw("cuMemAllocManaged", place(), 16, 1),
    "a free of null": lambda _: cuda.cuMemFree(0),
    "a free of something": lambda _: cuda.cuMemFree(4096),
    "pinned memory": lambda _: cuda.cuMemHostAlloc(16, 0),
    "memory is registered": lambda _: raw("cuMemHostRegister_v2", place(), 16, 0),
    "how much memory is free": lambda _: cuda.cuMemGetInfo(),
    "a copy": lambda _: raw("cuMemcpy", 4096, 8192, 16),
    "a copy of nothing": lambda _: raw("cuMemcpyHtoD_v2", 0, 0, 0),
    "a set": lambda _: raw("cuMemsetD8_v2", 4096, 0, 16),
    "a pop": lambda _: cuda.cuCtxPopCurrent(),
    "a wait": lambda _: cuda.cuCtxSynchronize(),
    "the device of the context": lambda _: cuda.cuCtxGetDevice(),
    "the flags of the context": lambda _: cuda.cuCtxGetFlags(),
    "a limit": lambda _: raw("cuCtxGetLimit", place(), 0),
    "a limit that there is not": lambda _: raw("cuCtxGetLimit", place(), 77),
    "the priorities of streams": lambda _: cuda.cuCtxGetStreamPriorityRange(),
    "the number of the context": lambda _: raw("cuCtxGetId", 0, place()),
    "the API's version of the context": lambda _: raw("cuCtxGetApiVersion", 0, place()),
    "a stream": lambda _: cuda.cuStreamCreate(0),
    "a wait for the default stream": lambda _: raw("cuStreamSynchronize", 0),
    "a question for the default stream": lambda _: raw("cuStreamQuery", 0),
    "an event": lambda _: cuda.cuEventCreate(0),
    "an event is recorded that is none": lambda _: raw("cuEventRecord", 0, 0),
    "a module": lambda _: cuda.cuModuleLoadData(NEXT),
    "a module of a file that is not there": lambda _: raw("cuModuleLoad", place(), text(b"/nothing/there")),
    "a link": lambda _: raw("cuLinkCreate_v2", 0, 0, 0, place()),
    "a library": lambda _: raw("cuLibraryLoadData", place(), text(NEXT), 0, 0, 0, 0, 0, 0),
    "a kernel of a library that is not there": lambda _: raw("cuLibraryGetKernel", place(), 0, text(b"k")),
    "the function of a kernel": lambda _: raw("cuKernelGetFunction", place(), _kernel()),
    "an attribute of a kernel on a device": lambda _: raw("cuKernelGetAttribute", place(), 0, _kernel(), 0),
    "an array": lambda _: raw("cuArrayCreate_v2", place(), place(16, 0, 16, 0, 0x20, 1)),
    "a graph": lambda _: raw("cuGraphCreate", place(), 0),
    "a graph with flags": lambda _: raw("cuGraphCreate", place(), 1),
    "a pool": lambda _: raw("cuMemPoolCreate", place(), at(pool_properties())),
    "an allocation of the default stream": lambda _: cuda.cuMemAllocAsync(16, 0),
    "physical memory": lambda _: raw("cuMemCreate", place(), GRANULARITY, at(physical_properties()), 0),
    "a reservation of addresses": lambda _: raw("cuMemAddressReserve", place(), GRANULARITY, 0, 0, 0),
    "an attribute of a pointer": lambda _: raw("cuPointerGetAttribute", place(), 2, 4096),
    "a launch of nothing": lambda _: raw("cuLaunchKernel", 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
    "a host's function": lambda _: raw("cuLaunchHostFunc", 0, 0, 0),
    "a capture of the thread's stream": lambda _: raw("cuStreamBeginCapture_v2", 2, 0),
    "the profiler starts": lambda _: raw("cuProfilerStart"),
    "an allocation in a thread without a context": _in_a_thread,
}
