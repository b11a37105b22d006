"""The corpus under seeds of random order: what PTX of nvcc and Triton leaves must not depend on the schedule.

    python tools/compare_schedules.py                    # 20 seeds; writes bench/results/schedules.json
    python tools/compare_schedules.py --seeds 3 -k atomics

Runs the tests of the corpus (tests/test_emulator_corpus.py and its like) once in lazy order and then once for
each seed, with every emulator that they open in random order. A test that fails counts as a finding, as wrong
results, or, where an exception is neither, as an internal error of the emulator's. Exits with 1 if any fails.
`python -m tools.battery --seeds 20` does the same for the battery.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
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


def run(seed: int | None, chosen: list[str]) -> Schedule:
    """The corpus' tests under one schedule."""
    schedule = Schedule(seed)
    files = [str(ROOT / "tests" / name) for name in TESTS]
    quiet = ["-q", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-m", "not slow and not gpu"]
    pytest.main([*quiet, *chosen, *files], plugins=[schedule])
    return schedule


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("-k", default="", help="the tests whose names match, as pytest's")
    parser.add_argument("--out", type=Path, help="where to keep the counts")
    given = parser.parse_args()
    chosen = ["-k", given.k] if given.k else []
    total: dict[str, Counter[str]] = {"lazy": Counter(), "random": Counter()}
    failures: list[dict[str, Any]] = []
    for seed in [None, *range(1, given.seeds + 1)]:
        schedule = run(seed, chosen)
        total["lazy" if seed is None else "random"].update(schedule.outcomes)
        failures += schedule.failures
    counts = {order: dict(outcomes) for order, outcomes in total.items()}
    print(json.dumps(counts))
    for failure in failures:
        print(f"{failure['test']}, seed {failure['seed']}: {failure['outcome']}\n{failure['detail']}")
    out = given.out or (None if given.k else RESULT)
    if out is not None:
        head = {"schema": 1, "kind": "schedules", **provenance(), "seeds": given.seeds}
        out.write_text(json.dumps({**head, "tests": TESTS, **counts, "failures": failures}, indent=1) + "\n")
    return 1 if failures or not total["random"] else 0


if __name__ == "__main__":
    sys.exit(main())
