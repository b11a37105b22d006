"""The memories of CTAs of sm_107, with operands where the manual's canonical layouts have them.

Places follow from formulas of this file, not from `ptxkit.layouts`; numbers are such that sums are exact.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.tensor_memory.arithmetic import arithmetic
from ptxkit.emulator.tensor_memory.cells import PITCH, TensorMemory
from ptxkit.emulator.tensor_memory.factors import Side
from ptxkit.emulator.tensor_memory.mma_plan import MmaForm, decode
from ptxkit.emulator.tensor_memory.product import Operands, place

RUBIN = (10, 7)
BASE_A, BASE_B = 0x0, 0x48000
SHARED = 0x50000
SFA, SFB, METADATA, LUT, A_CELLS = 300, 330, 360, 380, 400
NARROW = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
BITS = {"e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4, "s1z4m11": 16}


def number(codes: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers that codes stand for."""
    if dtype == "s1z4m11":
        return np.where(codes >> 15, -1, 1) * (codes & 0x7FF).astype(np.int64)
    return codes.astype(np.uint8).view(NARROW[dtype]).astype(np.float64)


def small(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Codes of -2 to 2 in steps of a half: their sums are exact in f32, whatever their order."""
    if dtype == "s1z4m11":
        size = rng.integers(0, 2048, shape)
        return (size | rng.integers(0, 2, shape) << 15).astype(np.uint16)
    every = np.arange(1 << BITS[dtype])
    numbers = number(every, dtype)
    known = every[(abs(numbers) <= 2) & (numbers * 2 == np.floor(numbers * 2))]
    return rng.choice(known, shape).astype(np.uint8)


def stream(codes: np.ndarray, bits: int) -> np.ndarray:
    """Rows of codes as bytes, one behind the other, the lowest bits first."""
    each = codes[..., None] >> np.arange(bits) & 1
    flat = each.reshape(len(codes), -1)
    return np.packbits(flat.astype(np.uint8), axis=1, bitorder="little")


def in_shared(memory: np.ndarray, base: int, rows: np.ndarray, wide: bool = False) -> int:
    """Put rows of bytes K-major and unswizzled: cores of 8 rows by 16 bytes, along MN first. Returns the
    descriptor: start, LBO, SBO, and the constant of bits 46 to 48 (table 49)."""
    count, _size = rows.shape
    row, byte = np.indices(rows.shape)
    leading, stride = count * 16, 128
    memory[base + row // 8 * stride + row % 8 * 16 + byte // 16 * leading + byte % 16] = rows
    return base >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46


class Machine:
    """The memories of one CTA, or of a pair."""

    def __init__(self, ctas: int = 1) -> None:
        self.tensor = TensorMemory(ctas, tracked=True)
        bank = TiledBank(ctas, SHARED, tracked=False)
        self.sides = [Side(cta, bank, 0) for cta in range(ctas)]

    def put(self, cta: int, lane: Any, column: Any, byte: Any, values: Any) -> None:
        """Single bytes of tensor memory."""
        cells = self.tensor.data[cta].view(np.uint8).reshape(128, PITCH, 4)
        cells[lane, column, byte] = values
        self.tensor.defined[cta].view(np.uint8).reshape(128, PITCH, 4)[lane, column, byte] = 0xFF

    def words(self, cta: int) -> np.ndarray:
        return self.tensor.data[cta].reshape(128, PITCH)

    def multiply(self, form: MmaForm, idesc: int, **operands: Any) -> Any:
        plan = decode(form, idesc)
        ready = place(plan, Operands(**{"d": 0, "accumulate": False, **operands}))
        return arithmetic(RUBIN, plan, plain=False).run(ready, self.sides, self.tensor, None, 1)


def form(kind: str, **changes: Any) -> MmaForm:
    fields: dict[str, Any] = {
        "kind": kind, "cta_group": 1, "ws": False, "sparse": False, "ashift": False, "vector": None,
        "tensor_a": False, "capability": RUBIN,
    }  # fmt: skip
    return MmaForm(**{**fields, **changes})


def idesc(kind: str, **fields: Any) -> int:
    return int(INSTRUCTION_DESCRIPTORS[kind](**fields))


NIBBLES = (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)


def sparse_row(stored: np.ndarray, nibbles: np.ndarray) -> np.ndarray:
    """Two of each four elements by their indexes, from the lowest bits up (9.7.18.10.9.2)."""
    dense = np.zeros((*nibbles.shape, 4), stored.dtype)
    pairs = stored.reshape(*nibbles.shape, 2)
    for at, shift in ((0, 0), (1, 2)):
        np.put_along_axis(
            dense, (nibbles >> shift & 3)[..., None].astype(np.int64), pairs[..., at : at + 1], -1
        )
    return dense.reshape(len(stored), -1)


def scale_codes(
    rng: np.random.Generator, shape: tuple[int, int], scale: str
) -> tuple[np.ndarray, np.ndarray]:
    """Scale factors of a half to four, and their numbers."""
    bias = {"ue8m0": 127, "ue4m3": 7, "ue5m3": 15}[scale]
    power = rng.integers(-1, 3, shape)
    codes = power + bias if scale == "ue8m0" else (power + bias) << 3 | rng.choice([0, 4], shape)
    factor = 1.0 if scale == "ue8m0" else 1 + (codes & 7) / 8
    return codes.astype(np.uint8), factor * 2.0**power


def put_scales(machine: Machine, place_: int, codes: np.ndarray, first: int, lanes: int) -> None:
    """Row m in lane m % 32 of every quarter and column m // 32, or in lane m; the words after the first lie
    behind the columns of all rows (9.7.18.10.7.2)."""
    rows, _count = codes.shape
    m, j = np.indices(codes.shape)
    word, byte = np.divmod(j + first, 4)
    if lanes == 128:
        machine.put(0, m, place_ + m // 128 + word * -(-rows // 128), byte, codes)
        return
    for quarter in range(4):
        machine.put(0, m % 32 + 32 * quarter, place_ + m // 32 + word * (-(-rows // 128) * 4), byte, codes)
