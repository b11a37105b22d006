"""Jobs in processes of their own: one that crashes, hangs or spoils the GPU is done again in halves."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from compare.cases import Case
from compare.chains.bench import compare_chains
from compare.chains.judge import Verdict
from compare.chains.model import Chain
from compare.execute import Bench, Outcome, Poisoned, Setting
from ptxkit.diagnostics import PtxkitError


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does in one go.

    Attributes:
        items: cases, or chains.
        threads: of each case.
        unoptimized: why the driver's compiler is told not to optimise, where it is.
    """

    items: Sequence[Case] | Sequence[Chain]
    threads: int = 0
    unoptimized: str = ""

    def halves(self) -> list[Job]:
        """Two jobs that are together this one."""
        middle = len(self.items) // 2
        return [Job(self.items[:middle], self.threads), Job(self.items[middle:], self.threads)]

    def otherwise(self, reason: str) -> Job | None:
        """What may end well where a job of one chain did not: a compiler that crashes does so optimising."""
        chain = isinstance(self.items[0], Chain)
        return Job(self.items, unoptimized=reason) if chain and not self.unoptimized else None

    def failed(self, reason: str) -> list[Any]:
        """The outcome of a job of one item that can't be done."""
        (item,) = self.items
        return [Verdict(failed=reason)] if isinstance(item, Chain) else [Outcome("fault", reason)]


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    job: Job
    deadline: float


def run(
    setting: Setting,
    jobs: Sequence[Job],
    processes: int,
    patience: float,
    done: Callable[[Job, list[Any]], None],
) -> None:
    """Do every job.

    Args:
        setting: of the run.
        jobs: what to do.
        processes: how many work at a time.
        patience: seconds that a job may take before its process is killed.
        done: called with each job and its outcomes, one an item.

    Raises:
        PtxkitError: a process can't open the devices.
    """
    waiting = deque(jobs)
    context = multiprocessing.get_context("spawn")
    idle: list[tuple[BaseProcess, Connection]] = []
    busy: dict[Connection, _Worker] = {}
    while waiting or busy:
        while waiting and len(busy) < processes:
            process, connection = idle.pop() if idle else _start(context, setting)
            job = waiting.popleft()
            connection.send(job)
            busy[connection] = _Worker(process, connection, job, time.monotonic() + patience)
        next_deadline = min(worker.deadline for worker in busy.values())
        ready = wait(list(busy), max(0.0, next_deadline - time.monotonic()))
        now = time.monotonic()
        for worker in [worker for c, worker in busy.items() if c in ready or worker.deadline < now]:
            del busy[worker.connection]
            try:
                if not worker.connection.poll():
                    raise TimeoutError(f"took longer than {patience:g} s")
                outcomes = worker.connection.recv()
                if isinstance(outcomes, PtxkitError):
                    raise outcomes
                if isinstance(outcomes, str):
                    raise EOFError(outcomes)
            except (EOFError, TimeoutError, ConnectionResetError) as lost:
                worker.process.kill()
                worker.process.join()
                worker.connection.close()
                reason = str(lost) or _how_it_ended(worker.process.exitcode)
                if len(worker.job.items) > 1:
                    waiting.extendleft(worker.job.halves())
                elif job := worker.job.otherwise(reason):
                    waiting.appendleft(job)
                else:
                    done(worker.job, worker.job.failed(reason))
                continue
            done(worker.job, outcomes)
            idle.append((worker.process, worker.connection))
    for process, connection in idle:
        connection.close()
        process.join()


def _how_it_ended(code: int | None) -> str:
    return (
        f"the process ended with {signal.Signals(-code).name}" if code and code < 0 else f"exit code {code}"
    )


def _start(context: Any, setting: Setting) -> tuple[BaseProcess, Connection]:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, setting), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _work(connection: Connection, setting: Setting) -> None:
    """In a worker: do jobs until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        bench = Bench(setting)
    except PtxkitError as problem:
        connection.send(problem)
        return
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        try:
            if isinstance(job.items[0], Chain):
                connection.send(compare_chains(bench, job.items, job.unoptimized))
            else:
                connection.send(bench.run(job.items, job.threads))
        except Poisoned as poisoned:
            connection.send(str(poisoned))
            return
