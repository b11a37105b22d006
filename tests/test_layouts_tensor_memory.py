"""Tensor memory: data paths, ld/st/cp shapes, scale factors, sparsity metadata."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import DATA_PATHS, MOVE_SHAPES, accumulator_cells, copy_cells, data_path, scales, sparsity
from ptxkit.layouts.tensor_memory import COPY_SHAPES, operand_a_cells


def place(lane, column):
    """A lane and a column as one number."""
    return lane * 512 + column


# ---- data paths

TABLE = [  # the table of 9.7.16.10.5
    # M, cta_group, sparse, ws, layout
    (32, 1, False, True, "G"),
    (32, 1, True, True, "G"),
    (64, 1, False, True, "E"),
    (64, 1, False, False, "F"),
    (64, 1, True, False, "F"),
    (128, 1, False, True, "D"),
    (128, 1, True, False, "D"),
    (128, 2, False, False, "B"),
    (128, 2, True, False, "C"),
    (256, 2, False, False, "A"),
    (256, 2, True, False, "A"),
]


@pytest.mark.parametrize(("m", "cta", "sparse", "ws", "name"), TABLE)
def test_the_table_of_data_paths(m, cta, sparse, ws, name):
    assert data_path(m, cta, sparse, ws).name == name
    assert data_path(m, cta, sparse, ws).rows == m // cta


@pytest.mark.parametrize(
    "arguments", [(32, 1, False, False), (64, 2), (256, 1), (128, 2, False, True), (96, 1)]
)
def test_combinations_without_a_data_path_are_refused(arguments):
    with pytest.raises(PtxkitError) as raised:
        data_path(*arguments)
    assert raised.value.diagnostics[0].code == "P470"


FORMULAS = {  # CUTLASS tmem_frg and JAX's TMEM layouts
    "A": lambda m, n, size: (m, n),
    "B": lambda m, n, size: (m + 64 * (n // (size // 2)), n % (size // 2)),
    "C": lambda m, n, size: (m % 16 + 32 * (m // 16), n),
    "D": lambda m, n, size: (m, n),
    "E": lambda m, n, size: (m + 64 * (n // (size // 2)), n % (size // 2)),
    "F": lambda m, n, size: (m % 16 + 32 * (m // 16), n),
    "G": lambda m, n, size: (m + 32 * (n // (size // 4)), n % (size // 4)),
}


@pytest.mark.parametrize("name", DATA_PATHS)
@pytest.mark.parametrize("n", [64, 128, 256])
def test_every_element_of_d_has_its_cell(name, n):
    path = DATA_PATHS[name]
    lane, column = accumulator_cells(path, n)
    for m, c in itertools.product((0, 1, 15, 16, 17, 31, path.rows - 1), (0, 1, n // 4, n // 2, n - 1)):
        if m < path.rows:
            assert (lane[m, c], column[m, c]) == FORMULAS[name](m, c, n)
    assert len(np.unique(place(lane, column))) == path.rows * n
    assert lane.max() < 128
    if path.lane_of_16 == 32:
        upper, _ = accumulator_cells(path, n, start_lane=16)
        assert np.array_equal(upper, lane + 16)
        assert not np.intersect1d(upper, lane).size
    else:
        with pytest.raises(PtxkitError):
            accumulator_cells(path, n, start_lane=16)


@pytest.mark.parametrize("name", ["A", "B", "C", "D", "F"])
@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_matrix_a_is_packed_beside_its_rows(name, bits):
    path = DATA_PATHS[name]
    lane, column, bit = operand_a_cells(path, 64, bits)
    rows = accumulator_cells(path, 64)[0][:, 0]
    assert np.array_equal(lane[0, :, 0], rows)
    assert len(np.unique(place(lane, column) * 32 + bit)) == lane.size
    assert column.max() == 64 * bits // 32 - 1
    assert lane.shape[0] == (2 if name == "B" else 1)


@pytest.mark.parametrize("name", ["E", "G"])
def test_matrix_a_of_ws_with_few_rows_is_not_guessed(name):
    with pytest.raises(PtxkitError) as raised:
        operand_a_cells(DATA_PATHS[name], 64, 16)
    assert raised.value.diagnostics[0].code == "P471"


# ---- ld and st

REGISTERS = {"32x32b": 1, "16x64b": 1, "16x32bx2": 1, "16x128b": 2, "16x256b": 4}
MOST = {"32x32b": 128, "16x64b": 128, "16x32bx2": 128, "16x128b": 64, "16x256b": 32}


@pytest.mark.parametrize("name", MOVE_SHAPES)
@pytest.mark.parametrize("num", [1, 2, 4, 8, 16, 32, 64, 128])
def test_the_registers_of_table_49(name, num):
    shape = MOVE_SHAPES[name]
    if num > MOST[name]:
        with pytest.raises(PtxkitError):
            shape.cells(num)
        return
    lane, column = shape.cells(num, half_split=num)
    assert lane.shape == (32, REGISTERS[name] * num)
    assert len(np.unique(place(lane, column))) == lane.size
    lanes = 32 if name == "32x32b" else 16
    assert set(lane.ravel()) == set(range(lanes))
    width = {"32x32b": 32, "16x64b": 64, "16x128b": 128, "16x256b": 256, "16x32bx2": 64}[name] // 32
    assert set(column.ravel()) == set(range(width * num))


def test_a_few_registers_by_hand():
    lane, column = MOVE_SHAPES["16x256b"].cells(2)
    assert (lane[5, 0], column[5, 0]) == (1, 2)
    assert (lane[5, 1], column[5, 1]) == (1, 3)
    assert (lane[5, 2], column[5, 2]) == (9, 2)
    assert (lane[5, 4], column[5, 4]) == (1, 10)
    lane, column = MOVE_SHAPES["16x128b"].cells(2)
    assert (lane[6, 1], column[6, 1]) == (9, 2)
    assert (lane[6, 2], column[6, 2]) == (1, 6)
    lane, column = MOVE_SHAPES["16x64b"].cells(2)
    assert (lane[7, 0], column[7, 0]) == (9, 1)
    lane, column = MOVE_SHAPES["16x32bx2"].cells(4, half_split=64)
    assert (lane[20, 3], column[20, 3]) == (4, 67)


def test_16x256b_loads_are_mma_accumulators():
    """Two 16-row loads of f32 give the registers of wgmma's D, as JAX's loads rely on."""
    from ptxkit.layouts.fragments import mma_cd

    lane, column = MOVE_SHAPES["16x256b"].cells(1)
    row, col = mma_cd(16)
    assert np.array_equal(lane, row)
    assert np.array_equal(column, col)


# ---- cp


@pytest.mark.parametrize("key", COPY_SHAPES, ids=str)
def test_copies_fill_whole_rows(key):
    shape, multicast = key
    lane, byte = copy_cells(shape, multicast)
    rows, bits = (int(part) for part in shape.rstrip("b").split("x"))
    assert lane.shape[:2] == (rows, bits // 8)
    assert len(np.unique(lane * 32 + byte)) == lane.size
    if "128" in shape.split("x")[0] or multicast:
        assert set(lane.ravel()) == set(range(128))


def test_multicast_pairs():
    lane, _ = copy_cells("64x128b", "warpx2::02_13")
    assert lane[5, 0].tolist() == [5, 69]
    assert lane[40, 0].tolist() == [40, 104]
    lane, _ = copy_cells("64x128b", "warpx2::01_23")
    assert lane[5, 0].tolist() == [5, 37]
    assert lane[40, 0].tolist() == [72, 104]
    lane, _ = copy_cells("32x128b", "warpx4")
    assert lane[5, 0].tolist() == [5, 37, 69, 101]


@pytest.mark.parametrize("key", [("64x128b", ""), ("32x128b", ""), ("128x256b", "warpx4"), ("16x128b", "")])
def test_copies_without_their_multicast_are_refused(key):
    with pytest.raises(PtxkitError) as raised:
        copy_cells(*key)
    assert raised.value.diagnostics[0].code == "P470"


# ---- scale factors


def to_blocked_reference(scales_):
    """The reorder as cuBLAS documents it and PyTorch writes it, by views."""
    rows, columns = scales_.shape
    row_blocks, column_blocks = -(-rows // 128), -(-columns // 4)
    padded = np.zeros((row_blocks * 128, column_blocks * 4), dtype=np.uint8)
    padded[:rows, :columns] = scales_
    blocks = padded.reshape(row_blocks, 128, column_blocks, 4).transpose(0, 2, 1, 3)
    return blocks.reshape(-1, 4, 32, 4).transpose(0, 2, 1, 3).reshape(-1)


@given(st.integers(1, 300), st.integers(1, 12))
def test_the_blocked_order(rows, blocks):
    matrix = np.random.default_rng(rows * 13 + blocks).integers(0, 256, (rows, blocks), dtype=np.uint8)
    blocked = scales.to_blocked(matrix)
    assert np.array_equal(blocked, to_blocked_reference(matrix))
    assert np.array_equal(scales.from_blocked(blocked, rows, blocks), matrix)


def test_one_copy_carries_an_atom_to_its_columns():
    """An atom in blocked order, through the cp's descriptor and the cp's lanes, lands as tmem_cells says."""
    from ptxkit.layouts import operand_bits

    matrix = np.random.default_rng(3).integers(0, 256, (128, 4), dtype=np.uint8)
    shared = scales.to_blocked(matrix)
    source = operand_bits(scales.atom_descriptor(0), 32, 16, "u8") // 8
    lane, byte = copy_cells("32x128b", "warpx4")
    tmem = np.zeros((128, 16), dtype=np.uint8)
    tmem[lane, byte] = shared[source][:, :, None]
    lane, column, inside = scales.tmem_cells(128, 4)
    assert np.array_equal(tmem[lane, column * 4 + inside], np.broadcast_to(matrix[:, :, None], lane.shape))


@pytest.mark.parametrize(("rows", "blocks"), [(128, 4), (256, 8), (128, 16), (64, 4)])
def test_scales_fill_their_columns_without_overlap(rows, blocks):
    lane, column, byte = scales.tmem_cells(rows, blocks)
    assert len(np.unique(place(lane, column) * 4 + byte)) == lane.size
    assert column.max() < scales.columns(rows, blocks)
    assert (lane[5, 0] == [5, 37, 69, 101]).all()


def test_scales_of_b_in_halves():
    lane, column, _ = scales.tmem_cells(256, 4, halves=True)
    assert lane[3, 0].tolist() == [3, 67]
    assert lane[128 + 3, 0].tolist() == [35, 99]
    assert (column[:128] == column[128:]).all()
    assert len(np.unique(place(lane, column))) * 4 == lane.size


def test_the_bytes_a_scale_id_selects():
    assert [scales.selected_bytes(1, i) for i in range(4)] == [(0,), (1,), (2,), (3,)]
    assert [scales.selected_bytes(2, i) for i in (0, 2)] == [(0, 1), (2, 3)]
    assert scales.selected_bytes(4, 0) == (0, 1, 2, 3)
    assert scales.selected_bytes(3, 3) == (3, 4, 5)
    assert scales.selected_bytes(6, 2) == (2, 3, 4, 5, 6, 7)
    for count, wrong in ((2, 1), (4, 2), (1, 4), (8, 2)):
        with pytest.raises(PtxkitError):
            scales.selected_bytes(count, wrong)
    with pytest.raises(PtxkitError, match="must be 1X, 2X or 4X, found 3X"):
        scales.factor_count("3X")
    with pytest.raises(PtxkitError, match="must be 0, 2, found 1"):
        scales.selected_bytes(6, 1)


# ---- sparsity

KINDS = tuple(sparsity.GRANULARITY)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_compress_and_decompress(kind, data):
    chunk, group = sparsity.GRANULARITY[kind]
    m, chunks = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    cells = random.integers(1, 100, (m, chunks, chunk // group, group))
    for row, at in np.ndindex(m, chunks):
        used = random.integers(0, chunk // group // 2 + 1)
        cells[row, at, random.permutation(chunk // group)[used:]] = 0
    matrix = cells.reshape(m, chunks * chunk)
    stored, nibbles = sparsity.compress(matrix, kind)
    assert stored.shape == (m, matrix.shape[1] // 2)
    meaningful = {0b0100, 0b1110} if kind == "tf32" else {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}
    assert set(nibbles.ravel().tolist()) <= meaningful
    assert np.array_equal(sparsity.decompress(stored, nibbles, kind), matrix)


def test_a_chunk_too_full_and_metadata_without_meaning_are_refused():
    with pytest.raises(PtxkitError, match="row 1 from 4"):
        sparsity.compress(np.array([[1, 0, 0, 2, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1, 0]]), "f16")
    for nibble in (0b0000, 0b0101, 0b1010, 0b1111, 0b0001, 0b0010):
        with pytest.raises(PtxkitError) as raised:
            sparsity.decompress(np.ones((1, 2)), np.array([[nibble]], dtype=np.uint8), "f16")
        assert raised.value.diagnostics[0].code == "P473"
    with pytest.raises(PtxkitError):
        sparsity.decompress(np.ones((1, 1)), np.array([[0b1000]], dtype=np.uint8), "tf32")


CUTLASS = {  # tmem_e_frg, M = 128: lane and bit of the metadata of dense element (m, k)
    "f16": lambda m, k: (
        m % 8 + 8 * (k % 32 // 16) + 16 * (m // 16),
        32 * (k // 32) + 16 * (m // 8 % 2) + k % 16,
    ),
    "tf32": lambda m, k: (
        m % 8 + 8 * (k % 16 // 8) + 16 * (m // 16),
        32 * (k // 16) + 16 * (m // 8 % 2) + 2 * (k % 8),
    ),
    "i8": lambda m, k: (m, k),
    "mxf4": lambda m, k: (m, k // 2),
}


@pytest.mark.parametrize("kind", CUTLASS)
def test_metadata_lies_where_cutlass_puts_it(kind):
    chunk = sparsity.GRANULARITY[kind].chunk
    k = 256
    lane, column, bit = sparsity.metadata_cells(kind, DATA_PATHS["D"], k)
    for m, c in itertools.product(range(128), range(k // chunk)):
        assert (lane[0, m, c], column[0, m, c] * 32 + bit[0, m, c]) == CUTLASS[kind](m, c * chunk)
    assert len(np.unique(place(lane, column) * 32 + bit)) == lane.size
    assert column.max() + 1 == sparsity.metadata_columns(kind, k)


@pytest.mark.parametrize(("name", "copies"), [("E", 2), ("G", 4)])
def test_metadata_of_ws_is_repeated_over_the_lanes(name, copies):
    path = DATA_PATHS[name]
    lane, column, bit = sparsity.metadata_cells("f16", path, 64)
    assert lane.shape == (copies, path.rows, 16)
    assert set(lane.ravel()) == set(range(128))
    assert len(np.unique(place(lane, column) * 32 + bit)) == lane.size
