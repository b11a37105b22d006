"""Beside JAX's Mosaic: what its planner of `tcgen05.mma` refuses is refused here too, or planned and right.

A row for each condition under which `jax.experimental.mosaic.gpu.tcgen05` raises and which can be asked
here: shapes and layouts of D, of scale factors and of metadata follow from the operands.
"""

import numpy as np
import pytest
import tcgen05_model

from ptxkit.descriptors import INSTRUCTION_DESCRIPTORS
from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import SharedTile as T
from ptxkit.layouts.tensor_memory import MOVE_SHAPES
from ptxkit.tcgen05 import (
    Product,
    TensorTile,
    allocation_columns,
    plan_commit,
    plan_metadata_copy,
    plan_move,
    plan_scale_copy,
    slice_columns,
)

A = T(128, 64, "bf16")
B = T(64, 64, "bf16")


def idesc(kind, **fields):
    given = {"m": 128, "n": 64, "a": "bf16", "b": "bf16", "d": "f32", **fields}
    return lambda: INSTRUCTION_DESCRIPTORS[kind](**given)


REFUSED = {
    # the instruction descriptor
    "accumulator type": (idesc("f16", d="s32"), "must be one of `f16`, `f32`"),
    "input type": (idesc("f16", a="f32"), "must be one of `f16`, `bf16`"),
    "bf16 in f16": (idesc("f16", d="f16"), "needs `a` and `b` f16"),
    "N of 12": (idesc("f16", n=12), "multiple of 8"),
    "N of 264": (idesc("f16", n=264), "must be"),
    "M of 72": (idesc("f16", m=72), "multiple of 16"),
    "M of 272": (idesc("f16", m=272), "must be 32, 64, 128 or 256"),
    "sparsity selector of 4": (idesc("f16", sparse=True, sparsity_selector=4), "must be 0 .. 3"),
    "scaled input type": (idesc("mxf4", a="e4m3", b="e2m1", scale="ue8m0"), "must be one of `e2m1`"),
    "scale type": (idesc("mxf4", a="e2m1", b="e2m1", scale="e5m2"), "must be one of `ue8m0`"),
    "scaled M of 64": (idesc("mxf8f6f4", m=64, a="e4m3", b="e4m3"), "must be"),
    "scale id of 4": (idesc("mxf8f6f4", a="e4m3", b="e4m3", sfb_id=4), "must be 0 .. 3"),
    # operands
    "B in tensor memory": (
        lambda: Product(A, TensorTile(64, 64, "bf16"), "f32"),
        "B must be a",
    ),
    "A that is no tile": (lambda: Product(None, B, "f32"), "A must be a `SharedTile` or a `TensorTile`"),
    "K that differs": (lambda: Product(A, T(64, 128, "bf16"), "f32"), "the same K, found 64 and 128"),
    "sparse K": (lambda: Product(A, B, "f32", sparse=True), "twice the stored ones"),
    "types of two kinds": (lambda: Product(A, T(64, 64, "e4m3", swizzle="64B"), "f32"), "one MMA kind"),
    "rows of 96": (lambda: Product(T(96, 64, "bf16"), B, "f32"), "64 or 128 rows in a CTA, found 96"),
    "rows of 96 in tensor memory": (lambda: Product(TensorTile(96, 64, "bf16"), B, "f32"), "found 96"),
    "unknown type": (lambda: Product(T(128, 32, "f32"), T(64, 32, "f32"), "f32"), "one of the types tf32"),
    # accumulators
    "D of bf16": (lambda: Product(A, B, "f16"), "must be `f32`, found `f16`"),
    "D of tf32": (lambda: Product(T(128, 32, "tf32"), T(64, 32, "tf32"), "f16"), "must be `f32`"),
    "D of f16": (lambda: Product(T(128, 64, "f16"), T(64, 64, "f16"), "s32"), "must be `f16` or `f32`"),
    "D of f8": (lambda: Product(T(128, 128, "e5m2"), T(64, 128, "e5m2"), "s32"), "must be `f16` or `f32`"),
    "D of scaled f8": (
        lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "f16", scale="ue8m0"),
        "must be `f32`, found `f16`",
    ),
    "D of f4": (
        lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e2m1"), "f16", scale="ue8m0"),
        "must be `f32`, found `f16`",
    ),
    "D of s8": (lambda: Product(T(128, 128, "s8"), T(64, 128, "s8"), "f32"), "must be `s32`"),
    # scales
    "scaled bf16": (lambda: Product(A, B, "f32", scale="ue8m0"), "types of 4 to 8 bits"),
    "scaled s8": (
        lambda: Product(T(128, 128, "s8"), T(64, 128, "s8"), "s32", scale="ue8m0"),
        "types of 4 to 8 bits",
    ),
    "packed f4 without scales": (
        lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e2m1"), "f32"),
        "needs scale factors",
    ),
    "packed f4 beside f8": (
        lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e4m3"), "f32", scale="ue8m0"),
        "needs scale factors and another such matrix",
    ),
    "packed f4 beside padded f4": (
        lambda: Product(T(128, 256, "e2m1", padded=True), T(64, 256, "e2m1"), "f32", scale="ue8m0"),
        "needs scale factors and another such matrix",
    ),
    "scales of f8": (
        lambda: Product(T(128, 128, "e4m3"), T(64, 128, "e4m3"), "f32", scale="ue4m3"),
        "must be `ue8m0`, found `ue4m3`",
    ),
    "scales of another type": (
        lambda: Product(T(128, 256, "e2m1"), T(64, 256, "e2m1"), "f32", scale="e5m2"),
        "must be `ue8m0` or `ue4m3`, found `e5m2`",
    ),
    "a scale vector without scales": (lambda: Product(A, B, "f32", scale_vec="1X"), "needs `scale`"),
    "scaled with 64 rows": (
        lambda: Product(T(64, 128, "e4m3"), T(64, 128, "e4m3"), "f32", scale="ue8m0"),
        "128 rows in a CTA, found 64",
    ),
    "f4 that is not K-major": (lambda: T(128, 64, "e2m1", "MN"), "must be K-major"),
    # sizes and swizzles
    "64 rows, swizzle too wide": (
        lambda: Product(T(64, 64, "bf16"), T(64, 64, "bf16", "MN"), "f32", fold=True),
        "begins at an atom of B",
    ),
    "64 rows, N of 24": (
        lambda: Product(T(64, 64, "bf16"), T(24, 64, "bf16"), "f32", fold=True),
        "found 12",
    ),
    "N of 12 in shared memory": (lambda: T(12, 64, "bf16"), "multiple of 8"),
    "N of 16 of s8 by a pair": (
        lambda: Product(T(128, 128, "s8"), T(8, 128, "s8"), "s32", cta_group=2),
        "32 .. 256 in steps of 32, found 16",
    ),
    "N of 520": (lambda: Product(A, T(520, 64, "bf16"), "f32"), "512 columns of tensor memory"),
    "K below a swizzle atom": (lambda: T(128, 32, "bf16"), "`k` must be a multiple of 64"),
    "K below an instruction": (
        lambda: Product(TensorTile(128, 24, "bf16"), T(64, 24, "bf16", swizzle="none"), "f32"),
        "multiple of 16, found 24",
    ),
    "sparse, B's swizzle too narrow": (
        lambda: Product(
            T(128, 32, "bf16", swizzle="64B"), T(64, 64, "bf16", swizzle="32B"), "f32", sparse=True
        ),
        "an atom of `swizzle` 32B has 16",
    ),
    # tensor memory
    "allocation of 48": (lambda: allocation_columns(48), "32, 64, 128, 256 or 512 columns, found 48"),
    "allocation of 16": (lambda: allocation_columns(16), "found 16"),
    "allocation of 600": (lambda: allocation_columns(600, exact=False), "512 columns, found 600"),
    "A and D too large": (
        lambda: Product(TensorTile(128, 512, "bf16"), T(264, 512, "bf16"), "f32"),
        "512 columns of tensor memory together, found 264 and 256",
    ),
    "slice of 12": (lambda: slice_columns(0, 12), "multiples of 8"),
    "packing of 3": (lambda: slice_columns(0, 8, 3), "with 3 to a cell"),
    "repeat of 3": (lambda: MOVE_SHAPES["32x32b"].cells(3), "has .x1, .x2"),
    "more registers than there are": (lambda: MOVE_SHAPES["16x256b"].cells(64), "has .x1, .x2"),
    "shape of a move": (lambda: plan_move("ld", 32, "64x32b"), "must be one of"),
    "columns of a move": (lambda: plan_move("ld", 12, "16x256b"), "multiple of 8 columns"),
    "scales of 64 rows": (lambda: plan_scale_copy(64, 4), "128 or 256 rows"),
    "scales of 384 rows": (lambda: plan_scale_copy(384, 4), "128 or 256 rows"),
    "scales of 6 blocks": (lambda: plan_scale_copy(128, 6), "4 blocks at a time"),
    "metadata of 6 columns": (lambda: plan_metadata_copy(6), "4 columns at a time"),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED)
def test_refused_by_both(make, words):
    with pytest.raises(PtxkitError) as raised:
        make()
    found = [diagnostic.message for diagnostic in raised.value.diagnostics]
    assert any(words in message for message in found), found


def plain(dtype, n=64, k=128, swizzle="128B", rows=128, **rest):
    d = {"s8": "s32", "u8": "s32"}.get(dtype, "f32")
    padded = rest.pop("padded", False)
    stored = k // 2 if rest.get("sparse") else k
    a = rest.pop("a", None) or T(rows, stored, dtype, swizzle=swizzle, padded=padded)
    return Product(a, T(n, k, dtype, swizzle=swizzle, padded=padded), d, **rest)


REACHED = {
    "no swizzle": plain("bf16", swizzle="none"),
    "A without swizzle, B with one": Product(T(128, 64, "bf16", swizzle="none"), B, "f32"),
    "block-scaled and sparse": plain("e4m3", k=256, sparse=True, scale="ue8m0"),
    "block-scaled, A in tensor memory": plain("e4m3", a=TensorTile(128, 128, "e4m3"), scale="ue8m0"),
    "64 rows of A in tensor memory": plain("bf16", a=TensorTile(64, 128, "bf16")),
    "a pair with 64 rows of A in tensor memory": plain("bf16", a=TensorTile(64, 128, "bf16"), cta_group=2),
    "types that differ within a kind": Product(T(128, 128, "e4m3"), T(64, 128, "e5m2"), "f32"),
    "block-scaled pair with 64 rows": plain("e4m3", rows=64, cta_group=2, scale="ue8m0"),
    "sparse with 64 rows": plain("bf16", rows=64, sparse=True),
    "tf32": plain("tf32"),
    "sparse tf32": plain("tf32", sparse=True),
    "sparse f4": plain("e2m1", k=512, sparse=True, scale="ue8m0"),
    "f4 without scales": plain("e2m1", padded=True),
    "f6": plain("e3m2", padded=True),
    "u8": plain("u8"),
    "N of 8 of s8": plain("s8", n=8),
    "N of 40 of s8": plain("s8", n=40),
    "sparse, N of 96": plain("bf16", n=96, sparse=True),
    "sparse, N of 40": plain("bf16", n=40, sparse=True),
    "block-scaled, N of 96": plain("e4m3", n=96, scale="ue8m0"),
    "block-scaled, N of 40": plain("e4m3", n=40, scale="ue8m0"),
    "N of 320": plain("bf16", n=320),
    "N of 512 by a pair": plain("bf16", n=256, cta_group=2),
    "sparse, K of 32": Product(
        T(128, 16, "bf16", swizzle="none"), T(64, 32, "bf16", swizzle="none"), "f32", sparse=True
    ),
    "weight stationary with 32 rows": plain("bf16", rows=32, ws=True),
    "K of 96, blocks of 32": plain("e2m1", k=768, cta_group=2, scale="ue8m0", k96=True),
    "K of 96, blocks of 16": plain("e2m1", n=128, k=768, cta_group=2, scale="ue4m3", k96=True),
    "K of 96 by one CTA": plain("e2m1", k=768, scale="ue8m0", k96=True),
    "K of 96, A in tensor memory": plain(
        "e2m1", k=768, a=TensorTile(128, 768, "e2m1"), cta_group=2, scale="ue8m0", k96=True
    ),
    "block-scaled in two parts of N": plain("e4m3", n=256, scale="ue8m0"),
    "transposed tf32": Product(
        T(128, 32, "tf32", "MN", "128B-32B-atom"), T(64, 32, "tf32", "MN", "128B-32B-atom"), "f32"
    ),
}


FOUR_BITS = T(128, 768, "e2m1")
REFUSED_K96 = {
    "64 rows": (
        lambda: Product(T(64, 768, "e2m1"), FOUR_BITS, "f32", cta_group=2, scale="ue8m0", k96=True),
        "with 128 rows in a CTA, found 64 rows, `cta_group` 2",
    ),
    "without scales": (
        lambda: plain("bf16", k=192, cta_group=2, k96=True),
        "packed `e2m1` with scale factors, found `bf16`",
    ),
    "eight bits": (
        lambda: plain("e4m3", k=384, cta_group=2, scale="ue8m0", k96=True),
        "packed `e2m1` with scale factors, found `e4m3`",
    ),
    "sparse": (
        lambda: plain("e2m1", k=1536, cta_group=2, scale="ue8m0", sparse=True, k96=True),
        "`cta_group` 2, sparse",
    ),
    "K of 512": (
        lambda: plain("e2m1", k=512, cta_group=2, scale="ue8m0", k96=True),
        "must be a multiple of 96, found 512",
    ),
    "narrow swizzle": (
        lambda: plain("e2m1", k=768, cta_group=2, scale="ue8m0", swizzle="64B", k96=True),
        "needs `swizzle` 128B, found 64B",
    ),
}


@pytest.mark.parametrize(("make", "words"), REFUSED_K96.values(), ids=REFUSED_K96)
def test_what_has_no_k_of_96_is_refused(make, words):
    with pytest.raises(PtxkitError) as raised:
        make()
    found = [diagnostic.message for diagnostic in raised.value.diagnostics]
    assert any(words in message for message in found), found


@pytest.mark.parametrize("product", REACHED.values(), ids=REACHED)
def test_planned_where_mosaic_gives_up(product):
    made, expected = tcgen05_model.run(product)
    assert np.array_equal(made, expected)


def test_moves_and_commits_that_mosaic_lacks():
    assert plan_move("ld", 32, "16x64b")
    assert plan_move("ld", 128, "32x32b", most_registers=128)[0].num == 128
    assert plan_commit(2, (0, 1, 4, 5)).mask == 0b110011
