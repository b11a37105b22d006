"""How long a launch would take, without a GPU: what the model of time says of kernels whose time is known."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import here, ptxkit

from ptxkit.asm import parse
from ptxkit.emulator import Emulator
from ptxkit.emulator.timing import predict as predicting
from ptxkit.emulator.timing.assembled import MachineFunction, pipe_of
from ptxkit.emulator.timing.blocks import MOST_UNROLLED, Plans
from ptxkit.emulator.timing.gpu import gpu, known
from ptxkit.emulator.timing.machine_code import code_of
from ptxkit.emulator.timing.nodes import What
from ptxkit.emulator.timing.predict import Occupancy, Predictor, bound_of, occupancy
from ptxkit.emulator.timing.recorded import LaunchStreams, Touched
from ptxkit.emulator.timing.requests import Resources
from ptxkit.emulator.timing.scaled import Scaled
from ptxkit.emulator.timing.simulate import Simulation
from ptxkit.emulator.timing.streams import SampledCtas, Streams
from ptxkit.emulator.timing.timeline import events

ROOT = Path(__file__).parents[1]
HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"


CHAINED = (
    """\
// /// ptxkit
// [launch]
// grid = 1
// block = 32
// params = ["x"]
//
// [tensors.x]
// dtype = "u64"
// shape = "4096"
// init = "zeros"
// ///
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b64 %a, %b, %c;
  ld.param.u64 %a, [x];
"""
    + "".join(
        f"  ld.global.u64 %b, [%a+{1024 * number}];\n  BETWEEN\n  add.s64 %c, %c, %b;\n"
        for number in range(16)
    )
    + "  st.global.u64 [%a], %c;\n  ret;\n}\n"
)


def recorded(text: str, grid: int = 1, block: int = 32, count: int = 1, **arguments: Any) -> LaunchStreams:
    """What the first CTAs of a kernel `k(.param .u64 x)` did; `x` is 1 MB of zeros."""
    device = Emulator(order="eager", sanitize=False, traffic=True, jit=False, threads=1)
    streams = Streams(
        lambda execution: SampledCtas(np.arange(min(count, execution.launch.shape.ctas)), False, 1 << 18)
    )
    kernel = device.load(parse(HEAD + text)).kernel("k")
    x = device.zeros((1 << 18,), "uint32")
    device.prepare = streams.begin
    kernel.launch(grid=grid, block=block, args=[x])
    streams.finish()
    return streams.launches[0]


def cycles(streams: LaunchStreams, resident: int = 1, rounds: int = 1, dram: float = 0.0) -> float:
    where = gpu("h200")
    parts = dict.fromkeys(streams.read, dram)
    waits = dict.fromkeys(parts, 1.0)
    ask = Resources(where, Scaled(0.0, parts, waits, 1.0, 0.0, 132, math.inf), where["clock"], None)
    return Simulation(streams, resident, ask, Plans(where)).run(rounds).cycles - where["cta_start"]


def body(*lines: str, registers: str = "") -> str:
    return "\n".join(
        (
            ".visible .entry k(.param .u64 x)\n{",
            "  .reg .b64 %x, %a; .reg .b32 %t, %v; .reg .f32 %f<80>; .reg .pred %p;" + registers,
            "  ld.param.u64 %x, [x];",
            "  mov.u32 %t, %tid.x;",
            *lines,
            "  ret;\n}",
        )
    )


# ---- the figures


@pytest.mark.parametrize("key", known())
def test_each_figure_says_where_it_is_from(key: str) -> None:
    where = gpu(key)
    assert set(where.figures) == set(gpu("h200").figures)
    for name, source in where.sources.items():
        assert re.match(r"(measured|published|assumed)\b", source) or where[name] == 0, f"{name}: {source}"


def test_an_instruction_becomes_what_the_first_rule_says() -> None:
    assert code_of("fma f32").pipe == "fma"
    assert code_of("mad.wide u32").pipe == "imad"
    assert code_of("ex2 f32 approx").pipe == "xu"
    assert code_of("add s64").count == 2
    assert code_of("mov b32").count == 0


# ---- what is recorded


def test_warpgroups_meet_at_barriers_of_their_own() -> None:
    text = body(
        "  shr.u32 %v, %t, 7;", "  add.u32 %v, %v, 1;", "  bar.sync %v, 128;", registers=" .reg .b32 %n;"
    )
    streams = recorded(text, block=256)
    met = {
        row: happening.barriers[row]
        for row, runs in streams.ctas[0].warps
        for run in runs
        for happening in run.happenings.values()
        if happening.barriers
    }
    assert met == {**dict.fromkeys(range(4), (1, 4)), **dict.fromkeys(range(4, 8), (2, 4))}
    assert cycles(streams) > 0  # and both phases end


def test_copies_phases_and_who_waits_for_them() -> None:
    text = """.shared .align 128 .b8 room[4096];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 x)
{
  .reg .b64 %x; .reg .b32 %t; .reg .pred %first, %p;
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared::cta.b64 [bar], 1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%first bra wait;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%x], 4096, [bar];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
  @!%p bra wait;
  ret;
}
"""
    streams = recorded(text, block=64)
    ((phase, count),) = streams.contributions.items()
    happenings = [
        (row, one) for row, runs in streams.ctas[0].warps for run in runs for one in run.happenings.values()
    ]
    (copy,) = [operation for _, one in happenings for each in one.operations.values() for operation in each]
    assert (copy.read, copy.shared, copy.completes) == (4096, 4096, [phase])
    assert list(streams.read) == [copy.owner]
    assert {row: one.awaits[row] for row, one in happenings if row in one.awaits} == {0: phase, 1: phase}
    arrived = sum(len(one.arrives.get(row, ())) for row, one in happenings)
    assert count == arrived + len(copy.completes)
    where = gpu("h200")
    assert cycles(streams) > where["l2_latency"] + where["copy_latency"]
    assert cycles(streams, dram=1.0) > cycles(streams) + where["dram_latency"] / 2


def test_of_lines_that_a_cta_has_touched_nothing_is_missed() -> None:
    again = body(
        "  mad.wide.u32 %a, %t, 4, %x;", "  ld.global.u32 %v, [%a];", "  bar.warp.sync 0xffffffff;",
        "  ld.global.u32 %v, [%a];",
    )  # fmt: skip
    costs = [
        one.cost
        for _, runs in recorded(again).ctas[0].warps
        for run in runs
        for one in run.happenings.values()
        if one.cost is not None
    ]
    assert [(one.sectors, one.missed) for one in costs] == [(4, 4), (4, 0)]


def test_a_load_takes_a_wavefront_for_each_line() -> None:
    apart = body("  mad.wide.u32 %a, %t, 128, %x;", "  ld.global.u32 %v, [%a];")
    together = body("  mad.wide.u32 %a, %t, 4, %x;", "  ld.global.u32 %v, [%a];")
    for text, lines in ((apart, 32), (together, 1)):
        costs = [
            one.cost
            for _, runs in recorded(text).ctas[0].warps
            for run in runs
            for one in run.happenings.values()
            if one.cost is not None
        ]
        assert [one.lines for one in costs] == [lines]


def test_lanes_that_change_one_word_take_turns() -> None:
    def cost(at: str) -> float:
        text = ".shared .align 4 .b8 room[256];\n" + body(
            "  mov.u32 %v, room;", at, "  red.shared.add.u32 [%v], 1;"
        )
        (found,) = (
            one.cost.again
            for _, runs in recorded(text).ctas[0].warps
            for run in runs
            for one in run.happenings.values()
            if one.cost is not None
        )
        return found

    assert cost("  mad.lo.u32 %v, %t, 4, %v;") == 0
    assert cost("  and.b32 %t, %t, 7; mad.lo.u32 %v, %t, 4, %v;") == 3
    assert cost("") == 31


def test_what_ctas_share_is_read_once_and_what_is_their_own_grows_with_the_grid() -> None:
    same = body("  mad.wide.u32 %a, %t, 4, %x;", "  ld.global.u32 %v, [%a];")
    own = body(
        "  mov.u32 %v, %ctaid.x;", "  mad.lo.u32 %t, %v, 32, %t;", "  mad.wide.u32 %a, %t, 4, %x;",
        "  ld.global.u32 %v, [%a];",
    )  # fmt: skip
    for text, bytes_of_all in ((same, 128), (own, 64 * 128)):
        streams = recorded(text, grid=64, count=4)
        (touched,) = streams.read.values()
        assert touched.of_all(len(streams.ctas), streams.total) == bytes_of_all


def test_what_is_written_goes_to_dram_when_l2_is_full() -> None:
    streams = recorded(body("  st.global.u32 [%x], %t;"))
    dirty = int(gpu("h200")["l2_dirty"])
    for size, back in ((dirty // 2, 0), (4 * dirty, 3 * dirty)):
        streams.written = {"x": Touched(size, size, 1, size)}
        scaled = Scaled.of(streams, gpu("h200"), False)
        assert scaled.memory == back
        assert scaled.back == back / size


def test_a_warp_that_has_arrived_and_ends_does_not_arrive_again() -> None:
    """The first warp of each CTA is gone before the others come to the cluster's barrier."""
    streams = recorded(
        body(
            "  setp.lt.u32 %p, %t, 32;", "  barrier.cluster.arrive;", "  @%p ret;",
            "  ld.global.u64 %a, [%x];", "  add.s64 %x, %x, %a;", "  ld.global.u64 %a, [%x];",
            "  barrier.cluster.wait;", "  add.s64 %x, %x, %a;", "  barrier.cluster.arrive;",
            "  barrier.cluster.wait;", "  st.global.u64 [%x], %a;",
        ),
        block=128,
    )  # fmt: skip
    assert cycles(streams) > 2 * gpu("h200")["l2_latency"]


# ---- machine code


def code_of_lines(*instructions: tuple[str, int | None, str | None]) -> MachineFunction:
    return MachineFunction(32, [(*one, 0) for one in instructions])


TOUCHES = ("  ld.global.u32 %v, [%x];", "  add.u32 %t, %t, %v;", "  st.global.u32 [%x], %t;")


def test_a_loop_that_was_unrolled_is_shared_out() -> None:
    streams = recorded(body(*TOUCHES))
    (run,) = (one for _, runs in streams.ctas[0].warps for one in runs if one.block.count > 4)
    load, add, store = (
        site.span.line
        for site in run.block.sites
        if site.name.partition(".")[0] in ("ld", "add", "st") and "param" not in site.instruction.spelling
    )
    copy = (
        ("LDG.E R2, [R4]", load, None),
        ("IADD3 R0, R0, R2, RZ", add, None),
        ("STG [R4], R0", store, None),
    )
    code = code_of_lines(
        ("MOV R4, R5", load, None), *(each for _ in range(4) for each in copy),
        ("IMAD R7, R7, R8, R9", add, None), ("@P0 BRA `(.L_x_0)", store, None),
        ("LDG.E R2, [R4]", load, ".L_x_1"), ("NOP", load, None),
    )  # fmt: skip
    code.stands_for([run.block])
    made = code.of_block(run.block)
    assert made is not None
    assert made.copies == 4
    shares = dict(zip((site.span.line for site in run.block.sites), made.shares, strict=True))
    assert shares[load] == {"once": 1, "alu": 0.25}
    assert shares[add] == {"alu": 1, "imad": 0.25}
    assert shares[store] == {"once": 1, "": 0.25}


def test_a_block_that_is_too_long_to_be_looked_at_twice_runs_once() -> None:
    """Of a loop of more than `MOST_UNROLLED` instructions that was unrolled one run is planned at a time."""
    additions = ["  add.u32 %t, %t, %v;"] * MOST_UNROLLED
    streams = recorded(body("  ld.global.u32 %v, [%x];", *additions, "  st.global.u32 [%x], %t;"))
    (run,) = (one for _, runs in streams.ctas[0].warps for one in runs)
    assert len(run.block.sites) > MOST_UNROLLED
    twice = [
        ("LDG R2, [R4]" if site.name == "ld" else "IADD3 R0, R0, R2, RZ", site.span.line, None)
        for site in run.block.sites
        for _ in range(2)
    ]
    plans = Plans(gpu("h200"), {"k": code_of_lines(*twice)})
    assert plans.of([run, run], 0)[1] == 1


def test_without_a_loop_all_of_the_code_counts() -> None:
    streams = recorded(body(*TOUCHES))
    (run,) = (one for _, runs in streams.ctas[0].warps for one in runs if one.block.count > 4)
    line = max(site.span.line for site in run.block.sites)
    code = code_of_lines(
        ("LDC R1, c[0x0]", line, None), ("BRA `(.L_x_0)", line, None), ("MOV R1, R2", line, ".L_x_0")
    )
    code.stands_for([run.block])
    made = code.of_block(run.block)
    assert made is not None
    assert made.copies == 1
    assert made.shares[-1] == {"": 2, "alu": 1}
    assert MachineFunction(32, []).of_block(run.block) is None


@pytest.mark.parametrize(
    ("operation", "pipe"),
    [("FFMA", "fma"), ("IMAD", "imad"), ("IADD3", "alu"), ("LOP3", "alu"), ("F2FP", "pack"), ("MUFU", "xu"),
     ("DFMA", "fp64"), ("LDG", "once"), ("HGMMA", "once"), ("HMMA", "once"), ("BRA", ""), ("S2R", "")],
)  # fmt: skip
def test_operations_have_a_pipe(operation: str, pipe: str) -> None:
    assert pipe_of(operation) == pipe


def test_the_rule_stands_where_nobody_assembles() -> None:
    by_rule, by_code = (
        json.loads(here("predict", "gemv.ptx", *more, "--json").stdout)["predictions"][0]["launches"][0]
        for more in (["--by-rule"], [])
    )
    assert by_rule["machine_code"] == "by rule"
    assert re.match(r"by (ptxas|nvJitLink) 13\.\d", by_code["machine_code"])
    assert by_code["cycles"] == pytest.approx(by_rule["cycles"], rel=0.2)


# ---- the order of a block, and its time


def test_loads_go_up_and_who_reads_them_waits() -> None:
    text = body(
        "  add.f32 %f1, %f0, 0f3F800000;", "  add.f32 %f2, %f1, 0f3F800000;", "  ld.global.f32 %f3, [%x];",
        "  ld.global.f32 %f4, [%x+4096];", "  add.f32 %f5, %f3, %f4;", "  st.global.f32 [%x], %f5;",
    )  # fmt: skip
    streams = recorded(text)
    (run,) = (one for _, runs in streams.ctas[0].warps for one in runs if one.block.count > 4)
    steps = [step.what for step in Plans(gpu("h200")).of([run], 0)[0]]
    loads = [at for at, what in enumerate(steps) if what is What.LOAD]
    assert len(loads) == 2
    assert max(loads) < steps.index(What.NEED) < steps.index(What.STORE)
    where = gpu("h200")
    one_trip = where["l2_latency"]
    assert one_trip < cycles(streams) < 2 * one_trip  # both at once


def test_a_chain_of_loads_takes_as_many_trips() -> None:
    steps = [line for _ in range(8) for line in ("  ld.global.u64 %a, [%x];", "  add.s64 %x, %x, %a;")]
    streams = recorded(body(*steps))
    where = gpu("h200")
    assert cycles(streams) == pytest.approx(where["l2_latency"] + 7 * where["l1_latency"], rel=0.4)


def test_dependent_arithmetic_waits_and_independent_one_fills_the_pipe() -> None:
    chain = body(*(f"  fma.rn.f32 %f{at + 1}, %f{at}, %f{at}, %f{at};" for at in range(64)))
    apart = body(*(f"  fma.rn.f32 %f{at + 1}, %f0, %f0, %f0;" for at in range(64)))
    latency = code_of("fma f32").latency
    assert cycles(recorded(chain)) >= 63 * latency
    assert cycles(recorded(apart)) < 64 * latency * 0.6
    many = cycles(recorded(apart, block=1024))  # eight warps on each of four schedulers
    assert many == pytest.approx(8 * 64, rel=0.2)


def test_conflicts_of_banks_take_their_wavefronts() -> None:
    def kernel(stride: int) -> str:
        return ".shared .align 16 .b8 room[32768];\n" + body(
            "  mov.u32 %v, room;", f"  mad.lo.u32 %v, %t, {stride}, %v;",
            *(f"  ld.shared.f32 %f{at}, [%v+{4 * (at % 2)}];" for at in range(64)),
        )  # fmt: skip

    plain, conflicting = (cycles(recorded(kernel(stride))) for stride in (4, 128))
    assert conflicting - plain > 64 * 31 * 0.9


# ---- grids


def test_what_holds_ctas_down() -> None:
    where = gpu("h200")
    assert occupancy(where, 264, 1, 512, 40000, 32) == Occupancy(2, 132, 2, "the grid")
    assert occupancy(where, 10000, 1, 1024, 0, 32) == Occupancy(2, 132, 76, "warps")
    assert occupancy(where, 10000, 1, 128, 100000, 32).limit == "shared memory"
    assert occupancy(where, 10000, 1, 1024, 0, 64) == Occupancy(1, 132, 76, "registers")
    assert occupancy(where, 264, 2, 384, 229504, 168) == Occupancy(1, 66, 2, "shared memory")


def test_further_rounds_take_as_long_as_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch of many rounds is scaled from few: the same as if all were simulated."""
    arguments = ["predict", "gemv.ptx", "--preset", "bench_7168x2048x4", "--json", "--grid"]
    scaled = json.loads(here(*arguments, "924,2,1").stdout)["predictions"][0]["launches"][0]
    assert scaled["occupancy"]["rounds"] > predicting.ROUNDS * scaled["occupancy"]["resident"]
    monkeypatch.setattr(predicting, "ROUNDS", 99)
    whole = json.loads(here(*arguments, "924,2,1").stdout)["predictions"][0]["launches"][0]
    assert scaled["cycles"] == pytest.approx(whole["cycles"], rel=0.05)


def test_the_bound_is_the_busiest_or_what_is_waited_for() -> None:
    waits = (predicting.WaitedFor("mbarrier", "line 3", "mbarrier.try_wait", 0.4),)
    assert bound_of({"DRAM": 0.9, "issue slots": 0.3}, waits) == "DRAM"
    assert bound_of({"DRAM": 0.4, "issue slots": 0.3}, waits) == "waits for mbarrier"


def test_events_count_once_for_several_launches() -> None:
    predictor = Predictor(gpu("h200"), by_rule=True)
    with Predictor.emulator(gpu("h200")) as device:
        kernel = device.load(parse(HEAD + body("  st.global.u32 [%x], %t;"))).kernel("k")
        x = device.zeros((1 << 18,), "uint32")
        device.prepare = predictor.begin
        for _ in range(3):
            kernel.launch(grid=1, block=32, args=[x])
    first, second, third = (one.cycles for one in predictor.predictions())
    assert second == third
    assert first - second == pytest.approx(gpu("h200")["launch"] * gpu("h200")["clock"])


# ---- beside what was measured


@pytest.mark.parametrize("preset", ["bench_7168x16384x1", "bench_4096x7168x8", "bench_7168x2048x4"])
def test_gemv_takes_what_it_took(preset: str) -> None:
    record = json.loads((ROOT / "bench" / "results" / "gemv.bench.h200.json").read_text())
    (state,) = (one for one in record["states"] if one["preset"] == preset)
    measured = statistics.median(one["median"] * one["sm_clock"] for one in state["timing"]["trials"])
    done = here("predict", "gemv.ptx", "--preset", preset, "--inputs", state["inputs"], "--json")
    (launch,) = json.loads(done.stdout)["predictions"][0]["launches"]
    assert launch["cycles"] == pytest.approx(measured, rel=0.1)
    assert launch["bound"] == "DRAM"


def test_a_product_is_bound_by_the_tensor_cores() -> None:
    sizes = ["-p", "M=2048", "-p", "N=2048", "-p", "K=2048"]
    (launch,) = json.loads(here("predict", "gemm_wgmma.ptx", *sizes, "--json").stdout)["predictions"][0][
        "launches"
    ]
    assert launch["bound"] == "tensor cores"
    least = 128 * 256 * 2048 * 2 / 4096  # one tile of a CTA, at 4096 operations a cycle
    assert least < launch["cycles"] < 1.6 * least


# ---- the command


def test_the_command(tmp_path: Path) -> None:
    done = ptxkit("predict", "gemv.ptx", "-o", tmp_path / "t.json", "--top", 2)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("predicted for NVIDIA H200 at 1,980 MHz")
    assert [line.split()[0] for line in lines[1:8]] == "time bound busy grid DRAM code model".split()
    assert len(lines) == 8 + 2 + 2
    slices = [one for one in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if one["ph"] == "X"]
    assert slices
    assert all(one["dur"] > 0 for one in slices)


def test_each_launch_has_processes_of_its_own_in_the_timeline() -> None:
    """A process is a multiprocessor: two launches of clusters of four CTAs are eight."""
    predictor = Predictor(gpu("h200"), timed=True)
    with Predictor.emulator(gpu("h200")) as device:
        kernel = device.load(parse(CHAINED.replace("BETWEEN", ""))).kernel("k")
        x = device.zeros((1 << 12,), "uint64")
        device.prepare = predictor.begin
        for _ in range(2):
            kernel.launch(grid=8, block=32, args=[x], cluster=4)
    found = events(predictor.predictions())
    assert len({one["pid"] for one in found if one["ph"] == "X"}) == 8


def test_what_a_faster_resource_would_bring() -> None:
    """Of a kernel that DRAM bounds, DRAM; the tensor cores, which it has no use for, nothing."""
    arguments = ["predict", "gemv.ptx", "--preset", "bench_7168x2048x4", "--what-if"]
    (launch,) = json.loads(here(*arguments, "--json").stdout)["predictions"][0]["launches"]
    left = launch["twice_as_fast"]
    assert next(iter(left)) == "DRAM"
    assert left["DRAM"] < 0.85
    assert left["tensor cores"] == left["copy engine"] == 1
    assert "  faster  twice as fast: DRAM -" in here(*arguments).stdout


def test_variants_side_by_side(tmp_path: Path) -> None:
    """The same kernel, once with its loads one after another."""
    names = []
    for name, between in (("apart", ""), ("chained", "add.s64 %a, %a, %b;")):
        path = tmp_path / f"{name}.ptx"
        path.write_text(CHAINED.replace("BETWEEN", between))
        names.append(path)
    done = here("predict", *names, "--top", 0)
    rows = done.stdout.splitlines()[-2:]
    assert [Path(row.split()[0]).name for row in rows] == ["apart.ptx", "chained.ptx"]
    assert re.search(r"\+\d+%  global load [\d,]+$", rows[1])


def test_a_run_that_is_right_is_predicted() -> None:
    done = here("run", "gemv.ptx", "--device", "emu", "--predict", "h200")
    assert "  c     ok" in done.stdout
    assert "predicted for NVIDIA H200" in done.stdout
    both = here("run", "gemv.ptx", "--device", "emu", "--predict", "h200", "--json")
    assert both.returncode == 2
    assert "without `--json`" in both.stdout + both.stderr
    unknown = here("run", "gemv.ptx", "--device", "emu", "--predict", "rubin")
    assert (unknown.returncode, "found `--predict rubin`" in unknown.stderr) == (2, True)


def test_of_what_was_never_asked_nothing_is_claimed() -> None:
    sizes = ["-p", "M=256", "-p", "N=256", "-p", "K=256"]
    done = here("predict", "gemm_tcgen05.ptx", "--on", "b200", *sizes)
    assert "  model  no NVIDIA B200 has confirmed it" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--on", "rubin"], 2, "P520"),
        (["-o", "t.svg"], 2, "P560"),
        (["--device", "cuda"], 2, "P520"),
        (["--clock", "0"], 2, "--clock"),
    ],
)
def test_what_is_refused(arguments: list[str], code: int, said: str) -> None:
    done = ptxkit("predict", "gemv.ptx", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert "internal" not in done.stderr


def test_a_file_for_another_gpu_is_refused() -> None:
    done = here("predict", "gemm_tcgen05.ptx", "--on", "h200")
    assert done.returncode == 1
    assert "ask for `sm_100f` instead of `sm_90a`" in done.stderr
