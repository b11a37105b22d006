"""Plans as PTX: the builder has nothing against them, and ptxas takes every one for sm_100a."""

import itertools

import pytest
from assembler import log_of

import ptxkit
from ptxkit.asm.build import Builder
from ptxkit.descriptors import ZeroColumnMask
from ptxkit.diagnostics import PtxkitError
from ptxkit.layouts import SharedTile
from ptxkit.tcgen05 import (
    Product,
    TensorTile,
    emit,
    plan_commit,
    plan_metadata_copy,
    plan_mma,
    plan_move,
    plan_scale_copy,
)


class Kernels:
    """A module of entries, with shared variables and registers that plans read."""

    def __init__(self, target="sm_100a", version="8.8"):
        self.target = target
        self.builder = Builder(target, version=version)
        self.buffer = self.builder.shared("b8", "buffer[65536]", align=1024)
        self.barrier = self.builder.shared("b64", "barrier", align=8)
        self.slot = self.builder.shared("b32", "slot", align=4)

    def entry(self, name, body):
        with self.builder.entry(name) as k:
            zero = k.mov.b32(..., 0)
            smem = k.mov.b32(..., self.buffer)
            never = k.setp.ne.b32(..., 0, 0)
            operands = emit.ProductOperands(zero, smem, smem, never, zero, zero, zero, zero)
            body(k, operands)
            k.ret()

    def accepted(self):
        text = ptxkit.write(self.builder.module, canonical=True)
        errors, _ = log_of(text, arch=self.target)
        assert errors == "", errors
        found = ptxkit.check(ptxkit.parse(text))
        assert [one for one in found if one.is_error] == []
        return text


def products():
    """A product of every form of the instruction."""
    for kind, (a, b, d) in {
        "f16": ("bf16", "bf16", "f32"), "tf32": ("tf32", "tf32", "f32"), "i8": ("s8", "u8", "s32"),
        "f8f6f4": ("e4m3", "e5m2", "f16"),
    }.items():  # fmt: skip
        k = 2048 // {"f16": 16, "tf32": 32}.get(kind, 8)
        for cta, sparse, ws, tensor in itertools.product((1, 2), (False, True), (False, True), (False, True)):
            if ws and cta == 2:
                continue
            stored = k // 2 if sparse else k
            first = TensorTile(128, stored, a) if tensor else SharedTile(128, stored, a, swizzle="none")
            second = SharedTile(64, k, b, swizzle="none")
            yield Product(first, second, d, cta_group=cta, sparse=sparse, ws=ws)
    for a, scale, vector, sparse, cta in itertools.product(
        ("e4m3", "e2m1"), ("ue8m0", "ue4m3"), (None, "4X"), (False, True), (1, 2)
    ):
        if a == "e4m3" and (scale, vector) != ("ue8m0", None):
            continue
        tiles = [SharedTile(rows, k, a, swizzle="64B") for rows, k in ((128, 512 >> sparse), (64, 512))]
        yield Product(*tiles, "f32", cta_group=cta, sparse=sparse, scale=scale, scale_vec=vector)


@pytest.mark.parametrize("cta_group", [1, 2])
def test_ptxas_takes_every_product(cta_group):
    """One value of `.cta_group` to a kernel, and to a module of these."""
    kernels, count = Kernels(), 0
    for product in products():
        if product.cta_group == cta_group:
            plan = plan_mma(product)
            kernels.entry(f"product{count}", lambda k, operands, plan=plan: emit.mma(k, plan, operands))
            count += 1
    assert count >= 15
    text = kernels.accepted()
    assert text.count("tcgen05.mma") == sum(len(plan_mma(p)) for p in products() if p.cta_group == cta_group)


def test_the_statements_of_a_product():
    product = Product(SharedTile(128, 64, "bf16"), SharedTile(64, 64, "bf16"), "f32")
    kernels = Kernels()
    kernels.entry("one", lambda k, operands: emit.mma(k, plan_mma(product), operands))
    lines = [line.strip() for line in kernels.accepted().splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("tcgen05.mma"))
    assert lines[first - 5 : first + 1] == [
        "add.u32 %u32_2, %u32_0, 0x10000;",
        "mov.b64 %b64_0, {%u32_2, 0x40004040};",
        "add.u32 %u32_3, %u32_1, 0x10000;",
        "mov.b64 %b64_1, {%u32_3, 0x40004040};",
        "mov.b32 %b32_2, 0x08100490;",
        "tcgen05.mma.cta_group::1.kind::f16 [%b32_0], %b64_0, %b64_1, %b32_2, %pred_0;",
    ]


@pytest.mark.parametrize("scale", ["ue8m0", "ue4m3"])
def test_ptxas_takes_products_with_k_of_96(scale):
    """The leading address is the buffer's, as the start address is: both halves of the low word."""
    product = Product(
        SharedTile(128, 768, "e2m1"), SharedTile(64, 768, "e2m1"), "f32", cta_group=2, scale=scale, k96=True
    )
    plan = plan_mma(product)
    assert [one.idesc.k for one in plan] == [96] * 8
    kernels = Kernels("sm_103a")
    kernels.entry("k96", lambda k, operands: emit.mma(k, plan, operands))
    text = kernels.accepted()
    block = ".block_scale.block32" if scale == "ue8m0" else ".block_scale.block16"
    assert sum(word.endswith(block) for word in text.split()) == 8
    assert text.count("mad.lo.u32") == 16


def test_ptxas_takes_a_zero_column_mask():
    product = Product(SharedTile(32, 64, "bf16"), SharedTile(64, 64, "bf16"), "f32", ws=True)
    mask = ZeroColumnMask(non_zero_mask=True, skip_span=2, use_span=3)
    kernels = Kernels()
    kernels.entry("masked", lambda k, operands: emit.mma(k, plan_mma(product), operands, mask))
    assert mask.hex in kernels.accepted()
    far = mask.replace(shift=17)
    with pytest.raises(PtxkitError, match=r"P440.*must be 0 .. 16 where M = 32, found 17"):
        Kernels().entry("far", lambda k, operands: emit.mma(k, plan_mma(product), operands, far))


@pytest.mark.parametrize("packed", [False, True])
def test_ptxas_takes_every_move(packed):
    kernels = Kernels()

    def body(k, operands):
        for shape, columns in itertools.product(("32x32b", "16x64b", "16x128b", "16x256b"), (16, 48)):
            held = emit.load(k, plan_move("ld", columns, shape, packed), operands.d)
            assert len(held) == columns // (2 if packed else 1)
            emit.store(k, plan_move("st", columns, shape, packed), operands.d, held)

    kernels.entry("moves", body)
    assert kernels.accepted().count("tcgen05.wait::ld") == 8


def test_ptxas_takes_copies_allocation_and_commits():
    kernels = Kernels()

    def one(k, operands):
        emit.allocation(k, 64, kernels.slot)
        taddr = k.ld.shared.b32(..., k[kernels.slot])
        emit.copies(k, plan_scale_copy(256, 8), operands.b, taddr)
        emit.copies(k, plan_metadata_copy(8), operands.b, taddr)
        emit.commit(k, plan_commit(), kernels.barrier)
        emit.deallocation(k, 64, taddr)

    kernels.entry("one", one)
    kernels.accepted()
    pair = Kernels()

    def both(k, operands):
        emit.copies(k, plan_scale_copy(128, 4, 2), operands.b, operands.d)
        emit.commit(k, plan_commit(2, (0, 1)), pair.barrier)

    pair.entry("pair", both)
    pair.accepted()


def test_operands_that_are_missing_are_named():
    scaled = Product(SharedTile(128, 128, "e4m3"), SharedTile(64, 128, "e4m3"), "f32", scale="ue8m0")

    def body(k, operands):
        bare = emit.ProductOperands(operands.d, operands.a, operands.b, operands.accumulate)
        with pytest.raises(PtxkitError, match=r"P480.*this product needs `scale_a`"):
            emit.mma(k, plan_mma(scaled), bare)
        with pytest.raises(PtxkitError, match=r"P487.*these stores move 16 registers, found 1"):
            emit.store(k, plan_move("st", 16), operands.d, [operands.d])

    Kernels().entry("bare", body)
