"""What loads of constants and accesses to local memory take, and loads of shared memory that became wider."""

from __future__ import annotations

import pytest
from test_predict import body, code_of_lines, cycles, recorded
from test_predict_code import runs_of

from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.nodes import What
from ptxkit.emulator.timing.recorded import AccessCost, LaunchStreams

TABLE = f".const .align 4 .b32 table[64] = {{{', '.join(map(str, range(64)))}}};\n"


def of_table(step: int, loads: int = 1) -> LaunchStreams:
    """Each lane loads the constant `step` words behind its neighbour's, so often."""
    lines = "  mov.u64 %a, table;", f"  mad.wide.u32 %a, %t, {4 * step}, %a;"
    each = "  ld.const.u32 %v, [%a];", "  add.u32 %t, %t, %v;"
    return recorded(TABLE + body(*lines, *each * loads, "  st.global.u32 [%x], %t;"))


def costs_of(streams: LaunchStreams) -> list[AccessCost]:
    runs = streams.ctas[0].warps[0][1]
    return [one.cost for run in runs for one in run.happenings.values() if one.cost is not None]


@pytest.mark.parametrize(("step", "addresses"), [(0, 1), (1, 32), (2, 32)])
def test_constants_come_one_address_after_another(step: int, addresses: int) -> None:
    assert costs_of(of_table(step))[0].constants == addresses
    more = cycles(of_table(step, 9)) - cycles(of_table(step))
    assert more == pytest.approx(8 * addresses * gpu("h200")["constant"], abs=60)


def test_a_constant_of_a_known_address_is_an_operand() -> None:
    (run,) = (
        recorded(TABLE + body("  ld.const.u32 %v, [table+8];", "  st.global.u32 [%x], %v;"))
        .ctas[0]
        .warps[0][1]
    )
    steps = Plans(gpu("h200")).of([run], 0)[0]
    assert not any(step.what is What.LOAD for step in steps)


LOCAL = "  .local .align 16 .b8 own[64];", "  mov.u64 %a, own;"


@pytest.mark.parametrize(
    ("address", "access", "lines", "sectors"),
    [
        ("0", "st.local.u32 [%a], %t", 1, 4),
        ("0", "st.local.v4.u32 [%a], {%t, %t, %t, %t}", 4, 16),
        ("%v", "st.local.u32 [%a], %t", 16, 32),
        ("0", "st.local.u8 [%a], %t", 1, 4),
        ("0", "st.u32 [%a], %t", 1, 4),
    ],
    ids=["one word", "four words", "a word of its own", "a byte", "by a generic address"],
)
def test_words_of_local_memory_lie_side_by_side(address: str, access: str, lines: int, sectors: int) -> None:
    """Lanes that want the same word want one line; what is stored goes on to L2, sector by sector."""
    where = "  and.b32 %v, %t, 15;", "  shl.b32 %v, %v, 2;", f"  cvt.u64.u32 %b, {address};"
    make = "  cvta.local.u64 %a, %a;" if access.startswith("st.u32") else ""
    made = (*LOCAL, make, *where, "  add.u64 %a, %a, %b;", f"  {access};", "  st.global.u32 [%x], %t;")
    cost = costs_of(recorded(body(*made, registers=".reg .b64 %b;")))[0]
    assert (cost.lines, cost.sectors, cost.sent) == (lines, sectors, lines)


def test_what_is_loaded_of_local_memory_l1_has() -> None:
    cost = costs_of(
        recorded(
            body(*LOCAL, "  st.local.u32 [%a], %t;", "  ld.local.u32 %t, [%a];", "  st.global.u32 [%x], %t;")
        )
    )[1]
    assert (cost.requests, cost.waves, cost.sectors, cost.missed) == (1, 1, 0, 0)


def test_local_memory_of_which_registers_were_made_costs_nothing() -> None:
    runs = runs_of(
        *LOCAL, "  st.local.u32 [%a], %t;", "  ld.local.u32 %v, [%a];", "  st.global.u32 [%x], %v;"
    )
    last = runs[0].block.sites[-2].span.line
    steps = Plans(gpu("h200"), {"k": code_of_lines(("STG [R4], R0", last, None))}).of(runs, 0)[0]
    own = [step for step in steps if step.kind == "local"]
    assert [(step.what, step.issue, step.part) for step in own] == [(What.STORE, 0, 0), (What.LOAD, 0, 0)]


@pytest.mark.parametrize(
    ("stride", "narrow", "wide"),
    [(16, 4, 4), (32, 8, 8), (0, 1, 2), (128, 32, 32)],
    ids=["side by side", "every other", "all the same", "a bank"],
)
def test_loads_that_became_one_take_what_that_takes(stride: int, narrow: int, wide: int) -> None:
    """Of 16 bytes a lane quarters of the warp come one after another, of one word all lanes together."""
    lines = (
        "  .shared .align 16 .b8 s[8192];", "  mov.u32 %v, s;", f"  mad.lo.u32 %v, %t, {stride}, %v;",
        "  ld.shared.u32 %t, [%v];", "  st.global.u32 [%x], %t;",
    )  # fmt: skip
    (cost,) = (one for one in costs_of(recorded(body(*lines))) if one.shared)
    assert (cost.shared, cost.wide16) == (narrow, wide)


@pytest.mark.parametrize(("apart", "waves"), [(4, 1), (32, 8), (128, 32)])
def test_copies_through_l1_have_conflicts_of_banks(apart: int, waves: int) -> None:
    lines = (
        "  .shared .align 16 .b8 s[4096];", "  mov.u32 %v, s;", f"  mad.lo.u32 %v, %t, {apart}, %v;",
        "  cp.async.ca.shared.global [%v], [%x], 4;", "  cp.async.wait_all;",
    )  # fmt: skip
    (run,) = recorded(body(*lines)).ctas[0].warps[0][1]
    (copy,) = (each for one in run.happenings.values() for made in one.operations.values() for each in made)
    assert copy.waves == waves
