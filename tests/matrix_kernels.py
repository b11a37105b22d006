"""Warp-level matrix instructions for tests: kernels around one statement, and what it must compute.

The reference places elements by the manual's fragments (`ptxkit.layouts.fragments`, which has tests of its
own) and computes on Python integers (`fused_sum`, `ieee`), one output at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fused_sum
import ieee
import numpy as np

from ptxkit.emulator import Emulator
from ptxkit.emulator.tensor_cores import Model, Order, find
from ptxkit.layouts import fragments

CAPABILITY = {
    "sm_75": (7, 5),
    "sm_80": (8, 0),
    "sm_89": (8, 9),
    "sm_90": (9, 0),
    "sm_100": (10, 0),
    "sm_120a": (12, 0),
}
BITS = {
    "f64": 64,
    "f32": 32,
    "s32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "u8": 8,
    "s8": 8,
    "u4": 4,
    "s4": 4,
    "b1": 1,
}
BITS |= {"e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4}
RAW = {64: np.uint64, 32: np.uint32, 16: np.uint16}


# ---- kernels


def kernel(
    statement: str,
    operands: Sequence[np.ndarray],
    results: tuple[int, int],
    target: str,
    before: str = "",
    version: str = "8.8",
) -> str:
    """A kernel in which every thread loads its registers, executes the statement and stores its results.

    Args:
        statement: with `{0}` for the result and `{1}` .. for the operands.
        operands: raw registers: (warps, 32, registers) for a vector, (warps, 32) for a single one.
        results: how many registers and of how many bits.
        target: `sm_90`.
        before: statements that come first.
        version: of PTX ISA.
    """
    count, bits = results
    declared = [f".reg .b{bits} %d<{count}>;"]
    loads, texts = [], ["{" + ", ".join(f"%d{i}" for i in range(count)) + "}"]
    offset = 0
    for number, operand in enumerate(operands):
        width = operand.dtype.itemsize
        size = operand.shape[2] if operand.ndim == 3 else 1
        declared.append(f".reg .b{8 * width} %s{number}_<{size}>;")
        names = [f"%s{number}_{i}" for i in range(size)]
        for name in names:
            loads.append(f"ld.global.b{8 * width} {name}, [%src+{offset}];")
            offset += width
        texts.append("{" + ", ".join(names) + "}" if operand.ndim == 3 else names[0])
    stores = [f"st.global.b{bits} [%dst+{i * bits // 8}], %d{i};" for i in range(count)]
    body = "\n    ".join([*declared, *loads, before, statement.format(*texts) + ";", *stores])
    return f"""\
.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 result)
{{
    .reg .u64 %src, %dst, %at;
    .reg .u32 %thread, %cta, %size;
    .reg .pred %p;
    ld.param.u64 %src, [source];
    ld.param.u64 %dst, [result];
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mad.lo.u32 %thread, %cta, %size, %thread;
    mul.wide.u32 %at, %thread, {offset};
    add.u64 %src, %src, %at;
    mul.wide.u32 %at, %thread, {count * bits // 8};
    add.u64 %dst, %dst, %at;
    {body}
    ret;
}}
"""


def execute(
    statement: str,
    operands: Sequence[np.ndarray],
    results: tuple[int, int],
    target: str,
    device: Any = None,
    before: str = "",
    version: str = "8.8",
) -> np.ndarray:
    """The result registers, (warps, 32, registers), of one warp for each of the operands' rows."""
    device = device or Emulator()
    warps = operands[0].shape[0]
    parts = [np.ascontiguousarray(o).reshape(warps, 32, -1).view(np.uint8) for o in operands]
    source = device.array(np.concatenate(parts, axis=2))
    result = device.empty((warps, 32, results[0]), RAW[results[1]])
    text = kernel(statement, operands, results, target, before, version)
    device.load(text).kernel("k").launch((warps,), (32,), [source, result])
    return result.numpy()


# ---- fragments


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Elements (.., elements) as registers (.., registers), low bits first."""
    if bits >= 32:
        return codes.astype(RAW[bits])
    per = 32 // bits
    parts = codes.reshape(*codes.shape[:-1], -1, per).astype(np.uint32)
    return np.bitwise_or.reduce(parts << (np.arange(per, dtype=np.uint32) * np.uint32(bits)), axis=-1)


def to_registers(matrix: np.ndarray, cells: fragments.Cells, bits: int) -> np.ndarray:
    """A matrix of codes (warps, rows, columns) as raw registers (warps, 32, registers)."""
    return pack(matrix[:, cells[0], cells[1]], bits)


def from_registers(
    registers: np.ndarray, cells: fragments.Cells, bits: int, shape: tuple[int, int]
) -> np.ndarray:
    """The matrix of codes back."""
    row, column = cells
    if bits < 32:
        halves = np.ascontiguousarray(registers).view(np.uint16)
    else:
        halves = registers
    matrix = np.zeros((len(registers), *shape), halves.dtype)
    matrix[:, row, column] = halves
    return matrix


# ---- inputs


def random_codes(element: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Element codes of many kinds."""
    count = int(np.prod(shape))
    if element == "f64":
        return np.array(ieee.numbers(ieee.F64, count, int(random.integers(1 << 30))), np.uint64).reshape(
            shape
        )
    if element in fused_sum.FORMATS or element == "tf32":
        return fused_sum.codes(element, count, random).reshape(shape)
    top = {"s32": 2**32, "u8": 256, "s8": 256, "u4": 16, "s4": 16, "b1": 2}[element]
    return random.integers(0, top, shape, dtype=np.uint64).astype(np.uint32)


def signed(codes: np.ndarray, element: str) -> np.ndarray:
    """Integer codes as int64."""
    wide = codes.astype(np.int64)
    bits = BITS[element]
    return np.where(wide >> bits - 1 & 1, wide - (1 << bits), wide) if element[0] == "s" else wide


def in_container(codes: np.ndarray, element: str, random: np.random.Generator) -> np.ndarray:
    """Codes in bytes as `.kind::f8f6f4` wants them, the padding full of rubbish."""
    rubbish = random.integers(0, 256, codes.shape, dtype=np.uint8)
    if BITS[element] == 4:
        return codes << 2 | rubbish & 0xC3
    return codes | rubbish & 0xC0 if BITS[element] == 6 else codes


# ---- references


def integers(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str], saturate: bool
) -> np.ndarray:
    """D of integer matrices, (warps, M, K), (warps, K, N), (warps, M, N)."""
    total = signed(a, types[0]) @ signed(b, types[1]) + signed(c, "s32")
    total = np.clip(total, -(2**31), 2**31 - 1) if saturate else total
    return total.astype(np.uint64).astype(np.uint32)


def bits(a: np.ndarray, b: np.ndarray, c: np.ndarray, operator: str) -> np.ndarray:
    """D of single-bit matrices."""
    left, right = a[:, :, :, None] != 0, b[:, None] != 0
    both = left & right if operator == "and" else left ^ right
    return (both.sum(axis=2) + c).astype(np.uint64).astype(np.uint32)


def doubles(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    """D of f64 matrices: a chain of fused multiply-adds."""
    d = c.copy()
    for w, i, j in np.ndindex(c.shape):
        total = int(c[w, i, j])
        for k in range(a.shape[2]):
            total = ieee.fma(ieee.F64, int(a[w, i, k]), int(b[w, k, j]), total, mode)
        d[w, i, j] = total
    return d


def output(
    model: Model,
    a: Sequence[fused_sum.Number],
    b: Sequence[fused_sum.Number],
    c: int,
    c_type: str,
    d_type: str,
) -> int:
    """One output of floating-point matrices; unselected elements of sparse ones have been left out."""
    inner = "f32" if "f32" in (c_type, d_type) else "f16"
    if c_type != inner:
        c = (
            ieee.rounded(ieee.F32, ieee.number(ieee.F16, c), "rn", c >> 15)
            if c & 0x7C00 != 0x7C00
            else widened(c)
        )
    zero = model.zero if inner == "f32" else model.zero_f16
    assert zero is not None
    if model.order is Order.HALVES:
        a, b = ([fused_sum.as_f16(x) for x in side] for side in (a, b))
        total = 0
        for first in (0, 2):
            chosen = [k for k in range(len(a)) if k % 4 in (first, first + 1)]
            left, right = [a[k] for k in chosen], [b[k] for k in chosen]
            total = fused_sum.fused(left, right, total, inner, len(chosen), model.fraction, model.bits, zero)
        return ieee.add(ieee.F32 if inner == "f32" else ieee.F16, total, c, "rn")
    d = fused_sum.fused(a, b, c, inner, model.step, model.fraction, model.bits, zero)
    if d_type == inner:
        return d
    if d & 0x7F800000 == 0x7F800000:
        return 0x7FFF if d & 0x7FFFFF else 0x7C00 | d >> 16 & 0x8000
    return ieee.rounded(ieee.F16, ieee.number(ieee.F32, d), "rn", d >> 31)


def widened(c: int) -> int:
    """An f16 infinity or NaN as f32."""
    return 0x7FFFFFFF if c & 0x3FF else c << 16 & 0x80000000 | 0x7F800000


def floats(
    model: Model,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    types: tuple[str, str, str, str],
    present: np.ndarray | None = None,
    scales: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """D of floating-point matrices.

    Args:
        model: of the instruction.
        a, b, c: codes: (warps, M, K), (warps, K, N), (warps, M, N).
        types: of D, A, B and C.
        present: bool (warps, M, K), the elements of A that are stored.
        scales: `ue8m0` codes (warps, M) and (warps, N), one for the whole of K.
    """
    d_type, a_type, b_type, c_type = types
    d = np.zeros(c.shape, RAW[BITS[d_type]])
    for w in range(len(c)):
        left = [[fused_sum.decode(a_type, int(x)) for x in row] for row in a[w]]
        right = [[fused_sum.decode(b_type, int(x)) for x in column] for column in b[w].T]
        if scales is not None:
            left = [
                [fused_sum.scaled(x, fused_sum.scale("ue8m0", int(s))) for x in row]
                for row, s in zip(left, scales[0][w], strict=True)
            ]
            right = [
                [fused_sum.scaled(x, fused_sum.scale("ue8m0", int(s))) for x in column]
                for column, s in zip(right, scales[1][w], strict=True)
            ]
        for i, j in np.ndindex(c.shape[1:]):
            chosen = range(a.shape[2]) if present is None else np.flatnonzero(present[w, i])
            x, y = [left[i][k] for k in chosen], [right[j][k] for k in chosen]
            d[w, i, j] = output(model, x, y, int(c[w, i, j]), c_type, d_type)
    return d


def model_of(target: str, instruction: str, element: str) -> Model:
    """The model of an instruction that a target has."""
    model = find(CAPABILITY[target], instruction, element)
    assert model is not None
    return model


# ---- sparsity

PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def sparse(
    k: int, bits_: int, warps: int, ordered: bool, random: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Random structured sparsity.

    Returns:
        Nibbles (warps, 16, chunks), the places of the stored elements (warps, 16, k / 2), and which elements
        are stored (warps, 16, k).
    """
    chunk = fragments.SPARSE_CHUNK[bits_]
    chunks = k // chunk
    if bits_ == 32:
        choice = random.integers(0, 2, (warps, 16, chunks))
        nibbles = np.where(choice == 0, 0b0100, 0b1110)
        places = choice[..., None]
    else:
        pairs = np.array(PAIRS if ordered else [*PAIRS, *(pair[::-1] for pair in PAIRS)])
        chosen = pairs[random.integers(0, len(pairs), (warps, 16, chunks))]
        nibbles = chosen[..., 0] | chosen[..., 1] << 2
        together = chunk // 4
        places = (chosen[..., None] * together + np.arange(together)).reshape(warps, 16, chunks, -1)
    where = (places + np.arange(chunks)[:, None] * chunk).reshape(warps, 16, -1)
    present = np.zeros((warps, 16, k), bool)
    np.put_along_axis(present, where, True, axis=2)
    return nibbles, where, present


def metadata_registers(
    nibbles: np.ndarray, k: int, bits_: int, selector: int, random: np.random.Generator
) -> np.ndarray:
    """The metadata operand, (warps, 32), rubbish in the lanes that don't count."""
    lanes, shifts = fragments.mma_metadata(k, bits_, selector)
    words = random.integers(0, 2**32, (len(nibbles), 32), dtype=np.uint64)
    words[:, np.unique(lanes)] = 0
    for row, chunk in np.ndindex(lanes.shape):
        words[:, lanes[row, chunk]] |= nibbles[:, row, chunk].astype(np.uint64) << np.uint64(
            shifts[row, chunk]
        )
    return words.astype(np.uint32)
