"""tools/record_launches: a program's launches on disk, and run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from virtual import CLIENTS, needs_linux

from tools.record_launches.__main__ import keep, row
from tools.record_launches.launch import Range, RecordedLaunch
from tools.record_launches.programs import Program, programs
from tools.record_launches.reach import reachable
from tools.record_launches.replay import replay

ROOT = Path(__file__).resolve().parents[1]

GATHER = """\
.version 8.0
.target sm_90
.address_size 64
.global .u32 factor;
.visible .entry gather(.param .u64 table, .param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [table];
    ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x;
    ld.global.u64 %d2, [%d0+8]; // the second array
    mad.wide.u32 %d2, %r0, 4, %d2;
    mad.wide.u32 %d1, %r0, 4, %d1;
    ld.global.u32 %r1, [%d2];
    ld.global.u32 %r2, [factor];
    mul.lo.u32 %r1, %r1, %r2;
    st.global.u32 [%d1], %r1;
    ret;
}
"""
BASE = 0x7E00_0020_0000
TABLE, NUMBERS, OUT = BASE, BASE + 0x20000, BASE + 0x40000


def words(*values: int, kind: str = "u4") -> np.ndarray:
    return np.array(values, kind).view(np.uint8)


def launch() -> RecordedLaunch:
    """Threads that read through a pointer in memory; the second half of the output was never written."""
    table = words(0, NUMBERS, kind="u8")
    numbers, out = words(*range(32)), words(*range(0, 96, 3), *[0] * 32)
    never = np.full(256, 0xFF, np.uint8)
    half = np.repeat(np.array([0, 0xFF], np.uint8), 128)
    ranges = [
        Range(TABLE, "table", table, table),
        Range(NUMBERS, "numbers", numbers, numbers),
        Range(OUT, "out", np.zeros(256, np.uint8), out, never, half),
    ]
    arguments = words(TABLE, OUT, kind="u8").tobytes()
    factor = [Range(0, "factor", words(3), words(3))]
    return RecordedLaunch(
        "gather",
        "sm_90a",
        GATHER,
        1,
        (1, 1, 1),
        (32, 1, 1),
        None,
        0,
        arguments,
        ranges=ranges,
        variables=factor,
    )


def test_what_a_launch_can_reach() -> None:
    """By its arguments, by pointers behind these, and nothing else: neither a neighbour nor a freed range."""
    ranges = [(each.address, each.before) for each in launch().ranges]
    ranges.append((OUT + 0x20000, words(NUMBERS, kind="u8")))
    assert reachable(launch().arguments, ranges) == [0, 1, 2]
    assert reachable(words(NUMBERS + 127, kind="u8").tobytes(), ranges) == [1]
    assert reachable(words(NUMBERS + 128, BASE - 8, 1 << 63, kind="u8").tobytes(), ranges) == []
    assert reachable(b"", []) == []


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_launch_comes_back_from_its_files(tmp_path: Path, order: str) -> None:
    launch().write(tmp_path / "program" / "0001")
    done = replay(RecordedLaunch.read(tmp_path / "program" / "0001"), order, 3)
    assert (done.errors, done.different, done.findings) == ([], {}, {})
    assert done.compared == sum(len(each.after) for each in launch().ranges) + 4
    assert done.right


RING = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 from, .param .u64 to, .param .u32 rounds)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .reg .pred %p<2>;
    .shared .align 16 .b8 tile[256];
    .shared .b64 full[2];
    ld.param.u64 %d0, [from];
    ld.param.u64 %d1, [to];
    ld.param.u32 %r0, [rounds];
    mov.u32 %r1, 0;
    mbarrier.init.shared.b64 [full], 1;
    mbarrier.init.shared.b64 [full+8], 1;
    fence.proxy.async.shared::cta;
again:
    mbarrier.arrive.expect_tx.shared.b64 %d2, [full], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 128, [full];
wait:
    mbarrier.try_wait.shared.b64 %p0, [full], %d2;
    @!%p0 bra wait;
    mbarrier.arrive.shared.b64 %d2, [full+8];
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, %r0;
    @%p1 bra again;
    ld.shared.u32 %r2, [tile+4];
    st.global.u32 [%d1], %r2;
    ret;
}
"""


@pytest.mark.parametrize("rounds", [1, 3])
def test_phases_are_counted_where_copies_complete_bytes(rounds: int) -> None:
    """Another mbarrier has as many phases, but no bytes; nor has a kernel without an mbarrier."""
    source, out = words(*range(32)), words(1)
    again = launch()
    again.entry, again.text, again.block, again.variables = "ring", RING, (1, 1, 1), []
    again.arguments = words(NUMBERS, OUT, rounds, kind="u8").tobytes()[:20]
    again.ranges = [Range(NUMBERS, "numbers", source, source), Range(OUT, "out", words(0), out)]
    done = replay(again)
    assert (done.errors, done.different, done.phases) == ([], {}, rounds)
    assert json.loads(json.dumps(done.to_json()))["phases"] == rounds
    assert row("ring", again, done).endswith(f"mbarriers of up to {rounds} phases of copies")
    assert replay(launch()).phases == 0
    assert row("gather", launch(), replay(launch())).endswith("bytes right; nothing found")


def test_other_bytes_and_bits_that_nobody_made_are_told() -> None:
    wrong = launch()
    wrong.ranges[2].after = wrong.ranges[2].after.copy()
    wrong.ranges[2].after[[0, 4, 200]] ^= 1
    assert replay(wrong).different == {"out": 2}, "byte 200 is undefined in the record, too"
    more = launch()
    more.ranges[2].still_undefined = None
    assert replay(more).different == {"out": 128}
    constant = launch()
    constant.variables[0].before = words(4)
    found = replay(constant)
    assert set(found.different) == {"out", "factor"}
    assert not found.right


def test_an_error_is_told() -> None:
    """The output ends before the threads do."""
    short = launch()
    for name in ("before", "after", "undefined", "still_undefined"):
        setattr(short.ranges[2], name, getattr(short.ranges[2], name)[:64])
    found = replay(short)
    assert not found.right
    assert found.errors[0].startswith("P602")
    assert found.findings == {"error P602": 1}
    assert json.loads(json.dumps(found.to_json()))["findings"] == {"error P602": 1}


def tool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.record_launches", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(CLIENTS)},
    )


@needs_linux
@pytest.mark.long
def test_a_program_is_recorded_and_its_launches_run_again(tmp_path: Path) -> None:
    program = [sys.executable, CLIENTS / "saxpy.py"]
    done = tool("record", tmp_path / "saxpy", "--says", "right", "--", *program)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "right"), done.stdout + done.stderr
    recorded = RecordedLaunch.read(tmp_path / "saxpy" / "0001")
    assert (recorded.entry, recorded.arch) == ("saxpy", "sm_90a")
    assert any((each.before != each.after).any() for each in recorded.ranges)
    output = tmp_path / "launches.json"
    again = tool("replay", tmp_path / "saxpy", "--orders", "lazy,random", "--seeds", "2", "--output", output)
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.count("bytes right; nothing found") == 3
    (found,) = json.loads(output.read_text())["programs"]
    assert found["command"] == "saxpy.py"
    assert [(run["order"], run["seed"]) for run in found["launches"][0]["runs"]] == [
        ("lazy", 0),
        ("random", 0),
        ("random", 1),
    ]
    assert "entry" not in output.read_text(), "no text of somebody's kernel is kept"


def test_programs_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text(
        '[one]\nmake = ["cc", "{sources}/one.c", "-o", "{builds}/one"]\ncommand = ["{builds}/one", "--k=9"]\n'
        'kernels = "gemm"\nfirst = 2\nsays = "Passed"\n[two]\ncommand = ["{python}", "two.py"]\n'
    )
    found = programs(tmp_path / "list.toml", {"sources": "/s", "builds": "/b"})
    one = Program(
        "one", ("/b/one", "--k=9"), ("cc", "/s/one.c", "-o", "/b/one"), "sm_90a", "gemm", 2, "Passed"
    )
    assert found == {"one": one, "two": Program("two", (sys.executable, "two.py"))}
    with pytest.raises(ValueError, match=r"one: give --place sources=FOLDER"):
        programs(tmp_path / "list.toml", {"builds": "/b"})
    (tmp_path / "list.toml").write_text('[one]\ncommand = ["one"]\nmakes = ["cc"]\n')
    with pytest.raises(ValueError, match=r"one: no program has makes"):
        programs(tmp_path / "list.toml", {})
    (tmp_path / "list.toml").write_text('[one]\nsays = "Passed"\n')
    with pytest.raises(ValueError, match=r"one: `command` is missing"):
        programs(tmp_path / "list.toml", {})


def test_figures_are_kept_beside_those_of_others(tmp_path: Path) -> None:
    """Those that another replay has written while this one ran, too."""
    output = tmp_path / "launches.json"
    for name, beside in (("two", False), ("one", True), ("two", True)):
        keep(output, {"program": name, "launches": []}, beside)
    assert [program["program"] for program in json.loads(output.read_text())["programs"]] == ["one", "two"]
    keep(output, {"program": "one", "launches": []}, beside=False)
    assert [program["program"] for program in json.loads(output.read_text())["programs"]] == ["one"]


def test_a_program_that_is_made_by_its_own_command() -> None:
    assert Program("one", ("one",), (sys.executable, "-c", "raise SystemExit(3)")).build() == 3
    assert Program("one", ("one",)).build() == 0


@needs_linux
@pytest.mark.long
def test_programs_are_recorded_by_their_names(tmp_path: Path) -> None:
    done = tool("program", "saxpy", "--records", tmp_path, "--place", "builds=/nowhere", "--orders", "eager")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bytes right; nothing found" in done.stdout
    assert RecordedLaunch.read(tmp_path / "saxpy" / "0001").entry == "saxpy"
    unknown = tool("program", "saxpi", "--records", tmp_path, "--place", "builds=/nowhere")
    assert unknown.returncode == 2
    assert "has no saxpi, but saxpy, runtime" in unknown.stderr


@needs_linux
@pytest.mark.long
def test_a_program_that_does_not_say_so_leaves_no_record(tmp_path: Path) -> None:
    program = [sys.executable, CLIENTS / "saxpy.py"]
    done = tool("record", tmp_path / "saxpy", "--says", "Passed", "--", *program)
    assert done.returncode == 1
    assert "no record" in done.stdout
    assert not list((tmp_path / "saxpy").glob("*/launch.json"))
    assert tool("record", tmp_path / "saxpy").returncode == 2
