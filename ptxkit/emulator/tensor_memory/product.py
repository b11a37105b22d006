"""One `tcgen05.mma`: what it reads and writes. PTX ISA 9.7.16.10.

`mma_plan.decode` turns the modifiers and the instruction descriptor into a `Tcgen05Plan`, once; `place` adds
the addresses of one instruction. `ptxkit.emulator.tensor_memory.arithmetic` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ptxkit.diagnostics import Diagnostic, PtxkitError, counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.tensor_memory.cells import PITCH, Area, Box
from ptxkit.emulator.tensor_memory.mma_plan import Illegal, Tcgen05Plan
from ptxkit.emulator.tensor_memory.operands import (
    CellMap,
    Tcgen05SharedOperand,
    operand_a_map,
    shared_operand,
    tensor_map,
)
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.encodings.zero_column_mask import ZeroColumnMask
from ptxkit.layouts.scales import tmem_cells
from ptxkit.layouts.sparsity import metadata_cells
from ptxkit.layouts.tensor_memory import DataPath


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of one instruction.

    Attributes:
        d: TMEM address.
        a: matrix descriptor, or TMEM address.
        b: matrix descriptor.
        accumulate: `enable-input-d`.
        metadata, scale_a, scale_b, lut: TMEM addresses, None where there are none.
        mask: zero-column mask descriptor, or None.
        scale_input: `scale-input-d`.
    """

    d: int
    a: int
    b: int
    accumulate: bool
    metadata: int | None = None
    scale_a: int | None = None
    scale_b: int | None = None
    mask: int | None = None
    scale_input: int = 0
    lut: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A map of tensor memory at an address.

    Attributes:
        map: relative cells.
        cell: what is added to them.
        box: the cells.
    """

    map: CellMap
    cell: int
    box: Box


@dataclass(frozen=True, slots=True)
class Tcgen05Product:
    """One `tcgen05.mma` with all its places; they are the same in both CTAs of a pair.

    Attributes:
        plan: the shape and types.
        operands: as issued.
        d: where D lies.
        a: matrix A.
        b: matrix B, or this CTA's half of it.
        metadata, scale_a, scale_b, lut: in tensor memory, where there are such.
        mask: for each column of B whether it counts as zero; None for no.
        shift: the first column of B.
        zeros: whether metadata of zeros is taken: both elements of such a chunk stand at its first place.
    """

    plan: Tcgen05Plan
    operands: Operands
    d: Area
    a: Tcgen05SharedOperand | Placed
    b: Tcgen05SharedOperand
    metadata: Placed | None
    scale_a: Placed | None
    scale_b: Placed | None
    lut: Placed | None
    mask: tuple[int, ...] | None
    shift: int
    lut_segment: int = 0
    zeros: bool = False

    @property
    def shared(self) -> tuple[Tcgen05SharedOperand, ...]:
        """What is read from shared memory."""
        return (self.a, self.b) if isinstance(self.a, Tcgen05SharedOperand) else (self.b,)

    @property
    def reads(self) -> tuple[Box, ...]:
        """The cells that are read, those of D apart."""
        placed = (self.a, self.metadata, self.scale_a, self.scale_b, self.lut)
        return tuple(part.box for part in placed if isinstance(part, Placed))

    @property
    def writes(self) -> tuple[Box, ...]:
        """The cells of D, which are read, too, where the product adds to them."""
        return self.d.boxes


@lru_cache(maxsize=1024)
def smem_descriptor(word: int, capability: tuple[int, int]) -> SmemDescTcgen05:
    """A matrix descriptor on a device of a compute capability, as hardware reads it. Raises P6126."""
    word = SmemDescTcgen05.without_idle_offset(word)
    problems = [problem for problem in SmemDescTcgen05.diagnose(word) if problem.is_error]
    if not problems:
        found = SmemDescTcgen05.decode(word)
        problems = found.check_target(capability)
    if problems:
        raise Illegal("P6126", problems)
    return found


@lru_cache(maxsize=1024)
def place(plan: Tcgen05Plan, operands: Operands) -> Tcgen05Product:
    """A product where its operands put it. Raises P6125, P6126; P6110, something lies outside tensor
    memory."""
    form = plan.form
    mask, shift = _zero_columns(plan, operands.mask)
    d = Area(plan.path, plan.n, operands.d >> 16, operands.d & 0xFFFF)
    starts = (0, 16) if plan.path.lane_of_16 == 32 else (0,)
    if d.lane not in starts:
        allowed = " or ".join(map(str, starts))
        raise Illegal("P6110", [Diagnostic("P426", f"D must begin at lane {allowed}, found {d.lane}")])
    if form.tensor_a:
        a: Tcgen05SharedOperand | Placed = _matrix_a(plan, operands.a)
    else:
        a = _matrix(plan, operands.a, plan.path.rows, plan.stored_k, plan.a, plan.major_a)
    lut = None
    if form.lut_b:
        b, lut, segment = _compressed_b(plan, operands)
    else:
        segment = 0
        b = _matrix(plan, operands.b, plan.columns + shift, plan.k, plan.b, plan.major_b)
    metadata = scale_a = scale_b = None
    if operands.metadata is not None:
        found = _metadata_map(form.kind, plan.path, plan.k, plan.sparsity_version)
        metadata = _placed(found, operands.metadata, plan.selector)
    if operands.scale_a is not None and operands.scale_b is not None:
        halves = plan.path.name == "B"
        words = [max(chosen) // 4 + 1 for chosen in (plan.bytes_a, plan.bytes_b)]
        map_a = _scale_map(plan.path.rows, False, words[0], plan.sfa_lanes)
        scale_a = _placed(map_a, operands.scale_a & SCALE_ADDRESS)
        scale_b = _placed(_scale_map(plan.n, halves, words[1]), operands.scale_b & SCALE_ADDRESS)
    product = Tcgen05Product(plan, operands, d, a, b, metadata, scale_a, scale_b, lut, mask, shift, segment)
    for box in (*product.writes, *product.reads):
        if box.beyond(form.columns):
            message = f"expected 128 lanes of {form.columns} columns, found {box}"
            raise Illegal("P6110", [Diagnostic("P426", message)])
    return product


SCALE_ADDRESS = 0x3FFF_FFFF
"""Scale factor addresses may carry the scale factor id in bits 30 and 31, as CUTLASS leaves it there."""


LUT_BYTES, LUT_GROUP = 48, 8
"""Bytes of a row of compressed B, for 128 elements along K, and columns of B that share a table."""


def _matrix(plan: Tcgen05Plan, word: int, mn: int, k: int, dtype: str, major: str) -> Tcgen05SharedOperand:
    descriptor = smem_descriptor(word, plan.form.capability)
    if descriptor.lut_segment:
        message = "`lut_segment` is for B of `.decompress::lut::b`, found 24"
        raise Illegal("P6126", [Diagnostic("P426", message)])
    if plan.stream(dtype):
        return _shared(descriptor, mn, k * DTYPES[dtype].bits // 8, "u8", major, False)
    return _shared(descriptor, mn, k, dtype, major, plan.padded(dtype))


def _compressed_b(plan: Tcgen05Plan, operands: Operands) -> tuple[Tcgen05SharedOperand, Placed, int]:
    """B as bytes of indexes, its tables, and how many bytes of a row are passed over."""
    assert operands.lut is not None
    descriptor = smem_descriptor(operands.b, plan.form.capability)
    if operands.lut & 1:
        message = f"look-up tables begin at an even column, found {operands.lut & 0xFFFF}"
        raise Illegal("P6110", [Diagnostic("P426", message)])
    tables = _placed(_lut_map(plan.columns // LUT_GROUP), operands.lut)
    return _shared(descriptor, plan.columns, LUT_BYTES, "u8", "K", False), tables, descriptor.lut_segment


@lru_cache(maxsize=32)
def _lut_map(groups: int) -> CellMap:
    """The two words with the table of each group of columns: a lane a group."""
    _, lane, word = np.indices((1, groups, 2))
    return tensor_map(lane, word, word * 0, 32)


def _shared(
    descriptor: SmemDescTcgen05, mn: int, k: int, dtype: str, major: str, padded: bool
) -> Tcgen05SharedOperand:
    try:
        return shared_operand(descriptor, mn, k, dtype, major, padded)
    except PtxkitError as wrong:
        raise Illegal("P6126", list(wrong.diagnostics)) from None


def _placed(found: CellMap, address: int, more: int = 0) -> Placed:
    lane, column = address >> 16, (address & 0xFFFF) + more
    return Placed(found, lane * PITCH + column, Box(found.lanes, 0, found.columns).moved(lane, column))


def _matrix_a(plan: Tcgen05Plan, address: int) -> Placed:
    try:
        spread = plan.path.lane_of_16 == 32
        lane = address >> 16 if spread else 0
        bits, k = plan.container(plan.a), plan.stored_k
        if plan.stream(plan.a):
            bits, k = 32, k * bits // 32
        found = operand_a_map(plan.path.name, k, bits, lane)
    except PtxkitError as wrong:
        raise Illegal("P6125", list(wrong.diagnostics)) from None
    return _placed(found, address & 0xFFFF if spread else address)


@lru_cache(maxsize=64)
def _metadata_map(kind: str, path: DataPath, k: int, version: int) -> CellMap:
    return tensor_map(*metadata_cells(kind, path, k, version), 4)


@lru_cache(maxsize=64)
def _scale_map(rows: int, halves: bool, words: int, lanes: int = 32) -> CellMap:
    """The words with the factors of each row: (copies, words, rows)."""
    lane, word, _ = tmem_cells(rows, 4 * words, halves, lanes)
    axes = (2, 0, 1)
    lane, word = lane[:, ::4].transpose(axes), word[:, ::4].transpose(axes)
    return tensor_map(lane, word, word * 0, 32)


def _zero_columns(plan: Tcgen05Plan, word: int | None) -> tuple[tuple[int, ...] | None, int]:
    if word is None:
        return None, 0
    problems = [problem for problem in ZeroColumnMask.diagnose(word) if problem.is_error]
    if not problems:
        mask = ZeroColumnMask.decode(word)
        problems = list(mask.check_use(plan.m))
        if mask.shift > plan.max_shift:
            shift = counted(mask.shift, "column")
            message = f"the mask shifts by {shift}, the instruction descriptor allows {plan.max_shift}"
            problems.append(Diagnostic("P440", message))
    if problems:
        raise Illegal("P6127", problems)
    bits = tuple(mask.mask(plan.m, plan.n))
    return (bits if any(bits) else None), mask.shift
