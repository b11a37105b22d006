"""When products happen, and what they may touch. `blas_order.py CASE`: prints what came out."""

from __future__ import annotations

import ctypes
import sys
from ctypes import byref

import numpy as np
from blas import R_32F, Device, Pinned, address, cublas, handle, ok, runtime, scalar, stream

SIZE = 4
BYTES = ctypes.c_size_t(4 * SIZE * SIZE)
one, zero = scalar(R_32F, 1), scalar(R_32F, 0)


def product(made: ctypes.c_void_p, a: Device, b: Device, c: Device, size: int = SIZE) -> int:
    status: int = cublas.cublasSgemm_v2(
        made, 0, 0, size, size, size, address(one), a, size, b, size, address(zero), c, size
    )
    return status


def full(value: float) -> np.ndarray:
    return np.full((SIZE, SIZE), value, np.float32)


def streams(how: str) -> None:
    """C = A B in one stream, E = C C in another: with an event 4 * 4^2 = 64 everywhere, without it 0."""
    made, first, second = handle(), stream(), stream()
    a, c, e = Device(full(1)), Device(full(0)), Device(full(7))
    ok(runtime.cudaDeviceSynchronize())
    ok(cublas.cublasSetStream_v2(made, first))
    ok(product(made, a, a, c))
    if how == "event":
        event = ctypes.c_void_p()
        ok(runtime.cudaEventCreate(byref(event)))
        ok(runtime.cudaEventRecord(event, first))
        ok(runtime.cudaStreamWaitEvent(second, event, 0))
    ok(cublas.cublasSetStream_v2(made, second))
    ok(product(made, c, c, e))
    ok(runtime.cudaStreamSynchronize(second))
    print(e.get(np.float32, (SIZE, SIZE))[0, 0])


def pinned() -> None:
    """Memory of the host that the device sees: it is read when its turn comes, and written in place."""
    made, queue = handle(), stream()
    a, c = Pinned(full(1)), Pinned(full(0))
    ok(cublas.cublasSetStream_v2(made, queue))
    ok(product(made, a.pointer, a.pointer, c.pointer))
    a.array[...] = 2
    before = c.array[0, 0]
    ok(runtime.cudaStreamSynchronize(queue))
    print(before, c.array[0, 0])


def destroyed() -> None:
    """What was queued has happened when a handle is gone."""
    made, queue = handle(), stream()
    a, c = Device(full(1)), Pinned(full(0))
    ok(cublas.cublasSetStream_v2(made, queue))
    ok(product(made, a, a, c.pointer))
    before = c.array[0, 0]
    ok(cublas.cublasDestroy_v2(made))
    print(before, c.array[0, 0])


def captured() -> None:
    """A product that is captured happens whenever the graph is launched, with the alpha of the call."""
    made, queue, graph, launched = handle(), stream(), ctypes.c_void_p(), ctypes.c_void_p()
    a, c = Device(full(1)), Device(full(0))
    alpha, beta = scalar(R_32F, 2), scalar(R_32F, 1)
    ok(cublas.cublasSetStream_v2(made, queue))
    ok(runtime.cudaStreamBeginCapture(queue, 0))
    ok(
        cublas.cublasSgemm_v2(
            made, 0, 0, SIZE, SIZE, SIZE, address(alpha), a, SIZE, a, SIZE, address(beta), c, SIZE
        )
    )
    ok(runtime.cudaStreamEndCapture(queue, byref(graph)))
    alpha[0] = 50
    ok(runtime.cudaGraphInstantiate(byref(launched), graph, ctypes.c_ulonglong(0)))
    for _ in range(3):
        ok(runtime.cudaGraphLaunch(launched, queue))
    ok(runtime.cudaStreamSynchronize(queue))
    print(c.get(np.float32, (SIZE, SIZE))[0, 0])


def outside() -> None:
    """B ends 16 bytes early."""
    made = handle()
    a, b, c = Device(full(1)), Device(full(1)[:, :3]), Device(full(0))
    print(product(made, a, b, c), runtime.cudaDeviceSynchronize(), product(made, a, a, c))


def freed() -> None:
    made = handle()
    a, c = Device(full(1)), Device(full(0))
    ok(runtime.cudaFree(a))
    print(product(made, a, a, c), runtime.cudaDeviceSynchronize())


def pageable() -> None:
    """Memory of the host that no device sees."""
    made, c = handle(), full(0)
    print(product(made, Device(full(1)), Device(full(1)), address(c)), runtime.cudaDeviceSynchronize())


def misaligned() -> None:
    made, c = handle(), Device(np.zeros(20, np.float32))
    c.pointer = ctypes.c_void_p(c.address + 2)
    print(product(made, Device(full(1)), Device(full(1)), c), runtime.cudaDeviceSynchronize())


def peers() -> None:
    """A matrix of another device, whose memory this one may not reach."""
    ok(runtime.cudaSetDevice(1))
    a = Device(full(1))
    ok(runtime.cudaSetDevice(0))
    made, c = handle(), Device(full(0))
    print(product(made, a, a, c), runtime.cudaDeviceSynchronize())


def undefined() -> None:
    """Row 1 of A was never written, so row 1 of C is unknown; nothing is said before somebody reads that."""
    made = handle()
    a, b, c, d = Device(64), Device(full(1)), Device(64), Device(64)
    for column in range(SIZE):
        for row in (0, 2, 3):
            place = ctypes.c_void_p(a.address + 4 * (SIZE * column + row))
            ok(runtime.cudaMemset(place, 0, ctypes.c_size_t(4)))
    ok(product(made, a, b, c))
    ok(product(made, b, c, d))
    ok(runtime.cudaDeviceSynchronize())
    out = np.empty(1, np.float32)
    for row in (0, 2, 3):
        place = ctypes.c_void_p(c.address + 4 * row)
        ok(runtime.cudaMemcpy(address(out), place, ctypes.c_size_t(4), 2))
    print("not yet", file=sys.stderr, flush=True)
    c.get(np.float32, (SIZE, SIZE))
    print("again", file=sys.stderr, flush=True)
    d.get(np.float32, (SIZE, SIZE))


def unset_alpha() -> None:
    """All results depend on it."""
    made, a, c = handle(), Device(full(1)), Device(64)
    ok(cublas.cublasSetPointerMode_v2(made, 1))
    beta = Device(zero)
    ok(cublas.cublasSgemm_v2(made, 0, 0, SIZE, SIZE, SIZE, Device(4), a, SIZE, a, SIZE, beta, c, SIZE))
    c.get(np.float32, (SIZE, SIZE))


def unread() -> None:
    """C is not read where beta is 0, so it need not be written; after the product it is defined."""
    made, c = handle(), Device(64)
    ok(product(made, Device(full(1)), Device(full(1)), c))
    print(c.get(np.float32, (SIZE, SIZE))[0, 0])


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    globals()[name](*rest)
