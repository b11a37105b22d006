"""Processes forked while the driver is at work, which end like any other: `forks.py pending|busy`."""

import os
import sys
import threading
import time
from typing import Any

from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

CHILDREN, PATIENCE = 12, 20
"""How many are forked, and the seconds that each has."""
NOT_INITIALISED = 3


def fork(code: int | None) -> None:
    """A child that ends as a program does, with this code or with that of a call."""
    child = os.fork()
    if not child:
        sys.exit(int(cuda.cuCtxSynchronize()[0]) if code is None else code)
    end = time.monotonic() + PATIENCE
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, 9)
            raise SystemExit("a forked process hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(found[1]) == (NOT_INITIALISED if code is None else code)


def main(how: str) -> None:
    context = begin()
    function, x, y = kernel(), check(cuda.cuMemAlloc(4 * SIZE)), check(cuda.cuMemAlloc(4 * SIZE))
    check(cuda.cuMemsetD32(x, 1, SIZE))
    launch(function, x, y)
    if how == "pending":
        fork(7)
    else:
        busy(context, function, x, y)
    check(cuda.cuCtxSynchronize())
    print("right")


def busy(context: Any, function: Any, x: Any, y: Any) -> None:
    """Fork while another thread makes calls."""
    over = threading.Event()

    def work() -> None:
        check(cuda.cuCtxSetCurrent(context))
        while not over.is_set():
            launch(function, x, y)
            check(cuda.cuCtxSynchronize())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(CHILDREN):
            fork(None)
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1])
