"""Programs at the edges of the machine, each of which once went wrong."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import STORE_R1, fault, launch, module, threads

from ptxkit.emulator import Emulator


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
