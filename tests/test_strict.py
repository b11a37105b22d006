"""A strict emulator also warns of what the manual asks for and kernels in practice leave out."""

from __future__ import annotations

import numpy as np
import pytest
from asynchronous_kernels import KERNELS
from tensor_memory_faults import SECOND, SINGLE

from ptxkit.emulator import Emulator, EmulatorFault

RING = next(kernel for kernel in KERNELS if kernel.name == "ring")
RELEASE = "mbarrier.arrive.shared::cta.b64 _, [%r15]; // release"
FENCED = RING.broken(RELEASE, f"fence.proxy.async.shared::cta; {RELEASE}")

TWO_PHASES = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 x, .param .u64 out)
{
    .reg .pred %p;
    .reg .b64 %d;
    .shared .align 8 .b64 bar;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.shared.b64 _, [bar];
W:
    mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; // wait
    @!%p bra W; // wait
    mbarrier.arrive.shared.b64 _, [bar];
    ret;
}
"""
"""One thread arrives in two phases, and waits between."""


def found(text: str, strict: bool, order: str = "lazy") -> list[str]:
    device = Emulator(order, strict=strict)
    if "ring" in text or "tile" in text:
        RING.run(device, text)
    else:
        device.load(text).kernel().launch(1, 1, [0, 0])
    return [finding.code for finding in device.findings]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_stage_is_refilled_without_a_proxy_fence(order: str) -> None:
    assert found(RING.text, False, order) == []
    assert found(RING.text, True, order) == ["P666"]
    assert found(FENCED, True, order) == []


def test_nobody_waits_between_two_phases() -> None:
    unseen = "\n".join(line for line in TWO_PHASES.splitlines() if not line.endswith("// wait"))
    assert found(unseen, False) == []
    assert found(unseen, True) == ["P683"]
    assert found(TWO_PHASES, True) == []


def test_a_product_overwrites_what_one_before_it_reads() -> None:
    """As attention kernels do: the second product's accumulator lies over the first one's matrix A."""
    changed = SECOND.replace("[%r5]", "[%r13]").replace("%p3", "%p2")
    for text, codes in ((SINGLE.replace(SECOND, changed), ["P6131"]), (SINGLE, [])):
        for strict in (True, False):
            device = Emulator(strict=strict)
            device.load(text).kernel().launch((1,), (128,), [device.empty(128, np.float32)])
            assert [finding.code for finding in device.findings] == (codes if strict else [])


def copied(consumer: str) -> str:
    """128 threads copy 4096 bytes to shared memory, which `consumer` hands to the async proxy."""
    return f"""
.version 8.0
.target sm_90a
.address_size 64
.entry k(.param .u64 x, .param .u64 out)
{{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    .reg .f32 %f<4>;
    .shared .align 128 .b8 tile[4096];
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %r0, 16, %r1;
    mad.wide.u32 %d2, %r0, 16, %d0;
    cp.async.cg.shared.global [%r2], [%d2], 16;
    cp.async.cg.shared.global [%r2+2048], [%d2+2048], 16;
    cp.async.wait_all;
    // fence
    bar.sync 0;
    {consumer}
    ret;
}}
"""


PRODUCT = """
    shr.u32 %r3, %r1, 4;
    cvt.u64.u32 %d3, %r3;
    or.b64 %d3, %d3, 0x0000002000080000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d3, %d3, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
"""
BULK = """
    setp.eq.u32 %p, %r0, 0;
    @%p cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 4096;
    @%p cp.async.bulk.commit_group;
    @%p cp.async.bulk.wait_group 0;
"""


def run_copied(text: str, strict: bool) -> list[str]:
    device = Emulator(strict=strict)
    device.load(text).kernel().launch(
        1, 128, [device.array(np.ones(2048, np.float16)), device.empty(4096, "u1")]
    )
    return [found.code for found in device.findings]


def test_products_of_what_was_copied_by_threads() -> None:
    """`cp.async` is a weak memory operation (9.7.9.25.3.1), so it writes through the generic proxy (8.6)."""
    text = copied(PRODUCT)
    fenced = text.replace("// fence", "fence.proxy.async.shared::cta;")
    assert run_copied(text, False) == []
    assert run_copied(text, True) == ["P665"]
    assert run_copied(fenced, True) == []


@pytest.mark.parametrize("strict", [False, True])
def test_bulk_copies_of_what_was_copied_by_threads(strict: bool) -> None:
    text = copied(BULK)
    with pytest.raises(EmulatorFault) as caught:
        run_copied(text, strict)
    assert [found.code for found in caught.value.diagnostics] == ["P665"]
    assert run_copied(text.replace("// fence", "fence.proxy.async.shared::cta;"), strict) == []
