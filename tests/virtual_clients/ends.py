"""A program that reads beyond its memory, and ends by a signal, by `abort`, at once or in order."""

import os
import signal
import sys

from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch


def main(how: str) -> None:
    begin()
    x, y = check(cuda.cuMemAlloc(2 * SIZE)), check(cuda.cuMemAlloc(4 * SIZE))
    check(cuda.cuMemsetD8(x, 1, 2 * SIZE))
    launch(kernel(), x, y)
    assert int(cuda.cuCtxSynchronize()[0]) == 700
    if how == "abort":
        os.abort()
    if how == "at_once":
        os._exit(7)
    if how == "in_order":
        sys.exit(7)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), getattr(signal, how))


if __name__ == "__main__":
    main(sys.argv[1])
