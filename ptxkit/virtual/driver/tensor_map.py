"""Tensor map object management."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ptxkit.diagnostics import PtxkitError
from ptxkit.encodings.tensor_maps.make import tensor_map
from ptxkit.virtual.abi import Int, Size, UInt, several
from ptxkit.virtual.driver import driver
from ptxkit.virtual.gpu.machine import Machine
from ptxkit.virtual.results import failure

DTYPES = "u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32.ftz tf32 tf32.ftz b4x16 b4x16_p64 b6x16_p32".split()
INTERLEAVES = ("none", "16B", "32B")
SWIZZLES = ("none", "32B", "64B", "128B", "128B-32B-atom", "128B-32B-atom-8B-flip", "128B-64B-atom")
PROMOTIONS = ("none", "64B", "128B", "256B")
FILLS = ("zero", "nan")
MAP_BYTES = 128
"""What the numbers of the enumerations mean, in the words of `ptxkit.tensor_map`."""


def _named(names: Sequence[str], number: int, what: str) -> str:
    if not 0 <= number < len(names):
        raise failure("INVALID_VALUE", f"there is no {what} {number}")
    return names[number]


def _common(dtype: int, rank: int, dims: int, strides: int, element_strides: int) -> dict[str, Any]:
    """What both modes have, outermost dimension first: the driver has the innermost first."""
    if not strides:
        raise failure("INVALID_VALUE", "the strides are null")
    if not 1 <= rank <= 5:
        raise failure("INVALID_VALUE", f"expected a rank from 1 to 5, found {rank}")
    return {
        "dtype": _named(DTYPES, dtype, "type"),
        "shape": several(dims, Size, rank)[::-1],
        "strides": several(strides, Size, rank - 1)[::-1],
        "element_strides": several(element_strides, UInt, rank)[::-1],
    }


def _encode(
    machine: Machine,
    out: int,
    address: int,
    interleave: int,
    swizzle: int,
    promotion: int,
    fill: int,
    **fields: Any,
) -> None:
    if not out:
        raise failure("INVALID_VALUE", "the tensor map's place is null")
    try:
        made = tensor_map(
            address,
            interleave=_named(INTERLEAVES, interleave, "interleave"),
            swizzle=_named(SWIZZLES, swizzle, "swizzle"),
            l2_promotion=_named(PROMOTIONS, promotion, "L2 promotion"),
            oob_fill=_named(FILLS, fill, "fill"),
            target=machine.options.target.name,
            **fields,
        )
    except PtxkitError as problem:
        raise failure("INVALID_VALUE", problem.diagnostics[0].message) from None
    ctypes.memmove(out, bytes(made), MAP_BYTES)


@driver()
def cuTensorMapEncodeTiled(
    machine: Machine,
    out: int,
    dtype: int,
    rank: int,
    address: int,
    dims: int,
    strides: int,
    box: int,
    element_strides: int,
    *choices: int,
) -> None:
    common = _common(dtype, rank, dims, strides, element_strides)
    _encode(machine, out, address, *choices, box=several(box, UInt, rank)[::-1], **common)


@driver()
def cuTensorMapEncodeIm2col(
    machine: Machine,
    out: int,
    dtype: int,
    rank: int,
    address: int,
    dims: int,
    strides: int,
    lower: int,
    upper: int,
    channels: int,
    pixels: int,
    element_strides: int,
    *choices: int,
) -> None:
    common = _common(dtype, rank, dims, strides, element_strides)
    if rank < 3:
        raise failure("INVALID_VALUE", f"expected a rank from 3 to 5, found {rank}")
    _encode(
        machine,
        out,
        address,
        *choices,
        pixel_box_lower_corner=several(lower, Int, rank - 2)[::-1],
        pixel_box_upper_corner=several(upper, Int, rank - 2)[::-1],
        channels_per_pixel=channels,
        pixels_per_column=pixels,
        **common,
    )


@driver()
def cuTensorMapReplaceAddress(machine: Machine, tensor: int, address: int) -> None:
    if not tensor or address % 16:
        raise failure("INVALID_VALUE", "the map is null, or the address no multiple of 16")
    ctypes.memmove(tensor, address.to_bytes(8, "little"), 8)
