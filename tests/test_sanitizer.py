"""`run --sanitize` on a GPU: what compute-sanitizer says, as diagnostics."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from command import codes, here, refused
from gpu_kernels import FAULTS, module
from small_kernels import DOUBLE

from ptxkit.asm import parse
from ptxkit.card import read
from ptxkit.diagnostics import PtxkitError, Severity, Source
from ptxkit.plan import LaunchPlan, Program, Request, make
from ptxkit.running.sanitized import TOOLS, Sanitized, read_log
from ptxkit.running.session import RunOptions

PTX = Source("k.ptx", "\n".join(f"    line {number};" for number in range(1, 21)))
LINES = {"fault": {0x70: 12, 0x90: 15}, "other": {0x70: 3}}

OUT_OF_BOUNDS = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at fault+0x70
=========     by thread (0,0,0) in block (0,0,0)
=========     Access at 0x40 is out of bounds
=========     and is 140,703,128,616,896 bytes before the nearest allocation at 0x7ff800000000 of size 16 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernelEx [0x2f5a40] in libcuda.so.1
=========                in /usr/lib/libcuda.so.1
=========
========= Invalid __global__ read of size 4 bytes
=========     at fault+0x70
=========     by thread (1,0,0) in block (0,0,0)
=========     Access at 0x44 is out of bounds
=========
========= Invalid __global__ write of size 4 bytes
=========     at 0x90 in fault
=========     by thread (1,0,0) in block (0,0,0)
=========     Address 0x44 is misaligned
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 4 errors
"""  # noqa: E501

RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at fault+0x70 in k.ptx:12
=========     and Read access at fault+0x90 in k.ptx:15 [16 hazards]
=========
========= Warning: Race reported between Read access at other(float const*, int)+0x70
=========     and Write access at other(float const*, int)+0x70 [4 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""


def test_invalid_accesses() -> None:
    reading, writing = read_log(OUT_OF_BOUNDS, "memcheck", LINES, PTX)
    assert (reading.code, reading.message) == ("P734", "memcheck: invalid __global__ read of size 4 bytes")
    assert (reading.span.line, reading.span.column) == (12, 5)
    assert reading.notes[1:3] == ("by thread (0,0,0) in block (0,0,0)", "Access at 0x40 is out of bounds")
    assert reading.notes[-1] == "and 1 more like it"
    assert not any("Frame" in note or "libcuda" in note for note in reading.notes)
    assert (writing.span.line, writing.severity) == (15, Severity.ERROR)


def test_races_have_two_places() -> None:
    error, warning = read_log(RACE, "racecheck", LINES, PTX)
    assert error.span.line == 12
    assert [label.span.line for label in error.labels] == [15]
    assert error.message == "racecheck: race reported between Write access"
    assert "and Read access at fault+0x90 in k.ptx:15 [16 hazards]" in error.notes
    assert (warning.severity, warning.span.line, warning.labels) == (Severity.WARNING, 3, ())


def test_logs_without_findings_or_lines() -> None:
    assert read_log("", "memcheck", LINES, PTX) == []
    assert (
        read_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", "memcheck", {}, PTX)
        == []
    )
    assert read_log("the program's own output\n", "memcheck", {}, PTX) == []
    assert all(found.span is None for found in read_log(OUT_OF_BOUNDS, "memcheck", {}, PTX))
    assert all(found.span is None for found in read_log(OUT_OF_BOUNDS, "memcheck", LINES, None))


def test_without_the_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    kernel = tmp_path / "double.ptx"
    kernel.write_text(DOUBLE)
    printed = refused(here("run", kernel, "--device", "cuda:0", "--sanitize"), 3, "P732")
    assert "--device emu" in printed


# ---- the way through the process, with a stand-in for the tool alone


@pytest.fixture
def plan(tmp_path: Path) -> LaunchPlan:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    module = parse(path)
    return make(Program("double.ptx", str(path)), module, read(module.source), Request())


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Makes a `compute-sanitizer` that runs its program and then writes a log for one of the tools."""

    def make_tool(log: str, of: str = "memcheck", runs: bool = True) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "log").write_text(log)
        script = folder / "compute-sanitizer"
        script.write_text(
            f"#!{sys.executable}\nimport shutil, subprocess, sys\n"
            "tool, log = sys.argv[2], sys.argv[4]\n"
            f"if {runs}: subprocess.run(sys.argv[7:], check=True)\n"
            f"if tool == {of!r}: shutil.copy({str(folder / 'log')!r}, log)\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return make_tool


def test_findings_stand_before_the_reports_own(plan: LaunchPlan, tool) -> None:
    tool(OUT_OF_BOUNDS)
    with Sanitized(RunOptions(device="emu"), None) as running:
        report = running.run(plan)
    assert [d.code for d in report.diagnostics] == ["P734", "P734"]
    assert report.outputs[0].ok
    assert not report.ok
    assert running.progress() == 0.0  # memcheck found errors: the other tools were not asked


@pytest.mark.long
def test_every_tool_is_asked_where_none_finds_an_error(plan: LaunchPlan, tool) -> None:
    tool(RACE.replace("Error: ", "Warning: "), of=TOOLS[-1])
    with Sanitized(RunOptions(device="emu"), 60) as running:
        report = running.run(plan)
    assert [d.severity for d in report.diagnostics] == [Severity.WARNING] * 2
    assert report.ok
    assert all(d.message.startswith("synccheck: ") for d in report.diagnostics)


def test_a_tool_that_fails(plan: LaunchPlan, tool) -> None:
    tool(
        "========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer to ..\n", runs=False
    )
    with Sanitized(RunOptions(device="emu"), None) as running, pytest.raises(PtxkitError) as caught:
        running.run(plan)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "P733"
    assert any("Device not supported" in note for note in diagnostic.notes)


def test_what_the_run_itself_met(plan: LaunchPlan, tool) -> None:
    tool("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
    Path(plan.program.path).write_text(DOUBLE.replace("add.s64 %rd7, %rd4, %rd5", "mov.u64 %rd7, 64"))
    with Sanitized(RunOptions(device="emu"), None) as running, pytest.raises(PtxkitError) as caught:
        running.run(plan)
    assert caught.value.diagnostics[0].code.startswith("P6")


# ---- the tool itself


@pytest.mark.gpu
def test_a_bad_address_is_found_on_its_line(tmp_path: Path) -> None:
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    kernel = tmp_path / "fault.ptx"
    kernel.write_text(FAULTS["P720"])
    done = here("run", kernel, "--device", "cuda", "--grid", 1, "--block", 1, "--sanitize")
    if "P733" in codes(done.stderr):
        pytest.skip("compute-sanitizer does not run on this machine")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "P734" in codes(done.stdout + done.stderr)
    assert "ld.global.u32 %r1, [%d1];" in done.stdout + done.stderr


RACING = module(
    """.visible .entry race(.param .u64 out)
{
    .shared .align 4 .b32 slots[64];
    .reg .b32 %r<6>;
    .reg .b64 %d<3>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, slots;
    shl.b32 %r2, %r0, 2;
    add.u32 %r3, %r1, %r2;
    st.shared.u32 [%r3], %r0;
    xor.b32 %r4, %r2, 128;
    add.u32 %r4, %r1, %r4;
    ld.shared.u32 %r5, [%r4];
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    cvt.u64.u32 %d2, %r2;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r5;
    ret;
}
"""
)
"""Each thread reads what a thread of the other warp writes, and nothing keeps them apart."""


@pytest.mark.gpu
def test_a_race_is_found_on_its_lines(tmp_path: Path) -> None:
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    kernel = tmp_path / "race.ptx"
    kernel.write_text(RACING)
    options = ("--grid", 1, "--block", 64, "--arg", "out=u32[64]")
    done = here("run", kernel, "--device", "cuda", *options, "--sanitize")
    printed = done.stdout + done.stderr
    if "P733" in codes(printed):
        pytest.skip("compute-sanitizer does not run on this machine")
    assert done.returncode == 1, printed
    assert "P734" in codes(printed)
    assert "racecheck: " in printed
    assert "st.shared.u32 [%r3], %r0;" in printed
    assert "ld.shared.u32 %r5, [%r4];" in printed


@pytest.mark.gpu
@pytest.mark.slow
def test_a_good_kernel_passes_every_tool() -> None:
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    done = here("run", "gemv.ptx", "--device", "cuda", "--sanitize")
    if "P733" in codes(done.stderr):
        pytest.skip("compute-sanitizer does not run on this machine")
    assert done.returncode == 0, done.stdout + done.stderr
