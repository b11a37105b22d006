"""Sweeps: jobs, results kept and taken up again, processes and workers that are lost, a cluster."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from command import here, ptxkit, refused
from small_kernels import DOUBLE

from ptxkit.asm import parse
from ptxkit.card import read
from ptxkit.diagnostics import PtxkitError
from ptxkit.plan import Program, Request, make
from ptxkit.running.session import RunOptions
from ptxkit.sweep import Job, Results, local
from ptxkit.sweep.job_process import JobProcess, LostError
from ptxkit.workers.exclusive import alone_on, gpus_of
from ptxkit.workers.pool import run_tasks

pytestmark = pytest.mark.long

EMU = ("--device", "emu")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


def job_of(kernel: Path, **request) -> Job:
    module = parse(kernel)
    plan = make(Program(kernel.name, str(kernel)), module, read(module.source), Request(**request))
    return Job(plan, RunOptions(device="emu"))


def results(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def lines(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


# ---- jobs and their file


def test_a_key_is_the_jobs_whole_content(kernel: Path, tmp_path: Path) -> None:
    one = job_of(kernel)
    assert one.key == job_of(kernel).key == Job.from_json(json.loads(json.dumps(one.to_json()))).key
    assert one.key != job_of(kernel, preset="even").key
    assert one.key != job_of(kernel, seed=3).key
    assert one.key != Job(one.plan, RunOptions(device="emu", order="random")).key
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / kernel.name).write_text(DOUBLE)
    assert one.key == job_of(moved / kernel.name).key
    (moved / kernel.name).write_text(DOUBLE + "\n// another text\n")
    assert one.key != job_of(moved / kernel.name).key


def test_results_are_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with Results(path) as kept:
        kept.keep({"schema": 1, "kind": "sweep", "key": "a", "exit": 0})
        kept.keep({"schema": 1, "kind": "sweep", "key": "b", "exit": 4})
        kept.keep({"schema": 1, "kind": "sweep", "key": "c", "exit": 3})
    with path.open("a") as file:
        file.write('{"schema": 1, "kind": "sw')
    with Results(path) as kept:
        assert kept.done == {"a": 0, "b": 4}
        kept.keep({"schema": 1, "kind": "sweep", "key": "d", "exit": 0})
    assert [result["key"] for result in results(path)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("content", ["notes\n", "[]\n", '{"kind": "sweep", "schema": 99}\n'])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(PtxkitError) as caught:
        Results(path)
    assert caught.value.diagnostics[0].code == "P525"
    assert path.read_text() == content


# ---- several workers


def test_tasks_are_all_done_and_what_a_worker_raises_comes_out() -> None:
    assert sorted(run_tasks([1, 2, 3, 4, 5], [lambda n: n * n] * 2)) == [(n, n * n) for n in range(1, 6)]

    def fail(task: int) -> int:
        raise ValueError(task)

    with pytest.raises(ValueError, match="7"):
        list(run_tasks([7], [fail]))


def test_no_worker_does_two_tasks_at_once() -> None:
    busy = [0, 0]

    def worker(number: int) -> Callable[[int], int]:
        def do(task: int) -> int:
            busy[number] += 1
            time.sleep(0.002)
            found = busy[number]
            busy[number] -= 1
            return found

        return do

    assert {found for _, found in run_tasks(list(range(20)), [worker(0), worker(1)])} == {1}


def deadly_job(kernel: Path) -> Job:
    """A job whose workload ends the process, in place of the system's out-of-memory killer."""
    deadly = kernel.with_name("deadly.py")
    deadly.write_text("import os\nos.kill(os.getpid(), 9)\n")
    job = job_of(kernel, preset="even").to_json()
    return Job.from_json({**job, "plan": {**job["plan"], "workload": f"{deadly}:W"}})


def test_a_process_lost_over_a_job_is_replaced(kernel: Path) -> None:
    job = job_of(kernel)
    with JobProcess() as process:
        first = process.do(job.to_json())
        assert (first["key"], first["ok"], first["run"]["verified"]) == (job.key, True, True)
        with pytest.raises(LostError, match="exit code -9"):
            process.do(deadly_job(kernel).to_json())
        assert process.do(job.to_json())["process"] != first["process"]


def test_a_process_lost_between_jobs_is_replaced(kernel: Path) -> None:
    job = job_of(kernel)
    with JobProcess() as process:
        first = process.do(job.to_json())
        os.kill(first["process"], signal.SIGKILL)
        with suppress(LostError):  # where the job was sent before the process was seen to be dead
            process.do(job.to_json())
        assert process.do(job.to_json())["process"] != first["process"]


def test_a_job_that_kills_every_process_ends_the_sweep_of_nothing_else(kernel: Path) -> None:
    good, bad = job_of(kernel), deadly_job(kernel)
    found = {job.key: result for job, result in local([bad, good], "emu", processes=2, retries=1)}
    assert (found[good.key]["ok"], found[good.key]["attempts"]) == (True, 1)
    assert (found[bad.key]["exit"], found[bad.key]["attempts"]) == (3, 2)
    assert found[bad.key]["run"]["diagnostics"][0]["code"] == "P569"


# ---- the verb


def sweeping(kernel: Path, axis: str, out: Path, *more: str) -> subprocess.Popen[str]:
    """A sweep that has begun, on the emulator."""
    command = [sys.executable, "-m", "ptxkit", "sweep", str(kernel), "-a", axis, "-o", str(out), *EMU, *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_the_verb_goes_on_where_it_stopped(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    done = ptxkit("sweep", kernel, "-a", "n=100:300:100", "-o", out, *EMU)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert sorted(result["run"]["sizes"]["n"] for result in results(out)) == [100, 200, 300]
    done = ptxkit("sweep", kernel, "-a", "n=100:500:100", "-o", out, *EMU, "--processes", 2)
    assert "3 of 5 results are there already" in done.stderr
    assert sorted(result["run"]["sizes"]["n"] for result in results(out)) == [100, 200, 300, 400, 500]
    assert all(result["ok"] and result["run"]["kind"] == "emu" for result in results(out))


def test_all_results_are_summed_up_and_an_old_failure_counts(kernel: Path, tmp_path: Path) -> None:
    """One of two files is wrong; beginning the sweep again runs nothing and says the same."""
    out = tmp_path / "results.jsonl"
    wrong = kernel.with_name("wrong.ptx")
    wrong.write_text(DOUBLE.replace('"2 * x"', '"3 * x"'))
    for already in ("", "4 of 4 results are there already\n"):
        done = ptxkit("sweep", kernel, wrong, "-a", "n=100,200", "-o", out, *EMU)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr.endswith(
            f"{already}2 of 4 jobs passed, 2 failed:\n"
            f"  {wrong}  n=100: a wrong result, exit code 4\n"
            f"  {wrong}  n=200: a wrong result, exit code 4\n"
        )
    done = ptxkit("sweep", kernel, "-a", "n=100,200", "-o", out, *EMU)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "2 of 2 jobs passed")


def test_without_a_file_results_go_to_standard_output(kernel: Path) -> None:
    kernel.write_text(DOUBLE.replace('"2 * x"', '"3 * x"'))
    done = ptxkit("sweep", kernel, "--preset", "all", *EMU)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 4
    assert [result["exit"] for result in found] == [4, 4]
    assert {result["run"]["preset"] for result in found} == {"smoke", "even"}


def test_bad_options(kernel: Path, tmp_path: Path) -> None:
    refused(here("sweep", kernel, "-o", tmp_path / "no" / "r.jsonl", *EMU), 2, "P567")
    refused(here("sweep", kernel, "-a", "n=1..2", *EMU), 2, "P522")
    refused(here("sweep", kernel, "--device", "gpus"), 2, "P520")


def test_control_c_loses_nothing(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with sweeping(kernel, "n=100:4000:100", out) as running:
        wait_for(lambda: lines(out) >= 3)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said
    there = results(out)
    assert 3 <= len(there) < 40
    done = ptxkit(*list(running.args)[3:])
    assert done.returncode == 0, done.stderr
    assert f"{len(there)} of 40 results are there already" in done.stderr
    assert len(results(out)) == len({result["key"] for result in results(out)}) == 40
    assert results(out)[: len(there)] == there


# ---- a cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


def test_a_worker_is_killed_halfway_and_nothing_is_lost(cluster, kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with sweeping(kernel, "n=100:3000:100", out, "--scheduler", cluster.scheduler_address) as running:
        wait_for(lambda: lines(out) >= 4)
        victim = next(iter(cluster.workers.values())).process.pid
        os.kill(victim, signal.SIGKILL)
        seen = lines(out)
        _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert seen < 30
    found = results(out)
    assert len(found) == len({result["key"] for result in found}) == 30
    assert all(result["ok"] for result in found)
    assert len({result["process"] for result in found}) > 1


@pytest.mark.slow
def test_what_is_interrupted_on_a_cluster_goes_on_there(cluster, kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with sweeping(kernel, "n=100:3000:100", out, "--scheduler", cluster.scheduler_address) as running:
        wait_for(lambda: lines(out) >= 3)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    there = results(out)
    assert 3 <= len(there) < 30
    done = ptxkit(*list(running.args)[3:])
    assert done.returncode == 0, done.stderr
    assert len(results(out)) == len({result["key"] for result in results(out)}) == 30
    assert results(out)[: len(there)] == there


def test_no_scheduler_answers(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr("ptxkit.sweep.cluster._CONNECT_SECONDS", 1)
    refused(here("sweep", kernel, *EMU, "--scheduler", "tcp://127.0.0.1:9"), 3, "P568")
    refused(here("sweep", kernel, "--workload", "own.py:Own", "--scheduler", "tcp://127.0.0.1:9"), 2, "P560")


# ---- GPUs


def test_a_lock_keeps_the_next_one_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.driver.device_uuid", lambda gpu: f"test-{gpu}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    order: list[str] = []

    def second() -> None:
        with alone_on("cuda:3") as place:
            order.append(place)

    waiting = threading.Thread(target=second)
    with alone_on("cuda:3"), alone_on("cuda:4") as other, alone_on("emu") as emulator:
        waiting.start()
        time.sleep(0.3)
        order += [other, emulator]
    waiting.join(timeout=10)
    assert order == ["cuda:4", "emu", "cuda:3"]


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cuda:", "CUDA:all", "emu:1"])
def test_what_names_no_gpu(device: str) -> None:
    with pytest.raises(PtxkitError) as caught:
        gpus_of(device)
    assert caught.value.diagnostics[0].code == "P520"


def test_gpus_by_name() -> None:
    assert (gpus_of("emu"), gpus_of("auto"), gpus_of("cuda"), gpus_of("cuda:12")) == ([], [], [0], [12])


@pytest.mark.gpu
def test_a_gpu_has_one_job_at_a_time(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with alone_on("cuda:0") as place:
        assert place == "cuda:0"
        command = [sys.executable, "-m", "ptxkit", "sweep", str(kernel), "-o", str(out), "--device", "cuda"]
        waiting = subprocess.Popen(command)
        time.sleep(3)
        assert lines(out) == 0
    assert waiting.wait(timeout=60) == 0
    (result,) = results(out)
    assert result["run"]["kind"] == "cuda"
    assert result["gpu"]["ordinal"] == 0


@pytest.mark.gpu(2)
def test_every_gpu_of_the_host_works(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    done = ptxkit("sweep", kernel, "-a", "n=1000:30000:1000", "-o", out, "--device", "cuda:all")
    assert done.returncode == 0, done.stderr
    found = results(out)
    assert len(found) == 30
    assert all(result["ok"] for result in found)
    assert {result["gpu"]["ordinal"] for result in found} >= {0, 1}
    by_process = {(result["process"], result["gpu"]["ordinal"]) for result in found}
    assert len(by_process) == len({ordinal for _, ordinal in by_process})
    spans = {ordinal: [r for r in found if r["gpu"]["ordinal"] == ordinal] for _, ordinal in by_process}
    for jobs in spans.values():
        # One after the other on each GPU, in the time of another's jobs on another GPU.
        times = sorted((job["began"], job["date"]) for job in jobs)
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(times))
    first, second = spans[0], spans[1]
    assert any(a["began"] < b["date"] and b["began"] < a["date"] for a in first for b in second)
