"""Kernels of the arithmetic that came after PTX ISA 9.0, with the `jit` extra and without."""

from __future__ import annotations

import numpy as np
import pytest
from pure_operations import run

from ptxkit.emulator import Emulator, jit
from ptxkit.emulator.jit import stretch

WIDTHS = {"%r": 32, "%d": 64, "%h": 16, "%q": 8, "%f": 32}
STATEMENTS = [
    "add.sat.u8x4 %r9, %r1, %r2",
    "sub.s8x4 %r9, %r1, %r2",
    "neg.s8x4 %r9, %r1",
    "max.relu.s8x4 %r9, %r1, %r2",
    "add.sat.s16x2 %r9, %r1, %r2",
    "set.ge.s16x2 %r9, %r1, %r2",
    "add.rn.e4m3x4.e2m1x4 %r9, %h1, %r2",
    "sub.satfinite.e5m2x4.ue8m0x4 %r9, %r1, %r2",
    "mul.rn.e4m3x4.e3m2x4.e2m1p4x4 %r9, %r1, %r2",
    "fma.rn.e5m2x4.e5m2x4.e2m3x4 %r9, %r1, %r2, %r3",
    "add.rm.f32x2.bf16x2.f32x2 %d9, %r1, %d2",
    "fma.rp.f32x2.f16x2.f32x2.f32x2 %d9, %r1, %d2, %d3",
    "mul.rz.ftz.f16x2.f32x2.f32x2 %r9, %d1, %d2",
    "sub.rz.bf16x2.f32x2.f32x2 %r9, %d1, %d2",
    "mul.f16x2.f16x2.bf16x2 %r9, %r1, %r2",
    "cvt.rn.satfinite.e2m1x2.f16x2 %q9, %r1",
    "cvt.rz.satfinite.relu.e5m2x2.f32 %h9, %f1, %f2",
    "cvt.rn.satfinite.pzo.scaled::n1::ue8m0.e4m3x2.bf16x2 %h9, %r1, %q1",
    "cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r9, %q1, %h1",
    "cvt.rn.satfinite.s2f6x2.f32 %h9, %f1, %f2",
    "cvt.rn.satfinite.relu.scaled::n2::ue8m0.bf16x2.s2f6x2 %r9, %h1, %h2",
    "cvt.rp.ue5m3x2.f32 %h9, %f1, %f2",
    "cvt.rn.f16x2.ue5m3x2 %r9, %h1",
    "cvt.rz.pzo.tf32.f32 %r9, %f1",
    "cvt.rn.relu.pzo.bf16x2.f32 %r9, %f1, %f2",
    "spdecompress.b16.b4.sp::2:16.x1 {%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, {%r1}, {%r2}",
]
HEAD = """
.version 9.4
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b8 %q<20>;
    .reg .b16 %h<20>;
    .reg .b32 %r<20>;
    .reg .f32 %f<20>;
    .reg .b64 %d<20>, %at, %to;
    .reg .b32 %thread, %turn;
    .reg .pred %again;
    mov.u32 %thread, %tid.x;
    ld.param.u64 %at, [in];
    ld.param.u64 %to, [out];
    mad.wide.u32 %at, %thread, 8, %at;
    mad.wide.u32 %to, %thread, 4, %to;
    mov.u32 %turn, 0;
TURN:
"""


NARROW = "add.rn.e sub.satfinite.e mul.rn.e fma.rn.e"
"""How those begin that sm_100a has, and sm_107a has not."""


def operands(statement: str) -> tuple[list[str], list[str]]:
    """The registers that a statement writes and reads."""
    text = statement.partition(" ")[2]
    if "{" in text:
        vectors = [part.strip(" ,{").split(", ") for part in text.split("}")[:-1]]
        return vectors[0], [name for vector in vectors[1:] for name in vector]
    first, *rest = text.split(", ")
    return [first], rest


def kernel(statement: str) -> str:
    """Each thread takes 16 turns: operands from memory, the statement, its results to memory."""
    results, sources = operands(statement)
    target = "sm_100a" if statement.startswith(tuple(NARROW.split())) else "sm_107a"
    lines = [HEAD.format(target=target)]
    for place, name in enumerate(sources):
        lines.append(f"    ld.global.b{WIDTHS[name[:2]]} {name}, [%at + {256 * place}];")
    lines.append(f"    {statement};")
    for place, name in enumerate(results):
        width = WIDTHS[name[:2]]
        if width == 64:
            lines.append(f"    mov.b64 {{%r17, %r18}}, {name};\n    st.global.b32 [%to + 128], %r18;")
        else:
            lines.append(f"    cvt.u32.u{width} %r17, {name};")
        lines.append(f"    st.global.b32 [%to + {128 * place}], %r17;")
    lines += ["    add.u64 %at, %at, 2048;", "    add.u64 %to, %to, 2048;", "    add.u32 %turn, %turn, 1;"]
    lines += ["    setp.lt.u32 %again, %turn, 16;", "    @%again bra TURN;", "    ret;", "}"]
    return "\n".join(lines)


def launched(device: Emulator, statement: str, memory: np.ndarray) -> np.ndarray:
    """The words that the kernel stores: (turns, results, lanes)."""
    out = device.array(np.zeros((16, 512), np.uint32))
    device.load(kernel(statement)).kernel().launch(1, 32, [device.array(memory), out])
    return out.numpy().reshape(16, 16, 32)


def expected(statement: str, memory: np.ndarray) -> np.ndarray:
    """The same from the operation alone."""
    results, sources = operands(statement)
    bytes_of = memory.reshape(16, 8, 32, 8)
    lanes = []
    for place, name in enumerate(sources):
        size = WIDTHS[name[:2]] // 8
        lanes.append(np.ascontiguousarray(bytes_of[:, place, :, :size]).view(f"u{size}").reshape(-1).tolist())
    vectors = {"vectors": (len(results), 1, 1)} if len(results) > 1 else {}
    found = run(statement.partition(" ")[0], *lanes, **vectors)
    words = np.zeros((16, 16, 32), np.uint32)
    for place, column in enumerate(found if len(results) > 1 else (found,)):
        numbers = np.array(column, np.uint64).reshape(16, 32)
        words[:, place] = numbers & 0xFFFFFFFF
        if WIDTHS[results[place][:2]] == 64:
            words[:, 1] = numbers >> 32
    return words


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.split()[0])
def test_kernels_compute_what_the_operations_do(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is compiled around them, and though nothing compiles them."""
    monkeypatch.setattr(jit, "WORTH", 0)
    monkeypatch.setattr(stretch, "CALL_COST", 0)
    memory = np.random.default_rng(3).integers(0, 256, 16 * 2048, np.uint8)
    want = expected(statement, memory)
    plain = Emulator(jit=False)
    np.testing.assert_array_equal(launched(plain, statement, memory), want)
    assert plain.findings == []
    if jit.available():
        compiled = Emulator(jit=True)
        np.testing.assert_array_equal(launched(compiled, statement, memory), want)
        assert compiled.findings == []
