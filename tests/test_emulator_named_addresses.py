"""Addresses that are a variable's name, with an offset or without, in instructions that name no state space:
the variable's own is meant, as ptxas compiles them to LDS, STS, ATOMS, LDL, STL, LDG, .. PTX ISA 6.4.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_devices import Both, device, gpu
from emulated import fault, module

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, jit

_ = device, gpu

LANES = 32
N = np.arange(LANES, dtype=np.uint32)
VARIABLE = {
    "shared": "    .shared .align 16 .b8 v[64];\n",
    "local": "    .local .align 16 .b8 v[64];\n",
    "global": "",
}
GLOBAL = ".global .align 16 .b8 v[64];\n"


def alone(body: str) -> str:
    """A kernel of which one thread of a CTA works, so that nothing races; four words of `out` a CTA."""
    return f"""
    ld.param.u64 %rd30, [out];
    mov.u32 %r30, %ctaid.x;
    mad.wide.u32 %rd30, %r30, 16, %rd30;
    mov.u32 %r20, %tid.x;
    setp.ne.u32 %p7, %r20, 0;
    @%p7 bra END;
    add.u32 %r20, %r30, 5;
{body}
    st.global.v4.u32 [%rd30], {{%r1, %r2, %r3, %r4}};
END:
"""


def words(device: Emulator | Both, space: str, body: str, grid: int = 1, **rest: Any) -> np.ndarray:
    text = module(VARIABLE[space] + alone(body), before=GLOBAL if space == "global" else "")
    out: Any = device.array(np.full((grid, 4), 7, np.uint32))
    device.load(text).kernel("k").launch(grid, LANES, [out], **rest)
    return out.numpy()


STATEMENTS = {
    "words": (
        """
    st.u32 [v], %r20;
    st.u32 [v+4], 11;
    st.u16 [v+8], 0xffff;
    st.u8 [v+10], 2;
    st.u8 [v+11], 3;
    ld.u32 %r1, [v];
    ld.u32 %r2, [v+4];
    ld.s16 %r3, [v+8];
    ldu.u32 %r4, [v+8];
""",
        [5, 11, 0xFFFFFFFF, 0x0302FFFF],
    ),
    "vectors": (
        """
    mov.u32 %r5, 6;
    st.v2.u32 [v+8], {%r20, %r5};
    st.v4.u32 [v+16], {%r5, %r20, 8, 9};
    ld.v2.u32 {%r1, %r2}, [v+8];
    ld.v4.u32 {_, %r3, %r4, _}, [v+16];
""",
        [5, 6, 5, 8],
    ),
    "128 bits": (
        """
    .reg .b128 %q;
    mov.u64 %rd1, 0x600000005;
    mov.u64 %rd2, 0x800000007;
    mov.b128 %q, {%rd1, %rd2};
    st.b128 [v+16], %q;
    ld.v4.b32 {%r1, %r2, %r3, %r4}, [v+16];
    ld.b128 %q, [v+16];
    mov.b128 {%rd1, %rd2}, %q;
    cvt.u32.u64 %r1, %rd2;
""",
        [7, 6, 7, 8],
    ),
    "strong": (
        """
    st.volatile.u32 [v], %r20;
    st.relaxed.gpu.u32 [v+4], 6;
    st.release.cta.u32 [v+8], 7;
    ld.volatile.u32 %r1, [v];
    ld.relaxed.sys.u32 %r2, [v+4];
    ld.acquire.gpu.u32 %r3, [v+8];
    ld.weak.u32 %r4, [v];
""",
        [5, 6, 7, 5],
    ),
}
ATOMICS = {
    "atom": (
        """
    st.v4.u32 [v], {%r20, %r20, %r20, %r20};
    atom.add.u32 %r1, [v], 10;
    atom.cas.b32 %r2, [v+4], 5, 20;
    atom.acq_rel.cta.exch.b32 %r3, [v+8], 30;
    atom.inc.u32 %r4, [v+12], 5;
    ld.v4.u32 {%r1, %r2, %r3, %r4}, [v];
""",
        [15, 20, 30, 0],
    ),
    "atom of 64 and 128 bits": (
        """
    .reg .b128 %q, %n;
    mov.u64 %rd1, 0x600000005;
    st.v2.u64 [v], {%rd1, %rd1};
    mov.b128 %q, {%rd1, %rd1};
    mov.u64 %rd2, 3;
    mov.b128 %n, {%rd2, %rd1};
    atom.cas.b128 %q, [v], %q, %n;
    atom.add.u64 %rd3, [v+8], %rd2;
    ld.v4.u32 {%r1, %r2, %r3, %r4}, [v];
""",
        [3, 0, 8, 6],
    ),
    "red": (
        """
    st.v4.u32 [v], {0, 0, %r20, %r20};
    red.add.f32 [v], 0f3fc00000;
    mov.f32 %f1, 0f3f800000;
    red.add.v2.f32 [v], {%f1, %f1};
    red.max.u32 [v+8], 9;
    red.release.gpu.and.b32 [v+12], 4;
    ld.v4.u32 {%r1, %r2, %r3, %r4}, [v];
""",
        [0x40200000, 0x3F800000, 9, 4],
    ),
}


@pytest.mark.parametrize("space", VARIABLE)
@pytest.mark.parametrize("name", STATEMENTS)
def test_loads_and_stores(device: Emulator | Both, name: str, space: str) -> None:
    body, wanted = STATEMENTS[name]
    assert words(device, space, body).tolist() == [wanted]


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(device: Emulator | Both, name: str, space: str) -> None:
    body, wanted = ATOMICS[name]
    assert words(device, space, body).tolist() == [wanted]


@pytest.mark.parametrize("name", STATEMENTS)
def test_in_a_cluster_it_is_the_ctas_own(device: Emulator | Both, name: str) -> None:
    body, wanted = STATEMENTS[name]
    found = words(device, "shared", body, 4, cluster=(2, 1, 1))
    for cta, row in enumerate(found):
        assert row.tolist() == [cta + 5 if w == 5 and name != "128 bits" else w for w in wanted]


@pytest.mark.skipif(not jit.available(), reason="the `jit` extra is not installed")
@pytest.mark.parametrize("space", ["shared", "local"])
def test_compiled_code(monkeypatch: pytest.MonkeyPatch, space: str) -> None:
    monkeypatch.setattr(jit, "WORTH", 0)
    body = f"""
    {VARIABLE[space]}
    mov.u32 %r20, %tid.x;
    mul.lo.u32 %r2, %r20, 3;
    setp.eq.u32 %p1, %r20, 9;
    mov.u32 %r1, 0;
    @!%p1 bra SKIP;
    st.u32 [v+8], %r2;
    st.v2.u32 [v+16], {{%r20, %r2}};
    add.u32 %r2, %r2, 1;
    ld.u32 %r1, [v+8];
    ld.v2.u32 {{%r3, %r4}}, [v+16];
    add.u32 %r1, %r1, %r4;
    add.u32 %r1, %r1, %r3;
SKIP:
"""
    for compiled in (False, True):
        found = threads_of(Emulator(jit=compiled), body)
        assert np.array_equal(found, np.where(N == 9, 27 + 27 + 9, 0))


def test_matrices_and_barriers_take_shared_names(device: Emulator | Both) -> None:
    """Instructions that reach shared memory alone, without `.shared`."""
    body = """
    .shared .align 16 .b8 v[128];
    .shared .align 8 .b64 b;
    mov.u32 %r20, %tid.x;
    mov.u32 %r2, v;
    shl.b32 %r3, %r20, 2;
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r20, 100;
    st.shared.u32 [%r2], %r3;
    setp.eq.u32 %p1, %r20, 0;
    @%p1 mbarrier.init.b64 [b], 1;
    bar.sync 0;
    @%p1 mbarrier.arrive.b64 %rd1, [b];
WAIT:
    mbarrier.try_wait.parity.b64 %p2, [b], 0;
    @!%p2 bra WAIT;
    ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [v+16];
    bar.warp.sync 0xffffffff;
    @%p1 mbarrier.inval.b64 [b];
"""
    assert np.array_equal(threads_of(device, body), 104 + N % 4)


def threads_of(device: Emulator | Both, body: str) -> np.ndarray:
    store = """
    ld.param.u64 %rd30, [out];
    mad.wide.u32 %rd30, %r20, 4, %rd30;
    st.global.u32 [%rd30], %r1;
"""
    out: Any = device.empty(LANES, np.uint32)
    device.load(module(body + store)).kernel("k").launch(1, LANES, [out])
    return out.numpy()


@pytest.mark.parametrize(
    "statement",
    [
        "wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [s];",
        "tensormap.replace.tile.rank.b1024.b32 [s], 1;",
    ],
)
def test_of_these_ptxas_makes_a_generic_access(statement: str) -> None:
    """LD and ST at the offset in shared memory, which is no generic address."""
    text = module(f"    .shared .align 128 .b8 s[512];\n    {statement}\n", "", target="sm_90a")
    found = fault("P602", text, [])
    assert "global memory" in found.message


@pytest.mark.parametrize("space", ["local", "const"])
def test_an_atomic_on_local_or_constant_memory_is_refused(space: str) -> None:
    before = ".const .align 4 .b8 v[4];" if space == "const" else ""
    declared = "    .local .align 4 .b8 v[4];\n" if space == "local" else ""
    text = module(f"{declared}    atom.add.u32 %r1, [v], 1;\n", "", before)
    with pytest.raises(PtxkitError) as caught:
        Emulator().load(text)
    assert f".{space}" in caught.value.diagnostics[0].message


def test_wmma_finds_the_ctas_own_matrix_in_a_cluster(device: Emulator | Both) -> None:
    body = """
    .shared .align 32 .b8 s[512];
    mov.u32 %r20, %tid.x;
    mov.u32 %r30, %ctaid.x;
    mov.u32 %r2, s;
    mad.lo.u32 %r2, %r20, 16, %r2;
    shl.b32 %r3, %r30, 8;
    or.b32 %r3, %r3, %r20;
    st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};
    bar.warp.sync 0xffffffff;
    wmma.load.a.sync.aligned.m16n16k16.row.shared.f16 {%r1, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, [s];
    ld.param.u64 %rd30, [out];
    mad.lo.u32 %r20, %r30, 32, %r20;
    mad.wide.u32 %rd30, %r20, 4, %rd30;
    st.global.u32 [%rd30], %r1;
"""
    out: Any = device.empty((4, LANES), np.uint32)
    device.load(module(body)).kernel("k").launch(4, LANES, [out], cluster=(2, 1, 1))
    found = out.numpy()
    assert np.array_equal(found >> 8, np.repeat(np.arange(4), LANES).reshape(4, LANES))
    assert (found & 0xFF == found[0]).all()
