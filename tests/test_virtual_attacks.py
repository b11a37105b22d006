"""Programs that use the driver as badly as they can: nothing crashes, hangs, grows or stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from virtual import CLIENTS, compiled, execute, needs_c, needs_linux

from ptxkit.virtual.run_folder import BEGINNING, PREFIX, run_folder

pytestmark = [needs_linux, pytest.mark.long]


@pytest.mark.parametrize(
    ("order", "seconds"),
    [
        ("random", 2),
        pytest.param("lazy", 20, marks=pytest.mark.slow),
        pytest.param("random", 20, marks=pytest.mark.slow),
        pytest.param("eager", 20, marks=pytest.mark.slow),
    ],
)
def test_threads_that_race(order: str, seconds: int) -> None:
    done = execute("races.py", str(seconds), options=("--order", order, "--allow", "P6155"))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr


@pytest.mark.parametrize("order", ["lazy", "eager"])
@pytest.mark.parametrize("how", ["pending", "busy"])
def test_forked_processes_end(how: str, order: str) -> None:
    """They have no driver; what their parent has queued is not done twice."""
    done = execute("forks.py", how, options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stdout + done.stderr
    assert how == "busy" or "in 1 launch on" in done.stderr


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("SIGKILL", 128 + signal.SIGKILL),
        ("SIGTERM", 128 + signal.SIGTERM),
        ("SIGINT", 128 + signal.SIGINT),
        ("abort", 128 + signal.SIGABRT),
        ("at_once", 7),
        ("in_order", 7),
    ],
)
def test_however_a_program_ends(how: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its findings are told, its exit code is that of `exec`, and no file is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    report = tmp_path / "found.sarif"
    done = execute("ends.py", how, options=("--report", str(report)), folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stderr.count("error[P602]") == 1
    assert "ptxkit exec: 1 error, 0 warnings" in done.stderr
    assert report.read_text("utf-8").count('"ruleId": "P602"') == 1
    assert [path.name for path in tmp_path.iterdir() if path != report] == []


@needs_c
@pytest.mark.parametrize(
    ("how", "code", "launches"),
    [
        ("twice", 0, "1 launch"),
        ("forks", 0, "1 launch"),
        ("execs", 7, "0 launches"),
        ("abort", 128 + signal.SIGABRT, "0 launches"),
        ("at_once", 7, "0 launches"),
        ("in_order", 7, "0 launches"),
    ],
)
def test_a_program_of_c(
    how: str, code: int, launches: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Double frees and uses after free have the driver's codes; forked children have no driver, and end."""
    program = compiled("attacks.c", tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = execute(program, how, folder=tmp_path)
    assert (done.returncode, done.stdout) == (code, "" if code else "right\n"), done.stderr
    assert f"0 errors, 0 warnings in {launches} on" in done.stderr
    assert list(tmp_path.iterdir()) == [program]


def test_a_program_outlives_the_run_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run takes the folder away; the program goes on to its end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(CLIENTS))
    ready, ended = tmp_path / "ready", tmp_path / "ended"
    script = (
        "import pathlib, time, ends\nfrom kernels import begin\nbegin()\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        f"while not pathlib.Path({str(ended)!r}).exists(): time.sleep(0.05)\n"
        f"try: ends.main('in_order')\n"
        f"except SystemExit: pathlib.Path({str(ended)!r}).write_text('in order')\n"
    )
    command = [sys.executable, "-m", "ptxkit", "exec", "--", sys.executable, "-c", script]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _await(ready.exists)
    process.kill()
    process.wait(30)
    execute(sys.executable, "-c", "")
    assert list(tmp_path.glob("ptxkit-*")) == []
    ended.touch()
    _await(lambda: ended.read_text("utf-8") == "in order")


def test_folders_of_killed_runs_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that nobody holds, and those that are old and never had a lock; one that is being made stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    new, old, left = (tmp_path / f"{PREFIX}{name}" for name in ("new", "old", "left"))
    for folder in (new, old, left):
        folder.mkdir()
    (left / "lock").touch()
    long_ago = time.time() - 2 * BEGINNING
    os.utime(old, (long_ago, long_ago))
    with run_folder() as mine, run_folder() as other:
        assert set(tmp_path.iterdir()) == {new, mine, other}
    assert list(tmp_path.iterdir()) == [new]


def _await(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "most"), [("unload", 2), ("keep", 60)])
def test_ten_thousand_modules(how: str, most: float) -> None:
    """KiB that each leaves: nothing once it is unloaded, else what its text and kernel are."""
    done = execute("modules.py", how, "10000")
    assert done.returncode == 0, done.stderr
    *_, left = map(float, done.stdout.split())
    assert left < most, done.stdout
