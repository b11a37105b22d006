"""Instruction descriptors of `tcgen05.mma`, one class a kind, and what each kind allows.

PTX ISA 9.7.16.4.2: table 42 (tf32, f16, f8f6f4, i8), which is table 51 of 9.4 (9.7.18.4.2) with ti16 and
another K of f8f6f4. The block-scaled kinds are in `ptxkit.encodings.block_scaled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.bits import Field, bits
from ptxkit.diagnostics import Diagnostic
from ptxkit.encodings.block_scaled import InstrDescMXF4, InstrDescMXF4NVF4, InstrDescMXF8F6F4
from ptxkit.encodings.instruction_base import (
    FP8_FP6_FP4,
    SPARSITY,
    TABLE_39,
    TYPES,
    InstructionDescriptor,
    bits_of,
)
from ptxkit.encodings.shapes import Tcgen05Shape


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
        if self.sparsity_selector and bits_of(self.a) <= 8:
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


class InstrDescTI16(_Table42):
    """Instruction descriptor of `.kind::ti16`; elements are `s1z4m11`, a sign, four zeros and 11 bits.

    Table 51 of PTX ISA 9.4 has no transposition, table 62 has: it is refused.
    """

    __slots__ = ()
    KIND = "idesc.ti16"
    MMA_KIND = "ti16"
    D = "s32"
    SECTION = "PTX ISA 9.4 9.7.18.4.2, table 51"

    d = bits[5:4].enum({"s32": 2}, "type of D").default("s32")
    a = bits[9:7].enum({"s1z4m11": 3}, "type of A").default("s1z4m11")
    b = bits[12:10].enum({"s1z4m11": 3}, "type of B").default("s1z4m11")
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")
    no_transpose = bits[16:15].reserved("K-major only, 0")

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The kind itself."""
        yield "`.kind::ti16`", ("sm_107f",)


class InstrDescF8F6F4(_Table42):
    """Instruction descriptor of `.kind::f8f6f4`.

    D may be f16: table 42 prints only F32 = 1, table 39 lists both.
    """

    __slots__ = ()
    KIND = "idesc.f8f6f4"
    MMA_KIND = "f8f6f4"
    K_FIELD = "wide_k"

    wide_k = bits[29].between(0, 1, "K: 0 dense 32, sparse 64; 1 dense 64, sparse 128 (`sm_107f`)").default(0)

    d = bits[5:4].enum({"f16": 0, "f32": 1}, "type of D")
    a = bits[9:7].enum(FP8_FP6_FP4, "type of A")
    b = bits[12:10].enum(FP8_FP6_FP4, "type of B")
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")

    def _type_rules(self) -> Iterator[Diagnostic]:
        for name in ("a", "b"):
            if self.wide_k and bits_of(getattr(self, name)) != 8:
                message = f"`k` of {self.k} needs `{name}` e4m3 or e5m2, found `{getattr(self, name)}`"
                yield Diagnostic(TYPES, message, notes=("PTX ISA 9.4 9.7.18.2.1, table 48",))


INSTRUCTION_DESCRIPTORS: dict[str, type[InstructionDescriptor]] = {
    cls.MMA_KIND: cls
    for cls in (
        InstrDescTF32,
        InstrDescF16,
        InstrDescI8,
        InstrDescTI16,
        InstrDescF8F6F4,
        InstrDescMXF8F6F4,
        InstrDescMXF4,
        InstrDescMXF4NVF4,
    )
}
"""The class for each MMA kind (without `.kind::`)."""
