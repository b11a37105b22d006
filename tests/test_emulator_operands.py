"""Operands as ptxas takes them beyond the manual: sums of a register and a constant, `_` and numbers in
vectors, vectors of one element, a 64-bit special register in 32 bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from both_devices import Both, device, gpu
from emulated import fault, module

from ptxkit.emulator import Emulator, jit

_ = device, gpu

LANES = 32


def results(device: Any, body: str, block: int = LANES) -> np.ndarray:
    """Four words of each thread: `%r1` to `%r4`. `%r5` to `%r7`, `%rd5`, `%h5` and `%p5` differ in each."""
    text = module(
        f"""
    ld.param.u64 %rd30, [out];
    mov.u32 %r20, %tid.x;
    mad.wide.u32 %rd30, %r20, 16, %rd30;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
    mad.lo.u32 %r5, %r20, 0x9e3779b9, 0xfffffff0;
    mad.lo.u32 %r6, %r5, 0x85ebca6b, 7;
    and.b32 %r7, %r20, 15;
    mov.b64 %rd5, {{%r6, %r5}};
    cvt.u16.u32 %h5, %r6;
    setp.gt.u32 %p5, %r6, %r5;
{body}
    st.global.v4.u32 [%rd30], {{%r1, %r2, %r3, %r4}};
""",
        before=".global .align 16 .b8 place[512];\n"
        ".shared .align 16 .b8 shared[512];\n"
        ".global .align 16 .u32 numbers[4] = {11, 22, 33, 44};\n",
    )
    out: Any = device.array(np.zeros((block, 4), np.uint32))
    device.load(text).kernel("k").launch(1, block, [out])
    return out.numpy()


SUMS = [
    "add.u32 %r1, %r5+1, %r6;",
    "sub.s32 %r1, %r6, %r5+-7;",
    "mul.lo.u32 %r1, %r5+3, %r6+4294967295;",
    "mad.lo.u32 %r1, %r5+1, %r6+2, %r7+3;",
    "div.u32 %r1, %r5+1, %r7+1;",
    "and.b32 %r1, %r5+8, %r6+(1+2);",
    "shl.b32 %r1, %r5+1, %r7+2;",
    "shr.s32 %r1, %r5+1, %r7+2;",
    "setp.lt.s32 %p1, %r5+1, %r6+1; selp.u32 %r1, %r5+1, %r6+WARP_SZ, %p1;",
    "popc.b32 %r1, %r5+5000000000; clz.b32 %r2, %r7+1; not.b32 %r3, %r5+1+1; neg.s32 %r4, %r6+9;",
    "mov.u32 %r1, %r5+4; mov.b32 %r2, %r6+0;",
    "mul.wide.u32 %rd1, %r5+1, %r6+2; mov.b64 {%r1, %r2}, %rd1; mov.b64 {%r3, %r4}, %rd5+0x1ffffffff;",
    "cvt.u64.u32 %rd1, %r5+77; cvt.s64.s32 %rd2, %r6+77; mov.b64 {%r1, %r2}, %rd1; mov.b64 {%r3, %r4}, %rd2;",
    "cvt.u32.u8 %r1, %r5+250; cvt.u32.u16 %r2, %h5+65000; mul.wide.u16 %r3, %h5+3, %h5;",
    "add.u16 %h1, %h5+3, %h5; shr.u16 %h2, %h5+1, 3; mov.b32 %r1, {%h1, %h2};",
    "add.u64 %rd1, %rd5+0x100000000000, %rd5+1; mov.b64 {%r1, %r2}, %rd1;",
    "cvt.rn.f32.u32 %f1, %r5+1; mov.b32 %r1, %f1;",
    "lop3.b32 %r1, %r5+1, %r6+2, %r7+3, 0x96; prmt.b32 %r2, %r5+1, %r6, %r7+0x3210;",
    "bfe.u32 %r1, %r5+1, %r7+2, 5; bfi.b32 %r2, %r5+1, %r6, %r7+1, 4; shf.l.wrap.b32 %r3, %r5+1, %r6, %r7+9;",
    "add.cc.u32 %r1, %r5+1, %r6+1; addc.u32 %r2, %r5+2, 0;",
    "@%p5 add.u32 %r1, %r5+1, %r6; @!%p5 xor.b32 %r1, %r6+1, 5;",
    "shfl.sync.idx.b32 %r1, %r5+1, %r7+3, 31, -1;",
    "vote.sync.ballot.b32 %r1, %p5, %r3+0xffffffff; match.any.sync.b32 %r2, %r7+1, -1;"
    " redux.sync.add.s32 %r3, %r5+1, -1;",
    "bar.sync %r3+2; bar.sync %r3+1, %r4+32; mov.u32 %r1, 5;",
    "mad.wide.u32 %rd1, %r20, 16, 0; mov.u64 %rd2, place; add.u64 %rd1, %rd1, %rd2;"
    " st.global.u32 [%rd1], %r5+3; atom.global.add.u32 %r1, [%rd1], %r6+1;"
    " red.global.xor.b32 [%rd1], %r7+1; ld.global.u32 %r2, [%rd1];",
    "dp4a.u32.u32 %r1, %r5+1, %r6, %r7+1; sad.u32 %r2, %r5+1, %r6, %r7;"
    " mul24.lo.u32 %r3, %r5+1, %r6; fns.b32 %r4, %r5+1, 0, 1;",
    "and.b32 %r8, %r20, 1; TABLE: .branchtargets ONE, ONE, TWO; brx.idx %r8+1, TABLE;"
    " ONE: mov.u32 %r1, 1; bra LAST;"
    " TWO: mov.u32 %r1, 2; bra LAST; LAST: mov.u32 %r2, 3;",
]

SUM = re.compile(r"%(rd|r|h)(\d+)\+([^,;\s]+)")
TEMPORARY = {"r": ("u32", "%r1{}"), "rd": ("u64", "%rd1{}"), "h": ("u16", "%h1{}")}


def worked_out(text: str) -> str:
    """Statements with additions before them in place of their sums."""
    found = []
    for statement in text.split(";"):
        for number, match in enumerate(SUM.finditer(statement)):
            kind, name = TEMPORARY[match[1]]
            found.append(f"add.{kind} {name.format(number)}, %{match[1]}{match[2]}, {match[3]}")
            statement = statement.replace(match[0], name.format(number), 1)
        found.append(statement)
    return ";\n".join(found)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "jit"])
@pytest.mark.parametrize("text", SUMS)
def test_a_register_plus_a_constant(monkeypatch: pytest.MonkeyPatch, text: str, compiled: bool) -> None:
    """An addition in the register's own width, before all else."""
    if compiled:
        if not jit.available():
            pytest.skip("the `jit` extra is not installed")
        monkeypatch.setattr(jit, "WORTH", 0)
    found = results(Emulator(jit=compiled), text)
    assert np.array_equal(found, results(Emulator(jit=compiled), worked_out(text)))
    assert found.any()


def test_undefined_bits_go_through_a_sum() -> None:
    """Upwards from the lowest."""
    body = """
    mov.u32 %r2, %tid.x;
    bfi.b32 %r3, %r4, %r2, 8, 8;
    and.b32 %r5, %r3+1, MASK;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra DONE;
DONE:
"""
    found = fault("P605", module(body.replace("MASK", "0x100"), ""), [])
    assert any("%r4" in note for note in found.notes)
    body = body.replace("8, 8;", "8, 8; shl.b32 %r3, %r3, 4; ")
    Emulator().load(module(body.replace("MASK", "0xf"), "")).kernel("k").launch(1, 32, [])


SAME = {
    "loads": (
        "ld.global.v4.u32 {_, %r1, _, %r2}, [numbers]; ld.global.v2.u64 {_, %rd1}, [numbers];"
        " ld.global.u32 {%r4}, [numbers]; cvt.u32.u64 %r3, %rd1;",
        "ld.global.v4.u32 {%r8, %r1, %r9, %r2}, [numbers]; ld.global.v2.u64 {%rd2, %rd1}, [numbers];"
        " ld.global.u32 %r4, [numbers]; cvt.u32.u64 %r3, %rd1;",
    ),
    "stores": (
        "st.global.v4.b32 [%rd8], {%r5, 1.5, -2, 0f3f800000}; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd8];",
        "mov.b32 %r8, 0f3fc00000; mov.b32 %r9, -2; mov.b32 %r10, 0f3f800000;"
        " st.global.v4.b32 [%rd8], {%r5, %r8, %r9, %r10}; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd8];",
    ),
    "narrow stores": (
        "st.global.v4.u8 [%rd8], {1, %h5, -1, 300}; st.global.v2.u16 [%rd8+4], {WARP_SZ, %h5};"
        " st.global.u32 [%rd8+8], {%r6}; ld.global.v2.u32 {%r1, %r2}, [%rd8]; ld.global.u32 %r3, [%rd8+8];",
        "mov.u16 %h1, 1; mov.u16 %h2, 255; mov.u16 %h3, 44; mov.u16 %h4, 32;"
        " st.global.v4.u8 [%rd8], {%h1, %h5, %h2, %h3}; st.global.v2.u16 [%rd8+4], {%h4, %h5};"
        " st.global.u32 [%rd8+8], %r6; ld.global.v2.u32 {%r1, %r2}, [%rd8]; ld.global.u32 %r3, [%rd8+8];",
    ),
    "moves": (
        "mov.b64 %rd1, {%r5, 7}; mov.b64 {_, %r1}, %rd1; mov.b64 {%r2, _}, %rd5; mov.b32 %r3, {%h5, 9};"
        " mov.b64 {_, %h1, _, _}, %rd5; cvt.u32.u16 %r4, %h1;",
        "mov.u32 %r1, 7; mov.b64 {%r2, %r8}, %rd5; mov.u16 %h2, 9; mov.b32 %r3, {%h5, %h2};"
        " mov.b64 {%h3, %h1, %h4, %h6}, %rd5; cvt.u32.u16 %r4, %h1;",
    ),
    "logic": (
        "lop3.or.b32 _|%p1, %r5, %r6, %r7, 0x96, %p5; lop3.b32 _, %r5, %r6, %r7, 0x40;"
        " lop3.and.b32 %r1|%p2, %r5, %r6, %r7, 0x96, !%p5; selp.u32 %r2, 1, 2, %p1;",
        "lop3.or.b32 %r8|%p1, %r5, %r6, %r7, 0x96, %p5;"
        " lop3.and.b32 %r1|%p2, %r5, %r6, %r7, 0x96, !%p5; selp.u32 %r2, 1, 2, %p1;",
    ),
    "warps": (
        "match.all.sync.b32 _|%p1, %r3, -1; match.all.sync.b32 %r1|_, %r3, -1;"
        " shfl.sync.down.b32 %r8|%p2, %r5, 3, 31, -1; shfl.sync.up.b32 %r2|_, %r5, 3, 0, -1;"
        " elect.sync _|%p3, -1; setp.lt.u32 _|%p4, %r5, %r6; selp.u32 %r3, 1, 2, %p1;"
        " @%p2 or.b32 %r3, %r3, 4; @%p3 or.b32 %r3, %r3, 8; @%p4 or.b32 %r3, %r3, 16;",
        "match.all.sync.b32 %r1|%p1, %r3, -1;"
        " shfl.sync.down.b32 %r8|%p2, %r5, 3, 31, -1; shfl.sync.up.b32 %r2|%p6, %r5, 3, 0, -1;"
        " elect.sync %r9|%p3, -1; setp.lt.u32 %p6|%p4, %r5, %r6; selp.u32 %r3, 1, 2, %p1;"
        " @%p2 or.b32 %r3, %r3, 4; @%p3 or.b32 %r3, %r3, 8; @%p4 or.b32 %r3, %r3, 16;",
    ),
    "atomics": (
        "st.global.v4.u32 [%rd8], {0, 0, 0, 0}; mov.f32 %f2, 0f40200000;"
        " atom.global.add.v2.f32 {%f1, _}, [%rd8], {%f2, 1.5}; atom.global.add.v2.f32 _, [%rd8], {%f2, %f2};"
        " atom.global.add.u32 _, [%rd8+8], %r6; red.global.add.v2.f32 [%rd8], {1.0, %f2};"
        " ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd8];",
        "mov.b32 %r1, 0f40c00000; mov.b32 %r2, 0f40d00000; mov.u32 %r3, %r6;",
    ),
    "special registers": (
        "mov.u32 %r1, %gridid; mov.u64 %rd1, %gridid; cvt.u32.u64 %r2, %rd1; sub.u32 %r1, %r1, %r2;"
        " mov.v4.u32 {%r2, _, _, _}, %ntid; mov.b32 %r3, 1;",
        "mov.u32 %r1, 0; mov.u32 %r2, %ntid.x; mov.u32 %r3, 1;",
    ),
    "matrices": (
        "mov.b32 %f1, 0f3f800000; mov.b32 %r8, 0x3c004000;"
        " mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, _, %f3, _}, {%r8, 0x3c003c00}, {%r8},"
        " {0.5, 0f3f800000, %f1, 2}; mov.b32 %r1, %f2; mov.b32 %r2, %f3;",
        "mov.b32 %f1, 0f3f800000; mov.b32 %r8, 0x3c004000; mov.b32 %r9, 0x3c003c00;"
        " mov.b32 %f4, 0f3f000000; mov.b32 %f5, 2;"
        " mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f6, %f3, %f7}, {%r8, %r9}, {%r8},"
        " {%f4, %f1, %f1, %f5}; mov.b32 %r1, %f2; mov.b32 %r2, %f3;",
    ),
    "matrices in shared memory": (
        "mov.u32 %r8, shared; mad.lo.u32 %r8, %r20, 16, %r8; st.shared.v4.u32 [%r8], {%r5, 1, %r6, %r7};"
        " bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {_, %r1, _, %r2}, [%r8];"
        " ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r8]; bar.warp.sync -1;"
        " stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], {%r5, 5}; bar.warp.sync -1;"
        " ld.shared.u32 %r4, [%r8];",
        "mov.u32 %r8, shared; mad.lo.u32 %r8, %r20, 16, %r8; mov.u32 %r9, 1;"
        " st.shared.v4.u32 [%r8], {%r5, %r9, %r6, %r7}; mov.u32 %r13, 5;"
        " bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r1, %r12, %r2}, [%r8];"
        " bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], {%r5, %r13}; bar.warp.sync -1;"
        " ld.shared.u32 %r4, [%r8];",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_sinks_numbers_and_single_elements(device: Emulator | Both, name: str) -> None:
    """What registers of one's own and in place of them give."""
    spelled, plain = SAME[name]
    place = "mov.u64 %rd8, place; mad.wide.u32 %rd8, %r20, 16, %rd8;\n"
    found = results(device, place + spelled)
    assert np.array_equal(found, results(device, place + plain))
    assert found.any()
