"""Registered memory where the system began this process's mappings as low as it ever does: it puts the
first at random within 1 TiB."""

import ctypes
import mmap

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

LOWEST = 0x7EFB_E000_0000
"""The end of a process's addresses without what the stack is given, 16 GiB, and the randomised 1 TiB."""
MAP_NORESERVE = 0x4000


def lower_the_mappings() -> mmap.mmap:
    """Take the addresses between `LOWEST` and what is mapped already."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    lowest = ctypes.addressof(ctypes.c_char.from_buffer(page))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    return mmap.mmap(-1, lowest - LOWEST, flags=flags)


def main() -> None:
    taken = lower_the_mappings()
    begin()
    function = kernel()
    source, target = np.zeros(1 << 20, np.uint32), np.zeros(1 << 20, np.uint32)
    assert target.ctypes.data < LOWEST, hex(target.ctypes.data)
    for array in (source, target):
        check(cuda.cuMemHostRegister(array.ctypes.data, array.nbytes, 0))
    launch(function, source.ctypes.data, target.ctypes.data)
    check(cuda.cuCtxSynchronize())
    assert (target[:SIZE] == 1).all()
    taken.close()
    print("right")


if __name__ == "__main__":
    main()
