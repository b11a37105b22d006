"""Two streams, the second of which needs what the first one makes. Prints what came out.

`streams.py event` waits for it, `streams.py nothing` does not, `streams.py default` uses blocking streams and
the legacy default stream.
"""

import ctypes
import sys

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def main(how: str) -> None:
    begin()
    function = kernel()
    flags = 0 if how == "default" else cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
    first, second = (check(cuda.cuStreamCreate(flags)) for _ in range(2))
    x, y, z = (check(cuda.cuMemAlloc(4 * SIZE)) for _ in range(3))
    for address in (x, y, z):
        check(cuda.cuMemsetD32(address, 0, SIZE))
    check(cuda.cuCtxSynchronize())
    launch(function, x, y, first)
    if how == "event":
        event = check(cuda.cuEventCreate(0))
        check(cuda.cuEventRecord(event, first))
        check(cuda.cuStreamWaitEvent(second, event, 0))
    launch(function, y, z, 0 if how == "default" else second)
    result = np.zeros(SIZE, np.uint32)
    called: list[int] = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(data or 0))
    last = 0 if how == "default" else second
    check(cuda.cuLaunchHostFunc(last, ctypes.cast(note, ctypes.c_void_p).value, 7))
    check(cuda.cuMemcpyDtoHAsync(result.ctypes.data, z, 4 * SIZE, last))
    check(cuda.cuStreamSynchronize(last))
    assert called == [7]
    assert (result == result[0]).all()
    print(result[0])


if __name__ == "__main__":
    main(sys.argv[1])
