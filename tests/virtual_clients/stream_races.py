"""Work of two streams on one buffer, ordered or not: `stream_races.py CASE ..`."""

import sys
from collections.abc import Callable
from ctypes import c_uint64

from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

ADD = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 sum)
{
    .reg .b64 %rd1;
    ld.param.u64 %rd1, [sum];
    red.relaxed.gpu.global.add.u32 [%rd1], 1;
    ret;
}
"""
BYTES = 4 * SIZE
CASES: dict[str, Callable[[], None]] = {}

begin()
NEXT = kernel()
FIRST, SECOND = (check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
X, Y, Z = (int(check(cuda.cuMemAlloc(BYTES))) for _ in range(3))
for _address in (X, Y, Z):
    check(cuda.cuMemsetD32(_address, 0, SIZE))
check(cuda.cuCtxSynchronize())


def case(function: Callable[[], None]) -> Callable[[], None]:
    CASES[function.__name__] = function
    return function


@case
def halves() -> None:
    """Kernels read one half of a buffer while copies fill the other."""
    launch_half(X, Y, FIRST)
    check(cuda.cuMemcpyDtoDAsync(X + BYTES // 2, Z, BYTES // 2, SECOND))


@case
def overlapping_halves() -> None:
    """The copy begins a byte too early."""
    launch_half(X, Y, FIRST)
    check(cuda.cuMemcpyDtoDAsync(X + BYTES // 2 - 4, Z, BYTES // 2, SECOND))


def launch_half(x: int, y: int, stream: object) -> None:
    check(cuda.cuLaunchKernel(NEXT, 2, 1, 1, 256, 1, 1, 0, stream, ((x, y), (c_uint64, c_uint64)), 0))


@case
def two_readers() -> None:
    launch(NEXT, X, Y, FIRST)
    launch(NEXT, X, Z, SECOND)


@case
def two_fills() -> None:
    check(cuda.cuMemsetD32Async(X, 1, SIZE, FIRST))
    check(cuda.cuMemsetD32Async(X + BYTES - 4, 2, 1, SECOND))


@case
def waited_for() -> None:
    launch(NEXT, X, Y, FIRST)
    check(cuda.cuStreamSynchronize(FIRST))
    launch(NEXT, Y, Z, SECOND)


@case
def asked_for() -> None:
    """Until the event has come."""
    launch(NEXT, X, Y, FIRST)
    event = check(cuda.cuEventCreate(0))
    check(cuda.cuEventRecord(event, FIRST))
    while cuda.cuEventQuery(event)[0] != cuda.CUresult.CUDA_SUCCESS:
        pass
    launch(NEXT, Y, Z, SECOND)


@case
def event_before_the_work() -> None:
    """The event is recorded too early, so that it stands for nothing."""
    event = check(cuda.cuEventCreate(0))
    check(cuda.cuEventRecord(event, FIRST))
    launch(NEXT, X, Y, FIRST)
    check(cuda.cuStreamWaitEvent(SECOND, event, 0))
    launch(NEXT, Y, Z, SECOND)


@case
def other_way_round() -> None:
    """What is read is written anew before the reader has it."""
    launch(NEXT, Y, Z, SECOND)
    launch(NEXT, X, Y, FIRST)


@case
def default_stream() -> None:
    """A stream that is not blocking does not wait for the default one."""
    launch(NEXT, X, Y, 0)
    launch(NEXT, Y, Z, SECOND)


@case
def atomics() -> None:
    add = check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(ADD)), b"add"))
    for stream in (FIRST, SECOND):
        check(cuda.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, ((X,), (c_uint64,)), 0))


@case
def branches_of_a_graph() -> None:
    """Two nodes that nothing puts behind each other."""
    graph = check(cuda.cuGraphCreate(0))
    for value in (1, 2):
        node = cuda.CUDA_MEMSET_NODE_PARAMS()
        node.dst, node.value, node.elementSize, node.width, node.height = X, value, 4, SIZE, 1
        check(cuda.cuGraphAddMemsetNode(graph, None, 0, node, check(cuda.cuCtxGetCurrent())))
    check(cuda.cuGraphLaunch(check(cuda.cuGraphInstantiate(graph, 0)), FIRST))


@case
def joined_by_a_capture() -> None:
    """A fork and a join, captured."""
    begun, done = (check(cuda.cuEventCreate(0)) for _ in range(2))
    check(cuda.cuStreamBeginCapture(FIRST, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    launch(NEXT, X, Y, FIRST)
    check(cuda.cuEventRecord(begun, FIRST))
    check(cuda.cuStreamWaitEvent(SECOND, begun, 0))
    launch(NEXT, Y, Z, SECOND)
    check(cuda.cuEventRecord(done, SECOND))
    check(cuda.cuStreamWaitEvent(FIRST, done, 0))
    launch(NEXT, Z, X, FIRST)
    check(cuda.cuGraphLaunch(check(cuda.cuGraphInstantiate(check(cuda.cuStreamEndCapture(FIRST)), 0)), FIRST))


@case
def many_streams() -> None:
    """Each has its own part."""
    streams = [check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(8)]
    for turn in range(3):
        for at, stream in enumerate(streams):
            part = BYTES // 8
            check(cuda.cuMemsetD32Async(X + at * part, turn, SIZE // 8, stream))
            check(cuda.cuMemcpyDtoDAsync(Y + at * part, X + at * part, part, stream))


if __name__ == "__main__":
    for _name in sys.argv[1:]:
        print(f"{_name}:", file=sys.stderr, flush=True)
        CASES[_name]()
        check(cuda.cuCtxSynchronize())
