"""What one `tcgen05.mma` computes: its modifiers, and the instruction descriptor. PTX ISA 9.7.16.10."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.instruction import INSTRUCTION_DESCRIPTORS
from ptxkit.isa.modifiers import ScaleVector
from ptxkit.layouts.scales import factor_count, selected_bytes
from ptxkit.layouts.tensor_memory import DataPath, data_path
from ptxkit.targets import limits

SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")
PADDED = ("f8f6f4", "mxf8f6f4")
"""Kinds whose elements of 4 and 6 bits take as much room as 8-bit ones."""
BLOCKS = {("mxf8f6f4", "block32"): "1X", ("mxf4", "block32"): "2X", ("mxf4nvf4", "block32"): "2X",
          ("mxf4nvf4", "block16"): "4X"}  # fmt: skip
"""`.scale_vec` for its aliases, for every K but 96 (9.7.16.10.7.1)."""
DEFAULT_VECTOR = {"mxf8f6f4": "1X", "mxf4": "2X"}


RUBIN = (10, 7)
"""The compute capability that has what PTX ISA 9.4 brought."""


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


class MmaForm(NamedTuple):
    """The modifiers of a `tcgen05.mma`.

    Attributes:
        kind: without `kind::`.
        cta_group: 1 or 2.
        ws, sparse, ashift: as in the opcode.
        vector: `1X`, `2X` or `4X`; None without block scaling.
        tensor_a: whether A lies in tensor memory.
        by_block: whether the modifier of the scales, or its absence, says how large a block is.
        lut_b: whether B holds indexes into look-up tables.
        capability: of the device.
    """

    kind: str
    cta_group: int
    ws: bool
    sparse: bool
    ashift: bool
    vector: str | None
    tensor_a: bool
    by_block: bool = True
    lut_b: bool = False
    capability: tuple[int, int] = (10, 0)

    @property
    def columns(self) -> int:
        """Columns of tensor memory that the device has."""
        return limits(self.capability).tensor_memory_columns


class Tcgen05Plan(NamedTuple):
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
        k_code: which of the kind's K it is.
        sfa_lanes: lanes that hold different scale factors of A.
        sparsity_version: of a sparse A.
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
    k_code: int = 0
    sfa_lanes: int = 32
    sparsity_version: int = 0

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
        return max(bits, 8) if self.form.kind in PADDED and not self.k_code else bits

    def padded(self, dtype: str) -> bool:
        """Whether elements have gaps in shared memory."""
        return self.form.kind in PADDED and DTYPES[dtype].bits < 8 and not self.k_code

    def stream(self, dtype: str) -> bool:
        """Whether elements follow each other without regard to bytes: 6 bits each with the wider K."""
        return DTYPES[dtype].bits == 6 and self.k_code > 0


@lru_cache(maxsize=256)
def decode(form: MmaForm, idesc: int) -> Tcgen05Plan:
    """The meaning of an instruction descriptor. Raises P6125; the problems name the rule."""
    cls = INSTRUCTION_DESCRIPTORS[form.kind]
    problems = [problem for problem in cls.diagnose(idesc) if problem.is_error]
    if problems:
        raise Illegal("P6125", problems)
    word = cls.decode(idesc)
    problems = [*word.check_target(form.capability), *word.check_use(form.cta_group, form.ws)]
    fields = word.fields()
    if word.sparse != form.sparse:
        bit, wanted = int(word.sparse), "`.sp`" if form.sparse else "no `.sp`"
        problems.append(Diagnostic("P426", f"bit 2, sparsity, is {bit} in an instruction with {wanted}"))
    if form.ashift and word.m not in (128, 256):
        problems.append(Diagnostic("P426", f"`.ashift` needs M = 128 or 256, found {word.m}"))
    scale = fields.get("scale") if form.kind in SCALED else None
    if scale == "ue4m3" and form.vector != "4X" and form.capability != RUBIN:
        problems.append(
            Diagnostic("P426", f"scale factors of ue4m3 need `.scale_vec::4X`, found {form.vector}")
        )
    chosen = []
    for name in ("sfa_id", "sfb_id"):
        try:
            count = factor_count(form.vector, word.k_code, form.by_block) if form.vector else 0
            chosen.append(selected_bytes(count, fields[name]) if count else ())
        except PtxkitError as wrong:
            problems += wrong.diagnostics
    if form.lut_b:
        needed: dict[str, tuple[object, object]] = {
            "k": (word.k, 64),
            "b": (word.b, "e4m3"),
            "transpose_b": (word.transpose_of("b"), False),
        }
        problems += [
            Diagnostic("P426", f"`.decompress::lut::b` needs `{name}` {only}, found {found}")
            for name, (found, only) in needed.items()
            if found != only
        ]
    if form.tensor_a and word.k_code and form.kind == "mxf8f6f4" and word.a == "e2m1":
        message = f"A of e2m1 in tensor memory needs `k` of 32 or 64 where sparse, found {word.k}"
        problems.append(Diagnostic("P426", message, notes=("PTX ISA 9.4 9.7.18.10.4.3, table 66",)))
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
        k_code=word.k_code,
        sfa_lanes=fields.get("sfa_lanes", 32),
        sparsity_version=fields.get("sparsity_version", 0),
    )


def vector_of(kind: str, size: ScaleVector | None) -> str:
    """`1X`, `2X` or `4X` for a block-scaled kind, by the modifier or by default."""
    if size is None:
        return DEFAULT_VECTOR[kind]
    return BLOCKS.get((kind, size)) or size.removeprefix("scale_vec::")
