"""Jobs spread over processes of this machine: one a GPU, or several on the emulator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.diagnostics import Diagnostic, error
from ptxkit.sweep.job import Job
from ptxkit.sweep.job_process import JobProcess, LostError
from ptxkit.workers.exclusive import gpus_of
from ptxkit.workers.pool import run_tasks


def local(
    jobs: Sequence[Job], device: str, processes: int = 1, retries: int = 3
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Each job with its result, as they come.

    Args:
        jobs: what to run.
        device: the jobs' own; `cuda:all` gives every GPU a process of its own.
        processes: on the emulator, so many at a time; several take a core each, unless the jobs say more.
        retries: how often a job begins again whose process was lost.

    Raises:
        PtxkitError: P520, P701, P702: no such device.
    """
    gpus = gpus_of(device)
    places = [f"cuda:{gpu}" for gpu in gpus] or [device] * processes
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(JobProcess()) for _ in places[: max(1, len(jobs))]]
        doing: list[Callable[[Job], dict[str, Any]]] = [
            partial(_do, process, place, 1 if processes > 1 else None, retries)
            for process, place in zip(started, places, strict=False)
        ]
        yield from run_tasks(jobs, doing)


def _do(process: JobProcess, place: str, threads: int | None, retries: int, job: Job) -> dict[str, Any]:
    """The result of a job, begun again where the process was lost. `threads`: unless the job says."""
    options = replace(job.options, device=place, threads=job.options.threads or threads)
    here = replace(job, options=options).to_json()
    for attempt in range(1, retries + 2):
        try:
            result = process.do(here)
        except LostError as problem:
            why = str(problem)
        else:
            # The key is the job's own, whichever GPU ran it.
            return {**result, "key": job.key, "attempts": attempt}
    return {**job.failed((lost(why, retries + 1),)), "attempts": retries + 1}


def lost(why: str, attempts: int) -> Diagnostic:
    """What is in the result of a job that no process came back from."""
    message = f"the process that ran the job was lost {attempts} times: {why}"
    help = "begin the sweep again, it goes on where it stopped; look at the memory of the machine"
    return error("P569", message, help=help).diagnostics[0]
