"""Programmatic launches: `griddepcontrol`, and what a launch may touch before it has waited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_devices import device, gpu  # noqa: F401  fixtures

from ptxkit.emulator import Emulator, EmulatorFault

THREADS, CTAS = 128, 6

TEXT = """
.version 8.6
.target sm_90
.address_size 64
.visible .entry first(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    griddepcontrol.launch_dependents;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 128, %r1;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
    ld.global.u32 %r3, [%d1];
    add.u32 %r3, %r3, 7;
    st.global.u32 [%d2], %r3;
    ret;
}
.visible .entry second(.param .u64 x, .param .u64 y, .param .u64 weights)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    ld.param.u64 %d4, [weights];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p, %r1, 0;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 128, %r1;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
    add.u64 %d4, %d4, %d3;
    ld.global.u32 %r5, [%d4];
    griddepcontrol.wait; // wait
    ld.global.u32 %r3, [%d2]; // read
    mul.lo.u32 %r3, %r3, %r5;
    st.global.u32 [%d1], %r3; // write
    ret;
}
"""
WAIT = "    griddepcontrol.wait; // wait\n"
READ = "    ld.global.u32 %r3, [%d2]; // read\n"
BULK = """\
    .shared .align 128 .b8 buf[512];
    .shared .align 8 .b64 bar;
    .reg .pred %q;
    @!%p bra AFTER;
    mbarrier.init.shared::cta.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%d2], 512, [bar];
AFTER:
    bar.sync 0;
W:  mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;
    @!%q bra W;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r6, %r6, 4, 0;
    mov.u32 %r7, buf;
    add.u32 %r7, %r7, %r6;
    ld.shared.u32 %r3, [%r7];
"""


def run(opened: Any, text: str, programmatic: bool = True) -> np.ndarray:
    """The two launches; what `x` holds behind them."""
    count = THREADS * CTAS
    x = opened.array(np.arange(count, dtype=np.uint32))
    y = opened.array(np.zeros(count, np.uint32))
    weights = opened.array(np.full(count, 3, np.uint32))
    module = opened.load(text)
    module.kernel("first").launch(CTAS, THREADS, [x, y])
    module.kernel("second").launch(CTAS, THREADS, [x, y, weights], programmatic=programmatic)
    opened.synchronize()
    found: np.ndarray = x.numpy()
    return found


EXPECTED = (np.arange(THREADS * CTAS, dtype=np.uint32) + 7) * 3


def found(text: str, programmatic: bool = True) -> list[str]:
    emulator = Emulator()
    try:
        run(emulator, text, programmatic)
    except EmulatorFault as fault:
        return [d.code for d in (*emulator.findings, *fault.diagnostics)]
    return [d.code for d in emulator.findings]


@pytest.mark.gpu
@pytest.mark.parametrize("text", [TEXT, TEXT.replace(READ, BULK)], ids=["loads", "bulk copies"])
def test_the_same_on_a_gpu(gpu: Any, text: str) -> None:  # noqa: F811
    assert run(gpu, text).tolist() == EXPECTED.tolist()


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("text", [TEXT, TEXT.replace(READ, BULK)], ids=["loads", "bulk copies"])
def test_who_waits_may_use_everything(text: str, order: str) -> None:
    emulator = Emulator(order)
    assert run(emulator, text).tolist() == EXPECTED.tolist()
    assert emulator.findings == []


def test_one_warp_waits_for_its_cta() -> None:
    text = TEXT.replace(WAIT, "    @%p griddepcontrol.wait;\n    bar.sync 0;\n")
    assert found(text) == []
    assert found(text.replace("    bar.sync 0;\n", ""))[-1] == "P613"


def test_reading_before_the_wait() -> None:
    assert found(TEXT.replace(WAIT, "").replace(READ, READ + WAIT))[-1] == "P613"
    assert found(TEXT.replace(WAIT, ""))[-1] == "P613"


def test_a_bulk_copy_before_the_wait() -> None:
    text = TEXT.replace(WAIT, "").replace(READ, BULK + WAIT)
    assert found(text)[-1] == "P613"


def test_writing_before_the_wait() -> None:
    """`x` is only watched once it is written, so the launch ahead must have written it before."""
    write = "    st.global.u32 [%d2], 5;\n"
    assert found(TEXT.replace(WAIT, write + WAIT)) == ["P616"]


def test_other_launches_wait_for_the_one_ahead() -> None:
    assert found(TEXT.replace(WAIT, ""), programmatic=False) == []


def test_a_launch_ahead_that_lets_nobody_begin_early() -> None:
    """Without `launch_dependents` it has ended when the next one begins: FlashMLA's dense decoding, whose
    kernel reads at once what the one ahead planned for it."""
    text = TEXT.replace(WAIT, "")
    assert found(text.replace("    griddepcontrol.launch_dependents;\n", "")) == []
    assert found(text)[-1] == "P613"


def test_a_launch_that_lets_others_begin_early_between_two() -> None:
    """What counts is the launch ahead, not any before."""
    emulator = Emulator()
    count = THREADS * CTAS
    x, y, z, weights = (emulator.array(np.full(count, each, np.uint32)) for each in range(4))
    early, late = (
        emulator.load(TEXT),
        emulator.load(TEXT.replace("    griddepcontrol.launch_dependents;\n", "").replace(WAIT, "")),
    )
    early.kernel("first").launch(CTAS, THREADS, [x, z])
    late.kernel("first").launch(CTAS, THREADS, [x, y])
    late.kernel("second").launch(CTAS, THREADS, [x, y, weights], programmatic=True)
    assert emulator.findings == []
    early.kernel("first").launch(CTAS, THREADS, [x, y])
    with pytest.raises(EmulatorFault, match="P613"):
        late.kernel("second").launch(CTAS, THREADS, [x, y, weights], programmatic=True)


def test_only_the_launch_ahead_is_not_waited_for() -> None:
    """What older launches wrote is there: the one ahead waited for them."""
    emulator = Emulator()
    count = THREADS * CTAS
    x, y, z = (emulator.array(np.arange(count, dtype=np.uint32)) for _ in range(3))
    weights = emulator.array(np.full(count, 3, np.uint32))
    module = emulator.load(TEXT.replace(WAIT, ""))
    module.kernel("first").launch(CTAS, THREADS, [x, y])
    module.kernel("first").launch(CTAS, THREADS, [x, z])
    module.kernel("second").launch(CTAS, THREADS, [x, y, weights], programmatic=True)
    assert emulator.findings == []
