"""`ptxkit profile` on a GPU: Nsight Compute's figures of machine code in the emulator's table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import codes, here

from ptxkit.asm import parse
from ptxkit.card import read
from ptxkit.diagnostics import PtxkitError, Source
from ptxkit.plan import LaunchPlan, Program, Request, make
from ptxkit.profiles import listing
from ptxkit.profiles.measured import measured
from ptxkit.running.measured import measure
from ptxkit.running.session import RunOptions
from ptxkit.toolchain import sass
from ptxkit.toolchain.assembler import assemble
from ptxkit.toolchain.nsight_compute import read_page

TITLES = (
    "Address", "Source", "Warp Stall Sampling (All Samples)", "# Samples", "Instructions Executed",
    "Thread Instructions Executed", "L1 Tag Requests Global", "L1 Wavefronts Shared Excessive",
    "L2 Theoretical Sectors Global", "stall_barrier", "stall_long_sb", "stall_selected",
    "stall_barrier (Not Issued)",
)  # fmt: skip
KERNEL = """// /// ptxkit
// [launch]
// grid = 1
// block = 64
// params = ["y"]
// [presets]
// one = { n = 64 }
// [tensors.y]
// dtype = "u32"
// shape = "n"
// expect = "arange(n)"
// ///
.version 8.0
.target sm_90
.address_size 64
.visible .entry iota(.param .u64 y) {
    .reg .b32 %r<4>;
    .reg .b64 %y<2>;
    ld.param.u64 %y0, [y];
    mov.u32 %r0, %tid.x;
    bar.sync 0;
    mad.wide.u32 %y1, %r0, 4, %y0;
    st.global.u32 [%y1], %r0;
    ret;
}
"""
STORE, BARRIER = (
    next(number for number, line in enumerate(KERNEL.split("\n"), 1) if part in line)
    for part in ("st.global", "bar.sync")
)


def page(rows: list[tuple[object, ...]], name: str = "iota") -> str:
    """A page of one launch, as `ncu` writes it."""
    lines = [("Kernel Name", name, ""), TITLES, *rows]
    return "".join(",".join(f'"{value}"' for value in line) + "\n" for line in lines)


ROWS: list[tuple[object, ...]] = [
    ("0x7f0000000100", "      LDC R1, c[0x0][0x28] ", 0, 0, "1,024", "32,768", 0, 0, 0, 0, 0, 0, 0),
    ("0x7f0000000110", "@!P0 BAR.SYNC.DEFER_BLOCKING 0x0 ", 5, 5, 1024, 32768, "-", "", 0, 4, 0, 1, 4),
    ("0x7f0000000120", "      STG.E desc[UR4][R2.64], R5 ", 3, 3, 1024, 16384, 1024, 0, 4096, 0, 2, 1, 0),
    ("0x7f0000000130", "      LDS R7, [R0] ", 0, 0, 512, 512, 0, "7", 0, 0, 0, 0, 0),
]


def test_a_page_is_read() -> None:
    found = read_page([*page(ROWS).splitlines(), *page(ROWS[:1], "void other<int>(int *)").splitlines()])
    assert [kernel.name for kernel in found] == ["iota", "other<int>"]
    first, barrier, store, load = found[0].counts
    assert (first.address, first.warps, first.threads, first.stalls) == (0, 1024, 32768, {})
    assert (barrier.address, barrier.operation, barrier.stalls) == (16, "BAR", {"barrier": 4, "selected": 1})
    assert (store.operation, store.requests, store.sectors, store.stalls["long_sb"]) == ("STG", 1024, 4096, 2)
    assert (load.conflicts, load.requests) == (7, 0)
    assert read_page(["==PROF== Disconnected", ""]) == []


def test_lines_have_what_their_instructions_did() -> None:
    lines = {"iota": {0: BARRIER, 16: BARRIER, 32: STORE}}
    profile = measured(read_page(page(ROWS).splitlines()), lines, Source("k.ptx", KERNEL))
    nowhere, barrier, store = profile.lines
    assert (nowhere.place, nowhere.bank_conflicts) == (("", 0), 7)
    assert (barrier.text, barrier.did.warps, barrier.lanes) == ("bar.sync 0;", 1024, 32.0)
    assert {what: wait.steps for what, wait in barrier.did.waits.items()} == {"barrier": 4}
    assert (store.place, store.lanes, store.sectors_per_request) == (("k.ptx", STORE), 16.0, 4.0)
    assert profile.shares(barrier)[1] == 4 / 6
    text = "\n".join(listing.table(profile, profile.hottest(9), 200))
    assert "waits for long_sb: 2 samples" in text
    assert "samples" in listing.meaning(profile)


@pytest.mark.skipif(sass.find() is None, reason="nvdisasm is not installed")
def test_machine_code_leads_to_the_lines() -> None:
    module = parse(KERNEL)
    made = assemble(module, line_info=True)
    assert made.cubin is not None
    (function,) = sass.disassemble(made.cubin)
    lines = {function.name: {i.address: i.line for i in function.instructions if i.line is not None}}
    rows = [
        (hex(0x7F00_0000_0000 + i.address), i.text, 0, 0, 2, 64, 0, 0, 0, 0, 0, 0, 0)
        for i in function.instructions
    ]
    profile = measured(read_page(page(rows).splitlines()), lines, module.source)
    did = {line.text.partition(" ")[0]: line.did for line in profile.lines}
    assert (did["st.global.u32"].warps, did["st.global.u32"].threads, did["bar.sync"].warps) == (2, 64, 2)


# ---- the way through the process, with a stand-in for the profiler alone


@pytest.fixture
def plan(tmp_path: Path) -> LaunchPlan:
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    module = parse(path)
    return make(Program("k.ptx", str(path)), module, read(module.source), Request())


@pytest.fixture
def profiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Makes an `ncu` that runs its program, leaves a report, and prints a text of it."""

    def make_profiler(said: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "said").write_text(said)
        script = folder / "ncu"
        script.write_text(
            f"#!{sys.executable}\nimport pathlib, subprocess, sys\n"
            f"if sys.argv[1] == '--import': print(pathlib.Path({str(folder / 'said')!r}).read_text())\n"
            "else:\n    at = sys.argv.index('-o') + 1\n"
            "    subprocess.run(sys.argv[at + 1:], check=True)\n"
            "    pathlib.Path(sys.argv[at] + '.ncu-rep').write_text('')\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return make_profiler


@pytest.mark.long
def test_a_run_is_verified_and_counted(plan: LaunchPlan, profiler: Callable[[str], None]) -> None:
    profiler(page(ROWS))
    came = measure(plan, RunOptions(device="emu"))
    assert came.report.ok
    assert [kernel.name for kernel in came.kernels] == ["iota"]


@pytest.mark.long
def test_a_profiler_that_fails_says_why(plan: LaunchPlan, profiler: Callable[[str], None]) -> None:
    profiler("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
    with pytest.raises(PtxkitError) as failed:
        measure(plan, RunOptions(device="emu"))
    (found,) = failed.value.diagnostics
    assert (found.code, list(found.notes)) == (
        "P736",
        ["ERR_NVGPUCTRPERM - The user does not have permission"],
    )


@pytest.mark.long
def test_what_the_run_met_comes_first(plan: LaunchPlan, profiler: Callable[[str], None]) -> None:
    profiler(page(ROWS))
    assert plan.program.path is not None
    Path(plan.program.path).write_text(KERNEL.replace("%r0, 4, %y0", "%r0, 4096, %y0"))
    with pytest.raises(PtxkitError) as failed:
        measure(plan, RunOptions(device="emu"))
    assert failed.value.diagnostics[0].code == "P602"


def test_without_the_profiler(plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PtxkitError) as refused:
        measure(plan, RunOptions(device="emu"))
    assert refused.value.diagnostics[0].code == "P735"


def test_without_a_gpu_that_is_said_first(plan: LaunchPlan) -> None:
    done = here("profile", plan.program.path, "--device", "cuda:99")
    assert done.returncode == 3
    assert codes(done.stderr)[0] not in ("P735", "P736")


@pytest.mark.gpu
@pytest.mark.skipif(not any((Path(p) / "ncu").exists() for p in os.get_exec_path()), reason="there is no ncu")
def test_a_gpu_counts_what_the_emulator_counts(plan: LaunchPlan) -> None:
    done = here("profile", plan.program.path, "--device", "cuda", "--json")
    if "P736" in codes(done.stderr):
        pytest.skip("the GPU's counters are closed to this user")
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [
        each for each in measure(plan, RunOptions(device="cuda")).kernels[0].counts if each.operation == "STG"
    ]
    assert (line.warps, line.threads, line.sectors / line.requests) == (2, 64, 4.0)
