"""Kernels of one thread that load or store one box of a tensor on sm_107, in any spelling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator import Emulator
from ptxkit.encodings.tensor_maps import TensorMap

ORDERS = ("lazy", "eager", "random")
WINDOW = 128 << 10
KERNEL = """
.version 9.4
.target {target}
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 at, .param .u64 image, .param .u64 report,
    .param .u32 layout)
{{
    .reg .pred %p<9>;
    .reg .b8 %q<6>;
    .reg .b16 %h<6>;
    .reg .b32 %r<20>, %bar, %box;
    .reg .b64 %d<9>, %map, %at, %image;
    .shared .align 1024 .b8 box[4096];
    .shared .align 8 .b64 bar;
    mov.b64 %map, map;
    cvta.param.u64 %map, %map;
    ld.param.u64 %at, [at];
    ld.param.u64 %image, [image];
    ld.param.u64 %d1, [report];
    ld.param.u32 %r1, [layout];
    mov.u32 %bar, bar;
    mov.u32 %box, box;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 mbarrier.init.layout::v1.shared::cta.b64 [%bar], 1;
    @!%p1 mbarrier.init.layout::v0.shared::cta.b64 [%bar], 1;
    {body}
    ret;
}}
"""
LOAD = """
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {nbytes};
    {instruction}
WAIT:
    mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p2|%p3, [%bar], 0;
    @!%p2 bra WAIT; // wait
    selp.u32 %r2, 1, 2, %p3;
    st.global.u32 [%d1], %r2;
    cp.async.bulk.global.shared::cta.bulk_group [%image], [%box], {nbytes};
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""
STORE = """
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {nbytes};
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%box], [%image], {nbytes}, [%bar];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%bar], 0;
    @!%p2 bra WAIT; // wait
    {instruction}
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0; // stored
"""
COMPLETE = "mbarrier::complete_tx::bytes"
OVERRIDE = "override::global_address"


class Run:
    """One launch of a kernel of one thread.

    Attributes:
        held: the buffer at which tensors lie.
        image: what goes to shared memory before, or came there.
        reported: 1 where the load reported, 2 where it did not.
    """

    def __init__(
        self,
        device: Emulator,
        tensor_map: TensorMap,
        held: Any,
        image: np.ndarray,
        body: str,
        at: int = 0,
        layout: int = 1,
        target: str = "sm_107f",
    ) -> None:
        moved, report = device.array(image), device.array(np.zeros(1, np.uint32))
        text = KERNEL.format(target=target, body=body)
        device.load(text).kernel("k").launch(1, 1, [tensor_map, held.address + at, moved, report, layout])
        device.synchronize()
        self.image, self.reported, self.held = moved.numpy(), int(report.numpy()[0]), held.numpy()


def load(instruction: str, nbytes: int) -> str:
    """The kernel's body around a load."""
    return LOAD.format(instruction=instruction, nbytes=nbytes)


def store(instruction: str, nbytes: int) -> str:
    """The kernel's body around a store or reduction."""
    return STORE.format(instruction=instruction, nbytes=nbytes)


def buffer(device: Emulator) -> Any:
    """Words that count up, with room for the window of any address in their first half."""
    return device.array(np.arange(2 * WINDOW // 4, dtype=np.uint32))


def elsewhere(device: Emulator) -> int:
    """An address at which the map's own tensor lies, and nothing else does."""
    return int(device.array(np.full(1024, 0xDEAD, np.uint32)).address)
