"""The tool that runs the corpus in random order: which order it opens, and how it counts failures."""

from __future__ import annotations

from typing import Any

import pytest

from ptxkit.diagnostics import error
from ptxkit.emulator import Emulator
from tools.compare_schedules import Schedule, outcome_of


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


def test_emulators_open_in_random_order_unless_told_otherwise() -> None:
    schedule = Schedule(7)
    schedule.pytest_sessionstart()
    try:
        assert (Emulator().order, Emulator().seed) == ("random", 7)
        assert (Emulator("eager").order, Emulator(sanitize=False).order) == ("eager", "random")
    finally:
        schedule.pytest_sessionfinish()
    assert Emulator().order == "lazy"
