"""Work in a process of its own, which can be killed: when a launch takes too long, hangs a GPU or crashes.

A launch that never ends can't be called back, and a fault on a GPU spoils the process that met it. So runs
with a time limit and runs on a GPU go to a worker; whatever becomes of it, the caller goes on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from ptxkit.asm import Module
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan, Program
from ptxkit.running.report import Report
from ptxkit.running.session import RunOptions, Session, Watch
from ptxkit.running.stalled import kernels_of

BEGAN, ENDED, PROGRESS, ANSWER, PROBLEM = "began", "ended", "progress", "answer", "problem"
"""What a worker says: launches have begun and ended, how far one is, how a call ended."""
PROGRESS_INTERVAL = 0.1
"""Seconds between two words about progress."""

Tell = Callable[[str, Any], None]
"""Says one of the words above, with its content."""


class Worker:
    """A process that does what it is called for, one call after the other.

    It starts with the first call, and again once it was lost.

    Args:
        make: makes, in the process, the object whose methods are called; it takes a `Tell`.
        timeout: seconds that launches may take from where they began.
    """

    def __init__(self, make: Callable[[Tell], Any], timeout: float) -> None:
        self.timeout = timeout
        self._make = make
        self._process: BaseProcess | None = None
        self._fraction: float | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def progress(self) -> float | None:
        """The part of the running launch that is done, 0 to 1; None if unknown. For any thread."""
        return self._fraction

    def run(self, plan: LaunchPlan) -> Report:
        """Run and verify one plan.

        Raises:
            PtxkitError: what `Session.run` raises, and what `call` does.
        """
        report = self.call("run", plan, plan=plan)
        assert isinstance(report, Report)
        return report

    def call(self, method: str, *args: Any, plan: LaunchPlan | None = None) -> Any:
        """Call a method in the process.

        Args:
            method: its name.
            args: its arguments.
            plan: what runs, for messages.

        Raises:
            PtxkitError: what the method raises; P565, a launch took longer than it may and the process was
                killed; P566, the process crashed.
        """
        self._start()
        assert self._process is not None
        try:
            self._connection.send((method, args))
            kind, content = self._answer(plan)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            raise _crashed(plan, self._process.exitcode) from None
        except BaseException:
            self._stop()
            raise
        if kind == ANSWER:
            return content
        self._stop()
        raise PtxkitError(content)

    def _answer(self, plan: LaunchPlan | None) -> tuple[str, Any]:
        """The worker's last word on a call."""
        self._fraction = None
        deadline: float | None = None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._connection.poll(left):
                raise _killed(plan, self.timeout)
            kind, content = self._connection.recv()
            if kind == BEGAN:
                deadline = time.monotonic() + self.timeout
            elif kind == ENDED:
                deadline = None
            elif kind == PROGRESS:
                self._fraction = content
            else:
                return kind, content

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._connection, its = context.Pipe()
        self._process = context.Process(target=_work, args=(its, self._make), name="ptxkit", daemon=True)
        self._process.start()
        its.close()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _end_with_parent() -> None:
    """End when the caller's process does, a launch that hangs or not: nobody would kill it any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(connection: Connection, make: Callable[[Tell], Any]) -> None:
    """In the worker: do what is asked until the other end is gone. Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="lifeline", daemon=True).start()

    def tell(kind: str, content: Any = None) -> None:
        connection.send((kind, content))

    serving = make(tell)
    while True:
        try:
            method, args = connection.recv()
        except EOFError:
            return
        try:
            tell(ANSWER, getattr(serving, method)(*args))
        except PtxkitError as problem:
            tell(PROBLEM, problem.diagnostics)
        except Exception as problem:
            if os.environ.get("PTXKIT_DEBUG"):
                raise
            internal = error("P599", f"internal error: {type(problem).__name__}: {problem}")
            tell(PROBLEM, internal.diagnostics)


def watch_of(tell: Tell) -> Watch:
    """What tells the caller that launches have begun and ended."""
    return lambda began: tell(BEGAN if began else ENDED, None)


class Runs:
    """What runs plans in a worker; a plan of another program gets another session."""

    def __init__(self, options: RunOptions, tell: Tell) -> None:
        self._options = options
        self._tell = tell
        self._running: _Telling | None = None
        self._program: Program | None = None

    def run(self, plan: LaunchPlan) -> Report:
        """Run and verify one plan."""
        if self._running is None or plan.program != self._program:
            if self._running is not None:
                self._running.close()
            self._program = plan.program
            self._running = _Telling(plan.program.module(), self._options, self._tell)
        return self._running.run(plan)


class _Telling(Session):
    """A session that tells its progress."""

    def __init__(self, module: Module, options: RunOptions, tell: Tell) -> None:
        super().__init__(module, options, watch_of(tell))
        self._tell = tell
        self._told = 0.0

    def _progressed(self, done: int, total: int) -> None:
        super()._progressed(done, total)
        now = time.monotonic()
        if now - self._told > PROGRESS_INTERVAL:
            self._told = now
            self._tell(PROGRESS, self.progress())


def _killed(plan: LaunchPlan | None, timeout: float) -> PtxkitError:
    help = "allow more with `--timeout`, choose smaller sizes, or look for a loop or a wait that never ends"
    what = kernels_of(plan) if plan else "a launch"
    return error("P565", f"{what} was killed: it had not finished after {timeout:g} s", help=help)


def _crashed(plan: LaunchPlan | None, code: int | None) -> PtxkitError:
    how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
    what = f"`{plan.program.name}`" if plan else "a measurement"
    message = f"the process that ran {what} crashed: {how}"
    return error("P566", message, help="run the same inputs on the emulator: `--device emu`")
