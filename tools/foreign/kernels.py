"""Kernels for numba to compile for PTX, each with what it computes by numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

THREADS = 128


@dataclass(frozen=True)
class Kernel:
    """A kernel.

    Attributes:
        make: gives the Python function, which uses numba's `cuda` module.
        arrays: its arguments, the first of them what it leaves.
        wanted: what it leaves there, given the arguments before the launch.
        grid, block: of its launch.
    """

    make: Callable[[Any], Callable[..., None]]
    arrays: Callable[[np.random.Generator], Sequence[np.ndarray]]
    wanted: Callable[..., np.ndarray]
    grid: int = 2
    block: int = THREADS


def launch(device: Any, kernel: Any, arrays: Sequence[np.ndarray], grid: int, block: int) -> np.ndarray:
    """What a kernel that numba compiled leaves in its first argument.

    An array is seven parameters and more: its owner, its parent, its size, the bytes of an element, its
    address, its shape, its strides.
    """
    buffers = [device.array(np.ascontiguousarray(array)) for array in arrays]
    flat: list[Any] = []
    for array, buffer in zip(arrays, buffers, strict=True):
        flat += [0, 0, array.size, array.itemsize, buffer, *array.shape, *array.strides]
    kernel.launch(grid, block, flat)
    return buffers[0].numpy()


def reduction(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        shared = cuda.shared.array(THREADS, dtype=np.int64)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        shared[t] = given[i]
        cuda.syncthreads()
        half = THREADS // 2
        while half:
            if t < half:
                shared[t] += shared[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[cuda.blockIdx.x] = shared[0]

    return kernel


def scan(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        shared = cuda.shared.array((2, THREADS), dtype=np.float64)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        side, step = 0, 1
        shared[0, t] = given[i]
        cuda.syncthreads()
        while step < THREADS:
            shared[1 - side, t] = shared[side, t] + (shared[side, t - step] if t >= step else 0.0)
            side, step = 1 - side, 2 * step
            cuda.syncthreads()
        out[i] = shared[side, t]

    return kernel


def histogram(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        shared = cuda.shared.array(32, dtype=np.int32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        if t < 32:
            shared[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(shared, given[i] & 31, 1)
        cuda.syncthreads()
        if t < 32:
            cuda.atomic.add(out, t, shared[t])

    return kernel


def extremes(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        cuda.atomic.max(out, 0, given[i])
        cuda.atomic.min(out, 1, given[i])
        cuda.atomic.xor(out, 2, given[i])
        cuda.atomic.or_(out, 3, given[i] & 7)

    return kernel


def transpose(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        tile = cuda.shared.array((8, 9), dtype=np.float32)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        x, y = t % 8, t // 8
        if y < 8:
            tile[y, x] = given[8 * b + y, x]
        cuda.syncthreads()
        if y < 8:
            out[x, 8 * b + y] = tile[y, x]
            out[y, 8 * b + x] = tile[x, y]

    return kernel


def product(cuda: Any) -> Callable[..., None]:
    def kernel(out, a, b):
        i = cuda.grid(1)
        row, column = i // 16, i % 16
        total = 0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        out[row, column] = total

    return kernel


def sorting(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        row = cuda.local.array(8, dtype=np.int16)
        i = cuda.grid(1)
        for k in range(8):
            row[k] = given[i, k]
        for k in range(1, 8):
            value, at = row[k], k
            while at > 0 and row[at - 1] > value:
                row[at] = row[at - 1]
                at -= 1
            row[at] = value
        for k in range(8):
            out[i, k] = row[k]

    return kernel


def warp_sum(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        value = given[i]
        for distance in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        first = cuda.shfl_sync(0xFFFFFFFF, value, 0)
        out[i] = first + cuda.popc(cuda.ballot_sync(0xFFFFFFFF, given[i] > 0)) * 1000

    return kernel


def bit_counts(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        x = given[i]
        out[i] = cuda.popc(x) + 100 * cuda.clz(x) + 10000 * cuda.ffs(x)

    return kernel


def grid_stride(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        for i in range(cuda.grid(1), given.size, cuda.gridsize(1)):
            out[i] = given[i] * given[i] if i % 5 else -given[i]

    return kernel


def complex_numbers(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        c = given[i]
        z, steps = 0j, 0
        while steps < 20 and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            steps += 1
        out[i] = steps

    return kernel


def search(cuda: Any) -> Callable[..., None]:
    def kernel(out, table, given):
        i = cuda.grid(1)
        low, high = 0, table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < given[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low

    return kernel


def bytes_of_rows(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        crc = np.uint32(0xFFFFFFFF)
        for k in range(given.shape[1]):
            crc ^= np.uint32(given[i, k])
            for _ in range(8):
                low = crc & np.uint32(1)
                crc = (crc >> np.uint32(1)) ^ (np.uint32(0xEDB88320) * low)
        out[i] = crc ^ np.uint32(0xFFFFFFFF)

    return kernel


def swapped(cuda: Any) -> Callable[..., None]:
    def kernel(out, given):
        i = cuda.grid(1)
        old = cuda.atomic.cas(out, i % 16, 0, given[i])
        if old == 0:
            cuda.atomic.add(out, 16, 1)

    return kernel


def integers(kind: type, *shape: int, low: int = -1000, high: int = 1000) -> Callable[..., np.ndarray]:
    return lambda random: random.integers(low, high, shape).astype(kind)


def checksums(given: np.ndarray) -> np.ndarray:
    import zlib

    return np.array([zlib.crc32(row.tobytes()) for row in given], np.uint32)


def escapes(given: np.ndarray) -> np.ndarray:
    out = np.zeros(given.shape, np.int32)
    for i, c in enumerate(given):
        z = 0j
        while out[i] < 20 and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + complex(c)
            out[i] += 1
    return out


def warp_sums(given: np.ndarray) -> np.ndarray:
    rows = given.reshape(-1, 32)
    return np.repeat(rows.sum(axis=1) + 1000 * (rows > 0).sum(axis=1), 32).astype(np.int32)


def counted_bits(given: np.ndarray) -> np.ndarray:
    found = []
    for x in given.tolist():
        first = (x & -x).bit_length()
        found.append(x.bit_count() + 100 * (32 - x.bit_length()) + 10000 * first)
    return np.array(found, np.int32)


ALL = 2 * THREADS
KERNELS = {
    "reduction": Kernel(
        reduction,
        lambda r: (np.zeros(2, np.int64), integers(np.int64, ALL)(r)),
        lambda o, g: g.reshape(2, -1).sum(axis=1),
    ),
    "scan": Kernel(
        scan,
        lambda r: (np.zeros(ALL), integers(np.float64, ALL)(r)),
        lambda o, g: g.reshape(2, -1).cumsum(axis=1).reshape(-1),
    ),
    "histogram": Kernel(
        histogram,
        lambda r: (np.zeros(32, np.int32), integers(np.int32, ALL)(r)),
        lambda o, g: np.bincount(g & 31, minlength=32),
    ),
    "extremes": Kernel(
        extremes,
        lambda r: (np.array([0, 0, 5, 0], np.int64), integers(np.int64, ALL)(r)),
        lambda o, g: np.array(
            [max(g.max(), 0), min(g.min(), 0), np.bitwise_xor.reduce(g) ^ 5, np.bitwise_or.reduce(g & 7)]
        ),
    ),
    "transpose": Kernel(
        transpose,
        lambda r: (np.zeros((8, 16), np.float32), r.standard_normal((16, 8)).astype(np.float32)),
        lambda o, g: g.T,
    ),
    "product": Kernel(
        product,
        lambda r: (np.zeros((16, 16), np.int32), integers(np.int32, 16, 9)(r), integers(np.int32, 9, 16)(r)),
        lambda o, a, b: a @ b,
    ),
    "sorting": Kernel(
        sorting,
        lambda r: (np.zeros((ALL, 8), np.int16), integers(np.int16, ALL, 8)(r)),
        lambda o, g: np.sort(g, axis=1),
    ),
    "warp_sum": Kernel(
        warp_sum, lambda r: (np.zeros(ALL, np.int32), integers(np.int32, ALL)(r)), lambda o, g: warp_sums(g)
    ),
    "bit_counts": Kernel(
        bit_counts,
        lambda r: (np.zeros(ALL, np.int32), integers(np.uint32, ALL, low=0, high=2**32)(r)),
        lambda o, g: counted_bits(g),
    ),
    "grid_stride": Kernel(
        grid_stride,
        lambda r: (np.zeros(1000), r.standard_normal(1000)),
        lambda o, g: np.where(np.arange(1000) % 5, g * g, -g),
    ),
    "complex_numbers": Kernel(
        complex_numbers,
        lambda r: (
            np.zeros(ALL, np.int32),
            (r.uniform(-2, 1, ALL) + 1j * r.uniform(-1, 1, ALL)).astype(np.complex128),
        ),
        lambda o, g: escapes(g),
    ),
    "search": Kernel(
        search,
        lambda r: (
            np.zeros(ALL, np.int64),
            np.sort(integers(np.float32, 300)(r)),
            integers(np.float32, ALL)(r),
        ),
        lambda o, t, g: np.searchsorted(t, g),
    ),
    "bytes_of_rows": Kernel(
        bytes_of_rows,
        lambda r: (np.zeros(ALL, np.uint32), integers(np.uint8, ALL, 5, low=0, high=256)(r)),
        lambda o, g: checksums(g),
    ),
    "swapped": Kernel(
        swapped,
        lambda r: (
            np.zeros(17, np.int32),
            np.repeat(np.arange(1, 17, dtype=np.int32)[None], 16, axis=0).reshape(-1),
        ),
        lambda o, g: np.array([*range(1, 17), 16]),
    ),
}
