"""One `tcgen05.mma`: what its descriptors mean, what it reads and writes. PTX ISA 9.7.16.10.

`decode` turns the modifiers and the instruction descriptor into a `Tcgen05Plan`, once; `Tcgen05Plan.place`
adds the addresses of one instruction. `ptxkit.emulator.tensor_memory.arithmetic` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ptxkit.diagnostics import Diagnostic, PtxkitError, counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.tensor_memory.cells import PITCH, Area, Box
from ptxkit.emulator.tensor_memory.operands import (
    CellMap,
    Tcgen05SharedOperand,
    operand_a_map,
    shared_operand,
    tensor_map,
)
from ptxkit.encodings.instruction import INSTRUCTION_DESCRIPTORS
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.encodings.zero_column_mask import ZeroColumnMask
from ptxkit.isa.modifiers import ScaleVector
from ptxkit.layouts.scales import selected_bytes, tmem_cells
from ptxkit.layouts.sparsity import metadata_cells
from ptxkit.layouts.tensor_memory import DataPath, data_path

SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")
PADDED = ("f8f6f4", "mxf8f6f4")
"""Kinds whose elements of 4 and 6 bits take as much room as 8-bit ones."""
BLOCKS = {("mxf8f6f4", "block32"): "1X", ("mxf4", "block32"): "2X", ("mxf4nvf4", "block32"): "2X",
          ("mxf4nvf4", "block16"): "4X"}  # fmt: skip
"""`.scale_vec` for its aliases, for every K but 96 (9.7.16.10.7.1)."""
DEFAULT_VECTOR = {"mxf8f6f4": "1X", "mxf4": "2X"}


class Illegal(Exception):
    """Descriptors that mean nothing to the instruction.

    Attributes:
        code: of the rule that they break.
        problems: what is wrong.
    """

    def __init__(self, code: str, problems: list[Diagnostic]) -> None:
        super().__init__(code)
        self.code = code
        self.problems = problems


@dataclass(frozen=True, slots=True)
class MmaForm:
    """The modifiers of a `tcgen05.mma`.

    Attributes:
        kind: without `kind::`.
        cta_group: 1 or 2.
        ws, sparse, ashift: as in the opcode.
        vector: `1X`, `2X` or `4X`; None without block scaling.
        tensor_a: whether A lies in tensor memory.
        columns: of tensor memory that the device has.
    """

    kind: str
    cta_group: int
    ws: bool
    sparse: bool
    ashift: bool
    vector: str | None
    tensor_a: bool
    columns: int = 512


@dataclass(frozen=True, slots=True)
class Tcgen05Plan:
    """What a form computes with one instruction descriptor.

    Attributes:
        form: the modifiers.
        m, n, k: the shape; M of both CTAs together.
        a, b, d: element types.
        path: the data path of D; a CTA has `path.rows` rows.
        major_a, major_b: `K` or `MN`.
        negate_a, negate_b, saturate: of the descriptor.
        selector: the sparsity selector.
        max_shift: columns of B that `.ws` may be shifted by.
        scale: type of the scale factors, or None.
        bytes_a, bytes_b: the bytes of a scale word that are used; those from 4 on are of the word with the
            next four blocks.
    """

    form: MmaForm
    m: int
    n: int
    k: int
    a: str
    b: str
    d: str
    path: DataPath
    major_a: str
    major_b: str
    negate_a: bool
    negate_b: bool
    saturate: bool
    selector: int
    max_shift: int
    scale: str | None
    bytes_a: tuple[int, ...]
    bytes_b: tuple[int, ...]

    @property
    def stored_k(self) -> int:
        """Elements of a row of A that are stored."""
        return self.k // 2 if self.form.sparse else self.k

    @property
    def columns(self) -> int:
        """Columns of B that one CTA holds."""
        return self.n // self.form.cta_group

    def container(self, dtype: str) -> int:
        """Bits of an element in tensor memory."""
        bits = DTYPES[dtype].bits
        return max(bits, 8) if self.form.kind in PADDED else bits

    def padded(self, dtype: str) -> bool:
        """Whether elements have gaps in shared memory."""
        return self.form.kind in PADDED and DTYPES[dtype].bits < 8


@lru_cache(maxsize=256)
def decode(form: MmaForm, idesc: int) -> Tcgen05Plan:
    """The meaning of an instruction descriptor. Raises P6125; the problems name the rule."""
    cls = INSTRUCTION_DESCRIPTORS[form.kind]
    problems = [problem for problem in cls.diagnose(idesc) if problem.is_error]
    if problems:
        raise Illegal("P6125", problems)
    word = cls.decode(idesc)
    problems = list(word.check_use(form.cta_group, form.ws))
    fields = word.fields()
    if word.sparse != form.sparse:
        bit, wanted = int(word.sparse), "`.sp`" if form.sparse else "no `.sp`"
        problems.append(Diagnostic("P426", f"bit 2, sparsity, is {bit} in an instruction with {wanted}"))
    if form.ashift and word.m not in (128, 256):
        problems.append(Diagnostic("P426", f"`.ashift` needs M = 128 or 256, found {word.m}"))
    scale = fields.get("scale") if form.kind in SCALED else None
    if scale == "ue4m3" and form.vector != "4X":
        problems.append(
            Diagnostic("P426", f"scale factors of ue4m3 need `.scale_vec::4X`, found {form.vector}")
        )
    chosen = []
    for name in ("sfa_id", "sfb_id"):
        try:
            chosen.append(selected_bytes(form.vector, fields[name], word.k == 96) if form.vector else ())
        except PtxkitError as wrong:
            problems += wrong.diagnostics
    if problems:
        raise Illegal("P6125", problems)
    return Tcgen05Plan(
        form=form,
        m=word.m,
        n=word.n,
        k=word.k,
        a=word.a,
        b=word.b,
        d=fields.get("d", word.D),
        path=data_path(word.m, form.cta_group, form.sparse, form.ws),
        major_a="MN" if word.transpose_of("a") else "K",
        major_b="MN" if word.transpose_of("b") else "K",
        negate_a=bool(fields.get("negate_a")),
        negate_b=bool(fields.get("negate_b")),
        saturate=bool(fields.get("saturate")),
        selector=fields.get("sparsity_selector", 0),
        max_shift=fields.get("max_shift", 0),
        scale=scale,
        bytes_a=chosen[0],
        bytes_b=chosen[1],
    )


# ---- one instruction


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of one instruction.

    Attributes:
        d: TMEM address.
        a: matrix descriptor, or TMEM address.
        b: matrix descriptor.
        accumulate: `enable-input-d`.
        metadata, scale_a, scale_b: TMEM addresses, None where there are none.
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
        metadata, scale_a, scale_b: in tensor memory, where there are such.
        mask: for each column of B whether it counts as zero; None for no.
        shift: the first column of B.
    """

    plan: Tcgen05Plan
    operands: Operands
    d: Area
    a: Tcgen05SharedOperand | Placed
    b: Tcgen05SharedOperand
    metadata: Placed | None
    scale_a: Placed | None
    scale_b: Placed | None
    mask: tuple[int, ...] | None
    shift: int

    @property
    def shared(self) -> tuple[Tcgen05SharedOperand, ...]:
        """What is read from shared memory."""
        return (self.a, self.b) if isinstance(self.a, Tcgen05SharedOperand) else (self.b,)

    @property
    def reads(self) -> tuple[Box, ...]:
        """The cells that are read, those of D apart."""
        placed = (self.a, self.metadata, self.scale_a, self.scale_b)
        return tuple(part.box for part in placed if isinstance(part, Placed))

    @property
    def writes(self) -> tuple[Box, ...]:
        """The cells of D, which are read, too, where the product adds to them."""
        return self.d.boxes


def smem_descriptor(word: int) -> SmemDescTcgen05:
    """A matrix descriptor. Raises P6126."""
    problems = [problem for problem in SmemDescTcgen05.diagnose(word) if problem.is_error]
    if problems:
        raise Illegal("P6126", problems)
    return SmemDescTcgen05.decode(word)


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
        descriptor = smem_descriptor(operands.a)
        rows, stored = plan.path.rows, plan.stored_k
        a = _shared(descriptor, rows, stored, plan.a, plan.major_a, plan.padded(plan.a))
    columns = plan.columns + shift
    b = _shared(smem_descriptor(operands.b), columns, plan.k, plan.b, plan.major_b, plan.padded(plan.b))
    metadata = scale_a = scale_b = None
    if operands.metadata is not None:
        metadata = _placed(_metadata_map(form.kind, plan.path, plan.k), operands.metadata, plan.selector)
    if operands.scale_a is not None and operands.scale_b is not None:
        halves = plan.path.name == "B"
        words = [max(chosen) // 4 + 1 for chosen in (plan.bytes_a, plan.bytes_b)]
        scale_a = _placed(_scale_map(plan.path.rows, False, words[0]), operands.scale_a & SCALE_ADDRESS)
        scale_b = _placed(_scale_map(plan.n, halves, words[1]), operands.scale_b & SCALE_ADDRESS)
    product = Tcgen05Product(plan, operands, d, a, b, metadata, scale_a, scale_b, mask, shift)
    for box in (*product.writes, *product.reads):
        if box.beyond(form.columns):
            message = f"expected 128 lanes of {form.columns} columns, found {box}"
            raise Illegal("P6110", [Diagnostic("P426", message)])
    return product


SCALE_ADDRESS = 0x3FFF_FFFF
"""Scale factor addresses may carry the scale factor id in bits 30 and 31, as CUTLASS leaves it there."""


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
        found = operand_a_map(plan.path.name, plan.stored_k, plan.container(plan.a), lane)
    except PtxkitError as wrong:
        raise Illegal("P6125", list(wrong.diagnostics)) from None
    return _placed(found, address & 0xFFFF if spread else address)


@lru_cache(maxsize=64)
def _metadata_map(kind: str, path: DataPath, k: int) -> CellMap:
    return tensor_map(*metadata_cells(kind, path, k), 4)


@lru_cache(maxsize=64)
def _scale_map(rows: int, halves: bool, words: int) -> CellMap:
    """The words with the factors of each row: (copies, words, rows)."""
    lane, word, _ = tmem_cells(rows, 4 * words, halves)
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


def vector_of(kind: str, size: ScaleVector | None) -> str:
    """`1X`, `2X` or `4X` for a block-scaled kind, by the modifier or by default."""
    if size is None:
        return DEFAULT_VECTOR[kind]
    return BLOCKS.get((kind, size)) or size.removeprefix("scale_vec::")
