"""Runs in a process of their own, which can be killed: when a run takes too long, hangs a GPU or crashes.

A launch that never ends can't be called back, and a fault on a GPU spoils the process that met it. So runs
with a time limit and runs on a GPU go to a worker; whatever becomes of it, the caller goes on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from ptxkit.asm import Module, parse
from ptxkit.devices import fitting_gpu
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import LaunchPlan
from ptxkit.report import Report
from ptxkit.runner import Options, Session

PROGRESS, REPORT, PROBLEM = "progress", "report", "problem"
"""What a worker says: how far it is, and how a run ended."""
PROGRESS_INTERVAL = 0.1
"""Seconds between two words about progress."""


def session(module: Module, options: Options, timeout: float | None) -> Session | Worker:
    """What runs the plans of a module: a worker where one is needed, else this process.

    Args:
        module: the parsed program of the plans.
        options: device and emulator options.
        timeout: seconds that each run may take, None for any number.

    Raises:
        PtxkitError: what `Session` raises; P520, the sanitizer is asked for on a GPU.
    """
    gpu = _on_gpu(module, options)
    if gpu and options.sanitize:
        message = "`--sanitize` is the emulator's: this version starts no sanitizer on a GPU"
        raise error("P520", message, help="add `--device emu`, or run it under `compute-sanitizer`")
    if timeout is None and not gpu:
        return Session(module, options)
    return Worker(options, timeout)


def _on_gpu(module: Module, options: Options) -> bool:
    if options.device.startswith("cuda"):
        return True
    return options.device == "auto" and fitting_gpu(module.target) is not None


class Worker:
    """A process that runs plans one after the other. It starts with the first, and again once lost."""

    def __init__(self, options: Options, timeout: float | None) -> None:
        self.options = options
        self.timeout = timeout
        self._process: BaseProcess | None = None
        self._fraction: float | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def progress(self) -> float | None:
        """The part of the running launch that is done, 0 to 1; None where nobody can say. For any thread."""
        return self._fraction

    def run(self, plan: LaunchPlan) -> Report:
        """Run and verify one plan.

        Raises:
            PtxkitError: what `Session.run` raises; P565, it took longer than it may and was killed; P566, the
                worker crashed.
        """
        self._start()
        assert self._process is not None
        try:
            self._connection.send(plan)
            kind, content = self._answer(plan)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            raise _crashed(plan, self._process.exitcode) from None
        except BaseException:
            self._stop()
            raise
        if kind == REPORT:
            assert isinstance(content, Report)
            return content
        self._stop()
        raise PtxkitError(content)

    def _answer(self, plan: LaunchPlan) -> tuple[str, Any]:
        """The worker's last word on a plan."""
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        self._fraction = None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._connection.poll(left):
                assert self.timeout is not None
                raise _killed(plan, self.timeout)
            kind, content = self._connection.recv()
            if kind != PROGRESS:
                return kind, content
            self._fraction = content

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._connection, its = context.Pipe()
        self._process = context.Process(target=_work, args=(its, self.options), name="ptxkit", daemon=True)
        self._process.start()
        its.close()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _work(connection: Connection, options: Options) -> None:
    """In the worker: run plans until the other end is gone. Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: Session | None = None
    program = None
    while True:
        try:
            plan = connection.recv()
        except EOFError:
            return
        try:
            if running is None or plan.program != program:
                if running is not None:
                    running.device.close()
                program = plan.program
                module = parse(program.read(), name=program.name, max_size=sys.maxsize)
                running = _Telling(module, options, connection)
            connection.send((REPORT, running.run(plan)))
        except PtxkitError as problem:
            connection.send((PROBLEM, problem.diagnostics))
        except Exception as problem:
            if os.environ.get("PTXKIT_DEBUG"):
                raise
            internal = error("P599", f"internal error: {type(problem).__name__}: {problem}")
            connection.send((PROBLEM, internal.diagnostics))


class _Telling(Session):
    """A session that tells its progress through a connection."""

    def __init__(self, module: Module, options: Options, connection: Connection) -> None:
        super().__init__(module, options)
        self._connection = connection
        self._told = 0.0

    def _progressed(self, done: int, total: int) -> None:
        super()._progressed(done, total)
        now = time.monotonic()
        if now - self._told > PROGRESS_INTERVAL:
            self._told = now
            self._connection.send((PROGRESS, self.progress()))


def _killed(plan: LaunchPlan, timeout: float) -> PtxkitError:
    names = ", ".join(f"`{launch.entry}`" for launch in plan.launches if launch.entry)
    what = names or f"`{plan.program.name}`"
    help = "allow more with `--timeout`, choose smaller sizes, or look for a loop or a wait that never ends"
    return error("P565", f"{what} was killed: it had not finished after {timeout:g} s", help=help)


def _crashed(plan: LaunchPlan, code: int | None) -> PtxkitError:
    how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
    message = f"the process that ran `{plan.program.name}` crashed: {how}"
    return error("P566", message, help="run the same inputs on the emulator: `--device emu`")
