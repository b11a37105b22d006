"""Instruction descriptors of the block-scaled kinds of `tcgen05.mma`.

PTX ISA 9.7.16.4.2: table 43 (mxf8f6f4), table 44 (mxf4, mxf4nvf4), which are tables 52 and 53 of 9.4
(9.7.18.4.2) with more K, the type ue5m3, the layout of A's scale factors and the sparsity version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.bits import Field, bits
from ptxkit.diagnostics import Diagnostic
from ptxkit.encodings.instruction_base import FP8_FP6_FP4, SCALE_ID, InstructionDescriptor
from ptxkit.encodings.shapes import in_words


class _BlockScaled(InstructionDescriptor, abstract=True):
    __slots__ = ()

    reserved_0 = bits[1:0].reserved()
    reserved_3 = bits[3].reserved()
    sfb_id = bits[5:4].about("scale factor B data id").default(0)
    negate_a = bits[13].flag("A is negated")
    negate_b = bits[14].flag("B is negated")
    reserved_24 = bits[25:24].reserved()
    sfa_lanes = (
        bits[26].enum({32: 0, 128: 1}, "lanes that hold different scale factors of A (`sm_107f`)").default(32)
    )
    m = bits[28:27].scaled(128, "rows of A, M >> 7")
    sfa_id = bits[30:29].about("scale factor A data id").default(0)

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """As the base, and the layout of A's scale factors."""
        yield from super().needs()
        if self.sfa_lanes == 128:
            yield "`sfa_lanes` of 128", ("sm_107f",)


class InstrDescMXF8F6F4(_BlockScaled):
    """Instruction descriptor of `.kind::mxf8f6f4`; D is f32."""

    __slots__ = ()
    KIND = "idesc.mxf8f6f4"
    MMA_KIND = "mxf8f6f4"
    K_FIELD = "wide_k"
    SECTION = "PTX ISA 9.7.16.4.2, table 43"

    a = bits[9:7].enum(FP8_FP6_FP4, "type of A")
    b = bits[12:10].enum(FP8_FP6_FP4, "type of B")
    transpose_a = bits[15].flag("A is M-major")
    transpose_b = bits[16].flag("B is N-major")
    scale = bits[23].enum({"ue8m0": 1}, "type of both scale matrices").default("ue8m0")
    wide_k = bits[31].between(0, 1, "K: 0 dense 32, sparse 64; 1 dense 64, sparse 128 (`sm_107f`)").default(0)


class _Table44(_BlockScaled, abstract=True):
    __slots__ = ()
    SECTION = "PTX ISA 9.7.16.4.2, table 44"

    a = bits[9:7].enum({"e2m1": 1}, "type of A").default("e2m1")
    b = bits[11:10].enum({"e2m1": 1}, "type of B").default("e2m1")
    sparsity_version = (
        bits[12].between(0, 1, "sparse A: 0 pairs, 4 of 8; 1 single elements, 2 of 4 (`sm_107a`)").default(0)
    )
    no_transpose = bits[16:15].reserved("K-major only, 0")
    K_FIELD = "k_bits"
    k_bits = (
        bits[31]
        .then(bits[3])
        .between(0, 2, "K: 0 dense 64, sparse 128; 1 dense 96, sparse 192; 2 dense 128 (`sm_107f`)")
        .default(0)
    )

    scale: ClassVar[Field[str]]

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """As the base, and how A is sparse."""
        for what, targets in super().needs():
            yield what, ("sm_107a",) if self.k == 192 else targets
        if self.sparse:
            targets = ("sm_107a",) if self.sparsity_version else ("sm_100a", "sm_103a", "sm_110a")
            yield f"`sparsity_version` {self.sparsity_version} of a sparse A", targets

    def rules(self) -> Iterator[Diagnostic]:
        """As the base, and the scale ids that this K and these scales have."""
        for name in ("sfa_id", "sfb_id"):
            legal, where = self._scale_ids()
            if getattr(self, name) not in legal:
                message = f"`{name}` of `{self.KIND}` must be {in_words(legal)}, found {getattr(self, name)}"
                yield Diagnostic(SCALE_ID, message, notes=(where,))
        yield from super().rules()

    def _scale_ids(self) -> tuple[tuple[int, ...], str]:
        """Which bytes of the scale word an id may point at, whatever the size of a block."""
        section = "PTX ISA 9.7.16.10.7.2"
        if self.k_code == 1 and self.scale == "ue8m0":
            return (0, 1, 2, 3), f"{section}.4: block32, K = 96"
        if self.k_code == 1:
            return (0, 2), f"{section}.5: block16, K = 96"
        return (0, 2), f"{section}.2: block32 uses one half word, block16 all four bytes from 0"


class InstrDescMXF4(_Table44):
    """Instruction descriptor of `.kind::mxf4`; D is f32, scales ue8m0 for 32 elements."""

    __slots__ = ()
    KIND = "idesc.mxf4"
    MMA_KIND = "mxf4"

    scale = bits[23].enum({"ue8m0": 1}, "type of both scale matrices").default("ue8m0")


class InstrDescMXF4NVF4(_Table44):
    """Instruction descriptor of `.kind::mxf4nvf4`; D is f32.

    A scale factor is for 16 elements (`.scale_vec::4X`) or 32 (2X); ue4m3 for 32 and ue5m3 need `sm_107f`.
    """

    __slots__ = ()
    KIND = "idesc.mxf4nvf4"
    MMA_KIND = "mxf4nvf4"

    reserved_25 = bits[25].reserved()
    scale = bits[24:23].enum({"ue4m3": 0, "ue8m0": 1, "ue5m3": 2}, "type of both scale matrices")

    def needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """As the base, and the type of scale factors."""
        yield from super().needs()
        if self.scale == "ue5m3":
            yield "`scale` ue5m3", ("sm_107f",)
