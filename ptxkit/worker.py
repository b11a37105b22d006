"""A run in a process of its own that can be killed when it takes too long."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection

from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan
from ptxkit.report import Report
from ptxkit.runner import Options, run

INTERNAL = "P599"


def run_within(plan: LaunchPlan, options: Options, timeout: float) -> Report:
    """Run and verify one plan in a worker process, `timeout` seconds at most from its start to its report.

    Raises:
        PtxkitError: what the run raises; P565, it took longer and was killed; P566, the worker crashed.
    """
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    worker = context.Process(target=_work, args=(its, plan, options), name="ptxkit worker", daemon=True)
    worker.start()
    its.close()
    try:
        if not mine.poll(timeout):
            raise _killed(plan, timeout)
        try:
            outcome = mine.recv()
        except EOFError:
            worker.join()
            raise _crashed(plan, worker.exitcode) from None
    finally:
        worker.kill()
        worker.join()
        mine.close()
    if isinstance(outcome, tuple):
        raise PtxkitError(outcome)
    assert isinstance(outcome, Report)
    return outcome


def _work(connection: Connection, plan: LaunchPlan, options: Options) -> None:
    """In the worker: send the report, or the diagnostics of what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        connection.send(run(plan, options))
    except PtxkitError as problem:
        connection.send(problem.diagnostics)
    except Exception as problem:
        if os.environ.get("PTXKIT_DEBUG"):
            raise
        connection.send(error(INTERNAL, f"internal error: {type(problem).__name__}: {problem}").diagnostics)


def _killed(plan: LaunchPlan, timeout: float) -> PtxkitError:
    names = ", ".join(f"`{launch.entry}`" for launch in plan.launches if launch.entry)
    what = names or f"`{plan.program.name}`"
    help = "allow more with `--timeout`, choose smaller sizes, or look for a loop or a wait that never ends"
    return error("P565", f"{what} was killed: it had not finished after {timeout:g} s", help=help)


def _crashed(plan: LaunchPlan, code: int | None) -> PtxkitError:
    how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
    message = f"the worker that ran `{plan.program.name}` crashed: {how}"
    return error("P566", message, help="run it without `--timeout` to see what it prints")
