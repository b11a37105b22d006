"""A process that does jobs, one after the other, until nobody wants any more.

    python -m ptxkit.sweep.serve      reads a job a line, writes a result a line

Its standard input is its lifeline: when that ends, because the process at the other end is done or has died,
it ends too, at once and whatever it does, so that nothing holds a GPU that nobody waits for.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.diagnostics import PtxkitError, error
from ptxkit.plan import Program
from ptxkit.running.devices import fitting_gpu
from ptxkit.running.sanitized import Sanitized
from ptxkit.running.session import Session
from ptxkit.sweep.job import Job, now
from ptxkit.workers.choose import session
from ptxkit.workers.exclusive import alone_on
from ptxkit.workers.worker import Worker


class _Sessions:
    """What runs jobs in a `JobProcess`; jobs of one program share a session."""

    def __init__(self) -> None:
        self._what: tuple[Any, ...] = ()
        self._running: Session | Worker | Sanitized | None = None

    def result(self, job: Job) -> dict[str, Any]:
        """Run one job."""
        began = now()
        try:
            with alone_on(_place(job)) as device:
                began = now()
                return job.reported(self._session(job, device).run(job.plan), began)
        except PtxkitError as problem:
            return job.failed(problem.diagnostics, began)
        except Exception as problem:  # noqa: BLE001 - the sweep goes on; the result says what it was
            internal = error("P599", f"internal error: {type(problem).__name__}: {problem}")
            return job.failed(internal.diagnostics, began)

    def _session(self, job: Job, device: str) -> Session | Worker | Sanitized:
        program: Program = job.plan.program
        options = replace(job.options, device=device)
        what = (program, options, job.timeout)
        if self._running is None or what != self._what:
            if self._running is not None:
                self._running.__exit__(None, None, None)
                self._running = None
            self._running = session(program.module(), options, job.timeout)
            self._what = what
        return self._running


def _place(job: Job) -> str:
    """The job's device; `auto` settled."""
    options = job.options
    if options.device != "auto" or options.arch is not None or options.order != "lazy":
        return options.device
    gpu = fitting_gpu(job.plan.program.module().target)
    return "emu" if gpu is None else f"cuda:{gpu}"


def _jobs() -> Iterator[dict[str, Any]]:
    """Jobs from standard input. When that ends, so does the process."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in sys.stdin:
                waiting.put(line)
        os._exit(0)

    threading.Thread(target=read, name="lifeline", daemon=True).start()
    while True:
        yield json.loads(waiting.get())


def main() -> None:
    """Do what standard input asks for until it ends."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sessions = _Sessions()
    for data in _jobs():
        answers.write(json.dumps(sessions.result(Job.from_json(data)), allow_nan=False) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
