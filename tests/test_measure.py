"""What the tools that measure on a GPU make of their figures."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name: str, monkeypatch: pytest.MonkeyPatch):
    """A module of tools/, which import one another."""
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return importlib.import_module(name)


def test_the_time_in_which_two_gpus_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    together = tool("measure_gpus", monkeypatch).together
    assert together([[(0, 2), (3, 5)], [(1, 4)]]) == 2
    assert together([[(0, 1)], [(1, 2)]]) == 0
    assert together([[(0, 4)], [(1, 3)], [(2, 5)]]) == 3
    assert together([[(0, 4)]]) == 0


@pytest.mark.parametrize(
    ("seconds", "net", "profiled", "met"),
    [
        (14.3e-6, 12.9e-6, 13.0e-6, True),
        (14.3e-6, 14.1e-6, 13.0e-6, False),
        (14.3e-6, None, 13.0e-6, False),
        (120e-6, 119e-6, 118e-6, True),
        (1000e-6, 999e-6, 960e-6, False),
    ],
)
def test_short_kernels_are_compared_in_microseconds_and_long_ones_in_per_cent(
    monkeypatch: pytest.MonkeyPatch, seconds: float, net: float | None, profiled: float, met: bool
) -> None:
    beside = tool("measure_driver", monkeypatch)._beside
    timing = {"seconds": seconds, "net": net, "trials": [{"sm_clock": 1.9e9}]}
    assert beside(timing, {"median": profiled})["met"] is met
    assert beside(timing, {"error": "no counters"})["met"] is None
