"""Run every combination of sizes: what `ptxkit sweep` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ptxkit.cli.launching.plans import options_of, plans_of, request_of, ruled, subject
from ptxkit.cli.launching.progress import Progress
from ptxkit.diagnostics import counted, error
from ptxkit.sweep import Job, Results, local


def sweep(given: dict[str, Any]) -> int:
    """Run what is not there yet, keep each result; the exit code of the first job that failed."""
    jobs = _jobs(given)
    failed = 0
    with Results(given["output"]) as results:
        left = [job for job in jobs if job.key not in results.done]
        if len(left) < len(jobs):
            are, all_results = "is" if len(jobs) == 1 else "are", counted(len(jobs), "result")
            print(f"{len(jobs) - len(left)} of {all_results} {are} there already", file=sys.stderr)
        done = 0
        with Progress(f"{counted(len(left), 'job')}", lambda: done / len(left) if left else None):
            for _, result in _engine(left, given):
                results.keep(result)
                done += 1
                failed = failed or int(result["exit"])
    return failed


def _engine(jobs: Sequence[Job], given: dict[str, Any]) -> Iterator[tuple[Job, dict[str, Any]]]:
    """What runs the jobs."""
    if not jobs:
        return iter(())
    if given["scheduler"] is None:
        return local(jobs, given["device"], given["processes"], given["retries"])
    from ptxkit.sweep.cluster import over_cluster

    return over_cluster(jobs, given["scheduler"], given["retries"])


def _jobs(given: dict[str, Any]) -> list[Job]:
    """Every file at every chosen preset and combination of the axes, each once."""
    if given["workload"] and ":" in given["workload"] and given["scheduler"]:
        message = f"a cluster's workers have no `{given['workload'].rpartition(':')[0]}`"
        raise error("P560", message, help="register the workload, or sweep on this machine")
    options = options_of(given)
    jobs: dict[str, Job] = {}
    for file in given["file"]:
        found = subject(file, given)
        for plan in plans_of(found, request_of(given), given["preset"], given["axis"]):
            job = Job(plan, ruled(options, file, found), given["timeout"])
            jobs.setdefault(job.key, job)
    return list(jobs.values())
