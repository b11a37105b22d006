"""What `predict` says of what all CTAs read, and of how busy resources are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_predict import body, recorded
from test_predict_code import predicted

from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.predict import WaitedFor, bound_of
from ptxkit.emulator.timing.requests import Resources
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import Simulation

WEIGHTS = body(
    "  mul.wide.u32 %a, %t, 4;", "  add.u64 %a, %x, %a;", "  ld.global.u32 %v, [%a];",
    "  mov.u32 %t, %ctaid.x;", "  mad.wide.u32 %a, %t, 512, %a;", "  ld.global.u32 %t, [%a+65536];",
    "  add.u32 %t, %t, %v;", "  st.global.u32 [%a+131072], %t;",
)  # fmt: skip
"""Each of 128 threads reads a word that all CTAs read, and one of its CTA alone."""


def test_what_all_ctas_read_is_told_from_what_is_their_own() -> None:
    (touched,) = recorded(WEIGHTS, grid=64, block=128, count=4).read.values()
    assert touched.common == 4 * 512
    assert touched.requested == 4 * 1024
    (alone,) = recorded(WEIGHTS, grid=64, block=128, count=1).read.values()
    assert alone.common == 0  # Of one CTA nobody knows what the others read.


def test_l1_keeps_what_all_ctas_read_for_the_next_ones() -> None:
    streams, where = recorded(WEIGHTS, grid=64, block=128, count=4), gpu("h200")
    scaled = Scaled.of(streams, where, warm=False, l1=where["l1_size"])
    assert scaled.common
    assert not Scaled.of(streams, where, warm=False, l1=512).common

    def busy(kept: Scaled) -> tuple[float, float]:
        ask = Resources(where, kept, where["clock"], None)
        found = Simulation(streams, 1, ask, Plans(where)).run(4)
        return found.cycles, found.busy["L2"]

    with_l1, without = busy(scaled), busy(replace(scaled, common=False))
    assert with_l1[0] < without[0]
    # Three CTAs of four find half of what they read; what they write is the same.
    assert without[1] / with_l1[1] == pytest.approx((2 + 1.0) / (2 + 1.0 - 3 / 4), rel=0.25)


@pytest.mark.parametrize("grid", [1, 66, 132])
def test_resources_are_busy_on_the_average_of_all_multiprocessors(grid: int) -> None:
    text = body("LOOP:", *200 * ("  fma.rn.f32 %f1, %f1, %f2, %f3;",), "  add.u32 %t, %t, 4096;",
                "  setp.lt.u32 %p, %t, 32768;", "  @%p bra LOOP;", "  cvt.rzi.u32.f32 %v, %f1;",
                "  st.global.u32 [%x], %v;")  # fmt: skip
    found = predicted(text, grid=grid, block=1024)
    issued = 8 * 203 * 8  # Of a scheduler: the rounds, what each has, its warps.
    ran = found.cycles - gpu("h200")["launch"] * gpu("h200")["clock"]
    assert found.busy["issue slots"] == pytest.approx(issued / ran * grid / 132, rel=0.03)


def test_dealing_out_ctas_bounds_what_nothing_else_bounds() -> None:
    waits = (WaitedFor("global load", "line 3", "ld.global", 0.4),)
    assert bound_of({"CTA dispatch": 0.95, "DRAM": 0.7}, waits) == "DRAM"
    assert bound_of({"CTA dispatch": 0.95, "DRAM": 0.4}, waits) == "CTA dispatch"


def test_what_l2_has_lost_comes_again_once_for_all_that_share_it() -> None:
    """All CTAs read the same 64 KB, and those again after L2 has lost them: a sample of two says of all eight
    what a sample of one would."""
    same = body(
        "  mad.wide.u32 %a, %t, 512, %x;", *(f"  ld.global.u32 %v, [%a+{32 * n}];" for n in range(16))
    )
    streams, where = recorded(same, grid=8, block=128, count=2), gpu("h200")
    (touched,) = streams.read.values()
    assert touched.bytes == 65536
    touched.again[30] = 65536
    assert Scaled.of(streams, where, warm=False).memory == 2 * 65536
    own = recorded(WEIGHTS, grid=64, block=128, count=4)
    (touched,) = own.read.values()
    once = Scaled.of(own, where, warm=False).memory
    touched.again[30] = touched.bytes  # All of it, whether shared or not.
    assert Scaled.of(own, where, warm=False).memory == pytest.approx(2 * once)


def test_l2_has_what_one_half_asks_for_once_and_what_both_do_twice() -> None:
    where = gpu("h200")
    same = body("  mad.wide.u32 %a, %t, 32, %x;", "  ld.global.u32 %v, [%a];")
    own = body(
        "  mov.u32 %v, %ctaid.x;", "  mad.wide.u32 %a, %v, 4096, %x;", "  ld.global.u32 %v, [%a];"
    )  # fmt: skip
    shared, alone = (
        Scaled.of(recorded(text, grid=128, block=128, count=4), where, warm=False) for text in (same, own)
    )
    assert shared.kept == pytest.approx(where["l2_size"] / 2, rel=0.05)
    assert alone.kept == pytest.approx(where["l2_size"] / (128 / 4), rel=0.05)


def test_of_a_sector_at_a_time_every_other_one_has_come_with_its_neighbour() -> None:
    def chain(stride: int) -> float:
        step = "  cvt.u64.u32 %a, %v;", "  add.u64 %x, %x, %a;", f"  add.u64 %x, %x, {stride};"
        return predicted(body(*64 * ("  ld.global.u32 %v, [%x];", *step)), grid=1, block=32).cycles

    where = gpu("h200")
    assert chain(64) - chain(32) == pytest.approx(32 * where["dram_latency"], rel=0.02)
    assert chain(128) == pytest.approx(chain(64), rel=0.01)
