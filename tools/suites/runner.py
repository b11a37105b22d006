"""A suite file by file: a process a file, watched, so that a test that dies or hangs costs only itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .suite import HERE, Checkout

STARTS = 40
"""A file whose processes die more often is given up: what is left of it counts as `not run`."""
ENDED = (0, 1, 2, 5)
"""Exit codes of pytest that came to its end."""
AGAIN = 86
"""That of the plugin's, where a test lost the context: the rest of the file needs a new process."""
NOTHING_DONE = "  functions that do nothing, and said so:"
"""The heading of `ptxkit exec`'s summary."""
START_SECONDS = 240
"""How long importing and collecting a file may take."""


@dataclass
class Test:
    """What came of a test: `passed`, `failed`, `skipped`, `xfailed`, and why."""

    outcome: str
    why: str = ""


@dataclass
class FileRun:
    """What came of a file.

    Attributes:
        tests: by node id.
        findings: of the virtual GPU, as (code, message), once each.
        unsupported: functions that were called and do nothing yet.
        seconds: of the wall's clock.
    """

    tests: dict[str, Test] = field(default_factory=dict)
    findings: list[list[str]] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As the runner keeps it."""
        tests = {name: [test.outcome, test.why] for name, test in self.tests.items()}
        return {
            "tests": tests,
            "findings": self.findings,
            "unsupported": self.unsupported,
            "seconds": round(self.seconds, 1),
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> FileRun:
        """What `to_json` gave."""
        tests = {name: Test(*test) for name, test in found["tests"].items()}
        return cls(tests, found["findings"], found["unsupported"], found["seconds"])


class Log:
    """What the plugin has written so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.collected: list[str] | None = None
        self.tests: dict[str, Test] = {}
        self.running = ""
        self.since = time.monotonic()
        self._read = 0

    def update(self) -> None:
        """Take the lines that are new."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            *lines, _ = file.read().split(b"\n")
        for line in lines:
            self._read += len(line) + 1
            self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        if "collected" in entry:
            self.collected = entry["collected"]
        if "begun" in entry or "ended" in entry:
            self.running, self.since = entry.get("begun", ""), time.monotonic()
        if "test" in entry:
            before = self.tests.get(entry["test"])
            if before is None or before.outcome == "passed":
                self.tests[entry["test"]] = Test(entry["outcome"], entry["why"])


def run_file(checkout: Checkout, file: str, exec_options: list[str] | None, folder: Path) -> FileRun:
    """Run a file of a suite to its end, in as many processes as that takes.

    Args:
        checkout: the suite.
        file: relative to its tests.
        exec_options: of `ptxkit exec`; None on a real GPU.
        folder: for files of the run.
    """
    found, start = FileRun(), time.monotonic()
    for turn in range(STARTS):
        log, code = _process(checkout, file, exec_options, folder, found, turn)
        found.tests.update(log.tests)
        if code == AGAIN:
            continue
        if code in ENDED and not log.running:
            break
        if not log.running:
            # Nothing was running: it died while it was imported, or after its last test.
            if not log.tests:
                last = (folder / f"{_stem(file, turn)}.out").read_text("utf-8", errors="replace")
                errors = [line for line in last.splitlines() if line.startswith("E  ")]
                why = errors[-1][1:].strip() if errors else "the process died before its first test"
                found.tests.setdefault(file, Test("failed", why))
            break
    found.seconds = time.monotonic() - start
    return found


def _stem(file: str, turn: int) -> str:
    return f"{file.replace('/', '.')}.{turn}"


def _process(
    checkout: Checkout, file: str, exec_options: list[str] | None, folder: Path, found: FileRun, turn: int
) -> tuple[Log, int]:
    """One process of a file; what it did, and its exit code."""
    stem = _stem(file, turn)
    log_path, done, report = folder / f"{stem}.log", folder / f"{stem}.done", folder / f"{stem}.sarif"
    log_path.unlink(missing_ok=True)
    done.write_text("".join(f"{name}\n" for name in found.tests), "utf-8")
    environment = checkout.environment()
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE / "plugin"), inherited]))
    environment["SUITE_LOG"], environment["SUITE_DONE"] = str(log_path), str(done)
    environment.pop("SUITE_PROCESS", None)
    plugins = ["-p", "suite_reporter", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command = [checkout.python, "-P", "-m", "pytest", "-q", *plugins, *checkout.suite.options]
    command.append(str(checkout.tests / file))
    if exec_options is not None:
        virtual = [checkout.python, "-m", "ptxkit", "exec", *exec_options, "--report", str(report), "--"]
        command = [*virtual, *command]
    with (folder / f"{stem}.out").open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=checkout.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log = _watched(process, Log(log_path), checkout.suite.test_seconds)
    if exec_options is not None:
        take_report(found, report, folder / f"{stem}.out")
    return log, process.returncode


def _watched(process: subprocess.Popen[bytes], log: Log, seconds: int) -> Log:
    """Wait for a process; a test that takes too long ends it."""
    while True:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            log.update()
            limit = seconds if log.running else START_SECONDS
            if time.monotonic() - log.since < limit:
                continue
            kill(process)
            log.update()
            log.tests[log.running or "start"] = Test("failed", f"took more than {limit} s")
            return log
        log.update()
        kill(process)  # what its tests have left behind
        if log.running:
            code = process.returncode
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            log.tests[log.running] = Test("failed", f"the process died in it: {how}")
        return log


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def exit_code(
    command: list[str], folder: Path, log: IO[str], environment: dict[str, str], seconds: int
) -> int | None:
    """How a process ends; None if it takes longer, and is killed with those that it has started."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        return None


def take_report(found: FileRun, report: Path, output: Path) -> None:
    """The findings of `ptxkit exec`, and the functions that it says are not supported."""
    if report.exists():
        for result in json.loads(report.read_text("utf-8"))["runs"][0]["results"]:
            text = result["message"]["text"].split("\n")[0]
            if [result["ruleId"], text] not in found.findings:
                found.findings.append([result["ruleId"], text])
    _, _, rest = output.read_text("utf-8", errors="replace").partition(f"\n{NOTHING_DONE}\n")
    for line in rest.splitlines():
        if not line.startswith("    ") or line.startswith("    and "):
            break
        if (name := line.split()[0]) not in found.unsupported:
            found.unsupported.append(name)
