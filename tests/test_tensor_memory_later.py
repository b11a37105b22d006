"""What PTX ISA 9.4 added to tensor memory and tcgen05, beside the kernels of tests/asynchrony."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_memory_faults import PAIR, findings

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.targets import limits

ORDERS = ("lazy", "eager", "random")

WAITS = """\
.version 9.4
.target sm_100a
.address_size 64
.shared .align 4 .b32 slot;
.visible .entry k(.param .u64 flag, .param .u32 neighbour)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [flag];
    ld.param.u32 %r6, [neighbour];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r1, %r6;
    tcgen05.alloc{first}.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    ld.shared.b32 %r2, [slot];
    mov.b32 %r3, 1;
    @%p2 st.release.gpu.global.u32 [%d1], %r3;
    @!%p1 bra DONE;
WAIT:
    ld.acquire.gpu.global.u32 %r4, [%d1];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra WAIT;
DONE:
    tcgen05.dealloc{first}.cta_group::1.sync.aligned.b32 %r2, 32;
    ret;
}}
"""
"""CTA 0 holds 32 columns until another CTA has got its own 32."""


SMS = limits("sm_100a").sm_count


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("exclusive", "neighbour", "stuck"),
    [("", SMS, False), (".exclusive", SMS, True), (".exclusive", 1, False)],
)
def test_an_exclusive_allocation_is_the_only_one_of_its_sm(
    exclusive: str, neighbour: int, stuck: bool, order: str
) -> None:
    """Two CTAs of one SM hold columns at a time, unless they are exclusive; CTAs of two SMs do."""
    device = Emulator(order=order)
    kernel = device.load(WAITS.format(first=exclusive)).kernel()
    flag = device.array(np.zeros(1, np.uint32))
    if not stuck:
        kernel.launch((SMS + 1,), (32,), [flag, neighbour])
        assert flag.numpy()[0] == 1
        return
    with pytest.raises(EmulatorFault, match="LIVELOCK") as caught:
        kernel.launch((SMS + 1,), (32,), [flag, neighbour])
    assert f"CTA ({neighbour}, 0, 0) is at line 15" in str(caught.value)


CLUSTERED = """
.version 9.4
.target sm_107a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32
.reqnctapercluster 2
{
    .reg .b32 %r<4>;
    .shared .align 4 .b32 slot;
    tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [slot], 576;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.b32 %r1, [slot];
    tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 %r1, 576;
    ret;
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_ctas_of_a_cluster_have_the_columns_of_two_sms(order: str) -> None:
    device = Emulator(order=order)
    kernel = device.load(CLUSTERED).kernel()
    kernel.launch((4,), (32,), [device.array(np.zeros(1, np.uint32))])
    assert device.findings == []


WIDE = (
    PAIR.replace(".version 8.8", ".version 9.4")
    .replace("sm_100a", "sm_107a")
    .replace(".multicast::cluster.", ".multicast::cluster::32b.")
    .replace(".reg .b16 %h<2>", ".reg .b32 %h<2>")
    .replace("mov.b16 %h0", "mov.b32 %h0")
)
"""The pair of CTAs with a mask of 32 bits."""


@pytest.mark.parametrize("order", ORDERS)
def test_a_mask_of_32_bits_names_the_ctas_of_a_cluster(order: str) -> None:
    assert WIDE.count("cluster::32b") == 1
    assert findings(WIDE, 2, order) == []
    (found,) = findings(WIDE.replace("mov.b32 %h0, 3;", "mov.b32 %h0, 0x80000003;"), 2, order)
    assert found.code == "P6123"
    assert "0x80000003" in found.message
    (found,) = findings(WIDE.replace("mov.b32 %h0, 3;", "mov.b32 %h0, 0;"), 2, order)
    assert found.code == "P6123"


@pytest.mark.parametrize("order", ["lazy", "eager"])
def test_a_commit_of_reads_tells_a_pair_of_nothing_else(order: str) -> None:
    text = WIDE.replace("arrive::one.", "arrive::one.sync_restrict::shared::read::mma::a.")
    assert text.count("sync_restrict") == 1
    found = findings(text, 2, order)[0]
    assert found.code == "P6101"
    assert "tells of its reads of A alone" in str(found)
