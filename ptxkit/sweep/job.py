"""A job of a sweep, its key, and the line of JSON that its result becomes."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from ptxkit.diagnostics import Diagnostic, exit_code
from ptxkit.plan import LaunchPlan
from ptxkit.rules import rules
from ptxkit.running.report import Report, describe
from ptxkit.running.session import RunOptions

SCHEMA = 1
"""Version of a result's line."""

_ENVIRONMENT = 3
"""The exit code of what the machine lacked rather than the kernel."""


@dataclass(frozen=True)
class Job:
    """One plan to be run.

    Attributes:
        plan: what to run.
        options: where and how.
        timeout: seconds that a launch may take; None: the default of the device.
    """

    plan: LaunchPlan
    options: RunOptions
    timeout: float | None = None

    @cached_property
    def key(self) -> str:
        """The same for the same text, sizes, inputs and options on any machine; part of the result."""
        data = self.to_json()
        data["options"].pop("save")
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict, the program's text in it; `from_json` makes the job again.

        Raises:
            PtxkitError: P559, the program can't be read any more.
        """
        options = {**asdict(self.options), "save": {}}
        return {"plan": self.plan.embedded().to_json(), "options": options, "timeout": self.timeout}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        """The job that `to_json` wrote."""
        options = RunOptions(**data["options"])
        link = tuple((name, text) for name, text in options.link)
        options = replace(options, link=link, rules=rules(options.rules))
        return cls(LaunchPlan.from_json(data["plan"]), options, data["timeout"])

    def reported(self, report: Report, began: datetime.datetime) -> dict[str, Any]:
        """The result of a run that came to its end; `began`: when it had its device."""
        return self._result(report.to_json(), report.diagnostics, began, report.gpu)

    def failed(
        self, diagnostics: tuple[Diagnostic, ...], began: datetime.datetime | None = None
    ) -> dict[str, Any]:
        """The result of a run that did not; `began`: None if unknown."""
        found = [diagnostic.to_json() for diagnostic in diagnostics]
        run = {**describe(self.plan), "ok": False, "verified": False, "diagnostics": found}
        return self._result(run, diagnostics, began)

    def _result(
        self,
        run: dict[str, Any],
        diagnostics: tuple[Diagnostic, ...],
        began: datetime.datetime | None,
        gpu: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "sweep",
            "key": self.key,
            "ok": run["ok"],
            "exit": exit_code(diagnostics),
            "began": began and began.isoformat(timespec="milliseconds"),
            "date": now().isoformat(timespec="milliseconds"),
            "host": platform.node(),
            "process": os.getpid(),
            "gpu": gpu and dict(gpu),
            "run": run,
        }


def now() -> datetime.datetime:
    """The time of day, by which results of one host can be put side by side."""
    return datetime.datetime.now(datetime.UTC)


def final(result: Mapping[str, Any]) -> bool:
    """Whether a result says something of the kernel: what the machine lacked is worth another try."""
    return result.get("exit") != _ENVIRONMENT
