"""What all tests share."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from turns import in_turn, one_each

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import device_count
from ptxkit.support.disk_cache import VARIABLE

_STARTED = time.monotonic()

# How long an example takes is no test: a machine may have other work.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")


@cache
def _gpus() -> tuple[int, str]:
    """GPUs that can be used, and why there are no more."""
    try:
        count = device_count()
    except PtxkitError as caught:
        return 0, caught.diagnostics[0].message
    return count, f"found {count} of them" if count else "the driver finds no GPU"


@cache
def _required() -> int:
    """The GPUs that PTXKIT_REQUIRE_GPU says this machine has."""
    given = os.environ.get("PTXKIT_REQUIRE_GPU") or "0"
    if not given.isdecimal():
        pytest.exit(f"PTXKIT_REQUIRE_GPU takes a number of GPUs, found {given!r}", 4)
    return int(given)


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C reach what tests start: a script that starts pytest in the background has it ignored, and
    processes inherit that. Keep compiled code apart from the user's."""
    if VARIABLE not in os.environ:  # what tests compile is kept for no one
        kept = tempfile.TemporaryDirectory(prefix="ptxkit-tests-")
        os.environ[VARIABLE] = str(Path(kept.name) / "kept")
        config.add_cleanup(kept.cleanup)
    os.environ.setdefault("PTXKIT_THREADS", "1")  # tests run on every core already
    os.environ.setdefault("PTXKIT_MEND", "0")  # faults are what many tests are about
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-each", action="store_true", help="one case of each test, another with another PTXKIT_TURN"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`--one-each` leaves one case of each test. What takes a minute begins first, so that others run beside
    it; slow tests come last, in the order of PTXKIT_TURN if set."""
    turn = os.environ.get("PTXKIT_TURN", "")
    if config.getoption("one_each"):
        chosen = one_each((item.nodeid for item in items), turn)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    if turn:
        slow = {item.nodeid: item for item in items if item.get_closest_marker("slow")}
        quick = [item for item in items if item.nodeid not in slow]
        items[:] = quick + [slow[name] for name in in_turn(slow, turn)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """GPU tests need a GPU, `gpu(2)` two. Where there are fewer they are skipped, unless PTXKIT_REQUIRE_GPU
    asks for as many: then they fail.

    Slow tests begin only within PTXKIT_SLOW_SECONDS of the start, where that is set.
    """
    marker = item.get_closest_marker("gpu")
    if marker is not None:
        wanted = marker.args[0] if marker.args else 1
        count, why = _gpus()
        if count < wanted <= _required():
            pytest.fail(f"PTXKIT_REQUIRE_GPU={_required()}, but {why}", pytrace=False)
        elif count < wanted:
            pytest.skip(f"needs {wanted} GPUs: {why}" if wanted > 1 else why)
    budget = os.environ.get("PTXKIT_SLOW_SECONDS")
    if budget and item.get_closest_marker("slow") and time.monotonic() - _STARTED > float(budget):
        pytest.skip(f"the {budget} s for slow tests are over")
