"""What all tests share."""

from __future__ import annotations

import os
import time

import pytest

_STARTED = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Slow tests begin only within PTXKIT_SLOW_SECONDS of the start, where that is set."""
    budget = os.environ.get("PTXKIT_SLOW_SECONDS")
    if budget and item.get_closest_marker("slow") and time.monotonic() - _STARTED > float(budget):
        pytest.skip(f"the {budget} s for slow tests are over")
