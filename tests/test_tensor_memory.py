"""Tensor memory's parts without a kernel: moves, copies, products, their undefined bits."""

import numpy as np
import pytest
import tensor_memory_products as products

from ptxkit.descriptors import SmemDescTcgen05, ZeroColumnMask
from ptxkit.emulator.tensor_cores import compiled
from ptxkit.emulator.tensor_memory import moves
from ptxkit.emulator.tensor_memory import tiles as tensor_tiles
from ptxkit.emulator.tensor_memory.arithmetic import arithmetic, lanes_of
from ptxkit.emulator.tensor_memory.cells import PITCH, Area, Box, TensorMemory, boxes_meet, lane_bits
from ptxkit.emulator.tensor_memory.mma_plan import Illegal, MmaForm, decode
from ptxkit.emulator.tensor_memory.moves import move, pack, unpack
from ptxkit.emulator.tensor_memory.product import Operands, place
from ptxkit.layouts import SharedTile, accumulator_cells
from ptxkit.layouts.scales import atom_descriptor, atom_offsets
from ptxkit.layouts.tensor_memory import DATA_PATHS
from ptxkit.tcgen05 import Product, TensorTile, plan_mma

BITS = products.WIDTHS
SUB_BYTE = ("e2m1", "e2m3", "e3m2")


def tile(mn, k, dtype, major="K", swizzle="128B", padded=False):
    return SharedTile(mn, k, dtype, major, swizzle, "MN", padded)


def plain_product(dtype, rows, cta, n=64, sparse=False, ws=False, tensor_a=False, d=None):
    padded = dtype in SUB_BYTE
    k = 128 if padded else 2048 // BITS[dtype]
    k *= 2 if sparse else 1
    stored = k // 2 if sparse else k
    a = TensorTile(rows, stored, dtype) if tensor_a else tile(rows, stored, dtype, padded=padded)
    d = d or ("s32" if dtype in ("s8", "u8") else "f32")
    return Product(a, tile(n, k, dtype, padded=padded), d, cta_group=cta, sparse=sparse, ws=ws)


def scaled_product(kind, dtype, scale, vector, rows=128, cta=1, sparse=False):
    packed = kind != "mxf8f6f4"
    padded = not packed and dtype in SUB_BYTE
    k = 256 if packed else 128
    k *= 2 if sparse else 1
    a = tile(rows, k // 2 if sparse else k, dtype, padded=padded)
    return Product(a, tile(64, k, dtype, padded=padded), "f32", cta, False, sparse, scale, vector)


WAYS = [(128, 1), (64, 1), (128, 2), (64, 2)]
PLAIN = [
    plain_product(dtype, rows, cta, sparse=sparse, tensor_a=tensor_a)
    for dtype in ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "e2m1", "e3m2", "e2m3")
    for rows, cta in WAYS
    for sparse in (False, True)
    for tensor_a in (False, True)
    if not (sparse and tensor_a and dtype != "bf16")
]
STATIONARY = [
    plain_product(dtype, rows, 1, sparse=sparse, ws=True)
    for dtype in ("bf16", "tf32", "e4m3", "s8")
    for rows in (32, 64, 128)
    for sparse in (False, True)
]
HALF = [plain_product(dtype, 128, 1, d="f16") for dtype in ("f16", "e2m3", "e2m1")]
SCALED = [
    scaled_product(kind, dtype, scale, vector, rows, cta, sparse)
    for kind, dtype, scale, vector in (
        ("mxf8f6f4", "e4m3", "ue8m0", "1X"),
        ("mxf8f6f4", "e2m1", "ue8m0", "1X"),
        ("mxf4", "e2m1", "ue8m0", "2X"),
        ("mxf4nvf4", "e2m1", "ue8m0", "4X"),
        ("mxf4nvf4", "e2m1", "ue4m3", "4X"),
    )
    for rows, cta, sparse in (
        (128, 1, False),
        (128, 2, False),
        (64, 2, False),
        (128, 1, True),
        (128, 2, True),
    )
]


K96 = [
    Product(a, tile(n, 768, "e2m1"), "f32", 2, scale=scale, scale_vec=vector, k96=True)
    for a in (tile(128, 768, "e2m1"), TensorTile(128, 768, "e2m1"))
    for n in (32, 64)
    for scale, vector in (("ue8m0", "2X"), ("ue8m0", "4X"), ("ue4m3", "4X"))
]


def name(product):
    a = "tmem" if isinstance(product.a, TensorTile) else "smem"
    flags = "".join(word for word in ("ws", "sparse", "k96") if getattr(product, word))
    return (
        f"{product.kind}-{product.a.dtype}-{product.d}-{product.path.name}-{a}-{flags}-{product.vector or ''}"
    )


@pytest.mark.parametrize("product", [*PLAIN, *STATIONARY], ids=name)
def test_small_integers_give_the_exact_product(product):
    placed = products.put(product, 0, small=True)
    products.carry_out(product, placed)
    assert np.array_equal(products.result(product, placed), np.einsum("mk,nk->mn", placed.a, placed.b))


@pytest.mark.parametrize("product", [*PLAIN[::4], *STATIONARY[::4], *HALF, *SCALED, *K96[::3]], ids=name)
def test_any_numbers_give_the_product_within_the_models_error(product):
    placed = products.put(product, 1)
    factors = products.put_scales(product, placed, 1) if product.scale else (1.0, 1.0)
    a, b = placed.a * factors[0], placed.b * factors[1]
    products.carry_out(product, placed)
    made, exact = products.result(product, placed), np.einsum("mk,nk->mn", a, b)
    size = np.einsum("mk,nk->mn", abs(a), abs(b))
    steps = product.k // product.step_k
    # A step cuts at most 33 terms and the sum to 2^-25 of the greatest, and rounds once to 23 bits (f16: 10).
    unit = 0.0 if product.d == "s32" else 2.0**-10 if product.d == "f16" else 2.0**-18
    assert (abs(made - exact) <= steps * size * unit).all()


COMPILED = [
    *(plain_product(dtype, 128, cta) for dtype, cta in (("bf16", 1), ("f16", 2), ("e4m3", 1), ("e5m2", 2))),
    *(
        scaled_product(kind, dtype, scale, vector, cta=cta)
        for kind, dtype, scale, vector, cta in (
            ("mxf8f6f4", "e4m3", "ue8m0", "1X", 1),
            ("mxf4", "e2m1", "ue8m0", "2X", 2),
            ("mxf4nvf4", "e2m1", "ue4m3", "4X", 1),
        )
    ),
]
LEFT = [
    plain_product("tf32", 128, 1),
    plain_product("bf16", 64, 1),
    plain_product("bf16", 128, 1, sparse=True),
    plain_product("e2m3", 128, 1),
]


@pytest.mark.parametrize("product", [*COMPILED, *LEFT], ids=name)
def test_compiled_code_gives_the_same_bits(product, monkeypatch):
    pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")
    monkeypatch.setattr(compiled, "WORTH", 0)
    done = []
    add = tensor_tiles.add_products
    monkeypatch.setattr(
        "ptxkit.emulator.tensor_memory.arithmetic.add_products",
        lambda *given: done.append(add(*given)) or done[-1],
    )
    made = []
    for jit in (False, True):
        placed = products.put(product, 4)
        if product.scale:
            products.put_scales(product, placed, 4)
        products.carry_out(product, placed, jit=jit)
        made.append(placed.tensor)
    assert done == [product.cta_group if product in COMPILED else 0] * len(plan_mma(product))
    assert np.array_equal(made[0].data, made[1].data)
    assert np.array_equal(made[0].defined, made[1].defined)


def test_compiled_code_leaves_what_is_undefined(monkeypatch):
    """In A, in B, in what is added to."""
    pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")
    monkeypatch.setattr(compiled, "WORTH", 0)
    for place_of in (lambda p: products.BASE_A + 7, lambda p: products.BASE_B + 9, None):
        product = plain_product("bf16", 128, 1)
        made = []
        for jit in (False, True):
            placed = products.put(product, 5)
            plan = plan_mma(product)
            if place_of is not None:
                placed.sides[0].shadow[place_of(product)] = 1
            else:
                plan = plan[1:]
            products.carry_out(product, placed, plan=plan, jit=jit)
            made.append(products.result(product, placed))
        assert np.isnan(made[0]).any()
        assert np.array_equal(made[0], made[1], equal_nan=True)


def test_plain_float32_is_near_and_not_the_same():
    product = plain_product("bf16", 128, 1)
    made = []
    for plain in (False, True):
        placed = products.put(product, 2)
        products.carry_out(product, placed, plain)
        made.append(products.result(product, placed))
    assert np.allclose(made[0], made[1], atol=1e-4)
    assert not np.array_equal(made[0], made[1])


# ---- one instruction


def one_product(dtype="bf16", rows=128, n=64, **more):
    """A product of one instruction with its parts: form, plan, operands."""
    k = 256 // BITS[dtype]
    product = Product(tile(rows, k, dtype, swizzle="32B"), tile(n, k, dtype, swizzle="32B"), "f32", **more)
    placed = products.put(product, 3, small=True)
    (one,) = plan_mma(product)
    operands = {
        "d": 0,
        "a": int(one.a.replace(address=products.BASE_A)),
        "b": int(one.b.replace(address=products.BASE_B)),
        "accumulate": False,
    }
    return product, placed, one, operands


def run_one(product, placed, one, operands, disabled=None):
    plan = decode(products.form_of(one, product), int(one.idesc))
    ready = place(plan, Operands(**operands))
    arithmetic((10, 0), plan, False).run(ready, placed.sides, placed.tensor, disabled, 7)
    return products.result(product, placed)


def test_disabled_lanes_keep_what_they_have():
    product, placed, one, operands = one_product()
    before = np.full((128, 64), 5, np.float32).view(np.uint32)
    Area(product.path, 64, 0, 0).write(placed.tensor.data[0], before)
    Area(product.path, 64, 0, 0).write(placed.tensor.defined[0], np.full_like(before, 0xFFFFFFFF))
    made = run_one(product, placed, one, operands, lanes_of((0, 0xFFFF0000, 0, 1), 1))
    exact = np.einsum("mk,nk->mn", placed.a, placed.b)
    kept = np.zeros(128, bool)
    kept[48:64] = kept[96] = True
    assert (made[kept] == 5).all()
    assert np.array_equal(made[~kept], exact[~kept])


def test_scale_input_d_halves_d_so_often():
    product, placed, one, operands = one_product()
    exact = np.einsum("mk,nk->mn", placed.a, placed.b)
    run_one(product, placed, one, operands)
    made = run_one(product, placed, one, operands | {"accumulate": True, "scale_input": 3})
    assert np.array_equal(made, exact + exact / 8)


@pytest.mark.parametrize("m", [32, 64, 128])
def test_zeroed_columns_count_as_zero(m):
    product, placed, one, operands = one_product(rows=m, ws=True)
    word = ZeroColumnMask(non_zero_mask=True, skip_span=2, use_span=4, first_span=5, start_count=[1, 0, 3, 2])
    made = run_one(product, placed, one, operands | {"mask": int(word)})
    exact = np.einsum("mk,nk->mn", placed.a, placed.b)
    zeroed = np.array(word.mask(m, 64), bool)
    assert zeroed.any()
    assert not zeroed.all()
    assert np.array_equal(made, np.where(zeroed, 0, exact))


def test_a_mask_may_begin_at_another_column_as_far_as_the_descriptor_says():
    product, placed, one, operands = one_product(n=128, ws=True, max_shift=8)
    word = int(one.idesc.replace(n=64))
    plan = decode(products.form_of(one, product), word)
    ready = place(plan, Operands(**operands, mask=int(ZeroColumnMask(shift=8))))
    arithmetic((10, 0), plan, False).run(ready, placed.sides, placed.tensor, None, 7)
    made = Area(product.path, 64, 0, 0).read(placed.tensor.data[0]).view(np.float32)
    assert np.array_equal(made, np.einsum("mk,nk->mn", placed.a, placed.b[8:72]))
    with pytest.raises(Illegal, match="P6127"):
        place(plan, Operands(**operands, mask=int(ZeroColumnMask(shift=9))))


def test_ashift_takes_each_row_from_the_next_lane():
    product = Product(TensorTile(128, 16, "bf16"), tile(64, 16, "bf16", swizzle="32B"), "f32")
    placed = products.put(product, 4, small=True)
    (one,) = plan_mma(product)
    form = MmaForm("f16", 1, False, False, True, None, True)
    plan = decode(form, int(one.idesc))
    b = int(one.b.replace(address=products.BASE_B))
    ready = place(plan, Operands(0, products.PLACE_A, b, False))
    arithmetic((10, 0), plan, False).run(ready, placed.sides, placed.tensor, None, 7)
    rows = np.minimum(np.arange(128) + 1, 127)
    assert np.array_equal(products.result(product, placed), np.einsum("mk,nk->mn", placed.a[rows], placed.b))


def test_undefined_elements_spread_along_their_row_and_column():
    product, placed, one, operands = one_product()
    shadow = placed.sides[0].shadow
    shadow[products.BASE_A + product.a.element_bytes()[70, 3]] = 1
    shadow[products.BASE_B + product.b.element_bytes()[9, 15]] = 0x80
    made = run_one(product, placed, one, operands)
    unknown = np.zeros((128, 64), bool)
    unknown[70] = unknown[:, 9] = True
    assert np.array_equal(np.isnan(made), unknown)
    lane, column = accumulator_cells(product.path, 64)
    assert (placed.tensor.origins[0][(lane * PITCH + column)[unknown]] == 7).all()
    made = run_one(product, placed, one, operands | {"accumulate": True})
    assert np.array_equal(np.isnan(made), unknown)


BAD = [
    (
        MmaForm("f16", 1, False, False, False, None, False),
        {"m": 128, "n": 256},
        {"reserved_6": 1},
        "P6125",
    ),
    (MmaForm("f16", 2, False, False, False, None, False), {"m": 64, "n": 64}, {}, "P6125"),
    (MmaForm("f16", 1, False, True, False, None, False), {"m": 128, "n": 64}, {}, "P6125"),
    (MmaForm("f16", 1, False, False, True, None, True), {"m": 64, "n": 64}, {}, "P6125"),
]


@pytest.mark.parametrize(("form", "fields", "bits", "what"), BAD)
def test_an_instruction_descriptor_that_does_not_fit_says_why(form, fields, bits, what):
    from ptxkit.descriptors import InstrDescF16

    word = int(InstrDescF16(a="bf16", b="bf16", d="f32", **fields)) | (bits.get("reserved_6", 0) << 6)
    with pytest.raises(Illegal, match=what) as caught:
        decode(form, word)
    assert caught.value.problems


def test_places_outside_tensor_memory_are_refused():
    product, _, one, operands = one_product()
    plan = decode(products.form_of(one, product), int(one.idesc))
    for d in (480, 16 << 16):
        with pytest.raises(Illegal, match="P6110"):
            place(plan, Operands(**operands | {"d": d}))
    with pytest.raises(Illegal, match="P6126"):
        place(plan, Operands(**operands | {"b": 0}))


# ---- D, ld and st


@pytest.mark.parametrize("letter", DATA_PATHS)
@pytest.mark.parametrize("lane", [0, 16])
def test_areas_are_the_manuals_data_paths(letter, lane):
    path = DATA_PATHS[letter]
    if lane and path.lane_of_16 != 32:
        return
    area = Area(path, 32, lane, 40)
    bank = np.arange(128 * PITCH, dtype=np.uint32)
    lanes, columns = accumulator_cells(path, 32, lane)
    cells = lanes * PITCH + columns + 40
    assert np.array_equal(area.read(bank), cells)
    other = np.zeros_like(bank)
    area.write(other, cells.astype(np.uint32))
    touched = np.unique(cells)
    assert np.array_equal(np.flatnonzero(other), touched)
    assert np.array_equal(other[touched], touched)
    (box,) = area.boxes
    inside = [box.lanes >> int(cell // PITCH) & 1 and box.first <= cell % PITCH < box.end for cell in touched]
    assert all(inside)
    assert len(touched) == bin(box.lanes).count("1") * (box.end - box.first)
    where = np.zeros(128, bool)
    where[int(lanes[5, 0])] = True
    assert np.array_equal(area.choose(where), lanes == lanes[5, 0])


@pytest.mark.parametrize("shape", ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"])
@pytest.mark.parametrize("packed", [False, True])
def test_moves_touch_each_cell_once_and_their_boxes_are_exact(shape, packed):
    for num in (1, 2, 8, 32):
        one = move(shape, num, 200 if shape == "16x32bx2" else 0, packed)
        cells = set(one.places(0).reshape(-1).tolist())
        if packed:
            cells |= {cell + 1 for cell in cells}
        assert len(cells) == 32 * one.registers * (2 if packed else 1)
        covered = {
            lane * PITCH + column
            for box in one.boxes
            for lane in range(128)
            if box.lanes >> lane & 1
            for column in range(box.first, box.end)
        }
        assert cells <= covered
        if shape != "16x32bx2":
            assert cells == covered


def test_packing_keeps_the_low_halves():
    low, high = np.uint32([0xAAAA1111]), np.uint32([0xBBBB2222])
    assert pack(low, high)[0] == 0x22221111
    assert [int(word[0]) for word in unpack(np.uint32([0x22221111]))] == [0x1111, 0x2222]


def test_boxes_meet_where_they_share_a_cell():
    a = Box(lane_bits(range(32)), 0, 8)
    assert boxes_meet([a], [a.moved(31, 7)]) == a
    assert boxes_meet([a], [a.moved(32, 0)]) is None
    assert boxes_meet([a], [a.moved(0, 8)]) is None
    assert str(Box(lane_bits((0, 1, 2, 64)), 4, 8)) == "lanes 0-2, 64, columns 4 to 7"


def test_cells_know_what_was_written():
    tensor = TensorMemory(2, True)
    cells = np.array([3, 4, 5])
    assert (tensor.undefined(1, cells) == 0xFFFFFFFF).all()
    tensor.store(1, cells, np.uint32([7, 8, 9]), (np.uint32([0, 0xF0, 0]), 12))
    assert tensor.load(1, cells).tolist() == [7, 8, 9]
    assert tensor.undefined(1, cells).tolist() == [0, 0xF0, 0]
    assert tensor.origin(1, cells) == 12
    tensor.store(1, cells, np.uint32([1, 2, 3]))
    assert tensor.undefined(1, cells) is None
    assert tensor.origin(1, cells) == 0
    tensor.forget(1, slice(0, 5))
    assert tensor.undefined(1, cells).tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 0]
    assert (tensor.undefined(0, cells) == 0xFFFFFFFF).all()


# ---- cp and shift


def copied(shape, multicast, descriptor, memory, source_format=None):
    one = moves.copy(shape, multicast)
    source = one.source(descriptor, source_format)
    codes = source.map.gather(memory, source.start)
    tensor = TensorMemory(1, False)
    cells = one.cells
    tensor.store(0, cells, np.broadcast_to(one.words(codes, source_format), cells.shape))
    return tensor.data[0].reshape(128, PITCH)


def rows_in_shared(rows, row_bytes, rng):
    """Rows of bytes as cores of 8 rows by 16 bytes, and the descriptor of that."""
    matrix = rng.integers(0, 256, (rows, row_bytes), dtype=np.uint8)
    memory = np.zeros(1 << 16, np.uint8)
    row, byte = np.indices(matrix.shape)
    memory[0x2000 + row // 8 * 128 + row % 8 * 16 + byte // 16 * 0x1000 + byte % 16] = matrix
    descriptor = SmemDescTcgen05(
        address=0x2000, leading_byte_offset=0x1000, stride_byte_offset=128, swizzle="none"
    )
    return matrix, descriptor, memory


@pytest.mark.parametrize(
    ("shape", "multicast", "lanes"),
    [
        ("128x256b", "", lambda row: [row]),
        ("128x128b", "", lambda row: [row]),
        ("64x128b", "warpx2::02_13", lambda row: [row, row + 64]),
        ("64x128b", "warpx2::01_23", lambda row: [row % 32 + row // 32 * 64, row % 32 + row // 32 * 64 + 32]),
        ("32x128b", "warpx4", lambda row: [row, row + 32, row + 64, row + 96]),
        ("4x256b", "", lambda row: [31 + 32 * row]),
    ],
)
def test_copies_put_every_row_into_its_lanes(shape, multicast, lanes):
    rows, bits = (int(part) for part in shape[:-1].split("x"))
    matrix, descriptor, memory = rows_in_shared(rows, bits // 8, np.random.default_rng(0))
    got = copied(shape, multicast, descriptor, memory)
    expected = np.zeros((128, PITCH), np.uint32)
    for row in range(rows):
        for lane in lanes(row):
            expected[lane, : bits // 32] = matrix[row].view(np.uint32)
    assert np.array_equal(got, expected)


def test_copies_bring_scale_factors_into_all_quarters():
    scales = np.random.default_rng(1).integers(0, 256, (128, 4), dtype=np.uint8)
    memory = np.zeros(1 << 12, np.uint8)
    memory[0x400 + atom_offsets()] = scales
    got = copied("32x128b", "warpx4", atom_descriptor(0x400), memory)
    for quarter in range(4):
        words = np.ascontiguousarray(got[32 * quarter : 32 * quarter + 32, :4]).view(np.uint8)
        assert np.array_equal(words.reshape(32, 4, 4).transpose(1, 0, 2).reshape(128, 4), scales)


@pytest.mark.parametrize(("source_format", "dtype"), [("b6x16_p32", "e3m2"), ("b4x16_p64", "e2m1")])
def test_copies_expand_small_elements_to_bytes(source_format, dtype):
    codes = np.random.default_rng(2).integers(0, 1 << BITS[dtype], (128, 32)).astype(np.uint8)
    held = SharedTile(128, 32, dtype, "K", "32B", padded=True)
    memory = np.zeros(1 << 16, np.uint8)
    memory[0x2000 : 0x2000 + held.nbytes] = held.pack(codes, 0x2000)
    got = copied("128x256b", "", held.descriptor(0x2000), memory, source_format)
    expected = codes << 2 if dtype == "e2m1" else codes
    assert np.array_equal(np.ascontiguousarray(got[:, :8]).view(np.uint8), expected)


def test_shift_moves_31_rows_of_32_bytes():
    read, written = moves.shift_cells(64 << 16 | 40)
    assert read.shape == (31, 8)
    assert np.array_equal(read // PITCH, np.repeat(np.arange(65, 96), 8).reshape(31, 8))
    assert np.array_equal(read - PITCH, written)
    assert set((written % PITCH).reshape(-1).tolist()) == set(range(40, 48))
    boxes = moves.shift_boxes(64 << 16 | 40)
    assert [str(box) for box in boxes] == ["lanes 65-95, columns 40 to 47", "lanes 64-94, columns 40 to 47"]
