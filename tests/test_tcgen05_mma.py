"""The planner: every plan is carried out by a numpy model of the hardware and must give the product."""

import itertools

import numpy as np
import pytest
import tcgen05_model

from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import PATTERNS, SharedTile
from ptxkit.tcgen05 import Product, TensorTile, plan_mma

BITS = {"bf16": 16, "f16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "e2m1": 4}


def tile(mn, k, dtype, major="K", swizzle="128B", order="MN", padded=False):
    """A tile grown to whole atoms."""
    return SharedTile(mn, k, dtype, major, swizzle, order, padded)


def check(product, seed=0):
    made, expected = tcgen05_model.run(product, seed)
    assert np.array_equal(made, expected)
    return plan_mma(product)


PLAIN = [
    (dtype, major_a, major_b, swizzle)
    for dtype, major_a, major_b, swizzle in itertools.product(
        ("bf16", "f16", "e4m3", "s8", "tf32"), ("K", "MN"), ("K", "MN"), ("none", "32B", "64B", "128B")
    )
    if dtype != "tf32" or (major_a, major_b) == ("K", "K")
]


@pytest.mark.parametrize(("dtype", "major_a", "major_b", "swizzle"), PLAIN)
def test_every_swizzle_major_and_type(dtype, major_a, major_b, swizzle):
    k = 2 * max(PATTERNS[swizzle].row_bytes, 32) * 8 // BITS[dtype]
    d = "s32" if dtype == "s8" else "f32"
    a, b = tile(128, k, dtype, major_a, swizzle), tile(128, k, dtype, major_b, swizzle, "K")
    plan = check(Product(a, b, d))
    assert len(plan) == k * BITS[dtype] // 256
    assert [one.accumulate for one in plan] == [False] + [True] * (len(plan) - 1)


@pytest.mark.parametrize("order", ["MN", "K"])
def test_transposed_tf32_uses_the_32_byte_atom(order):
    a, b = (tile(128, 32, "tf32", "MN", "128B-32B-atom", order) for _ in range(2))
    check(Product(a, b, "f32"))
    with pytest.raises(PtxkitError, match="needs `swizzle` 128B-32B-atom"):
        Product(tile(128, 32, "tf32", "MN", "128B"), b, "f32")
    with pytest.raises(PtxkitError, match=r"is for `\.kind::tf32`"):
        Product(tile(64, 64, "bf16", "MN", "128B-32B-atom"), tile(64, 64, "bf16"), "f32")


@pytest.mark.parametrize("n", [8, 24, 104, 136, 256, 264, 320, 384, 512])
def test_n_of_every_sort(n):
    plan = check(Product(tile(128, 64, "bf16"), tile(n, 64, "bf16"), "f32"))
    assert sum(one.idesc.n for one in plan if one.k == 0) == n


@pytest.mark.parametrize("n", [16, 64, 128, 256])
@pytest.mark.parametrize("rows", [64, 128])
def test_a_pair_of_ctas(rows, n):
    check(Product(tile(rows, 64, "bf16"), tile(n // 2, 64, "bf16"), "f32", cta_group=2))
    check(Product(tile(rows, 64, "f16", "MN"), tile(n // 2, 64, "f16", "K", "64B"), "f16", cta_group=2))


def test_an_n_that_i8_lacks_is_computed_in_smaller_parts():
    plan = check(Product(tile(128, 128, "s8"), tile(40, 128, "s8"), "s32"))
    assert {one.idesc.n for one in plan} == {8}


def test_several_parts_of_n_by_a_pair():
    plan = check(Product(tile(128, 64, "bf16"), tile(256, 64, "bf16"), "f32", cta_group=2))
    assert [one.n for one in plan if one.k == 0] == [0, 256]


@pytest.mark.parametrize("n", [16, 64, 256, 512])
def test_64_rows_plain_and_folded(n):
    a, b = tile(64, 64, "bf16"), tile(n, 64, "bf16")
    assert Product(a, b, "f32").accumulator_columns == n
    check(Product(a, b, "f32"))
    folded = Product(a, b, "f32", fold=True)
    assert folded.accumulator_columns == n // 2
    plan = check(folded)
    assert {one.d >> 16 for one in plan} == {0, 16}


@pytest.mark.parametrize("m", [32, 64, 128])
@pytest.mark.parametrize("n", [64, 128, 256])
def test_weight_stationary(m, n):
    plan = check(Product(tile(m, 64, "bf16"), tile(n, 64, "bf16"), "f32", ws=True))
    assert all(".mma.ws.cta_group::1" in one.opcode for one in plan)


@pytest.mark.parametrize("shift", [0, 8, 16, 32])
def test_weight_stationary_products_may_shift_b(shift):
    a, b = tile(64, 64, "bf16"), tile(64, 64, "bf16")
    plan = check(Product(a, b, "f32", ws=True, max_shift=shift))
    assert {one.idesc.max_shift for one in plan} == {shift}
    if shift:
        with pytest.raises(PtxkitError, match=r"`max_shift` needs `\.ws`"):
            Product(a, b, "f32", max_shift=shift)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "tf32", "e4m3", "s8", "e2m1", "e3m2"])
@pytest.mark.parametrize(("rows", "cta"), [(128, 1), (64, 1), (128, 2), (64, 2)])
def test_a_in_tensor_memory(dtype, rows, cta):
    b = tile(64, 128, dtype, padded=dtype in ("e2m1", "e3m2"))
    d = "s32" if dtype == "s8" else "f32"
    check(Product(TensorTile(rows, 128, dtype), b, d, cta_group=cta))


@pytest.mark.parametrize(("a", "b"), [("e2m1", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e4m3"), ("e5m2", "e3m2")])
def test_small_types_are_padded_in_f8f6f4(a, b):
    tiles = [tile(128, 128, dtype, padded=dtype in ("e2m1", "e2m3", "e3m2")) for dtype in (a, b)]
    for d in ("f16", "f32"):
        plan = check(Product(*tiles, d))
        assert plan[0].opcode.endswith("kind::f8f6f4")


SPARSE = [("bf16", "f16"), ("tf32", "tf32"), ("e4m3", "f8f6f4"), ("s8", "i8")]


@pytest.mark.parametrize(("dtype", "kind"), SPARSE)
@pytest.mark.parametrize(
    ("rows", "cta", "ws"), [(128, 1, False), (64, 1, False), (128, 2, False), (64, 2, False)]
)
def test_sparse(dtype, kind, rows, cta, ws):
    k = 4096 // BITS[dtype] // 2
    a, b = tile(rows, k // 2, dtype), tile(64, k, dtype)
    plan = check(Product(a, b, "s32" if dtype == "s8" else "f32", cta_group=cta, sparse=True, ws=ws))
    assert all(".mma.sp." in one.opcode for one in plan)
    if kind in ("f16", "tf32"):
        assert [one.idesc.sparsity_selector for one in plan[:4]] == [0, 1, 0, 1]
        assert [one.metadata for one in plan[:4]] == [0, 0, 2, 2]


@pytest.mark.parametrize("m", [32, 64, 128])
def test_sparse_weight_stationary(m):
    plan = check(Product(tile(m, 64, "bf16"), tile(128, 128, "bf16"), "f32", sparse=True, ws=True))
    assert all(".mma.ws.sp." in one.opcode for one in plan)


SCALED = [
    ("e4m3", "e5m2", False, "ue8m0", None, "mxf8f6f4", "1X"),
    ("e2m1", "e4m3", True, "ue8m0", None, "mxf8f6f4", "1X"),
    ("e3m2", "e2m3", True, "ue8m0", "1X", "mxf8f6f4", "1X"),
    ("e2m1", "e2m1", False, "ue8m0", None, "mxf4", "2X"),
    ("e2m1", "e2m1", False, "ue4m3", None, "mxf4nvf4", "4X"),
    ("e2m1", "e2m1", False, "ue8m0", "4X", "mxf4nvf4", "4X"),
]


@pytest.mark.parametrize(("a", "b", "padded", "scale", "vector", "kind", "chosen"), SCALED)
@pytest.mark.parametrize(
    ("rows", "cta", "n"), [(128, 1, 128), (128, 1, 256), (128, 2, 256), (64, 2, 128), (128, 1, 40)]
)
def test_block_scaled(a, b, padded, scale, vector, kind, chosen, rows, cta, n):
    def operand(mn, dtype):
        return tile(mn, 256, dtype, swizzle="64B", padded=padded and dtype not in ("e4m3", "e5m2"))

    product = Product(
        operand(rows, a), operand(n // cta, b), "f32", cta_group=cta, scale=scale, scale_vec=vector
    )
    assert (product.kind, product.vector) == (kind, chosen)
    plan = check(product)
    assert all(f".kind::{kind}.block_scale.scale_vec::{chosen}" in one.opcode for one in plan)
    steps = {"1X": [0, 1, 2, 3], "2X": [0, 2, 0, 2], "4X": [0, 0, 0, 0]}[chosen]
    assert [one.idesc.sfa_id for one in plan[:4]] == steps


def test_block_scaled_in_parts_of_n():
    product = Product(tile(128, 256, "e4m3"), tile(512, 256, "e4m3"), "f32", scale="ue8m0")
    assert [(one.n, one.scale_b) for one in plan_mma(product) if one.k == 0] == [(0, 0), (256, 8)]
    assert product.accumulator_columns == 512


@pytest.mark.parametrize("dtype", ["e4m3", "e2m1"])
def test_block_scaled_sparse(dtype):
    scale = "ue8m0"
    k = 512
    a, b = tile(128, k // 2, dtype), tile(64, k, dtype)
    check(Product(a, b, "f32", sparse=True, scale=scale))


def test_block_scaled_with_a_in_tensor_memory():
    check(Product(TensorTile(128, 256, "e2m1"), tile(64, 256, "e2m1"), "f32", scale="ue4m3"))
    check(Product(TensorTile(128, 128, "e4m3"), tile(64, 128, "e4m3"), "f32", scale="ue8m0"))


def test_negation_and_saturation_reach_the_descriptor():
    product = Product(tile(128, 64, "bf16"), tile(64, 64, "bf16"), "f32", negate_a=True, negate_b=True)
    assert plan_mma(product)[0].idesc.negate_a
    product = Product(
        tile(128, 64, "s8", swizzle="64B"), tile(64, 64, "u8", swizzle="64B"), "s32", saturate=True
    )
    assert plan_mma(product)[0].idesc.saturate
    with pytest.raises(PtxkitError):
        plan_mma(
            Product(
                tile(128, 64, "s8", swizzle="64B"), tile(64, 64, "s8", swizzle="64B"), "s32", negate_a=True
            )
        )


def test_a_plan_is_plain_data():
    import json

    plan = plan_mma(Product(tile(128, 64, "bf16"), tile(64, 64, "bf16"), "f32"))
    text = json.dumps([one.to_json() for one in plan])
    assert json.loads(text)[1]["a"] == "0x4000404000010002"


T = tile
REFUSED = [  # (what, code, words)
    (lambda: Product(T(128, 64, "bf16"), T(64, 128, "bf16"), "f32"), "P480", "the same K, found 64 and 128"),
    (
        lambda: Product(T(128, 64, "bf16"), T(64, 64, "bf16"), "f32", sparse=True),
        "P480",
        "twice the stored ones",
    ),
    (lambda: Product(T(128, 64, "bf16"), T(64, 64, "e4m3", swizzle="64B"), "f32"), "P481", "of one MMA kind"),
    (lambda: Product(T(128, 64, "bf16"), T(64, 64, "bf16"), "f16"), "P481", "must be `f32`, found `f16`"),
    (
        lambda: Product(T(128, 64, "f16"), T(64, 64, "f16"), "s32"),
        "P481",
        "must be `f16` or `f32`, found `s32`",
    ),
    (lambda: Product(T(128, 64, "tf32"), T(64, 64, "tf32"), "f16"), "P481", "must be `f32`, found `f16`"),
    (lambda: Product(T(128, 128, "s8"), T(64, 128, "s8"), "f32"), "P481", "must be `s32`, found `f32`"),
    (lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "s32"), "P481", "must be `f16` or `f32`"),
    (lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "f16", scale="ue8m0"), "P481", "block-scaled"),
    (lambda: Product(T(128, 64, "bf16"), T(64, 64, "bf16"), "f32", scale="ue8m0"), "P484", "4 to 8 bits"),
    (lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e2m1"), "f32"), "P481", "needs scale factors"),
    (
        lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "f32", scale="ue4m3"),
        "P484",
        "must be `ue8m0`",
    ),
    (
        lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e2m1"), "f32", scale="ue4m3", scale_vec="2X"),
        "P484",
        "must be `4X`, found 2X",
    ),
    (
        lambda: Product(T(96, 64, "bf16"), T(64, 64, "bf16"), "f32"),
        "P482",
        "must have 64 or 128 rows in a CTA, found 96",
    ),
    (
        lambda: Product(T(32, 64, "bf16"), T(64, 64, "bf16"), "f32"),
        "P482",
        "must have 64 or 128 rows in a CTA, found 32",
    ),
    (
        lambda: Product(T(64, 128, "e4m3"), T(64, 128, "e4m3"), "f32", scale="ue8m0"),
        "P482",
        "must have 128 rows",
    ),
    (
        lambda: Product(
            T(64, 128, "e4m3"), T(64, 256, "e4m3"), "f32", scale="ue8m0", sparse=True, cta_group=2
        ),
        "P482",
        "must have 128 rows in a CTA, found 64",
    ),
    (
        lambda: Product(T(128, 64, "bf16"), T(256, 64, "bf16"), "f32", cta_group=2, ws=True),
        "P480",
        "`.ws` needs `cta_group` 1",
    ),
    (
        lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "f32", ws=True, scale="ue8m0"),
        "P480",
        "no block-scaled kinds",
    ),
    (
        lambda: Product(T(128, 64, "bf16"), T(64, 64, "bf16"), "f32", cta_group=3),
        "P480",
        "must be 1 or 2, found 3",
    ),
    (lambda: Product(T(128, 64, "bf16"), T(32, 64, "bf16"), "f32", ws=True), "P482", "64, 128 or 256"),
    (lambda: Product(T(128, 64, "bf16"), T(1024, 64, "bf16"), "f32"), "P485", "512 columns of tensor memory"),
    (lambda: Product(T(128, 64, "bf16"), T(64, 64, "bf16"), "f32", fold=True), "P480", "`fold` needs M = 64"),
    (
        lambda: Product(TensorTile(64, 64, "bf16"), T(64, 64, "bf16"), "f32", fold=True),
        "P485",
        "needs A in shared memory",
    ),
    (
        lambda: Product(TensorTile(64, 64, "bf16"), T(64, 64, "bf16"), "f32", ws=True),
        "P485",
        "with `.ws` needs M = 128",
    ),
    (
        lambda: Product(
            T(128, 16, "bf16", swizzle="32B"), T(64, 32, "bf16", swizzle="32B"), "f32", sparse=True
        ),
        "P483",
        "one step takes 32 elements of B along K, an atom of `swizzle` 32B has 16",
    ),
    (
        lambda: Product(T(64, 64, "bf16"), T(64, 64, "bf16", "MN"), "f32", fold=True),
        "P483",
        "begins at an atom of B",
    ),
    (
        lambda: Product(T(128, 24, "bf16", swizzle="none"), T(64, 24, "bf16", swizzle="none"), "f32"),
        "P482",
        "of 16",
    ),
]


@pytest.mark.parametrize(
    ("make", "code", "words"), REFUSED, ids=[f"{i}-{r[1]}" for i, r in enumerate(REFUSED)]
)
def test_what_the_hardware_can_not_do_is_refused(make, code, words):
    with pytest.raises(PtxkitError) as raised:
        make()
    assert raised.value.diagnostics[0].code == code
    assert words in raised.value.diagnostics[0].message
