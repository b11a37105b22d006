"""The bits that all tensor maps share, and what the driver asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptxkit.bits import Word1024, bits
from ptxkit.diagnostics import Diagnostic, Severity, counted
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.tensor_maps import codes
from ptxkit.encodings.tensor_maps.arguments import (
    ADDRESS,
    BOX,
    DRIVER,
    FILL,
    INTERLEAVE,
    MAX_RANK,
    SHAPE,
    STRIDE,
    SWIZZLE,
    problem,
)


class TensorMapWord(Word1024, abstract=True):
    """The fields of every tensor map, as lists outermost first, and their rules."""

    address = bits.at(0x00)[63:0].about("global address, bytes")
    mode = bits.at(0x08)[3:0].enum(codes.MODE_CODES, "access mode")
    rank = bits.at(0x08)[6:4].less_one().between(1, MAX_RANK, "dimensions, stored less one")
    dtype = bits.at(0x08)[10:7].then(bits.at(0x08)[16]).enum(codes.ELEMENT_CODES, "element type")
    interleave = bits.at(0x08)[12:11].enum(codes.INTERLEAVE_CODES, "interleaved layout").default("none")
    swizzle = (
        bits.at(0x08)[14:13]
        .then(bits.at(0x08)[21:19])
        .then(bits.at(0x08)[22])
        .enum(codes.SWIZZLE_CODES, "swizzle mode, atomicity, 96B")
        .default("none")
    )
    oob_fill = (
        bits.at(0x08)[15].enum(codes.OOB_FILL_CODES, "what elements beyond the tensor are").default("zero")
    )
    l2_promotion = (
        bits.at(0x08)[18:17].enum(codes.L2_PROMOTION_CODES, "granularity of L2 fetches").default("none")
    )
    reserved_87 = bits.at(0x08)[31:23].reserved()
    stride_0 = (
        bits.at(0x0C)[31:0].then(bits.at(0x1C)[3:0]).scaled(16, "bytes from one of dimension 1 to the next")
    )
    stride_1 = bits.at(0x10)[31:0].then(bits.at(0x1C)[7:4]).scaled(16, "of dimension 2")
    stride_2 = bits.at(0x14)[31:0].then(bits.at(0x1C)[11:8]).scaled(16, "of dimension 3")
    stride_3 = bits.at(0x18)[31:0].then(bits.at(0x1C)[15:12]).scaled(16, "of dimension 4")
    reserved_240 = bits.at(0x1C)[31:16].reserved()
    size_0 = bits.at(0x20)[31:0].less_one("elements along dimension 0, the innermost")
    size_1 = bits.at(0x24)[31:0].less_one()
    size_2 = bits.at(0x28)[31:0].less_one()
    size_3 = bits.at(0x2C)[31:0].less_one()
    size_4 = bits.at(0x30)[31:0].less_one()
    element_stride_0 = bits.at(0x34)[2:0].less_one("traversal stride of dimension 0")
    element_stride_1 = bits.at(0x34)[5:3].less_one()
    element_stride_2 = bits.at(0x34)[8:6].less_one()
    element_stride_3 = bits.at(0x34)[11:9].less_one()
    element_stride_4 = bits.at(0x34)[14:12].less_one()
    reserved_431 = bits.at(0x34)[23:15].reserved()
    box_bytes = bits.at(0x40)[31:0].about("bytes of one box in shared memory, as the driver counts them")
    reserved_544 = bits.at(0x44)[31:0].reserved()
    shared_alignment = bits.at(0x48)[31:0].about("alignment in shared memory that keeps the swizzle simple")
    reserved_608 = bits.at(0x4C)[415:0].reserved()

    # ---- what each mode adds

    INNER: ClassVar[str]
    """The argument that says how many elements a box has along the innermost dimension."""

    def _box_rules(self) -> Iterator[Diagnostic]:
        """What the mode asks of its box."""
        raise NotImplementedError

    @property
    def inner(self) -> int:
        """Elements of a box along the innermost dimension."""
        raise NotImplementedError

    @property
    def moved_bytes(self) -> int:
        """Bytes that one copy writes to shared memory."""
        raise NotImplementedError

    @property
    def counted_bytes(self) -> int:
        """Bytes of one box in shared memory, as the driver counts them."""
        raise NotImplementedError

    # ---- lists

    def _outermost_first(self, name: str, count: int) -> list[int]:
        return [getattr(self, f"{name}_{i}") for i in reversed(range(count))]

    @property
    def shape(self) -> list[int]:
        """Elements along each dimension, outermost first."""
        return self._outermost_first("size", self.rank)

    @property
    def strides(self) -> list[int]:
        """Bytes between neighbours along each dimension but the innermost, outermost first."""
        return self._outermost_first("stride", self.rank - 1)

    @property
    def element_strides(self) -> list[int]:
        """Traversal stride along each dimension, outermost first."""
        return self._outermost_first("element_stride", self.rank)

    @property
    def inner_bytes(self) -> int:
        """Bytes of a box along the innermost dimension, in shared memory."""
        return self.inner * codes.shared_bits(self.dtype) // 8

    # ---- rules

    def rules(self) -> Iterator[Diagnostic]:
        """The driver's conditions, in the order of its documentation."""
        for i in range(self.rank, MAX_RANK):
            left = [getattr(self, f"{name}_{i}") for name in ("size", "element_stride")]
            if left != [1, 1] or getattr(self, f"stride_{i - 1}") != 0:
                yield problem(
                    SHAPE, f"dimension {i} of a tensor map of rank {self.rank} must be left at zero"
                )
                return
        yield from self._alignment_rules()
        yield from self._inner_rules()
        yield from self._box_rules()
        if self.counted_bytes > codes.SHARED_LIMIT:
            yield too_large(self.counted_bytes, codes.SHARED_LIMIT)
        elif self.moved_bytes > codes.CTA_LIMIT:
            yield Diagnostic(
                BOX,
                f"one copy moves {self.moved_bytes} bytes, "
                f"more than a CTA's shared memory ({codes.CTA_LIMIT})",
                severity=Severity.WARNING,
                notes=("the driver refuses more than a multiprocessor has", DRIVER),
                help="cover the tile by several smaller boxes",
            )
        yield from self._swizzle_rules()
        if self.oob_fill == "nan" and (self.dtype in codes.SUB_BYTE or not DTYPES[self.dtype].is_float):
            yield problem(
                FILL, f"`oob_fill` nan needs a floating-point type of 16 bits or more, found `{self.dtype}`"
            )

    def _alignment_rules(self) -> Iterator[Diagnostic]:
        if self.interleave != "none" and self.rank < 3:
            yield problem(
                SHAPE, f"`interleave` {self.interleave} needs 3 dimensions or more, found {self.rank}"
            )
        if self.address >= codes.ADDRESS_LIMIT:
            yield problem(ADDRESS, f"`address` must be below 2^57, found {self.address:#x}")
        wide = 32 if self.interleave == "32B" or self.dtype in codes.PADDED else 16
        why = (
            "" if wide == 16 else f" with `{self.dtype if self.dtype in codes.PADDED else 'interleave 32B'}`"
        )
        if self.address % wide:
            yield problem(
                ADDRESS, f"`address` must be a multiple of {wide} bytes{why}, found {self.address:#x}"
            )
        for i, stride in enumerate(self.strides):
            if stride % wide:
                yield problem(
                    STRIDE, f"`strides[{i}]` must be a multiple of {wide} bytes{why}, found {stride}"
                )

    def _inner_rules(self) -> Iterator[Diagnostic]:
        size, multiple = (
            self.shape[-1],
            128 if self.dtype in codes.PADDED else 2 if self.dtype == "b4x16" else 1,
        )
        if size % multiple:
            yield problem(
                SHAPE, f"`shape[-1]` of `{self.dtype}` must be a multiple of {multiple}, found {size}"
            )
        if self.dtype in codes.PADDED and self.inner != 128:
            yield problem(BOX, f"`{self.INNER}` of `{self.dtype}` must be 128, found {self.inner}")
        if self.inner * codes.shared_bits(self.dtype) % 128:
            found = f"{counted(self.inner, 'element')} of `{self.dtype}`"
            yield problem(BOX, f"`{self.INNER}` must take a multiple of 16 bytes, found {found}")

    def _swizzle_rules(self) -> Iterator[Diagnostic]:
        if self.interleave == "32B" and self.swizzle != "32B":
            yield Diagnostic(
                INTERLEAVE,
                f"`interleave` 32B is specified with `swizzle` 32B alone, found {self.swizzle}",
                severity=Severity.WARNING,
                notes=("the driver of sm_90 makes such a map all the same", DRIVER),
            )
        if self.dtype == "b6x16_p32" and self.interleave != "none":
            yield problem(INTERLEAVE, f"`{self.dtype}` needs `interleave` none, found {self.interleave}")
        if self.swizzle == "96B" and self.interleave != "none":
            yield problem(INTERLEAVE, f"`swizzle` 96B needs `interleave` none, found {self.interleave}")
        span = codes.SWIZZLE_SPAN.get(self.swizzle.partition("-")[0])
        if span and self.interleave == "none" and self.inner_bytes > span:
            fitting = [wider for wider in ("64B", "128B") if codes.SWIZZLE_SPAN[wider] >= self.inner_bytes]
            yield Diagnostic(
                SWIZZLE,
                f"`swizzle` {self.swizzle} needs an innermost box dimension of at most {span} bytes, "
                f"found {self.inner_bytes}",
                notes=(DRIVER,),
                help=f"copy boxes of {span * 8 // codes.shared_bits(self.dtype)} elements, "
                f"or use `swizzle` {' or '.join([*fitting, 'none'])}",
            )
        allowed = codes.PADDED_SWIZZLES.get(self.dtype)
        if allowed and self.swizzle not in allowed:
            yield problem(
                SWIZZLE, f"`{self.dtype}` needs `swizzle` {', '.join(allowed)}, found {self.swizzle}"
            )


def too_large(found: int, limit: int) -> Diagnostic:
    """The finding that a box takes more shared memory than there is, in bytes."""
    message = f"a box must take at most {limit} bytes of shared memory, found {found}"
    return Diagnostic(BOX, message, notes=(DRIVER,), help="cover the tile by several smaller boxes")
