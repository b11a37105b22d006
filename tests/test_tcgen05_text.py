"""Plans as PTX: ptxas takes every one of them for sm_100a."""

import itertools

import pytest
from assembler import log_of

from ptxkit.descriptors import ZeroColumnMask
from ptxkit.layouts import SharedTile
from ptxkit.tcgen05 import (
    Product,
    TensorTile,
    plan_commit,
    plan_metadata_copy,
    plan_mma,
    plan_move,
    plan_scale_copy,
    text,
)

HEAD = """\
.version 8.8
.target sm_100a
.address_size 64
.shared .align 1024 .b8 buffer[65536];
.shared .align 8 .b64 barrier;
.shared .align 4 .b32 slot;
"""


def entry(name, body):
    """An entry around statements, with the registers that plans read."""
    names = ("d", "a", "b", "scale_a", "scale_b", "metadata", "shared", "bar", "taddr")
    registers = ", ".join(f"%{name}" for name in names)
    lines = [f".reg .b32 {registers}, %r<128>;", ".reg .pred %accumulate;", "setp.ne.b32 %accumulate, 0, 0;"]
    lines += [
        "mov.u32 %shared, buffer;",
        "mov.u32 %bar, barrier;",
        "mov.u32 %a, %shared;",
        "mov.u32 %b, %shared;",
    ]
    lines += [f"mov.u32 %{name}, 0;" for name in ("d", "scale_a", "scale_b", "metadata", "taddr")]
    lines += [f"mov.b32 %r{i}, {i};" for i in range(128)]
    return "\n".join([f".visible .entry {name}()", "{", *lines, *body, "ret;", "}", ""])


def accepted(entries, arch="sm_100a"):
    errors, _ = log_of(HEAD + "\n".join(entries), arch=arch)
    assert errors == "", errors


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
        first = SharedTile(128, 256 if sparse else 512, a, swizzle="64B")
        yield Product(
            first,
            SharedTile(64, 512, a, swizzle="64B"),
            "f32",
            cta_group=cta,
            sparse=sparse,
            scale=scale,
            scale_vec=vector,
        )


def test_ptxas_takes_every_product():
    by_group = {1: [], 2: []}
    for number, product in enumerate(products()):
        by_group[product.cta_group].append(entry(f"product{number}", text.mma(plan_mma(product))))
    assert len(by_group[1]) + len(by_group[2]) >= 30
    for entries in by_group.values():
        accepted(entries)


def test_ptxas_takes_a_zero_column_mask():
    product = Product(SharedTile(32, 64, "bf16"), SharedTile(64, 64, "bf16"), "f32", ws=True)
    mask = ZeroColumnMask(non_zero_mask=True, skip_span=2, use_span=3)
    accepted([entry("masked", text.mma(plan_mma(product), mask=mask))])


@pytest.mark.parametrize("packed", [False, True])
def test_ptxas_takes_every_move(packed):
    entries = []
    for operation, shape, columns in itertools.product(
        ("ld", "st"), ("32x32b", "16x64b", "16x128b", "16x256b"), (16, 48)
    ):
        plan = plan_move(operation, columns, shape, packed)
        count = sum(plan[-1].registers)
        body = text.moves(plan, "%taddr", [f"%r{i}" for i in range(count)])
        entries.append(entry(f"{operation}_{shape}_{columns}", body))
    accepted(entries)


def test_ptxas_takes_copies_allocation_and_commits():
    body = [
        *text.allocation(64, "slot"),
        "ld.shared.b32 %taddr, [slot];",
        *text.copies(plan_scale_copy(256, 8), "%shared", "%taddr"),
        *text.copies(plan_metadata_copy(8), "%shared", "%taddr"),
        *text.commit(plan_commit(), "%bar"),
        *text.deallocation(64, "%taddr"),
    ]
    pair = [
        *text.commit(plan_commit(2, (0, 1)), "%bar"),
        *text.copies(plan_scale_copy(128, 4, 2), "%shared", "%taddr"),
    ]
    accepted([entry("one", body)])
    accepted([entry("pair", pair)])


def test_a_wrong_plan_would_be_noticed():
    """The assembler does look at these statements: a modifier that does not exist is an error."""
    product = Product(SharedTile(128, 64, "bf16"), SharedTile(64, 64, "bf16"), "f32")
    body = [line.replace("kind::f16", "kind::f15") for line in text.mma(plan_mma(product))]
    errors, _ = log_of(HEAD + entry("wrong", body), arch="sm_100a")
    assert "f15" in errors or "rror" in errors
