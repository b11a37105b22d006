"""A run on a GPU under Nsight Compute, which counts what each machine instruction does.

The run takes place in a process of its own, whose launches `ncu` replays for its counters.
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan
from ptxkit.running.report import Report
from ptxkit.running.sanitized import ANSWER, CUBIN, JOB, MODULE
from ptxkit.running.session import RunOptions
from ptxkit.toolchain.compute_sanitizer import Lines, ptx_lines
from ptxkit.toolchain.nsight_compute import SECTION, MeasuredKernel, read_page

TIMEOUT = 600.0
"""Seconds that a run under the profiler may take by default: it replays each launch for its counters."""
PROGRAM = "ncu"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of a run.

    Attributes:
        report: of it, as `Session.run` gives.
        kernels: what the instructions of each launch did.
        lines: from machine code to PTX lines.
    """

    report: Report
    kernels: list[MeasuredKernel]
    lines: Lines


def measure(plan: LaunchPlan, options: RunOptions, timeout: float | None = None) -> Measurement:
    """Run and verify a plan under the profiler.

    Raises:
        PtxkitError: P735, there is none; P736, it failed; P565, it took too long; what the run met.
    """
    tool = shutil.which(PROGRAM)
    if tool is None:
        help = "install the CUDA toolkit, or profile on the emulator: `--device emu`"
        raise error("P735", f"there is no `{PROGRAM}` on PATH", help=help)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / JOB).write_bytes(pickle.dumps((plan, replace(options, sanitize=False, line_info=True))))
        record = home / "report"
        command = [tool, "--section", SECTION, "--target-processes", "all", "-f", "-o", str(record)]
        said = _run(command + [sys.executable, "-m", MODULE, folder], plan, timeout)
        if (home / ANSWER).exists():
            answer = pickle.loads((home / ANSWER).read_bytes())
            if not isinstance(answer, Report):
                raise PtxkitError(answer)
        written = record.with_suffix(".ncu-rep")
        if not (home / ANSWER).exists() or not written.exists():
            raise _failed(said)
        page = _run([tool, "--import", str(written), "--page", "source", "--csv"], plan, timeout)
        kernels = read_page(page.splitlines())
        if not any(kernel.counts for kernel in kernels):
            raise _failed(page)
        return Measurement(answer, kernels, ptx_lines(home / CUBIN))


def _run(command: list[str], plan: LaunchPlan, timeout: float | None) -> str:
    """What the profiler prints."""
    limit = timeout or TIMEOUT
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        message = f"`{plan.program.name}` was killed: {PROGRAM} had not finished after {limit:g} s"
        help = "allow more with `--timeout`, or choose smaller sizes"
        raise error("P565", message, help=help) from None
    return done.stdout + done.stderr


def _failed(said: str) -> PtxkitError:
    notes = [line.removeprefix("==ERROR==").strip() for line in said.splitlines() if line.strip(" =")]
    help = "profile on the emulator: `--device emu`"
    return error("P736", f"`{PROGRAM}` could not profile the kernel", notes=notes[-5:], help=help)
