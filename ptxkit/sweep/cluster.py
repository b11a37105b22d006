"""Jobs over many hosts through dask.distributed, whose scheduler repeats the jobs of workers that are lost.

A worker of the cluster needs ptxkit installed and nothing else: plans travel with their program's text. It
does the jobs in processes of its own, which end with it; on a GPU one at a time, however many threads it has.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, error
from ptxkit.sweep.job import Job
from ptxkit.sweep.job_process import JobProcess, LostError
from ptxkit.sweep.local import lost

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_SECONDS = 15
_IDLE: queue.SimpleQueue[JobProcess] = queue.SimpleQueue()
"""In a worker of the cluster: processes that wait for a job."""


def over_cluster(
    jobs: Sequence[Job], scheduler: str, retries: int = 3
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Each job with its result, as they come.

    Args:
        jobs: what to run; their workloads must be known to the workers.
        scheduler: its address, `tcp://host:8786`.
        retries: how often a job begins again that the scheduler gave up, because workers died over it.

    Raises:
        PtxkitError: P568, dask.distributed is missing, or there is no such scheduler, or it was lost.
    """
    client = _connect(scheduler)
    try:
        yield from _Submitted(client, retries).results(jobs)
    finally:
        client.close()


class _Submitted:
    """Jobs that are with the scheduler."""

    def __init__(self, client: Client, retries: int) -> None:
        self._client = client
        self._retries = retries
        self._open: dict[Future, tuple[Job, int]] = {}

    def results(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Each job with its result; on Ctrl-C those that are there yet, then the interruption."""
        from distributed import as_completed

        coming = as_completed(loop=self._client.loop)
        for job in jobs:
            coming.add(self._submit(job, 1))
        try:
            for future in coming:
                found = self._result(future)
                if found is None:
                    job, attempt = self._open.pop(future)
                    coming.add(self._submit(job, attempt + 1))
                else:
                    yield found
        except KeyboardInterrupt:
            for future in [future for future in self._open if future.status == "finished"]:
                found = self._result(future)
                if found is not None:
                    yield found
            self._client.cancel(list(self._open), force=True)
            raise

    def _submit(self, job: Job, attempt: int) -> Future:
        future = self._client.submit(do, job.to_json(), pure=False)
        self._open[future] = job, attempt
        return future

    def _result(self, future: Future) -> tuple[Job, dict[str, Any]] | None:
        """The result of a future that is through; None where the job should begin again.

        Raises:
            PtxkitError: P568, the scheduler or what it knew of the job is lost; or no worker can do the job.
        """
        from distributed import KilledWorker

        job, attempt = self._open[future]
        problem = future.exception() if future.status != "cancelled" else None
        if future.status == "cancelled" or isinstance(problem, OSError):
            help = "begin the sweep again, it goes on where it stopped"
            raise error("P568", "the scheduler was lost", help=help)
        if isinstance(problem, KilledWorker | LostError):
            if attempt <= self._retries:
                return None
            result = job.failed((lost(str(problem), attempt),))
        elif problem is not None:
            raise PtxkitError(_refusal(problem))
        else:
            result = future.result()
        del self._open[future]
        return job, {**result, "key": job.key, "attempts": attempt}


def do(job: dict[str, Any]) -> dict[str, Any]:
    """In a worker of the cluster: the result of a job."""
    try:
        process = _IDLE.get_nowait()
    except queue.Empty:
        process = JobProcess()
    try:
        return process.do(job)
    finally:
        _IDLE.put(process)


def _connect(scheduler: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise error(
            "P568", "dask.distributed is not installed", help="pip install 'ptxkit[cluster]'"
        ) from None
    try:
        return Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False, name="ptxkit sweep")
    except (OSError, TimeoutError, ValueError) as problem:
        why = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        help = "`dask scheduler` starts one and prints its address"
        raise error("P568", f"no scheduler answers at `{scheduler}`: {why}", help=help) from None


def _refusal(problem: BaseException) -> Diagnostic:
    """What a worker of the cluster says that can do no job at all."""
    message = f"a worker of the cluster can't run jobs: {type(problem).__name__}: {problem}"
    help = "install this version of ptxkit where the workers run: `pip install 'ptxkit[cluster]'`"
    return error("P568", message, help=help).diagnostics[0]
