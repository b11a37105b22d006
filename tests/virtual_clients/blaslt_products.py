"""Products of cuBLASLt beside numpy's. `blaslt_products.py CASE`: prints `right` at its end."""

from __future__ import annotations

import ctypes
import itertools
import sys
from ctypes import byref, c_int, c_int8, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

import ml_dtypes
import numpy as np
from blas import (
    E2M1,
    E4M3,
    E5M2,
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
    Device,
    address,
    columns,
    ok,
    random,
    runtime,
    same,
    scalar,
    sums,
)

lt = ctypes.CDLL("libcublas.so")  # as Triton takes them
COMPUTE_16F, COMPUTE_32F, COMPUTE_64F, COMPUTE_32I = 64, 68, 70, 72
TRANSA, TRANSB, POINTER_MODE, EPILOGUE, BIAS, BIAS_STRIDE, BIAS_TYPE = 3, 4, 2, 7, 8, 10, 26
A_SCALE, B_SCALE, C_SCALE, D_SCALE, AMAX_D, FAST_ACCUM, A_MODE, B_MODE = 17, 18, 19, 20, 21, 25, 31, 32
ORDER, BATCHES, STRIDE = 1, 5, 6
rng = np.random.default_rng(11)


def light() -> c_void_p:
    made = c_void_p()
    ok(lt.cublasLtCreate(byref(made)))
    return made


def described(compute: int, scale: int, **attributes: Any) -> c_void_p:
    """A descriptor of a product; attributes by the names above."""
    made = c_void_p()
    ok(lt.cublasLtMatmulDescCreate(byref(made), compute, scale))
    for name, value in attributes.items():
        ok(
            lt.cublasLtMatmulDescSetAttribute(
                made, globals()[name], byref(value), c_size_t(ctypes.sizeof(value))
            )
        )
    return made


def layout(
    kind: int, rows: int, count: int, ld: int, order: int = 0, batches: int = 1, stride: int = 0
) -> c_void_p:
    made = c_void_p()
    ok(lt.cublasLtMatrixLayoutCreate(byref(made), kind, c_uint64(rows), c_uint64(count), c_int64(ld)))
    for number, value in ((ORDER, c_int32(order)), (BATCHES, c_int32(batches)), (STRIDE, c_int64(stride))):
        ok(lt.cublasLtMatrixLayoutSetAttribute(made, number, byref(value), c_size_t(ctypes.sizeof(value))))
    return made


def heuristic(made: c_void_p, operation: c_void_p, *layouts: c_void_p) -> tuple[int, int, Any]:
    """The status, how many algorithms, and the first."""
    preference, result, count = c_void_p(), (c_uint64 * 12)(), c_int(-1)
    ok(lt.cublasLtMatmulPreferenceCreate(byref(preference)))
    status = lt.cublasLtMatmulAlgoGetHeuristic(made, operation, *layouts, preference, 1, result, byref(count))
    ok(lt.cublasLtMatmulPreferenceDestroy(preference))
    return status, count.value, result


def matmul(
    operation: c_void_p,
    places: tuple[Any, Any, Any, Any],
    layouts: tuple[c_void_p, ...],
    alpha: Any,
    beta: Any,
) -> None:
    """With the algorithm of the heuristic."""
    made = light()
    status, count, result = heuristic(made, operation, *layouts)
    assert (status, count) == (0, 1), status
    given = [each for pair in zip(places, layouts, strict=True) for each in pair]
    ok(
        lt.cublasLtMatmul(
            made, operation, alpha, *given[:4], beta, *given[4:], result, None, c_size_t(0), None
        )
    )
    ok(lt.cublasLtDestroy(made))


def plain() -> None:
    """Types, transpositions, rows or columns, D apart from C, batches by strides."""
    m, n, k, count = 5, 6, 4, 2
    kinds = [
        (COMPUTE_32F, R_32F, R_16F, R_16F),
        (COMPUTE_32F, R_32F, R_16BF, R_16BF),
        (COMPUTE_32F, R_32F, R_16F, R_32F),
        (COMPUTE_32F, R_32F, R_32F, R_32F),
        (COMPUTE_64F, R_64F, R_64F, R_64F),
        (COMPUTE_16F, R_16F, R_16F, R_16F),
        (COMPUTE_32I, R_32I, R_8I, R_32I),
        (COMPUTE_32I, R_32F, R_8I, R_8I),
    ]
    turns = itertools.product((0, 1), (0, 1), (0, 1), (0, 1))
    for (compute, scale, kind, to), (ta, tb, order, d_order) in itertools.product(kinds, turns):
        shapes = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
        a, b = (random(rng, kind, count, *shape) for shape in shapes)
        c = random(rng, to, count, m, n)

        def there(data: np.ndarray, kind: int, order: int, more: int) -> tuple[Device, c_void_p]:
            rows, width = data.shape[1:]
            ld = (width if order else rows) + more
            lines = np.stack([columns(each.T if order else each, ld) for each in data])
            return Device(lines), layout(kind, rows, width, ld, order, count, lines[0].size)

        given = [there(a, kind, order, 3), there(b, kind, 0, 1), there(c, to, d_order, 2)]
        given.append(there(np.zeros_like(c), to, d_order, 0))
        operation = described(compute, scale, TRANSA=c_int32(ta), TRANSB=c_int32(tb))
        alpha, beta = scalar(scale, 2), scalar(scale, -1)
        places, layouts = zip(*given, strict=True)
        matmul(operation, places, layouts, address(alpha), address(beta))
        found = places[3].get(TYPES[to], (count, m, n) if d_order else (count, n, m))
        for at in range(count):
            left, right = a[at].T if ta else a[at], b[at].T if tb else b[at]
            expected = 2 * sums(left, right) - c[at].astype(np.longdouble)
            if to == R_8I:
                expected = np.clip(np.rint(expected), -128, 127)
            one = found[at] if d_order else found[at].T
            assert same(one, expected, TYPES[to]), (compute, kind, to, ta, tb, order, d_order)


def pointers() -> None:
    """A batch whose matrices have addresses of their own, in arrays of the device."""
    size, count = 4, 3
    a, b = random(rng, R_32F, count, size, size), random(rng, R_32F, count, size, size)
    given = layout(R_32F, size, size, size, 0, count)
    ok(lt.cublasLtMatrixLayoutSetAttribute(given, 8, byref(c_uint32(1)), c_size_t(4)))
    each = [[Device(columns(one, size)) for one in data] for data in (a, b, np.zeros_like(a))]
    arrays = [Device(np.array([one.address for one in row], np.uint64)) for row in each]
    one, zero = scalar(R_32F, 1), scalar(R_32F, 0)
    operation = described(COMPUTE_32F, R_32F)
    matmul(operation, (*arrays, arrays[2]), (given,) * 4, address(one), address(zero))
    for at, place in enumerate(each[2]):
        assert same(place.get(np.float32, (size, size)).T, sums(a[at], b[at]), np.float32)


def epilogues() -> None:
    """relu, gelu (by its tanh), bias for each row; for each of a batch its own."""
    m, n, k, count = 8, 5, 6, 2
    a, b = random(rng, R_32F, count, m, k), random(rng, R_32F, count, k, n)
    bias = random(rng, R_32F, count, m)
    at = [Device(np.stack([columns(each, each.shape[0]) for each in data])) for data in (a, b)]
    c, at_bias = Device(4 * m * n * count), Device(bias)
    layouts = (
        layout(R_32F, m, k, m, 0, count, m * k), layout(R_32F, k, n, k, 0, count, k * n),
        *(layout(R_32F, m, n, m, 0, count, m * n),) * 2,
    )  # fmt: skip
    one, zero = scalar(R_32F, 0.25), scalar(R_32F, 0)
    for number, biased, function in (
        (1, False, lambda x: x),
        (2, False, lambda x: np.where(x > 0, x, 0)),
        (4, True, lambda x: x),
        (6, True, lambda x: np.where(x > 0, x, 0)),
        (32, False, lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))),
        (36, True, lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))),
    ):
        operation = described(
            COMPUTE_32F, R_32F, EPILOGUE=c_uint32(number), BIAS=at_bias.pointer, BIAS_STRIDE=c_int64(m)
        )
        matmul(operation, (*at, c, c), layouts, address(one), address(zero))
        found = c.get(np.float32, (count, n, m))
        for each in range(count):
            total = 0.25 * sums(a[each], b[each]).astype(np.float64)
            total += bias[each][:, None] if biased else 0
            assert same(found[each].T, function(total), np.float32), number
    made = light()
    for number in (8 | 128, 256, 3):
        operation = described(COMPUTE_32F, R_32F, EPILOGUE=c_uint32(number))
        assert heuristic(made, operation, *layouts)[:2] == (NOT_SUPPORTED, 0)


def fp8() -> None:
    """Tensor-wide factors, the greatest of D, results of FP8 that stay within its numbers; bias."""
    m, n, k = 32, 16, 48
    layouts = {kind: layout(kind, m, n, m) for kind in (R_16BF, R_16F, R_32F, E4M3, E5M2)}
    for a_kind, b_kind, c_kind, d_kind in (
        (E4M3, E4M3, R_16F, E4M3), (E4M3, E5M2, R_16BF, E5M2), (E5M2, E4M3, R_16BF, R_16BF),
        (E4M3, E4M3, R_16F, R_16F), (E4M3, E4M3, R_32F, R_32F),
    ):  # fmt: skip
        a, b, c = random(rng, a_kind, m, k), random(rng, b_kind, k, n), random(rng, c_kind, m, n)
        bias_kind = R_16BF if c_kind == R_32F else c_kind
        bias = random(rng, bias_kind, m)
        factors = [Device(scalar(R_32F, value)) for value in (2, 0.5, 64)]
        most, at_bias = Device(scalar(R_32F, -1)), Device(bias)
        attributes: dict[str, Any] = {"A_SCALE": factors[0].pointer, "B_SCALE": factors[1].pointer}
        fp8_result = d_kind in (E4M3, E5M2)
        if fp8_result:
            attributes |= {"D_SCALE": factors[2].pointer, "AMAX_D": most.pointer}
        operation = described(
            COMPUTE_32F, R_32F, TRANSA=c_int32(1), FAST_ACCUM=c_int8(1), EPILOGUE=c_uint32(4),
            BIAS=at_bias.pointer, **attributes,
        )  # fmt: skip
        at = (
            Device(columns(a.T, k)),
            Device(columns(b, k)),
            Device(columns(c, m)),
            Device(columns(c, m).astype(TYPES[d_kind])),
        )
        one, half = scalar(R_32F, 1), scalar(R_32F, 0.5)
        shapes = layout(a_kind, k, m, k), layout(b_kind, k, n, k), layouts[c_kind], layouts[d_kind]
        matmul(operation, at, shapes, address(one), address(half))
        total = (
            sums(a, b).astype(np.float64) * 2 * 0.5
            + 0.5 * c.astype(np.float64)
            + bias.astype(np.float64)[:, None]
        )
        found = at[3].get(TYPES[d_kind], (n, m)).T
        if fp8_result:
            assert most.get(np.float32, (1,))[0] == np.abs(total).max()
            largest = float(ml_dtypes.finfo(TYPES[d_kind]).max)
            assert np.abs(64 * total).max() > largest or d_kind == E5M2
            total = np.clip(64 * total, -largest, largest)
        assert same(found, total, TYPES[d_kind]), (a_kind, b_kind, c_kind, d_kind)


def fp8_refused() -> None:
    """What the manual's rules for FP8 exclude; prints the status of one without factors of blocks."""
    made, (m, n, k) = light(), (16, 16, 32)
    both = layout(R_16F, m, n, m)

    def status(a: c_void_p, b: c_void_p, c: c_void_p = both, **attributes: Any) -> int:
        given = {"TRANSA": c_int32(1), **attributes}
        found, count, _ = heuristic(made, described(COMPUTE_32F, R_32F, **given), a, b, c, c)
        assert count == (found == 0)
        return found

    a, b = layout(E4M3, k, m, k), layout(E4M3, k, n, k)
    print(status(a, b))
    assert status(layout(E5M2, k, m, k), layout(E5M2, k, n, k)) == NOT_SUPPORTED
    assert status(layout(E4M3, 24, m, 24), layout(E4M3, 24, n, 24)) == NOT_SUPPORTED
    assert status(a, b, A_MODE=c_int32(2)) == NOT_SUPPORTED
    assert status(layout(E2M1, k, m, k), layout(E2M1, k, n, k)) == NOT_SUPPORTED
    print(status(layout(E4M3, m, k, m), b, TRANSA=c_int32(0)))
    print(status(a, b, A_MODE=c_int32(2), B_MODE=c_int32(2)))


def tiled(scales: np.ndarray, kind: Any) -> np.ndarray:
    """Factors in the manual's layout: tiles of 128 rows by 4 blocks, along K first; in a tile row r and block
    c are at byte (r % 32) * 16 + (r / 32) * 4 + c."""
    rows, blocks = -(-scales.shape[0] // 128), -(-scales.shape[1] // 4)
    made = np.zeros((rows, blocks, 512), kind)
    for (row, block), value in np.ndenumerate(scales):
        made[row // 128, block // 4, row % 32 * 16 + row % 128 // 32 * 4 + block % 4] = value
    return made


def blocks(kind: str) -> None:
    """mxfp8 and nvfp4 with rows and blocks that do not fill their tiles."""
    m, n, k = 160, 144, 320
    fp4 = kind == "nvfp4"
    block, mode = (16, 1) if fp4 else (32, 2)
    factor = ml_dtypes.float8_e4m3fn if fp4 else ml_dtypes.float8_e8m0fnu
    element = ml_dtypes.float4_e2m1fn if fp4 else ml_dtypes.float8_e4m3fn
    choice = np.array([-6, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6])
    matrices, factors, places, given = [], [], [], []
    for rows in (m, n):
        matrix = rng.choice(choice, (rows, k)).astype(element)
        scales = 2.0 ** rng.integers(-3, 4, (rows, k // block)) * (
            rng.choice([1, 1.5], (rows, k // block)) if fp4 else 1
        )
        matrices.append(matrix.astype(np.float64) * scales.repeat(block, axis=1))
        raw = matrix.view(np.uint8)
        places.append(Device(raw[:, ::2] | raw[:, 1::2] << 4 if fp4 else raw))
        factors.append(Device(tiled(scales, factor).view(np.uint8)))
        given.append(layout(E2M1 if fp4 else E4M3, k, rows, k))
    result = layout(R_32F, m, n, m)
    at_d = Device(4 * m * n)
    operation = described(
        COMPUTE_32F, R_32F, TRANSA=c_int32(1), A_MODE=c_int32(mode), B_MODE=c_int32(mode),
        A_SCALE=factors[0].pointer, B_SCALE=factors[1].pointer,
    )  # fmt: skip
    one, zero = scalar(R_32F, 1), scalar(R_32F, 0)
    matmul(operation, (*places, None, at_d), (*given, result, result), address(one), address(zero))
    assert same(at_d.get(np.float32, (n, m)).T, sums(matrices[0], matrices[1].T), np.float32)


def vectors() -> None:
    """A factor for each row of A and each column of B."""
    m, n, k = 16, 32, 32
    a, b = random(rng, E4M3, m, k), random(rng, E4M3, n, k)
    factors = [(rng.integers(1, 16, rows) / 8).astype(np.float32) for rows in (m, n)]
    at = [Device(each) for each in factors]
    operation = described(
        COMPUTE_32F, R_32F, TRANSA=c_int32(1), A_MODE=c_int32(3), B_MODE=c_int32(3), A_SCALE=at[0].pointer,
        B_SCALE=at[1].pointer,
    )  # fmt: skip
    one, zero, at_d, result = scalar(R_32F, 1), scalar(R_32F, 0), Device(2 * m * n), layout(R_16BF, m, n, m)
    given = layout(E4M3, k, m, k), layout(E4M3, k, n, k), result, result
    matmul(operation, (Device(a), Device(b), None, at_d), given, address(one), address(zero))
    expected = sums(a, b.T).astype(np.float64) * np.outer(*factors)
    assert same(at_d.get(TYPES[R_16BF], (n, m)).T, expected, TYPES[R_16BF])


def descriptors() -> None:
    """Attributes are read as they were set; structures of the program's own can be copied; alpha on the
    device; the algorithm by its number."""
    made, size = light(), 4
    mine = (c_uint64 * 8)()
    assert (
        lt.cublasLtMatrixLayoutInit_internal(mine, c_size_t(32), R_32F, c_uint64(4), c_uint64(4), c_int64(4))
        == 3
    )
    ok(
        lt.cublasLtMatrixLayoutInit_internal(
            mine, c_size_t(64), R_32F, c_uint64(size), c_uint64(size), c_int64(size)
        )
    )
    copied = (c_uint64 * 8)(*mine)
    value, written = c_uint64(), c_size_t()
    ok(lt.cublasLtMatrixLayoutGetAttribute(copied, 2, byref(value), c_size_t(8), byref(written)))
    assert (value.value, written.value) == (size, 8)
    ok(lt.cublasLtMatrixLayoutGetAttribute(copied, BATCHES, None, c_size_t(0), byref(written)))
    assert written.value == 4
    get, put = lt.cublasLtMatrixLayoutGetAttribute, lt.cublasLtMatrixLayoutSetAttribute
    assert get(copied, 2, byref(value), c_size_t(4), None) == INVALID_VALUE
    assert get(copied, 2, None, c_size_t(0), None) == INVALID_VALUE
    assert put(copied, 99, byref(value), c_size_t(8)) == INVALID_VALUE
    assert put((c_uint64 * 8)(), 2, byref(value), c_size_t(8)) == INVALID_VALUE
    operation = described(COMPUTE_32F, R_32F, POINTER_MODE=c_int32(1))
    pointer = c_void_p(0x1234)
    ok(lt.cublasLtMatmulDescSetAttribute(operation, BIAS, byref(pointer), c_size_t(8)))
    pointer = c_void_p()
    ok(lt.cublasLtMatmulDescGetAttribute(operation, BIAS, byref(pointer), c_size_t(8), None))
    assert pointer.value == 0x1234
    numbers, count, algorithm, result = (c_int * 4)(), c_int(), (c_uint64 * 8)(), (c_uint64 * 12)()
    kinds = COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F
    ok(lt.cublasLtMatmulAlgoGetIds(made, *kinds, 4, numbers, byref(count)))
    assert count.value == 1
    assert lt.cublasLtMatmulAlgoInit(made, *kinds, numbers[0] + 1, algorithm) == INVALID_VALUE
    ok(lt.cublasLtMatmulAlgoInit(made, *kinds, numbers[0], algorithm))
    ok(lt.cublasLtMatmulAlgoCheck(made, operation, *[copied] * 4, algorithm, result))
    a, alpha, beta = random(rng, R_32F, size, size), Device(scalar(R_32F, 3)), Device(scalar(R_32F, 0))
    at, to = Device(columns(a, size)), Device(4 * size * size)
    given = [made, operation, alpha, at, copied, at, copied, beta, to, copied, to, copied, algorithm]
    ok(lt.cublasLtMatmul(*given, None, c_size_t(0), None))
    assert same(to.get(np.float32, (size, size)).T, 3 * sums(a, a), np.float32)
    for at_argument, wrong, status in (
        (0, None, NOT_INITIALIZED),
        (1, copied, INVALID_VALUE),
        (2, None, INVALID_VALUE),
    ):
        bad = [*given]
        bad[at_argument] = wrong
        assert lt.cublasLtMatmul(*bad, None, c_size_t(0), None) == status, at_argument
    bad = [*given]
    bad[4] = layout(R_32F, size, size + 1, size)
    assert lt.cublasLtMatmul(*bad, None, c_size_t(0), None) == INVALID_VALUE
    bad[4] = layout(R_32F, size, size, size - 1)
    assert lt.cublasLtMatmul(*bad, None, c_size_t(0), None) == INVALID_VALUE
    bad[4] = layout(R_32F, size, size, size, 0, 2)
    assert lt.cublasLtMatmul(*bad, None, c_size_t(0), None) == INVALID_VALUE
    gone = layout(R_32F, size, size, size)
    ok(lt.cublasLtMatrixLayoutDestroy(gone))
    ok(lt.cublasLtMatmulDescDestroy(operation))
    assert lt.cublasLtMatrixTransformDescCreate(byref(c_void_p()), R_32F) == NOT_SUPPORTED
    own = ctypes.CDLL("libcublasLt.so.13")
    ok(own.cublasLtDestroy(made))
    ok(runtime.cudaDeviceSynchronize())


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    globals()[name](*rest)
    print("right")
