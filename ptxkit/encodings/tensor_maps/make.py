"""Tensor maps of buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ptxkit.encodings.tensor_maps.arguments import ARGUMENT, refused
from ptxkit.encodings.tensor_maps.base import TensorMap
from ptxkit.encodings.tensor_maps.codes import DEFAULT_SWIZZLE


def tensor_map(
    buffer_or_address: Any,
    *,
    dtype: str,
    shape: Sequence[int],
    box: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    element_strides: Sequence[int] | None = None,
    pixel_box_lower_corner: Sequence[int] | None = None,
    pixel_box_upper_corner: Sequence[int] | None = None,
    channels_per_pixel: int | None = None,
    pixels_per_column: int | None = None,
    interleave: str = "none",
    swizzle: str = DEFAULT_SWIZZLE,
    l2_promotion: str = "none",
    oob_fill: str = "zero",
    target: str | None = None,
) -> TensorMap:
    """A tensor map of a buffer, made without a driver; `bytes()` of it are the 128 bytes.

    Args:
        buffer_or_address: a device buffer (anything with `.address`, or `__cuda_array_interface__`),
            or the address of the first element. The map keeps a buffer alive as its `.buffer`.
        box: of a tiled map; else `pixel_box_lower_corner`, `pixel_box_upper_corner`, `channels_per_pixel`
            and `pixels_per_column` of an im2col map.
        dtype, shape, strides, element_strides, interleave, swizzle, l2_promotion, oob_fill, target: see
            `TensorMap`; outermost dimension first, strides in bytes.

    Raises:
        PtxkitError: P450 .. P459, each naming the argument and the rule.
    """

    def listed(values: Any) -> Any:
        return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values

    made = TensorMap(
        address=_address(buffer_or_address),
        dtype=dtype,
        shape=listed(shape),
        strides=listed(strides),
        box=listed(box),
        pixel_box_lower_corner=listed(pixel_box_lower_corner),
        pixel_box_upper_corner=listed(pixel_box_upper_corner),
        channels_per_pixel=channels_per_pixel,
        pixels_per_column=pixels_per_column,
        element_strides=listed(element_strides),
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
            raise refused(
                ARGUMENT, f"a tensor map needs a device buffer or an address, found {type(source).__name__}"
            )
        address = interface["data"][0]
    return int(address)
