"""`mma` with `.block_scale` on the emulator, dense and sparse."""

from __future__ import annotations

import fused_sum
import matrix_kernels as matrices
import numpy as np
import pytest
from emulated import fault
from matrix_kernels import execute, from_registers, kernel, model_of, random_codes, to_registers

from ptxkit.emulator import Emulator
from ptxkit.layouts import fragments

WARPS, TARGET = 2, "sm_120a"
CELLS = fragments.mma_cd(16)


def factors(kind: str, blocks: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random factors of A (warps, 16, blocks) and B (warps, 8, blocks)."""
    low, high = (120, 135) if kind == "ue8m0" else (0, 0x7E)
    a, b = (random.integers(low, high, (WARPS, rows, blocks), dtype=np.uint8) for rows in (16, 8))
    a[0, 3, 0] = 0xFF if kind == "ue8m0" else 0x7F
    return a, b


def scale_registers(
    values: np.ndarray, lanes: list[int], byte: int, random: np.random.Generator
) -> np.ndarray:
    """The scale operand: rubbish save in the chosen bytes of the lanes that count."""
    words = random.integers(0, 256, (WARPS, 32, 4), dtype=np.uint8)
    words[:, lanes, byte : byte + values.shape[2]] = values
    return np.ascontiguousarray(words).view(np.uint32)[..., 0]


def scale_operands(
    a: np.ndarray, b: np.ndarray, ids: tuple[int, int, int, int], random: np.random.Generator
) -> list[np.ndarray]:
    """Rows 0 to 7 of A are in the first lane of the chosen pair of a quad, rows 8 to 15 in the second."""
    byte_a, thread_a, byte_b, thread_b = ids
    lanes_a = [4 * (row % 8) + 2 * thread_a + row // 8 for row in range(16)]
    lanes_b = [4 * column + thread_b for column in range(8)]
    return [scale_registers(a, lanes_a, byte_a, random), scale_registers(b, lanes_b, byte_b, random)]


def ids_of(blocks: int) -> list[tuple[int, int, int, int]]:
    bytes_ = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}[blocks]
    return [(bytes_[i % len(bytes_)], i % 2, bytes_[-1 - i % len(bytes_)], 3 - i) for i in range(4)]


SMALL = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


@pytest.mark.parametrize(("a", "b"), [*zip(SMALL, SMALL, strict=True), ("e4m3", "e2m1"), ("e3m2", "e5m2")])
@pytest.mark.parametrize("registers", [False, True])
def test_mxf8f6f4(a: str, b: str, registers: bool) -> None:
    random = np.random.default_rng(1)
    name = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
    left, right = random_codes(a, (WARPS, 16, 32), random), random_codes(b, (WARPS, 32, 8), random)
    start = random_codes("f32", (WARPS, 16, 8), random)
    of_a, of_b = factors("ue8m0", 1, random)
    ids = ids_of(1)[registers]
    operands = [
        to_registers(matrices.in_container(left, a, random), fragments.mma_a(16, 32, 8), 8),
        to_registers(matrices.in_container(right, b, random), fragments.mma_b(8, 32, 8), 8),
        to_registers(start, CELLS, 32),
        *scale_operands(of_a, of_b, ids, random),
    ]
    before = ""
    texts = [str(number) for number in ids]
    if registers:
        before = ".reg .u16 %id<4>; " + " ".join(f"mov.u16 %id{i}, {number};" for i, number in enumerate(ids))
        texts = [f"%id{i}" for i in range(4)]
    statement = (
        f"{name}.f32.{a}.{b}.f32.ue8m0 {{0}}, {{1}}, {{2}}, {{3}},"
        f" {{4}}, {{{{{texts[0]}, {texts[1]}}}}}, {{5}}, {{{{{texts[2]}, {texts[3]}}}}}"
    )
    found = from_registers(execute(statement, operands, (4, 32), TARGET, before=before), CELLS, 32, (16, 8))
    model = model_of(TARGET, "mma", "mxf8f6f4")
    scales = of_a[..., 0], of_b[..., 0]
    wanted = matrices.floats(model, left, right, start, ("f32", a, b, "f32"), scales=scales)
    assert np.array_equal(found, wanted)


FP4 = [
    ("mxf4", "2X", "ue8m0"),
    ("mxf4nvf4", "2X", "ue8m0"),
    ("mxf4nvf4", "4X", "ue4m3"),
    ("mxf4nvf4", "4X", "ue8m0"),
]


@pytest.mark.parametrize(("kind", "vector", "factor"), FP4)
@pytest.mark.parametrize("sparse", [False, True])
def test_mxf4(kind: str, vector: str, factor: str, sparse: bool) -> None:
    random = np.random.default_rng(2)
    k, blocks = 128 if sparse else 64, int(vector[0])
    stored = random_codes("e2m1", (WARPS, 16, 64), random)
    right = random_codes("e2m1", (WARPS, k, 8), random)
    start = random_codes("f32", (WARPS, 16, 8), random)
    of_a, of_b = factors(factor, blocks, random)
    ids = ids_of(blocks)[1]
    operands = [
        to_registers(stored, fragments.mma_a(16, 64, 4), 4),
        to_registers(right, fragments.mma_b(8, k, 4), 4),
        to_registers(start, CELLS, 32),
    ]
    left, where, meta = stored, np.broadcast_to(np.arange(64), stored.shape), ""
    if sparse:
        nibbles, where, _ = matrices.sparse(k, 4, WARPS, True, random)
        left = np.zeros((WARPS, 16, k), np.uint8)
        np.put_along_axis(left, where, stored, axis=2)
        operands.append(matrices.metadata_registers(nibbles, k, 4, 0, random))
        meta = "{4}, 0, "
    first = len(operands) + 1
    operands += scale_operands(of_a, of_b, ids, random)
    name = "mma.sp::ordered_metadata" if sparse else "mma"
    statement = (
        f"{name}.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale"
        f".scale_vec::{vector}.f32.e2m1.e2m1.f32.{factor} {{0}}, {{1}}, {{2}}, {{3}}, {meta}"
        f"{{{first}}}, {{{{{ids[0]}, {ids[1]}}}}}, {{{first + 1}}}, {{{{{ids[2]}, {ids[3]}}}}}"
    )
    results = execute(statement, operands, (4, 32), TARGET, version="9.1")
    found = from_registers(results, CELLS, 32, (16, 8))
    for w, i, j in np.ndindex(start.shape):
        x = [fused_sum.decode("e2m1", int(v)) for v in stored[w, i]]
        y = [fused_sum.decode("e2m1", int(v)) for v in right[w, where[w, i], j]]
        pairs = [
            (fused_sum.scale(factor, int(of_a[w, i, at])), fused_sum.scale(factor, int(of_b[w, j, at])))
            for at in (g * blocks // 4 for g in range(4))
        ]
        assert int(found[w, i, j]) == fused_sum.grouped(x, y, int(start[w, i, j]), pairs)


def test_a_selector_out_of_range_is_found() -> None:
    a, b, c = (np.zeros((1, 32, n), np.uint32) for n in (4, 2, 4))
    scale = np.zeros((1, 32), np.uint32)
    statement = (
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
        " {0}, {1}, {2}, {3}, {4}, {{%id, 0}}, {5}, {{0, 0}}"
    )
    before = ".reg .u16 %id; mov.u16 %id, 1;"
    text = kernel(statement, [a, b, c, scale, scale], (4, 32), TARGET, before)
    device = Emulator()
    source, result = device.array(np.zeros((32, 12), np.uint32)), device.empty((32, 4), np.uint32)
    found = fault("P644", text, [source, result], device=device)
    assert "byte-id 0, 2" in found.message
