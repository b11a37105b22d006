"""A strict emulator also warns of what the manual asks for and kernels in practice leave out."""

from __future__ import annotations

import numpy as np
import pytest
from asynchronous_kernels import KERNELS
from test_tensor_memory_faults import SECOND, SINGLE

from ptxkit.emulator import Emulator

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
