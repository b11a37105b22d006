"""Loads and stores in every space, width and vector; addresses, windows, initial values; what is counted."""

from __future__ import annotations

import errno
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulated import STORE_R1, fault, launch, module, threads
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, memory

TID = "    mov.u32 %r20, %tid.x;\n"


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("u8", np.uint8),
        ("s8", np.int8),
        ("u16", np.uint16),
        ("s16", np.int16),
        ("u32", np.uint32),
        ("s32", np.int32),
    ],
)
@pytest.mark.parametrize("space", ["global", "shared", "local", "generic"])
def test_widths_extend(form: str, dtype: type, space: str) -> None:
    """A narrow load extends by its type's sign into a 32-bit register."""
    values = np.random.default_rng(3).integers(0, 2**32, 32, np.uint32).view(np.uint8)
    values = values[: 32 * np.dtype(dtype).itemsize].view(dtype)
    device = Emulator()
    source, out = device.array(values), device.empty(32, np.int32)
    width = np.dtype(dtype).itemsize
    register, load = ("%h1" if width == 1 else "%r2"), f"ld.global.{form} %r2, [%rd1];"
    place = {
        "global": "    mov.u32 %r1, %r2;\n",
        "shared": f"""
    .shared .align 4 .b8 s[128];
    mov.u32 %r3, s;
    mad.lo.u32 %r3, %r20, {width}, %r3;
    st.shared.b{8 * width} [%r3], {register};
    ld.shared.{form} %r1, [%r3];
""",
        "local": f"""
    .local .align 4 .b8 l[16];
    mov.u64 %rd3, l;
    st.local.b{8 * width} [%rd3 + {width}], {register};
    ld.local.{form} %r1, [%rd3 + {width}];
""",
        "generic": f"""
    .shared .align 4 .b8 s[128];
    .local .align 4 .b8 l[16];
    mov.u64 %rd3, s;
    cvta.shared.u64 %rd3, %rd3;
    mad.wide.u32 %rd3, %r20, {width}, %rd3;
    mov.u64 %rd4, l;
    cvta.local.u64 %rd4, %rd4;
    and.b32 %r5, %r20, 1;
    setp.eq.u32 %p1, %r5, 1;
    selp.b64 %rd3, %rd4, %rd3, %p1;
    st.b{8 * width} [%rd3], {register};
    ld.{form} %r1, [%rd3];
""",
    }[space]
    body = TID + f"    ld.param.u64 %rd1, [in];\n    mad.wide.u32 %rd1, %r20, {width}, %rd1;\n    {load}\n"
    body += "    cvt.u16.u32 %h1, %r2;\n" + place + STORE_R1
    if width == 2:
        body = body.replace("[%r3], %r2", "[%r3], %h1").replace("16 [%rd3 + 2], %r2", "16 [%rd3 + 2], %h1")
        body = body.replace("st.b16 [%rd3], %r2", "st.b16 [%rd3], %h1")
    launch(module(body, ".param .u64 in, .param .u64 out"), [source, out], device=device)
    assert np.array_equal(out.numpy(), values.astype(np.int32))


@pytest.mark.parametrize(
    "form", ["v2.b8", "v4.b8", "v2.b16", "v4.u16", "v2.b32", "v4.f32", "v8.b32", "v2.b64", "v4.b64"]
)
def test_vectors(form: str) -> None:
    """A vector loaded and stored the other way round."""
    count, width = int(form[1]), int("".join(c for c in form.split(".")[1] if c.isdigit())) // 8
    kind = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[width]
    registers = [f"%q{i}" for i in range(count)]
    target = "sm_100" if count * width == 32 else "sm_90"
    body = (
        TID
        + f"""
    .reg .{kind} %q<8>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd1, %r20, {count * width}, %rd1;
    mad.wide.u32 %rd2, %r20, {count * width}, %rd2;
    ld.global.{form} {{{", ".join(registers)}}}, [%rd1];
    st.global.{form} [%rd2], {{{", ".join(reversed(registers))}}};
"""
    )
    values = np.random.default_rng(5).integers(0, 256, (48, count, width)).astype(np.uint8)
    device = Emulator()
    out = device.empty(values.shape, np.uint8)
    text = module(body, ".param .u64 in, .param .u64 out", target=target).replace("8.7", "8.8")
    launch(text, [device.array(values), out], block=48, device=device)
    assert np.array_equal(out.numpy(), values[:, ::-1])


def test_quadwords_of_128_bits() -> None:
    body = (
        TID
        + """
    .reg .b128 %q<4>;
    .shared .align 16 .b128 s[32];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd1, %r20, 16, %rd1;
    mad.wide.u32 %rd2, %r20, 16, %rd2;
    mov.u32 %r2, s;
    mad.lo.u32 %r2, %r20, 16, %r2;
    ld.global.b128 %q0, [%rd1];
    mov.b128 {%rd3, %rd4}, %q0;
    mov.b128 %q1, {%rd4, %rd3};
    and.b32 %r3, %r20, 1;
    setp.eq.u32 %p1, %r3, 1;
    @%p1 mov.b128 %q1, %q0;
    st.shared.b128 [%r2], %q1;
    ld.shared.b128 %q2, [%r2];
    st.global.b128 [%rd2], %q2;
"""
    )
    values = np.random.default_rng(5).integers(0, 2**63, (32, 2)).astype(np.uint64)
    device = Emulator()
    out = device.empty((32, 2), np.uint64)
    launch(module(body, ".param .u64 in, .param .u64 out"), [device.array(values), out], device=device)
    expected = np.where(np.arange(32)[:, None] % 2, values, values[:, ::-1])
    assert np.array_equal(out.numpy(), expected)


def test_vector_registers() -> None:
    body = (
        TID
        + """
    .reg .v4 .b32 %v;
    .reg .v2 .u32 %w;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd1, %r20, 16, %rd1;
    mad.wide.u32 %rd2, %r20, 8, %rd2;
    ld.global.v4.b32 %v, [%rd1];
    add.u32 %w.x, %v.w, %v.y;
    mov.b32 %w.y, %v.z;
    st.global.v2.u32 [%rd2], %w;
"""
    )
    values = np.arange(128, dtype=np.uint32).reshape(32, 4) * 3
    device = Emulator()
    out = device.empty((32, 2), np.uint32)
    launch(module(body, ".param .u64 in, .param .u64 out"), [device.array(values), out], device=device)
    assert np.array_equal(out.numpy(), np.stack([values[:, 3] + values[:, 1], values[:, 2]], axis=1))


def test_initial_values() -> None:
    before = """
.global .align 4 .u32 number = 7 * 6;
.global .align 4 .u16 matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
.global .align 8 .u64 pointers[3] = {number, generic(number) + 4, matrix};
.const .align 4 .f32 halves[] = {0.5, 0f40490FDB, -1.0};
.global .align 2 .u8 bytes[8] = {0xFF(number), 0xFF00(number), 1, 2};
.global .v4 .u32 quad = {1, 2, 3, 4};
"""
    body = (
        TID
        + """
    ld.global.u64 %rd1, [pointers];
    ld.global.u32 %r2, [%rd1];
    ld.global.u64 %rd2, [pointers + 8];
    sub.u64 %rd3, %rd2, %rd1;
    cvt.u32.u64 %r3, %rd3;
    ld.global.u16 %r4, [matrix + 10];
    ld.const.u32 %r5, [halves + 4];
    ld.global.u8 %r6, [bytes + 2];
    ld.global.u8 %r7, [bytes + 7];
    ld.global.u32 %r8, [quad + 8];
    mov.u64 %rd4, number;
    cvt.u32.u64 %r9, %rd4;
    and.b32 %r9, %r9, 255;
    ld.global.u8 %r10, [bytes];
    sub.u32 %r9, %r9, %r10;
    ld.param.u64 %rd30, [out];
    st.global.v4.u32 [%rd30], {%r2, %r3, %r4, %r5};
    st.global.v4.u32 [%rd30 + 16], {%r6, %r7, %r8, %r9};
"""
    )
    device = Emulator()
    out = device.empty(8, np.uint32)
    launch(module(body, before=before), [out], device=device)
    assert list(out.numpy()) == [42, 4, 6, 0x40490FDB, 1, 0, 3, 0]


def test_module_variables_keep_their_values() -> None:
    text = module("    atom.global.add.u32 %r1, [count], 1;\n", before=".global .u32 count = 5;")
    text += """
.visible .entry read(.param .u64 out) {
    .reg .b64 %a;
    .reg .b32 %r;
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [count];
    st.global.u32 [%a], %r;
    ret;
}
"""
    device = Emulator()
    loaded, out = device.load(text), device.empty(1, np.uint32)
    for _ in range(3):
        loaded.kernel("k").launch((1,), (32,), [0])
    loaded.kernel("read").launch((1,), (1,), [out])
    assert out.numpy()[0] == 5 + 96


def test_kernel_parameters_by_value() -> None:
    """Other widths than declared, and an address that is taken in 32 bits and widened."""
    body = (
        TID
        + """
    mov.b32 %r2, bytes;
    cvt.u64.u32 %rd1, %r2;
    cvta.param.u64 %rd1, %rd1;
    and.b32 %r3, %r20, 7;
    cvt.u64.u32 %rd2, %r3;
    add.u64 %rd1, %rd1, %rd2;
    ld.u8 %r4, [%rd1];
    ld.param.u16 %r5, [bytes + 2];
    mad.lo.u32 %r1, %r5, 256, %r4;
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(
        module(body + STORE_R1, ".param .align 8 .b8 bytes[16], .param .u64 out"),
        [bytes(range(16)), out],
        device=device,
    )
    assert np.array_equal(out.numpy(), 0x0302 * 256 + (np.arange(32) & 7))


def test_parameters_of_calls_that_are_touched_far_apart() -> None:
    body = """
    .param .align 8 .b8 far[64];
    mov.u32 %r2, 7;
    st.param.u32 [far], %r2;
    st.param.u32 [far + 60], %r2;
    ld.param.u32 %r3, [far];
    ld.param.u32 %r4, [far + 60];
    add.u32 %r1, %r3, %r4;
"""
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(TID + body + STORE_R1, ".param .u64 out"), [out], device=device)
    assert np.array_equal(out.numpy(), np.full(32, 14))


def test_windows() -> None:
    body = """
    .shared .align 4 .b32 s;
    .local .align 4 .b32 l;
    mov.u64 %rd1, s;
    cvta.shared.u64 %rd2, %rd1;
    cvta.to.shared.u64 %rd3, %rd2;
    setp.eq.u64 %p1, %rd1, %rd3;
    selp.u32 %r1, 1, 0, %p1;
    mov.u64 %rd4, l;
    cvta.local.u64 %rd4, %rd4;
    ld.param.u64 %rd5, [out];
    isspacep.shared %p1, %rd2;
    @%p1 add.u32 %r1, %r1, 2;
    isspacep.shared %p1, %rd4;
    @%p1 add.u32 %r1, %r1, 4;
    isspacep.local %p1, %rd4;
    @%p1 add.u32 %r1, %r1, 8;
    isspacep.global %p1, %rd5;
    @%p1 add.u32 %r1, %r1, 16;
    isspacep.global %p1, %rd2;
    @%p1 add.u32 %r1, %r1, 32;
    isspacep.local %p1, %rd5;
    @%p1 add.u32 %r1, %r1, 64;
    cvta.const.u64 %rd6, c;
    isspacep.global %p1, %rd6;
    @%p1 add.u32 %r1, %r1, 128;
    isspacep.const %p1, %rd6;
    @%p1 add.u32 %r1, %r1, 256;
    cvta.param.u64 %rd7, out;
    isspacep.global %p1, %rd7;
    @%p1 add.u32 %r1, %r1, 512;
    isspacep.param %p1, %rd7;
    @%p1 add.u32 %r1, %r1, 1024;
"""
    got = threads(body, before=".const .align 4 .b32 c = 1;")
    assert np.array_equal(got, np.full(32, 1 + 2 + 8 + 16 + 256 + 512 + 1024))


def test_dynamic_shared_memory_starts_at_a_multiple_of_1024() -> None:
    body = "    mov.u32 %r1, dynamic;\n"
    got = threads(body, before=".extern .shared .align 16 .b8 dynamic[];", shared=64)
    assert np.array_equal(got % 1024, np.zeros(32))


def test_stack_of_local_variables() -> None:
    """Each activation has variables of its own; the caller's survive the call."""
    before = """
.func (.reg .u32 result) twice(.reg .u32 n)
{
    .reg .pred %p;
    .reg .b32 %m, %k;
    .local .align 4 .b32 mine;
    st.local.u32 [mine], n;
    setp.eq.u32 %p, n, 0;
    mov.u32 result, 0;
    @%p ret;
    sub.u32 %m, n, 1;
    call (%k), twice, (%m);
    ld.local.u32 %m, [mine];
    mad.lo.u32 result, %m, 2, %k;
    ret;
}
"""
    body = TID + "    and.b32 %r2, %r20, 15;\n    call (%r1), twice, (%r2);\n"
    n = np.arange(64) & 15
    assert np.array_equal(threads(body, block=64, before=before), n * (n + 1))


def test_lanes_that_hit_one_place() -> None:
    device = Emulator()
    out = device.array(np.zeros(4, np.uint32))
    text = module("    ld.param.u64 %rd1, [out];\n    st.global.u32 [%rd1], 9;\n")
    launch(text, [out], block=96, grid=7, device=device)
    assert list(out.numpy()) == [9, 0, 0, 0]


def test_counts() -> None:
    body = (
        TID
        + """
    .shared .align 4 .b32 s[64];
    mov.u32 %r2, s;
    mad.lo.u32 %r2, %r20, 4, %r2;
    st.shared.u32 [%r2], %r20;
    bar.sync 0;
    setp.lt.u32 %p1, %r20, 10;
    @%p1 ld.shared.u32 %r1, [%r2];
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r20, 8, %rd1;
    @%p1 st.global.u64 [%rd1], 0;
"""
    )
    device = Emulator()
    seen: list[tuple[int, int]] = []
    device.progress = lambda done, total: seen.append((done, total))
    launch(module(body), [device.empty(64, np.uint64)], block=64, grid=3, device=device)
    counts = device.counts
    assert counts.instructions == 3 * 64 * 11
    assert counts.stored == {"shared": 3 * 64 * 4, "global": 3 * 10 * 8}
    assert counts.loaded == {"shared": 3 * 10 * 4, "param": 3 * 64 * 8}
    assert counts.barriers == counts.ctas == 3
    assert seen == [(3, 3)]


def test_special_registers() -> None:
    body = """
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %tid.y;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r1, %r2, 1000, %r3;
    mad.lo.u32 %r1, %r4, 100000, %r1;
    mad.lo.u32 %r1, %r5, 10000000, %r1;
    mov.u32 %r6, %laneid;
    mov.u32 %r7, %lanemask_lt;
    popc.b32 %r8, %r7;
    sub.u32 %r6, %r6, %r8;
    add.u32 %r1, %r1, %r6;
    ld.param.u64 %rd1, [out];
    mov.u32 %r9, %tid.x;
    mad.lo.u32 %r10, %r3, %r4, %r9;
    mov.u32 %r11, %ctaid.x;
    mad.lo.u32 %r12, %r2, 2, %r11;
    mad.lo.u32 %r10, %r12, 30, %r10;
    mad.wide.u32 %rd1, %r10, 4, %rd1;
    st.global.u32 [%rd1], %r1;
"""
    device = Emulator()
    out = device.empty((3, 2, 6, 5), np.uint32)
    device.load(module(body)).kernel().launch((2, 3), (5, 6), [out])
    y, _, ty, _ = np.indices((3, 2, 6, 5))
    assert np.array_equal(out.numpy(), 30000000 + 500000 + y * 1000 + ty)


@pytest.mark.parametrize(("target", "total"), [("sm_75", 1280), ("sm_90", 1152)])
def test_sizes_of_shared_memory(target: str, total: int) -> None:
    """As on an H200: the total in whole units, what the system keeps beside what is used."""
    body = """
    .shared .align 16 .b8 static[100];
    mov.u32 %r2, %total_smem_size;
    mov.u32 %r3, %dynamic_smem_size;
    mad.lo.u32 %r1, %r2, 10000, %r3;
    st.shared.b8 [static], 0;
    st.shared.b8 [dynamic], 0;
"""
    device = Emulator()
    out = device.empty(32, np.uint32)
    text = module(body + STORE_R1, before=".extern .shared .align 16 .b8 dynamic[];", target=target)
    launch(text, [out], device=device, shared=1000)
    assert set(out.numpy()) == {total * 10000 + 1000}


def test_special_registers_as_vectors() -> None:
    body = """
    .reg .v4 .u32 tid;
    mov.v4.u32 tid, %tid;
    mov.v4.u32 {%r2, %r3, _, %r5}, %ntid;
    mad.lo.u32 %r1, %r2, 100, tid.x;
    mad.lo.u32 %r1, %r3, 10000, %r1;
    add.u32 %r1, %r1, %r5;
"""
    assert list(threads(body)) == [13200 + i for i in range(32)]


# ---- atomics against one thread at a time


ATOMICS = {
    "add.u32": lambda old, b: (old + b) & 0xFFFFFFFF,
    "min.u32": min,
    "max.u32": max,
    "and.b32": lambda old, b: old & b,
    "or.b32": lambda old, b: old | b,
    "xor.b32": lambda old, b: old ^ b,
    "exch.b32": lambda old, b: b,
    "inc.u32": lambda old, b: 0 if old >= b else old + 1,
    "dec.u32": lambda old, b: b if old == 0 or old > b else old - 1,
}


@settings(max_examples=60, deadline=None)
@given(
    operation=st.sampled_from(sorted(ATOMICS)),
    places=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    space=st.sampled_from(["global", "shared"]),
    small=st.booleans(),
)
def test_atomics_in_the_order_of_lanes(
    operation: str, places: int, seed: int, space: str, small: bool
) -> None:
    random = np.random.default_rng(seed)
    where = random.integers(0, places, 96).astype(np.uint32)
    value = random.integers(0, 5 if small else 2**32, 96).astype(np.uint32)
    begin = random.integers(0, 2**32, 40).astype(np.uint32)
    body = (
        TID
        + f"""
    .shared .align 4 .b32 s[40];
    ld.param.u64 %rd1, [where];
    ld.param.u64 %rd2, [value];
    ld.param.u64 %rd3, [memory];
    mad.wide.u32 %rd4, %r20, 4, %rd1;
    ld.global.u32 %r2, [%rd4];
    mad.wide.u32 %rd4, %r20, 4, %rd2;
    ld.global.u32 %r3, [%rd4];
    mad.wide.u32 %rd5, %r20, 4, %rd3;
    mov.u32 %r4, s;
    mad.lo.u32 %r5, %r20, 4, %r4;
    setp.lt.u32 %p1, %r20, 40;
    @%p1 ld.global.u32 %r6, [%rd5];
    @%p1 st.shared.u32 [%r5], %r6;
    bar.sync 0;
    mad.wide.u32 %rd6, %r2, 4, %rd3;
    mad.lo.u32 %r7, %r2, 4, %r4;
    atom.{space}.{operation} %r1, [{"%rd6" if space == "global" else "%r7"}], %r3;
    bar.sync 0;
    @%p1 ld.shared.u32 %r6, [%r5];
"""
    )
    if space == "shared":
        body += "    @%p1 st.global.u32 [%rd5], %r6;\n"
    device = Emulator()
    memory, out = device.array(begin), device.empty(96, np.uint32)
    text = module(
        body + STORE_R1, ".param .u64 where, .param .u64 value, .param .u64 memory, .param .u64 out"
    )
    launch(text, [device.array(where), device.array(value), memory, out], block=96, device=device)
    held, found = [int(v) for v in begin], []
    for place, b in zip(where, value, strict=True):
        found.append(held[place])
        held[place] = ATOMICS[operation](held[place], int(b))
    assert list(out.numpy()) == found
    assert list(memory.numpy()) == held


def test_compare_and_swap() -> None:
    """All lanes of a warp push themselves on a list, the last one's push succeeding last."""
    body = (
        TID
        + """
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [head];
    mad.wide.u32 %rd3, %r20, 4, %rd1;
AGAIN:
    ld.relaxed.gpu.global.u32 %r2, [%rd2];
    st.relaxed.gpu.global.u32 [%rd3], %r2;
    add.u32 %r3, %r20, 1;
    atom.global.cas.b32 %r4, [%rd2], %r2, %r3;
    setp.ne.u32 %p1, %r4, %r2;
    @%p1 bra AGAIN;
"""
    )
    device = Emulator()
    head, out = device.array(np.zeros(1, np.uint32)), device.array(np.zeros(64, np.uint32))
    launch(module(body, ".param .u64 head, .param .u64 out"), [head, out], block=64, device=device)
    following, at, seen = out.numpy(), int(head.numpy()[0]), set()
    while at:
        seen.add(at - 1)
        at = int(following[at - 1])
    assert seen == set(range(64))


@pytest.mark.parametrize(
    ("form", "dtype", "value", "expected"),
    [
        ("add.noftz.bf16x2", ml_dtypes.bfloat16, "0x3f803f80", [32, 32]),
        ("add.noftz.f16x2", np.float16, "0x3c003c00", [32, 32]),
        ("add.f32", np.float32, "0f3F800000", [32]),
        ("add.f64", np.float64, "0d3FE0000000000000", [16]),
    ],
)
def test_float_atomics(form: str, dtype: type, value: str, expected: list[int]) -> None:
    register = "%rd2" if form.endswith("f64") else "%r2"
    kind = "b64" if form.endswith("f64") else "b32"
    body = f"""
    ld.param.u64 %rd1, [out];
    mov.{kind} {register}, {value};
    red.global.{form} [%rd1], {register};
"""
    body = body.replace("mov.b32 %r2, 0f", "mov.f32 %f2, 0f").replace("mov.b64 %rd2, 0d", "mov.f64 %fd2, 0d")
    body = body.replace("], %r2", "], %f2") if form == "add.f32" else body
    body = body.replace("], %rd2", "], %fd2") if form == "add.f64" else body
    device = Emulator()
    out = device.array(np.zeros(len(expected), dtype))
    launch(module(body), [out], device=device)
    assert list(out.numpy()) == expected


def test_subnormals_in_atomics() -> None:
    """`atom.add.f32` flushes subnormals in global memory and keeps them in shared memory."""
    body = """
    .shared .align 4 .b32 s;
    mov.u32 %r2, 1;
    st.shared.u32 [s], 0;
    ld.param.u64 %rd1, [out];
    mov.b32 %f1, %r2;
    red.global.add.f32 [%rd1], %f1;
    red.shared.add.f32 [s], %f1;
    ld.shared.u32 %r3, [s];
    st.global.u32 [%rd1 + 4], %r3;
"""
    device = Emulator()
    out = device.array(np.zeros(2, np.uint32))
    launch(module(body), [out], block=1, device=device)
    assert list(out.numpy()) == [0, 1]


def test_discard_makes_memory_undefined() -> None:
    body = """
    ld.param.u64 %rd1, [out];
    discard.global.L2 [%rd1], 128;
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 exit;
"""
    device = Emulator()
    fault("P605", module(body), [device.array(np.zeros(64, np.uint32))], device=device)


def test_alloca() -> None:
    """Blocks of each lane's own size, given back and used anew, around a call with local variables."""
    before = """
.func (.reg .u32 result) spoil(.reg .u32 n)
{
    .local .align 4 .b32 mine[8];
    st.local.v4.u32 [mine], {n, n, n, n};
    ld.local.u32 result, [mine + 8];
    ret;
}
"""
    body = (
        TID
        + """
    and.b32 %r2, %r20, 3;
    add.u32 %r2, %r2, 1;
    mul.wide.u32 %rd1, %r2, 16;
    stacksave.u64 %rd2;
    alloca.u64 %rd3, %rd1, 32;
    and.b64 %rd7, %rd3, 31;
    cvt.u32.u64 %r7, %rd7;
    st.local.u32 [%rd3], %r20;
    add.u64 %rd4, %rd3, %rd1;
    st.local.u32 [%rd4 + -4], %r2;
    call (%r3), spoil, (%r20);
    alloca.u64 %rd5, 8;
    st.local.u32 [%rd5], 1000;
    ld.local.u32 %r4, [%rd3];
    ld.local.u32 %r5, [%rd4 + -4];
    stackrestore.u64 %rd2;
    alloca.u64 %rd6, 8, 32;
    sub.u64 %rd6, %rd6, %rd3;
    cvt.u32.u64 %r6, %rd6;
    add.u32 %r1, %r4, %r5;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r6;
    add.u32 %r1, %r1, %r7;
"""
    )
    t = np.arange(64)
    assert np.array_equal(threads(body, block=64, before=before), 2 * t + (t & 3) + 1)


def test_bulk_store_of_zeros() -> None:
    body = (
        TID
        + """
    .shared .align 16 .b64 s[64];
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r20, 16, %r2;
    st.shared.v2.u64 [%r3], {-1, -1};
    bar.sync 0;
    setp.eq.u32 %p1, %r20, 1;
    mov.u64 %rd5, 24;
    @%p1 st.bulk.weak.shared::cta [%r2 + 8], %rd5, 0;
    bar.sync 0;
    ld.shared.v2.u64 {%rd1, %rd2}, [%r3];
    and.b64 %rd1, %rd1, 1;
    and.b64 %rd2, %rd2, 2;
    add.u64 %rd1, %rd1, %rd2;
    cvt.u32.u64 %r1, %rd1;
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    text = module(body + STORE_R1, target="sm_100").replace("8.7", "9.0")
    launch(text, [out], device=device)
    assert list(out.numpy()[:4]) == [1, 0, 3, 3]


@pytest.mark.parametrize("form", ["st.async", "red.async.relaxed.cluster"])
def test_asynchronous_stores_without_an_mbarrier_do_nothing(form: str) -> None:
    """ptxas takes the form, which is not in the manual, and makes no machine code of it."""
    kind = "u32" if form.startswith("st") else "add.u32"
    body = f"""
    .shared .align 16 .b32 s;
    mov.u32 %r2, s;
    st.shared.u32 [%r2], 7;
    {form}.shared::cluster.mbarrier::complete_tx::bytes.{kind} [%r2], %r2;
    ld.shared.u32 %r1, [%r2];
"""
    device = Emulator()
    out = device.empty(1, np.uint32)
    launch(module(body + STORE_R1), [out], block=1, device=device)
    assert out.numpy().tolist() == [7]
    assert [finding.code for finding in device.findings] == ["P222"]


def test_asynchronous_stores_of_fewer_registers_than_they_say() -> None:
    """ptxas stores two registers, of which the statement names one: what the other has is anybody's guess."""
    body = """
    .shared .align 16 .b64 s[2];
    mov.u32 %r2, s;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r2], %r2, [%r2+8];
"""
    with pytest.raises(PtxkitError, match=r"P601.*: 1 register where `.vec` says 2"):
        launch(module(body), [0])


def test_parameters_are_not_stored_to_by_an_address() -> None:
    text = module(TID + "    mov.u64 %rd1, out;\n    cvta.param.u64 %rd1, %rd1;\n    st.u32 [%rd1], %r20;\n")
    assert "param memory, which kernels only read" in fault("P602", text, [0]).message


def test_cache_policies_are_hints() -> None:
    body = (
        TID
        + """
    createpolicy.fractional.L2::evict_last.b64 %rd9, 0f3F800000;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r20, 4, %rd1;
    prefetch.global.L2 [%rd1];
    st.global.L2::cache_hint.u32 [%rd1], %r20, %rd9;
    ld.global.L1::no_allocate.L2::cache_hint.u32 %r1, [%rd1], %rd9;
"""
    )
    assert np.array_equal(threads(body), np.arange(32))


# ---- names that stand for something else


def test_a_function_is_called_by_its_alias() -> None:
    before = """
.visible .func (.reg .b32 r) other();
.visible .func (.reg .b32 r) real() { mov.u32 r, 8; ret; }
.alias other, real;
"""
    assert set(threads("    call (%r1), other, ();\n", before=before)) == {8}
    body = """
    mov.u64 %rd1, other;
    mov.u64 %rd2, real;
    sub.u64 %rd3, %rd1, %rd2;
    cvt.u32.u64 %r1, %rd3;
"""
    assert set(threads(body, before=before)) == {0}


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (".extern .global .u32 there;", "    ld.global.u32 %r1, [there];\n"),
        (".extern .const .u32 there;", "    mov.u64 %rd1, there;\n"),
        (".extern .func there();", "    call there, ();\n"),
    ],
)
def test_what_is_defined_elsewhere_is_refused(before: str, body: str) -> None:
    with pytest.raises(PtxkitError, match="`there`, which is defined elsewhere") as caught:
        threads(body, before=before)
    assert [found.code for found in caught.value.diagnostics] == ["P601"]
    threads("    mov.u32 %r1, 0;\n", before=before)
    runtime = [text.replace("there", "cudaLaunchDeviceV2") for text in (body, before)]
    if ".func" in before:
        with pytest.raises(PtxkitError, match="`cudaLaunchDeviceV2`, dynamic parallelism"):
            threads(runtime[0], before=runtime[1])
    defined = before.replace(".extern", ".visible").replace("();", "() { ret; }")
    declared = "" if ".func" in before else before
    threads("    mov.u32 %r1, 0;\n" + body, before=f"{declared}\n{defined}")


@pytest.mark.parametrize("form", ["atom.global.add.u32 %r1,", "red.global.add.u32"])
def test_atomics_of_the_same_lanes_in_several_warps(form: str) -> None:
    """A guard that hangs on the lane alone is one row for all warps."""
    device = Emulator()
    out = device.array(np.zeros(4, np.uint32))
    body = f"""
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %laneid;
    setp.lt.u32 %p1, %r2, 3;
    @%p1 {form} [%rd1], 1;
"""
    launch(module(body), [out], block=96, grid=5, device=device)
    assert list(out.numpy()) == [45, 0, 0, 0]


def test_strong_accesses_of_the_same_lanes_in_several_warps() -> None:
    """What lane 0 of each warp releases and acquires orders all of these warps, not the first alone."""
    body = (
        TID
        + """
    .shared .align 4 .b32 data[4];
    .shared .align 4 .b32 flag[4];
    mov.u32 %r2, %laneid;
    setp.eq.u32 %p1, %r2, 0;
    shr.u32 %r3, %r20, 5;
    xor.b32 %r4, %r3, 1;
    mov.u32 %r5, data;
    mov.u32 %r6, flag;
    mad.lo.u32 %r7, %r3, 4, %r5;
    mad.lo.u32 %r8, %r3, 4, %r6;
    mad.lo.u32 %r9, %r4, 4, %r5;
    mad.lo.u32 %r10, %r4, 4, %r6;
    @%p1 st.shared.u32 [%r8], 0;
    bar.sync 0;
    @%p1 st.shared.u32 [%r7], %r3;
    @%p1 st.release.cta.shared.u32 [%r8], 1;
AGAIN:
    @%p1 ld.acquire.cta.shared.u32 %r11, [%r10];
    @!%p1 mov.u32 %r11, 1;
    setp.eq.u32 %p2, %r11, 0;
    @%p2 bra AGAIN;
    mov.u32 %r1, 7;
    @%p1 ld.shared.u32 %r1, [%r9];
"""
    )
    got = threads(body, block=128).reshape(4, 32)
    assert np.array_equal(got[:, 0], [1, 0, 3, 2])
    assert np.array_equal(got[:, 1:], np.full((4, 31), 7))


def test_bulk_stores_clear_shared_memory_alone() -> None:
    """PTX ISA 9.7.9.13: a generic address must lie in the window of `.shared::cta`."""
    text = module("    ld.param.u64 %rd1, [out];\n    st.bulk.weak [%rd1], 16, 0;\n", target="sm_100a")
    device = Emulator()
    found = fault("P602", text, [device.array(np.zeros(64, np.uint8))], device=device)
    assert "clears global memory" in found.message


RESERVED = """
    mov.u32 %r2, %reserved_smem_offset_1;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r3, 4, %r2;
    ld.shared.u32 %r5, [%r4];
    add.u32 %r5, %r5, %r3;
    st.shared.u32 [%r4], %r5;
    bar.sync 0;
    xor.b32 %r6, %r4, 4;
    ld.shared.u32 %r1, [%r6];
    mov.u32 %r7, own;
    st.shared.u32 [own], %r7;
"""


def test_shared_memory_kept_for_cooperative_groups() -> None:
    """Zero when a CTA starts, and reachable where a kernel asks where it is; its own follows as ever."""
    before = ".shared .align 4 .b32 own;"
    found = threads(RESERVED, block=64, grid=3, before=before)
    assert found.tolist() == [number ^ 1 for number in range(64)] * 3
    size = threads(RESERVED + "    mov.u32 %r1, %total_smem_size;\n", before=before)
    assert set(size.tolist()) == {128}
    place = RESERVED.replace("%reserved_smem_offset_1", "64")
    assert "out of bounds" in fault("P602", module(place + STORE_R1, before=before), [0]).message
    below = RESERVED.replace("%tid.x", "-4")
    assert "out of bounds" in fault("P602", module(below + STORE_R1, before=before), [0]).message


def test_devices_in_cycles_do_not_use_up_the_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device reserves more addresses than a process has for some hundred or thousand; who is short of them
    has the garbage collected."""
    mapped, collected = memory._map, []

    def short(size: int) -> Any:
        if not collected:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        return mapped(size)

    monkeypatch.setattr(memory, "_map", short)
    monkeypatch.setattr(memory.gc, "collect", lambda: collected.append(True))
    assert memory.reserve(4096).nbytes == 4096
    assert collected == [True]
