"""Three tests of somebody's: the second one's kernel goes beyond its memory, and nobody looks."""

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def next_of(size: int) -> int:
    begin()
    x, y = check(cuda.cuMemAlloc(4 * SIZE)), check(cuda.cuMemAlloc(size))
    check(cuda.cuMemsetD32(x, 1, SIZE))
    launch(kernel(), x, y)
    return int(y)


def test_right() -> None:
    result = np.empty(SIZE, np.uint32)
    check(cuda.cuMemcpyDtoH(result.ctypes.data, next_of(4 * SIZE), result.nbytes))
    assert (result == 2).all()


def test_beyond() -> None:
    next_of(2 * SIZE)


def test_still_right() -> None:
    test_right()
