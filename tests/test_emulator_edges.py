"""Programs at the edges of the machine, each of which once went wrong."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import STORE_R1, fault, launch, module, threads

from ptxkit.emulator import Emulator, EmulatorFault


@pytest.mark.parametrize(("form", "high"), [("s64", 0xFFFFFFFF), ("u64", 0), ("s32", 0xFFFFFFFF), ("b32", 0)])
def test_loads_that_are_extended_to_128_bits(form: str, high: int) -> None:
    body = f"""
    .reg .b128 %q;
    .shared .align 8 .b64 s;
    mov.u32 %r20, %tid.x;
    mov.u64 %rd1, -2;
    st.shared.u64 [s], %rd1;
    bar.warp.sync -1;
    setp.ge.u32 %p1, %r20, 16;
    mov.b128 %q, {{7, 8}};
    @%p1 ld.shared.{form} %q, [s];
    mov.b128 {{%rd2, %rd3}}, %q;
    cvt.u32.u64 %r1, %rd3;
"""
    assert list(threads(body)) == [8] * 16 + [high] * 16


def test_a_reduction_of_no_bytes() -> None:
    """A bulk reduction whose size, known at run time alone, is 0."""
    body = """
    .shared .align 16 .b8 s[16];
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 0;
    ld.param.u64 %rd1, [out];
    mov.u32 %r3, s;
    st.shared.v2.u64 [%r3], {0, 0};
    fence.proxy.async;
    bar.sync 0;
    mov.u32 %r1, 0;
    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r3], %r1;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %r1, 5;
"""
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(body + STORE_R1), [out], device=device)
    assert list(out.numpy()) == [5] * 32


@pytest.mark.parametrize("word", [0, 4])
def test_a_reduction_keeps_what_is_undefined_on_either_side(word: int) -> None:
    """Word 0 is undefined where the sum goes, word 1 where it comes from."""
    body = f"""
    .shared .align 16 .b8 s[16];
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 0;
    @!%p1 ret;
    ld.param.u64 %rd1, [out];
    mov.u32 %r3, s;
    st.shared.u32 [%r3], 1;
    st.shared.u64 [%r3+8], 1;
    st.global.u32 [%rd1], %r9;
    fence.proxy.async;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ld.global.u32 %r4, [%rd1 + {word}];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 st.global.u32 [%rd1], 0;
"""
    device = Emulator()
    found = fault("P605", module(body), [device.array(np.zeros(32, np.uint32))], device=device)
    assert "guard `%p2`" in found.message


@pytest.mark.parametrize(
    ("access", "found"),
    [
        ("red.relaxed.gpu.global.add.u32 [%rd1], 1;", None),
        ("atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;", None),
        ("multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r5;", None),
        ("multimem.ld_reduce.relaxed.gpu.global.add.u32 %r4, [%rd1];", "P651"),
        ("st.relaxed.gpu.global.u32 [%rd1], 1;", "P651"),
    ],
)
def test_reductions_need_no_order_among_them(access: str, found: str | None) -> None:
    """A warp accesses a word, and a thread of another one reduces to it asynchronously."""
    body = f"""
    .shared .align 16 .b8 s[16];
    mov.u32 %r2, %tid.x;
    mov.u32 %r5, 1;
    ld.param.u64 %rd1, [out];
    setp.ge.u32 %p2, %r2, 32;
    @%p2 {access}
    setp.eq.u32 %p1, %r2, 0;
    @!%p1 ret;
    mov.u32 %r3, s;
    st.shared.v2.u64 [%r3], {{1, 0}};
    fence.proxy.async;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""
    device = Emulator()
    out = device.array(np.zeros(4, np.uint32))
    if found is not None:
        fault(found, module(body), [out], device=device, block=64)
        return
    assert launch(module(body), [out], device=device, block=64).findings == []
    assert list(out.numpy()) == [33, 0, 0, 0]


@pytest.mark.parametrize("body", ["", "L:\n", "call nothing;\n"])
def test_bodies_without_an_instruction(body: str) -> None:
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.func nothing() { }\n"
        f".visible .entry k(.param .u64 out)\n{{\n{body}}}\n"
    )
    assert launch(text, [0]).findings == []


TAKES = """
.func (.reg .u32 r) own(.param .b32 a) { .reg .b32 %v; ld.param.u32 %v, [a]; mov.u32 r, %v; ret; }
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "P: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
            ".param .b64 x;\n.param .b32 y;\nst.param.b64 [x], 1;\ncall (y), %rd1, (x), P;\n",
            "takes (4 bytes) and returns (4 bytes); the call passes (8 bytes) and expects (4 bytes)",
        ),
        (
            "P: .callprototype _ (.param .b32 _);\n"
            ".param .b32 x;\nst.param.b32 [x], 1;\ncall %rd1, (x), P;\n",
            "the call passes (4 bytes) and expects ()",
        ),
        (
            "P: .callprototype (.param .b64 _) _ (.param .b32 _);\n.param .b32 x;\n.param .b64 y;\n"
            "st.param.b32 [x], 1;\ncall (y), %rd1, (x), P;\n",
            "expects (8 bytes)",
        ),
    ],
)
def test_a_prototype_that_is_not_the_functions(call: str, said: str) -> None:
    assert said in fault("P614", module("    mov.u64 %rd1, own;\n" + call, before=TAKES), [0]).message


def test_a_prototype_of_other_spelling() -> None:
    """Registers and `.param`, signed and untyped bits: what counts is how many bytes."""
    body = """
    P: .callprototype (.param .s32 _) _ (.reg .u32 _);
    mov.u64 %rd1, own;
    mov.u32 %r2, 9;
    call (%r1), %rd1, (%r2), P;
"""
    assert list(threads(body, before=TAKES)) == [9] * 32


def test_kernels_are_not_called() -> None:
    """PTX ISA 9.7.9.3: the address of a kernel is for system calls alone."""
    body = "    P: .callprototype _ (.param .b64 _);\n    mov.u64 %rd1, k;\n    .param .b64 x;\n"
    text = module(body + "    st.param.b64 [x], 0;\n    call %rd1, (x), P;\n")
    assert "is not a function" in fault("P614", text, [0]).message


def test_more_stack_than_there_are_addresses() -> None:
    text = module("    mov.u64 %rd1, -1;\n    alloca.u64 %rd2, %rd1;\n")
    assert "stack overflow" in fault("P611", text, [0]).message


def test_more_local_variables_than_a_thread_can_have() -> None:
    """512 KB, as the programming guide's table of compute capabilities has it."""
    text = module("    .local .b8 x[524289];\n    mov.u64 %rd1, x;\n    st.local.u8 [%rd1], 0;\n")
    found = fault("P611", text, [0])
    assert "variables of `k`" in str(found.notes)


def test_a_barrier_for_more_threads_than_the_cta_has() -> None:
    text = module("    bar.sync 1, 96;\n")
    assert "expects 96 threads, and the CTA has 64" in fault("P636", text, [0], block=64).message


DECIDES = """
    .shared .align 128 .b8 s[256];
    .shared .align 8 .b64 bar;
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 0;
    ld.param.u64 %rd2, [out];
    mov.u32 %r3, s;
    mov.u32 %r4, bar;
    @%p1 mbarrier.init.shared.b64 [%r4], 1;
    bar.sync 0;
"""


@pytest.mark.parametrize(
    "statement",
    [
        "@%p1 mbarrier.init.shared.b64 [%r3], %r9;",
        "@%p1 mbarrier.arrive.shared.b64 _, [%r4], %r9;",
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r9;",
        "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r4], %r9;",
        "@%p1 mbarrier.complete_tx.relaxed.cta.shared.b64 [%r4], %r9;",
        "mbarrier.test_wait.shared.b64 %p2, [%r4], %rd9;\n@%p2 ret;",
        "mbarrier.try_wait.parity.shared.b64 %p2, [%r4], %r9;\n@%p2 ret;",
        "barrier.sync %r9;",
        "barrier.sync 1, %r9;",
        "bar.red.or.pred %p2, 0, %p3;",
        "@%p1 cp.async.cg.shared.global [%r3], [%rd2], 16, %r9;",
        "@%p1 cp.async.cg.shared.global [%r3], [%rd2], 16, %p3;",
        "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd2], %r9, [%r4];",
        "@%p1 st.bulk.weak.shared::cta [%r3], %rd9, 0;",
        "alloca.u64 %rd3, %rd9;",
        "mapa.shared::cluster.u32 %r5, %r3, %r9;",
    ],
)
def test_operands_that_decide_must_be_defined(statement: str) -> None:
    text = module(DECIDES + statement, target="sm_100a")
    device = Emulator()
    found = fault("P605", text, [device.array(np.zeros(64, np.uint32))], device=device)
    assert "the operand `%" in found.message


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize(
    "statement",
    [
        "st.shared::cluster.u32 [%r4], %r2;",
        "st.u32 [%rd1], %r2;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];",
        "red.relaxed.cluster.shared::cluster.add.u32 [%r4], 1;",
    ],
)
def test_an_address_of_no_cta(statement: str, beyond: bool) -> None:
    """`mapa` is no access: compilers move it ahead of the test of the rank. What uses the address is one."""
    guard = "" if beyond else "@%p1 "
    body = f"""
    .shared .b32 places[2];
    .shared .b64 arrived;
    mov.u32 %r2, %tid.x;
    mov.u32 %r5, %cluster_ctarank;
    mov.u32 %r3, places;
    mad.lo.u32 %r3, %r5, 4, %r3;
    mapa.shared::cluster.u32 %r4, %r3, %r2;
    cvt.u64.u32 %rd1, %r3;
    cvta.shared.u64 %rd1, %rd1;
    mapa.u64 %rd1, %rd1, %r2;
    mov.u32 %r6, arrived;
    mapa.shared::cluster.u32 %r6, %r6, %r2;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 mbarrier.init.shared.b64 [arrived], 2;
    @%p2 st.shared.v2.u32 [places], {{0, 0}};
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.lt.u32 %p1, %r2, 2;
    {guard}{statement}
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""
    if beyond:
        found = fault("P602", module(body), [0], grid=2, block=32, cluster=2)
        assert "thread (2, 0, 0)" in " ".join([found.message, *found.notes])
    else:
        assert launch(module(body), [0], grid=2, block=32, cluster=2).findings == []


def test_a_multicast_to_no_cta() -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f"{DECIDES}    mov.u16 %h1, 0;\n    @%p1 {copy} [%r3], [%rd2], 16, [%r4], %h1;\n"
    device = Emulator()
    out = device.array(np.zeros(64, np.uint32))
    launch(module(body), [out], grid=2, device=device, cluster=2)
    assert device.findings == []


@pytest.mark.parametrize(("form", "found"), [("bar.sync", "P635"), ("barrier.sync", "")])
def test_a_barrier_in_a_function_that_lanes_reach_by_two_calls(form: str, found: str) -> None:
    """`.aligned`, which `bar.sync` is, wants the lanes of a warp together (PTX ISA 9.7.13.1)."""
    body = """
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra ALONE;
    call meet;
    bra DONE;
ALONE:
    call meet;
DONE:
"""
    text = module(body, before=f".func meet() {{ {form} 0; ret; }}")
    if found:
        assert "in parts" in fault(found, text, [0], block=64).message
    else:
        assert launch(text, [0], block=64).findings == []


LEAVES_BY_JUMPS = """
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 5;
    setp.eq.u32 %p1, %r3, 5;
    @%p1 bra LEAVE;
    bra.uni STAY;
LEAVE:
    bra.uni GONE;
GONE:
    WORK bra.uni DONE;
STAY:
    bar.sync 0;
DONE:
    ret;
"""
"""As nvcc -O0 writes `if (..) return; __syncthreads();`."""


@pytest.mark.parametrize(("work", "wrong"), [("", False), ("membar.cta;", True)])
def test_lanes_that_end_by_way_of_jumps_have_not_gone_around_a_barrier(work: str, wrong: bool) -> None:
    found = set()
    for seed in range(12):
        device = Emulator(order="random", seed=seed)
        try:
            launch(module(LEAVES_BY_JUMPS.replace("WORK", work)), [0], block=64, device=device)
        except EmulatorFault as problem:
            found |= {diagnostic.code for diagnostic in problem.diagnostics}
    assert found == ({"P635"} if wrong else set())
