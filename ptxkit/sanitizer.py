"""A run on a GPU under NVIDIA's compute-sanitizer, and what it says as diagnostics on the PTX lines.

The run takes place in a process of its own, once for each tool: memcheck (addresses), racecheck (shared
memory), initcheck (memory that nobody wrote), synccheck (barriers). The sanitizer names instructions by their
place in the machine code; the machine code, disassembled, leads to the PTX line.

    python -m ptxkit.sanitizer FOLDER      what runs under the tool: see `_under_the_tool`
"""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import Diagnostic, Label, PtxkitError, Severity, Source, Span, error
from ptxkit.plan import LaunchPlan
from ptxkit.report import Report
from ptxkit.runner import Options, Session
from ptxkit.sass import disassemble

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
TIMEOUT = 600.0
"""Seconds that a run under one tool may take where nobody says otherwise; it is 10 to 100 times slower."""

Lines = Mapping[str, Mapping[int, int]]
"""By function and place in its machine code, the PTX line."""

_PROGRAM = "compute-sanitizer"
_JOB, _ANSWER, _CUBIN, _LOG = "job.pickle", "answer.pickle", "machine.cubin", "log.txt"

_MARK = re.compile(r"=========(?: (?P<text>.*))?$")
_PLACE = re.compile(
    r"\bat (?:0x(?P<offset>[0-9a-f]+) in (?P<name>[^\s(]+)"
    r"|(?P<first>[^\s(+]+)(?:\([^)]*\))?\+0x(?P<plus>[0-9a-f]+))(?: in \S+:\d+)?"
)
_NO_FINDING = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY:|Program hit |Target application returned|Warning: Detected overlap|$"
)
_TOOL_FAILED = re.compile(
    r"(?:Error: )?(?:No attachable process|Device not supported|Internal Sanitizer Error).*"
)
_BACKTRACE = re.compile(r"Saved host backtrace|Host Frame|Device Frame|in /|in \[")


class Sanitized:
    """Runs plans under the sanitizer's tools, one after the other, until one of them finds an error."""

    def __init__(self, options: Options, timeout: float | None) -> None:
        """Look for the sanitizer.

        Raises:
            PtxkitError: P732, there is none.
        """
        tool = shutil.which(_PROGRAM)
        if tool is None:
            help = "install the CUDA toolkit, or use the emulator's sanitizer: `--device emu`"
            raise error("P732", f"there is no `{_PROGRAM}` on PATH", help=help)
        self._tool = tool
        self._options = options
        self._timeout = timeout or TIMEOUT
        self._done = 0

    def __enter__(self) -> Sanitized:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def progress(self) -> float | None:
        """The part of the tools that is through. For any thread."""
        return self._done / len(TOOLS)

    def run(self, plan: LaunchPlan) -> Report:
        """Run and verify one plan under every tool; findings stand before the report's own diagnostics.

        Raises:
            PtxkitError: what the run met where no tool found anything; P565, it took too long; P733, a tool
                failed.
        """
        found: list[Diagnostic] = []
        report: Report | None = None
        for self._done, tool in enumerate(TOOLS):
            said, outcome = self._under(tool, plan)
            found += said
            if isinstance(outcome, Report):
                report = outcome
            elif not found:
                raise PtxkitError(outcome)
            if any(diagnostic.is_error for diagnostic in found) or report is None:
                break
        if report is None:
            raise PtxkitError(found)
        return replace(report, diagnostics=(*found, *report.diagnostics))

    def _under(self, tool: str, plan: LaunchPlan) -> tuple[list[Diagnostic], Report | tuple[Diagnostic, ...]]:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            job = plan, replace(self._options, sanitize=False, line_info=True)
            (home / _JOB).write_bytes(pickle.dumps(job))
            command = [
                self._tool, "--tool", tool, "--log-file", str(home / _LOG), "--print-limit", "100",
                sys.executable, "-m", "ptxkit.sanitizer", folder,
            ]  # fmt: skip
            limit = self._timeout
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
            except subprocess.TimeoutExpired:
                message = f"`{plan.program.name}` was killed: {tool} had not finished after {limit:g} s"
                help = "allow more with `--timeout`, or choose smaller sizes"
                raise error("P565", message, help=help) from None
            log = (home / _LOG).read_text(errors="replace") if (home / _LOG).exists() else done.stdout
            module = plan.program.module()
            lines = _lines(home / _CUBIN)
            found = read_log(log, tool, lines, module.source)
            if not (home / _ANSWER).exists():
                raise _failed(tool, log + done.stderr, done.returncode)
            return found, pickle.loads((home / _ANSWER).read_bytes())


def read_log(log: str, tool: str, lines: Lines, source: Source | None) -> list[Diagnostic]:
    """The findings in a log of compute-sanitizer, those that differ in the thread alone as one.

    Args:
        log: what it wrote.
        tool: which of `TOOLS`.
        lines: from machine code to PTX lines.
        source: the PTX.
    """
    found: dict[tuple[str, Span | None], tuple[Diagnostic, int]] = {}
    for header, details in _entries(log):
        severity = Severity.WARNING if header.startswith("Warning:") else Severity.ERROR
        text = re.sub(r"^(Error|Warning): ", "", header)
        places = _PLACE.finditer("\n".join([header, *details]))
        spans = [span for place in places if (span := _span(place, lines, source))]
        message = _PLACE.sub("", text).strip().rstrip(":")
        message = f"{tool}: {message[:1].lower()}{message[1:]}"
        diagnostic = Diagnostic(
            "P734",
            message,
            spans[0] if spans else None,
            severity,
            notes=tuple(details),
            help="the emulator names the thread, the bytes and the other party: `--device emu`",
            source=source,
            labels=tuple(Label(span, "the other access") for span in spans[1:2] if span != spans[0]),
        )
        first, count = found.get((message, diagnostic.span), (diagnostic, 0))
        found[message, diagnostic.span] = first, count + 1
    return [
        replace(first, notes=(*first.notes, f"and {count - 1} more like it")) if count > 1 else first
        for first, count in found.values()
    ]


def _entries(log: str) -> Iterable[tuple[str, list[str]]]:
    """Each finding's first line and the indented ones beneath, without host backtraces."""
    header: str | None = None
    details: list[str] = []
    for line in [*log.splitlines(), "========="]:
        match = _MARK.match(line)
        if match is None:
            continue
        text = match["text"] or ""
        if text.startswith("  ") and text.strip():
            if header is not None and not _BACKTRACE.match(text.strip()):
                details.append(text.strip())
            continue
        if header is not None:
            yield header, details
        header, details = (None if _NO_FINDING.match(text) or _TOOL_FAILED.match(text) else text), []


def _span(place: re.Match[str], lines: Lines, source: Source | None) -> Span | None:
    """The PTX line of a place in the machine code."""
    name = place["name"] or place["first"]
    number = lines.get(name, {}).get(int(place["offset"] or place["plus"], 16))
    text = source.line(number) if source and number else None
    if number is None or text is None:
        return None
    indent = len(text) - len(text.lstrip())
    return Span(number, indent + 1, number, len(text.rstrip()) + 1)


def _lines(cubin: Path) -> Lines:
    """PTX lines by machine code; nothing where there is no machine code or no disassembler."""
    try:
        functions = disassemble(cubin.read_bytes())
    except (PtxkitError, OSError):
        return {}
    return {
        function.name: {i.address: i.line for i in function.instructions if i.line is not None}
        for function in functions
    }


def _failed(tool: str, said: str, code: int) -> PtxkitError:
    notes = [line.removeprefix("=========").strip() for line in said.splitlines() if line.strip(" =")]
    message = f"{_PROGRAM} could not run {tool} (exit code {code})"
    return error("P733", message, notes=notes[-5:], help="use the emulator's sanitizer: `--device emu`")


def _under_the_tool(folder: Path) -> None:
    """What runs under a tool: the job in the folder, whose answer and machine code are left there."""
    plan, options = pickle.loads((folder / _JOB).read_bytes())
    answer: Any
    try:
        with Session(plan.program.module(), options, timed=False) as session:
            cubin = getattr(session.loaded, "machine_code", None)
            if cubin:
                (folder / _CUBIN).write_bytes(cubin)
            answer = session.run(plan)
    except PtxkitError as problem:
        answer = problem.diagnostics
    (folder / _ANSWER).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    _under_the_tool(Path(sys.argv[1]))
