"""`ptxkit run` on a GPU: the main job, its time, and endings that would spoil a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import codes, here
from small_kernels import DOUBLE, WAIT

pytestmark = pytest.mark.gpu


def test_every_preset_of_the_main_job() -> None:
    done = here("run", "gemv.ptx", "--device", "cuda", "--preset", "all", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["machine"]["driver"]["driver"]
    for run in found["runs"]:
        assert (run["kind"], run["ok"], run["verified"]) == ("cuda", True, True)
        assert run["timing"]["seconds"] > 0
        assert 0 < run["timing"]["roof_share"] < 1.5


def test_auto_takes_the_gpu() -> None:
    done = here("run", "gemv.ptx", "-v")
    assert done.returncode == 0
    assert "on emu" not in done.stdout
    assert "memory roof" in done.stdout


def test_a_launch_that_never_ends_is_killed_and_the_next_one_runs(tmp_path: Path) -> None:
    kernel = tmp_path / "wait.ptx"
    kernel.write_text(WAIT)
    done = here("run", kernel, "--device", "cuda", "--timeout", "20")
    assert (done.returncode, codes(done.stderr)) == (6, ["P565"])
    assert here("run", "gemv.ptx", "--device", "cuda").returncode == 0


def test_an_illegal_address_spoils_nothing_but_its_run(tmp_path: Path) -> None:
    kernel = tmp_path / "double.ptx"
    kernel.write_text(DOUBLE.replace("add.s64 %rd7, %rd4, %rd5", "mov.u64 %rd7, 64"))
    done = here("run", kernel, "--device", "cuda")
    assert (done.returncode, codes(done.stderr)) == (5, ["P720"])
    kernel.write_text(DOUBLE)
    done = here("run", kernel, "--device", "cuda", "--preset", "all")
    assert done.returncode == 0, done.stdout + done.stderr
