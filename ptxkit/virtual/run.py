"""A program on a virtual GPU: it runs as a process of its own, whose environment leads it to our
libraries."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import Diagnostic, Severity, Source, Span, SpanLabel, error, reason
from ptxkit.virtual.clients.environment import environment_of
from ptxkit.virtual.libraries import write_libraries
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.run_folder import run_folder


@dataclass(slots=True)
class Outcome:
    """What came of a program.

    Attributes:
        exit_code: of the program; 128 and the signal's number where one ended it.
        findings: of all its processes, in order.
        launches: kernels that ran.
        unsupported: calls of functions that do nothing, by name.
        refused: calls that returned an error, by (name, code).
        notes: why calls were refused, and what else must be known.
        predicted: by kernel, how often it was predicted, and seconds in all.
    """

    exit_code: int
    findings: list[Diagnostic] = field(default_factory=list)
    launches: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, int]] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    predicted: dict[str, tuple[int, float]] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """Error findings."""
        return sum(finding.is_error for finding in self.findings)


def run(command: Sequence[str], options: VirtualOptions) -> Outcome:
    """Run a program to its end, its input and output ours.

    Args:
        command: the program and its arguments.
        options: what its GPUs are like.

    Raises:
        PtxkitError: P752, the program can't be started; P751, there are no libraries for this system.
    """
    with run_folder() as folder:
        libraries = folder / "lib"
        libraries.mkdir()
        write_libraries(libraries)
        found = folder / "found"
        found.mkdir()
        environment = environment_of(folder, libraries, replace(options, folder=str(found)))
        code = _wait_for(command, environment)
        return _collected(found, code)


def _wait_for(command: Sequence[str], environment: dict[str, str]) -> int:
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as problem:
        message = f"`{command[0]}` can't be started: {reason(problem)}"
        raise error("P752", message) from None
    with _passed_on(process):
        code = process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Signals that would end us go to the program; what it then does is up to it."""

    def pass_on(number: int, _: Any) -> None:
        if number != signal.SIGINT:  # the terminal has sent it to the program, too
            process.send_signal(number)

    before = {
        number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _collected(folder: Path, code: int) -> Outcome:
    """What the processes of a program have left."""
    outcome = Outcome(code)
    for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime):
        for line in path.read_text("utf-8").splitlines():
            _take(outcome, json.loads(line))
    return outcome


def _take(outcome: Outcome, entry: dict[str, Any]) -> None:
    if "finding" in entry:
        outcome.findings.append(_diagnostic(entry["finding"]))
    if "unsupported" in entry:
        outcome.unsupported.setdefault(entry["unsupported"], 1)
    if "predicted" in entry:
        kernel, seconds = entry["predicted"]
        count, total = outcome.predicted.get(kernel, (0, 0.0))
        outcome.predicted[kernel] = count + 1, total + seconds
    outcome.launches += entry.get("launches", 0)
    for name, count in entry.get("unsupported_calls", {}).items():
        outcome.unsupported[name] = max(count, outcome.unsupported[name])
    for name, number, count in entry.get("refused", ()):
        outcome.refused[name, number] += count
    outcome.notes.update(entry.get("notes", {}))


def _diagnostic(found: dict[str, Any]) -> Diagnostic:
    """A finding as it was before it became JSON, without the text that it quotes."""
    return Diagnostic(
        found["code"],
        found["message"],
        Span(**found["span"]) if found["span"] else None,
        Severity(found["severity"]),
        tuple(found["notes"]),
        found["help"],
        tuple(SpanLabel(Span(**label["span"]), label["text"]) for label in found["labels"]),
        Source(found["file"], "") if found["file"] else None,
    )


def find_program(command: Sequence[str]) -> list[str]:
    """The command with its program as a path; a Python script runs in this Python.

    Raises:
        PtxkitError: P752, there is no such program.
    """
    program, *rest = command
    if program.endswith(".py") and Path(program).is_file() and not os.access(program, os.X_OK):
        return [sys.executable, program, *rest]
    found = shutil.which(program)
    if found is None:
        raise error("P752", f"there is no program `{program}`", help="give its path, or one that PATH finds")
    return [found, *rest]
