"""What `predict` takes from machine code: stalls, loops, spills; and copies by threads."""

from __future__ import annotations

import pytest
from test_predict import body, recorded
from test_predict_code import predicted, runs_of

from ptxkit.emulator.timing.assembled import MachineFunction
from ptxkit.emulator.timing.blocks import SPILLED, Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.nodes import What
from ptxkit.emulator.timing.parts import Multiprocessor
from ptxkit.emulator.timing.recorded import BlockRun, RecordedOperation
from ptxkit.emulator.timing.requests import LINE, Resources
from ptxkit.emulator.timing.scaled import Scaled

NEAR, FAR = (0.0, 0.0), (1.0, 1.0)


def lines_of(run: BlockRun, name: str) -> list[int]:
    return [site.span.line for site in run.block.sites if site.instruction.spelling == name]


def resources(spills: tuple[float, float] = NEAR) -> Resources:
    where = gpu("h200")
    return Resources(where, Scaled(0.0, {}, {}, 0.0, 0.0, 132, 0.0), where["clock"], None, spills=spills)


def test_arithmetic_takes_as_long_as_its_stalls() -> None:
    (run,) = runs_of("  add.u32 %t, %t, %v;", "  add.u32 %t, %t, %t;", "  st.global.u32 [%x], %t;")
    first, second = lines_of(run, "add.u32")
    (store,) = lines_of(run, "st.global.u32")
    code = MachineFunction(
        32, [("IADD3 R0", first, None, 4), ("IADD3 R0", second, None, 11), ("STG [R4], R0", store, None, 1)]
    )
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    assert [step.cycles for step in steps if step.what is What.ARITHMETIC] == [15]


def test_what_was_taken_out_of_a_loop_is_no_part_of_its_rounds() -> None:
    runs = runs_of(
        "  mov.u32 %v, 9;", "AGAIN:", "  mul.lo.u32 %v, %v, 77;", "  add.u32 %t, %t, %v;",
        "  st.global.u32 [%x], %t;", "  setp.lt.u32 %p, %t, 5;", "  @%p bra AGAIN;",
    )  # fmt: skip
    run = next(one for one in runs if lines_of(one, "mul.lo.u32"))
    (product,), (add,), (store,), (test,) = (
        lines_of(run, name) for name in ("mul.lo.u32", "add.u32", "st.global.u32", "setp.lt.u32")
    )
    code = MachineFunction(
        32,
        [
            ("IMAD R2", product, None, 4), ("IADD3 R0", add, ".L_x_0", 4), ("STG [R4], R0", store, None, 1),
            ("ISETP P0", test, None, 4), ("@P0 BRA `(.L_x_0)", test, None, 5),
        ],
    )  # fmt: skip
    code.stands_for([run.block])
    made = code.of_block(run.block)
    assert made is not None
    shares = dict(zip((site.span.line for site in run.block.sites), made.shares, strict=True))
    assert shares[product] == {}
    assert shares[add] == {"alu": 1}


def test_additions_of_two_halves_are_no_unrolled_loop() -> None:
    """An addition of 64 bits is two machine instructions: nothing is there twice."""
    (run,) = runs_of("  add.u64 %a, %x, %x;", "  add.u64 %x, %a, %a;", "  setp.eq.u64 %p, %a, %x;")
    lines = [*lines_of(run, "add.u64"), *lines_of(run, "setp.eq.u64")]
    code = MachineFunction(32, [("IADD3 R0", line, None, 2) for line in lines for _ in range(2)])
    code.stands_for([run.block])
    made = code.of_block(run.block)
    assert made is not None
    assert made.copies == 1
    assert [made.shares[number] for number in range(-4, -1)] == [{"alu": 2}] * 3


def test_a_label_to_which_no_code_jumps_ends_no_stretch() -> None:
    """The disassembler has labels before shuffles, too; behind the code is that of diverged warps."""
    runs = runs_of(
        "  mov.u32 %v, 9;", "  setp.eq.u32 %p, %t, 99;", "  @%p bra OVER;", "  add.u32 %v, %v, %t;", "OVER:",
        "  add.u32 %t, %t, %v;", "  shfl.sync.bfly.b32 %t, %t, 1, 31, -1;", "  st.global.u32 [%x], %t;",
    )  # fmt: skip
    (first,), (second,) = (lines for run in runs if (lines := lines_of(run, "add.u32")))
    last = runs[-1]
    (shuffle,), (store,) = lines_of(last, "shfl.sync.bfly.b32"), lines_of(last, "st.global.u32")
    code = MachineFunction(
        32,
        [
            ("BRA.DIV UR4, `(.L_x_1)", first, None, 6), ("@!P0 IADD3 R1", first, None, 4),
            ("IADD3 R0", second, ".L_x_7", 4), ("SHFL.BFLY PT, R0", shuffle, ".L_x_8", 4),
            ("STG [R4], R0", store, ".L_x_2", 1), ("EXIT", store, None, 5),
            ("WARPSYNC.COLLECTIVE R9, `(.L_x_3)", shuffle, ".L_x_1", 5),
            ("SHFL.BFLY P0, R0", shuffle, ".L_x_9", 2), ("MOV R0, R1", shuffle, ".L_x_3", 1),
            ("BRA `(.L_x_2)", shuffle, None, 5),
        ],
    )  # fmt: skip
    blocks = [run.block for run in runs]
    code.stands_for(blocks)
    made = [one for block in blocks if (one := code.of_block(block)) is not None]
    assert len({one.stretch for one in made}) == 1
    assert [n for share in made[-1].shares for pipe, n in share.items() if pipe == "once"] == [1, 1]


def test_what_stands_behind_the_code_of_a_block_comes_behind_it() -> None:
    """What the first load feeds stands in other code, and holds the second load back no longer."""
    (run,) = runs_of(
        "  ld.global.u32 %v, [%x];", "  add.u32 %v, %v, 1;", "  ld.global.u32 %t, [%x+4];",
        "  st.global.u32 [%x+8], %t;", "  st.global.u32 [%x], %v;",
    )  # fmt: skip
    (first, second), (add,), stores = (
        lines_of(run, name) for name in ("ld.global.u32", "add.u32", "st.global.u32")
    )
    code = MachineFunction(
        32,
        [
            ("LDG R2", first, None, 4), ("LDG R3", second, None, 4), ("STG [R4], R3", stores[0], None, 1),
            ("BRA `(.L_x_0)", None, None, 5), ("IADD3 R2", add, ".L_x_0", 4),
            ("STG [R4], R2", stores[1], None, 1),
        ],
    )  # fmt: skip
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    loads = [at for at, step in enumerate(steps) if step.what is What.LOAD]
    assert not any(step.what is What.NEED for step in steps[loads[0] : loads[1]])


def test_blocks_of_which_nothing_is_left_keep_no_others_apart() -> None:
    runs = runs_of(
        "  ld.global.u32 %v, [%x];", "  setp.eq.u32 %p, %t, 99;", "  @%p bra NEXT;", "NEXT:",
        "  bar.warp.sync -1;", "  bra LAST;", "LAST:", "  st.global.u32 [%x], %v;",
    )  # fmt: skip
    blocks = [run.block for run in runs]
    (load,), (store,) = lines_of(runs[0], "ld.global.u32"), lines_of(runs[-1], "st.global.u32")
    code = MachineFunction(32, [("LDG R2", load, None, 4), ("STG [R4], R2", store, None, 1)])
    plans = Plans(gpu("h200"), {"k": code})
    steps, count = plans.of(runs, 0)
    assert count == len(blocks) == 3
    assert sum(step.issue for step in steps) == 2


def test_registers_that_had_no_room_go_to_local_memory_and_come_back() -> None:
    (run,) = runs_of("  add.u32 %t, %t, %v;", "  st.global.u32 [%x], %t;")
    (add,), (store,) = lines_of(run, "add.u32"), lines_of(run, "st.global.u32")
    spills = [("STL.128 [R1]", add, None, 1)] * 2 + [("LDL R2, [R1]", add, None, 1)] * 3
    code = MachineFunction(32, [*spills, ("IADD3 R0", add, None, 4), ("STG [R4]", store, None, 1)], 64)
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    assert [step.spilled for step in steps if step.slots == (SPILLED,)] == [(0, 0), (3, 8)]


def test_what_the_text_has_in_local_memory_is_no_spill() -> None:
    (run,) = runs_of(
        "  .local .b32 own;", "  st.local.u32 [own], %t;", "  ld.local.u32 %v, [own];",
        "  st.global.u32 [%x], %v;",
    )  # fmt: skip
    (store,), (load,) = lines_of(run, "st.local.u32"), lines_of(run, "ld.local.u32")
    code = MachineFunction(32, [("STL [R1]", store, None, 1), ("LDL R2, [R1]", load, None, 1)], 4)
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    assert not any(any(step.spilled) for step in steps)


@pytest.mark.parametrize(("spills", "moved"), [(NEAR, 0), ((1.0, 0.0), 0), (FAR, 12)])
def test_spills_that_caches_hold_do_not_go_to_dram(spills: tuple[float, float], moved: int) -> None:
    place, ask = Multiprocessor(gpu("h200"), 0), resources(spills)
    ask.spill(place, 0.0, 4, 8)
    assert place.spilled == moved * LINE
    assert bool(place.busy["L2"]) == bool(spills[0])


def copies_of(offset: int, name: str = "cg") -> list[RecordedOperation]:
    """What a warp's copies of 16 bytes a lane to shared memory, from some byte on, ask for, twice."""
    copy = f"  cp.async.{name}.shared.global [%s], [%a], 16;"
    streams = recorded(
        ".shared .align 128 .b8 tile[1024];\n"
        + body(
            "  mul.wide.u32 %a, %t, 16;", "  add.u64 %a, %a, %x;", "  mov.u32 %s, tile;",
            "  mad.lo.u32 %s, %t, 16, %s;", f"  add.u32 %s, %s, {offset};", copy, copy,
            "  cp.async.wait_all;", registers=".reg .b32 %s;",
        )
    )  # fmt: skip
    (warp,) = streams.ctas[0].warps
    done = [happening.operations.get(warp[0], []) for run in warp[1] for happening in run.happenings.values()]
    return [one for some in done for one in some]


def test_copies_past_l1_ask_for_each_sector_that_they_write() -> None:
    """512 bytes are 16 sectors of 4 lines; 16 bytes further they lie in 17 sectors, of which those at the
    ends of lines are asked for by both."""
    aligned, shifted = copies_of(0)[0], copies_of(16)[0]
    assert (aligned.read, aligned.asked, aligned.lines) == (512, 512, 4)
    assert shifted.read == 512
    assert shifted.asked == 20 * 32
    assert shifted.lines == 5


def test_copies_through_l1_ask_for_nothing_that_it_has() -> None:
    assert [one.read for one in copies_of(0, "ca")] == [512, 0]
    assert [one.read for one in copies_of(0, "cg")] == [512, 512]


def test_the_last_cta_stands_for_no_other() -> None:
    """Each CTA reads 64 KB of its own but the last one, which has nothing left to do."""
    text = body(
        "  mov.u32 %v, %ctaid.x;", "  setp.eq.u32 %p, %v, 131;", "  @%p bra OVER;",
        "  mul.wide.u32 %a, %v, 65536;", "  add.u64 %x, %x, %a;", "  mul.wide.u32 %a, %t, 4;",
        "  add.u64 %x, %x, %a;", "  mov.u32 %k, 0;", "NEXT:", "  ld.global.u32 %v, [%x];",
        "  add.u64 %x, %x, 1024;", "  add.u32 %k, %k, 1;", "  setp.lt.u32 %p, %k, 64;", "  @%p bra NEXT;",
        "OVER:", registers=".reg .b32 %k;",
    )  # fmt: skip
    found = predicted(text, grid=132, block=256, size=132 * 65536 // 4)
    assert found.memory == pytest.approx(131 * 65536, rel=0.01)
