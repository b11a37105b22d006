"""Tensor copies against a walk over single elements, written as the manual tells it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensor_copy_kernels as kernels

from ptxkit.descriptors.tensor_maps import TensorMap
from ptxkit.dtypes import DTYPES
from ptxkit.layouts.swizzle import swizzle_address
from ptxkit.layouts.tensor_copy import tensor_copy

BASE = 1 << 32


def elements(case: kernels.Case, address: int) -> dict[int, int | None]:
    """For each address in shared memory that an element begins at, where it comes from; None: outside."""
    made = case.map(BASE)
    size = DTYPES[made.dtype].bits // 8
    sizes, strides, steps = made.shape[::-1], [size, *made.strides[::-1]], made.element_strides[::-1]
    visited = tile_points(case, steps) if case.mode == "tile" else im2col_points(case, made, steps)
    found = {}
    for number, (base, shifted) in enumerate(visited):
        for c in range(made.inner):
            at = [case.coordinates[0] + c, *(p + o for p, o in zip(base, shifted, strict=True))]
            inside = all(0 <= x < n for x, n in zip(at, sizes, strict=True))
            linear = address + (number * made.inner + c) * size
            place = int(swizzle_address(linear // 16 * 16, made.swizzle)) + linear % 16
            source = BASE + case.fields["address"] + sum(x * s for x, s in zip(at, strides, strict=True))
            found[place] = source if inside else None
    return found


def tile_points(case: kernels.Case, steps: list[int]) -> list[tuple[list[int], list[int]]]:
    box = case.fields["box"][::-1]
    ranges = [range(0, n, step) for n, step in zip(box[1:], steps[1:], strict=True)]
    points = []
    for at in itertools.product(*reversed(ranges)):
        point = [c + i for c, i in zip(case.coordinates[1:], reversed(at), strict=True)]
        points.append((point, [0] * len(point)))
    return points


def im2col_points(case: kernels.Case, made: Any, steps: list[int]) -> list[tuple[list[int], list[int]]]:
    lower = made.pixel_box_lower_corner[::-1]
    upper = made.pixel_box_upper_corner[::-1]
    sizes = made.shape[::-1]
    at = list(case.coordinates[1:])
    points = []
    for _ in range(made.pixels_per_column):
        points.append((list(at), [*case.offsets, *[0] * (len(at) - len(case.offsets))]))
        for axis in range(len(lower)):
            at[axis] += steps[1 + axis]
            if at[axis] < sizes[1 + axis] + upper[axis]:
                break
            at[axis] = lower[axis]
        else:
            at[-1] += 1
    return points


@pytest.mark.parametrize("case", list(kernels.cases(3, 150, ("load", "store"))), ids=lambda case: case.mode)
def test_every_element_is_where_a_walk_finds_it(case):
    address = 0x400 + case.place
    moves = tensor_copy(bytes(case.map(BASE)), case.mode).moves(case.coordinates, address, case.offsets)
    walked = elements(case, address)
    size = DTYPES[case.fields["dtype"]].bits // 8
    assert moves.nbytes == len(walked) * size
    inside = np.ones(len(moves.places), bool) if moves.inside is None else moves.inside
    seen = {}
    for place, source, good in zip(
        moves.places.tolist(), moves.addresses.tolist(), inside.tolist(), strict=True
    ):
        for byte in range(moves.unit):
            seen[place + byte] = source + byte if good else None
    assert len(seen) == moves.nbytes
    for place, source in walked.items():
        for byte in range(size):
            assert seen[place + byte] == (None if source is None else source + byte)


def test_maps_are_kept_and_boxes_differ_by_an_addition():
    made = TensorMap(address=BASE, dtype="bf16", shape=[512, 512], box=[64, 64], swizzle="128B")
    copy = tensor_copy(bytes(made))
    assert tensor_copy(bytes(made)) is copy
    first, second = copy.moves((0, 0), 0x400), copy.moves((64, 128), 0x800)
    assert first.unit == 16
    assert first.inside is None
    assert len(first.places) == 64 * 8
    assert (second.addresses - first.addresses == 64 * 2 + 128 * 1024).all()
    assert (second.places - first.places == 0x400).all()


@pytest.mark.parametrize(
    ("dtype", "held", "unit"), [("b4x16_p64", 8, 8), ("b6x16_p32", 12, 4)], ids=lambda value: str(value)
)
def test_padded_types_leave_gaps(dtype, held, unit):
    made = TensorMap(address=BASE, dtype=dtype, shape=[8, 256], box=[2, 128], swizzle="128B")
    moves = tensor_copy(bytes(made)).moves((128, 3), 0x400)
    assert moves.nbytes == 2 * 128
    assert moves.unit == unit
    assert len(moves.places) * unit + len(moves.gaps) == moves.nbytes
    linear = np.sort(swizzle_address(moves.places // 16 * 16, "128B") + moves.places % 16) - 0x400
    assert (linear % 16 < held).all()
    assert moves.addresses.min() == BASE + 3 * 256 // 16 * held + 128 // 16 * held


def test_packed_nibbles_are_copied_as_they_are():
    made = TensorMap(address=BASE, dtype="b4x16", shape=[8, 256], box=[2, 64])
    moves = tensor_copy(bytes(made)).moves((32, 1), 0x400)
    assert moves.nbytes == 64
    assert moves.gaps is None
    assert moves.addresses.min() == BASE + 128 + 16


def test_gather_takes_rows_at_their_own_coordinates():
    made = TensorMap(address=BASE, dtype="f16", shape=[10, 64], box=[1, 32], swizzle="64B")
    moves = tensor_copy(bytes(made), "tile::gather4").moves((8, 2, 9, 0, 11), 0x400)
    assert moves.nbytes == 4 * 64
    rows = (moves.addresses.reshape(4, -1)[:, 0] - BASE - 16) // 128
    assert rows.tolist() == [2, 9, 0, 11]
    assert moves.inside.reshape(4, -1).all(axis=1).tolist() == [True, True, True, False]


def test_wide_im2col_adds_the_halo():
    fields = {
        "dtype": "f16", "shape": [64, 7, 9, 128], "pixel_box_lower_corner": [0, 0],
        "pixel_box_upper_corner": [0, 0], "channels_per_pixel": 64, "pixels_per_column": 128,
    }  # fmt: skip
    made = TensorMap(address=BASE, **fields)
    strides = made.strides
    moves = tensor_copy(bytes(made), "im2col::w").moves((0, 3, 2, 7), 0x400, (2, 0))
    assert moves.nbytes == (128 + 2) * 128
    starts = moves.addresses.reshape(130, -1)[:, 0] - BASE
    w = starts % strides[1] // strides[2]
    assert w[:8].tolist() == [3, 4, 5, 6, 7, 8, 0, 1]
    every = tensor_copy(bytes(made), "im2col::w::128").moves((0, 3, 2, 7), 0x400, (2, 0))
    assert every.nbytes == (128 + 4 * 2) * 128
