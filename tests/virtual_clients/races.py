"""Threads that take, free, launch, wait and destroy streams as they like, for so many seconds: `races.py 20`.

Some of what they do is wrong: what one has freed or destroyed another still uses. No call may fail otherwise
than by the codes of wrong handles and addresses, and nothing may hang.
"""

import random
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
from bindings import check
from cuda.bindings import driver as cuda
from kernels import SIZE, begin, kernel, launch

THREADS = 6
WRONG = {0, 1, 201, 400, 600, 709}
"""Success, and what a stale handle or address comes to; 600 for what has not happened yet."""


class Shared:
    """What all threads use at once."""

    def __init__(self) -> None:
        self.streams: list[Any] = [0]
        self.events: list[Any] = []
        self.memory: list[int] = []
        self.answers: Counter[int] = Counter()
        self.wrong: list[str] = []


def work(context: object, shared: Shared, seed: int, end: float) -> None:
    """Do something at random until the end."""
    check(cuda.cuCtxSetCurrent(context))
    function = kernel()
    chance = random.Random(seed)
    own = [int(check(cuda.cuMemAlloc(4 * SIZE))) for _ in range(2)]
    result = np.empty(SIZE, np.uint32)

    def stream() -> Any:
        return chance.choice(list(shared.streams))

    def make_stream() -> tuple[Any, ...]:
        answer = cuda.cuStreamCreate(1)
        shared.streams.append(answer[1])
        return answer

    def drop_stream() -> tuple[Any, ...]:
        found = stream()
        if len(shared.streams) > 4 and found in shared.streams:
            shared.streams.remove(found)
        return cuda.cuStreamDestroy(found) if int(found) else (0,)

    def make_memory() -> tuple[Any, ...]:
        answer = cuda.cuMemAllocAsync(4 * SIZE, stream())
        if not answer[0]:
            shared.memory.append(int(answer[1]))
        return answer

    def free_memory() -> tuple[Any, ...]:
        if not shared.memory:
            return (0,)
        address = chance.choice(list(shared.memory))
        answer = chance.choice([cuda.cuMemFree, lambda at: cuda.cuMemFreeAsync(at, stream())])(address)
        if address in shared.memory and chance.random() < 0.9:
            shared.memory.remove(address)
        return answer

    def fill() -> tuple[Any, ...]:
        return cuda.cuMemsetD32Async(chance.choice([*own, *shared.memory]), seed, SIZE, stream())

    def run() -> tuple[Any, ...]:
        launch(function, *own)
        return (0,)

    def record() -> tuple[Any, ...]:
        answer = cuda.cuEventCreate(0)
        shared.events.append(answer[1])
        return cuda.cuEventRecord(answer[1], stream())

    def await_event() -> tuple[Any, ...]:
        if not shared.events:
            return (0,)
        event = chance.choice(list(shared.events))
        calls = [
            cuda.cuEventSynchronize,
            cuda.cuEventQuery,
            lambda one: cuda.cuStreamWaitEvent(stream(), one, 0),
        ]
        if len(shared.events) > 20 and event in shared.events:
            shared.events.remove(event)
            calls = [cuda.cuEventDestroy]
        return chance.choice(calls)(event)

    def read() -> tuple[Any, ...]:
        return cuda.cuMemcpyDtoHAsync(result.ctypes.data, own[1], result.nbytes, stream())

    does = [make_stream, drop_stream, make_memory, free_memory, fill, run, record, await_event, read]
    does += [
        lambda: cuda.cuStreamSynchronize(stream()),
        lambda: cuda.cuCtxSynchronize(),
        lambda: cuda.cuMemGetInfo(),
    ]
    try:
        check(cuda.cuMemsetD32(own[0], 1, SIZE))
        check(cuda.cuMemsetD32(own[1], 1, SIZE))
        while time.monotonic() < end:
            one = chance.choice(does)
            code = int(one()[0])
            shared.answers[code] += 1
            if code not in WRONG:
                shared.wrong.append(f"{one.__name__}: {code}")
    except Exception as problem:  # noqa: BLE001 - it is told below
        shared.wrong.append(repr(problem))


def main(seconds: float) -> None:
    context, shared = begin(), Shared()
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=work, args=(context, shared, seed, end)) for seed in range(1, THREADS + 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(cuda.cuCtxSynchronize())
    print(dict(shared.answers), file=sys.stderr)
    print("right" if not shared.wrong else shared.wrong[:5])


if __name__ == "__main__":
    main(float(sys.argv[1]))
