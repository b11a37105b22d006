"""What all tests share."""

from __future__ import annotations

import os
import time
from functools import cache

import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import device_count

_STARTED = time.monotonic()


@cache
def _no_gpu() -> str | None:
    """Why GPU tests can't run, or None."""
    try:
        return None if device_count() else "the driver finds no GPU"
    except PtxkitError as caught:
        return caught.diagnostics[0].message


def pytest_runtest_setup(item: pytest.Item) -> None:
    """GPU tests need a GPU: without one they are skipped, or fail where PTXKIT_REQUIRE_GPU=1.

    `gpu(2)` needs two. Slow tests begin only within PTXKIT_SLOW_SECONDS of the start, where that is set.
    """
    marker = item.get_closest_marker("gpu")
    if marker is not None:
        wanted = marker.args[0] if marker.args else 1
        missing = _no_gpu()
        if missing is None and device_count() < wanted:
            missing = f"needs {wanted} GPUs, found {device_count()}"
        if missing and os.environ.get("PTXKIT_REQUIRE_GPU") == "1":
            pytest.fail(f"PTXKIT_REQUIRE_GPU=1, but {missing}", pytrace=False)
        elif missing:
            pytest.skip(missing)
    budget = os.environ.get("PTXKIT_SLOW_SECONDS")
    if budget and item.get_closest_marker("slow") and time.monotonic() - _STARTED > float(budget):
        pytest.skip(f"the {budget} s for slow tests are over")
