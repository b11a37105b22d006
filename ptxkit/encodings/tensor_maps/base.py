"""What all tensor maps have, whatever their mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self, cast

from ptxkit import targets
from ptxkit.bits import Word1024, bits, refuse
from ptxkit.diagnostics import Diagnostic, Severity, counted
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.tensor_maps.arguments import (
    ADDRESS,
    ARGUMENT,
    BOX,
    DRIVER,
    ELEMENT_STRIDE,
    FILL,
    IM2COL_ARGUMENTS,
    INTERLEAVE,
    MAX_RANK,
    SHAPE,
    STRIDE,
    SWIZZLE,
    TARGET,
    integer,
    integers,
    numbered,
    problem,
    refused,
)
from ptxkit.encodings.tensor_maps.codes import (
    ADDRESS_LIMIT,
    CTA_LIMIT,
    ELEMENT_CODES,
    INTERLEAVE_CODES,
    L2_PROMOTION_CODES,
    MODE_CODES,
    OOB_FILL_CODES,
    PADDED,
    PADDED_SWIZZLES,
    SHARED_ALIGNMENT,
    SHARED_LIMIT,
    SUB_BYTE,
    SWIZZLE_CODES,
    SWIZZLE_SPAN,
    contiguous_strides,
    shared_bits,
)


class TensorMap(Word1024, abstract=True):
    """A tensor map: tiled where it is given `box`, im2col where it is given the arguments of that mode.

    Args, outermost dimension first as everywhere in ptxkit, though the map holds them reversed:
        dtype: element type by PTX name, e.g. `bf16`, `tf32.ftz`, `b4x16_p64`.
        address: global address of the first element, bytes.
        shape: elements along each of 1 to 5 dimensions; of an im2col map N, D, H, W, C or fewer, at least 3.
        strides: bytes between neighbours along each dimension but the last; left out: contiguous.
        box: elements that one copy covers along each dimension.
        pixel_box_lower_corner, pixel_box_upper_corner: im2col: offsets of the bounding box's corners along
            the dimensions between N and C, from the first and from the last pixel (PTX ISA 5.5.4.1).
        channels_per_pixel: im2col: elements that one copy covers along C.
        pixels_per_column: im2col: pixels that one copy covers along the other dimensions.
        element_strides: take every n-th element along each dimension; left out: 1.
        interleave: `none`, `16B`, `32B`.
        swizzle: see `SWIZZLE_CODES`.
        l2_promotion: `none`, `64B`, `128B`, `256B`.
        oob_fill: `zero`, or `nan` for floating-point types.
        target: `sm_90a` and so on, to refuse what that target's driver refuses; None refuses only
            what every target does.
        box_bytes, shared_alignment: what the driver notes down for itself; computed where left out.

    Raises:
        PtxkitError: P450 .. P459, each naming the argument and the rule.
    """

    KIND = "tensor-map"
    SECTION = DRIVER
    MODE: ClassVar[str]
    RANKS: ClassVar[tuple[int, ...]]
    """Ranks whose maps have this layout of bits."""
    FORMS: ClassVar[list[type[TensorMap]]] = []
    """Every layout of bits: one for tiles, one for each rank of im2col."""

    address = bits.at(0x00)[63:0].about("global address, bytes")
    mode = bits.at(0x08)[3:0].enum(MODE_CODES, "access mode")
    rank = bits.at(0x08)[6:4].less_one().between(1, MAX_RANK, "dimensions, stored less one")
    dtype = bits.at(0x08)[10:7].then(bits.at(0x08)[16]).enum(ELEMENT_CODES, "element type")
    interleave = bits.at(0x08)[12:11].enum(INTERLEAVE_CODES, "interleaved layout").default("none")
    swizzle = (
        bits.at(0x08)[14:13]
        .then(bits.at(0x08)[21:19])
        .then(bits.at(0x08)[22])
        .enum(SWIZZLE_CODES, "swizzle mode, atomicity, 96B")
        .default("none")
    )
    oob_fill = bits.at(0x08)[15].enum(OOB_FILL_CODES, "what elements beyond the tensor are").default("zero")
    l2_promotion = bits.at(0x08)[18:17].enum(L2_PROMOTION_CODES, "granularity of L2 fetches").default("none")
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

    buffer: Any = None
    """What the address belongs to, where `tensor_map` made the map of a buffer."""

    # ---- one class a layout of bits

    def __init_subclass__(cls, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(abstract=abstract, **rest)
        if not abstract:
            TensorMap.FORMS.append(cls)

    def __new__(cls, **values: Any) -> Self:
        if cls in TensorMap.FORMS:
            return super().__new__(cls)
        shape = values.get("shape")
        rank = len(shape) if isinstance(shape, Sequence) else 0
        im2col = any(values.get(name) is not None for name in IM2COL_ARGUMENTS)
        return cast(Self, object.__new__(cls._form_of("im2col" if im2col else "tile", rank)))

    def __init__(self, *, target: str | None = None, **values: Any) -> None:
        super().__init__(**values)
        refuse(self.check_target(target))

    @classmethod
    def _form_of(cls, mode: str, rank: int) -> type[TensorMap]:
        """The layout of that mode and rank; of a rank that the mode has not, the mode's first."""
        forms = [form for form in TensorMap.FORMS if mode == form.MODE]
        return next((form for form in forms if rank in form.RANKS), forms[0])

    @classmethod
    def form(cls, word: int) -> type[Self]:
        """By mode and rank; bits of an unknown mode are read as a tiled map's."""
        if cls in TensorMap.FORMS:
            return cls
        mode = TensorMap.mode.names.get(TensorMap.mode.extract(word), "tile")
        return cast(type[Self], cls._form_of(mode, TensorMap.rank.value(TensorMap.rank.extract(word))))

    @classmethod
    def layout(cls) -> list[tuple[str, ...]]:
        """As the base; of all tensor maps: what they share, then what each layout has of its own."""
        shared = super().layout()
        if cls in TensorMap.FORMS:
            return shared
        own = [
            (where, name, f"{form.title()}: {doc}" if doc else form.title(), allowed)
            for form in TensorMap.FORMS
            for where, name, doc, allowed in form.layout()
            if (where, name, doc, allowed) not in shared
        ]
        return [*shared, *own]

    @classmethod
    def title(cls) -> str:
        """`tile`, or `im2col 4D`."""
        return cls.MODE + (f" {cls.RANKS[0]}D" if len(cls.RANKS) == 1 else "")

    # ---- what each mode adds

    INNER: ClassVar[str]
    """The argument that says how many elements a box has along the innermost dimension."""

    @classmethod
    def _box_arguments(
        cls, given: dict[str, Any], dtype: str, shape: list[int], element_strides: list[int]
    ) -> dict[str, Any]:
        """Takes the mode's arguments out of `given`; gives the fields that they are."""
        raise NotImplementedError

    def _box_fields(self) -> dict[str, Any]:
        """The mode's arguments that make this map again."""
        raise NotImplementedError

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

    # ---- arguments

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Turns the lists round and spreads them over the fields."""
        given = {name: value for name, value in values.items() if value is not None}
        dtype = given.get("dtype")
        if not isinstance(dtype, str) or dtype not in ELEMENT_CODES:
            raise refused(ARGUMENT, f"`dtype` must be one of {', '.join(ELEMENT_CODES)}, found {dtype}")
        shape = integers(SHAPE, "shape", given.pop("shape", None), 1, 2**32, None)
        rank = len(shape)
        steps = given.pop("element_strides", [1] * rank)
        steps = integers(ELEMENT_STRIDE, "element_strides", steps, 1, 8, rank)
        box = cls._box_arguments(given, dtype, shape, steps)
        strides = given.pop("strides", None)
        if strides is None:
            strides = contiguous_strides(shape, dtype)
        strides = integers(STRIDE, "strides", strides, 0, 2**40 - 1, rank - 1)
        for i, stride in enumerate(strides):
            if stride % 16:
                raise refused(STRIDE, f"`strides[{i}]` must be a multiple of 16 bytes, found {stride}")
        if not 0 <= integer("address", given.get("address")) < ADDRESS_LIMIT:
            raise refused(ADDRESS, f"`address` must be below 2^57, found {given['address']:#x}")
        swizzle = str(given.get("swizzle", "none")).partition("-")[0]
        return {
            "mode": cls.MODE,
            "rank": rank,
            "shared_alignment": SHARED_ALIGNMENT.get(swizzle, 0),
            **numbered("size", shape, MAX_RANK, 1),
            **numbered("element_stride", steps, MAX_RANK, 1),
            **numbered("stride", strides, MAX_RANK - 1, 0),
            **box,
            **given,
        }

    def fields(self) -> dict[str, Any]:
        """The constructor's arguments; the driver's notes only where they are not the computed ones."""
        fields = {
            "dtype": self.dtype,
            "address": self.address,
            "shape": self.shape,
            "strides": self.strides,
            **self._box_fields(),
            "element_strides": self.element_strides,
            "interleave": self.interleave,
            "swizzle": self.swizzle,
            "l2_promotion": self.l2_promotion,
            "oob_fill": self.oob_fill,
        }
        if self.box_bytes != self.counted_bytes:
            fields["box_bytes"] = self.box_bytes
        if self.shared_alignment != SHARED_ALIGNMENT[self.swizzle.partition("-")[0]]:
            fields["shared_alignment"] = self.shared_alignment
        return fields

    def replace(self, **changes: Any) -> Self:
        """As the base; a changed rank may change the layout of bits."""
        return cast(Self, TensorMap(**{**self.fields(), **changes}))

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
        return self.inner * shared_bits(self.dtype) // 8

    # ---- rules

    def rules(self) -> Iterator[Diagnostic]:
        """The driver's conditions, in the order of its documentation."""
        if self.mode != self.MODE:
            yield problem(ARGUMENT, f"expected a {self.MODE} map, found one of mode {self.mode}")
            return
        if self.rank not in self.RANKS:
            ranks = [rank for form in TensorMap.FORMS if form.MODE == self.MODE for rank in form.RANKS]
            expected = f"{min(ranks)} to {max(ranks)} dimensions"
            yield problem(SHAPE, f"`shape` of an {self.MODE} map must have {expected}, found {self.rank}")
            return
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
        if self.counted_bytes > SHARED_LIMIT:
            yield _too_large(self.counted_bytes, SHARED_LIMIT)
        elif self.moved_bytes > CTA_LIMIT:
            yield Diagnostic(
                BOX,
                f"one copy moves {self.moved_bytes} bytes, more than a CTA's shared memory ({CTA_LIMIT})",
                severity=Severity.WARNING,
                notes=("the driver refuses more than a multiprocessor has", DRIVER),
                help="cover the tile by several smaller boxes",
            )
        yield from self._swizzle_rules()
        if self.oob_fill == "nan" and (self.dtype in SUB_BYTE or not DTYPES[self.dtype].is_float):
            yield problem(
                FILL, f"`oob_fill` nan needs a floating-point type of 16 bits or more, found `{self.dtype}`"
            )

    def _unused(self, dimension: int) -> Diagnostic:
        message = f"dimension {dimension} of a tensor map of rank {self.rank} must be left at zero"
        return problem(SHAPE, message)

    def _alignment_rules(self) -> Iterator[Diagnostic]:
        if self.interleave != "none" and self.rank < 3:
            yield problem(
                SHAPE, f"`interleave` {self.interleave} needs 3 dimensions or more, found {self.rank}"
            )
        if self.address >= ADDRESS_LIMIT:
            yield problem(ADDRESS, f"`address` must be below 2^57, found {self.address:#x}")
        wide = 32 if self.interleave == "32B" or self.dtype in PADDED else 16
        why = "" if wide == 16 else f" with `{self.dtype if self.dtype in PADDED else 'interleave 32B'}`"
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
        size, multiple = self.shape[-1], 128 if self.dtype in PADDED else 2 if self.dtype == "b4x16" else 1
        if size % multiple:
            yield problem(
                SHAPE, f"`shape[-1]` of `{self.dtype}` must be a multiple of {multiple}, found {size}"
            )
        if self.dtype in PADDED and self.inner != 128:
            yield problem(BOX, f"`{self.INNER}` of `{self.dtype}` must be 128, found {self.inner}")
        if self.inner * shared_bits(self.dtype) % 128:
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
        span = SWIZZLE_SPAN.get(self.swizzle.partition("-")[0])
        if span and self.interleave == "none" and self.inner_bytes > span:
            yield Diagnostic(
                SWIZZLE,
                f"`swizzle` {self.swizzle} needs an innermost box dimension of at most {span} bytes, "
                f"found {self.inner_bytes}",
                notes=(DRIVER,),
                help=f"copy boxes of {span * 8 // shared_bits(self.dtype)} elements, or use `swizzle` none",
            )
        allowed = PADDED_SWIZZLES.get(self.dtype)
        if allowed and self.swizzle not in allowed:
            yield problem(
                SWIZZLE, f"`{self.dtype}` needs `swizzle` {', '.join(allowed)}, found {self.swizzle}"
            )

    def check_target(self, target: str | None) -> Iterator[Diagnostic]:
        """What that target, or its driver, lacks of this map."""
        if target is None:
            return
        known = targets.parse(target)
        if known is None:
            yield problem(TARGET, f"`target` must be a target such as `sm_90a`, found `{target}`")
            return
        if known.number < 90:
            yield problem(TARGET, f"tensor maps need sm_90 or later, found `{target}`")
            return
        if known.number < 100 and self.dtype in SUB_BYTE:
            yield problem(TARGET, f"`{self.dtype}` needs sm_100 or later, found `{target}`")
        if known.number < 100 and "atom" in self.swizzle:
            yield problem(TARGET, f"`swizzle` {self.swizzle} needs sm_100 or later, found `{target}`")
        if known.number != 103 and self.swizzle == "96B":
            yield problem(TARGET, f"`swizzle` 96B needs sm_103a, found `{target}`")
        limit = targets.limits(known).shared_per_sm
        if self.counted_bytes > limit:
            yield _too_large(self.counted_bytes, limit)


def _too_large(found: int, limit: int) -> Diagnostic:
    message = f"a box must take at most {limit} bytes of shared memory, found {found}"
    return Diagnostic(BOX, message, notes=(DRIVER,), help="cover the tile by several smaller boxes")
