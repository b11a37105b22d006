"""cuBLAS as a program calls it, by ctypes: device memory, handles, products; numpy beside it."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import ml_dtypes
import numpy as np

runtime = ctypes.CDLL("libcudart.so.13")
cublas = ctypes.CDLL("libcublas.so.13")

TYPES: dict[int, Any] = {
    0: np.float32,
    1: np.float64,
    2: np.float16,
    3: np.int8,
    4: np.complex64,
    5: np.complex128,
    10: np.int32,
    14: ml_dtypes.bfloat16,
    28: ml_dtypes.float8_e4m3fn,
    29: ml_dtypes.float8_e5m2,
}
"""`cudaDataType`, as far as numpy has an element for each."""
R_32F, R_64F, R_16F, R_8I, C_32F, C_64F, C_8I, R_32I, R_16BF, E4M3, E5M2, E2M1 = (
    0, 1, 2, 3, 4, 5, 7, 10, 14, 28, 29, 33,
)  # fmt: skip
SUCCESS, NOT_INITIALIZED, INVALID_VALUE, MAPPING_ERROR, EXECUTION_FAILED, NOT_SUPPORTED = 0, 1, 7, 11, 13, 15
N, T, C = 0, 1, 2


def ok(status: int) -> None:
    assert status == 0, status


class Device:
    """Memory of the device that holds an array's bytes."""

    def __init__(self, data: np.ndarray | int) -> None:
        self.size = data if isinstance(data, int) else data.nbytes
        self.pointer = ctypes.c_void_p()
        ok(runtime.cudaMalloc(byref(self.pointer), ctypes.c_size_t(self.size)))
        if not isinstance(data, int):
            self.put(data)

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return self.pointer

    @property
    def address(self) -> int:
        return self.pointer.value or 0

    def put(self, data: np.ndarray) -> None:
        data = np.ascontiguousarray(data)
        ok(
            runtime.cudaMemcpy(
                self.pointer, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes), 1
            )
        )

    def get(self, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        made = np.empty(shape, dtype)
        place = made.ctypes.data_as(ctypes.c_void_p)
        ok(runtime.cudaMemcpy(place, self.pointer, ctypes.c_size_t(made.nbytes), 2))
        return made


class Pinned:
    """Memory of the host that is not paged, as an array."""

    def __init__(self, data: np.ndarray) -> None:
        self.pointer = ctypes.c_void_p()
        ok(runtime.cudaMallocHost(byref(self.pointer), ctypes.c_size_t(data.nbytes)))
        kept = (ctypes.c_uint8 * data.nbytes).from_address(self.pointer.value or 0)
        self.array = np.frombuffer(kept, data.dtype).reshape(data.shape)
        self.array[...] = data


def handle() -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    ok(cublas.cublasCreate_v2(byref(made)))
    return made


def stream() -> ctypes.c_void_p:
    """One that does not wait for the default stream."""
    made = ctypes.c_void_p()
    ok(runtime.cudaStreamCreateWithFlags(byref(made), 1))
    return made


def random(rng: np.random.Generator, kind: int, *shape: int) -> np.ndarray:
    """Small numbers that each type has exactly."""
    numbers = rng.integers(-8, 9, shape)
    if kind in (C_32F, C_64F):
        return (numbers + 1j * rng.integers(-8, 9, shape)).astype(TYPES[kind])
    scale = 1 if kind in (R_8I, R_32I) else 0.25
    return (numbers * scale).astype(TYPES[kind])


def columns(matrix: np.ndarray, ld: int, filler: Any = 77) -> np.ndarray:
    """A matrix as it lies by columns, which are `ld` apart: (columns, ld)."""
    rows, count = matrix.shape
    made = np.full((count, ld), filler).astype(matrix.dtype)
    made[:, :rows] = matrix.T
    return made


def operated(operation: int, matrix: np.ndarray) -> np.ndarray:
    return (matrix, matrix.T, matrix.conj().T)[operation]


def sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product, as a sum of outer products in numpy's widest types."""
    wide = np.clongdouble if np.iscomplexobj(a) else np.longdouble
    total = np.zeros((a.shape[0], b.shape[1]), wide)
    for column, row in zip(a.T, b, strict=True):
        total += np.outer(
            column.astype(np.complex128 if wide is np.clongdouble else np.float64), row.astype(wide)
        )
    return total


def scalar(kind: int, value: complex) -> np.ndarray:
    return np.array([value if kind in (C_32F, C_64F) else value.real], TYPES[kind])


def address(data: np.ndarray) -> ctypes.c_void_p:
    return data.ctypes.data_as(ctypes.c_void_p)


def same(found: np.ndarray, expected: np.ndarray, dtype: Any) -> bool:
    """Whether results are the nearest numbers that their type has; a hair more, for what is rounded twice."""
    if np.dtype(dtype).kind in "iu":
        return bool((found == expected.astype(dtype)).all())
    wide = np.complex128 if np.iscomplexobj(found) else np.float64
    limits = ml_dtypes.finfo(found.real.dtype if np.iscomplexobj(found) else found.dtype)
    far = np.abs(found.astype(wide) - expected.astype(wide))
    return bool(
        (far <= 0.51 * float(limits.eps) * np.maximum(np.abs(expected), float(limits.smallest_normal))).all()
    )
