"""What `predict` makes of loads that the assembler moved, of what comes back, and of turns of CTAs."""

from __future__ import annotations

import numpy as np
import pytest
from test_predict import body, code_of_lines, recorded
from test_predict_code import ROWS, predicted, runs_of

from ptxkit.emulator.timing.assembled import MachineFunction
from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.merging import SOME
from ptxkit.emulator.timing.nodes import What
from ptxkit.emulator.timing.parts import Dispatcher
from ptxkit.emulator.timing.requests import Resources
from ptxkit.emulator.timing.sampling import spread
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import Simulation

TWO = body(
    "  ld.global.u32 %v, [%x];", "  add.u32 %t, %t, %v;", "  setp.eq.u32 %p, %t, 77;", "  @%p bra OVER;",
    "  bar.warp.sync -1;", "  ld.global.u32 %v, [%x+4096];", "  add.u32 %t, %t, %v;", "OVER:",
    "  st.global.u32 [%x], %t;",
)  # fmt: skip
"""A load, and behind a branch another one."""


def lines_of(name: str) -> list[int]:
    sites = [site for run in runs_of_two() for site in run.block.sites]
    return [site.span.line for site in sites if site.instruction.spelling == name]


def runs_of_two() -> list:
    return recorded(TWO).ctas[0].warps[0][1]


def code(moved: bool) -> MachineFunction:
    """The machine code of `TWO`, its second load where the first one is or where it was written."""
    (first, second), adds = lines_of("ld.global.u32"), lines_of("add.u32")
    (test,), (over,) = lines_of("setp.eq.u32"), lines_of("st.global.u32")
    load = ("LDG R3, [R4+0x1000]", second, None)
    return code_of_lines(
        ("LDG R2, [R4]", first, None), *([load] if moved else []), ("IADD3 R0, R0, R2, RZ", adds[0], None),
        ("ISETP P0, R0, 0x4d", test, None), ("@P0 BRA `(.L_x_0)", test, None),
        ("WARPSYNC", lines_of("bar.warp.sync")[0], None), *([] if moved else [load]),
        ("IADD3 R0, R0, R3, RZ", adds[1], None), ("STG [R4], R0", over, ".L_x_0"),
    )  # fmt: skip


def time_of(made: MachineFunction) -> float:
    streams, where = recorded(TWO), gpu("h200")
    ask = Resources(where, Scaled(0.0, {}, {}, 0.0, 0.0, 132, 0.0), where["clock"], None)
    return Simulation(streams, 1, ask, Plans(where, {"k": made})).run(1).cycles


def test_a_load_that_was_moved_up_is_under_way_with_those_beside_it() -> None:
    """It is planned where it was written, and knows which stretch of code has it."""
    plans, runs = Plans(gpu("h200"), {"k": code(moved=True)}), runs_of_two()
    steps = [step for run in range(len(runs)) for step in plans.of(runs[run : run + 1], 0)[0]]
    assert [step.moved for step in steps if step.what is What.LOAD] == [None, plans.stretch(runs[0])[1]]
    trip = gpu("h200")["l1_latency"] + gpu("h200")["l2_latency"]
    assert time_of(code(moved=False)) - time_of(code(moved=True)) == pytest.approx(trip, rel=0.15)


def test_routines_for_rare_cases_are_not_part_of_what_stands_before_them() -> None:
    """ptxas puts the division of 64-bit integers behind the last instruction, whose line it bears."""
    (run,) = runs_of("  st.global.u32 [%x], %t;")
    store = next(site.span.line for site in run.block.sites if site.instruction.spelling == "st.global.u32")
    routine = (
        ("IMAD R2, R2, R3, R4", store, "$__internal_0_$__cuda_sm20_div_s64"),
        ("IADD3 R2, R2, R3, RZ", store, None),
    )
    made = code_of_lines(("STG [R4], R0", store, None), *routine)
    made.stands_for([run.block])
    found = made.of_block(run.block)
    assert found is not None
    shares = dict(zip((site.span.line for site in run.block.sites), found.shares, strict=True))
    assert shares[store] == {"once": 1}


def test_loads_pass_stores_where_the_machine_code_lets_them() -> None:
    """ptxas knew that they touch different words, which PTX does not say."""
    (run,) = runs_of(
        "  ld.global.u32 %v, [%x];", "  st.global.u32 [%x+8], %v;", "  ld.global.u32 %t, [%x+4];",
        "  st.global.u32 [%x+12], %t;",
    )  # fmt: skip
    first, second, third, fourth = (
        site.span.line for site in run.block.sites if site.instruction.spelling.endswith(".global.u32")
    )
    loads = ("LDG R2, [R4]", first, None), ("LDG R3, [R4+0x4]", third, None)
    stores = ("STG [R4+0x8], R2", second, None), ("STG [R4+0xc], R3", fourth, None)
    steps = Plans(gpu("h200"), {"k": code_of_lines(*loads, *stores)}).of([run], 0)[0]
    order = [step.what for step in steps if step.what in {What.LOAD, What.STORE}]
    assert order == [What.LOAD, What.LOAD, What.STORE, What.STORE]


def test_what_comes_back_to_its_cta_comes_from_l2() -> None:
    """Of a row of 128 KB, which L1 has lost, the second and third time nothing comes from DRAM."""
    streams = recorded(ROWS.replace("BYTES", str(131072)), grid=4, block=128, count=4)
    (touched,) = streams.read.values()
    assert sum(touched.returned.values()) == 2 * touched.bytes
    scaled = Scaled.of(streams, gpu("h200"), warm=False)
    assert list(scaled.dram.values()) == [1.0]
    once = recorded(ROWS.replace("BYTES", str(131072)), grid=4, block=128, count=4)
    for one in once.read.values():
        one.returned.clear()
    assert list(Scaled.of(once, gpu("h200"), warm=False).dram.values()) == [pytest.approx(1 / 3, rel=0.01)]


def test_what_all_ctas_read_together_is_one_trip_to_dram() -> None:
    """Each CTA reads a word of its own, or first one that all of them read: who asks for it while it is under
    way waits as long as the one that asked first."""
    own = (
        "  mov.u32 %v, %ctaid.x;", "  mul.wide.u32 %a, %v, 512;", "  mad.wide.u32 %a, %t, 4, %a;",
        "  add.u64 %a, %a, %x;",
    )  # fmt: skip
    load = "  ld.global.u32 %t, [%a];"
    every = "  ld.global.u32 %v, [one];", "  cvt.u64.u32 %b, %v;", "  add.u64 %a, %a, %b;"
    store = "  st.global.u32 [%a], %t;"
    variable = ".global .u32 one;\n"
    alone, both = (
        predicted(variable + body(*own, *more, load, store, registers=".reg .b64 %b;"), grid=132)
        for more in ((), every)
    )
    where = gpu("h200")
    trip = where["l1_latency"] + where["l2_latency"] + where["dram_latency"]
    assert 0.9 * trip < both.cycles - alone.cycles < 1.5 * trip


def test_ctas_that_end_together_do_not_wait_for_turns_of_others() -> None:
    """A multiprocessor whose CTAs all end at once has its turns saved; when all begin they come in turn."""
    turns = Dispatcher(each=160.0, saved=4)
    assert [turns.start(0.0) for _ in range(4)] == [160.0, 320.0, 480.0, 640.0]
    assert [turns.start(5_000.0) for _ in range(5)] == [5_000.0] * 4 + [5_160.0]


def test_stores_of_neighbouring_words_are_sent_together() -> None:
    """Four words of each lane fill sectors of four lines; of sixteen lines nothing is sent together."""

    def sent(stride: int, count: int) -> list[tuple[float, float]]:
        address = f"  mad.wide.u32 %a, %t, {stride}, %x;"
        stores = [f"  st.global.u32 [%a+{4 * at}], %t;" for at in range(count)]
        (run,) = runs_of(address, *stores)
        return [(one.cost.sectors, one.cost.partial) for one in run.happenings.values() if one.cost]

    (first, *others) = sent(16, 4)
    assert first[0] == 16
    assert first[1] == pytest.approx(16 - 4 - 3 * 4 * SOME)
    assert [sectors for sectors, _ in others] == pytest.approx([16 * (1 - SOME)] * 3)
    assert sent(64, 4) == [(32, 28)] * 4


def test_a_grid_lasts_until_all_that_it_wrote_has_arrived() -> None:
    """Stores that nobody waits for: each multiprocessor writes 1 MB at its share of the rate of L2."""
    lines = [
        "  mov.u32 %v, %ctaid.x;", "  mul.wide.u32 %a, %v, 1048576;", "  mad.wide.u32 %a, %t, 16, %a;",
        "  add.u64 %a, %a, %x;",
    ]  # fmt: skip
    stores = [f"  st.global.v4.u32 [%a+{at << 14}], {{%v, %v, %v, %v}};" for at in range(64)]
    found = predicted(body(*lines, *stores), grid=132, block=1024, size=132 << 18)
    where = gpu("h200")
    least = (132 << 20) / where["l2_write_rate"] * where["clock"]
    assert found.cycles > least


def test_samples_follow_the_extents_of_the_grid() -> None:
    """Half of a triangle is seen as half, whatever its period in the order of CTAs."""
    chosen = spread(16 * 16 * 8, 32, ends=False, grid=(16, 16, 8))
    below = np.count_nonzero(chosen % 16 <= chosen // 16 % 16)
    assert below / len(chosen) == pytest.approx((16 + 1) / 2 / 16, abs=0.1)


def test_uneven_ctas_count_as_often_as_they_come() -> None:
    """Every other CTA does nothing: the launch takes about half of what it takes if all work."""
    work = ["  fma.rn.f32 %f1, %f1, %f1, %f1;"] * 400
    skip = "  mov.u32 %v, %ctaid.x;", "  and.b32 %v, %v, 1;", "  setp.ne.u32 %p, %v, 0;", "  @%p bra OVER;"
    store = "OVER:", "  st.global.f32 [%x], %f1;"
    half, whole = (predicted(body(*more, *work, *store), grid=1 << 15).cycles for more in (skip, ()))
    assert half / whole == pytest.approx(0.5, abs=0.12)


def test_copies_of_threads_ask_for_lines() -> None:
    """Two neighbouring lanes copy 32 bytes of a line of their own: 16 lines of one sector each."""
    (run,) = runs_of(
        "  .shared .align 16 .b8 s[512];", "  shr.u32 %v, %t, 1;", "  mul.wide.u32 %a, %v, 128;",
        "  and.b32 %v, %t, 1;", "  mad.wide.u32 %a, %v, 16, %a;", "  add.u64 %a, %a, %x;", "  mov.u32 %v, s;",
        "  mad.lo.u32 %v, %t, 16, %v;", "  cp.async.cg.shared.global [%v], [%a], 16;",
        "  cp.async.wait_all;",
    )  # fmt: skip
    (copy,) = (each for one in run.happenings.values() for made in one.operations.values() for each in made)
    assert (copy.read, copy.lines) == (512, 16)
