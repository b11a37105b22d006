"""Register fragments against the manual's formulas (9.7.14.5, 9.7.15.5.1.1), written as it prints them."""

import numpy as np
import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import fragments

# (m, k, bits) -> row and column of a_i; g is the groupID, t the threadID_in_group
A = {
    (8, 4, 64): (lambda g, t, i: g, lambda g, t, i: t),
    (8, 16, 8): (lambda g, t, i: g, lambda g, t, i: t * 4 + i),
    (8, 32, 4): (lambda g, t, i: g, lambda g, t, i: t * 8 + i),
    (8, 128, 1): (lambda g, t, i: g, lambda g, t, i: t * 32 + i),
    (16, 4, 32): (lambda g, t, i: g if i == 0 else g + 8, lambda g, t, i: t),
    (16, 4, 64): (lambda g, t, i: g if i == 0 else g + 8, lambda g, t, i: t),
    (16, 8, 16): (lambda g, t, i: g if i < 2 else g + 8, lambda g, t, i: t * 2 + (i & 1)),
    (16, 8, 32): (lambda g, t, i: g if i in (0, 2) else g + 8, lambda g, t, i: t if i < 2 else t + 4),
    (16, 8, 64): (lambda g, t, i: g if i in (0, 2) else g + 8, lambda g, t, i: t if i < 2 else t + 4),
    (16, 16, 16): (
        lambda g, t, i: g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        lambda g, t, i: t * 2 + (i & 1) + (0 if i < 4 else 8),
    ),
    (16, 16, 64): (
        lambda g, t, i: g if i % 2 == 0 else g + 8,
        lambda g, t, i: i * 2 + t if i % 2 == 0 else i * 2 - 2 + t,
    ),
    (16, 16, 8): (lambda g, t, i: g if i < 4 else g + 8, lambda g, t, i: t * 4 + (i & 3)),
    (16, 32, 4): (lambda g, t, i: g if i < 8 else g + 8, lambda g, t, i: t * 8 + (i & 7)),
    (16, 32, 8): (
        lambda g, t, i: g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        lambda g, t, i: t * 4 + (i & 3) + (0 if i < 8 else 16),
    ),
    (16, 64, 4): (
        lambda g, t, i: g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        lambda g, t, i: t * 8 + (i & 7) + (0 if i < 16 else 32),
    ),
    (16, 128, 1): (lambda g, t, i: g if i < 32 else g + 8, lambda g, t, i: t * 32 + (i & 31)),
    (16, 256, 1): (
        lambda g, t, i: g if 0 <= i < 32 or 64 <= i < 96 else g + 8,
        lambda g, t, i: t * 32 + (i & 31) + (0 if i < 64 else 128),
    ),
}
B = {  # (k, bits) -> row of b_i; the column is the groupID
    (4, 64): lambda t, i: t,
    (4, 32): lambda t, i: t,
    (8, 16): lambda t, i: t * 2 + i,
    (8, 32): lambda t, i: t if i == 0 else t + 4,
    (8, 64): lambda t, i: t if i == 0 else t + 4,
    (16, 8): lambda t, i: t * 4 + i,
    (16, 16): lambda t, i: t * 2 + (i & 1) + (0 if i < 2 else 8),
    (16, 64): lambda t, i: t + i * 4,
    (32, 4): lambda t, i: t * 8 + (i & 7),
    (32, 8): lambda t, i: t * 4 + (i & 3) + (0 if i < 4 else 16),
    (64, 4): lambda t, i: t * 8 + (i & 7) + (0 if i < 8 else 32),
    (128, 1): lambda t, i: t * 32 + i,
    (256, 1): lambda t, i: t * 32 + (i & 31) + (0 if i < 32 else 128),
}


def every_cell_once(cells, rows, columns):
    row, column = cells
    return len(set(zip(row.ravel().tolist(), column.ravel().tolist(), strict=True))) == rows * columns


@pytest.mark.parametrize("shape", A, ids=str)
def test_a(shape):
    m, k, bits = shape
    row, column = fragments.mma_a(m, k, bits)
    assert row.shape == (32, m * k // 32)
    for lane, i in np.ndindex(row.shape):
        g, t = lane >> 2, lane % 4
        assert (row[lane, i], column[lane, i]) == (A[shape][0](g, t, i), A[shape][1](g, t, i))
    assert every_cell_once((row, column), m, k)


@pytest.mark.parametrize("shape", B, ids=str)
def test_b(shape):
    k, bits = shape
    row, column = fragments.mma_b(8, k, bits)
    for lane, i in np.ndindex(row.shape):
        assert (row[lane, i], column[lane, i]) == (B[shape](lane % 4, i), lane >> 2)
    assert every_cell_once((row, column), k, 8)


@pytest.mark.parametrize("m", [8, 16])
def test_c_and_d(m):
    row, column = fragments.mma_cd(m)
    for lane, i in np.ndindex(row.shape):
        g, t = lane >> 2, lane % 4
        assert (row[lane, i], column[lane, i]) == (g if i < 2 else g + 8, t * 2 + (i & 1))
    assert every_cell_once((row, column), m, 8)


def test_m8n8k4_is_four_products():
    low = np.arange(32) < 16
    for matrix, column_major, f32 in (
        ("a", 0, 0),
        ("a", 1, 0),
        ("b", 0, 0),
        ("b", 1, 0),
        ("c", 0, 0),
        ("c", 0, 1),
    ):
        row, column = fragments.mma_m8n8k4(matrix, bool(column_major), bool(f32))
        for product in range(4):
            threads = [q + 4 * product + high for high in (0, 16) for q in range(4)]
            shape = {"a": (8, 4), "b": (4, 8), "c": (8, 8)}[matrix]
            assert every_cell_once((row[threads], column[threads]), *shape)
    row, column = fragments.mma_m8n8k4("c", f32=True)
    for lane, i in np.ndindex(row.shape):
        x = (lane & 1) + (i & 2)
        assert row[lane, i] == (x if low[lane] else x + 4)
        assert column[lane, i] == (i & 4) + (lane & 2) + (i & 1)


@pytest.mark.parametrize("n", [8, 24, 128, 256])
def test_wgmma_accumulators(n):
    """d_i of a thread, figure 149: four registers for every 8 columns."""
    row, column = fragments.wgmma_d(n)
    assert row.shape == (128, n // 2)
    for thread, i in np.ndindex(row.shape):
        assert row[thread, i] == 16 * (thread // 32) + thread % 32 // 4 + 8 * (i % 4 // 2)
        assert column[thread, i] == 8 * (i // 4) + 2 * (thread % 4) + i % 2
    assert every_cell_once((row, column), 64, n)


@pytest.mark.parametrize(("k", "bits"), [(16, 16), (8, 32), (32, 8), (256, 1)])
def test_wgmma_a_is_mma_a_of_each_warp(k, bits):
    row, column = fragments.wgmma_a(k, bits)
    assert every_cell_once((row, column), 64, k)
    for warp in range(4):
        one = fragments.mma_a(16, k, bits)
        assert np.array_equal(row[32 * warp : 32 * warp + 32], one[0] + 16 * warp)
        assert np.array_equal(column[32 * warp : 32 * warp + 32], one[1])


def test_ldmatrix_feeds_mma():
    """Four 8 x 8 matrices loaded by ldmatrix.x4 are matrix A of m16n8k16, as every kernel uses it."""
    row, column = fragments.matrix_8x8()
    a_row, a_column = fragments.mma_a(16, 16, 16)
    for register, (top, left) in enumerate(((0, 0), (8, 0), (0, 8), (8, 8))):
        assert np.array_equal(a_row[:, 2 * register : 2 * register + 2], row + top)
        assert np.array_equal(a_column[:, 2 * register : 2 * register + 2], column + left)
    transposed = fragments.matrix_8x8(trans=True)
    assert np.array_equal(transposed[0], column)
    assert np.array_equal(transposed[1], row)


def test_8_bit_matrices_are_those_of_the_emulator():
    """Its `ldmatrix` and `stmatrix` are held against the manual's pictures; these places are its."""
    from ptxkit.emulator.operations.matrix import move

    rows = np.random.default_rng(0).permutation(256).astype(np.uint8).reshape(1, 16, 16)

    def held(cells):
        return rows[0][cells].reshape(32, -1, 4)

    registers = move.registers_of(rows, move.M16N16, True)
    found = np.stack(
        [np.ascontiguousarray(register[0]).view(np.uint8).reshape(32, 4) for register in registers], 1
    )
    assert np.array_equal(found, held(fragments.matrix_16x16()))
    (register,) = move.registers_of(rows[:, :8], move.M8N16, False)
    found = np.ascontiguousarray(register[0]).view(np.uint8).reshape(32, 1, 4)
    assert np.array_equal(found, held(fragments.matrix_8x16()))
    row, column = fragments.matrix_16x8()
    accumulator = np.ascontiguousarray(rows[0, :, :8][row, column]).view(np.uint32)[:, 0]
    assert np.array_equal(move.rows_of(accumulator[None], move.M16N8, True)[0], rows[0, :, :8].T)
    for cells, size in ((fragments.matrix_16x16(), (16, 16)), (fragments.matrix_8x16(), (8, 16))):
        assert every_cell_once(cells, *size)


@pytest.mark.parametrize("call", [lambda: fragments.mma_a(12, 16, 16), lambda: fragments.wgmma_d(12)])
def test_shapes_that_do_not_exist_are_refused(call):
    with pytest.raises(PtxkitError) as raised:
        call()
    assert raised.value.diagnostics[0].code == "P470"
