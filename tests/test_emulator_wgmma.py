"""`wgmma` on the emulator: every layout, type and form, in every order; on a GPU the same tiles, bit for bit.

PTXKIT_REQUIRE_GPU=1 pytest -m gpu tests/test_emulator_wgmma.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wgmma_kernels
import wgmma_tiles
from asynchronous_kernels import KERNELS
from both_devices import Both, device, gpu

from ptxkit.emulator import Emulator, EmulatorFault

__all__ = ["device", "gpu"]

ORDERS = ("lazy", "eager", "random")
LAYOUTS = list(wgmma_kernels.cases())
VARIANTS = wgmma_tiles.variants()


@pytest.mark.parametrize("number", range(0, len(LAYOUTS), 12), ids=lambda number: LAYOUTS[number].name)
def test_every_sort_of_layout_multiplies(number: int) -> None:
    emulator = Emulator(order=ORDERS[number % 3])
    made, expected = wgmma_kernels.run(emulator, LAYOUTS[number])
    assert np.array_equal(made, expected)
    assert emulator.findings == []


@pytest.mark.parametrize("number", range(0, len(VARIANTS), 5), ids=lambda number: VARIANTS[number].spelling)
def test_every_sort_of_instruction_gives_the_models_bits(number: int, device: Emulator | Both) -> None:
    variant = VARIANTS[number]
    tiles = wgmma_tiles.random_tiles(variant, 3, number)
    made = wgmma_tiles.run(device, variant, tiles)
    assert np.array_equal(made, wgmma_tiles.expected(variant, tiles))
    assert device.findings == []


def test_plain_float32_is_near() -> None:
    variant = wgmma_tiles.Variant(("f32", "bf16", "bf16"), n=16)
    tiles = wgmma_tiles.random_tiles(variant, 2, 1)
    plain = Emulator(tensor_cores="float32")
    near = [wgmma_tiles.run(d, variant, tiles).view(np.float32) for d in (plain, Emulator())]
    good = np.isfinite(near[0]) & np.isfinite(near[1])
    assert good.mean() > 0.3
    scale = np.abs(near[1][good]).max()
    assert np.abs(near[0][good] - near[1][good]).max() <= 1e-4 * scale


def _spoiled(change: tuple[str, str]) -> str:
    """The kernel of one layout with a line of it changed."""
    text = wgmma_kernels.source(LAYOUTS[0])
    assert change[0] in text
    return text.replace(*change, 1)


COMMIT = "wgmma.commit_group.sync.aligned;"
FENCE = "wgmma.fence.sync.aligned;"
LEAVE = "setp.gt.u32 %more, %thread, 95;\n@%more bra ELSEWHERE;\n"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((COMMIT, f"{COMMIT}\nst.shared.b32 [%at], %thread;"), "P653"),
        (("fence.proxy.async.shared::cta;\n", ""), "P665"),
        (("bar.sync 0;\n", ""), "P650"),
        ((FENCE, f"{LEAVE}{FENCE}"), "P637"),
    ],
    ids=["memory is overwritten", "no proxy fence", "no barrier", "a warp is elsewhere"],
)
@pytest.mark.parametrize("order", ORDERS)
def test_a_line_that_is_wrong_is_found(change: tuple[str, str], code: str, order: str) -> None:
    text = _spoiled(change)
    if "ELSEWHERE" in text:
        text = text.replace("ret;\n}", "ret;\nELSEWHERE:\nbar.sync 1, 64;\nret;\n}")
    emulator = Emulator(order=order)
    image = emulator.array(np.zeros(1 << 15, np.uint8))
    out = emulator.empty(1 << 14, "f32")
    with pytest.raises(EmulatorFault) as caught:
        emulator.load(text).kernel().launch(grid=1, block=128, args=[image, image, out])
    assert caught.value.diagnostics[0].code == code


LATE = """shr.u32 %t0, %thread, 5;
AGAIN:
setp.eq.u32 %more, %t0, 0;
@%more bra HERE;
sub.u32 %t0, %t0, 1;
bra AGAIN;
HERE:
"""


@pytest.mark.parametrize("order", ORDERS)
def test_warps_that_come_late_are_waited_for(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = wgmma_kernels.source
    monkeypatch.setattr(wgmma_kernels, "source", lambda case: plain(case).replace(FENCE, LATE + FENCE))
    emulator = Emulator(order=order, seed=3)
    made, expected = wgmma_kernels.run(emulator, LAYOUTS[30])
    assert np.array_equal(made, expected)
    assert emulator.findings == []


def test_a_row_longer_than_its_swizzle_is_found() -> None:
    """What an H200 reads then is none of the layouts."""
    variant = wgmma_tiles.Variant(("f32", "f16", "f16"), sparse=True, swizzles=("none", "32B"))
    with pytest.raises(EmulatorFault) as caught:
        wgmma_tiles.run(Emulator(), variant, wgmma_tiles.random_tiles(variant, 1, 0))
    assert caught.value.diagnostics[0].code == "P639"


@pytest.mark.parametrize("order", ORDERS)
def test_what_nobody_wrote_spoils_the_product(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of B along K is missing: no finding until the host reads what was made of it."""
    variant = wgmma_tiles.Variant(("f32", "bf16", "bf16"), n=16)
    plain = wgmma_tiles.sources
    end = "setp.ge.u32 %more, %offset, 512;"
    text = plain(variant)
    assert text.count(end) == 1
    monkeypatch.setattr(wgmma_tiles, "sources", lambda _: text.replace(end, end.replace("512", "256")))
    tiles = wgmma_tiles.random_tiles(variant, 1, 0)
    with pytest.raises(EmulatorFault) as caught:
        wgmma_tiles.run(Emulator(order=order), variant, tiles)
    assert caught.value.diagnostics[0].code == "P606"


# ---- who may hand back what products have read

RING = next(kernel for kernel in KERNELS if kernel.name == "wgmma_ring")
BY_DESCRIPTOR = "{%d0, %d1, %d2, %d3}, %a_desc"
LOADS_A = """.reg .b32 %q<4>;
    and.b32 %tmp, %thread, 127;
    shl.b32 %tmp, %tmp, 2;
    and.b32 %row, %thread, 96;
    mad.lo.u32 %tmp, %row, 4, %tmp;
    add.u32 %tmp, %tmp, %a_at;
    ld.shared.b32 %q0, [%tmp];
    ld.shared.b32 %q1, [%tmp+128];
    ld.shared.b32 %q2, [%tmp+1024];
    ld.shared.b32 %q3, [%tmp+1152];
    xor.b32 %q0, %q0, 1;
    xor.b32 %q0, %q0, 1;
"""
ARRIVE = "@%gives mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%peer];"
FROM_REGISTERS = RING.broken("// SCALES", LOADS_A).replace(
    BY_DESCRIPTOR, BY_DESCRIPTOR.replace("%a_desc", "{%q0, %q1, %q2, %q3}")
)


@pytest.mark.parametrize("order", ["lazy", "eager", *range(8)])
def test_what_products_take_from_registers_has_been_loaded_once_they_are_done(order: str | int) -> None:
    """Every warp loads its part of A; a thread of one gives the stage back for all, after the wait."""
    device = Emulator("random", seed=order) if isinstance(order, int) else Emulator(order)
    RING.run(device, FROM_REGISTERS)
    assert device.findings == []


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("xor.b32 %q0, %q0, 1;\n    xor.b32 %q0, %q0, 1;", "ld.shared.b32 %tmp, [%tmp];"),
        (
            "wgmma.wait_group.sync.aligned 0; // read\n    ARRIVE",
            "ARRIVE\n    wgmma.wait_group.sync.aligned 0;",
        ),
        ("ARRIVE", "@%others mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%peer], 2;"),
    ],
    ids=["a value no product takes", "an arrival before the wait", "the other warpgroup arrives"],
)
def test_loads_that_nothing_orders_before_the_next_copy(old: str, new: str, order: str) -> None:
    old, new = (text.replace("ARRIVE", ARRIVE) for text in (old, new))
    header, mark, body = FROM_REGISTERS.partition("// ///\n\n")
    assert body.count(old) == 1
    with pytest.raises(EmulatorFault) as caught:
        RING.run(Emulator(order), header + mark + body.replace(old, new))
    assert caught.value.diagnostics[0].code in ("P650", "P653")


APART = """\
.version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 buffer[4096];
.visible .entry k(.param .u64 out, .param .u64 flag)
{
    .reg .pred %none, %away, %more;
    .reg .b32 %thread, %at, %zero, %low, %cta, %seen;
    .reg .f32 %f0, %f1, %f2, %f3;
    .reg .b64 %out, %flag, %desc;
    setp.ne.u32 %none, 0, 0;
    mov.u32 %thread, %tid.x;
    ld.param.u64 %out, [out];
    ld.param.u64 %flag, [flag];
    mov.u32 %cta, %ctaid.x;
    mad.lo.u32 %at, %cta, 128, %thread;
    mad.wide.u32 %out, %at, 4, %out;
    mov.u32 %low, buffer;
    mad.lo.u32 %at, %thread, 16, %low;
    mov.u32 %zero, 0;
    st.shared.v4.b32 [%at], {%zero, %zero, %zero, %zero};
    st.shared.v4.b32 [%at + 2048], {%zero, %zero, %zero, %zero};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %low, %low, 4;
    or.b32 %low, %low, 0x00080000;
    mov.b64 %desc, {%low, 0x00000010};
    mov.f32 %f0, 0f40000000;
    mov.f32 %f1, %f0;
    mov.f32 %f2, %f0;
    mov.f32 %f3, %f0;
    setp.ne.u32 %away, %cta, 0;
    @%away bra others;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %desc, %desc, %none, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
again:
    ld.acquire.gpu.u32 %seen, [%flag];
    setp.lt.u32 %more, %seen, 384;
    @%more bra again;
    wgmma.wait_group.sync.aligned 0;
    bra.uni store;
others:
    add.f32 %f0, %f0, %f0;
    red.release.gpu.global.add.u32 [%flag], 1;
store:
    st.global.f32 [%out], %f0;
    ret;
}
"""


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_products_of_one_cta_hold_no_registers_of_others(order: Any) -> None:
    """Three CTAs of four go on with registers of theirs while the fourth has a product in flight."""
    device = Emulator(order=order)
    out, flag = device.array(np.ones(512, np.float32)), device.array(np.zeros(1, np.uint32))
    device.load(APART).kernel().launch(4, 128, [out, flag])
    assert out.numpy().tolist() == [0] * 128 + [4] * 384
    assert device.findings == []
