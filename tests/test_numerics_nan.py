"""Which NaN comes out of f64, as an H200 gave it: values, not a rule."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import launch, module
from pure_operations import run

from ptxkit.emulator import Emulator, jit

A, B, C = 0x7FF8001100001100, 0xFFF8002200002201, 0x7FF8003300003300
SIGNALLING, LOW = 0xFFF0001100001103, 0x7FF0000000001104
ONE, INFINITY, NONE = 0x3FF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000
ROUNDED = ("rn", "rz", "rm", "rp")


@pytest.mark.parametrize(
    ("statement", "operands", "result"),
    [
        *((f"{opcode}.f64", (A, ONE), A) for opcode in ("add.rn", "sub.rp", "mul.rz", "div.rm")),
        *((f"{opcode}.f64", (ONE, B), B) for opcode in ("add.rn", "sub.rp", "mul.rz", "div.rm")),
        *((f"{opcode}.f64", (A, B), B) for opcode in ("add.rn", "sub.rp", "mul.rz", "min", "max")),
        *((f"div.{mode}.f64", (A, B), A) for mode in ROUNDED),
        *((f"div.{mode}.f64", (B, A), B) for mode in ROUNDED),
        *((f"fma.{mode}.f64", (A, B, C), B) for mode in ROUNDED),
        *((f"mad.{mode}.f64", (A, ONE, C), C) for mode in ROUNDED),
        *((f"fma.{mode}.f64", (A, ONE, INFINITY), A) for mode in ROUNDED),
        *((f"rcp.{mode}.f64", (LOW,), 0x7FF8000000001104) for mode in ROUNDED),
        *((f"sqrt.{mode}.f64", (LOW,), 0x7FF8000000001104) for mode in ROUNDED),
        ("add.rn.f64", (SIGNALLING, ONE), 0xFFF8001100001103),
        ("add.rn.f64", (INFINITY, 0xFFF0000000000000), NONE),
        ("sub.rn.f64", (INFINITY, INFINITY), NONE),
        ("mul.rn.f64", (INFINITY, 0), NONE),
        ("fma.rn.f64", (INFINITY, 0, ONE), NONE),
        ("div.rn.f64", (0, 0), NONE),
        ("sqrt.rn.f64", (0xC004000000000000,), NONE),
        ("min.f64", (SIGNALLING, ONE), ONE),
        ("max.f64", (ONE, LOW), ONE),
        ("max.f32", (0xFF800011, 0x3F800000), 0x3F800000),
        ("min.f32", (0x3F800000, 0x7F800011), 0x3F800000),
        ("cvt.sat.f64.f64", (SIGNALLING,), 0),
        ("cvt.sat.f32.f32", (0xFF800011,), 0),
        ("max.f64", (LOW, SIGNALLING), 0xFFF8001100001103),
        ("neg.f64", (A,), A),
        ("abs.f64", (SIGNALLING,), 0xFFF8001100001103),
        ("rsqrt.approx.f64", (B,), B),
        ("rsqrt.approx.f64", (0xFFF0000000000000,), NONE),
        ("cvt.rni.f64.f64", (SIGNALLING,), 0xFFF8001100001103),
        ("cvt.f64.f64", (SIGNALLING,), SIGNALLING),
        ("cvt.rn.f32.f64", (A,), 0x7FC00088),
        ("cvt.rz.ftz.f32.f64", (SIGNALLING,), 0xFFC00088),
        ("cvt.rn.f32.f64", (LOW,), 0x7FC00000),
        ("cvt.rn.sat.f32.f64", (A,), 0),
        ("cvt.rp.f16.f64", (0xFFF0044000000000,), 0xFE01),
        ("cvt.rn.bf16.f64", (0xFFFFFFFFFFFFFFFF,), 0xFFFF),
        ("cvt.f16.f16", (0xFF0D,), 0x7FFF),
        ("cvt.bf16.bf16", (0x7FC0,), 0x7FFF),
        ("cvt.f32.bf16", (0xFFFF,), 0xFFFF0000),
        ("cvt.ftz.f32.bf16", (0x7FFF,), 0x7FFFFFFF),
        ("cvt.f64.f32", (0xFF800011,), 0xFFF8000220000000),
        ("cvt.f32.f32", (0xFFC53390,), 0xFFC53390),
        ("cvt.ftz.f32.f32", (0xFFC53390,), 0x7FFFFFFF),
        ("cvt.ftz.f64.f32", (0xFF800011,), 0x7FFFFFFFE0000000),
    ],
)  # fmt: skip
def test_statements(statement: str, operands: tuple[int, ...], result: int) -> None:
    (got,) = run(statement, *([operand] for operand in operands))
    assert f"{got:x}" == f"{result:x}"


ATOMIC = """
    ld.param.u64 %rd1, [out];
    .shared .align 8 .b64 place;
    ld.global.b64 %fd1, [%rd1];
    ld.global.b64 %fd2, [%rd1+8];
    st.shared.b64 [place], %fd1;
    red.SPACE.add.f64 [ADDRESS], %fd2;
    ld.SPACE.b64 %fd3, [ADDRESS];
    st.global.b64 [%rd1+16], %fd3;
"""


@pytest.mark.parametrize(
    ("space", "old", "operand", "result"),
    [
        ("global", SIGNALLING, ONE, SIGNALLING),
        ("global", ONE, SIGNALLING, SIGNALLING),
        ("global", A, SIGNALLING, SIGNALLING),
        ("global", INFINITY, 0xFFF0000000000000, NONE),
        ("shared", SIGNALLING, ONE, 0xFFF8001100001103),
        ("shared", ONE, SIGNALLING, 0xFFF8001100001103),
        ("shared", A, SIGNALLING, A),
        ("shared", INFINITY, 0xFFF0000000000000, NONE),
    ],
)
def test_atomics(space: str, old: int, operand: int, result: int) -> None:
    """The cache of global memory hands on b's NaN; threads add to shared memory, the old value last."""
    body = ATOMIC.replace("SPACE", space).replace("ADDRESS", "place" if space == "shared" else "%rd1")
    device = Emulator()
    out = device.array(np.array([old, operand, 0], np.uint64))
    launch(module(body), [out], block=1, device=device)
    assert f"{out.numpy()[2]:x}" == f"{result:x}"


@pytest.mark.parametrize("compiled", [False, True])
def test_loops(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every combination of operands in a loop, which the `jit` extra compiles: the same NaN."""
    if compiled:
        pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")
        monkeypatch.setattr(jit, "WORTH", 0)
    words = np.array([A, B, C, SIGNALLING, LOW, ONE, INFINITY, INFINITY | 1 << 63, 0, 1 << 63], np.uint64)
    count = len(words)
    statements = {
        "add.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("add.f64", a, b),
        "sub.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("sub.f64", a, b),
        "mul.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("mul.f64", a, b),
        "fma.rn.f64 %fd4, %fd1, %fd2, %fd3;": lambda a, b, c: run("fma.rn.f64", a, b, c),
        "div.rn.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("div.rn.f64", a, b),
        "min.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("min.f64", a, b),
        "max.f64 %fd4, %fd1, %fd2;": lambda a, b, c: run("max.f64", a, b),
        "rcp.rn.f64 %fd4, %fd1;": lambda a, b, c: run("rcp.rn.f64", a),
        "sqrt.rn.f64 %fd4, %fd1;": lambda a, b, c: run("sqrt.rn.f64", a),
        "neg.f64 %fd4, %fd1;": lambda a, b, c: run("neg.f64", a),
        "abs.f64 %fd4, %fd1;": lambda a, b, c: run("abs.f64", a),
        "cvt.rn.f32.f64 %f1, %fd1; mov.b64 %fd4, {%f1, %f1};": lambda a, b, c: [
            word << 32 | word for word in run("cvt.rn.f32.f64", a)
        ],
    }
    a, b, c = (column.ravel() for column in np.meshgrid(words, words, words, indexing="ij"))
    body = """
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd2, %rd1, %rd2;
    mov.u32 %r2, 0;
    again:
    """ + "".join(f"ld.global.b64 %fd{part + 1}, [%rd2+{8 * count**3 * part}];\n" for part in range(3))
    for place, statement in enumerate(statements):
        body += f"{statement}\nst.global.b64 [%rd2+{8 * count**3 * (3 + place)}], %fd4;\n"
    body += "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 2;\n@%p1 bra again;"
    device = Emulator(jit=compiled)
    data = np.concatenate([np.stack([a, b, c]), np.zeros((len(statements), count**3), np.uint64)])
    out = device.array(data)
    launch(module(body), [out], block=count**3, device=device)
    found = out.numpy()[3:]
    for row, (statement, expected) in zip(found, statements.items(), strict=True):
        assert row.tolist() == expected(a.tolist(), b.tolist(), c.tolist()), statement
