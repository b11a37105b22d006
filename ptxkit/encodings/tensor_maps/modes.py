"""The modes of tensor maps: tiles, and im2col for convolutions. PTX ISA 5.5.3 and 5.5.4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ptxkit.bits import Field, bits
from ptxkit.diagnostics import Diagnostic, counted
from ptxkit.encodings.tensor_maps.arguments import (
    ARGUMENT,
    BOX,
    IM2COL_ARGUMENTS,
    MAX_RANK,
    SHAPE,
    integer,
    integers,
    numbered,
    problem,
    refused,
)
from ptxkit.encodings.tensor_maps.base import TensorMap
from ptxkit.encodings.tensor_maps.codes import box_bytes, shared_bits


class TiledTensorMap(TensorMap):
    """A tensor map of tiles: one copy moves a box of the tensor."""

    MODE = "tile"
    RANKS = (1, 2, 3, 4, 5)
    INNER = "box[-1]"
    SECTION = "CUDA driver API, cuTensorMapEncodeTiled"

    box_0 = bits.at(0x34)[31:24].less_one("elements of a box along dimension 0")
    box_1 = bits.at(0x38)[7:0].less_one()
    box_2 = bits.at(0x38)[15:8].less_one()
    box_3 = bits.at(0x38)[23:16].less_one()
    box_4 = bits.at(0x38)[31:24].less_one()
    reserved_480 = bits.at(0x3C)[31:0].reserved()

    @classmethod
    def _box_arguments(
        cls, given: dict[str, Any], dtype: str, shape: list[int], element_strides: list[int]
    ) -> dict[str, Any]:
        box = integers(BOX, "box", given.pop("box", None), 1, 256, len(shape))
        return {**numbered("box", box, MAX_RANK, 1), "box_bytes": box_bytes(dtype, box, element_strides)}

    def _box_fields(self) -> dict[str, Any]:
        return {"box": self.box}

    @property
    def box(self) -> list[int]:
        """Elements of a box along each dimension, outermost first."""
        return self._outermost_first("box", self.rank)

    @property
    def inner(self) -> int:
        """Elements of a box along the innermost dimension."""
        return self.box_0

    @property
    def copied(self) -> list[int]:
        """Elements that one copy moves along each dimension: ceil(box / traversal stride)."""
        return [-(-size // step) for size, step in zip(self.box, self.element_strides, strict=True)]

    @property
    def moved_bytes(self) -> int:
        """Bytes that one copy writes to shared memory: ceil(box / traversal stride)."""
        return box_bytes(self.dtype, self.copied, [1] * self.rank)

    @property
    def counted_bytes(self) -> int:
        """Bytes of one box in shared memory, as the driver counts them: floor(box / traversal stride)."""
        return box_bytes(self.dtype, self.box, self.element_strides)

    def _box_rules(self) -> Iterator[Diagnostic]:
        for i in range(self.rank, MAX_RANK):
            if getattr(self, f"box_{i}") != 1:
                yield problem(
                    SHAPE, f"dimension {i} of a tensor map of rank {self.rank} must be left at zero"
                )
                return


class Im2colTensorMap(TensorMap, abstract=True):
    """A tensor map of a batch of images (N, D, H, W, C or without D, or without D and H).

    One copy moves `pixels_per_column` pixels of `channels_per_pixel` channels: those inside the bounding box,
    row after row and image after image. The corners' bits depend on the rank.
    """

    MODE = "im2col"
    INNER = "channels_per_pixel"
    SECTION = "CUDA driver API, cuTensorMapEncodeIm2col"
    CORNERS: ClassVar[tuple[str, ...]]
    """The dimensions that the bounding box has, outermost first."""

    channels_per_pixel = bits.at(0x34)[31:24].less_one("elements of a copy along C")
    pixels_per_column = bits.at(0x3C)[9:0].less_one("pixels of a copy")
    reserved_490 = bits.at(0x3C)[31:10].reserved()

    @classmethod
    def _box_arguments(
        cls, given: dict[str, Any], dtype: str, shape: list[int], element_strides: list[int]
    ) -> dict[str, Any]:
        if "box" in given:
            found = next(name for name in IM2COL_ARGUMENTS if name in given)
            raise refused(ARGUMENT, f"a tensor map has either `box` or `{found}`, found both")
        if len(shape) not in cls.RANKS:
            raise refused(SHAPE, f"`shape` of an im2col map must have 3 to 5 dimensions, found {len(shape)}")
        fields: dict[str, Any] = {}
        for side in ("lower", "upper"):
            name = f"pixel_box_{side}_corner"
            low, high = cls.corner(side, "w").limits
            corner = integers(BOX, name, given.pop(name, None), low, high, len(cls.CORNERS))
            fields |= {f"{side}_{axis}": value for axis, value in zip(cls.CORNERS, corner, strict=True)}
        for name, most in (("channels_per_pixel", 256), ("pixels_per_column", 1024)):
            value = integer(name, given.pop(name, None))
            if not 1 <= value <= most:
                raise refused(BOX, f"`{name}` must be 1 .. {most}, found {value}")
            fields[name] = value
        elements = fields["channels_per_pixel"] * fields["pixels_per_column"]
        return {**fields, "box_bytes": elements * shared_bits(dtype) // 8}

    @classmethod
    def corner(cls, side: str, axis: str) -> Field[int]:
        """The field of one coordinate of the `lower` or `upper` corner."""
        return cls.FIELDS[f"{side}_{axis}"]

    def _box_fields(self) -> dict[str, Any]:
        return {
            "pixel_box_lower_corner": self.pixel_box_lower_corner,
            "pixel_box_upper_corner": self.pixel_box_upper_corner,
            "channels_per_pixel": self.channels_per_pixel,
            "pixels_per_column": self.pixels_per_column,
        }

    @property
    def pixel_box_lower_corner(self) -> list[int]:
        """Offsets of the bounding box's lower corner from the first pixel, outermost dimension first."""
        return [getattr(self, f"lower_{axis}") for axis in self.CORNERS]

    @property
    def pixel_box_upper_corner(self) -> list[int]:
        """Offsets of the bounding box's upper corner from the last pixel, outermost dimension first."""
        return [getattr(self, f"upper_{axis}") for axis in self.CORNERS]

    @property
    def pixel_box(self) -> list[int]:
        """Pixels of the bounding box along D, H, W, outermost first; traversal strides aside."""
        corners = zip(self.pixels, self.pixel_box_lower_corner, self.pixel_box_upper_corner, strict=True)
        return [size + upper - lower for size, lower, upper in corners]

    @property
    def pixels(self) -> list[int]:
        """Pixels of an image along D, H, W, outermost first.

        Interleaved layouts hold slices of channels outside of them, N, C/8, D, H, W (PTX ISA 5.5.6): as the
        driver of an H200 sees it, the corners there belong to the innermost dimensions.
        """
        return self.shape[1:-1] if self.interleave == "none" else self.shape[2:]

    @property
    def inner(self) -> int:
        """Channels of a copy."""
        return self.channels_per_pixel

    @property
    def counted_bytes(self) -> int:
        """Bytes of one copy in shared memory; traversal strides do not change them (PTX ISA 5.5.4.2)."""
        return self.pixels_per_column * self.inner_bytes

    @property
    def moved_bytes(self) -> int:
        """Bytes that one copy writes to shared memory."""
        return self.counted_bytes

    def _box_rules(self) -> Iterator[Diagnostic]:
        for i, pixels in enumerate(self.pixel_box):
            if pixels < 1:
                size = f"{counted(self.pixels[i], 'pixel')} along {self.CORNERS[i].upper()}"
                between = f"{self.pixel_box_lower_corner[i]} and {self.pixel_box_upper_corner[i]}"
                message = f"the bounding box must hold a pixel, found none: {size} between corners {between}"
                yield problem(BOX, message)


class _Im2col3D(Im2colTensorMap):
    RANKS = (3,)
    CORNERS = ("w",)

    lower_w = bits.at(0x38)[15:0].signed("lower corner of the bounding box along W, from the first pixel")
    upper_w = bits.at(0x38)[31:16].signed("upper corner along W, from the last pixel")


class _Im2col4D(Im2colTensorMap):
    RANKS = (4,)
    CORNERS = ("h", "w")

    lower_w = bits.at(0x38)[7:0].signed("lower corner of the bounding box along W, from the first pixel")
    lower_h = bits.at(0x38)[15:8].signed("along H")
    upper_w = bits.at(0x38)[23:16].signed("upper corner along W, from the last pixel")
    upper_h = bits.at(0x38)[31:24].signed("along H")


class _Im2col5D(Im2colTensorMap):
    RANKS = (5,)
    CORNERS = ("d", "h", "w")

    lower_w = bits.at(0x38)[4:0].signed("lower corner of the bounding box along W, from the first pixel")
    lower_h = bits.at(0x38)[9:5].signed("along H")
    lower_d = bits.at(0x38)[14:10].signed("along D")
    reserved_463 = bits.at(0x38)[15].reserved()
    upper_w = bits.at(0x38)[20:16].signed("upper corner along W, from the last pixel")
    upper_h = bits.at(0x38)[25:21].signed("along H")
    upper_d = bits.at(0x38)[30:26].signed("along D")
    reserved_479 = bits.at(0x38)[31].reserved()
