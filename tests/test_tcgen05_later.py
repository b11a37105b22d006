"""What the planner knows of sm_107: products that the emulator carries out, and what it refuses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from test_tcgen05_emit import Kernels
from test_tensor_memory_kernels import check, describe

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import SharedTile
from ptxkit.tcgen05 import (
    LookedUpTile,
    Product,
    TensorTile,
    allocation_columns,
    emit,
    plan_columns,
    plan_commit,
    plan_mma,
    plan_scale_copy,
)

ORDERS = ("lazy", "eager", "random")
RUBIN = "sm_107a"


def tile(rows: int, k: int, dtype: str, swizzle: str = "none") -> SharedTile:
    return SharedTile(rows, k, dtype, swizzle=swizzle)


def forms() -> list[Product]:
    made = []
    # Signs and magnitudes: dense and sparse, stationary weights, A in tensor memory.
    for cta, sparse, ws, tensor in itertools.product((1, 2), (False, True), (False, True), (False, True)):
        if not (ws and cta == 2):
            a = (TensorTile if tensor else SharedTile)(128, 128 >> sparse, "s1z4m11")
            made.append(
                Product(a, tile(64, 128, "s1z4m11"), "s32", cta, sparse=sparse, ws=ws, target="sm_107f")
            )
    # Twice the K of 8 bits: plain, and with a scale factor for 64 elements.
    for cta, sparse, ws, scale in itertools.product((1, 2), (False, True), (False, True), (None, "ue8m0")):
        if not (ws and (cta == 2 or scale)):
            a = tile(128, 256 >> sparse, "e4m3", "64B")
            made.append(
                Product(
                    a,
                    tile(64, 256, "e5m2", "128B"),
                    "f32",
                    cta,
                    sparse=sparse,
                    ws=ws,
                    scale=scale,
                    wide_k=True,
                    target="sm_107f",
                )
            )
    made.append(
        Product(TensorTile(128, 256, "e5m2"), tile(64, 256, "e4m3"), "f16", wide_k=True, target="sm_107f")
    )
    # Packed 4 bits: every scale factor, twice the K by pairs of CTAs, and a sparse A by single elements.
    for (scale, vector), wide, sparse in itertools.product(
        (
            ("ue8m0", "2X"),
            ("ue8m0", "4X"),
            ("ue4m3", "4X"),
            ("ue4m3", "2X"),
            ("ue5m3", "4X"),
            ("ue5m3", "2X"),
        ),
        (False, True),
        (False, True),
    ):
        if not (wide and sparse):
            made.append(
                Product(
                    tile(128, 512 >> sparse, "e2m1", "64B"),
                    tile(32, 512, "e2m1", "128B"),
                    "f32",
                    2 if wide else 1,
                    sparse=sparse,
                    scale=scale,
                    scale_vec=vector,
                    wide_k=wide,
                    target=RUBIN,
                )
            )
    for cta, scale in ((1, "ue5m3"), (2, "ue8m0")):
        a, b = SharedTile(128, 768, "e2m1"), SharedTile(32, 768, "e2m1")
        made.append(Product(a, b, "f32", cta, scale=scale, k96=True, target=RUBIN))
    # Scale factors of A in all lanes; look-up tables for B, in two instructions along N.
    for scale in ("ue8m0", "ue5m3"):
        a, b = tile(128, 512, "e2m1", "128B"), tile(64, 512, "e2m1", "128B")
        made.append(Product(a, b, "f32", scale=scale, sfa_lanes=128, target="sm_107f"))
    for cta, scale, rows in ((1, None, 48), (2, None, 40), (1, "ue8m0", 64), (1, None, 512 // 2)):
        a = tile(128, 192, "e5m2", "64B")
        made.append(Product(a, LookedUpTile(rows, 192), "f32", cta, scale=scale, target="sm_107f"))
    return made


FORMS = forms()


@pytest.mark.parametrize(
    "at", range(len(FORMS)), ids=[f"{i}-{describe(form)}" for i, form in enumerate(FORMS)]
)
def test_products_of_sm_107(at: int) -> None:
    check(FORMS[at], ORDERS[at % 3], seed=at)


@pytest.mark.parametrize(
    ("product", "opcode", "idesc"),
    [
        # M = 128 >> 4 at 24, N = 64 >> 3 at 17, types 3 at 10 and 7, D of s32 at 4 (tables 51 to 53 of 9.4)
        (
            Product(tile(128, 16, "s1z4m11"), tile(64, 16, "s1z4m11"), "s32", target="sm_107f"),
            "tcgen05.mma.cta_group::1.kind::ti16",
            8 << 24 | 8 << 17 | 3 << 10 | 3 << 7 | 2 << 4,
        ),
        # K of 64 at 29
        (
            Product(tile(128, 64, "e4m3"), tile(64, 64, "e5m2"), "f32", wide_k=True, target="sm_107f"),
            "tcgen05.mma.cta_group::1.kind::f8f6f4",
            1 << 29 | 8 << 24 | 8 << 17 | 1 << 10 | 1 << 4,
        ),
        # K of 64 at 31, scales of ue8m0 at 23, M >> 7 at 27
        (
            Product(tile(128, 64, "e4m3"), LookedUpTile(64, 64), "f32", scale="ue8m0", target="sm_107f"),
            "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.decompress::lut::b.block32",
            1 << 31 | 1 << 27 | 1 << 23 | 8 << 17,
        ),
        # M = 256, the upper bit of K at 3, ue5m3 at 23, A's scales in all lanes at 26
        (
            Product(
                tile(128, 128, "e2m1"),
                tile(32, 128, "e2m1"),
                "f32",
                2,
                scale="ue5m3",
                wide_k=True,
                sfa_lanes=128,
                target="sm_107f",
            ),
            "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16",
            2 << 27 | 1 << 26 | 2 << 23 | 8 << 17 | 1 << 10 | 1 << 7 | 1 << 3,
        ),
        # single elements at 12, sparse at 2
        (
            Product(
                tile(128, 64, "e2m1"), tile(64, 128, "e2m1"), "f32", sparse=True, scale="ue8m0", target=RUBIN
            ),
            "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32",
            1 << 27 | 1 << 23 | 8 << 17 | 1 << 12 | 1 << 10 | 1 << 7 | 1 << 2,
        ),
    ],
)
def test_words_by_hand(product: Product, opcode: str, idesc: int) -> None:
    (one,) = plan_mma(product)
    assert (one.opcode, hex(int(one.idesc))) == (opcode, hex(idesc))
    assert product.step_k == product.k


def test_the_parts_of_looked_up_elements() -> None:
    """A row has 24 bytes for the first 64 of each 128 elements, behind them as many for the others; 64 groups
    of 8 rows and 3 pieces of 16 bytes. Each instruction has 32 tables."""
    product = Product(tile(128, 256, "e4m3"), LookedUpTile(512, 256), "f32", target="sm_107a")
    plan = plan_mma(product)
    assert [one.lut for one in plan] == [0] * 4 + [32 << 16] * 4
    words = [int(one.b) for one in plan]
    assert [word >> 53 for word in words] == [0, 1] * 4
    pieces = 512 * 16
    starts = [first + 3 * pieces * (k // 128) for first in (0, 256 * 16) for k in range(0, 256, 64)]
    assert [(word & 0x7FFF) << 4 for word in words] == starts
    assert {word >> 16 & 0x3FFF for word in words} == {pieces >> 4}
    assert {word >> 32 & 0x3FFF for word in words} == {128 >> 4}
    assert plan[5].to_json()["lut"] == 32 << 16
    assert "lut" not in plan_mma(Product(tile(128, 64, "bf16"), tile(64, 64, "bf16"), "f32"))[0].to_json()


def test_the_bytes_of_looked_up_elements() -> None:
    b = LookedUpTile(16, 192)
    indexes = np.random.default_rng(1).integers(0, 8, (16, 192))
    made = b.pack(indexes)
    assert made.size == b.nbytes == 16 * 96
    for row, numbers in enumerate(indexes.tolist()):
        bits = sum(number << 3 * i for i, number in enumerate(numbers))
        pieces = [made[at * 256 + row * 16 :][:16].tobytes() for at in range(6)]
        assert b"".join(pieces) == bits.to_bytes(96, "little")
    with pytest.raises(PtxkitError, match=r"P480.*must have shape \(16, 192\)"):
        b.pack(indexes[:8])
    with pytest.raises(PtxkitError, match=r"P482.*`k` .* multiple of 64, found 96"):
        LookedUpTile(16, 96)


A, B = tile(128, 256, "e4m3"), tile(64, 256, "e4m3")
PACKED = {"a": tile(128, 128, "e2m1"), "b": tile(64, 256, "e2m1"), "scale": "ue8m0"}
WIDE_96 = {"a": SharedTile(128, 768, "e2m1"), "b": SharedTile(64, 768, "e2m1"), "k96": True}
SIGNED = {"a": tile(128, 64, "s1z4m11"), "b": tile(64, 64, "s1z4m11"), "d": "s32"}
SINGLE = {"a": tile(128, 256, "bf16"), "b": tile(64, 256, "bf16")}
TABLES = {"b": LookedUpTile(64, 256)}
WIDE = {"wide_k": True}
REFUSED = {
    "P428.*`wide_k` needs `target` sm_107f or sm_107a, found sm_100a": {**WIDE, "target": "sm_100a"},
    "P428.*`wide_k` needs `target` sm_107f or sm_107a, found none": {**WIDE, "target": None},
    "P428.*`LookedUpTile` needs": {**TABLES, "target": "sm_103a"},
    "P428.*`sfa_lanes` of 128 needs": {"scale": "ue8m0", "sfa_lanes": 128, "target": None},
    "P428.*`scale` ue5m3 needs": {"scale": "ue5m3", "target": "sm_100f"},
    "P428.*`s1z4m11` needs": {**SIGNED, "target": None},
    "P480.*`target` must be an architecture, found `rubin`": {"target": "rubin"},
    "P480.*`LookedUpTile` is for a product without sparse": {
        **TABLES,
        "a": tile(128, 128, "e4m3"),
        "sparse": True,
    },
    "P480.*`wide_k` is for a product without k96": {
        **WIDE,
        **WIDE_96,
        "scale": "ue8m0",
        "cta_group": 2,
    },
    "P481.*`wide_k` needs types of 8 bits": {**WIDE, "a": SharedTile(128, 256, "e2m3", padded=True)},
    "P481.*`wide_k` needs types of 8 bits, .* found `bf16`": {**WIDE, **SINGLE},
    "P481.*needs a dense A": {**WIDE, **PACKED, "sparse": True},
    "P482.*128 rows in a CTA, found 64": {**WIDE, "a": tile(64, 256, "e4m3")},
    "P482.*multiple of 64, found 32": {**WIDE, "a": tile(128, 32, "e4m3"), "b": tile(64, 32, "e4m3")},
    "P483.*one step takes 64 elements of A along K": {**WIDE, "a": tile(128, 256, "e4m3", "32B")},
    "P483.*A of `.kind::ti16` must be K-major": {**SIGNED, "a": SharedTile(128, 64, "s1z4m11", "MN")},
    "P484.*`sfa_lanes` must be 32 without scale factors, found 128": {"sfa_lanes": 128},
    "P484.*must be `ue8m0`, found `ue5m3`": {"scale": "ue5m3"},
    "P485.*D must fit 576 columns": {"b": tile(640, 256, "e4m3")},
}


@pytest.mark.parametrize("says", REFUSED)
def test_what_sm_107_does_not_have_is_refused(says: str) -> None:
    with pytest.raises(PtxkitError, match=says):
        Product(**{"a": A, "b": B, "d": "f32", "target": RUBIN, **REFUSED[says]})


def test_a_block_of_32_for_ue4m3_is_refused_elsewhere() -> None:
    a, b = tile(128, 256, "e2m1"), tile(64, 256, "e2m1")
    with pytest.raises(PtxkitError, match=r"P484.*must be `4X`, found 2X"):
        Product(a, b, "f32", scale="ue4m3", scale_vec="2X")
    product = Product(tile(128, 128, "e2m1"), b, "f32", sparse=True, scale="ue8m0", target="sm_100a")
    assert {one.idesc.fields()["sparsity_version"] for one in plan_mma(product)} == {0}


def test_all_columns_and_more_ranks() -> None:
    assert allocation_columns(576, exclusive=True, target=RUBIN) == 576
    assert allocation_columns(513, exact=False, exclusive=True, target=RUBIN) == 544
    assert allocation_columns(97, exact=False, exclusive=True) == 128
    with pytest.raises(PtxkitError, match=r"P486.*must be a multiple of 32 up to 512 columns, found 576"):
        allocation_columns(576, exclusive=True, target="sm_100a")
    with pytest.raises(PtxkitError, match=r"P486.*has 576 columns, found 577"):
        allocation_columns(577, exact=False, exclusive=True, target=RUBIN)
    with pytest.raises(PtxkitError, match=r"P486.*has 512 columns, found 513 \(allocated as 1024\)"):
        allocation_columns(513, exact=False, target=RUBIN)
    budget = plan_columns({"d": 512, "scale_a": 16, "lut": 2}, exclusive=True, target=RUBIN)
    assert (budget.scale_a, budget.lut, budget.columns) == (512, 528, 544)
    early = plan_commit(reads_of_a=True)
    arrives = "mbarrier::arrive::one.sync_restrict::shared::read::mma::a.shared::cluster"
    assert early.opcode == f"tcgen05.commit.cta_group::1.{arrives}.b64"
    many = plan_commit(2, (0, 31), mask_bits=32)
    assert many.opcode.endswith(".multicast::cluster::32b.b64")
    assert many.mask == 1 << 31 | 1
    with pytest.raises(PtxkitError, match=r"P489.*rank 0 .. 31, found \(32,\)"):
        plan_commit(2, (32,), mask_bits=32)
    with pytest.raises(PtxkitError, match=r"P489.*`mask_bits` must be 16 or 32, found 64"):
        plan_commit(2, (1,), mask_bits=64)


def test_statements_of_sm_107() -> None:
    """Addresses of shared memory have 15 bits; what is emitted has nothing against it."""
    kernels = Kernels(RUBIN, "9.4")

    def body(k, operands) -> None:
        emit.allocation(k, 576, kernels.slot, exclusive=True)
        product = Product(tile(128, 64, "e4m3"), LookedUpTile(64, 64), "f32", target=RUBIN)
        emit.mma(k, plan_mma(product), operands)
        emit.copies(k, plan_scale_copy(128, 16, lanes=128), operands.b, operands.d)
        emit.commit(k, plan_commit(reads_of_a=True), kernels.barrier)
        emit.commit(k, plan_commit(1, (0, 17), mask_bits=32), kernels.barrier)
        emit.deallocation(k, 576, operands.d, exclusive=True)

    kernels.entry("later", body)
    text = ptxkit.write(kernels.builder.module, canonical=True)
    assert [found for found in ptxkit.check(ptxkit.parse(text)) if found.is_error] == []
    assert text.count(", 4, 15;") == 3
    assert "tcgen05.alloc.exclusive.cta_group::1" in text
    plan = plan_mma(Product(tile(128, 64, "e4m3"), LookedUpTile(64, 64), "f32", target=RUBIN))
    with pytest.raises(PtxkitError, match=r"P480.*this product needs `lut`"):
        Kernels(RUBIN, "9.4").entry(
            "bare", lambda k, operands: emit.mma(k, plan, replace(operands, lut=None))
        )


def test_scale_factors_in_lanes_of_their_own_are_copied_by_16() -> None:
    plan = plan_scale_copy(128, 32, lanes=128)
    assert [(one.column, one.source.address) for one in plan] == [(0, 0), (4, 2048)]
    with pytest.raises(PtxkitError, match=r"P488.*multiple of 16 scales, found 128 rows of 8"):
        plan_scale_copy(128, 8, lanes=128)
