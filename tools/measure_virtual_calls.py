"""Measure what calls of a virtual GPU's driver cost, and what a launch adds to the emulator's own.

    python tools/measure_virtual_calls.py [--output FILE] [--calls 2000]

Each call is measured alone, in microseconds of this thread's own time; the medians are written. Launches are
of an empty kernel of one CTA, by cuda.bindings and by `open_device("emu")`, in turn: a core that something
else makes slow for a while is slow for both.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver as cuda
from measuring import command_line, document, load_average, write

from ptxkit import open_device, virtual

NOTHING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 m, .param .u32 n)
{
    ret;
}
"""


def check(answer: tuple[Any, ...]) -> Any:
    """The result of a call that must succeed."""
    assert answer[0] == 0, answer[0]
    return answer[1] if len(answer) > 1 else None


def medians(works: Sequence[Callable[[], Any]], calls: int) -> list[float]:
    """Microseconds of this thread's time that each of several calls takes, called in turn."""
    found: list[list[int]] = [[] for _ in works]
    for _ in range(calls):
        for work, times in zip(works, found, strict=True):
            start = time.thread_time_ns()
            work()
            times.append(time.thread_time_ns() - start)
    return [round(statistics.median(times) / 1000, 2) for times in found]


def median(work: Callable[[], Any], calls: int) -> float:
    """Microseconds of this thread's time that a call takes."""
    return medians([work], calls)[0]


def bookkeeping(calls: int) -> dict[str, float]:
    """The calls of a program between its launches."""
    stream, event = check(cuda.cuStreamCreate(0)), check(cuda.cuEventCreate(0))
    x = check(cuda.cuMemAlloc(4096))
    host = (ctypes.c_char * 4096)()
    address = ctypes.addressof(host)
    threads = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK

    def allocated() -> None:
        cuda.cuMemFree(cuda.cuMemAlloc(4096)[1])

    def streamed() -> None:
        cuda.cuStreamDestroy(cuda.cuStreamCreate(0)[1])

    def asked(question: Callable[[], Any]) -> float:
        """Of what has nothing left to do."""
        cuda.cuCtxSynchronize()
        return median(question, calls)

    return {
        "cuDeviceGetAttribute": median(lambda: cuda.cuDeviceGetAttribute(threads, 0), calls),
        "cuCtxGetCurrent": median(cuda.cuCtxGetCurrent, calls),
        "cuMemAlloc and cuMemFree": median(allocated, calls),
        "cuMemcpyHtoD, 4 KiB": median(lambda: cuda.cuMemcpyHtoD(x, address, 4096), calls),
        "cuMemcpyDtoH, 4 KiB": median(lambda: cuda.cuMemcpyDtoH(address, x, 4096), calls),
        "cuMemsetD32Async, 4 KiB": median(lambda: cuda.cuMemsetD32Async(x, 0, 1024, stream), calls),
        "cuStreamCreate and cuStreamDestroy": median(streamed, calls),
        "cuStreamQuery": asked(lambda: cuda.cuStreamQuery(stream)),
        "cuEventRecord": median(lambda: cuda.cuEventRecord(event, stream), calls),
        "cuEventQuery": asked(lambda: cuda.cuEventQuery(event)),
    }


def launches(calls: int) -> dict[str, float]:
    """An empty kernel, launched and waited for."""
    module = check(cuda.cuModuleLoadData(NOTHING.encode()))
    kernel = check(cuda.cuModuleGetFunction(module, b"nothing"))
    given = ((0, 0, 1, 2), (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint, ctypes.c_uint))

    def launch() -> None:
        cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, given, 0)
        cuda.cuStreamSynchronize(0)

    own = open_device("emu", arch="sm_90a").load(NOTHING).kernel()

    def own_launch() -> None:
        own.launch(grid=1, block=32, args=[0, 0, 1, 2])

    virtually, plainly = medians([launch, own_launch], calls)
    return {"by the driver API": virtually, "by open_device": plainly}


def main() -> None:
    parser = command_line(__doc__, "virtual_calls.json")
    parser.add_argument("--calls", type=int, default=2000)
    given = parser.parse_args()
    virtual.install(arch="sm_90a")
    check(cuda.cuInit(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(0))))
    figures = {"calls": bookkeeping(given.calls), "launches": launches(given.calls // 4)}
    for name, found in figures.items():
        for call, microseconds in found.items():
            print(f"{name}: {call}: {microseconds} us")
    write(given.output, document("virtual_calls", load_average=load_average(), **figures))


if __name__ == "__main__":
    main()
