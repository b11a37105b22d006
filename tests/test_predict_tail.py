"""Warps that take turns, and grids of which some multiprocessors are through before others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_predict import body, recorded

from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.predict import Occupancy, Predictor
from ptxkit.emulator.timing.recorded import BlockRun, CtaStream, LaunchStreams
from ptxkit.emulator.timing.requests import Resources
from ptxkit.emulator.timing.sampling import spread
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import Simulation
from ptxkit.emulator.timing.tail import stretch, work_of_all


def test_what_ctas_do_along_an_axis_is_told_of_all() -> None:
    numbers = spread(32 * 48, 16, ends=False, grid=(32, 48, 1))
    done = [100.0 + 20 * (number % 32) for number in numbers.tolist()]
    work = work_of_all(numbers.tolist(), done, (32, 48, 1))
    assert work == pytest.approx(100.0 + 20 * (np.arange(32 * 48) % 32))


def test_what_has_no_axis_comes_over_and_over() -> None:
    done = [1.0, 9.0, 2.0, 7.0, 1.0, 8.0, 9.0, 2.0]
    work = work_of_all(range(8), done, (64,))
    assert work.tolist() == done * 8


def test_points_and_their_opposites_have_the_mean_of_the_grid() -> None:
    chosen = spread(32 * 48, 16, ends=False, grid=(32, 48, 1))
    assert (chosen % 32).mean() == 31 / 2
    assert (chosen // 32).mean() == 47 / 2


@pytest.mark.parametrize("busy", [0.0, 0.5, 1.0])
def test_who_is_alone_gets_on_by_what_held_it_back(busy: float) -> None:
    """One place, two at once: of three equal ones the last is alone."""
    alone = 1.0 - busy / 2
    assert stretch(np.ones(3), 1, 2, busy) == pytest.approx((1 + alone) / 1.5)


def test_the_longest_last_leave_others_waiting() -> None:
    """Four places, each runs one at a time: the last takes as long as two rounds of the others."""
    assert stretch(np.array([1.0] * 8 + [2.0]), 4, 1, 0.0) == pytest.approx(4 / 2.5)
    assert stretch(np.array([2.0] + [1.0] * 8), 4, 1, 0.0) == pytest.approx(3 / 2.5)
    assert stretch(np.ones(8), 4, 2, 0.7) == pytest.approx(1.0)


def test_of_more_ctas_than_memory_holds_nothing_is_dealt_out() -> None:
    run = BlockRun(None, None)  # type: ignore[arg-type]
    ctas = [CtaStream(0, [(0, [run] * 4)]), CtaStream(1, [(0, [run])])]
    streams = LaunchStreams("k", (1 << 36,), 1, 128, 0, ctas)
    assert streams.uneven
    assert Predictor._stretch(streams, Occupancy(8, 132, 1 << 30, "warps"), {"issue": 0.5}) == 1.0


def test_warps_of_a_scheduler_take_turns_at_its_tensor_core() -> None:
    """A CTA that begins later has not to wait for all products of the one before: they share the rest."""
    where = gpu("h200")
    later = "  mov.u32 %v, %ctaid.x;", "  setp.eq.u32 %p, %v, 0;", "  @%p bra PRODUCTS;"
    sums = ["  fma.rn.f32 %f8, %f8, %f8, %f8;"] * 300
    product = (
        "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%t, %t, %t, %t}, "
        "{%t, %t}, {%f4, %f5, %f6, %f7};"
    )
    end = "  add.f32 %f1, %f1, %f8;", "  st.global.f32 [%x], %f1;"
    text = body(*later, *sums, "PRODUCTS:", *[product] * 200, *end)
    streams = recorded(text, grid=2, block=128, count=2)
    ask = Resources(where, Scaled(0.0, {}, {}, 1.0, 0.0, 132, math.inf), where["clock"], None)
    found = Simulation(streams, 2, ask, Plans(where)).run(2)
    first, second = (end - where["cta_start"] for end in found.ends)
    products = 200 * 2 * 16 * 8 * 16 * 2 / where["mma_flops"] * where["schedulers"]
    assert second == pytest.approx(2 * products, rel=0.2)
    assert first > 0.65 * second
