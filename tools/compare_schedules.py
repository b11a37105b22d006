"""The corpus and the shipped kernels under seeds of random order: no result and no finding may depend on one.

    python tools/compare_schedules.py --workers 2        # writes bench/results/schedules.json
    python tools/compare_schedules.py --seeds 3 -k atomics

Runs the tests of the corpus (tests/test_emulator_corpus.py and its like) once in lazy order and then once for
each seed, with every emulator that they open in random order; then every shipped kernel at each of its sizes
(tests/kernel_faults) with each of its own, more numerous seeds. What fails counts as a finding, as wrong
results, or, where an exception is neither, as an internal error of the emulator's. Exits with 1 if any fails.
`python -m tools.battery --seeds 20` does the same for the battery.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.machine.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "bench" / "results" / "schedules.json"
TESTS = ("test_emulator_corpus.py", "test_emulator_gemm.py", "test_tensor_memory_corpus.py")
SEEDS_A_JOB = 10
"""Of a shipped kernel."""


@dataclass
class Result:
    """What a job found: how many runs ended how, and what failed."""

    what: str
    outcomes: Counter[str]
    failures: list[dict[str, Any]]


class Schedule:
    """A pytest plugin: emulators open in random order, and what becomes of each test is kept.

    Args:
        seed: of the order; None for the one in which emulators open otherwise.

    Attributes:
        outcomes: how many tests ended how.
        failures: what failed, and why.
    """

    def __init__(self, seed: int | None) -> None:
        self.seed = seed
        self.outcomes: Counter[str] = Counter()
        self.failures: list[dict[str, Any]] = []
        self._patch = pytest.MonkeyPatch()

    def pytest_sessionstart(self) -> None:
        if self.seed is not None:
            self._patch.setattr(Emulator, "__init__", _opened(Emulator.__init__, self.seed))

    def pytest_sessionfinish(self) -> None:
        self._patch.undo()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if report.when == "call" and not report.skipped:
            outcome = outcome_of(call)
            self.outcomes[outcome] += 1
            if outcome != "right":
                detail = str(report.longrepr)[-600:]
                self.failures.append(
                    {"test": item.name, "seed": self.seed, "outcome": outcome, "detail": detail}
                )
        return report


def _opened(init: Callable[..., None], by_default: int) -> Callable[..., None]:
    """The constructor, in random order where a test does not say another one."""

    def opened(
        self: Emulator, order: str = "random", seed: int = by_default, *rest: Any, **named: Any
    ) -> None:
        init(self, order, seed, *rest, **named)

    return opened


def outcome_of(call: pytest.CallInfo[None]) -> str:
    """How a test ended: `right`, `wrong results`, `findings`, `internal errors`."""
    if call.excinfo is None:
        return "right"
    if isinstance(call.excinfo.value, (AssertionError, pytest.fail.Exception)):
        return "wrong results"
    return "findings" if isinstance(call.excinfo.value, PtxkitError) else "internal errors"


def corpus(seed: int | None, chosen: list[str]) -> Result:
    """The corpus' tests under one schedule."""
    schedule = Schedule(seed)
    files = [str(ROOT / "tests" / name) for name in TESTS]
    quiet = ["-q", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*quiet, "-m", "not slow and not gpu", *chosen, *files], plugins=[schedule])
    return Result("random" if seed is not None else "lazy", schedule.outcomes, schedule.failures)


def shipped(kernel: str, sizes: str, seeds: range) -> Result:
    """A shipped kernel at some of its sizes, with some seeds."""
    from command import codes
    from test_kernel_faults import run

    outcomes: Counter[str] = Counter()
    failures = []
    for seed in seeds:
        done = run(kernel, kernel, sizes, "random", seed)
        printed = done.stdout + done.stderr
        found = codes(printed)
        if done.returncode == 0 and not found:
            outcomes["right"] += 1
            continue
        wrong = "wrong results" if done.returncode == 4 else "findings"
        outcome = "internal errors" if "P599" in found else wrong
        outcomes[outcome] += 1
        test = f"{kernel}, {sizes}"
        failures.append({"test": test, "seed": seed, "outcome": outcome, "detail": printed[-600:]})
    return Result("shipped kernels", outcomes, failures)


def jobs(seeds: int, kernel_seeds: int, chosen: str) -> list[Callable[[], Result]]:
    """Everything there is to do, what takes long first."""
    from test_kernel_faults import SIZES

    found: list[Callable[[], Result]] = []
    for seed in [None, *range(1, seeds + 1)]:
        found.append(partial(corpus, seed, ["-k", chosen] if chosen else []))
    for kernel, sizes in SIZES:
        if chosen in kernel:
            for first in range(0, kernel_seeds, SEEDS_A_JOB):
                found.append(
                    partial(shipped, kernel, sizes, range(first, min(first + SEEDS_A_JOB, kernel_seeds)))
                )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="of the corpus")
    parser.add_argument(
        "--kernel-seeds", type=int, default=100, help="of each shipped kernel at each of its sizes"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("-k", default="", help="the tests and kernels whose names match")
    parser.add_argument("--out", type=Path, help="where to keep the counts")
    given = parser.parse_args()
    total: dict[str, Counter[str]] = {"lazy": Counter(), "random": Counter(), "shipped kernels": Counter()}
    failures: list[dict[str, Any]] = []
    todo = jobs(given.seeds, given.kernel_seeds, given.k)
    with ProcessPoolExecutor(given.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done, future in enumerate(as_completed([pool.submit(job) for job in todo]), 1):
            result = future.result()
            total[result.what].update(result.outcomes)
            failures += result.failures
            print(f"\r{done} of {len(todo)}, {len(failures)} wrong", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    counts = {what: dict(outcomes) for what, outcomes in total.items()}
    print(json.dumps(counts))
    for failure in failures:
        print(f"{failure['test']}, seed {failure['seed']}: {failure['outcome']}\n{failure['detail']}")
    out = given.out or (None if given.k else RESULT)
    if out is not None:
        seeds = {"seeds": given.seeds, "kernel_seeds": given.kernel_seeds}
        head = {"schema": 1, "kind": "schedules", **provenance(), **seeds}
        out.write_text(json.dumps({**head, "tests": TESTS, **counts, "failures": failures}, indent=1) + "\n")
    return 1 if failures or not total["random"] else 0


if __name__ == "__main__":
    sys.exit(main())
