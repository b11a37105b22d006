"""What `predict` makes of loops that ptxas unrolled, of jumps back, and of words that are written again."""

from __future__ import annotations

import pytest
from test_predict import body, code_of_lines, recorded
from test_predict_code import predicted, runs_of

from ptxkit.emulator.timing.blocks import MOST_UNROLLED, Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.nodes import What


def test_arithmetic_tells_how_often_a_loop_was_unrolled_whose_loads_became_one() -> None:
    """Four copies: neighbouring words come by one wide load, of a window three words stay in registers."""
    (run,) = runs_of(
        "  ld.global.f32 %f1, [%x];", "  ld.global.f32 %f2, [%x+64];", "  fma.rn.f32 %f3, %f1, %f2, %f3;",
        "  mul.f32 %f4, %f1, %f2;", "  add.f32 %f5, %f4, %f3;", "  st.global.f32 [%x], %f5;",
    )  # fmt: skip
    names = {"ld": "LDG", "fma": "FFMA", "mul": "FMUL", "add": "FADD", "st": "STG"}
    lines = [(site.name, site.span.line) for site in run.block.sites if site.name in names][-6:]
    times = [1, 1, 4, 4, 4, 1]
    listing = [
        (names[name], line, None) for (name, line), n in zip(lines, times, strict=True) for _ in range(n)
    ]
    code = code_of_lines(*listing)
    code.stands_for([run.block])
    made = code.of_block(run.block)
    assert made is not None
    assert made.copies == 4
    shares = dict(zip((site.span.line for site in run.block.sites), made.shares, strict=True))
    assert shares[lines[0][1]] == {"once": 0.25}
    assert shares[lines[2][1]] == {"fma": 1}


def test_what_stands_for_several_copies_stands_at_the_last() -> None:
    """The sum of an address that ptxas made once for two copies, behind the loads of both: the second load
    does not wait for it."""
    (run,) = runs_of("  ld.global.u32 %v, [%x];", "  add.u32 %t, %t, %v;", "  add.u64 %x, %x, 4;")
    load, add, step = (
        next(site.span.line for site in run.block.sites if site.instruction.spelling == name)
        for name in ("ld.global.u32", "add.u32", "add.u64")
    )
    code = code_of_lines(
        ("LDG R2, [R4]", load, None), ("LDG R3, [R4+0x4]", load, None), ("IADD3 R0, R0, R2, RZ", add, None),
        ("IADD3 R0, R0, R3, RZ", add, None), ("IADD3 R4, R4, 0x8, RZ", step, None),
    )  # fmt: skip
    steps = Plans(gpu("h200"), {"k": code}).of([run, run], 0)[0]
    kinds = [step.what for step in steps if step.what in (What.LOAD, What.NEED)]
    assert kinds[:3] == [What.LOAD, What.LOAD, What.NEED]


def test_a_loop_that_is_planned_in_pieces_is_not_planned_across_its_jump() -> None:
    """The head of a round stands before its tail in the code: what the tail has loaded for the next round is
    waited for there, and not where it is loaded."""
    middle = ["  add.u32 %t, %t, 1;"] * (MOST_UNROLLED - 100)
    lines = (
        "  mov.u32 %t, 0;", "  ld.global.u32 %v, [%x];", "  setp.lt.u32 %p, %t, 5;", "AGAIN:",
        "  add.u32 %t, %t, %v;", *middle, "  @%p bra NEXT;", "NEXT:", "  ld.global.u32 %v, [%x+4];",
        *middle, "  setp.lt.u32 %p, %t, 1500;", "  @%p bra AGAIN;", "  st.global.u32 [%x], %v;",
    )  # fmt: skip
    runs = recorded(body(*lines)).ctas[0].warps[0][1]
    blocks = list(dict.fromkeys(run.block for run in runs))
    listing = [
        ("LDG R2, [R4]" if site.name == "ld" else "IADD3 R0, R0, R2, RZ", site.span.line, None)
        for block in blocks
        for site in block.sites
        if site.name in ("ld", "add")
    ]
    plans = Plans(gpu("h200"), {"k": code_of_lines(*listing)})
    first = 0
    while first < len(runs):
        _, count = plans.of(runs, first)
        places = [blocks.index(run.block) for run in runs[first : first + count]]
        assert places == sorted(places)
        first += count


def test_words_that_are_written_again_are_sent_again() -> None:
    """Only words beside each other are sent together, not one that takes the place of another."""
    stores = [f"  st.global.u32 [%a+{4 * (at % 4)}], %t;" for at in range(8)]
    (run,) = runs_of("  mad.wide.u32 %a, %t, 16, %x;", *stores)
    sectors = [one.cost.sectors for one in run.happenings.values() if one.cost]
    assert sectors[0] == sectors[4] == 16
    assert sectors[1:4] == pytest.approx(sectors[5:])
    assert max(sectors[1:4]) < 4


@pytest.mark.parametrize("operation", ["red.global.add.u32 [%x], %t", "atom.global.add.u32 %v, [%x], %t"])
def test_who_changes_a_word_that_all_change_is_held_back(operation: str) -> None:
    """CTAs of one atomic operation last as long as all of them; nothing else is busy for longer."""
    found = predicted(body("  and.b32 %v, %t, 1;", f"  {operation};"), grid=1 << 16, block=64)
    turns = (1 if operation.startswith("atom") else 32) * gpu("h200")["l2_turn"]
    assert found.cycles == pytest.approx((1 << 17) * turns, rel=0.15)
    assert found.bound == "atomics on the same words"
    issued = 20 * 2 * (1 << 16)  # Not more than so many instructions a warp.
    assert found.busy["issue slots"] < issued / (528 * found.cycles)
