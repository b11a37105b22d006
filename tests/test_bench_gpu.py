"""`ptxkit bench` on a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import codes, here
from small_kernels import DOUBLE, WAIT

pytestmark = pytest.mark.gpu

LARGE = DOUBLE.replace(
    "// even = { n = 256 }", "// bench_large = { n = 999936 }\n// bench_small = { n = 256 }"
)
SHORT = ("--device", "cuda", "--trials", 3, "--warmup", 0.02)


def bench(*arguments: object, expect: int = 0) -> dict:
    done = here("bench", *arguments, *SHORT, "--json")
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(LARGE)
    return path


def test_the_main_job_beside_its_roof() -> None:
    found = bench("gemv.ptx", "--preset", "smoke", "--preset", "bench_7168x2048x4")
    assert found["gpu"]["name"] == found["device"]
    assert found["machine"]["driver"]["driver"]
    small, large = (state["timing"] for state in found["states"])
    for timing in (small, large):
        assert len(timing["trials"]) == 3
        assert 0 < timing["floor"]["seconds"] < timing["seconds"]
        assert timing["minimum"] <= timing["seconds"]
        assert all(trial["sm_clock"] > 1e8 for trial in timing["trials"])
    assert small["seconds"] < large["seconds"]
    assert 0.05 < large["roof_share"] < 1.1
    assert [roof["name"] for roof in large["roofs"]] == ["problem", "read", "copy"]
    (read,) = (roof for roof in large["roofs"] if roof["name"] == "read")
    above = read["figure"]["seconds"] - large["floor"]["seconds"]
    assert (
        0.3 * found["gpu"]["peak_bandwidth"]
        < read["bytes_read"] / above
        < 1.05 * found["gpu"]["peak_bandwidth"]
    )


def test_kernels_of_one_problem_are_compared(kernel: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ptx"
    other.write_text(LARGE)
    done = here("bench", kernel, other, *SHORT, "--preset", "bench_large")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "empty kernel" in done.stdout
    assert "BWUtil" in done.stdout


@pytest.mark.parametrize("flush", ["read", "write", "none"])
def test_every_flush(kernel: Path, flush: str) -> None:
    found = bench(kernel, "--flush", flush, "--preset", "bench_large")
    assert found["settings"]["flush"] == flush
    (state,) = found["states"]
    assert state["ok"]
    assert state["timing"]["trials"][0]["sets"] == (1 if flush == "none" else 2)


def test_the_gpu_may_rest_between_samples(kernel: Path) -> None:
    found = bench(kernel, "--pause", 0.02, "--preset", "bench_large", "--no-roof")
    assert found["settings"]["pause"] == 0.02
    (state,) = found["states"]
    assert state["ok"]
    assert all(trial["sm_clock"] > 1e8 for trial in state["timing"]["trials"])


def test_a_bench_against_an_earlier_one(kernel: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    before.write_text(json.dumps(bench(kernel)))
    verdicts = [state["verdict"] for state in bench(kernel, "--baseline", before)["states"]]
    for verdict in verdicts:
        assert verdict["word"] in ("same", "faster", "slower")
        assert 0.5 < verdict["ratio"] < 2


def test_a_kernel_that_is_right_only_once(kernel: Path) -> None:
    """It clears its input, so that every later launch on the same buffers gives zeros."""
    store = "st.global.f32 [%rd7], %f2;"
    kernel.write_text(LARGE.replace(store, f"{store}\n    st.global.f32 [%rd6], 0f00000000;"))
    found = bench(kernel, "--preset", "bench_small", expect=4)
    (diagnostic,) = found["diagnostics"]
    assert diagnostic["code"] in ("P801", "P802")
    assert any("the first launch was right" in note for note in diagnostic["notes"])


def test_a_launch_that_never_ends_stops_only_itself(kernel: Path, tmp_path: Path) -> None:
    waiting = tmp_path / "wait.ptx"
    waiting.write_text(WAIT)
    found = bench(waiting, kernel, "--timeout", 5, "--no-roof", expect=6)
    first, *others = found["states"]
    assert [d["code"] for d in first["diagnostics"]] == ["P565"]
    assert [state["preset"] for state in others] == ["bench_large", "bench_small"]
    assert all(state["ok"] and state["timing"]["seconds"] > 0 for state in others)


def test_the_roofs_kernel_is_right_on_a_gpu() -> None:
    done = here("run", "roofs/stream.ptx", "--device", "cuda", "--preset", "all")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_illegal_address_is_that_kernels_alone(kernel: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ptx"
    broken.write_text(LARGE.replace("add.s64 %rd7, %rd4, %rd5", "mov.u64 %rd7, 64"))
    done = here("bench", broken, kernel, *SHORT, "--preset", "bench_small", "--no-roof")
    assert (done.returncode, codes(done.stdout)) == (5, ["P720"])
    assert "ok" in done.stdout


@pytest.mark.gpu(2)
def test_axes_are_spread_over_the_gpus_of_a_host(kernel: Path) -> None:
    found = here(
        "bench", kernel, "-a", "n=100000:900000:100000", "--device", "cuda:all", *SHORT[2:], "--json"
    )
    assert found.returncode == 0, found.stdout + found.stderr
    states = json.loads(found.stdout)["states"]
    assert [state["sizes"]["n"] for state in states] == list(range(100_000, 1_000_000, 100_000))
    assert {state["ordinal"] for state in states} >= {0, 1}
    assert all(state["ok"] and state["timing"]["seconds"] > 0 for state in states)
