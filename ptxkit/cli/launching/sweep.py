"""Run every combination of sizes: what `ptxkit sweep` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptxkit.cli.launching.plans import options_of, plans_of, request_of, ruled, subject
from ptxkit.cli.launching.progress import Progress
from ptxkit.diagnostics import counted, error
from ptxkit.sweep import Job, Results, local

SHOWN = 10
"""How many jobs that failed are named."""
MEANINGS = {
    1: "error findings",
    2: "sizes that the kernel refuses",
    3: "something is missing on the machine",
    4: "a wrong result",
    5: "a crash",
    6: "killed by the time limit",
}
"""What the exit code of a run says."""


def sweep(given: dict[str, Any]) -> int:
    """Run what is not there yet, keep each result, sum all of them up; the exit code of the first job that
    failed, now or in an earlier sweep."""
    jobs = _jobs(given)
    with Results(given["output"]) as results:
        codes = {job.key: results.done[job.key] for job in jobs if job.key in results.done}
        left = [job for job in jobs if job.key not in codes]
        if len(left) < len(jobs):
            are, all_results = "is" if len(jobs) == 1 else "are", counted(len(jobs), "result")
            print(f"{len(jobs) - len(left)} of {all_results} {are} there already", file=sys.stderr)
        done = 0
        with Progress(f"{counted(len(left), 'job')}", lambda: done / len(left) if left else None):
            for job, result in _engine(left, given):
                results.keep(result)
                done += 1
                codes[job.key] = int(result["exit"])
    print(_summary(jobs, codes), file=sys.stderr)
    return next((codes[job.key] for job in jobs if codes[job.key]), 0)


def _summary(jobs: Sequence[Job], codes: Mapping[str, int]) -> str:
    """What came of all jobs: how many are good, and of the others the first few with their sizes."""
    failed = [job for job in jobs if codes[job.key]]
    good = len(jobs) - len(failed)
    if not failed:
        return f"{good} of {counted(len(jobs), 'job')} passed"
    lines = []
    for job in failed[:SHOWN]:
        plan = job.plan
        sizes = " ".join(f"{name}={value}" for name, value in plan.sizes.items())
        title = "  ".join(part for part in (plan.program.name, plan.preset or "", sizes) if part)
        lines.append(f"  {title}: {MEANINGS.get(codes[job.key], 'failed')}, exit code {codes[job.key]}")
    more = [f"  and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
    return "\n".join([f"{good} of {counted(len(jobs), 'job')} passed, {len(failed)} failed:", *lines, *more])


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
