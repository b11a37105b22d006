"""Instruction descriptors of `tcgen05.mma`, one class a kind, and what each kind allows.

PTX ISA 9.7.16.4.2: table 42 (tf32, f16, f8f6f4, i8), table 43 (mxf8f6f4), table 44 (mxf4, mxf4nvf4).
The shapes are table 39's (`ptxkit.encodings.shapes`). The descriptor does not say `.cta_group`
nor `.ws`: it is legal if some instruction may carry it; `check_use` decides for one instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ptxkit.bits import Field, Word32, bits
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shapes import TRANSPOSED_8BIT_N, Tcgen05Shape, implied_k, in_words, shapes

SHAPE = "P420"
TYPES = "P421"
SPARSITY = "P422"
TRANSPOSE = "P423"
SCALE_ID = "P424"
K_SIZE = "P425"
WRONG_USE = "P426"
ABSENT_FIELD = "P427"

TABLE_39 = "PTX ISA 9.7.16.2.1, table 39"
FP8_FP6_FP4 = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}

_ABSENT = {
    "transpose_a": False,
    "transpose_b": False,
    "negate_a": False,
    "negate_b": False,
    "saturate": False,
    "sparsity_selector": 0,
    "max_shift": 0,
    "sfa_id": 0,
    "sfb_id": 0,
    "scale": None,
}
"""Fields that some kind lacks, with the one value at which it takes them all the same."""


class InstructionDescriptor(Word32, abstract=True):
    """What every instruction descriptor of `tcgen05.mma` has.

    Attributes:
        m: rows of A and D, of both CTAs together under `.cta_group::2`.
        n: columns of B and D.
        a, b, d: element types, by PTX name.
    """

    __slots__ = ()
    MMA_KIND: ClassVar[str]
    D: ClassVar[str] = "f32"
    """The type of D where the descriptor has no field for it."""

    sparse = bits[2].flag("matrix A is sparse, `.sp`")
    reserved_6 = bits[6].reserved()
    n = bits[22:17].scaled(8, "columns of B, N >> 3")

    a: ClassVar[Field[str]]
    b: ClassVar[Field[str]]
    m: ClassVar[Field[int]]

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Takes `k` where it is the implied one, `d` and fields that the kind lacks at their default."""
        given = dict(values)
        k = given.pop("k", None)
        implied = implied_k(cls.MMA_KIND, bool(given.get("sparse", False)))
        if k is not None and k != implied:
            message = f"`k` of `{cls.KIND}` must be {implied}, found {k}"
            raise PtxkitError(Diagnostic(K_SIZE, message, notes=(TABLE_39,)))
        absent = {**_ABSENT, "d": cls.D}
        for name in [name for name in given if name in absent and cls._lacks(name)]:
            value = given.pop(name)
            if value not in (None, absent[name]):
                only = "left out" if absent[name] is None else _shown(absent[name])
                message = f"`{cls.KIND}` has no `{name}`: it must be {only}, found {_shown(value)}"
                raise PtxkitError(Diagnostic(ABSENT_FIELD, message, notes=(cls.SECTION,)))
        return given

    @property
    def k(self) -> int:
        """Elements along K of one instruction."""
        return implied_k(self.MMA_KIND, self.sparse)

    @classmethod
    def _lacks(cls, name: str) -> bool:
        return name not in cls.FIELDS or cls.FIELDS[name].fixed is not None

    def uses(self) -> list[Tcgen05Shape]:
        """The rows of table 39 that this descriptor fits, table 52 considered."""
        return [row for row in self._rows(self.m) if self.n in self._allowed_n(row)]

    def _rows(self, m: int | None) -> list[Tcgen05Shape]:
        return shapes(self.MMA_KIND, sparse=self.sparse, m=m, k=self.k)

    def _allowed_n(self, row: Tcgen05Shape) -> tuple[int, ...]:
        if self.transpose_of("b") and _bits_of(self.b) == 8:
            return tuple(n for n in row.n if n in TRANSPOSED_8BIT_N[row.cta_group])
        return row.n

    def transpose_of(self, matrix: str) -> bool:
        """Whether matrix `a` or `b` is transposed; False for kinds that can't."""
        return bool(getattr(self, f"transpose_{matrix}", False))

    def check_use(self, cta_group: int, ws: bool = False) -> list[Diagnostic]:
        """What rules out this descriptor in an instruction of that `.cta_group`, `.ws` or not."""
        if any(row.cta_group == cta_group and row.ws == ws for row in self.uses()):
            return []
        rows = shapes(self.MMA_KIND, cta_group=cta_group, ws=ws, sparse=self.sparse, k=self.k)
        name = f"`tcgen05.mma{'.ws' if ws else ''}.cta_group::{cta_group}.kind::{self.MMA_KIND}`"
        shift = getattr(self, "max_shift", 0)
        if shift and not ws:
            message = f"{name} takes no `max_shift`: it must be 0, found {shift}"
            help = "leave it out, or write `tcgen05.mma.ws`"
            return [Diagnostic(WRONG_USE, message, notes=(self.SECTION,), help=help)]
        sparse = "sparse" if self.sparse else "dense"
        if not rows:
            return [
                Diagnostic(WRONG_USE, f"{name} has no {sparse} shape with K = {self.k}", notes=(TABLE_39,))
            ]
        fitting = [row for row in rows if self.m in row.m]
        if not fitting:
            ms = in_words(tuple(sorted({m for row in rows for m in row.m})))
            return [Diagnostic(WRONG_USE, f"{name} {sparse} needs M {ms}, found {self.m}", notes=(TABLE_39,))]
        ns = in_words(self._allowed_n(fitting[0]))
        message = f"{name} {sparse} with M = {self.m} needs N {ns}, found {self.n}"
        return [Diagnostic(WRONG_USE, message, notes=(TABLE_39,))]

    def rules(self) -> Iterator[Diagnostic]:
        """Types, sparsity, transposition, then the shape."""
        yield from self._type_rules()
        yield from self._transpose_rules()
        if not self.uses():
            yield self._no_shape()

    def _type_rules(self) -> Iterator[Diagnostic]:
        return iter(())

    def _transpose_rules(self) -> Iterator[Diagnostic]:
        for matrix in ("a", "b"):
            kind = getattr(self, matrix)
            if self.transpose_of(matrix) and _bits_of(kind) < 8:
                message = f"`transpose_{matrix}` needs a type of 8 bits or more, found `{kind}`"
                where = "PTX ISA 9.7.16.10.3, table 54: 4-bit and 6-bit elements are K-major"
                yield Diagnostic(TRANSPOSE, message, notes=(where,))

    def _no_shape(self) -> Diagnostic:
        sparse = "sparse" if self.sparse else "dense"
        rows = self._rows(self.m)
        if not rows:
            ms = in_words(tuple(sorted({m for row in self._rows(None) for m in row.m})))
            message = f"`m` of {sparse} `{self.KIND}` must be {ms}, found {self.m}"
            return Diagnostic(SHAPE, message, notes=(TABLE_39,))
        ways = "; ".join(f"{in_words(self._allowed_n(row))} ({_way(row)})" for row in rows)
        why = TABLE_39
        if any(self._allowed_n(row) != row.n for row in rows):
            why += "; PTX ISA 9.7.16.10.1, table 52: 8-bit transposed B"
        message = f"`n` of {sparse} `{self.KIND}` with m = {self.m} must be {ways}, found {self.n}"
        return Diagnostic(SHAPE, message, notes=(why,))


class _Table42(InstructionDescriptor, abstract=True):
    __slots__ = ()
    SECTION = "PTX ISA 9.7.16.4.2, table 42"

    sparsity_selector = bits[1:0].about("sub-columns of the sparsity metadata").default(0)
    saturate = bits[3].reserved("not for this kind, 0")
    transpose_a = bits[15].flag("A is M-major")
    transpose_b = bits[16].flag("B is N-major")
    reserved_23 = bits[23].reserved()
    m = bits[28:24].scaled(16, "rows of A, M >> 4")
    reserved_29 = bits[29].reserved()
    max_shift = (
        bits[31:30]
        .enum({0: 0, 8: 1, 16: 2, 32: 3}, "most columns that `.ws` may shift to reuse B")
        .default(0)
    )
    d: ClassVar[Field[str]]

    def _rows(self, m: int | None) -> list[Tcgen05Shape]:
        return [row for row in super()._rows(m) if row.ws or not self.max_shift]

    def rules(self) -> Iterator[Diagnostic]:
        """As the base, and the sparsity selector."""
        if self.sparsity_selector and not self.sparse:
            message = f"`sparsity_selector` must be 0 where A is dense, found {self.sparsity_selector}"
            yield Diagnostic(SPARSITY, message, notes=(self.SECTION,))
        if self.sparsity_selector and _bits_of(self.a) <= 8:
            message = f"`sparsity_selector` of `{self.KIND}` must be 0, found {self.sparsity_selector}"
            yield Diagnostic(SPARSITY, message, notes=("PTX ISA 9.7.16.10.8.4.5 and .6",))
        yield from super().rules()


class InstrDescTF32(_Table42):
    """Instruction descriptor of `.kind::tf32`."""

    __slots__ = ()
    KIND = "idesc.tf32"
    MMA_KIND = "tf32"

    d = bits[5:4].enum({"f32": 1}, "type of D").default("f32")
    a = bits[9:7].enum({"tf32": 2}, "type of A").default("tf32")
    b = bits[12:10].enum({"tf32": 2}, "type of B").default("tf32")
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")


class InstrDescF16(_Table42):
    """Instruction descriptor of `.kind::f16`."""

    __slots__ = ()
    KIND = "idesc.f16"
    MMA_KIND = "f16"

    d = bits[5:4].enum({"f16": 0, "f32": 1}, "type of D")
    a = bits[9:7].enum({"f16": 0, "bf16": 1}, "type of A")
    b = bits[12:10].enum({"f16": 0, "bf16": 1}, "type of B")
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")

    def _type_rules(self) -> Iterator[Diagnostic]:
        if self.d == "f16" and (self.a, self.b) != ("f16", "f16"):
            message = f"`d` f16 needs `a` and `b` f16, found `{self.a}` and `{self.b}`"
            yield Diagnostic(TYPES, message, notes=(TABLE_39,), help="accumulate bf16 in f32")


class InstrDescI8(_Table42):
    """Instruction descriptor of `.kind::i8`."""

    __slots__ = ()
    KIND = "idesc.i8"
    MMA_KIND = "i8"
    D = "s32"

    saturate = bits[3].flag("clamp sums to s32")
    d = bits[5:4].enum({"s32": 2}, "type of D").default("s32")
    a = bits[9:7].enum({"u8": 0, "s8": 1}, "type of A")
    b = bits[12:10].enum({"u8": 0, "s8": 1}, "type of B")
    no_negate = bits[14:13].reserved("no negation of integers, 0")


class InstrDescF8F6F4(_Table42):
    """Instruction descriptor of `.kind::f8f6f4`.

    D may be f16: table 42 prints only F32 = 1, table 39 lists both.
    """

    __slots__ = ()
    KIND = "idesc.f8f6f4"
    MMA_KIND = "f8f6f4"

    d = bits[5:4].enum({"f16": 0, "f32": 1}, "type of D")
    a = bits[9:7].enum(FP8_FP6_FP4, "type of A")
    b = bits[12:10].enum(FP8_FP6_FP4, "type of B")
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")


class _BlockScaled(InstructionDescriptor, abstract=True):
    __slots__ = ()

    reserved_0 = bits[1:0].reserved()
    reserved_3 = bits[3].reserved()
    sfb_id = bits[5:4].about("scale factor B data id").default(0)
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")
    reserved_24 = bits[26:24].reserved()
    m = bits[28:27].scaled(128, "rows of A, M >> 7")
    sfa_id = bits[30:29].about("scale factor A data id").default(0)


class InstrDescMXF8F6F4(_BlockScaled):
    """Instruction descriptor of `.kind::mxf8f6f4`; D is f32."""

    __slots__ = ()
    KIND = "idesc.mxf8f6f4"
    MMA_KIND = "mxf8f6f4"
    SECTION = "PTX ISA 9.7.16.4.2, table 43"

    a = bits[9:7].enum(FP8_FP6_FP4, "type of A")
    b = bits[12:10].enum(FP8_FP6_FP4, "type of B")
    transpose_a = bits[15].flag("A is M-major")
    transpose_b = bits[16].flag("B is N-major")
    scale = bits[23].enum({"ue8m0": 1}, "type of both scale matrices").default("ue8m0")
    reserved_31 = bits[31].reserved()


class _Table44(_BlockScaled, abstract=True):
    __slots__ = ()
    SECTION = "PTX ISA 9.7.16.4.2, table 44"

    a = bits[9:7].enum({"e2m1": 1}, "type of A").default("e2m1")
    b = bits[11:10].enum({"e2m1": 1}, "type of B").default("e2m1")
    reserved_12 = bits[12].reserved()
    no_transpose = bits[16:15].reserved("K-major only, 0")
    k96 = bits[31].flag("K: 0 dense 64, sparse 128; 1 dense 96 (`sm_103a`)")

    scale: ClassVar[Field[str]]

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """As the base, and `k` of 96."""
        if values.get("k") == 96:
            if values.get("sparse"):
                message = f"`k` of sparse `{cls.KIND}` must be 128, found 96"
                raise PtxkitError(Diagnostic(K_SIZE, message, notes=(TABLE_39,)))
            return {**super().accept({**values, "k": None}), "k96": True}
        return super().accept(values)

    def fields(self) -> dict[str, Any]:
        """As the base, with `k` in place of its bit."""
        fields = super().fields()
        del fields["k96"]
        return {**fields, "k": self.k}

    @property
    def k(self) -> int:
        """Elements along K of one instruction: 64, 96, or 128 where sparse."""
        return 96 if self.k96 else super().k

    def rules(self) -> Iterator[Diagnostic]:
        """As the base, and the scale ids that this K and these scales have."""
        if self.k96 and self.sparse:
            yield Diagnostic(K_SIZE, f"`k` of sparse `{self.KIND}` must be 128, found 96", notes=(TABLE_39,))
            return
        for name in ("sfa_id", "sfb_id"):
            legal, where = self._scale_ids()
            if getattr(self, name) not in legal:
                message = f"`{name}` of `{self.KIND}` must be {in_words(legal)}, found {getattr(self, name)}"
                yield Diagnostic(SCALE_ID, message, notes=(where,))
        yield from super().rules()

    def _scale_ids(self) -> tuple[tuple[int, ...], str]:
        """Which bytes of the scale word an id may point at: 2X halves, 4X the whole word."""
        section = "PTX ISA 9.7.16.10.7.2"
        if self.k96:
            return (
                ((0, 2), f"{section}.5: block16, K = 96")
                if self.scale == "ue4m3"
                else ((0, 1, 2, 3), f"{section}.4")
            )
        if self.scale == "ue4m3":
            return (0,), f"{section}.3: block16 uses all four bytes"
        return (0, 2), f"{section}.2: block32 uses one half word"


class InstrDescMXF4(_Table44):
    """Instruction descriptor of `.kind::mxf4`; D is f32, scales ue8m0 for 32 elements."""

    __slots__ = ()
    KIND = "idesc.mxf4"
    MMA_KIND = "mxf4"

    scale = bits[23].enum({"ue8m0": 1}, "type of both scale matrices").default("ue8m0")


class InstrDescMXF4NVF4(_Table44):
    """Instruction descriptor of `.kind::mxf4nvf4`; D is f32.

    Scales of ue4m3 go with `.scale_vec::4X` (16 elements), ue8m0 with 2X or 4X.
    """

    __slots__ = ()
    KIND = "idesc.mxf4nvf4"
    MMA_KIND = "mxf4nvf4"

    scale = bits[23].enum({"ue4m3": 0, "ue8m0": 1}, "type of both scale matrices")


INSTRUCTION_DESCRIPTORS: dict[str, type[InstructionDescriptor]] = {
    cls.MMA_KIND: cls
    for cls in (
        InstrDescTF32,
        InstrDescF16,
        InstrDescI8,
        InstrDescF8F6F4,
        InstrDescMXF8F6F4,
        InstrDescMXF4,
        InstrDescMXF4NVF4,
    )
}
"""The class for each MMA kind (without `.kind::`)."""


def _bits_of(type_name: str) -> int:
    return DTYPES[type_name].bits


def _way(row: Tcgen05Shape) -> str:
    return f"`.cta_group::{row.cta_group}`{', `.ws`' if row.ws else ''}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
