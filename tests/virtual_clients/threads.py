"""Threads that all use the device at once, a process forked behind them, and one that is spawned."""

import multiprocessing
import os
import sys
import threading

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

THREADS, ROUNDS = 4, 8


def work(context: object, number: int, wrong: list[object]) -> None:
    try:
        check(cuda.cuCtxSetCurrent(context))
        function = kernel()
        stream = check(cuda.cuStreamCreate(1))
        for round_ in range(ROUNDS):
            x, y = (check(cuda.cuMemAllocAsync(4 * SIZE, stream)) for _ in range(2))
            check(cuda.cuMemsetD32Async(x, 100 * number + round_, SIZE, stream))
            launch(function, x, y, stream)
            result = np.empty(SIZE, np.uint32)
            check(cuda.cuMemcpyDtoHAsync(result.ctypes.data, y, result.nbytes, stream))
            check(cuda.cuStreamSynchronize(stream))
            if not (result == 100 * number + round_ + 1).all():
                wrong.append((number, round_))
            for address in (x, y):
                check(cuda.cuMemFreeAsync(address, stream))
        check(cuda.cuStreamDestroy(stream))
    except AssertionError as problem:
        wrong.append(problem)


def spawned() -> None:
    begin()
    launch(kernel(), *(check(cuda.cuMemAlloc(4 * SIZE)) for _ in range(2)))
    check(cuda.cuCtxSynchronize())
    sys.exit(17)


def main() -> None:
    context = begin()
    wrong: list[object] = []
    threads = [threading.Thread(target=work, args=(context, number, wrong)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong

    child = os.fork()
    if not child:
        os._exit(int(cuda.cuCtxSynchronize()[0]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, "a forked process has no driver"
    check(cuda.cuCtxSynchronize())

    process = multiprocessing.get_context("spawn").Process(target=spawned)
    process.start()
    process.join()
    assert process.exitcode == 17
    print("right")


if __name__ == "__main__":
    main()
