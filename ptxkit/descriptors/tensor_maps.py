"""The tensor map: 128 bytes by which the tensor memory accelerator reads a tensor, made without a driver.

Tiled maps of rank 1 to 5. Bit layout: read off ptxas's lowering of `tensormap.replace` and confirmed
byte for byte by maps that `cuTensorMapEncodeTiled` made (tests/data/tensor_maps.txt). What is
refused follows the CUDA driver API's description of that call and PTX ISA 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ptxkit import targets
from ptxkit.bits import Word1024, bits, refuse
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES

SHAPE = "P450"
ADDRESS = "P451"
STRIDE = "P452"
BOX = "P453"
ELEMENT_STRIDE = "P454"
INTERLEAVE = "P455"
SWIZZLE = "P456"
FILL = "P457"
TARGET = "P458"
ARGUMENT = "P459"

MAX_RANK = 5
DRIVER = "CUDA driver API, cuTensorMapEncodeTiled"

ELEMENT_CODES = {
    "u8": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7, "f32.ftz": 8, "f64": 9,
    "bf16": 10, "b4x16": 11, "b4x16_p64": 12, "b6x16_p32": 13, "tf32": 7 + 16, "tf32.ftz": 8 + 16,
}  # fmt: skip
"""The code that the map stores. Neither `tensormap.replace`'s nor the driver's numbers."""
INTERLEAVE_CODES = {"none": 0, "16B": 1, "32B": 2}
SWIZZLE_CODES = {
    #                         mode  atomicity      96B
    "none":                     0,
    "32B":                      1,
    "64B":                      2,
    "128B":                     3,
    "128B-32B-atom":            3 + 1 * 4,
    "128B-32B-atom-8B-flip":    3 + 2 * 4,
    "128B-64B-atom":            3 + 3 * 4,
    "96B":                                         1 * 32,
}  # fmt: skip
L2_PROMOTION_CODES = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
OOB_FILL_CODES = {"zero": 0, "nan": 1}

PADDED = ("b4x16_p64", "b6x16_p32")
"""Types whose 16 elements take 16 bytes of shared memory, gaps included."""
SUB_BYTE = ("b4x16", *PADDED)
SWIZZLE_SPAN = {"32B": 32, "64B": 64, "96B": 96, "128B": 128}
"""Bytes that the inner dimension of a box may have; by what the swizzle's name begins with."""
SHARED_ALIGNMENT = {"none": 16, "32B": 256, "64B": 512, "96B": 256, "128B": 1024}
PADDED_SWIZZLES = {
    "b6x16_p32": ("none", "128B", "128B-32B-atom", "128B-64B-atom"),
    "b4x16_p64": ("none", "128B", "128B-32B-atom"),
}


class TensorMap(Word1024):
    """A tiled tensor map.

    Args, outermost dimension first as everywhere in ptxkit, though the map holds them reversed:
        dtype: element type by PTX name, e.g. `bf16`, `tf32.ftz`, `b4x16_p64`.
        address: global address of the first element, bytes.
        shape: elements along each of 1 to 5 dimensions.
        strides: bytes between neighbours along each dimension but the last; left out: contiguous.
        box: elements that one copy covers along each dimension.
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

    address = bits.at(0x00)[63:0].about("global address, bytes")
    reserved_64 = bits.at(0x08)[3:0].reserved()
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
    box_0 = bits.at(0x34)[31:24].less_one("elements of a box along dimension 0")
    box_1 = bits.at(0x38)[7:0].less_one()
    box_2 = bits.at(0x38)[15:8].less_one()
    box_3 = bits.at(0x38)[23:16].less_one()
    box_4 = bits.at(0x38)[31:24].less_one()
    reserved_480 = bits.at(0x3C)[31:0].reserved()
    box_bytes = bits.at(0x40)[31:0].about("bytes of one box in shared memory, as the driver counts them")
    reserved_544 = bits.at(0x44)[31:0].reserved()
    shared_alignment = bits.at(0x48)[31:0].about("alignment in shared memory that keeps the swizzle simple")
    reserved_608 = bits.at(0x4C)[415:0].reserved()

    buffer: Any = None
    """What the address belongs to, where `tensor_map` made the map of a buffer."""

    def __init__(self, *, target: str | None = None, **values: Any) -> None:
        super().__init__(**values)
        refuse(self.check_target(target))

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Turns the lists round and spreads them over the fields."""
        given = {name: value for name, value in values.items() if value is not None}
        dtype = given.get("dtype")
        if not isinstance(dtype, str) or dtype not in ELEMENT_CODES:
            raise _refused(ARGUMENT, f"`dtype` must be one of {', '.join(ELEMENT_CODES)}, found {dtype}")
        shape = _integers("shape", given.pop("shape", None), 1, 2**32, None)
        rank = len(shape)
        box = _integers("box", given.pop("box", None), 1, 256, rank)
        element_strides = _integers("element_strides", given.pop("element_strides", [1] * rank), 1, 8, rank)
        strides = given.pop("strides", None)
        if strides is None:
            strides = contiguous_strides(shape, dtype)
        strides = _integers("strides", strides, 0, 2**40 - 1, rank - 1)
        for i, stride in enumerate(strides):
            if stride % 16:
                raise _refused(STRIDE, f"`strides[{i}]` must be a multiple of 16 bytes, found {stride}")
        if not 0 <= _integer("address", given.get("address")) < 2**64:
            raise _refused(ADDRESS, f"`address` must be below 2^64, found {given['address']}")
        unused = MAX_RANK - rank
        lists = {
            "size": [*reversed(shape), *[1] * unused],
            "box": [*reversed(box), *[1] * unused],
            "element_stride": [*reversed(element_strides), *[1] * unused],
            "stride": [*reversed(strides), *[0] * unused],
        }
        given.update({f"{name}_{i}": value for name, row in lists.items() for i, value in enumerate(row)})
        swizzle = given.get("swizzle", "none")
        given.setdefault("box_bytes", box_bytes(dtype, box, element_strides))
        given.setdefault("shared_alignment", SHARED_ALIGNMENT.get(str(swizzle).partition("-")[0], 0))
        return {**given, "rank": rank}

    def fields(self) -> dict[str, Any]:
        """The constructor's arguments; the driver's notes only where they are not the computed ones."""
        fields = {
            "dtype": self.dtype,
            "address": self.address,
            "shape": self.shape,
            "strides": self.strides,
            "box": self.box,
            "element_strides": self.element_strides,
            "interleave": self.interleave,
            "swizzle": self.swizzle,
            "l2_promotion": self.l2_promotion,
            "oob_fill": self.oob_fill,
        }
        if self.box_bytes != box_bytes(self.dtype, self.box, self.element_strides):
            fields["box_bytes"] = self.box_bytes
        if self.shared_alignment != SHARED_ALIGNMENT[self.swizzle.partition("-")[0]]:
            fields["shared_alignment"] = self.shared_alignment
        return fields

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
    def box(self) -> list[int]:
        """Elements of a box along each dimension, outermost first."""
        return self._outermost_first("box", self.rank)

    @property
    def element_strides(self) -> list[int]:
        """Traversal stride along each dimension, outermost first."""
        return self._outermost_first("element_stride", self.rank)

    @property
    def copied(self) -> list[int]:
        """Elements that one copy moves along each dimension: ceil(box / traversal stride)."""
        return [-(-size // step) for size, step in zip(self.box, self.element_strides, strict=True)]

    @property
    def inner_bytes(self) -> int:
        """Bytes of the box's innermost dimension in shared memory."""
        return self.box[-1] * shared_bits(self.dtype) // 8

    def rules(self) -> Iterator[Diagnostic]:
        """The driver's conditions, in the order of its documentation."""
        for i in range(self.rank, MAX_RANK):
            left = [getattr(self, f"{name}_{i}") for name in ("size", "box", "element_stride")]
            if left != [1, 1, 1] or getattr(self, f"stride_{i - 1}") != 0:
                message = f"dimension {i} of a tensor map of rank {self.rank} must be left at zero"
                yield _problem(SHAPE, message)
                return
        if self.interleave != "none" and self.rank < 3:
            yield _problem(
                SHAPE, f"`interleave` {self.interleave} needs 3 dimensions or more, found {self.rank}"
            )
        wide = 32 if self.interleave == "32B" or self.dtype in PADDED else 16
        why = "" if wide == 16 else f" with `{self.dtype if self.dtype in PADDED else 'interleave 32B'}`"
        if self.address % wide:
            yield _problem(
                ADDRESS, f"`address` must be a multiple of {wide} bytes{why}, found {self.address:#x}"
            )
        for i, stride in enumerate(self.strides):
            if stride % wide:
                yield _problem(
                    STRIDE, f"`strides[{i}]` must be a multiple of {wide} bytes{why}, found {stride}"
                )
        yield from self._box_rules()
        yield from self._swizzle_rules()
        if self.oob_fill == "nan" and (self.dtype in SUB_BYTE or not DTYPES[self.dtype].is_float):
            yield _problem(
                FILL, f"`oob_fill` nan needs a floating-point type of 16 bits or more, found `{self.dtype}`"
            )

    def _box_rules(self) -> Iterator[Diagnostic]:
        inner, multiple = self.shape[-1], 128 if self.dtype in PADDED else 2 if self.dtype == "b4x16" else 1
        if inner % multiple:
            yield _problem(
                SHAPE, f"`shape[-1]` of `{self.dtype}` must be a multiple of {multiple}, found {inner}"
            )
        if self.dtype in PADDED and self.box[-1] != 128:
            yield _problem(BOX, f"`box[-1]` of `{self.dtype}` must be 128, found {self.box[-1]}")
        if self.interleave == "none" and self.box[-1] * shared_bits(self.dtype) % 128:
            found = f"{self.box[-1]} elements of `{self.dtype}`"
            yield _problem(BOX, f"`box[-1]` must take a multiple of 16 bytes, found {found}")

    def _swizzle_rules(self) -> Iterator[Diagnostic]:
        if self.interleave == "32B" and self.swizzle != "32B":
            yield _problem(INTERLEAVE, f"`interleave` 32B needs `swizzle` 32B, found {self.swizzle}")
        if self.dtype == "b6x16_p32" and self.interleave != "none":
            yield _problem(INTERLEAVE, f"`{self.dtype}` needs `interleave` none, found {self.interleave}")
        if self.swizzle == "96B" and self.interleave != "none":
            yield _problem(INTERLEAVE, f"`swizzle` 96B needs `interleave` none, found {self.interleave}")
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
            yield _problem(
                SWIZZLE, f"`{self.dtype}` needs `swizzle` {', '.join(allowed)}, found {self.swizzle}"
            )

    def check_target(self, target: str | None) -> Iterator[Diagnostic]:
        """What that target, or its driver, lacks of this map."""
        if target is None:
            return
        known = targets.parse(target)
        if known is None:
            yield _problem(TARGET, f"`target` must be a target such as `sm_90a`, found `{target}`")
            return
        if known.number < 90:
            yield _problem(TARGET, f"tensor maps need sm_90 or later, found `{target}`")
        if known.number < 100 and self.dtype in SUB_BYTE:
            yield _problem(TARGET, f"`{self.dtype}` needs sm_100 or later, found `{target}`")
        if known.number < 100 and "atom" in self.swizzle:
            yield _problem(TARGET, f"`swizzle` {self.swizzle} needs sm_100 or later, found `{target}`")
        if known.number != 103 and self.swizzle == "96B":
            yield _problem(TARGET, f"`swizzle` 96B needs sm_103a, found `{target}`")


def shared_bits(dtype: str) -> int:
    """Bits that one element of a tensor map takes in shared memory, gaps included."""
    return 8 if dtype in PADDED else 4 if dtype == "b4x16" else DTYPES[dtype].bits


def global_bits(dtype: str) -> int:
    """Bits that one element of a tensor map takes in global memory."""
    return DTYPES[dtype].bits // DTYPES[dtype].lanes


def contiguous_strides(shape: Sequence[int], dtype: str) -> list[int]:
    """Strides in bytes, outermost first, of a tensor without gaps; the innermost one is implied."""
    return [math.prod(shape[i + 1 :]) * global_bits(dtype) // 8 for i in range(len(shape) - 1)]


def box_bytes(dtype: str, box: Sequence[int], element_strides: Sequence[int]) -> int:
    """What the driver notes as the bytes of a box: floor(box / stride) of every dimension.

    The copy itself moves ceil(box / stride) elements (`TensorMap.copied`).
    """
    elements = math.prod(size // step for size, step in zip(box, element_strides, strict=True))
    return elements * shared_bits(dtype) // 8


def _integer(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _refused(ARGUMENT, f"`{name}` must be an integer, found {value!r}")


def _integers(name: str, values: Any, low: int, high: int, count: int | None) -> list[int]:
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise _refused(ARGUMENT, f"`{name}` must be a list of integers, found {values!r}")
    if count is None and not 1 <= len(values) <= MAX_RANK:
        raise _refused(SHAPE, f"`{name}` must have 1 to 5 dimensions, found {len(values)}")
    if count is not None and len(values) != count:
        raise _refused(ARGUMENT, f"`{name}` must have {count} entries for this `shape`, found {len(values)}")
    code = {"shape": SHAPE, "box": BOX, "strides": STRIDE, "element_strides": ELEMENT_STRIDE}[name]
    for i, value in enumerate(values):
        if not low <= _integer(f"{name}[{i}]", value) <= high:
            raise _refused(code, f"`{name}[{i}]` must be {low} .. {high}, found {value}")
    return [int(value) for value in values]


def _problem(code: str, message: str) -> Diagnostic:
    return Diagnostic(code, message, notes=(DRIVER,))


def _refused(code: str, message: str) -> PtxkitError:
    return PtxkitError(_problem(code, message))


def tensor_map(
    buffer_or_address: Any,
    *,
    dtype: str,
    shape: Sequence[int],
    box: Sequence[int],
    strides: Sequence[int] | None = None,
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "128B",
    l2_promotion: str = "none",
    oob_fill: str = "zero",
    target: str | None = None,
) -> TensorMap:
    """A tiled tensor map of a buffer, made without a driver; `bytes()` of it are the 128 bytes.

    Args:
        buffer_or_address: a device buffer (anything with `.address`, or `__cuda_array_interface__`),
            or the address of the first element. The map keeps a buffer alive as its `.buffer`.
        dtype, shape, strides, box, element_strides, interleave, swizzle, l2_promotion, oob_fill,
            target: see `TensorMap`; outermost dimension first, strides in bytes.

    Raises:
        PtxkitError: P450 .. P459, each naming the argument and the rule.
    """
    made = TensorMap(
        address=_address(buffer_or_address),
        dtype=dtype,
        shape=list(shape),
        strides=None if strides is None else list(strides),
        box=list(box),
        element_strides=None if element_strides is None else list(element_strides),
        interleave=interleave,
        swizzle=swizzle,
        l2_promotion=l2_promotion,
        oob_fill=oob_fill,
        target=target,
    )
    made.buffer = None if isinstance(buffer_or_address, int) else buffer_or_address
    return made


def _address(source: Any) -> int:
    if isinstance(source, int) and not isinstance(source, bool):
        return source
    address = getattr(source, "address", None)
    if address is None:
        interface = getattr(source, "__cuda_array_interface__", None)
        if interface is None:
            raise _refused(
                ARGUMENT, f"a tensor map needs a device buffer or an address, found {type(source).__name__}"
            )
        address = interface["data"][0]
    return int(address)
