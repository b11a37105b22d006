"""Optional operands and qualifiers of `tcgen05.mma` in the kernels of the faults: what D becomes."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import log_of
from tensor_memory_faults import FIRST, PAIR, SECOND, SINGLE

from ptxkit.descriptors import ZeroColumnMask
from ptxkit.emulator import Emulator

LANES = "    mov.b32 %r14, 0xffff0000;\n"


def out(text: str, ctas: int = 1, findings: int = 0) -> np.ndarray:
    """What the threads store, the same in every order; ptxas takes the kernel."""
    errors, _ = log_of(text, arch="sm_100a")
    assert errors == ""
    results = []
    for order in ("lazy", "eager", "random"):
        device = Emulator(order=order)
        buffer = device.empty((ctas, 128), np.float32)
        device.load(text).kernel().launch((ctas,), (128,), [buffer])
        results.append(buffer.numpy())
        assert len(device.findings) == findings
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    return results[0]


def changed(old: str, new: str, base: str = SINGLE) -> str:
    assert old in base
    return base.replace(old, new, 1)


def test_scale_input_d() -> None:
    """16 / 4 + 16, and the third product's 16."""
    assert (out(changed(SECOND, SECOND.replace("%p3;", "%p3, 2;"))) == 36).all()


def test_disable_output_lane() -> None:
    """Lanes 16 to 31 and 112 to 127 miss the second product."""
    lanes = "{%r14, %r15, %r15, %r14}, %p3;"
    made = out(changed(SECOND, LANES + SECOND.replace("%p3;", lanes)))[0]
    missed = np.isin(np.arange(128) // 16, (1, 7))
    assert (made[missed] == 32).all()
    assert (made[~missed] == 48).all()


def test_disable_output_lane_of_a_pair() -> None:
    """The last four registers are of the odd CTA; what is not written there keeps a store's zeros."""
    mma = "[%r5], %rd1, %rd2, %r11, %p3;"
    lanes = "[%r5], %rd1, %rd2, %r11, {%r15, %r15, %r15, %r15, %r17, %r15, %r15, %r15}, %p3;"
    prepared = """\
    mov.b32 %r15, 0;
    mov.b32 %r17, 1;
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r7], {%r15};
    tcgen05.wait::st.sync.aligned;
    tcgen05.fence::before_thread_sync;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    tcgen05.fence::after_thread_sync;
    bfe.u32 %r8"""
    made = out(changed("    bfe.u32 %r8", prepared, changed(mma, lanes, PAIR)), 2)
    expected = np.full((2, 128), 16)
    expected[1, 0] = 0
    assert np.array_equal(made, expected)


def test_enable_input_d_may_be_negated() -> None:
    assert (out(changed(SECOND, SECOND.replace("%p3;", "!%p2;"))) == 48).all()
    assert (out(changed(SECOND, SECOND.replace("%p3;", "!%p3;"))) == 32).all()


def test_negated_matrices() -> None:
    """-(16 + 16) - 16 with A negated; with both the products are as before."""
    assert (out(SINGLE.replace("0x08100490", "0x08102490")) == -48).all()
    assert (out(SINGLE.replace("0x08100490", "0x08106490")) == 48).all()


@pytest.mark.parametrize("start", [0, 1])
def test_zero_column_mask(start: int) -> None:
    """Column 0 is zeroed if the pattern begins with the zeroed run, which is one column long."""
    mask = ZeroColumnMask(
        non_zero_mask=True, use_span=2, skip_span=0, first_span=1, start_count=[start, 0, 0, 0]
    )
    word = int(mask)
    mma = SECOND.replace("mma.", "mma.ws.").replace("%p3;", "%p3, %rd5;")
    made = out(changed(SECOND, f"    mov.b64 %rd5, {word:#x};\n{mma}"))
    assert (made == (32 if start == 0 else 48)).all()


def test_collector_buffers() -> None:
    """A matrix that a product fills in may be used until it is discarded."""
    uses = [SECOND.replace("f16 ", f"f16.collector::a::{use} ") for use in ("fill", "use", "lastuse")]
    assert (out(changed(SECOND, "".join(uses))) == 80).all()
    assert (out(changed(SECOND, "".join([*uses, uses[1]])), findings=1) == 96).all()
    ws = [
        SECOND.replace("mma.", "mma.ws.").replace("f16 ", f"f16.collector::b{buffer}::{use} ")
        for buffer, use in ((1, "fill"), (2, "fill"), (1, "use"), (2, "lastuse"))
    ]
    assert (out(changed(SECOND, "".join(ws))) == 96).all()


def test_ashift() -> None:
    """Each row of A is the next lane's; lane 127 keeps its own."""
    stored = "    setp.eq.u32 %p6, %r0, 32;\n    @%p6 mov.b32 %r17, 0x40004000;\n"
    text = changed("    tcgen05.st.sync", f"    mov.b32 %r17, %r4;\n{stored}    tcgen05.st.sync").replace(
        "{%r4, %r4, %r4, %r4, %r4, %r4, %r4, %r4};", "{%r17, %r4, %r4, %r4, %r4, %r4, %r4, %r4};"
    )
    made = out(changed(FIRST, FIRST.replace("f16 ", "f16.ashift "), text))[0]
    expected = np.full(128, 48)
    expected[31] = 50
    assert np.array_equal(made, expected)
