"""Allocation, loads and stores, copies and commit around a product."""

import numpy as np
import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import DATA_PATHS, accumulator_cells, copy_cells, operand_bits, scales
from ptxkit.layouts.sparsity import metadata_cells
from ptxkit.tcgen05 import (
    allocation_columns,
    move_cells,
    plan_columns,
    plan_commit,
    plan_metadata_copy,
    plan_move,
    plan_scale_copy,
    slice_columns,
)


@pytest.mark.parametrize("columns", range(1, 513))
def test_allocations_round_up_or_must_be_exact(columns):
    rounded = allocation_columns(columns, exact=False)
    assert rounded in (32, 64, 128, 256, 512)
    assert columns <= rounded < max(2 * columns, 33)
    if columns == rounded:
        assert allocation_columns(columns) == columns
    else:
        with pytest.raises(PtxkitError) as raised:
            allocation_columns(columns)
        assert raised.value.diagnostics[0].code == "P486"


@pytest.mark.parametrize("columns", [0, -1, 513, 1024])
def test_more_columns_than_there_are(columns):
    for exact in (True, False):
        with pytest.raises(PtxkitError):
            allocation_columns(columns, exact)


SHAPES = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [8, 16, 24, 40, 128, 256, 512])
@pytest.mark.parametrize("packed", [False, True])
def test_a_move_covers_every_cell_once(shape, columns, packed):
    if columns % (SHAPES[shape] * (2 if packed else 1)):
        with pytest.raises(PtxkitError) as raised:
            plan_move("ld", columns, shape, packed)
        assert raised.value.diagnostics[0].code == "P487"
        return
    plan = plan_move("ld", columns, shape, packed)
    lane, column = move_cells(plan)
    if packed:
        assert not (column % 2).any()
        lane, column = np.concatenate([lane, lane], axis=1), np.concatenate([column, column + 1], axis=1)
    assert lane.size == 128 * columns
    assert len(np.unique(lane * 512 + column)) == lane.size
    assert np.array_equal(np.unique(lane // 32), np.arange(4))
    assert all((lane[thread] // 32 == thread // 32).all() for thread in range(128))
    registers = sorted(r for move in plan for r in range(move.registers[0], sum(move.registers)))
    assert registers == list(range(len(registers)))
    assert max(move.registers[1] for move in plan) <= 32


def test_the_largest_instructions():
    assert [move.num for move in plan_move("st", 192, "32x32b", most_registers=128)] == [128, 64]
    assert [move.num for move in plan_move("ld", 256, "16x256b", most_registers=128)] == [32, 32]
    assert (
        plan_move("ld", 16, "16x128b", packed=True)[0].opcode
        == "tcgen05.ld.sync.aligned.16x128b.x2.pack::16b.b32"
    )
    assert plan_move("st", 16, "16x128b", packed=True)[0].opcode.endswith("x2.unpack::16b.b32")
    assert [move.address for move in plan_move("ld", 8, "16x256b")] == [0, 16 << 16]


@pytest.mark.parametrize(
    "arguments", [("cp", 32), ("ld", 32, "64x32b"), ("ld", 0), ("ld", 544), ("ld", 32, "16x32bx2")]
)
def test_moves_that_do_not_exist(arguments):
    with pytest.raises(PtxkitError) as raised:
        plan_move(*arguments)
    assert raised.value.diagnostics[0].code == "P487"


@pytest.mark.parametrize("name", DATA_PATHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_warpgroup_loads_the_whole_of_d(name, shape):
    """Every element of D, in every data path, is in exactly one register of the load."""
    path = DATA_PATHS[name]
    n = 64
    lane, column = accumulator_cells(path, n)
    columns = int(column.max()) + 1
    held = move_cells(plan_move("ld", columns, shape))
    where = {cell: place for place, cell in enumerate((held[0] * 512 + held[1]).ravel().tolist())}
    places = [where[cell] for cell in (lane * 512 + column).ravel().tolist()]
    assert len(set(places)) == path.rows * n


# ---- copies


@pytest.mark.parametrize(("rows", "blocks"), [(128, 4), (128, 16), (256, 4), (256, 12)])
def test_scale_copies_bring_the_blocked_order_to_its_cells(rows, blocks):
    matrix = np.random.default_rng(1).integers(0, 256, (rows, blocks), dtype=np.uint8)
    shared = scales.to_blocked(matrix)
    tmem = np.zeros((128, 512 * 4), dtype=np.uint8)
    for copy in plan_scale_copy(rows, blocks):
        source = operand_bits(copy.source, 32, 16, "u8") // 8
        lane, byte = copy_cells("32x128b", "warpx4")
        tmem[lane, copy.column * 4 + byte] = shared[source][:, :, None]
    lane, column, byte = scales.tmem_cells(rows, blocks)
    assert np.array_equal(tmem[lane, column * 4 + byte], np.broadcast_to(matrix[..., None], lane.shape))


def test_metadata_copies_bring_an_image_of_tensor_memory():
    k = 512
    nibbles = np.random.default_rng(2).integers(1, 16, (128, k // 4), dtype=np.uint8)
    lane, column, bit = metadata_cells("f16", DATA_PATHS["D"], k)
    image = np.zeros((4, 128, 4), dtype=np.uint32)
    np.bitwise_or.at(image, (column[0] // 4, lane[0], column[0] % 4), nibbles.astype(np.uint32) << bit[0])
    shared = image.reshape(-1).view(np.uint8)
    tmem = np.zeros((128, 64), dtype=np.uint8)
    for copy in plan_metadata_copy(16):
        source = operand_bits(copy.source, 128, 16, "u8") // 8
        to_lane, to_byte = copy_cells("128x128b")
        tmem[to_lane, copy.column * 4 + to_byte] = shared[source][:, :, None]
    words = tmem.view(np.uint32)
    assert np.array_equal(words[lane[0], column[0]] >> bit[0].astype(np.uint32) & 15, nibbles)


@pytest.mark.parametrize(
    "call",
    [lambda: plan_scale_copy(64, 4), lambda: plan_scale_copy(384, 4), lambda: plan_scale_copy(128, 3)]
    + [lambda: plan_metadata_copy(6), lambda: plan_metadata_copy(0)],
)
def test_copies_that_can_not_be(call):
    with pytest.raises(PtxkitError) as raised:
        call()
    assert raised.value.diagnostics[0].code == "P488"


def test_commits():
    plain = plan_commit()
    assert plain.opcode == "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
    assert plain.mask is None
    pair = plan_commit(2, (0, 1))
    assert ".cta_group::2." in pair.opcode
    assert ".multicast::cluster." in pair.opcode
    assert pair.mask == 3
    for ranks in ((16,), (), (-1,)):
        with pytest.raises(PtxkitError) as raised:
            plan_commit(2, ranks)
        assert raised.value.diagnostics[0].code == "P489"


def test_parts_share_one_allocation():
    budget = plan_columns({"d": 256, "scale_a": 6, "scale_b": 8})
    assert (budget.d, budget.a, budget.scale_a, budget.scale_b, budget.columns) == (0, None, 256, 264, 512)
    assert plan_columns({"d": 64}, exact=True).columns == 64
    for parts in ({"a": 32}, {"d": 32, "e": 4}, {"d": 0}, {"d": 512, "a": 4}):
        with pytest.raises(PtxkitError):
            plan_columns(parts)
    with pytest.raises(PtxkitError):
        plan_columns({"d": 96}, exact=True)


def test_slices_begin_at_whole_cells():
    assert slice_columns(64, 64) == 64
    assert slice_columns(64, 64, packing=2) == 32
    for arguments in ((4, 64), (64, 12), (-8, 8), (0, 0), (0, 8, 3)):
        with pytest.raises(PtxkitError) as raised:
            slice_columns(*arguments)
        assert raised.value.diagnostics[0].code == "P485"
