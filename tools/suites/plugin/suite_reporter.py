"""A plugin of pytest that writes what comes of each test to a file, line by line as it happens.

A process that dies or is killed has left which test it was in. The runner gives two paths in the
environment: `SUITE_LOG`, where lines go, and `SUITE_DONE`, the node ids that an earlier process of the same
file has dealt with. Imports nothing but pytest, so that it loads in any environment.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

LOG = os.environ.get("SUITE_LOG", "")
DONE = os.environ.get("SUITE_DONE", "")
LOST = re.compile(
    "ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION|HARDWARE_STACK_ERROR|ERROR_ASSERT|"
    "LAUNCH_TIMEOUT|cudaError(?:IllegalAddress|LaunchFailure|MisalignedAddress|Assert)"
)
"""What a failed test says where its context is lost: what follows needs a new process, on a GPU as here."""
AGAIN = 86
"""The exit code by which the runner knows it."""
OWNER = os.environ.get("SUITE_PROCESS", "")
"""The process that the runner started marks itself here; the ones that tests start write nothing."""


def _write(**entry: Any) -> None:
    if LOG and os.environ.get("SUITE_PROCESS") == str(os.getpid()):
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    if not OWNER:
        os.environ["SUITE_PROCESS"] = str(os.getpid())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _write(collected=[item.nodeid for item in items])
    done = set(Path(DONE).read_text("utf-8").splitlines()) if DONE else set()
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _write(test=report.nodeid, outcome="failed", why=_last_line(str(report.longrepr)), when="collect")
    elif report.skipped and isinstance(report.longrepr, tuple):
        _write(test=report.nodeid, outcome="skipped", why=str(report.longrepr[2]), when="collect")


def pytest_runtest_logstart(nodeid: str) -> None:
    _write(begun=nodeid)


_lost = False


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    global _lost
    _lost |= report.failed and LOST.search(_why(report)) is not None
    if report.when == "call" or report.outcome != "passed":
        _write(test=report.nodeid, outcome=_outcome(report), why=_why(report), when=report.when)


def pytest_runtest_logfinish(nodeid: str) -> None:
    _write(ended=nodeid)
    if _lost and os.environ.get("SUITE_PROCESS") == str(os.getpid()):
        os._exit(AGAIN)


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "passed"
    return report.outcome


def _why(report: pytest.TestReport) -> str:
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message) if crash is not None else _last_line(str(report.longrepr))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
