"""Products of cuBLAS beside numpy's. `blas_products.py CASE`: prints `right` at its end."""

from __future__ import annotations

import ctypes
import itertools
import sys
from ctypes import byref, c_int, c_int64, c_longlong
from typing import Any

import numpy as np
from blas import (
    C_8I,
    C_32F,
    C_64F,
    E4M3,
    INVALID_VALUE,
    NOT_INITIALIZED,
    NOT_SUPPORTED,
    R_8I,
    R_16BF,
    R_16F,
    R_32F,
    R_32I,
    R_64F,
    TYPES,
    C,
    Device,
    N,
    T,
    address,
    columns,
    cublas,
    handle,
    ok,
    operated,
    random,
    runtime,
    same,
    scalar,
    sums,
)


class ComplexPair(ctypes.Structure):
    """`cuComplex`."""

    _fields_ = [("real", ctypes.c_float), ("imaginary", ctypes.c_float)]


LETTERS = {"S": R_32F, "D": R_64F, "C": C_32F, "Z": C_64F, "H": R_16F}
rng = np.random.default_rng(7)


def stored(kind: int, operation: int, rows: int, count: int, ld_more: int = 3) -> tuple[np.ndarray, Any, int]:
    """op(matrix), the matrix in device memory, its leading dimension."""
    shape = (rows, count) if operation == N else (count, rows)
    matrix, ld = random(rng, kind, *shape), shape[0] + ld_more
    return operated(operation, matrix), Device(columns(matrix, ld)), ld


def every_letter() -> None:
    """All transpositions, with lines that are further apart than they are long; the gap stays as it was."""
    made, (m, n, k) = handle(), (5, 4, 7)
    names = {letter: ["gemm"] if letter == "H" else ["gemm_v2", "gemm_v2"] for letter in LETTERS}
    names["C"].append("gemm3m")
    names["Z"].append("gemm3m")
    for letter, kind in LETTERS.items():
        for (ta, tb), name in itertools.product(itertools.product((N, T, C), (N, T, C)), names[letter]):
            a, at_a, lda = stored(kind, ta, m, k)
            b, at_b, ldb = stored(kind, tb, k, n)
            c, ldc = random(rng, kind, m, n), m + 2
            at_c = Device(columns(c, ldc))
            alpha, beta = scalar(kind, 2 - 1j), scalar(kind, 0.5 + 3j)
            for wide in (False, True):
                size = c_int64 if wide else c_int
                function = getattr(cublas, f"cublas{letter}{name}" + ("_64" if wide else ""))
                at_c.put(columns(c, ldc))
                ok(
                    function(
                        made, ta, tb, size(m), size(n), size(k), address(alpha), at_a, size(lda), at_b,
                        size(ldb), address(beta), at_c, size(ldc),
                    )
                )  # fmt: skip
                found = at_c.get(TYPES[kind], (n, ldc))
                expected = alpha[0].item() * sums(a, b) + beta[0].item() * c.astype(sums(a, b).dtype)
                assert same(found[:, :m].T, expected, TYPES[kind]), (letter, name, ta, tb)
                assert (found[:, m:] == TYPES[kind](77)).all()


TABLE = {
    64: [(R_16F, R_16F)],
    72: [(R_8I, R_32I)],
    68: [
        (R_16BF, R_16BF), (R_16F, R_16F), (R_8I, R_32F), (R_16BF, R_32F), (R_16F, R_32F), (R_32F, R_32F),
        (C_8I, C_32F), (C_32F, C_32F),
    ],
    74: [(R_32F, R_32F), (C_32F, C_32F)],
    75: [(R_32F, R_32F), (C_32F, C_32F)],
    77: [(R_32F, R_32F), (C_32F, C_32F)],
    70: [(R_64F, R_64F), (C_64F, C_64F)],
}  # fmt: skip
"""The manual's table of cublasGemmEx: compute type, and the types of A and B, and of C."""
TABLE |= {65: TABLE[64], 69: TABLE[68], 71: TABLE[70], 73: TABLE[72]}


def scale_of(compute: int, c: int) -> int:
    if compute in (64, 65, 72, 73):
        return R_16F if compute < 70 else R_32I
    real = compute in (70, 71)
    return (C_64F if real else C_32F) if c in (C_32F, C_64F) else (R_64F if real else R_32F)


def pairs(matrix: np.ndarray) -> np.ndarray:
    """Integers of C_8I."""
    made = np.stack((matrix.real, matrix.imag), axis=-1).astype(np.int8)
    return made.reshape(len(matrix), -1)


def every_combination() -> None:
    """Of types: those of the table compute, all others are not supported."""
    made, (m, n, k) = handle(), (6, 3, 8)
    kinds = [*TYPES, C_8I]
    for compute, kind, to in itertools.product(TABLE, kinds, kinds):
        scale = scale_of(compute, to)
        one, other = scalar(scale, 2), scalar(scale, 1)
        data = (
            random(rng, C_32F if kind == C_8I else kind, m, k),
            random(rng, C_32F if kind == C_8I else kind, k, n),
        )
        lines = [pairs(each.T) if kind == C_8I else columns(each, each.shape[0]) for each in data]
        c = random(rng, C_32F if to == C_8I else to, m, n)
        places = [Device(each) for each in (*lines, columns(c, m))]
        status = cublas.cublasGemmEx(
            made, N, N, m, n, k, address(one), places[0], kind, m, places[1], kind, k, address(other),
            places[2], to, m, compute, -1,
        )  # fmt: skip
        known = (kind, to) in TABLE[compute]
        assert status == (0 if known else NOT_SUPPORTED), (compute, kind, to, status)
        if known:
            found = places[2].get(TYPES[to], (n, m)).T
            expected = one[0].item() * sums(*data) + other[0].item() * c.astype(sums(*data).dtype)
            assert same(found, expected, TYPES[to]), (compute, kind, to)
    for name, kind, to, status in (
        ("Sgemm", R_16F, R_32F, 0), ("Sgemm", R_16BF, R_16BF, 0), ("Sgemm", C_32F, C_32F, 15),
        ("Sgemm", R_64F, R_64F, 15), ("Cgemm", C_32F, C_32F, 0), ("Cgemm", R_32F, R_32F, 15),
        ("Cgemm3m", C_32F, C_32F, 0),
    ):  # fmt: skip
        a, b = random(rng, kind, m, k), random(rng, kind, k, n)
        at_a, at_b, at_c = (
            Device(columns(a, m)),
            Device(columns(b, k)),
            Device(columns(random(rng, to, m, n), m)),
        )
        scale = C_32F if name[0] == "C" else R_32F
        one, zero = scalar(scale, 1), scalar(scale, 0)
        function = getattr(cublas, f"cublas{name}Ex")
        given = function(
            made, N, N, m, n, k, address(one), at_a, kind, m, at_b, kind, k, address(zero), at_c, to, m
        )
        assert given == status, (name, kind, to, given)
        if not status:
            assert same(at_c.get(TYPES[to], (n, m)).T, sums(a, b), TYPES[to])


def batches() -> None:
    """By strides, one of them 0; by pointers; with types in the call."""
    made, (m, n, k, count) = handle(), (3, 5, 4, 3)
    for letter, kind in LETTERS.items():
        a = random(rng, kind, k, m)  # one for all, transposed
        b, c = random(rng, kind, count, k, n), random(rng, kind, count, m, n)
        lines_b = np.stack([columns(each, k + 1) for each in b])
        lines_c = np.stack([columns(each, m) for each in c])
        at_a, at_b = Device(columns(a, k)), Device(lines_b)
        alpha, beta = scalar(kind, 1), scalar(kind, -2)
        scale = alpha[0].item(), beta[0].item()
        stride_b, stride_c = lines_b[0].size, lines_c[0].size
        expected = np.stack(
            [
                scale[0] * sums(a.T, x) + scale[1] * y.astype(sums(a.T, x).dtype)
                for x, y in zip(b, c, strict=True)
            ]
        )

        def right(at_c: Device, what: str, expected: np.ndarray = expected, kind: int = kind) -> None:
            found = at_c.get(TYPES[kind], (count, n, m)).transpose(0, 2, 1)
            assert same(found, expected, TYPES[kind]), (what, kind)

        at_c = Device(lines_c)
        ok(
            getattr(cublas, f"cublas{letter}gemmStridedBatched")(
                made, T, N, m, n, k, address(alpha), at_a, k, c_longlong(0), at_b, k + 1,
                c_longlong(stride_b), address(beta), at_c, m, c_longlong(stride_c), count,
            )
        )  # fmt: skip
        right(at_c, "strides")
        size = np.dtype(TYPES[kind]).itemsize
        arrays = [
            Device(np.array([at.address + each * stride * size for each in range(count)], np.uint64))
            for at, stride in ((at_a, 0), (at_b, stride_b), (at_c, stride_c))
        ]
        at_c.put(lines_c)
        ok(
            getattr(cublas, f"cublas{letter}gemmBatched")(
                made, T, N, m, n, k, address(alpha), arrays[0], k, arrays[1], k + 1, address(beta), arrays[2],
                m, count,
            )
        )  # fmt: skip
        right(at_c, "pointers")
        compute = {"H": 64, "D": 70, "Z": 70}.get(letter, 68)
        at_c.put(lines_c)
        ok(
            cublas.cublasGemmStridedBatchedEx(
                made, T, N, m, n, k, address(alpha), at_a, kind, k, c_longlong(0), at_b, kind, k + 1,
                c_longlong(stride_b), address(beta), at_c, kind, m, c_longlong(stride_c), count, compute, -1,
            )
        )  # fmt: skip
        right(at_c, "strides, Ex")
        at_c.put(lines_c)
        ok(
            cublas.cublasGemmBatchedEx(
                made, T, N, m, n, k, address(alpha), arrays[0], kind, k, arrays[1], kind, k + 1,
                address(beta), arrays[2], kind, m, count, compute, 99,
            )
        )  # fmt: skip
        right(at_c, "pointers, Ex")


def scalars() -> None:
    """On the device they are read when the product happens, on the host when it is called. What is multiplied
    by 0 is not read."""
    made, size = handle(), 4
    a, b = random(rng, R_32F, size, size), random(rng, R_32F, size, size)
    at_a, at_b, at_c = Device(columns(a, size)), Device(columns(b, size)), Device(4 * size * size)
    at_c.put(np.full((size, size), np.nan, np.float32))
    host, zero = scalar(R_32F, 3), scalar(R_32F, 0)

    def product(alpha: Any, beta: Any) -> None:
        ok(
            cublas.cublasSgemm_v2(
                made, N, N, size, size, size, alpha, at_a, size, at_b, size, beta, at_c, size
            )
        )

    product(address(host), address(zero))
    host[0] = 100
    assert same(at_c.get(np.float32, (size, size)).T, 3 * sums(a, b), np.float32)
    ok(cublas.cublasSetPointerMode_v2(made, 1))
    mode = c_int()
    ok(cublas.cublasGetPointerMode_v2(made, byref(mode)))
    assert mode.value == 1
    alpha, beta = Device(zero), Device(zero)
    copied = Device(scalar(R_32F, -2))
    ok(runtime.cudaMemcpyAsync(alpha, copied, ctypes.c_size_t(4), 3, None))
    product(alpha, beta)
    assert same(at_c.get(np.float32, (size, size)).T, -2 * sums(a, b), np.float32)


def errors() -> None:
    made, zero = handle(), scalar(R_32F, 0)
    place = Device(np.zeros(64, np.float32))
    right = [made, N, N, 4, 3, 2, address(zero), place, 4, place, 2, address(zero), place, 4]
    gemm = cublas.cublasSgemm_v2
    ok(gemm(*right))
    for at, wrong, status in (
        (0, None, NOT_INITIALIZED),
        (0, 12345, NOT_INITIALIZED),
        (1, 7, INVALID_VALUE),
        (3, -1, INVALID_VALUE),
        (4, -1, INVALID_VALUE),
        (5, -1, INVALID_VALUE),
        (6, None, INVALID_VALUE),
        (11, None, INVALID_VALUE),
        (8, 3, INVALID_VALUE),
        (10, 1, INVALID_VALUE),
        (13, 3, INVALID_VALUE),
        (8, 0, INVALID_VALUE),
        (3, 0, 0),
        (5, 0, 0),
    ):
        given = [*right]
        given[at] = wrong
        assert gemm(*given) == status, (at, wrong)
    ex = [made, N, N, 4, 3, 2, address(zero), place, 0, 4, place, 0, 2, address(zero), place, 0, 4, 68, -1]
    ok(cublas.cublasGemmEx(*ex))
    for at, wrong, status in (
        (18, 50, INVALID_VALUE),
        (17, 1, NOT_SUPPORTED),
        (8, 99, NOT_SUPPORTED),
        (8, E4M3, 15),
    ):
        given = [*ex]
        given[at] = wrong
        assert cublas.cublasGemmEx(*given) == status, (at, wrong)
    batched = [*right, -1]
    assert cublas.cublasSgemmBatched(*batched) == INVALID_VALUE
    assert cublas.cublasSnrm2_v2(made, 4, place, 1, place) == NOT_SUPPORTED
    legacy, number = cublas.cublasCgemm, ComplexPair(1, 2)
    legacy.restype, cublas.cublasCdotu.restype = None, ComplexPair
    legacy(b"n", b"n", 1, 1, 1, number, place, 1, place, 1, number, place, 1)
    assert cublas.cublasGetError() == NOT_SUPPORTED
    nothing = cublas.cublasCdotu(1, place, 1, place, 1)
    assert (nothing.real, nothing.imaginary) == (0, 0)
    assert cublas.cublasSetPointerMode_v2(made, 2) == INVALID_VALUE
    assert cublas.cublasSetWorkspace_v2(made, ctypes.c_void_p(8), ctypes.c_size_t(0)) == INVALID_VALUE
    ok(cublas.cublasDestroy_v2(made))
    assert cublas.cublasDestroy_v2(made) == NOT_INITIALIZED
    assert gemm(*right) == NOT_INITIALIZED


def about() -> None:
    """Versions, texts, settings."""
    made, number = handle(), c_int()
    cublas.cublasGetStatusName.restype = cublas.cublasGetStatusString.restype = ctypes.c_char_p
    cublas.cublasLtGetVersion.restype = ctypes.c_size_t
    ok(cublas.cublasGetVersion_v2(made, byref(number)))
    parts = [c_int() for _ in range(3)]
    for kind, part in enumerate(parts):
        ok(cublas.cublasGetProperty(kind, byref(part)))
    major, minor, patch = (part.value for part in parts)
    assert number.value == major * 10000 + minor * 100 + patch == cublas.cublasLtGetVersion()
    assert cublas.cublasGetStatusName(7) == b"CUBLAS_STATUS_INVALID_VALUE"
    assert cublas.cublasGetStatusString(0) == b"success"
    ok(cublas.cublasSetMathMode(made, 3 | 16))
    ok(cublas.cublasGetMathMode(made, byref(number)))
    assert number.value == 19
    assert cublas.cublasSetMathMode(made, 5) == INVALID_VALUE
    place = ctypes.c_void_p()
    ok(cublas.cublasSetStream_v2(made, ctypes.c_void_p(2)))
    ok(cublas.cublasGetStream_v2(made, byref(place)))
    assert place.value == 2
    assert cublas.cublasSetStream_v2(made, ctypes.c_void_p(0x123400)) == INVALID_VALUE


def transfers() -> None:
    """Every second element there, every third back; matrices whose columns are apart on both sides."""
    x = np.arange(10, dtype=np.float32)
    place = Device(np.full(30, -1, np.float32))
    ok(cublas.cublasSetVector(5, 4, address(x), 2, place, 3))
    held = place.get(np.float32, (30,))
    assert held[:15:3].tolist() == [0, 2, 4, 6, 8]
    assert (np.delete(held, range(0, 15, 3)) == -1).all()
    back = np.zeros(8, np.float32)
    ok(cublas.cublasGetVector_64(c_int64(4), c_int64(4), place, c_int64(3), address(back), c_int64(2)))
    assert back.tolist() == [0, 0, 2, 0, 4, 0, 6, 0]
    a = np.arange(20, dtype=np.float64).reshape(4, 5)  # four columns of five
    there = Device(np.zeros(40))
    ok(cublas.cublasSetMatrix(3, 4, 8, address(a), 5, there, 7))
    assert (there.get(np.float64, (5, 7))[:4, :3] == a[:, :3]).all()
    out = np.zeros((4, 6))
    ok(cublas.cublasGetMatrixAsync(3, 4, 8, there, 7, address(out), 6, None))
    ok(runtime.cudaDeviceSynchronize())
    assert (out[:, :3] == a[:, :3]).all()
    assert not out[:, 3:].any()
    assert cublas.cublasSetVector(5, 4, address(x), 0, place, 1) == INVALID_VALUE
    assert cublas.cublasSetMatrix(6, 4, 8, address(a), 5, there, 7) == INVALID_VALUE
    assert cublas.cublasSetVector(100, 4, address(x), 1, place, 1) == 11


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("right")
