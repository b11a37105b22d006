"""Tensor maps of what a copy by one can't be."""

from __future__ import annotations

from typing import Any

from kernels import begin

from wrong_calls.fixtures import Call, Fixtures, halves, place, raw

__all__ = ["CALLS", "begin"]

U8, F32, B4X16 = 0, 7, 13


def _longs(numbers: tuple[int, ...]) -> int:
    return place(*(half for number in numbers for half in halves(number)))


def _tiled(f: Fixtures, **given: Any) -> tuple[int]:
    """A map of 64 x 64 floats in boxes of 32 x 8, but for what is given."""
    like: dict[str, Any] = {
        "out": _aligned(place()),
        "dtype": F32,
        "rank": 2,
        "address": f.address,
        "dims": (64, 64, 4, 4, 4),
        "strides": (256, 1 << 14, 1 << 16, 1 << 18),
        "box": (32, 8, 1, 1, 1),
        "steps": (1, 1, 1, 1, 1),
        "interleave": 0,
        "swizzle": 0,
        "promotion": 0,
        "fill": 0,
    } | given
    lists = [like["dims"], like["strides"]]
    small = [like["box"], like["steps"]]
    dims, strides = (_longs(numbers) if numbers is not None else 0 for numbers in lists)
    box, steps = (place(*numbers) if numbers is not None else 0 for numbers in small)
    choices = (like["interleave"], like["swizzle"], like["promotion"], like["fill"])
    return raw(
        "cuTensorMapEncodeTiled",
        *(like["out"], like["dtype"], like["rank"], like["address"]),
        *(dims, strides, box, steps, *choices),
    )


def _im2col(f: Fixtures, **given: Any) -> tuple[int]:
    """A map of 4 images of 16 x 16 pixels of 64 floats, but for what is given."""
    like: dict[str, Any] = {
        "rank": 4,
        "dims": (64, 16, 16, 4, 4),
        "strides": (256, 1 << 12, 1 << 16, 1 << 18),
        "lower": (0, 0, 0),
        "upper": (0, 0, 0),
        "channels": 32,
        "pixels": 16,
        "steps": (1, 1, 1, 1, 1),
        "swizzle": 0,
        "interleave": 0,
    } | given
    return raw(
        "cuTensorMapEncodeIm2col",
        *(_aligned(place()), F32, like["rank"], f.address, _longs(like["dims"]), _longs(like["strides"])),
        *(place(*like["lower"]), place(*like["upper"]), like["channels"], like["pixels"]),
        *(place(*like["steps"]), like["interleave"], like["swizzle"], 0, 0),
    )


def _aligned(address: int) -> int:
    """A place for a map: a multiple of 64."""
    return -(-address // 64) * 64


CALLS: dict[str, Call] = {
    "a map, nowhere": lambda f: _tiled(f, out=0),
    "a map at a misaligned place": lambda f: _tiled(f, out=_aligned(place()) + 8),
    "a type that there is not": lambda f: _tiled(f, dtype=77),
    "a negative type": lambda f: _tiled(f, dtype=-1),
    "rank 0": lambda f: _tiled(f, rank=0),
    "rank 6": lambda f: _tiled(f, rank=6),
    "the address null": lambda f: _tiled(f, address=0),
    "a misaligned address": lambda f: _tiled(f, address=f.address + 8),
    "an address of freed memory": lambda f: _tiled(f, address=f.freed),
    "an address of the host's memory": lambda f: _tiled(f, address=f.pages),
    "a dimension of 0": lambda f: _tiled(f, dims=(64, 0)),
    "a dimension of 2**32": lambda f: _tiled(f, dims=(64, 1 << 32)),
    "a dimension of 2**32 + 1": lambda f: _tiled(f, dims=(64, (1 << 32) + 1)),
    "no dimensions": lambda f: _tiled(f, dims=None),
    "a stride that is no multiple of 16": lambda f: _tiled(f, strides=(264,)),
    "a stride of 0": lambda f: _tiled(f, strides=(0,)),
    "a stride that is less than a row": lambda f: _tiled(f, strides=(64,)),
    "a stride of 2**40": lambda f: _tiled(f, strides=(1 << 40,)),
    "a stride that is less than a plane": lambda f: _tiled(f, rank=3, strides=(256, 512)),
    "no strides": lambda f: _tiled(f, strides=None),
    "no strides of rank 1": lambda f: _tiled(f, rank=1, strides=None),
    "a box of 0": lambda f: _tiled(f, box=(32, 0)),
    "a box of 257": lambda f: _tiled(f, box=(4, 257)),
    "a box of 256 by 256 floats": lambda f: _tiled(f, box=(256, 256)),
    "a box that is wider than the tensor": lambda f: _tiled(f, box=(128, 8)),
    "a box of 3 floats a row": lambda f: _tiled(f, box=(3, 8)),
    "a box of 20 bytes a row": lambda f: _tiled(f, dtype=U8, box=(20, 8)),
    "no box": lambda f: _tiled(f, box=None),
    "an element stride of 0": lambda f: _tiled(f, steps=(1, 0)),
    "an element stride of 9": lambda f: _tiled(f, steps=(1, 9)),
    "an element stride of 8": lambda f: _tiled(f, steps=(1, 8)),
    "no element strides": lambda f: _tiled(f, steps=None),
    "an interleave that there is not": lambda f: _tiled(f, interleave=77),
    "an interleave of rank 2": lambda f: _tiled(f, interleave=1),
    "an interleave of 16 bytes": lambda f: _tiled(f, rank=3, interleave=1, box=(4, 8, 1)),
    "an interleave of 32 bytes with no swizzle": lambda f: _tiled(f, rank=3, interleave=2, box=(8, 8, 1)),
    "an interleave of 32 bytes with a swizzle of 64": lambda f: _tiled(
        f, rank=3, interleave=2, swizzle=2, box=(8, 8, 1)
    ),
    "a swizzle that there is not": lambda f: _tiled(f, swizzle=77),
    "a swizzle of 32 bytes and rows of 64": lambda f: _tiled(f, swizzle=1, box=(16, 8)),
    "a swizzle of 128 bytes and rows of 256": lambda f: _tiled(f, swizzle=3, box=(64, 8)),
    "a swizzle of 128 bytes and rows of 128": lambda f: _tiled(f, swizzle=3, box=(32, 8)),
    "a promotion that there is not": lambda f: _tiled(f, promotion=77),
    "a fill that there is not": lambda f: _tiled(f, fill=77),
    "a fill of NaN for integers": lambda f: _tiled(f, dtype=U8, box=(32, 8), fill=1),
    "half bytes of dimensions that are no multiple of 128": lambda f: _tiled(
        f, dtype=B4X16, box=(128, 8), dims=(192, 64)
    ),
    "pixels of rank 2": lambda f: _im2col(f, rank=2),
    "pixels of rank 6": lambda f: _im2col(f, rank=6),
    "a corner of -200": lambda f: _im2col(f, lower=(-200, 0)),
    "a corner beyond the other": lambda f: _im2col(f, lower=(8, 8), upper=(-8, -8)),
    "no channels": lambda f: _im2col(f, channels=0),
    "257 channels": lambda f: _im2col(f, channels=257),
    "no pixels": lambda f: _im2col(f, pixels=0),
    "1025 pixels": lambda f: _im2col(f, pixels=1025),
    "channels of 12 bytes": lambda f: _im2col(f, channels=3),
    "a swizzle of 32 bytes and channels of 128": lambda f: _im2col(f, swizzle=1),
    "another address for no map": lambda f: raw("cuTensorMapReplaceAddress", 0, f.address),
    "another address that is misaligned": lambda f: raw(
        "cuTensorMapReplaceAddress", _aligned(place()), f.address + 8
    ),
}
