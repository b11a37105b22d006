"""Tensor maps for comparisons with the driver's encoder: random legal ones, broken ones, and edges.

Maps are dicts of `TensorMap`'s arguments. Legal and broken ones follow the CUDA driver API's description and
what the driver of an H200 does; edges are maps of which the description says nothing, or not what it does.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from ptxkit import targets
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.tensor_maps.codes import (
    L2_PROMOTION_CODES,
    PADDED,
    PADDED_SWIZZLES,
    SUB_BYTE,
    SWIZZLE_SPAN,
    box_bytes,
    global_bits,
    shared_bits,
)

Fields = dict[str, Any]
SHARED_LIMIT = targets.limits(targets.TARGETS["sm_90a"]).shared_per_sm
"""The largest box in bytes that the driver of an H200 makes, and of every target that a test asks for."""

DRIVER_TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz",
    "b4x16", "b4x16_p64", "b6x16_p32",
)  # fmt: skip
"""Element types in the order of CUtensorMapDataType; the last three need sm_100."""
DRIVER_SWIZZLES = ("none", "32B", "64B", "128B", "128B-32B-atom", "128B-32B-atom-8B-flip", "128B-64B-atom")
"""Swizzles in the order of CUtensorMapSwizzle; the last three need sm_100."""
INTERLEAVES = ("none", "16B", "32B")
FILLS = ("zero", "nan")

IM2COL: Fields = {
    "dtype": "f16",
    "address": 1 << 20,
    "shape": [8, 16, 32, 64],
    "strides": [64 * 32 * 16 * 2, 64 * 32 * 2, 64 * 2],
    "pixel_box_lower_corner": [0, 0],
    "pixel_box_upper_corner": [0, 0],
    "channels_per_pixel": 64,
    "pixels_per_column": 128,
    "element_strides": [1, 1, 1, 1],
    "interleave": "none",
    "swizzle": "128B",
    "l2_promotion": "none",
    "oob_fill": "zero",
}
"""The im2col map from which the recorded ones differ by a parameter."""
CORNER_LIMITS = {3: 2**15, 4: 2**7, 5: 2**4}
"""Corners are -limit .. limit - 1, by rank."""


# ---- legal maps


def common(draw: random.Random, number: int, least_rank: int) -> tuple[Fields, int]:
    """What all modes share, and the elements of a box along the innermost dimension."""
    dtype = draw.choice(DRIVER_TYPES if number >= 100 else DRIVER_TYPES[:13])
    interleave = "none" if dtype in SUB_BYTE else draw.choice(("none", "none", "none", "16B", "32B"))
    rank = draw.randint(max(least_rank, 3 if interleave != "none" else 1), 5)
    swizzles = DRIVER_SWIZZLES if number >= 100 else DRIVER_SWIZZLES[:4]
    swizzle = draw.choice(PADDED_SWIZZLES.get(dtype, swizzles))
    wide = 32 if interleave == "32B" or dtype in PADDED else 16
    unit = 128 // shared_bits(dtype)
    span = SWIZZLE_SPAN.get(swizzle.partition("-")[0], 10**9) if interleave == "none" else 10**9
    inner = 128 if dtype in PADDED else unit * draw.randint(1, max(1, min(256 // unit, span // 16)))
    multiple = 128 if dtype in PADDED else 2 if dtype == "b4x16" else 1
    shape = [draw.choice((draw.randint(1, 4096), draw.randint(1, 2**20), 1, 64)) for _ in range(rank)]
    shape[-1] = max(multiple, shape[-1] // multiple * multiple)
    strides, least = [], -(-shape[-1] * global_bits(dtype) // 8)
    for size in reversed(shape[:-1]):
        stride = min(-(-least // wide) * wide + wide * draw.choice((0, 0, 1, 7)), 2**40 - wide)
        strides.insert(0, stride)
        least = stride * size
    fields = {
        "dtype": dtype,
        "address": wide * draw.randrange(1, 2**40),
        "shape": shape,
        "strides": strides,
        "element_strides": [draw.choice((1, 1, 1, draw.randint(1, 8))) for _ in range(rank - 1)] + [1],
        "interleave": interleave,
        "swizzle": swizzle,
        "l2_promotion": draw.choice(list(L2_PROMOTION_CODES)),
        "oob_fill": draw.choice(FILLS) if DTYPES[dtype].is_float else "zero",
    }
    return fields, inner


def legal_tile(draw: random.Random, number: int) -> Fields:
    """A tiled map that the driver makes for that architecture (90, 100, ..)."""
    fields, inner = common(draw, number, 1)
    while True:
        outer = [draw.choice((1, 2, 8, draw.randint(1, 32))) for _ in fields["shape"][1:]]
        if box_bytes(fields["dtype"], [*outer, inner], fields["element_strides"]) <= SHARED_LIMIT:
            return {**fields, "box": [*outer, inner]}


def pixels(fields: Fields) -> list[int]:
    """The dimensions that the corners of an im2col map's bounding box belong to."""
    return fields["shape"][1:-1] if fields["interleave"] == "none" else fields["shape"][2:]


def legal_im2col(draw: random.Random, number: int) -> Fields:
    """An im2col map that the driver makes for that architecture."""
    fields, inner = common(draw, number, 3)
    limit = CORNER_LIMITS[len(fields["shape"])]
    lower, upper = [], []
    for size in pixels(fields):
        low = draw.choice((0, draw.randint(-limit, min(limit - 1, size + limit - 2)), -1))
        least = max(-limit, low - size + 1)
        lower.append(low)
        upper.append(draw.choice((max(least, 0), draw.randint(least, limit - 1), least)))
    most = min(1024, SHARED_LIMIT * 8 // (inner * shared_bits(fields["dtype"])))
    return {
        **fields,
        "pixel_box_lower_corner": lower,
        "pixel_box_upper_corner": upper,
        "channels_per_pixel": inner,
        "pixels_per_column": draw.choice((draw.randint(1, most), min(64, most), most)),
    }


LEGAL = {"tile": legal_tile, "im2col": legal_im2col}


# ---- broken maps


def changed(values: list[int], at: int, value: int) -> list[int]:
    new = list(values)
    new[at] = value
    return new


def broken_map(draw: random.Random, number: int, mode: str) -> tuple[str, Fields]:
    """A legal map with one rule broken, and which."""
    while True:
        fields = LEGAL[mode](draw, number)
        options = {
            **common_breaks(draw, fields, number),
            **(tile_breaks if mode == "tile" else im2col_breaks)(draw, fields),
        }
        what = draw.choice(sorted(options))
        broken = {**fields, **options[what]}
        if broken != fields:
            return what, broken


def common_breaks(draw: random.Random, fields: Fields, number: int) -> dict[str, Fields]:
    rank = len(fields["shape"])
    at = draw.randrange(rank)
    options: dict[str, Fields] = {
        "address off by 8": {"address": fields["address"] + 8},
        "element stride of 0": {"element_strides": changed(fields["element_strides"], at, 0)},
        "element stride of 9": {"element_strides": changed(fields["element_strides"], at, 9)},
        "size of 0": {"shape": changed(fields["shape"], at, 0)},
        "size above 2^32": {"shape": changed(fields["shape"], at, 2**32 + 1)},
    }
    if rank > 1:
        options["stride off by 8"] = {"strides": changed(fields["strides"], 0, fields["strides"][0] + 8)}
        options["stride of 2^40"] = {"strides": changed(fields["strides"], 0, 2**40)}
    if fields["interleave"] == "32B":
        options["32B interleave, address off by 16"] = {"address": fields["address"] + 16}
    if not DTYPES[fields["dtype"]].is_float:
        options["NaN fill of integers"] = {"oob_fill": "nan"}
    if number < 100:
        options["type of sm_100"] = {"dtype": "b4x16"}
        options["swizzle of sm_100"] = {"swizzle": "128B-32B-atom"}
    return options


def tile_breaks(draw: random.Random, fields: Fields) -> dict[str, Fields]:
    rank = len(fields["shape"])
    at = draw.randrange(rank)
    options: dict[str, Fields] = {
        "box of 0": {"box": changed(fields["box"], at, 0)},
        "box of 257": {"box": changed(fields["box"], at, 257)},
        "unknown rank": {"shape": fields["shape"] + [1] * (6 - rank), "strides": [16] * 5}
        | {"box": [1] * (6 - rank) + fields["box"], "element_strides": [1] * 6},
    }
    if shared_bits(fields["dtype"]) < 128:
        options["inner box off 16 bytes"] = {"box": changed(fields["box"], -1, 1)}
    if fields["interleave"] == "none" and fields["dtype"] not in SUB_BYTE:
        options["inner box beyond the swizzle"] = {"swizzle": "32B", "box": changed(fields["box"], -1, 256)}
    if rank < 3:
        options["interleave of few dimensions"] = {"interleave": "16B"}
    if rank > 2:
        large = {"box": [256] * (rank - 1) + fields["box"][-1:], "element_strides": [1] * rank}
        options["box beyond shared memory"] = large
    return options


def im2col_breaks(draw: random.Random, fields: Fields) -> dict[str, Fields]:
    shape = fields["shape"]
    limit, count = CORNER_LIMITS[len(shape)], len(shape) - 2
    at = draw.randrange(count)
    lower, upper = fields["pixel_box_lower_corner"], fields["pixel_box_upper_corner"]
    options: dict[str, Fields] = {
        "pixels of 0": {"pixels_per_column": 0},
        "pixels of 1025": {"pixels_per_column": 1025},
        "channels of 0": {"channels_per_pixel": 0},
        "channels of 257": {"channels_per_pixel": 257},
        "channels off 16 bytes": {"channels_per_pixel": 1},
        "lower corner too low": {"pixel_box_lower_corner": changed(lower, at, -limit - 1)},
        "lower corner too high": {"pixel_box_lower_corner": changed(lower, at, limit)},
        "upper corner too low": {"pixel_box_upper_corner": changed(upper, at, -limit - 1)},
        "upper corner too high": {"pixel_box_upper_corner": changed(upper, at, limit)},
        "two dimensions": {
            "shape": shape[-2:], "strides": fields["strides"][-1:], "element_strides": [1, 1],
            "pixel_box_lower_corner": [], "pixel_box_upper_corner": [],
        },
    }  # fmt: skip
    empty = lower[at] - pixels(fields)[at]
    if -limit <= empty:
        options["empty bounding box"] = {"pixel_box_upper_corner": changed(upper, at, empty)}
    if fields["interleave"] == "none" and fields["dtype"] not in SUB_BYTE:
        options["channels beyond the swizzle"] = {"swizzle": "32B", "channels_per_pixel": 256}
    return options


# ---- edges


def edge_maps(draw: random.Random, number: int, mode: str, each: int = 20) -> Iterator[tuple[str, Fields]]:
    """Maps that the documentation leaves open, or that the driver may see otherwise, several of each sort."""
    for _ in range(each):
        fields = LEGAL[mode](draw, number)
        rank, steps, strides = len(fields["shape"]), fields["element_strides"], fields["strides"]
        interleaved = "interleave" if fields["interleave"] != "none" else "no interleave"
        inner_step = changed(steps, -1, draw.randint(2, 8))
        yield f"inner element stride, {interleaved}", {**fields, "element_strides": inner_step}
        yield "size of 2^32", {**fields, "shape": changed(fields["shape"], 0, 2**32)}
        yield "address of 0", {**fields, "address": 0}
        yield "address beyond 2^48", {**fields, "address": 2**50}
        yield "address below 2^57", {**fields, "address": 2**57 - 32}
        yield "address of 2^57", {**fields, "address": 2**57}
        yield "address below 2^64", {**fields, "address": 2**64 - 32}
        if DTYPES[fields["dtype"]].is_float:
            yield "NaN fill of every float", {**fields, "oob_fill": "nan"}
        if rank > 1:
            yield "stride of 0", {**fields, "strides": changed(strides, 0, 0)}
            yield "strides that overlap", {**fields, "strides": [32] * (rank - 1)}
            yield "strides that shrink outward", {**fields, "strides": strides[::-1]}
        if fields["interleave"] != "none":
            for swizzle in DRIVER_SWIZZLES[:4]:
                yield f"interleave {fields['interleave']}, swizzle {swizzle}", {**fields, "swizzle": swizzle}
        if fields["interleave"] == "32B":
            off = changed(strides, -1, strides[-1] + 16)
            yield "32B interleave, stride off by 16", {**fields, "strides": off}
        if mode == "tile":
            yield from tile_edges(fields)
        else:
            yield from im2col_edges(fields)


def tile_edges(fields: Fields) -> Iterator[tuple[str, Fields]]:
    rank, inner = len(fields["shape"]), fields["box"][-1]
    if fields["interleave"] != "none":
        yield "interleave, inner box of 1", {**fields, "box": changed(fields["box"], -1, 1)}
    yield "box larger than the tensor", {**fields, "shape": [1] * (rank - 1) + fields["shape"][-1:]}
    yield "element strides larger than the box", {
        **fields, "box": [1] * (rank - 1) + [inner], "element_strides": [8] * (rank - 1) + [1],
    }  # fmt: skip
    if rank > 2:
        rounded = [15, 15, *[1] * (rank - 3), inner]
        yield "copied bytes above the counted", {
            **fields, "box": rounded, "element_strides": [8, 8, *[1] * (rank - 2)],
        }  # fmt: skip
        full = [255, 255, *[1] * (rank - 3), inner]
        yield "large box, large strides", {
            **fields, "box": full, "element_strides": [8, 8, *[1] * (rank - 2)],
        }  # fmt: skip


def im2col_edges(fields: Fields) -> Iterator[tuple[str, Fields]]:
    shape = fields["shape"]
    limit, count = CORNER_LIMITS[len(shape)], len(shape) - 2
    widest = {
        "pixel_box_lower_corner": [-limit] * count,
        "pixel_box_upper_corner": [limit - 1] * count,
    }
    yield "bounding box larger than the image", {**fields, **widest}
    one = {
        "shape": [shape[0], *[1] * count, shape[-1]],
        "pixel_box_lower_corner": [limit - 1] * count,
        "pixel_box_upper_corner": [limit - 1] * count,
    }
    yield "bounding box of a pixel beyond the image", {**fields, **one}
    yield "more pixels than the image", {
        **fields, "shape": [1, *[1] * count, shape[-1]], "pixels_per_column": 8,
        "pixel_box_lower_corner": [0] * count, "pixel_box_upper_corner": [0] * count,
    }  # fmt: skip
    yield "many pixels of many channels", {
        **fields, "dtype": "u8", "oob_fill": "zero", "swizzle": "none", "channels_per_pixel": 256,
        "pixels_per_column": 1024,
    }  # fmt: skip


def boxes_near_the_limit(mode: str, around: int = 4096) -> Iterator[tuple[int, Fields]]:
    """Maps of u8 by bytes of a box, as many sizes as there are within `around` of the limit."""
    base: Fields = {"dtype": "u8", "address": 1 << 20, "interleave": "none", "swizzle": "none"} | {
        "l2_promotion": "none",
        "oob_fill": "zero",
    }
    sizes = range(SHARED_LIMIT - around, SHARED_LIMIT + around + 1, 16)
    for size in sizes:
        for inner in range(256, 15, -16):
            rest, other = divmod(size, inner)
            if other:
                continue
            if mode == "im2col" and rest <= 1024:
                flat = {"shape": [64, 64, 256], "strides": [256 * 64, 256], "element_strides": [1] * 3}
                corners = {"pixel_box_lower_corner": [0], "pixel_box_upper_corner": [0]}
                columns = {"channels_per_pixel": inner, "pixels_per_column": rest}
                yield size, {**base, **flat, **corners, **columns}
                break
            rows = next((n for n in range(256, 0, -1) if rest % n == 0 and rest // n <= 256), 0)
            if mode == "tile" and rows:
                flat = {"shape": [64, 64, 256], "strides": [256 * 64, 256], "element_strides": [1] * 3}
                yield size, {**base, **flat, "box": [rest // rows, rows, inner]}
                break


# ---- recorded im2col maps


def im2col_variations() -> Iterator[tuple[str, Fields]]:
    """One parameter at a time away from `IM2COL`, by every bit of it, and some that are refused."""
    sides = {"lower": (lower := "pixel_box_lower_corner"), "upper": (upper := "pixel_box_upper_corner")}
    for pixels in [1 << bit for bit in range(11)]:
        yield f"pixels {pixels}", {"pixels_per_column": pixels}
    for channels in (8, 16, 32, 64):
        yield f"channels {channels}", {"channels_per_pixel": channels}
    for channels in [1 << bit for bit in range(9)]:
        plain = {"swizzle": "none", "dtype": "u8"}
        yield f"channels {channels} unswizzled u8", {"channels_per_pixel": channels, **plain}
    for side, axis, bit, sign in itertools.product(sides, (0, 1), range(7), (1, -1)):
        shape = {"shape": [8, 600, 600, 64]} if bit > 3 else {}
        corner = changed([0, 0], axis, sign << bit)
        yield f"{side}{axis} {sign << bit}", {sides[side]: corner, **shape}
    flat = {"shape": [8, 100000, 64], "strides": [64 * 100000 * 2, 128], "element_strides": [1] * 3}
    for bit, sign, side in itertools.product(range(15), (1, -1), sides):
        yield f"3d {side} {sign << bit}", {**flat, lower: [0], upper: [0], sides[side]: [sign << bit]}
    deep = {
        "shape": [8, 40, 40, 40, 64],
        "strides": [64 * 40**3 * 2, 64 * 40**2 * 2, 64 * 40 * 2, 128],
        "element_strides": [1] * 5,
        lower: [0] * 3,
        upper: [0] * 3,
    }
    for axis, bit, sign, side in itertools.product(range(3), range(4), (1, -1), sides):
        corner = changed([0] * 3, axis, sign << bit)
        yield f"5d {side}{axis} {sign << bit}", {**deep, sides[side]: corner}
    small = {
        "shape": [8, 4, 16, 32, 64],
        "strides": [64 * 32 * 16 * 4 * 2, 64 * 32 * 16 * 2, 64 * 32 * 2, 128],
        "element_strides": [1] * 5,
        lower: [0] * 3,
        upper: [0] * 3,
    }
    yield "3d", {**flat, "shape": [8, 32, 64], "strides": [64 * 32 * 2, 128], lower: [0], upper: [0]}
    yield "5d", small
    for axis, step in itertools.product(range(4), range(2, 9)):
        yield f"element_stride{axis} {step}", {"element_strides": changed([1] * 4, axis, step)}
    for dtype in DRIVER_TYPES:
        channels = 128 if dtype in PADDED else 16
        yield f"dtype {dtype}", {"dtype": dtype, "channels_per_pixel": channels, "swizzle": "none"}
    for swizzle in DRIVER_SWIZZLES:
        yield f"swizzle {swizzle}", {"swizzle": swizzle, "channels_per_pixel": 16}
    for interleave, swizzle in (("16B", "none"), ("16B", "32B"), ("32B", "32B")):
        both = {"interleave": interleave, "swizzle": swizzle, "channels_per_pixel": 8}
        yield f"interleave {interleave} {swizzle}", {**small, **both}
    for promotion in L2_PROMOTION_CODES:
        yield f"l2_promotion {promotion}", {"l2_promotion": promotion}
    yield "oob_fill nan", {"oob_fill": "nan"}
    for name, value in (("pixels_per_column", 0), ("pixels_per_column", 1025), ("channels_per_pixel", 0),
                        ("channels_per_pixel", 257), ("channels_per_pixel", 72)):  # fmt: skip
        yield f"refused? {name} {value}", {name: value}
    for side, corner in itertools.product(sides, ([128, 0], [-129, 0], [0, 127], [0, -128])):
        yield f"refused? {side} {corner}", {sides[side]: corner}
    yield "refused? empty box", {upper: [-16, 0]}
