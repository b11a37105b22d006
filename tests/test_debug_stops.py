"""Where `ptxkit debug` stops: conditions, watchpoints, walks; what it shows there. As a process."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from debug_process import TILE, answers, debug, line_of

from ptxkit.debugger.commands import COMMANDS
from ptxkit.shipped import kernels

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
INLINED = HERE / "data" / "inlined.ptx"
WITH = ("--grid", "1", "--block", "32", "--arg", "q=f32[64]", "--arg", "p=f32[8192]:randn", "--arg", "n=9")
LOOP = """\
.version 8.0
.target sm_80
.address_size 64

.func (.reg .b32 %out) twice(.reg .b32 %in)
{
    add.u32 %out, %in, %in;
    ret;
}

.visible .entry k(.param .u64 y)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 0;
AGAIN:
    call (%r2), twice, (%r1);
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 5;
    @%p bra AGAIN;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
ONE = ("--grid", "1", "--block", "1", "--arg", "y=u32[1]")


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    file = tmp_path / "loop.ptx"
    file.write_text(LOOP)
    return file


def stopped_at(text: str) -> int:
    """The PTX line of a stop."""
    found = re.search(r"ptx:(\d+) in `", text)
    assert found is not None, text
    return int(found[1])


def test_a_condition_holds_in_some_lane_where_it_stops(loop: Path) -> None:
    add = line_of("add.u32 %r1, %r1, 1", loop)
    out = answers(f"b {add} if %r1 == 3\nrun\np %r1 u32\nb\nc\n", loop, *ONE)
    assert out[0] == f"breakpoint 1 at loop.ptx:{add} if %r1 == 3"
    assert stopped_at(out[1]) == add
    assert out[2] == "%r1 .u32: 3 in lanes 0"
    assert out[3].endswith(", hit 1 time")
    assert out[4].startswith("the launch has ended")


def test_a_condition_chooses_the_warp_for_which_it_holds() -> None:
    out = answers("b STORE if %ctaid.x == 1 && %tid.x == 40\nrun\n")
    assert "warp 1 of CTA (1, 0, 0)" in out[1]


def test_a_condition_that_cannot_be_told_stops_and_says_so() -> None:
    out = answers("b STORE if %q\nrun\n")
    assert "breakpoint 1: its condition can't be told: `%q` has no value" in out[1]


def test_breakpoints_are_ignored_disabled_and_temporary(loop: Path) -> None:
    add = line_of("add.u32 %r1, %r1, 1", loop)
    out = answers(
        f"b {add}\nignore 1 2\nrun\np %r1\ndisable 1\ntb {add}\nc\np %r1\nb\nenable 1\nc\np %r1\n", loop, *ONE
    )
    assert out[3].endswith("2 in lanes 0") or out[3].endswith("0x00000002 in lanes 0")
    assert out[7].endswith("0x00000003 in lanes 0")
    assert out[8] == f"breakpoint 1 at loop.ptx:{add}, disabled, hit 1 time"
    assert out[11].endswith("0x00000004 in lanes 0")


def test_expressions_are_those_of_c() -> None:
    lines = {
        "%laneid % 4 == 1": "true in lanes 1, 5, 9, 13, 17, 21, 25, 29",
        "7 / 2 + (-7) / 2": "0 in lanes 0-31",
        "!(%laneid >= 2) || %laneid == 31": "true in lanes 0-1, 31",
        "1 << 40 | 3": f"{1 << 40 | 3} in lanes 0-31",
        "f32(%tid.x) == 0.0": "true in lanes 0",
    }
    commands = "".join(f"print {text}\n" for text in lines)
    out = answers(f"b WAIT\nrun\n{commands}print %laneid +\nprint nothing\nprint 1 / 0\n")
    for text, (wanted, found) in zip(lines, zip(lines.values(), out[2:], strict=False), strict=False):
        assert wanted in found, (text, found)
    assert out[-4] == "error: expected an expression, found `%laneid +`"
    assert out[-3] == "error: `nothing` is no register, parameter or variable of `tile`"
    assert out[-2] == "error: division by zero"


def test_expressions_read_memory() -> None:
    out = answers(
        "b STORE\nrun\nprint shared.f32[tile + 4 * %tid.x]\nprint global.f32[x + 4 * %tid.x]\nshared tile 8\n"
    )
    first, second = (re.findall(r"-?\d\.\d+", text) for text in out[2:4])
    assert len(first) == 32
    assert first == second
    assert first[:8] == out[4].split()[1:]


def test_a_watchpoint_tells_the_copy_that_changed_shared_memory() -> None:
    out = answers("watch shared.f32[tile] 2\nrun\nc\n")
    assert out[0] == "watchpoint 1: shared.f32[0x400], 2 elements of CTA 0"
    old, new, by = out[1].splitlines()[1:4]
    assert old == "  old value: undefined undefined"
    assert re.fullmatch(r"  new value: -?\d+\.\d+ -?\d+\.\d+", new)
    assert re.fullmatch(rf"  by `cp\.async\.bulk.*` at line {line_of('cp.async.bulk')}, asynchronously", by)
    assert out[2].startswith("the launch has ended")


def test_watchpoints_on_a_register_an_mbarrier_and_global_memory(loop: Path) -> None:
    out = answers("watch %r2\nwatch y\nb twice\nrun\ndelete 3\nc\nc\n", loop, *ONE)
    assert out[0] == "watchpoint 1: %r2 of warp 0 of CTA 0"
    assert "by `call` at" in "".join(out[5:]) or "%r2" in out[5], out
    barrier = answers("watch mbarrier full\nrun\nc\nc\nc\n")
    init, expected, turned = (text.splitlines() for text in barrier[1:4])
    assert init[1] == "  old value: not initialised"
    assert init[3] == f"  by `mbarrier.init.shared.b64` at line {line_of('mbarrier.init')}"
    assert "tx-count 256" in expected[2]
    assert turned[2].startswith("  new value: phase 1 (parity 1)")
    last = answers("watch y\nrun\n", loop, *ONE)
    assert f"by `st.global.u32` at line {line_of('st.global', loop)}" in last[1]


def test_a_watchpoint_on_tensor_memory() -> None:
    file = kernels.find("gemm_tcgen05.ptx")[1]
    out = answers("watch tmem.f32[0, 0]\nrun\n", file)
    assert out[0] == "watchpoint 1: tmem.f32[0, 0] of CTA 0"
    assert re.search(r"by `tcgen05\.mma.*` at line \d+, asynchronously", out[1]), out[1]


def test_finish_until_and_goto(loop: Path) -> None:
    call, after, store = (line_of(text, loop) for text in ("call (", "add.u32 %r1", "st.global"))
    out = answers("b twice\nrun\nfinish\nfinish\ndelete 1\nuntil\nuntil\nuntil\nuntil\n", loop, *ONE)
    assert stopped_at(out[1]) == line_of("add.u32 %out", loop)
    assert stopped_at(out[2]) == after
    assert out[3] == "error: nobody called this function"
    assert [stopped_at(text) for text in out[5:8]] == [after + 1, after + 2, store]
    there = answers(
        f"step\nuntil {store}\ninfo launch\ngoto 3\ninfo launch\ngoto 5\ninfo launch\ngoto 0\n", loop, *ONE
    )
    assert stopped_at(there[1]) == store
    assert "step 3\n" in there[4]
    assert stopped_at(there[3]) == call
    assert "step 5\n" in there[6]
    assert there[7] == "error: expected a step from 1 on"


def test_lines_of_the_source_break_and_step() -> None:
    commands = "b inlined.cu:14\nset lines source\nrun\nnext\nnext\nnext\nwhere\nreverse-next\nreverse-step\n"
    out = answers(commands, INLINED, *WITH)
    assert re.fullmatch(r"breakpoint 1 at inlined\.ptx:\d+, inlined\.cu:14", out[0])
    lines = [re.findall(r"inlined\.cu:(\d+)", text)[-1] for text in out[2:6]]
    assert lines == ["14", "15", "16", "17"]
    assert [re.findall(r"inlined\.cu:(\d+)", text)[-1] for text in out[7:9]] == ["16", "16"]
    into = answers("b inlined.cu:15\nset lines source\nrun\nstep\nfinish\n", INLINED, *WITH)
    assert "inlined.cu:2:3" in into[3]
    assert "in pair" in into[3] or "inlined.cu:16:5" in into[3]


def test_a_source_line_that_was_inlined_twice_is_one_breakpoint_in_two_places() -> None:
    out = answers("b inlined.cu:2\nrun\nc\nc\n", INLINED, *WITH)
    assert out[0].count("inlined.cu:2") == 2
    assert "inlined.cu:6:3" in out[1]
    assert "inlined.cu:7:3" in out[2]
    assert "the launch has ended" in out[3]


def test_lanes_are_rows_of_a_table() -> None:
    out = answers("b POSITIVE\nrun\ninfo lanes %f1 %tid.x\np %f1\ninfo lanes %nothing\n")
    head, *rows = out[2].splitlines()
    assert head.split() == ["lane", "%f1", "%tid.x"]
    here = re.search(r"lanes ([\d, -]+);", out[1])
    assert here is not None
    lanes = [int(row.split()[0]) for row in rows]
    assert all(row.split()[0] == row.split()[2] for row in rows)
    assert 0 < len(lanes) < 32
    assert [row.split()[1] for row in rows] == [
        text for line in out[3].splitlines()[1:] for text in line.split(":")[1].split() if text != "-"
    ]
    assert out[4] == "error: `tile` has no register `%nothing`"
    more = answers("b POSITIVE\nrun\ninfo lanes %f1 %f2\n")[2].splitlines()
    assert more[0].split() == ["lane", "%f1"]
    assert more[-1].startswith("`%f2` has no value: ")


def test_parameters_variables_and_the_launch() -> None:
    out = answers("b WAIT\nrun\ninfo args\ninfo variables\ninfo launch\ninfo\ninfo x\np x\n")
    x = re.search(r"^x \.u64: (\d+)$", out[2], re.M)
    assert x is not None
    assert f"x: global .f32 at {int(x[1]):#x}, 512 bytes" in out[3]
    assert "tile: shared .f32 at 0x400, 256 bytes" in out[3]
    assert out[4].startswith("launch 1 of `tile`: grid (2, 1, 1), block (64, 1, 1)\nstep ")
    assert out[5].startswith("error: expected a topic: args, barriers,")
    assert out[6].startswith("error: expected a topic: ")
    assert x[1] in out[7]


def matrix(text: str) -> np.ndarray:
    """The numbers of a tile that was shown."""
    rows = [line.split()[1:] for line in text.splitlines()[2:] if re.match(r" *\d+  ", line)]
    return np.array(rows, float)


def test_a_tile_is_the_same_through_a_descriptor_a_tensor_map_and_by_rows() -> None:
    """The first k-step of A: 64 rows, and the tensor itself."""
    file = kernels.find("gemm_wgmma.ptx")[1]
    product = line_of("wgmma.mma_async", file)
    shown = "tile desc %a_step 64x16 bf16\n"
    base = answers(f"b {product}\nrun\n{shown}", file)[2]
    at = re.search(r"address (\d+)", base.splitlines()[0])
    assert at is not None, base
    address = int(at[1])
    commands = f"b {product}\nrun\n{shown}tile map a_map {address:#x}\ntile {address:#x} 64x64 bf16 128B\n"
    refused = (
        "tile map none 0\ntile desc %a_step 64 bf16\ntile 0x400 8x8 bf16 256B\ntile 0x400 8x8 q7\n"
        f"tile map a_map {address:#x} from 8,4\n"
    )
    out = answers(f"{commands}global a 8 bf16\n{refused}", file)
    through, by_map, by_rows = (matrix(text) for text in out[2:5])
    first = [float(text) for text in out[5].split()[1:]]
    assert through.shape == (16, 8)
    assert (through == by_map).all()
    assert (through == by_rows).all()
    assert through[0].tolist() == first
    assert out[3].splitlines()[0].startswith("box [128, 64] bf16 of `a_map` at")
    assert out[3].splitlines()[-1] == "of 128 rows and 64 columns"
    assert out[6] == "error: expected a tensor map, found `none`; there are `a_map`, `b_map`, `d_map`"
    assert out[7].startswith("error: expected rows and columns such as `64x16`")
    assert out[8].startswith("error: expected a swizzle, one of none, 32B, 64B, ")
    assert out[9].startswith("error: expected a type")
    assert matrix(out[10])[:8, :4].tolist() == by_map[8:16, 4:8].tolist()


def test_every_command_is_helped_and_there() -> None:
    from ptxkit.debugger.commands import SHORT, Commands

    helped = debug("help\n", TILE).stdout
    for name in COMMANDS:
        assert re.search(rf"^  {name}( |$)", helped, re.M), name
        assert hasattr(Commands, f"do_{name.replace('-', '_')}")
    assert {name.split()[0] for name in SHORT.values()} <= set(COMMANDS)


def test_what_stops_cannot_do_says_why() -> None:
    commands = {
        "watch": "error: expected a register, memory, or `mbarrier` and its address",
        "watch 0x400": "error: expected a register or memory such as `shared.f32[0x400]`, found `0x400`",
        "watch shared.q7[0x400]": "error: expected a type such as `f32`, `s32` or `b8`, found `q7`",
        "tmem.f32[0]": "error: expected a command, found `tmem.f32[0]`: `help` lists them",
        "watch tmem.f32[0]": "error: expected `tmem.b32[LANE, COLUMN]`, or an address for other memory",
        "condition 3 %r1": "error: there is no breakpoint 3",
        "break WAIT if": "error: expected an expression, found ``",
        "break WAIT if lambda: 1": "error: expected an expression, found `lambda: 1`",
        "set lines c": "error: expected `set lines ptx` or `set lines source`",
        "reverse-step": "error: the launch has not begun",
        "until nowhere": "error: expected a line, a label or a function, found `nowhere`",
        "info launch": "error: the launch has not begun",
        "tile": "error: warp 0 of CTA 0 is not running",
    }
    out = answers("\n".join(commands) + "\n")
    for (command, expected), found in zip(commands.items(), out, strict=False):
        assert found == expected, command


def test_a_warp_that_is_not_running_takes_no_steps(tmp_path: Path) -> None:
    """A grid of more CTAs than run at once: the last one has not begun."""
    file = tmp_path / "tile.ptx"
    file.write_text(LOOP)
    out = answers(
        "step\nwarp 9999 0\nstep\nreverse-step\nwarp 0 0\nstep\n", file, "--grid", "10000", *ONE[2:]
    )
    assert out[1] == out[2] == "error: warp 0 of CTA 9999 is not running"
    assert stopped_at(out[5]) == line_of("mov.u32 %r1, 0", file)
