"""The record of a run, bench/results/suites.NAME[.GPU].json, and the shares that two of them give."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from .runner import FileRun
from .suite import HERE

RESULTS = HERE.parents[1] / "bench" / "results"
LONGEST = 160
"""Characters of a reason in the record."""
NOT_YET = "not yet"
_PATH = re.compile(r"(?:/[\w.+-]+){3,}/")
"""Where a checkout or an environment lies, which differs from machine to machine."""


@cache
def reasons() -> tuple[dict[str, Any], ...]:
    """The rows of reasons.toml."""
    return tuple(tomllib.loads((HERE / "reasons.toml").read_text("utf-8"))["reasons"])


def reason_of(suite: str, test: str, why: str) -> str:
    """The first row of reasons.toml that fits a failure; `not yet` where none does."""
    for row in reasons():
        fits = row.get("suite", suite) == suite
        fits = fits and re.search(row.get("test", ""), test) is not None
        if fits and re.search(row.get("why", ""), why, re.DOTALL):
            return row["is"]
    return NOT_YET


def short(why: str) -> str:
    """The first line of why a test failed, without what changes from run to run."""
    lines = [line.strip() for line in why.splitlines() if line.strip()] or [""]
    line = _PATH.sub("../", re.sub(r"0x[0-9a-f]{4,}", "0x..", lines[0]))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 2]}.."


def rows(suite: str, runs: dict[str, FileRun]) -> dict[str, Any]:
    """What came of each test, by files: names without the file; of a failure its reason and first line."""
    return {file: _row(suite, file, run) for file, run in sorted(runs.items())}


def _row(suite: str, file: str, run: FileRun) -> dict[str, Any]:
    passed, failed, skipped, xfailed = [], {}, {}, []
    for node, test in sorted(run.tests.items()):
        name = _PATH.sub("../", node.partition("::")[2]) or "(the file)"
        match test.outcome:
            case "passed":
                passed.append(name)
            case "failed":
                failed[name] = [reason_of(suite, f"{file}::{name}", test.why), short(test.why)]
            case "skipped":
                skipped.setdefault(short(test.why), []).append(name)
            case "xfailed":
                xfailed.append(name)
    row: dict[str, Any] = {"seconds": run.seconds, "passed": passed, "failed": failed}
    row |= {"skipped": skipped, "xfailed": xfailed}
    if run.findings:
        row["findings"] = [f"{code}: {short(text)}" for code, text in run.findings]
    if run.unsupported:
        row["unsupported"] = sorted(run.unsupported)
    return row


def counts(found: dict[str, Any]) -> dict[str, int]:
    """Tests by outcome."""
    total: Counter[str] = Counter()
    for row in found.values():
        total["passed"] += len(row["passed"])
        total["failed"] += len(row["failed"])
        total["skipped"] += sum(map(len, row["skipped"].values()))
        total["xfailed"] += len(row["xfailed"])
    return dict(total)


def failures(found: dict[str, Any]) -> Counter[str]:
    """Failures by reason."""
    return Counter(reason for row in found.values() for reason, _ in row["failed"].values())


def record_path(name: str, gpu: str = "") -> Path:
    """Where the record of a suite lies; `gpu` names a real one."""
    return RESULTS / f"suites.{name}{f'.{gpu}' if gpu else ''}.json"


def read(path: Path) -> dict[str, Any]:
    """A record."""
    return json.loads(path.read_text("utf-8"))


def passed(record: dict[str, Any]) -> set[str]:
    """The tests that passed, as file::name."""
    return {f"{file}::{name}" for file, row in record["files"].items() for name in row["passed"]}


def beside(virtual: dict[str, Any], real: dict[str, Any]) -> dict[str, Any]:
    """Of the tests that pass on a real GPU, how many do on the virtual one, and why the others don't.

    Those that need what no virtual GPU has, by reasons.toml, don't count.
    """
    there, here = passed(real), passed(virtual)
    out_of_reach = {row["is"] for row in reasons() if row.get("out_of_reach")}
    why: dict[str, list[str]] = {}
    for file, row in virtual["files"].items():
        why.update({f"{file}::{name}": found for name, found in row["failed"].items()})
        for text, names in row["skipped"].items():
            why.update({f"{file}::{name}": ["skipped", text] for name in names})
    missing = {test: why.get(test, ["not run", ""]) for test in sorted(there - here)}
    counted = there - {test for test, (reason, _) in missing.items() if reason in out_of_reach}
    return {"counted": len(counted), "passed": len(counted & here), "missing": missing}
