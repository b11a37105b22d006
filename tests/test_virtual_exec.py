"""`ptxkit exec`: programs that call the driver run unchanged, and what is wrong with them is found."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from virtual import CLIENTS, compiled, execute, needs_c, needs_linux

sys.path.insert(0, str(CLIENTS))

pytestmark = [needs_linux, pytest.mark.long]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_a_python_program(order: str) -> None:
    done = execute("saxpy.py", options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert "0 errors, 0 warnings in 1 launch" in done.stderr


def test_a_fault_is_named_with_its_caller_and_fails_the_program(tmp_path: Path) -> None:
    report = tmp_path / "found.sarif"
    done = execute("saxpy.py", "5000", options=("--report", str(report)))
    assert done.returncode == 1
    assert "AssertionError: CUDA_ERROR_ILLEGAL_ADDRESS" in done.stderr
    assert "error[P602]: out of bounds" in done.stderr
    assert "in `saxpy`, launch 1" in done.stderr
    assert re.search(r"called from \S*saxpy\.py:\d+ in main", done.stderr)
    (result,) = json.loads(report.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "P602"
    assert "launch 1" in result["message"]["text"]


def test_an_unnoticed_fault_is_the_exit_code_of_exec() -> None:
    """The program is content with an error code; the finding still counts."""
    script = "import saxpy, sys; sys.argv[1:] = ['5000']\ntry: saxpy.main()\nexcept AssertionError: pass\n"
    done = execute(sys.executable, "-c", script)
    assert done.returncode == 1, done.stderr
    assert "1 error, 0 warnings" in done.stderr


def test_keep_going_leaves_the_context_sound() -> None:
    """Threads beyond the end load and store nothing; the others and the calls after the launch succeed."""
    done = execute("saxpy.py", "5000", options=("--keep-going",))
    assert done.returncode == 1
    assert "AssertionError" not in done.stderr
    assert "ILLEGAL_ADDRESS" not in done.stderr
    assert done.stderr.count("error[P602]") == 2
    assert "2 errors, 0 warnings in 1 launch" in done.stderr


def test_launches_are_predicted() -> None:
    """A small launch runs whole, so that the program goes on with what it computes."""
    done = execute("saxpy.py", options=("--predict", "h200"))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    told = re.search(r"^`saxpy`, launch 1: \d+ CTAs of \d+ threads, [\d.]+ us on h200, ", done.stderr, re.M)
    assert told, done.stderr
    assert re.search(r"^  predicted for h200:\n    saxpy: [\d.]+ us$", done.stderr, re.M)
    unknown = execute("saxpy.py", options=("--predict", "rubin"))
    assert unknown.returncode == 2
    assert "error[P520]" in unknown.stderr


@needs_c
def test_a_program_without_python(tmp_path: Path) -> None:
    from saxpy import SAXPY

    ptx = tmp_path / "saxpy.ptx"
    ptx.write_bytes(SAXPY)
    done = execute(compiled("saxpy.c", tmp_path), ptx)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stderr
    assert "in 1 launch on 1 virtual GPU (sm_90a, order lazy)" in done.stderr


def test_the_exit_code_is_the_programs() -> None:
    assert execute(sys.executable, "-c", "raise SystemExit(7)").returncode == 7


def test_no_such_program() -> None:
    done = execute("no-such-program")
    assert done.returncode == 2
    assert "error[P752]: there is no program `no-such-program`" in done.stderr


def test_bad_options_are_refused() -> None:
    assert execute("saxpy.py", options=("--arch", "sm_1")).returncode == 2
    assert execute("saxpy.py", options=("--devices", "0")).returncode == 2


def test_a_killed_run_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM goes to the program; the folder of a run that was killed outright goes with the next run."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # other tests have runs of their own at the same time

    def folders() -> set[Path]:
        return set(tmp_path.glob("ptxkit-exec-*"))

    def started() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ptxkit", "exec", "--", "sleep", "60"]
        before = folders()
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while not any((folder / "found").exists() for folder in folders() - before):
            time.sleep(0.05)
        time.sleep(0.3)
        return process

    process = started()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    process = started()
    process.kill()
    process.wait(30)
    execute(sys.executable, "-c", "")
    assert folders() == set()


def test_the_drivers_own_tests_of_lifetimes() -> None:
    tests = Path(__file__).parent / "test_driver_lifetimes.py"
    done = execute(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE), done.stdout


def test_rules_are_weighed_for_programs_too(tmp_path: Path) -> None:
    """By an option, and by the settings of the project in whose folder the program is started."""
    done = execute("saxpy.py", "5000", options=("--warn", "P602"))
    assert (done.returncode, "0 errors, 2 warnings" in done.stderr) == (0, True), done.stderr
    done = execute("saxpy.py", "5000", options=("--allow", "P602"))
    assert (done.returncode, "0 errors, 0 warnings" in done.stderr) == (0, True), done.stderr
    (tmp_path / "ptxkit.toml").write_text('[sanitizer]\nwarn = ["P602"]\n')
    done = execute("saxpy.py", "5000", folder=tmp_path)
    assert (done.returncode, "0 errors, 2 warnings" in done.stderr) == (0, True), done.stderr
    done = execute("saxpy.py", "5000", options=("--allow", "P6020"))
    assert (done.returncode, "error[P518]" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("per_thread", ["0", "1"])
def test_the_runtime_of_cuda_bindings_is_ours(per_thread: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own is linked in statically, and asks the driver for private tables."""
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", per_thread)
    done = execute("runtime_bindings.py")
    assert (done.returncode, done.stdout) == (0, "right True\n"), done.stderr
    assert "cuGetExportTable" not in done.stderr


def test_the_machine_code_of_nvrtc_is_its_ptx() -> None:
    find = "from cuda.pathfinder import load_nvidia_dynamic_lib as load; load('nvrtc')"
    if subprocess.run([sys.executable, "-c", find], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("NVRTC is needed")
    done = execute("nvrtc_cubin.py")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
