"""What the instruction descriptors of all kinds of `tcgen05.mma` have in common.

The shapes are table 39's (`ptxkit.encodings.shapes`). The descriptor does not say `.cta_group`
nor `.ws`: it is legal if some instruction may carry it; `check_use` decides for one instruction, and
`check_target` for a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ptxkit.bits import Field, Word32, bits
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shapes import K_SIZES, TRANSPOSED_8BIT_N, Tcgen05Shape, in_words, shapes
from ptxkit.encodings.targeted import Targeted

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
    "sfa_lanes": 32,
    "sparsity_version": 0,
}
"""Fields that some kind lacks, with the one value at which it takes them all the same."""


class InstructionDescriptor(Targeted, Word32, abstract=True):
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
    K_FIELD: ClassVar[str | None] = None
    """The field that says which of the kind's K it is, where there are several."""

    sparse = bits[2].flag("matrix A is sparse, `.sp`")
    reserved_6 = bits[6].reserved()
    n = bits[22:17].scaled(8, "columns of B, N >> 3")

    a: ClassVar[Field[str]]
    b: ClassVar[Field[str]]
    m: ClassVar[Field[int]]

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Takes `k` in place of its code, `d` and fields that the kind lacks at their default."""
        given = dict(values)
        k = given.pop("k", None)
        sparse = bool(given.get("sparse", False))
        if k is not None:
            known = [size.sparse if sparse else size.dense for size in K_SIZES[cls.MMA_KIND]]
            if k not in known:
                density = "sparse" if sparse else "dense"
                allowed = in_words(tuple(one for one in known if one is not None))
                message = f"`k` of {density} `{cls.KIND}` must be {allowed}, found {k}"
                raise PtxkitError(Diagnostic(K_SIZE, message, notes=(TABLE_39,)))
            if cls.K_FIELD is not None:
                given[cls.K_FIELD] = known.index(k)
        absent = {**_ABSENT, "d": cls.D}
        for name in [name for name in given if name in absent and cls._lacks(name)]:
            value = given.pop(name)
            if value not in (None, absent[name]):
                only = "left out" if absent[name] is None else shown(absent[name])
                message = f"`{cls.KIND}` has no `{name}`: it must be {only}, found {shown(value)}"
                raise PtxkitError(Diagnostic(ABSENT_FIELD, message, notes=(cls.SECTION,)))
        return given

    def fields(self) -> dict[str, Any]:
        """As the base, with `k` in place of its code."""
        fields = super().fields()
        if self.K_FIELD is None:
            return fields
        del fields[self.K_FIELD]
        return {**fields, "k": self.k}

    @property
    def k_code(self) -> int:
        """Which of the kind's K it is."""
        return 0 if self.K_FIELD is None else int(getattr(self, self.K_FIELD))

    @property
    def k(self) -> int:
        """Elements along K of one instruction."""
        size = K_SIZES[self.MMA_KIND][self.k_code]
        return (size.sparse if self.sparse else size.dense) or size.dense

    @classmethod
    def _lacks(cls, name: str) -> bool:
        return name not in cls.FIELDS or cls.FIELDS[name].fixed is not None

    def uses(self) -> list[Tcgen05Shape]:
        """The rows of table 39 that this descriptor fits, table 52 considered."""
        return [row for row in self._rows(self.m) if self.n in self._allowed_n(row)]

    def _rows(self, m: int | None) -> list[Tcgen05Shape]:
        return shapes(self.MMA_KIND, sparse=self.sparse, m=m, k=self.k)

    def _allowed_n(self, row: Tcgen05Shape) -> tuple[int, ...]:
        if self.transpose_of("b") and bits_of(self.b) == 8:
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

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """As the base: K."""
        targets = K_SIZES[self.MMA_KIND][self.k_code].targets
        if targets:
            yield f"`k` of {self.k}", targets

    def rules(self) -> Iterator[Diagnostic]:
        """K, types, sparsity, transposition, then the shape."""
        if self.sparse and K_SIZES[self.MMA_KIND][self.k_code].sparse is None:
            message = f"`k` of {self.k} of `{self.KIND}` needs a dense A, found a sparse one"
            yield Diagnostic(K_SIZE, message, notes=(TABLE_39,))
            return
        yield from self._type_rules()
        yield from self._transpose_rules()
        if not self.uses():
            yield self._no_shape()

    def _type_rules(self) -> Iterator[Diagnostic]:
        return iter(())

    def _transpose_rules(self) -> Iterator[Diagnostic]:
        for matrix in ("a", "b"):
            kind = getattr(self, matrix)
            if self.transpose_of(matrix) and bits_of(kind) < 8:
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
        ways = "; ".join(f"{in_words(self._allowed_n(row))} ({way_of(row)})" for row in rows)
        why = TABLE_39
        if any(self._allowed_n(row) != row.n for row in rows):
            why += "; PTX ISA 9.7.16.10.1, table 52: 8-bit transposed B"
        message = f"`n` of {sparse} `{self.KIND}` with m = {self.m} must be {ways}, found {self.n}"
        return Diagnostic(SHAPE, message, notes=(why,))


def bits_of(type_name: str) -> int:
    """Bits of an element."""
    return DTYPES[type_name].bits


def way_of(row: Tcgen05Shape) -> str:
    """What an instruction of a shape must have."""
    return f"`.cta_group::{row.cta_group}`{', `.ws`' if row.ws else ''}"


def shown(value: Any) -> str:
    """A value as it is written in a request."""
    return str(value).lower() if isinstance(value, bool) else f"{value}"
