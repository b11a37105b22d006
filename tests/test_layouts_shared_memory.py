"""Canonical shared-memory layouts: the manual's examples, CuTe's algebra, descriptors, round trips."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import PATTERNS, SharedTile, operand_bits, swizzle_address
from ptxkit.layouts.bitpacking import gather, scatter

SWIZZLES = ("none", "32B", "64B", "128B")


def cute(shape, stride, coordinate):
    """A CuTe layout of nested shapes: colexicographic coordinates times strides, summed."""
    if isinstance(shape, int):
        return coordinate * stride
    total = 0
    for s, d in zip(shape, stride, strict=True):
        size = int(np.prod([x for x in np.hstack(flatten(s))]))
        total = total + cute(s, d, coordinate % size)
        coordinate = coordinate // size
    return total


def flatten(nested):
    return [nested] if isinstance(nested, int) else [x for part in nested for x in flatten(part)]


def cute_swizzle(bits, base, shift, offset):
    """CuTe's Swizzle<bits, base, shift> on offsets of 16-byte-normalised bytes."""
    return offset ^ ((offset >> (base + shift)) & ((1 << bits) - 1)) << base


EXAMPLES = [  # 9.7.16.3.3, "Exact layout" of figures 188 to 192; LBO and SBO in elements
    ("tf32", "K", "none", (16, 16), ((8, 2), (4, 4)), ((4, 32), (1, 64)), 64, 32, "MN"),
    ("tf32", "K", "32B", (16, 8), ((8, 2), (4, 2)), ((8, 64), (1, 4)), None, 64, "MN"),
    ("bf16", "MN", "none", (16, 16), ((8, 1, 2), (8, 2)), ((1, 8, 64), (8, 128)), 128, 64, "MN"),
    ("bf16", "MN", "32B", (32, 16), ((8, 2, 2), (8, 2)), ((1, 8, 128), (16, 256)), 128, 256, "MN"),
    ("bf16", "MN", "64B", (64, 16), ((8, 4, 2), (8, 2)), ((1, 8, 256), (32, 512)), 256, 512, "MN"),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{e[0]}-{e[1]}-{e[2]}" for e in EXAMPLES])
def test_the_manuals_examples(example):
    dtype, major, swizzle, (mn, k), shape, stride, leading, step, order = example
    tile = SharedTile(mn, k, dtype, major, swizzle, order)
    size = tile.bits // 8
    row, column = np.indices((mn, k))
    offset = (cute(shape[0], stride[0], row) + cute(shape[1], stride[1], column)) * size
    bits, base, shift, _ = PATTERNS[swizzle]
    assert np.array_equal(tile.element_bytes(), cute_swizzle(bits, base, shift, offset))
    if leading is not None:
        assert tile.leading_byte_offset == leading * size
    assert tile.stride_byte_offset == step * size


SWIZZLE_TABLES = {  # 5.5.7: 16-byte pieces of each line of 128 bytes
    "32B": ["01234567", "10325476"],
    "64B": ["01234567", "10325476", "23016745", "32107654"],
    "96B": ["01234567", "10325476"],
    "128B": [
        "01234567",
        "10325476",
        "23016745",
        "32107654",
        "45670123",
        "54761032",
        "67452301",
        "76543210",
    ],
    "128B-32B-atom": ["01234567", "23016745", "45670123", "67452301"],
    "128B-64B-atom": ["01234567", "45670123"],
}


@pytest.mark.parametrize("swizzle", SWIZZLE_TABLES)
def test_the_manuals_swizzle_tables(swizzle):
    table = SWIZZLE_TABLES[swizzle]
    for line in range(3 * len(table)):
        for piece in range(8):
            at = int(swizzle_address(line * 128 + piece * 16, swizzle))
            # cell p of a line of the table holds the piece of the source that is stored there
            assert table[line % len(table)][at % 128 // 16] == str(piece)
            assert at // 128 == line


@pytest.mark.parametrize("swizzle", PATTERNS)
@given(st.integers(0, 2**18 - 1), st.integers(0, 7))
def test_swizzling_twice_gives_the_address_back(swizzle, address, base):
    there = int(swizzle_address(address, swizzle, base))
    assert int(swizzle_address(there, swizzle, base)) == address
    assert there // 128 == address // 128


def test_the_8_byte_flip_swaps_halves_in_odd_lines():
    plain = swizzle_address(np.arange(1024), "128B-32B-atom")
    flipped = swizzle_address(np.arange(1024), "128B-32B-atom-8B-flip")
    odd = np.arange(1024) // 128 % 2 == 1
    assert np.array_equal(plain[~odd], flipped[~odd])
    assert np.array_equal(plain[odd] ^ 8, flipped[odd])


def tiles():
    """Every canonical layout, some sizes."""
    for dtype, major, swizzle, order in itertools.product(
        ("e2m1", "e4m3", "bf16", "tf32"), ("K", "MN"), (*SWIZZLES, "128B-32B-atom"), ("MN", "K")
    ):
        if (dtype == "e2m1" and major == "MN") or (swizzle == "128B-32B-atom" and major == "K"):
            continue
        bits = {"e2m1": 4, "e4m3": 8, "bf16": 16, "tf32": 32}[dtype]
        width = PATTERNS[swizzle].row_bytes * 8 // bits
        rows = 4 if swizzle == "128B-32B-atom" else 8
        for along, across in ((1, 2), (2, 4), (3, 5)):
            mn, k = (across * rows, along * width) if major == "K" else (along * width, across * rows)
            yield SharedTile(mn, k, dtype, major, swizzle, order)
    for dtype in ("e2m1", "e2m3", "e3m2"):
        for swizzle in SWIZZLES:
            yield SharedTile(16, 2 * PATTERNS[swizzle].row_bytes, dtype, "K", swizzle, padded=True)


TILES = list(tiles())


def name(tile):
    return f"{tile.dtype}-{tile.major}-{tile.swizzle}-{tile.order}-{tile.mn}x{tile.k}"


@pytest.mark.parametrize("tile", TILES, ids=name)
def test_pack_and_unpack(tile):
    random = np.random.default_rng(1)
    matrix = random.integers(0, 2**tile.bits, (tile.mn, tile.k), dtype=np.uint64)
    for address in (0, 16 * 7, 128 * 3):
        data = tile.pack(matrix, address)
        assert data.nbytes == tile.nbytes
        if address % tile.alignment == 0:
            assert np.array_equal(tile.unpack(data, address), matrix)
    starts = tile.element_bits()
    assert len(np.unique(starts)) == starts.size
    assert starts.max() + tile.bits <= tile.nbytes * 8


INSTRUCTION_BYTES = 32


@pytest.mark.parametrize("tile", TILES, ids=name)
def test_the_descriptor_reads_the_tile_at_every_step_of_k(tile):
    """What the hardware reads through the advanced descriptor is the tile's own map."""
    address = 4 * tile.alignment
    step = INSTRUCTION_BYTES // 16 * tile.per_chunk  # K of one instruction
    whole = tile.element_bits(address) + address * 8
    for k in range(0, tile.k - step + 1, step):
        if (
            tile.major == "K"
            and tile.swizzle != "none"
            and k // tile.atom[1] != (k + step - 1) // tile.atom[1]
        ):
            continue
        descriptor = tile.descriptor(address + tile.k_advance(k))
        read = operand_bits(descriptor, tile.mn, step, tile.dtype, tile.major, tile.padded)
        assert np.array_equal(read, whole[:, k : k + step]), k


@pytest.mark.parametrize("tile", [t for t in TILES if t.mn // t.atom[0] > 1], ids=name)
def test_the_descriptor_reads_the_tile_from_every_atom_of_mn(tile):
    address = 2 * tile.alignment
    step = min(tile.k, INSTRUCTION_BYTES // 16 * tile.per_chunk)
    whole = tile.element_bits(address) + address * 8
    for mn in range(0, tile.mn, tile.atom[0]):
        descriptor = tile.descriptor(address + tile.mn_advance(mn))
        read = operand_bits(descriptor, tile.atom[0], step, tile.dtype, tile.major, tile.padded)
        assert np.array_equal(read, whole[mn : mn + tile.atom[0], :step]), mn


def test_base_offset_moves_the_pattern():
    """A tile at an unaligned address, swizzled from its own start, is read with the base offset."""
    tile = SharedTile(16, 64, "bf16", "K", "128B")
    linear = tile.element_bits(0)
    for lines in range(8):
        start = 1024 * 3 + 128 * lines
        descriptor = tile.descriptor(start).replace(base_offset=lines)
        read = operand_bits(descriptor, 16, 64, "bf16")
        assert np.array_equal(read, linear + start * 8)


def test_numpy_types_are_packed_by_their_bits():
    tile = SharedTile(8, 64, "bf16", "K", "128B")
    values = np.arange(512).reshape(8, 64).astype(ml_dtypes.bfloat16)
    assert np.array_equal(tile.unpack(tile.pack(values)).view(ml_dtypes.bfloat16), values)
    halves = SharedTile(8, 8, "f16", "K", "none")
    values = np.linspace(-1, 1, 64).reshape(8, 8).astype(np.float16)
    assert np.array_equal(halves.unpack(halves.pack(values)).view(np.float16), values)
    signed = SharedTile(8, 16, "s8", "K", "none")
    values = np.arange(-64, 64).reshape(8, 16).astype(np.int8)
    assert np.array_equal(signed.unpack(signed.pack(values)).view(np.int8), values)


def test_padded_types_leave_gaps():
    tile = SharedTile(8, 16, "e2m1", "K", "none", padded=True)
    data = tile.pack(np.full((8, 16), 15)).reshape(8, 16)
    assert (data[:, :8] == 255).all()
    assert (data[:, 8:] == 0).all()
    six = SharedTile(8, 16, "e3m2", "K", "none", padded=True)
    data = six.pack(np.full((8, 16), 63)).reshape(8, 16)
    assert (data[:, :12] == 255).all()
    assert (data[:, 12:] == 0).all()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((128, 48, "bf16"), "P472"),
        ((100, 64, "bf16"), "P472"),
        ((0, 64, "bf16"), "P472"),
        ((128, 64, "f64"), "P470"),
        ((128, 64, "bfloat"), "P470"),
        ((128, 64, "bf16", "M"), "P470"),
        ((128, 64, "bf16", "K", "256B"), "P470"),
        ((128, 64, "bf16", "K", "96B"), "P471"),
        ((128, 64, "bf16", "K", "128B-32B-atom"), "P471"),
        ((128, 256, "e2m1", "MN"), "P471"),
        ((128, 128, "e3m2", "K"), "P470"),
        ((128, 64, "bf16", "K", "128B", "N"), "P470"),
        ((128, 64, "bf16", "K", "128B", "K", True), "P470"),
    ],
)
def test_layouts_that_do_not_exist_are_refused(arguments, code):
    with pytest.raises(PtxkitError) as raised:
        SharedTile(*arguments)
    assert raised.value.diagnostics[0].code == code


def test_what_wgmma_lacks_is_refused():
    for tile in (SharedTile(64, 64, "tf32", "MN", "32B"), SharedTile(128, 64, "tf32", "MN", "128B-32B-atom")):
        with pytest.raises(PtxkitError) as raised:
            tile.descriptor(kind="smem.wgmma")
        assert raised.value.diagnostics[0].code == "P471"
    made = SharedTile(128, 64, "bf16", "MN", "128B").descriptor(kind="smem.wgmma")
    assert int(made) == 0x4000008000400000


@pytest.mark.parametrize("k", [1, 8, 60, 64, -16])
def test_an_advance_into_the_middle_of_a_piece_is_refused(k):
    tile = SharedTile(64, 64, "e4m3", "K", "64B")
    with pytest.raises(PtxkitError) as raised:
        tile.k_advance(k)
    assert raised.value.diagnostics[0].code == "P472"


@pytest.mark.parametrize("order", ["MN", "K"])
def test_steps_of_48_bytes_go_on_in_the_next_atom(order):
    tile, address = SharedTile(32, 768, "e2m1", order=order), 0x4000
    where = tile.element_bits(address) + 8 * address
    for k in range(0, 768, 96):
        read = operand_bits(tile.step_of_48_bytes(k, address), 32, 96, "e2m1")
        assert np.array_equal(read, where[:, k : k + 96])
    begin, end = tile.k_advance(192), tile.k_advance(256)
    crossing = tile.step_of_48_bytes(192)
    assert (crossing.address, crossing.leading_byte_offset) == (begin, end)
    assert tile.step_of_48_bytes(192, address) == crossing.moved(address)
    with pytest.raises(PtxkitError, match="need K-major and `swizzle` 128B, found K-major and 64B"):
        SharedTile(32, 768, "e2m1", swizzle="64B").step_of_48_bytes(0)


@given(st.sampled_from([1, 4, 6, 8, 16, 32]), st.data())
def test_scatter_and_gather(bits, data):
    count = data.draw(st.integers(1, 40))
    values = np.array(
        data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=count, max_size=count)), dtype=np.uint64
    )
    order = np.array(data.draw(st.permutations(range(count))))
    positions = order * 32
    image = scatter(values, positions, bits, count * 4)
    assert np.array_equal(gather(image, positions, bits), values)
    assert int(np.unpackbits(image).sum()) == sum(int(v).bit_count() for v in values)
