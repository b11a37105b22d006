"""The tool that runs the corpus in random order: which order it opens, and how it counts failures."""

from __future__ import annotations

from typing import Any

import pytest

from ptxkit.diagnostics import error
from ptxkit.emulator import Emulator
from tools.compare_schedules import Schedule, corpus, jobs, outcome_of, shipped


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (None, "right"),
        (AssertionError(), "wrong results"),
        (error("P650", "a race"), "findings"),
        (ValueError("could not broadcast"), "internal errors"),
    ],
)
def test_failures_are_told_apart(failure: Exception | None, outcome: str) -> None:
    def call() -> None:
        if failure is not None:
            raise failure

    info: Any = pytest.CallInfo.from_call(call, "call")
    assert outcome_of(info) == outcome


def order_of(device: Emulator) -> tuple[str, int | None]:
    """The order of an emulator, and the seed of a random one."""
    seed = None if device.random is None else device.random.bit_generator.seed_seq.entropy
    return device.options.order, seed


def test_emulators_open_in_random_order_unless_told_otherwise() -> None:
    schedule = Schedule(7)
    schedule.pytest_sessionstart()
    try:
        assert order_of(Emulator()) == ("random", 7)
        assert order_of(Emulator("eager")) == ("eager", None)
        assert order_of(Emulator(sanitize=False)) == ("random", 7)
    finally:
        schedule.pytest_sessionfinish()
    assert order_of(Emulator()) == ("lazy", None)


def test_every_seed_of_every_kernel_has_a_job() -> None:
    found = jobs(2, 25, "gemv.ptx")
    seeds = [job.args[2] for job in found if job.func is shipped and job.args[1] == "short"]
    assert [list(some) for some in seeds] == [list(range(10)), list(range(10, 20)), list(range(20, 25))]
    assert [job.args[0] for job in found if job.func is corpus] == [None, 1, 2]


def test_a_kernel_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import test_kernel_faults

    monkeypatch.setitem(test_kernel_faults.TABLES["gemv.ptx"]["sizes"], "short", {"M": 21, "K": 17, "L": 5})
    found = shipped("gemv.ptx", "short", range(1))
    assert found.outcomes["right"] == 0
    assert [(failure["test"], failure["seed"]) for failure in found.failures] == [("gemv.ptx, short", 0)]
