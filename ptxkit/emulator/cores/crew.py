"""Processes that run the CTAs of a launch."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptxkit.emulator.counts import Counts, Traffic

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

TASK = 8
"""Bytes of a task in the pipe: the places of its first CTA and of the one behind its last, in the grid."""
MOST_TASKS = 4096
"""As many fit into a pipe."""
OFTEN = 0.25
"""Seconds between two reports of a process."""
PARENT_DEATH = 1
"""Linux's PR_SET_PDEATHSIG."""


@dataclass(frozen=True, slots=True)
class Task:
    """CTAs that one process runs.

    Attributes:
        first, stop: their places in the order of the grid.
    """

    first: int
    stop: int


class CrewMember:
    """What a process of a crew is given.

    Args:
        number: its own.
        tasks: the pipe that all take their tasks from.
        results: where its reports go.
    """

    def __init__(self, number: int, tasks: int, results: Connection) -> None:
        self.number = number
        self._tasks = tasks
        self._results = results
        self._reported = time.monotonic()

    def tasks(self) -> Iterator[Task]:
        """Tasks until there is none left."""
        while found := os.read(self._tasks, TASK):
            yield Task(int.from_bytes(found[:4], "little"), int.from_bytes(found[4:], "little"))

    def progress(self, ctas: int, instructions: int) -> None:
        """Report how far it has come, now and then."""
        now = time.monotonic()
        if now - self._reported >= OFTEN:
            self._reported = now
            self._results.send((ctas, instructions))


class Crew:
    """Forks processes that take tasks, and waits for them.

    Args:
        tasks: what is to be done, at most `MOST_TASKS`.
        processes: how many there are to be.
    """

    def __init__(self, tasks: list[Task], processes: int) -> None:
        self._tasks = tasks
        self._processes = processes

    def run(
        self, work: Callable[[CrewMember], Any], progress: Callable[[int, int], None]
    ) -> list[Any] | None:
        """Let each process do its work.

        Args:
            work: done in each process; what it returns can be pickled, and is None where the process can't
                go on.
            progress: told now and then how many CTAs and instructions are behind them all.

        Returns:
            What each returned; None where one of them could not go on.
        """
        from multiprocessing.connection import Pipe

        with _tasks_in_a_pipe(self._tasks) as tasks:
            children: dict[Connection, int] = {}
            try:
                for number in range(self._processes):
                    ours, theirs = Pipe(duplex=False)
                    process = _fork()
                    if process == 0:
                        _child(work, CrewMember(number, tasks, theirs))
                    theirs.close()
                    children[ours] = process
                return self._gather(children, progress)
            finally:
                for results, process in children.items():
                    results.close()
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)

    def _gather(
        self, children: dict[Connection, int], progress: Callable[[int, int], None]
    ) -> list[Any] | None:
        """The results of all."""
        from multiprocessing.connection import Connection, wait

        behind = dict.fromkeys(children, (0, 0))
        results: dict[Connection, Any] = {}
        while len(results) < len(children):
            for one in wait([each for each in children if each not in results]):
                assert isinstance(one, Connection)
                try:
                    report = one.recv()
                except (EOFError, OSError):
                    return None
                if isinstance(report, tuple):
                    behind[one] = report
                    progress(*(sum(each) for each in zip(*behind.values(), strict=True)))
                elif report is None:
                    return None
                else:
                    results[one] = report
        return [results[one] for one in children]


@contextmanager
def _tasks_in_a_pipe(tasks: list[Task]) -> Iterator[int]:
    """The reading end of a pipe with all tasks in it, whose writing end is closed."""
    reading, writing = os.pipe()
    try:
        try:
            for task in tasks:
                os.write(writing, task.first.to_bytes(4, "little") + task.stop.to_bytes(4, "little"))
        finally:
            os.close(writing)
        yield reading
    finally:
        os.close(reading)


def _fork() -> int:
    with warnings.catch_warnings():
        # Python warns where there are other threads: the process that is made needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _child(work: Callable[[CrewMember], Any], member: CrewMember) -> None:
    """Do the work in a process that was forked for it; never returns."""
    result = None
    try:
        _end_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        gc.freeze()
        result = work(member)
    finally:
        # Whatever went wrong: on one core it does so again, where it can be told.
        with suppress(BaseException):
            member._results.send(result)
        os._exit(0)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)


def add(counts: Counts, others: list[Counts]) -> None:
    """Add what others counted, but for `executed` and `ctas`."""
    for other in others:
        counts.instructions += other.instructions
        for mine, theirs in (
            (counts.loaded, other.loaded),
            (counts.stored, other.stored),
            (counts.asynchronous, other.asynchronous),
        ):
            for name, number in theirs.items():
                mine[name] = mine.get(name, 0) + number
        counts.barriers += other.barriers
        counts.phases += other.phases
        counts.multiply_adds += other.multiply_adds
        counts.tensor_columns = max(counts.tensor_columns, other.tensor_columns)
        if counts.traffic is not None and other.traffic is not None:
            counts.traffic.counts.update(other.traffic.counts)


def fresh(counts: Counts) -> None:
    """Count from nothing again."""
    new = Counts(traffic=Traffic() if counts.traffic is not None else None, shared_bytes=counts.shared_bytes)
    for name in Counts.__slots__:
        setattr(counts, name, getattr(new, name))
