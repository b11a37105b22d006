"""The kernel on memory of every kind that the host sees; `host_memory.py plain`: on plain arrays, too."""

import ctypes
import sys

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def array_at(address: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint32 * SIZE).from_address(int(address)))


def main(how: str) -> None:
    begin()
    function = kernel()
    bytes_ = 4 * SIZE
    managed = int(check(cuda.cuMemAllocManaged(bytes_, cuda.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)))
    pinned = int(check(cuda.cuMemHostAlloc(bytes_, 0)))
    plain, other = np.zeros(SIZE, np.uint32), np.zeros(SIZE, np.uint32)
    check(cuda.cuMemHostRegister(plain.ctypes.data, plain.nbytes, 0))
    assert int(check(cuda.cuMemHostGetDevicePointer(pinned, 0))) == pinned
    array_at(managed)[:] = 1
    launch(function, managed, pinned)
    launch(function, pinned, plain.ctypes.data)
    check(cuda.cuCtxSynchronize())
    assert (array_at(pinned) == 2).all()
    assert (plain == 3).all()
    if how == "plain":
        launch(function, plain.ctypes.data, other.ctypes.data)
        check(cuda.cuCtxSynchronize())
        assert (other == 4).all()
    check(cuda.cuMemHostUnregister(plain.ctypes.data))
    check(cuda.cuMemFreeHost(pinned))
    check(cuda.cuMemFree(managed))
    print("right")


if __name__ == "__main__":
    main(sys.argv[1])
