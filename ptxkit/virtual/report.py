"""What was found while a program ran: findings with the call that led to them, and what was not supported."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Diagnostic, PtxkitError, render_text
from ptxkit.virtual.calling import NOWHERE, HostStack
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.results import DriverError, code

if TYPE_CHECKING:
    from ptxkit.emulator.timing.predict import Prediction

CODES = {
    "P602": "ILLEGAL_ADDRESS",
    "P603": "MISALIGNED_ADDRESS",
    "P604": "ILLEGAL_ADDRESS",
    "P6151": "ILLEGAL_ADDRESS",
    "P6152": "ILLEGAL_ADDRESS",
    "P6153": "ILLEGAL_ADDRESS",
    "P611": "HARDWARE_STACK_ERROR",
    "P636": "LAUNCH_TIMEOUT",
    "P705": "OUT_OF_MEMORY",
}
"""What the driver returns after a finding; after all others `LAUNCH_FAILED`."""
WORDS = {
    "assertion failed": "ASSERT",
    "of global memory, an address of": "INVALID_ADDRESS_SPACE",
    "of shared memory": "ILLEGAL_INSTRUCTION",
}
"""And what it returns after P602 and P610 where the finding's message has these words: as an H200 does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the emulator or of the driver.

    Attributes:
        diagnostic: what it is.
        launch: `kernel, launch 3`; empty where no kernel was running.
        stack: where the host called, the innermost frame first.
    """

    diagnostic: Diagnostic
    launch: str = ""
    stack: tuple[str, ...] = ()

    def shown(self) -> Diagnostic:
        """With launch and stack among the notes."""
        notes = [*self.diagnostic.notes]
        if self.launch:
            notes.append(f"in {self.launch}")
        notes += [f"called from {frame}" for frame in self.stack]
        return replace(self.diagnostic, notes=tuple(notes))


class ProcessReport:
    """Takes findings and counts calls, for a process.

    Attributes:
        findings: in order.
        unsupported: how often each function was called that does nothing.
        refused: how often each function returned which error, by (name, code).
        launches: how many kernels ran.
        launch, stack: of the operation that is happening.
    """

    def __init__(self, options: VirtualOptions) -> None:
        self.options = options
        self.findings: list[Finding] = []
        self.unsupported: Counter[str] = Counter()
        self.refused: Counter[tuple[str, int]] = Counter()
        self.notes: Counter[str] = Counter()
        self.launches = 0
        self.launch = ""
        self.stack = NOWHERE
        self._told: set[str] = set()
        self._seen: set[tuple[str, str]] = set()

    def add(self, diagnostic: Diagnostic, stack: HostStack | None = None) -> None:
        """A finding; once for the same message. `stack`: where the host called, if not for the operation that
        is happening."""
        if (diagnostic.code, diagnostic.message) in self._seen:
            return
        self._seen.add((diagnostic.code, diagnostic.message))
        finding = Finding(diagnostic, self.launch, (self.stack if stack is None else stack).frames)
        self.findings.append(finding)
        if not self.options.quiet:
            print(render_text([finding.shown()]), file=sys.stderr, flush=True)
        self._write({"finding": finding.shown().to_json()})

    def predicted(self, name: str, one: Prediction) -> None:
        """How long a launch would take elsewhere: told at once, and summed up at the end."""
        if not self.options.quiet:
            grid = f"{one.ctas} CTAs of {one.threads} threads"
            told = f"{one.told} on {self.options.predict}, {one.cycles:,.0f} cycles, {one.bound}"
            print(f"{name}: {grid}, {told}", file=sys.stderr, flush=True)
        self._write({"predicted": [one.entry, one.seconds]})

    def failed(self, problem: Exception) -> int:
        """An operation failed; the error code that the driver then returns."""
        if isinstance(problem, DriverError):
            return problem.code
        if isinstance(problem, PtxkitError):
            for diagnostic in problem.diagnostics:
                self.add(diagnostic)
            first = problem.diagnostics[0]
            if first.code in ("P602", "P610"):
                for words, name in WORDS.items():
                    if words in first.message:
                        return code(name)
            return code(CODES.get(first.code, "LAUNCH_FAILED"))
        self.crashed(problem)
        return code("UNKNOWN")

    def crashed(self, problem: BaseException) -> None:
        """Something went wrong in ptxkit itself."""
        text = "".join(traceback.format_exception(problem)).rstrip()
        message = f"ptxkit failed: {type(problem).__name__}: {problem}"
        self.add(Diagnostic("P750", message, notes=tuple(text.split("\n")[-6:])))

    def call_failed(self, name: str, number: int, why: str) -> None:
        """A function of the driver returned an error."""
        self.refused[name, number] += 1
        if why:
            self.notes[f"{name}: {why}"] += 1

    def tell(self, message: str) -> None:
        """What whoever runs a program that is not Python must know at once, since it may be its end.

        Libraries of Python packages may ask and go on without an answer: the summary says it.
        """
        if message not in self._told and not sys.orig_argv:
            print(f"ptxkit: {message}", file=sys.stderr, flush=True)
        self._told.add(message)

    def not_supported(self, name: str) -> None:
        """A function was called that does nothing yet."""
        self.unsupported[name] += 1
        if self.unsupported[name] == 1:
            self._write({"unsupported": name})

    def close(self) -> None:
        """The process ends: what was only counted is written, too."""
        self._write(
            {
                "launches": self.launches,
                "unsupported_calls": dict(self.unsupported),
                "refused": [[name, number, count] for (name, number), count in self.refused.items()],
                "notes": dict(self.notes),
            }
        )

    def _write(self, entry: dict[str, object]) -> None:
        """A line for whoever waits for the program; a process that is killed has left what it found."""
        if self.options.folder:
            path = Path(self.options.folder, f"{os.getpid()}.jsonl")
            try:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
            except FileNotFoundError:
                return  # `ptxkit exec` was killed and its folder has gone with the next run: nobody waits
