"""What all tensor maps have, whatever their mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, Self, cast

from ptxkit import targets
from ptxkit.bits import refuse
from ptxkit.diagnostics import Diagnostic
from ptxkit.encodings.tensor_maps.arguments import (
    ADDRESS,
    ARGUMENT,
    DRIVER,
    ELEMENT_STRIDE,
    IM2COL_ARGUMENTS,
    MAX_RANK,
    SHAPE,
    STRIDE,
    TARGET,
    integer,
    integers,
    numbered,
    problem,
    refused,
)
from ptxkit.encodings.tensor_maps.codes import (
    ADDRESS_LIMIT,
    ELEMENT_CODES,
    SHARED_ALIGNMENT,
    SUB_BYTE,
    contiguous_strides,
)
from ptxkit.encodings.tensor_maps.word import TensorMapWord, too_large

_READ = (1 << 512) - 1 & ~(1 << 64 + 1 | 1 << 64 + 21)
"""All bits but those of fields that copies don't read, and of the second half."""
_BY_DIMENSION = ("size", "stride", "element_stride", "box")


class TensorMap(TensorMapWord, abstract=True):
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
    def read_by_copies(cls, word: int) -> Self:
        """The map as copies read these bits: without those that they don't read.

        An H200 copies right by maps with the second bit of the mode or bit 21 of word 2 set, with random
        bytes 64 to 127, and with random sizes and strides of dimensions that the map has not; CuTe DSL makes
        such maps. `decode` refuses them, as the driver makes none.

        Raises:
            PtxkitError: what `decode` raises of the rest.
        """
        word &= _READ
        form = cls.form(word)
        return form.decode(word & form._read_bits(form.rank.value(form.rank.extract(word))))

    @classmethod
    @cache
    def _read_bits(cls, rank: int) -> int:
        """The bits that copies with a rank read: not those of dimensions beyond it."""
        read = _READ
        for name, field in cls.FIELDS.items():
            of, _, number = name.rpartition("_")
            beyond = number.isdecimal() and int(number) >= rank - (of == "stride")
            if of == "reserved" or (of in _BY_DIMENSION and beyond):
                for bit in field.positions:
                    read &= ~(1 << bit)
        return read

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

    @classmethod
    def _box_arguments(
        cls, given: dict[str, Any], dtype: str, shape: list[int], element_strides: list[int]
    ) -> dict[str, Any]:
        """Takes the mode's arguments out of `given`; gives the fields that they are."""
        raise NotImplementedError

    def _box_fields(self) -> dict[str, Any]:
        """The mode's arguments that make this map again."""
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
        yield from super().rules()

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
            yield too_large(self.counted_bytes, limit)
