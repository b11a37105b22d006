"""What `predict` takes from machine code, and what caches and the dealing out of CTAs do to a launch."""

from __future__ import annotations

import numpy as np
import pytest
from test_predict import HEAD, body, code_of_lines, cycles, recorded

from ptxkit.asm import parse
from ptxkit.emulator.timing.blocks import Plans
from ptxkit.emulator.timing.gpu import gpu
from ptxkit.emulator.timing.nodes import What
from ptxkit.emulator.timing.predict import Prediction, Predictor
from ptxkit.emulator.timing.recorded import BlockRun
from ptxkit.emulator.timing.reuse import NEVER, Reuse
from ptxkit.emulator.timing.sampling import spread


def runs_of(*lines: str) -> list[BlockRun]:
    """The passages of the one warp of a kernel, with the line of each instruction in `lines`."""
    return recorded(body(*lines)).ctas[0].warps[0][1]


def predicted(text: str, grid: int, block: int = 128, size: int = 1 << 20) -> Prediction:
    where = gpu("h200")
    device, predictor = Predictor.emulator(where), Predictor(where, by_rule=True)
    kernel = device.load(parse(HEAD + text)).kernel("k")
    device.prepare = predictor.begin
    kernel.launch(grid=grid, block=block, args=[device.zeros((size,), "uint32")])
    (found,) = predictor.predictions()
    device.close()
    return found


def test_a_block_runs_in_the_order_of_its_code() -> None:
    """By rule both loads come first; this code has the second one behind what the first one feeds."""
    (run,) = runs_of(
        "  ld.global.u32 %v, [%x];", "  add.u32 %t, %t, %v;", "  ld.global.u32 %v, [%x+4];",
        "  add.u32 %t, %t, %v;", "  st.global.u32 [%x], %t;",
    )  # fmt: skip
    names = {"ld": "LDG R2, [R4]", "add": "IADD3 R0, R0, R2, RZ", "st": "STG [R4], R0"}
    code = code_of_lines(
        *((names[site.name], site.span.line, None) for site in run.block.sites if site.name in names)
    )
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    loads = [at for at, step in enumerate(steps) if step.what is What.LOAD]
    needs = [at for at, step in enumerate(steps) if step.what is What.NEED]
    assert loads[0] < needs[0] < loads[1] < needs[1]


def test_blocks_without_a_branch_between_them_run_as_one() -> None:
    """ptxas makes a guard of a branch over a few instructions; then both loads are under way together."""
    runs = runs_of(
        "  ld.global.u32 %v, [%x];", "  add.u32 %t, %t, %v;", "  setp.eq.u32 %p, %t, 7;", "  @%p bra OVER;",
        "  ld.global.u32 %v, [%x+4];", "  add.u32 %t, %t, %v;", "OVER:", "  st.global.u32 [%x], %t;",
    )  # fmt: skip
    sites = [site for run in runs for site in run.block.sites]
    first, second = (site.span.line for site in sites if site.instruction.spelling == "ld.global.u32")
    store = sites[-2].span.line
    as_one = [
        ("LDG R2, [R4]", first, None),
        ("@P0 LDG R3, [R4]", second, None),
        ("STG [R4], R0", store, None),
    ]
    assert Plans(gpu("h200"), {"k": code_of_lines(*as_one)}).of(runs, 0)[1] == len(runs)
    apart = [as_one[0], ("BRA `(.L_x_0)", first, None), *as_one[1:]]
    assert Plans(gpu("h200"), {"k": code_of_lines(*apart)}).of(runs, 0)[1] == 1


def test_what_hangs_on_a_predicate_is_issued_for_nobody() -> None:
    """PTX jumps over a block of which ptxas made predicated instructions: their issue slots, and of the load
    of shared memory a wavefront, are taken all the same; where machine code has the branch they are not."""
    runs = runs_of(
        "  .shared .align 4 .b8 s[4];", "  setp.lt.u32 %p, %t, 64;", "  @%p bra OVER;",
        "  ld.shared.u32 %v, [s];", "  add.u32 %t, %t, %v;", "OVER:", "  st.global.u32 [%x], %t;",
    )  # fmt: skip
    where = {
        site.instruction.spelling: site.span.line for block in runs[0].code.blocks for site in block.sites
    }
    made = [
        ("ISETP P0, R0", where["setp.lt.u32"], None), ("@!P0 LDS R2, [R4]", where["ld.shared.u32"], None),
        ("@!P0 IADD3 R0", where["add.u32"], None), ("STG [R4], R0", where["st.global.u32"], None),
    ]  # fmt: skip
    steps, count = Plans(gpu("h200"), {"k": code_of_lines(*made)}).of(runs, 0)
    assert count == len(runs)
    assert [step.what for step in steps if step.what in (What.LANES, What.LOAD)] == [What.LANES]
    branch = ("@P0 BRA `(.L_x_0)", where["bra"], None)
    behind = (*made[-1][:2], ".L_x_0")
    steps, count = Plans(gpu("h200"), {"k": code_of_lines(made[0], branch, *made[1:-1], behind)}).of(runs, 0)
    assert (count, [step for step in steps if step.what is What.LANES]) == (len(runs) - 1, [])


def test_a_load_that_became_part_of_its_neighbour_takes_no_issue() -> None:
    (run,) = runs_of(
        "  .shared .align 8 .b8 s[8];",
        "  ld.shared.u32 %v, [s];",
        "  ld.shared.u32 %t, [s+4];",
        "  add.u32 %t, %t, %v;",
        "  st.global.u32 [%x], %t;",
    )
    loads = [site for site in run.block.sites if site.instruction.spelling == "ld.shared.u32"]
    code = code_of_lines(
        ("LDS.64 R2, [R4]", loads[0].span.line, None), ("STG [R4], R0", loads[1].span.line + 2, None)
    )
    steps = Plans(gpu("h200"), {"k": code}).of([run], 0)[0]
    loads = [(step.issue, step.part, step.width) for step in steps if step.what is What.LOAD]
    assert loads == [(1, 1, 8), (0, 0, 8)] or loads == [(1, 1, 8), (0, 0, 0)]


def test_distinct_lines_between_two_touches_are_counted() -> None:
    random, reuse = np.random.default_rng(0), Reuse()
    last, calls = np.full(600, NEVER, np.int64), list[set[int]]()
    ratios = []
    for _ in range(300):
        lines = np.unique((int(random.integers(600)) + random.integers(0, 40, 25)) % 600)
        for line, between in zip(lines.tolist(), reuse.touch(last[lines]).tolist(), strict=True):
            if last[line] == NEVER:
                assert between == 0
            else:
                ratios.append(between / len(set().union(*calls[last[line] - 1 :])))
        last[lines] = reuse.now
        calls.append(set(lines.tolist()))
    assert min(ratios) >= 1.0
    assert np.mean(ratios) < 1.1


ROWS = body(
    "  mov.u32 %v, %ctaid.x;", "  mul.wide.u32 %a, %v, BYTES;", "  add.u64 %x, %x, %a;",
    "  mul.wide.u32 %a, %t, 4;", "  add.u64 %x, %x, %a;", "  mov.u32 %n, 0;", "AGAIN:", "  mov.u64 %a, %x;",
    "  mov.u32 %k, 0;", "NEXT:", "  ld.global.u32 %v, [%a];", "  add.u32 %s, %s, %v;",
    "  add.u64 %a, %a, 512;", "  add.u32 %k, %k, 512;", "  setp.lt.u32 %p, %k, BYTES;", "  @%p bra NEXT;",
    "  add.u32 %n, %n, 1;",
    "  setp.lt.u32 %p, %n, 3;", "  @%p bra AGAIN;", "  st.global.u32 [%x], %s;",
    registers=".reg .b32 %n, %k, %s;",
)  # fmt: skip
"""Each CTA reads a row of its own three times."""


@pytest.mark.parametrize(("bytes_of_row", "times"), [(4096, 1), (65536, 1), (524288, 3)])
def test_rows_that_no_cache_holds_come_again(bytes_of_row: int, times: int) -> None:
    """Rows of 4 KB stay in L1, rows of 64 KB in L2; of 512 KB nothing is left when a row is read again."""
    grid = 264 if bytes_of_row > 4096 else 1056
    text = ROWS.replace("BYTES", str(bytes_of_row))
    found = predicted(text, grid, size=grid * bytes_of_row // 4)
    assert found.memory == pytest.approx(times * grid * bytes_of_row, rel=0.1)


def test_ctas_that_let_dependent_grids_begin_take_a_turn_more() -> None:
    found = predicted(body("  griddepcontrol.launch_dependents;"), grid=33_792)
    each = gpu("h200")["cta_dispatch"] + gpu("h200")["cta_signal"]
    assert found.cycles == pytest.approx(33_792 * each, rel=0.2)


def test_many_empty_ctas_last_as_long_as_they_are_dealt_out() -> None:
    found = predicted(body(), grid=33_792)
    assert found.bound == "CTA dispatch"
    assert found.cycles == pytest.approx(33_792 * gpu("h200")["cta_dispatch"], rel=0.2)


def test_sampled_clusters_lie_apart() -> None:
    assert spread(1000, 4, ends=True).tolist() == [0, 499, 500, 999]
    inside = spread(1000, 4, ends=False).tolist()
    assert [place // 250 for place in inside] == [0, 1, 2, 3]
    for period in (2, 32, 64, 96, 128, 1024):
        mean = np.mean(spread(98_304, 16, ends=False) % period) / (period - 1)
        assert mean == pytest.approx(0.5, abs=0.2)
    assert spread(3, 8, ends=False).tolist() == [0, 1, 2]
    assert spread(1, 4, ends=True).tolist() == [0]


def test_an_mbarrier_in_the_place_of_another_begins_anew() -> None:
    """Two loops of a kernel each make mbarriers at the same places: phases of the first are none of the
    second's."""
    use = """
  @%first mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @%first mbarrier.arrive.shared::cta.b64 _, [bar];
WAIT{0}:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
  @!%p bra WAIT{0};
  bar.sync 0;
  @%first mbarrier.inval.shared::cta.b64 [bar];
  bar.sync 0;
"""
    text = (
        ".shared .align 8 .b64 bar;\n.visible .entry k(.param .u64 x)\n{\n"
        "  .reg .b32 %t; .reg .pred %first, %p;\n"
        "  mov.u32 %t, %tid.x;\n  setp.eq.u32 %first, %t, 0;\n"
        + use.format(1)
        + use.format(2)
        + "  ret;\n}\n"
    )
    streams = recorded(text, block=64)
    assert list(streams.contributions.values()) == [1, 1]
    assert cycles(streams) > 0


@pytest.mark.parametrize(
    ("address", "access", "waves"),
    [
        ("%t, 4", "ld.global.u32 %v, [%a]", 1),
        ("%t, 16", "ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%a]", 4),
        ("%t, 18", "ld.global.u16 %h, [%a]", 2.5),
        ("%t, 512", "ld.global.u32 %v, [%a]", 32),
        ("%t, 516", "ld.global.u32 %v, [%a]", 16),
    ],
    ids=["a line", "four lines", "five lines", "a column", "a column of other banks"],
)
def test_wavefronts_of_a_load_hang_on_banks_and_on_lines(address: str, access: str, waves: float) -> None:
    lines = f"  mul.wide.u32 %a, {address};", "  add.u64 %a, %a, %x;", f"  {access};"
    (run,) = recorded(body(*lines, registers=".reg .b16 %h; .reg .b32 %w<4>;")).ctas[0].warps[0][1]
    (cost,) = (one.cost for one in run.happenings.values() if one.cost is not None)
    assert cost.waves == waves


def test_matrices_that_wmma_moves_cost_what_other_accesses_do() -> None:
    fragment = "{%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}"
    lines = (
        f"  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {fragment}, [%x], 64;",
        "  add.u64 %x, %x, 4096;",
        f"  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%x], {fragment}, 64;",
    )
    streams = recorded(body(*lines, registers=".reg .b32 %w<8>;"))
    costs = [
        one.cost
        for run in streams.ctas[0].warps[0][1]
        for one in run.happenings.values()
        if one.cost is not None
    ]
    read, written = (sum(one.bytes for one in each.values()) for each in (streams.read, streams.written))
    assert (read, written) == (16 * 32, 16 * 64)
    # The upper half of the registers has what the lower half has; two sums lie side by side.
    assert [cost.requests for cost in costs] == [4, 4]
    assert [cost.sectors for cost in costs] == [4 * 8, 4 * 8]
