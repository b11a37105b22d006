"""A run on a GPU under NVIDIA's compute-sanitizer.

The run takes place in a process of its own, once for each tool: memcheck (addresses), racecheck (shared
memory), initcheck (memory that was never written), synccheck (barriers).

    python -m ptxkit.running.sanitized FOLDER      what runs under the tool: see `_under_the_tool`
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, error
from ptxkit.plan import LaunchPlan
from ptxkit.running.report import Report
from ptxkit.running.session import RunOptions, Session
from ptxkit.toolchain.compute_sanitizer import TOOLS, ptx_lines, read_log

TIMEOUT = 600.0
"""Seconds that a run under one tool may take by default; it is 10 to 100 times slower."""

_PROGRAM = "compute-sanitizer"
JOB, ANSWER, CUBIN, _LOG = "job.pickle", "answer.pickle", "machine.cubin", "log.txt"
MODULE = "ptxkit.running.sanitized"
"""What is run under a tool, with the folder of the job: it leaves its answer and the machine code there."""


class Sanitized:
    """Runs plans under the sanitizer's tools, one after the other, until one of them finds an error."""

    def __init__(self, options: RunOptions, timeout: float | None) -> None:
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
        """Run and verify one plan under every tool; findings come before the report's own diagnostics.

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
            (home / JOB).write_bytes(pickle.dumps(job))
            command = [
                self._tool, "--tool", tool, "--log-file", str(home / _LOG), "--print-limit", "100",
                sys.executable, "-m", MODULE, folder,
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
            lines = ptx_lines(home / CUBIN)
            found = read_log(log, tool, lines, module.source)
            if not (home / ANSWER).exists():
                raise _failed(tool, log + done.stderr, done.returncode)
            return found, pickle.loads((home / ANSWER).read_bytes())


def _failed(tool: str, said: str, code: int) -> PtxkitError:
    notes = [line.removeprefix("=========").strip() for line in said.splitlines() if line.strip(" =")]
    message = f"{_PROGRAM} could not run {tool} (exit code {code})"
    return error("P733", message, notes=notes[-5:], help="use the emulator's sanitizer: `--device emu`")


def _under_the_tool(folder: Path) -> None:
    """What runs under a tool: the job in the folder, whose answer and machine code are left there."""
    plan, options = pickle.loads((folder / JOB).read_bytes())
    answer: Any
    try:
        with Session(plan.program.module(), options, timed=False) as session:
            cubin = getattr(session.loaded, "machine_code", None)
            if cubin:
                (folder / CUBIN).write_bytes(cubin)
            answer = session.run(plan)
    except PtxkitError as problem:
        answer = problem.diagnostics
    (folder / ANSWER).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    _under_the_tool(Path(sys.argv[1]))
