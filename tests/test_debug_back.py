"""Backwards under `ptxkit debug`: the same step is the same state, whatever way leads there. As a process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from debug_process import PRINTS, TILE, answers, debug, line_of

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
RING = HERE.parent / "docs" / "tutorial" / "04-cp-async-ring"
LOOK = "info launch\nwhere\nregs\nwarps\nbarriers\nflying\nshared 0x400 64\n"
COUNT = LOOK.count("\n")


def states(out: list[str]) -> dict[int, list[str]]:
    """What `LOOK` shows, by step."""
    found = {}
    for at, text in enumerate(out):
        step = re.search(r"^launch 1 of.*\nstep (\d+)$", text, re.M)
        if step and not out[at + 1].startswith("error"):
            found.setdefault(int(step[1]), out[at : at + COUNT])
    return found


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("debug_tile.ptx", ()),
        ("debug_tile.ptx", ("--order", "eager")),
        ("debug_tile.ptx", ("--order", "random", "--seed", "7")),
        ("debug_tile.ptx", ("--no-sanitize",)),
        ("gemm_wgmma.ptx", ("--order", "random", "--seed", "3")),
        ("gemm_tcgen05.ptx", ()),
    ],
)
def test_a_step_is_the_same_state_on_the_way_back(kernel: str, options: tuple[str, ...]) -> None:
    file = TILE if kernel == TILE.name else HERE.parent / "kernels_ptx" / kernel
    forth = answers("step\n" + f"{LOOK}step 7\n" * 9 + LOOK, file, *options)
    there = states(forth)
    assert len(there) >= 4
    steps = sorted(there, reverse=True)
    back = answers(
        f"goto {steps[0]}\n" + "".join(f"goto {step}\n{LOOK}" for step in steps[1:]), file, *options
    )
    for step, seen in states(back).items():
        assert seen == there[step], step
    assert set(states(back)) == set(steps[1:])


def test_steps_back_undo_steps() -> None:
    forth = answers("b WAIT\nrun\nstep\nstep\nstep\nstep\nstep\nregs\n")
    out = answers("b WAIT\nrun\ndelete 1\n" + "step\n" * 5 + "reverse-step\n" * 5 + "step 5\nregs\n")
    forward, back = out[3:8], out[8:13]
    assert back == [*reversed(forward[:-1]), out[1].partition("\n")[2]]
    assert out[13] == forward[-1]
    assert out[14] == forth[7]


def test_reverse_continue_meets_breakpoints_and_the_beginning() -> None:
    wait, store = line_of("mbarrier.try_wait"), line_of("mad.lo.u32 %r4, %r2")
    out = answers(f"b {wait}\nb {store}\nrun\n" + "c\n" * 9 + "rc\n" * 9)
    reasons = [text.splitlines()[0] for text in out[2:20]]
    forward = [text for text in reasons[:9] if text.startswith("breakpoint")]
    assert set(forward) == {"breakpoint 1", "breakpoint 2"}
    assert len(forward) < 9
    assert reasons[9] != "no more history: the launch begins here"
    back = [text for text in reasons[10:] if text.startswith("breakpoint")]
    assert back[: len(forward)] == forward[::-1]
    assert reasons[-1] == "no more history: the launch begins here"


def test_reverse_continue_finds_the_write_of_a_watchpoint() -> None:
    out = answers("b STORE\nrun\nwatch shared.f32[tile]\nrc\nshared tile 1\nstep\nshared tile 1\n")
    stop = out[3].splitlines()
    assert stop[0] == "watchpoint 2: shared.f32[0x400] of CTA 0"
    assert stop[2] == "  new value: undefined"
    assert "asynchronously" in stop[3]
    assert out[4] == "0x400: undefined"
    assert stop[1] == f"  old value: {out[6].split()[1]}"


CALLED = """\
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
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 21;
    call (%r2), twice, (%r1);
    add.u32 %r3, %r2, 1;
    st.global.u32 [%rd1], %r3;
    st.global.u32 [%rd1], 5;
    ret;
}
"""


@pytest.fixture
def called(tmp_path: Path) -> Path:
    file = tmp_path / "called.ptx"
    file.write_text(CALLED)
    return file


ONE = ("--grid", "1", "--block", "1", "--arg", "y=u32[1]")


def test_reverse_next_goes_over_a_call_and_reverse_step_into_it(called: Path) -> None:
    call, add = line_of("call (", called), line_of("add.u32 %r3", called)
    out = answers(f"b {add}\nrun\nrn\nstep\nreverse-finish\nc\nrs\nreverse-finish\n", called, *ONE)
    assert f"called.ptx:{call} in `k`" in out[2]
    assert "in `twice`" in out[3]
    assert f"called.ptx:{call} in `k`" in out[4].splitlines()[1]
    assert f"called.ptx:{line_of('ret;', called)} in `twice`" in out[6]
    assert f"called.ptx:{call} in `k`" in out[7].splitlines()[1]


def test_who_wrote_this_byte(called: Path) -> None:
    last, first = line_of("st.global.u32 [%rd1], 5", called), line_of("st.global.u32 [%rd1], %r3", called)
    out = answers("run\nwho y\nrs\nrs\nwho global.u32[y]\nwho %r3\ninfo launch\n", called, *ONE)
    assert f"written last by `st.global.u32` at line {last}, thread (0, 0, 0) of CTA (0, 0, 0)" in out[1]
    step = re.search(rf"changed last at step (\d+) by `st\.global\.u32` at line {last}", out[1])
    assert step is not None
    assert f"step {step[1]}\n" in out[6]
    assert f"changed last at step {int(step[1]) - 1} by `st.global.u32` at line {first}" in out[4]
    nobody = answers("b tile\nrun\nwho tile\n")
    assert "shared.f32[0x400] of CTA 0: nothing has changed it" in nobody[2]


def test_a_finding_is_the_same_again(tmp_path: Path) -> None:
    text = TILE.read_text().replace(
        "mad.wide.u32 %rd4, %r4, 4, %rd2;", "mad.wide.u32 %rd4, %r4, 65536, %rd2;"
    )
    file = tmp_path / "tile.ptx"
    file.write_text(text)
    done = debug("run\nrs\nrs\np %rd4 0 u64\nc\n", file)
    assert done.returncode == 1
    assert done.stdout.count("the launch has ended with a finding\nerror[P60") == 2
    first, second = done.stdout.split("the launch has ended with a finding")[1:]
    assert first.partition("(debug)")[0] == second.partition("(debug)")[0]


def test_what_a_kernel_prints_is_printed_once(tmp_path: Path) -> None:
    file = tmp_path / "prints.ptx"
    file.write_text(PRINTS)
    after = line_of("mov.u32 %r2, 1;", file)
    out = debug(f"b {after}\nrun\nrs\nrs\nc\nc\n", file, "--grid", "1", "--block", "1").stdout
    assert out.count("hi\n") == 1


def test_the_picture_of_the_page_is_that_of_its_session() -> None:
    root = HERE.parent
    done = subprocess.run(
        [sys.executable, str(root / "tools" / "draw_debugging.py")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == (root / "docs" / "debug.svg").read_text("utf-8")
    assert done.stdout.count("<title>reverse-step: line") == 5
    ElementTree.fromstring(done.stdout)


TWICE = """\
// /// ptxkit
// [[launch]]
// entry = "add"
// grid = 1
// block = 32
// params = ["y", "1"]
// [[launch]]
// entry = "add"
// grid = 1
// block = 32
// params = ["y", "2"]
// [tensors.y]
// dtype = "u32"
// shape = 32
// init = "zeros"
// expect = "zeros(32) + 3"
// ///
.version 8.0
.target sm_80
.address_size 64

.visible .entry add(.param .u64 y, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r3, [n];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""


def test_steps_go_back_into_the_launch_before(tmp_path: Path) -> None:
    """Each launch adds to what is there, so that memory must be what it was at the beginning."""
    file = tmp_path / "twice.ptx"
    file.write_text(TWICE)
    store = line_of("st.global", file)
    look = "global y 1 u32\np %r2 0 u32\n"
    out = answers(f"b {store}\nrun\nc\n{look}rc\ninfo launch\n{look}c\nc\n", file)
    assert out[3].endswith(": 1")
    assert out[4] == "%r2 .u32: 3"
    assert out[6].startswith("launch 1 of `add`")
    assert out[7].endswith(": 0")
    assert out[8] == "%r2 .u32: 1"
    assert out[10] == "the launch has ended, and its outputs are verified"


HEAP = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 at) malloc (.param .b64 size);

.visible .entry k(.param .u64 y)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    {
        .param .b64 size;
        .param .b64 at;
        st.param.b64 [size], 64;
        call.uni (at), malloc, (size);
        ld.param.b64 %rd2, [at];
    }
    st.global.u64 [%rd2], 7;
    st.global.u64 [%rd1], %rd2;
    ret;
}
"""


def test_what_a_kernel_allocates_is_at_the_same_address_again(tmp_path: Path) -> None:
    file = tmp_path / "heap.ptx"
    file.write_text(HEAP)
    store = line_of("st.global.u64 [%rd1]", file)
    look = "p %rd2\nglobal %rd2 1 u64\n"
    one = ("--grid", "1", "--block", "1", "--arg", "y=u64[1]")
    out = answers(f"b {store}\nrun\n{look}goto 2\nglobal {0x7E0000210200:#x} 1\nc\n{look}", file, *one)
    assert out[3].endswith(": 7")
    assert out[2:4] == out[7:9]
