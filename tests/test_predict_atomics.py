"""What `predict` says of atomic operations, and of sectors that DRAM delivers two at once."""

from __future__ import annotations

import pytest
from test_predict import body, cycles, recorded
from test_predict_code import predicted

from ptxkit.emulator.timing.atomics import change_of
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.scaled import Scaled

ROOM = ".shared .align 16 .b8 room[4096];\n"


def shared(operation: str, lanes: int) -> str:
    """A warp whose lanes add to words of shared memory 16 times, so many of them to the same one."""
    at = (
        f"  shr.u32 %v, %t, {lanes.bit_length() - 1};",
        "  shl.b32 %v, %v, 3;",
        "  mov.u32 %t, room;",
        "  add.u32 %v, %v, %t;",
    )
    return ROOM + body(*at, *16 * (f"  red.shared.{operation};",))


@pytest.mark.parametrize(
    ("operation", "looped", "merged", "floats"),
    [
        ("red.shared.add.f32 [%v], %f1", 4, False, True),
        ("red.shared.add.noftz.f16x2 [%v], %t", 4, False, True),
        ("atom.shared.add.f64 %d, [%v], %d", 8, False, True),
        ("red.shared.add.u64 [%v], %a", 8, False, False),
        ("atom.shared.cas.b64 %a, [%v], %a, %a", 0, False, False),
        ("atom.shared.exch.b64 %a, [%v], %a", 0, False, False),
        ("red.shared.or.b32 [%v], %t", 0, False, False),
        ("red.shared.add.u32 [%v], 1", 0, True, False),
        ("red.shared.add.u32 [%v], 2", 0, False, False),
    ],
)
def test_what_machine_code_has_of_an_atomic_operation(
    operation: str, looped: int, merged: bool, floats: bool
) -> None:
    streams = recorded(ROOM + body("  mov.u32 %v, room;", f"  {operation};", registers=" .reg .f64 %d;"))
    sites = [site for _, runs in streams.ctas[0].warps for run in runs for site in run.block.sites]
    (change,) = filter(None, map(change_of, sites))
    assert (change.looped, change.merged, change.floats) == (looped, merged, floats)


@pytest.mark.parametrize(("kind", "value", "size"), [("f32", "%f1", 4), ("u64", "%a", 8)])
def test_lanes_that_change_a_word_by_a_loop_take_turns(kind: str, value: str, size: int) -> None:
    each = [cycles(recorded(shared(f"add.{kind} [%v], {value}", lanes))) for lanes in (1, 2, 8)]
    turn = 16 * gpu("h200")[f"shared_try_{size}"]
    assert each[1] - each[0] == pytest.approx(turn, rel=0.05)
    assert each[2] - each[0] == pytest.approx(7 * turn, rel=0.05)


def test_lanes_that_count_in_a_word_take_no_turns() -> None:
    apart, same = (cycles(recorded(shared("add.u32 [%v], 1", lanes))) for lanes in (2, 32))
    assert same <= apart
    assert cycles(recorded(shared("add.u32 [%v], 2", 32))) > 4 * same


def test_one_lane_adds_integers_for_all_that_change_the_same_word() -> None:
    """Of `atom`, as ptxas makes a sum first: not of floating-point numbers, nor where lanes change others."""
    one, several, floats = (
        predicted(body(*lines), grid=4096, block=32).cycles
        for lines in (
            ("  atom.global.add.u32 %v, [%x], %t;",),
            ("  and.b32 %v, %t, 1;", "  mad.wide.u32 %x, %v, 4, %x;", "  atom.global.add.u32 %v, [%x], %t;"),
            ("  atom.global.add.f32 %f1, [%x], %f1;",),
        )
    )
    turn = gpu("h200")["l2_turn"]
    assert one < 4096 * 2 * turn + 10_000
    assert several == pytest.approx(4096 * 16 * turn, rel=0.15)
    assert floats == pytest.approx(4096 * 32 * gpu("h200")["l2_turn_float"], rel=0.1)


def test_a_word_that_all_ctas_change_is_changed_in_turn() -> None:
    """Each of 4,096 warps adds to one word, or to one of its own CTA."""
    one = "  red.global.add.f32 [%a], %f1;"
    same = body("  mov.u64 %a, %x;", one)
    own = body("  mov.u32 %v, %ctaid.x;", "  mad.wide.u32 %a, %v, 128, %x;", one)
    assert [one.changed for one in recorded(same, grid=64, count=4).written.values()] == [1]
    assert [one.changed for one in recorded(own, grid=64, count=4).written.values()] == [0]
    together, apart = (predicted(text, grid=4096, block=32).cycles for text in (same, own))
    assert together == pytest.approx(4096 * 32 * gpu("h200")["l2_turn_float"], rel=0.1)
    assert apart < together / 10


@pytest.mark.parametrize(("stride", "brought"), [(4, 1.0), (32, 1.0), (64, 2.0), (128, 2.0)])
def test_dram_delivers_two_sectors_at_once(stride: int, brought: float) -> None:
    text = body(f"  mad.wide.u32 %a, %t, {stride}, %x;", "  ld.global.u32 %v, [%a];")
    streams = recorded(text, block=256)
    (touched,) = streams.read.values()
    assert touched.brought == brought
    assert Scaled.of(streams, gpu("h200"), warm=False).memory == brought * touched.bytes
