"""`ptxkit debug` as a process: the session of its page, stops, steps, what is shown, and how launches end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small_kernels
from debug_process import TILE, answers, debug, line_of

from ptxkit.emulator import Emulator
from ptxkit.shipped import kernels

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "debug.md"
SESSION = re.compile(r"```console\n(\$ ptxkit debug .*?)```", re.DOTALL)


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """The tile kernel with one change."""
    text = TILE.read_text()
    assert text.count(old) == 1
    file = tmp_path / "tile.ptx"
    file.write_text(text.replace(old, new))
    return file


@pytest.mark.parametrize("session", SESSION.findall(PAGE.read_text()))
def test_the_sessions_of_the_page_are_literal(session: str, tmp_path: Path) -> None:
    command, *lines = session.splitlines(keepends=True)
    file = tmp_path / command.split()[3]
    shutil.copy(TILE, file)
    expected = "".join(lines)
    commands = "".join(re.findall(r"^\(debug\) (.*\n)", expected, re.MULTILINE))
    assert debug(commands, file).stdout == expected


def test_breakpoints_stop_the_warp_that_was_asked_for() -> None:
    store = line_of("mad.lo.u32 %r4, %r2")
    made, stopped, _, again = answers("break STORE 1 1\nrun\np %ctaid.x\ncontinue\n")[:4]
    assert made == f"breakpoint 1 at debug_tile.ptx:{store} for warp 1 of CTA 1"
    assert stopped.startswith("breakpoint 1\nwarp 1 of CTA (1, 0, 0)")
    assert f"debug_tile.ptx:{store} in `tile`" in stopped
    assert "the launch has ended, and its outputs are verified" in again


def test_a_line_without_an_instruction_means_the_next_one() -> None:
    label = line_of("STORE:")
    first, second, gone, none, bad = answers(f"b {label}\nb\ndelete 1\nb\nb 9999\n")[:5]
    assert first == second == f"breakpoint 1 at debug_tile.ptx:{label + 1}"
    assert gone == none == ""
    assert bad == "error: there is no instruction at line 9999 of `debug_tile.ptx` or after it"


def test_a_line_is_one_of_the_file_unless_another_is_named(tmp_path: Path) -> None:
    head, _, entry = CALLS.partition(".visible")
    file = tmp_path / "main.ptx"
    version, _, function = head.partition("\n\n")
    (tmp_path / "twice.ptxh").write_text(function)
    file.write_text(f'{version}\n#include "twice.ptxh"\n.visible{entry}')
    call, add = line_of("ld.param", file), line_of("add.u32", tmp_path / "twice.ptxh")
    options = ("--grid", "1", "--block", "1", "--arg", "y=u32[1]")
    out = answers("b 3\nb twice.ptxh:3\nrun\nlist\ncontinue\n", file, *options)
    assert out[:2] == [f"breakpoint 1 at main.ptx:{call}", f"breakpoint 2 at twice.ptxh:{add}"]
    assert [line for line in out[3].splitlines() if line[0] == "*"] == [
        f"*>{call:5}     ld.param.u64 %rd1, [y];"
    ]
    assert f"twice.ptxh:{add} in `twice`" in out[4]


def test_steps_follow_one_warp_through_the_text() -> None:
    printed = answers("step\nstep\nstep 3\n")
    first = line_of("ld.param.u64 %rd1")
    assert [int(re.findall(r"ptx:(\d+)", text)[0]) for text in printed[:3]] == [first, first + 1, first + 4]


def test_registers_memory_and_what_is_in_flight_before_and_after_the_copy() -> None:
    wait, load = line_of("mbarrier.try_wait"), line_of("setp.gt.f32")
    commands = "shared tile 2\nbarriers\nflying\np %done\n"
    out = answers(f"b {wait}\nb {load}\nrun\n{commands}delete 1\nc\n{commands}p %f1 1 f32\nglobal x 2\n")
    before, after = out[3:7], out[9:13]
    assert before[0].endswith("undefined undefined")
    assert "phase 0 (parity 0), pending count 0 of 1, tx-count 256" in before[1]
    assert f"line {line_of('cp.async.bulk')}" in before[2]
    assert "256 bytes: has not begun" in before[2]
    assert "phase 1 (parity 1), pending count 1 of 1, tx-count 0" in after[1]
    assert after[2] == "nothing is in flight"
    assert after[3] == "%done .pred: no value: nothing reads it from here on"
    tile = after[0].split(": ")[1]
    assert tile == out[14].split(": ")[1]
    assert out[13] == f"%f1 .f32: {tile.split()[1]}"


def test_the_lanes_of_a_branch_are_apart_until_they_meet() -> None:
    out = answers("b POSITIVE\nrun\np %q\np %f1\nwarps\nnext\np %f2\n")
    lanes = re.search(r"lanes ([\d, -]+);", out[1])
    assert lanes is not None
    values = {int(v) for part in lanes[1].split(", ") for v in part.split("-")}
    assert 0 < len(values) < 32
    rows = re.findall(r"lane +\d+: (.*)", out[3])
    shown = [text for row in rows for text in row.split()]
    assert len(shown) == 32
    assert "-" in shown
    assert all(float(text) > 0 for text in shown if text != "-")
    assert out[4].count("warp 0 of CTA (0, 0, 0), lanes 0x") == 2
    assert f":{line_of('mad.lo.u32 %r4, %r2')} in" in out[5]
    assert "-" not in "".join(out[6].split(":")[1:]).split()


def test_undefined_registers_are_shown_as_undefined(tmp_path: Path) -> None:
    text = TILE.read_text().replace("bar.sync 0;", "bar.sync 0;\n    mov.b32 %r4, %r3;")
    file = tmp_path / "tile.ptx"
    file.write_text(text.replace("@!%done bra WAIT;", "@!%done bra WAIT;\n    mov.b32 %f1, %r4;"))
    out = answers("b WAIT\nrun\np %r4\n", file)
    assert out[2] == "%r4 .b32: undefined in lanes 0-31"


def test_a_finding_ends_the_launch_and_leaves_its_state(tmp_path: Path) -> None:
    file = changed(tmp_path, "mad.wide.u32 %rd4, %r4, 4, %rd2;", "mad.wide.u32 %rd4, %r4, 65536, %rd2;")
    done = debug("run\nwhere\np %rd4 0 u64\nwarps\nshared tile 1 f32\nstep\n", file)
    assert done.returncode == 1
    assert "the launch has ended with a finding\nerror[P60" in done.stdout
    assert done.stdout.count(f"tile.ptx:{line_of('st.global.f32', file)} in `tile`: st.global.f32") == 2
    assert re.search(r"%rd4 \.u64: \d+", done.stdout)
    assert re.search(r"0x400: -?\d\.\d+", done.stdout)
    assert "error: the launch has ended" in done.stdout


def test_a_launch_goes_past_a_finding_where_that_is_wanted(tmp_path: Path) -> None:
    file = changed(tmp_path, "mad.wide.u32 %rd4, %r4, 4, %rd2;", "mad.wide.u32 %rd4, %r4, 65536, %rd2;")
    done = debug("run\n", file, "--keep-going")
    assert done.returncode == 1
    assert done.stdout.index("error[P60") < done.stdout.index("the launch has ended")
    assert "threads here, up to" in done.stdout


def test_a_deadlock_leaves_the_warps_where_they_wait(tmp_path: Path) -> None:
    file = changed(
        tmp_path, "arrive.expect_tx.shared.b64 _, [full], 256", "expect_tx.relaxed.cta.shared.b64 [full], 256"
    )
    done = debug("run\nwarps\nbarriers\n", file)
    assert done.returncode == 1
    after = done.stdout.partition("(debug) warps")[2]
    assert after.count("waits for") == 4
    assert "phase 0 (parity 0), pending count 1 of 1, tx-count 0" in after


CALLS = """\
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
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 21;
    call (%r2), twice, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def test_step_enters_a_function_and_next_goes_over_it(tmp_path: Path) -> None:
    file = tmp_path / "calls.ptx"
    file.write_text(CALLS)
    options = ("--grid", "1", "--block", "1", "--arg", "y=u32[1]")
    call, add, store = (line_of(text, file) for text in ("call (", "add.u32", "st.global"))
    entered = answers(f"b {call}\nrun\nstep\nwhere\n", file, *options)[2:4]
    for text in entered:
        assert f"calls.ptx:{add} in `twice`" in text
        assert f"calls.ptx:{call} in `k`" in text
    over = answers(f"b {call}\nrun\nnext\np %r2 u32\n", file, *options)[2:4]
    assert f"calls.ptx:{store} in `k`" in over[0]
    assert over[1] == "%r2 .u32: 42 in lanes 0"
    assert answers("b twice\nrun\n", file, *options)[1].startswith("breakpoint 1\nwarp 0 of CTA (0, 0, 0)")


def test_accumulators_of_products_in_flight_have_no_value() -> None:
    file = kernels.find("gemm_wgmma.ptx")[1]
    wait = line_of("wgmma.wait_group.sync.aligned 1", file)
    product = line_of("wgmma.mma_async", file)
    _, _, value, flying = answers(f"b {wait}\nrun\nprint %sum0\nflying\n", file)[:4]
    assert value.endswith("no value: `wgmma` in flight writes it"), value
    assert re.search(rf"`wgmma\.mma_async.*` at line {product}: .*: has not begun", flying)


def test_tensor_memory_holds_what_the_kernel_loads_from_it() -> None:
    file = kernels.find("gemm_tcgen05.ptx")[1]
    waits = [at for at, text in enumerate(file.read_text().splitlines(), 1) if "tcgen05.wait::ld" in text]
    stop = "".join(f"b {line}\n" for line in waits) + "run\nstep\np %sums_at 0 u32\n"
    at = int(answers(stop, file)[len(waits) + 2].rpartition(" ")[2])
    registers = "".join(f"p %sum{number} 0 f32\n" for number in range(4))
    *_, first, second, third, fourth, cells, beyond, _ = answers(
        f"{stop}{registers}tmem {at >> 16} {at & 0xFFFF} 4 f32\ntmem 0 508 f32\n", file
    )
    held = [text.rpartition(" ")[2] for text in (first, second, third, fourth)]
    assert cells == f"lane {at >> 16}, column {at & 0xFFFF}: {' '.join(held)}"
    assert len(set(held)) == 4
    assert beyond == "lane 0, column 508: undefined undefined undefined undefined"


def test_an_interrupt_stops_a_loop_that_would_not_end(tmp_path: Path) -> None:
    (tmp_path / "spin.ptx").write_text(small_kernels.SPIN)
    running = subprocess.Popen(
        [sys.executable, "-m", "ptxkit", "debug", "spin.ptx"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write("run\n")
    running.stdin.flush()
    assert running.stdout.readline() == "(debug) run\n"
    running.send_signal(signal.SIGINT)
    rest, _ = running.communicate("where\nquit\n", timeout=60)
    assert rest.startswith("interrupted\nwarp 0 of CTA (0, 0, 0)\n  spin.ptx:")
    assert running.returncode == 0


def test_a_time_limit_is_refused() -> None:
    done = debug("", TILE, "--timeout", "5")
    assert done.returncode == 2
    assert "`debug` takes no `--timeout`" in done.stderr


def test_commands_that_cannot_be_done_say_why() -> None:
    commands = {
        "foo": "error: expected a command, found `foo`: `help` lists them",
        "wa": "error: expected a command, found `wa`: which is `watch` or `warp`",
        "warps": "error: the launch has not begun",
        "print %r1": "error: warp 0 of CTA 0 is not running",
        "break": "",
        "break nowhere": "error: expected a line, a label or a function, found `nowhere`",
        "delete 7": "error: there is no breakpoint 7",
        "delete x": "error: expected a number, found `x`",
        "step": None,
        "warp 9 9": "error: expected one of 2 CTAs and of 2 warps each",
        "shared 0": "error: expected an address from 0x400 to 0x507",
        "shared nothing": "error: expected a shared variable, found `nothing`; there are `tile`, `full`",
        "global z": "error: expected a tensor or variable, found `z`; there are `x`, `y`",
        "global 16": "error: nothing is allocated at 0x10",
        "tmem 0 0": "error: nothing has used tensor memory",
        "tmem 128 0": "error: expected one of 128 lanes and one of 512 columns",
        "print %r9": "error: `tile` has no register `%r9`",
        "print %tid.x 32": "error: expected a lane from 0 to 31, found 32",
        "print %tid.x 0 f16": "error: expected a type of 32 bits for `%tid.x`, found `f16`",
        "shared tile 1 q7": "error: expected a type such as `f32`, `s32` or `b8`, found `q7`",
        "flying": "nothing is in flight",
    }
    out = answers("\n".join(commands) + "\n")
    for (command, expected), found in zip(commands.items(), out, strict=False):
        assert expected is None or found == expected, command


def test_a_gpu_is_refused() -> None:
    done = debug("", TILE, "--device", "cuda:0")
    assert done.returncode == 2
    assert "expected `--device emu`, the only one for `debug`" in done.stderr


def test_a_launch_without_a_debugger_has_no_stops() -> None:
    device = Emulator()
    loaded = device.load(TILE)
    kernel = loaded.kernel()
    steps = [list(block.steps) for block in kernel.program.code.blocks]
    x, y = device.array(np.ones(128, np.float32)), device.empty(128, np.float32)
    kernel.launch((2,), (64,), [x, y])
    assert [list(block.steps) for block in kernel.program.code.blocks] == steps


def test_where_shows_the_line_that_a_compiler_read() -> None:
    """Of a function that was inlined, each call."""
    kernel = HERE / "data" / "inlined.ptx"
    line = next(n for n, text in enumerate(kernel.read_text().splitlines(), 1) if "[%rd1]" in text)
    options = ("--grid", "1", "--block", "32", "--arg", "q=f32[64]", "--arg", "p=f32[64]", "--arg", "n=2")
    printed = "\n".join(answers(f"break {line}\ncontinue\nwhere\n", kernel, *options))
    assert "inlined.cu:13:3: s[i] = p[i];" in printed
