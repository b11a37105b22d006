"""Calls that are wrong, and what the driver answers: a line each, `what: code`."""

import ctypes
import threading

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT, begin, kernel


def answers() -> dict[str, int]:
    """The code of each wrong call."""
    found: dict[str, int] = {}

    def note(what: str, answer: tuple[object, ...]) -> None:
        found[what] = int(answer[0])  # type: ignore[call-overload]

    note("a call before cuInit", cuda.cuDeviceGetCount())
    check(cuda.cuInit(0))
    note("flags of cuInit", cuda.cuInit(1))
    note("a device that is not there", cuda.cuDeviceGet(99))
    note("an attribute that is not there", cuda.cuDeviceGetAttribute(9999, 0))
    note("an allocation without a context", cuda.cuMemAlloc(16))
    note("a pop of nothing", cuda.cuCtxPopCurrent())
    library = check(cuda.cuLibraryLoadData(NEXT, None, None, 0, None, None, 0))
    known = cuda.cuLibraryGetKernel(library, b"next")
    note("a kernel of a library without a context", known)
    note("another one, that is not there", cuda.cuLibraryGetKernel(library, b"last"))
    note("its function without a context", cuda.cuKernelGetFunction(known[1]))
    begin()
    note("an allocation of nothing", cuda.cuMemAlloc(0))
    note("more memory than there is", cuda.cuMemAlloc(1 << 50))
    address = check(cuda.cuMemAlloc(1024))
    numbers = np.zeros(4096, np.uint8)
    note("a free of another address", cuda.cuMemFree(int(address) + 4))
    note("a copy beyond the end", cuda.cuMemcpyHtoD(address, numbers.ctypes.data, 2048))
    note("a copy from beyond the end", cuda.cuMemcpyDtoH(numbers.ctypes.data, address, 2048))
    note("a copy to the host's memory as a device's", cuda.cuMemcpyHtoD(numbers.ctypes.data, address, 16))
    note("a set of misaligned elements", cuda.cuMemsetD32(int(address) + 2, 0, 4))
    check(cuda.cuMemFree(address))
    note("a second free", cuda.cuMemFree(address))
    note("a copy to freed memory", cuda.cuMemcpyHtoD(address, numbers.ctypes.data, 16))
    note("a free of null", cuda.cuMemFree(0))
    note("PTX that is none", cuda.cuModuleLoadData(b".version 8.0\n.target sm_80\n.nonsense\n"))
    note("an image that is none", cuda.cuModuleLoadData(b"nothing of the kind"))
    note("machine code", cuda.cuModuleLoadData(b"\x7fELF" + bytes(60)))
    future = b".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n"
    note("PTX for another GPU", cuda.cuModuleLoadData(future))
    function = kernel()
    module = check(cuda.cuFuncGetModule(function))
    note("a kernel that is not there", cuda.cuModuleGetFunction(module, b"none"))
    note("a variable that is not there", cuda.cuModuleGetGlobal(module, b"none"))
    given = ((0, 0), (ctypes.c_uint64, ctypes.c_uint64))
    for what, grid, block, shared in (
        ("a CTA of too many threads", 1, 2048, 0),
        ("an empty grid", 0, 32, 0),
        ("too much shared memory", 1, 32, 1 << 20),
        ("shared memory without opting in", 1, 32, 64 << 10),
    ):
        note(what, cuda.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, 0, given, 0))
    note("a launch without its parameters", cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0))
    note("flags of a stream", cuda.cuStreamCreate(77))
    stream = check(cuda.cuStreamCreate(0))
    check(cuda.cuStreamDestroy(stream))
    note("a stream that was destroyed", cuda.cuStreamSynchronize(stream))
    event, other = check(cuda.cuEventCreate(0)), check(cuda.cuEventCreate(2))
    note("the time of an event never recorded", cuda.cuEventElapsedTime(event, event))
    check(cuda.cuEventRecord(event, 0))
    check(cuda.cuEventRecord(other, 0))
    check(cuda.cuCtxSynchronize())
    note("the time of an event without timing", cuda.cuEventElapsedTime(event, other))
    check(cuda.cuEventDestroy(event))
    note("an event that was destroyed", cuda.cuEventRecord(event, 0))
    note("a capture of the legacy stream", cuda.cuStreamBeginCapture(0, cuda.CUstreamCaptureMode(0)))
    note(
        "the attribute of a pointer of the host",
        cuda.cuPointerGetAttribute(cuda.CUpointer_attribute(2), 4096),
    )
    note("the name of no kernel", cuda.cuKernelGetName(0))
    note("the name of no function", cuda.cuFuncGetName(0))
    note("an array of nothing", cuda.cuArrayCreate(cuda.CUDA_ARRAY_DESCRIPTOR()))
    pages = np.zeros(1 << 22, np.uint8)
    page = -(-pages.ctypes.data // 4096) * 4096
    assert cuda.cuMemHostRegister(page, 8192, 0) == (cuda.CUresult.CUDA_SUCCESS,)
    note("the inside of registered memory, no more", cuda.cuMemHostUnregister(page + 4096))
    note("memory that was not registered, no more", cuda.cuMemHostUnregister(page + (1 << 20)))
    threads: list[int] = []

    def elsewhere() -> None:
        threads.append(int(cuda.cuMemAlloc(16)[0]))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    found["an allocation in a thread without a context"] = threads[0]
    return found


if __name__ == "__main__":
    for what, code in answers().items():
        print(f"{what}: {code}")
