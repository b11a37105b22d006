"""`ptxkit run` on a GPU: every failure ends as designed, and the next run works."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from command import ptxkit, refused
from gpu_kernels import CALLER, FAULTS, FILL, SHARED, SPIN, SQUARE
from small_kernels import TILES

pytestmark = pytest.mark.gpu


def run(folder: Path, text: str, *options: object):
    file = folder / "kernel.ptx"
    file.write_text(text)
    return ptxkit("run", file, "--device", "cuda", *options)


def assert_usable(folder: Path) -> None:
    done = run(folder, FILL, "--grid", 1, "--block", 32, "--arg", "out=u32[32]", "--arg", "value=3", "--json")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("code", FAULTS)
def test_faults_end_with_exit_5(tmp_path: Path, code: str) -> None:
    printed = refused(run(tmp_path, FAULTS[code], "--grid", 1, "--block", 1), 5, code)
    assert "`fault`" in printed
    assert_usable(tmp_path)


def test_a_hang_ends_with_exit_6(tmp_path: Path) -> None:
    options = ["--grid", 1, "--block", 1, "--arg", "flag=u32[1]:zeros", "--timeout", 5]
    done = run(tmp_path, SPIN, *options)
    assert "`spin`" in refused(done, 6, "P565")
    assert_usable(tmp_path)


def test_a_worker_that_has_time_enough_reports(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        FILL,
        "--grid",
        1,
        "--block",
        32,
        "--arg",
        "out=u32[32]",
        "--arg",
        "value=3",
        "--timeout",
        60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_out_of_memory_ends_with_exit_3(tmp_path: Path) -> None:
    options = ["--grid", 1, "--block", 1, "--arg", "out=u8[1000000000000]", "--arg", "value=1"]
    refused(run(tmp_path, FILL, *options), 3, "P705")
    assert_usable(tmp_path)


def test_bad_versions_and_targets_end_with_exit_3(tmp_path: Path) -> None:
    options = ["--grid", 1, "--block", 1, "--arg", "out=u32[1]", "--arg", "value=1"]
    refused(run(tmp_path, FILL.replace("8.0", "9.9"), *options), 3, "P703")
    refused(run(tmp_path, FILL.replace("8.0", "8.8").replace("sm_80", "sm_121a"), *options), 3, "P704")


def test_too_much_shared_memory_ends_with_exit_2(tmp_path: Path) -> None:
    options = ["--grid", 1, "--block", 32, "--shared", 300000, "--arg", "out=u32[1]", "--arg", "offset=0"]
    refused(run(tmp_path, SHARED, *options), 2, "P514")
    assert_usable(tmp_path)


def test_files_are_linked(tmp_path: Path) -> None:
    other = tmp_path / "square.ptx"
    other.write_text(SQUARE)
    options = ["--grid", 1, "--block", 1, "--arg", "out=u32[1]", "--arg", "n=12"]
    document = json.loads(run(tmp_path, CALLER, *options, "--link", other, "--json").stdout)
    assert document["ok"], document
    refused(run(tmp_path, CALLER, *options), 1, "P709")


def test_bad_arguments_end_with_exit_2(tmp_path: Path) -> None:
    options = ["--grid", 1, "--block", 32, "--arg", "out=u32[32]"]
    assert "value" in refused(run(tmp_path, FILL, *options, "--arg", "value=4294967296"), 2, "P503")
    assert "value" in refused(run(tmp_path, FILL, *options, "--arg", "value=u32[4]:zeros"), 2, "P502")
    assert_usable(tmp_path)


def test_a_killed_worker_ends_with_exit_5(tmp_path: Path) -> None:
    file = tmp_path / "kernel.ptx"
    file.write_text(SPIN)
    command = [sys.executable, "-m", "ptxkit", "run", str(file), "--device", "cuda", "--timeout", "60"]
    command += ["--grid", "1", "--block", "1", "--arg", "flag=u32[1]:zeros"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(5)
        workers = [pid for pid in children(running.pid) if "spawn_main" in command_line(pid)]
        assert len(workers) == 1
        os.kill(workers[0], signal.SIGKILL)
        printed = "".join(running.communicate(timeout=30))
    assert running.returncode == 5
    assert "P566" in printed
    assert "SIGKILL" in printed
    assert_usable(tmp_path)


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(child) for child in listed.read_text().split()]


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def test_a_profiler_shows_the_ptx_where_line_information_was_asked_for(tmp_path: Path) -> None:
    ncu = shutil.which("ncu")
    if ncu is None:
        pytest.skip("ncu is not on PATH")
    file, report = tmp_path / "kernel.ptx", tmp_path / "report.ncu-rep"
    # A text that the driver's cache does not know.
    file.write_text(f"{FILL}// {uuid.uuid4()}\n")
    run_it = [
        sys.executable,
        "-m",
        "ptxkit",
        "run",
        str(file),
        "--device",
        "cuda",
        "--grid",
        "1",
        "--block",
        "32",
    ]
    run_it += ["--arg", "out=u32[32]", "--arg", "value=3", "--timeout", "60"]
    for options, shown in ((["--line-info"], True), ([], False)):
        profile = [ncu, "--section", "SourceCounters", "--clock-control", "none", "--kernel-name", "fill"]
        profile += ["--launch-count", "1", "-f", "-o", str(report)]
        done = subprocess.run([*profile, *run_it, *options], capture_output=True, text=True, timeout=90)
        if "ERR_NVGPUCTRPERM" in done.stdout or "Failed to initialize" in done.stdout + done.stderr:
            pytest.skip("ncu may not read the counters of this machine")
        page = [ncu, "-i", str(report), "--page", "source", "--print-source", "ptx"]
        printed = subprocess.run(page, capture_output=True, text=True, timeout=60).stdout
        assert ("st.global.u32 [%d3], %r4;" in printed) == shown, done.stdout + done.stderr + printed


def test_auto_takes_the_emulator_for_another_target(tmp_path: Path) -> None:
    file = tmp_path / "other.ptx"
    file.write_text(FILL.replace("8.0", "8.8").replace("sm_80", "sm_121a"))
    done = ptxkit(
        "run", file, "--grid", 1, "--block", 32, "--arg", "out=u32[32]", "--arg", "value=1", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["device"] == "emu"


def test_the_shipped_gemv_is_right_on_the_gpu() -> None:
    done = ptxkit("run", "gemv.ptx", "--device", "cuda")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_card_with_a_tensor_map(tmp_path: Path) -> None:
    """The map is made over the tensor's buffer, passed by value, and once more for every set of buffers."""
    options = ("-p", "M=64", "-p", "N=96")
    document = json.loads(run(tmp_path, TILES, *options, "--json").stdout)
    assert document["ok"], document
    assert document["runs"][0]["verified"]
    bench = ptxkit("bench", tmp_path / "kernel.ptx", "--device", "cuda", *options, "--trials", 3, "--json")
    assert bench.returncode == 0, bench.stdout + bench.stderr


def test_what_is_known_of_a_kernel_is_reported(tmp_path: Path) -> None:
    options = ("--grid", 1, "--block", 32, "--arg", "out=u32[32]", "--arg", "value=3")
    done = run(tmp_path, FILL, *options, "--json", "--line-info")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    (kernel,) = document["runs"][0]["kernels"]
    assert kernel["name"] == "fill"
    assert kernel["registers"] > 0
    assert kernel["ctas_per_sm"] > 0
    assert document["gpu"]["sm_count"] > 0
    assert document["machine"]["driver"]["cuda"]
    assert document["runs"][0]["timing"]["sm_clock"] > 1e8
