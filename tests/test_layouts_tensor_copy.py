"""Tensor copies against a walk over single elements, written as the manual tells it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensor_copy_kernels as kernels

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.tensor_copies.transfer import packed_sixes
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.layouts.swizzle import swizzle_address
from ptxkit.layouts.tensor_copy import tensor_copy

BASE = 1 << 32


def elements(case: kernels.Case, address: int) -> dict[int, int | None]:
    """For each 16 bytes of shared memory or less that are an element, where they come from; None: outside."""
    made = case.map(BASE)
    size = DTYPES[made.dtype].bits // 8
    slices = {"none": 0, "16B": 16, "32B": 32}[made.interleave]
    sizes, steps = made.shape[::-1], made.element_strides[::-1]
    if case.operation != "load" and not slices:
        sizes[0] = -(-sizes[0] * size // 16) * 16 // size
    strides = [slices or size, *made.strides[::-1]]
    visited = tile_points(case, steps) if case.mode == "tile" else im2col_points(case, made, steps)
    if not slices:
        steps[0] = 1
    width = {"none": 0, "32B": 32, "64B": 64, "128B": 128}[made.swizzle] if not slices else 0
    pitch = slices or max(made.inner * size, width)
    found = {}
    for number, at in enumerate(visited):
        for c in range(1 if slices else made.inner):
            point = at if slices else [case.coordinates[0] + c, *at]
            inside = all(0 <= x < n for x, n in zip(point, sizes, strict=True))
            source = BASE + case.fields["address"] + sum(x * s for x, s in zip(point, strides, strict=True))
            for part in range(slices // size or 1):
                linear = address + number * pitch + (c + part) * size
                place = int(swizzle_address(linear // 16 * 16, made.swizzle)) + linear % 16
                found[place] = source + part * size if inside else None
    return found


def tile_points(case: kernels.Case, steps: list[int]) -> list[list[int]]:
    first = 0 if case.fields["interleave"] != "none" else 1
    box = case.fields["box"][::-1]
    ranges = [range(0, n, step) for n, step in zip(box[first:], steps[first:], strict=True)]
    if not first:
        ranges[-2] = range(1)
    return [
        [c + i for c, i in zip(case.coordinates[first:], reversed(at), strict=True)]
        for at in itertools.product(*reversed(ranges))
    ]


def im2col_points(case: kernels.Case, made: Any, steps: list[int]) -> list[list[int]]:
    first = 0 if made.interleave != "none" else 1
    lower = made.pixel_box_lower_corner[::-1]
    upper = made.pixel_box_upper_corner[::-1]
    sizes = made.shape[::-1]
    at = list(case.coordinates[first:])
    points = []
    for _ in range(made.pixels_per_column):
        shifts = [*case.offsets, *[0] * (len(at) - len(case.offsets))]
        points.append([x + shift for x, shift in zip(at, shifts, strict=True)])
        for axis in range(len(lower)):
            at[axis] += steps[first + axis]
            if at[axis] < sizes[first + axis] + upper[axis]:
                break
            at[axis] = lower[axis]
        else:
            at[-1] += steps[-1]
    return points


@pytest.mark.parametrize("case", list(kernels.cases(3, 200, ("load", "store"))), ids=lambda case: case.mode)
def test_every_element_is_where_a_walk_finds_it(case):
    address = 0x400 + case.place
    copy, storing = tensor_copy(bytes(case.map(BASE)), case.mode), case.operation != "load"
    moves = copy.moves(case.coordinates, address, case.offsets, storing)
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


def test_six_bits_of_every_byte_are_packed():
    chunks = np.random.default_rng(0).integers(0, 256, (5, 16), dtype=np.uint8)
    for chunk, words in zip(chunks, packed_sixes(chunks), strict=True):
        whole = sum((int(byte) & 63) << 6 * i for i, byte in enumerate(chunk))
        assert int.from_bytes(words.tobytes(), "little") == whole


MADE_BY_CUTE = (64 + 1, 64 + 21)
"""The second bit of the mode, and bit 21 of word 2: CuTe DSL's maps of loads and of stores have them set."""


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_bits_that_copies_do_not_read(rank: int) -> None:
    """As on an H200: unused bits, bytes 64 to 127, and what is said of dimensions that are not there."""
    shape, box = [64] * rank, [8] * (rank - 1) + [16]
    made = ptxkit.tensor_map(0x7F0000000000, dtype="f16", shape=shape, box=box, swizzle="32B")
    word = int.from_bytes(bytes(made), "little")
    random = np.random.default_rng(rank)
    noise = int.from_bytes(random.bytes(64), "little") << 512
    for bit in MADE_BY_CUTE:
        noise |= 1 << bit
    for dimension in range(rank, 5):
        noise |= int(random.integers(1, 1 << 31)) << 8 * (0x20 + 4 * dimension)  # its size
        noise |= 16 << 8 * (0x08 + 4 * dimension)  # its stride
        noise |= 1 << 8 * 0x34 + 3 * dimension  # its traversal stride
    noisy = word & (1 << 512) - 1 | noise
    with pytest.raises(PtxkitError):
        TensorMap.decode(noisy)
    read = tensor_copy(noisy.to_bytes(128, "little"))
    plain = tensor_copy(bytes(made))
    here = [0] * rank
    assert np.array_equal(read.moves(here, 0).addresses, plain.moves(here, 0).addresses)
    assert (read.map.shape, read.map.box, read.map.swizzle) == (shape, box, "32B")


def test_bits_that_copies_read_are_held_to_their_meaning() -> None:
    made = ptxkit.tensor_map(0x7F0000000000, dtype="f16", shape=[64, 64], box=[8, 16])
    word = int.from_bytes(bytes(made), "little") | 0xF << 64 + 7  # no such element type
    with pytest.raises(PtxkitError):
        tensor_copy(word.to_bytes(128, "little"))
