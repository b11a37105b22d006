"""`ptxkit sweep FILE...`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launches import emulator_options, launch_options, options_of, plans_of, request_of, subject
from ptxkit.cli.options import MAX_SIZE
from ptxkit.cli.progress import Progress
from ptxkit.diagnostics import error
from ptxkit.sweep import Job, Results, local


@click.command(
    cls=Verb,
    examples=(
        (
            "ptxkit sweep gemv.ptx --preset all -o results.jsonl",
            "every preset; the same again goes on after Ctrl-C",
        ),
        (
            "ptxkit sweep a.ptx b.ptx -a M=1024:8192:1024 -p K=7168 --device cuda:all",
            "on every GPU of this machine",
        ),
        (
            "ptxkit sweep gemv.ptx -a 'K[pow2]=8:14' --scheduler tcp://head:8786 -o r.jsonl",
            "on a dask cluster",
        ),
    ),
)
@click.argument("file", nargs=-1, required=True)
@click.option("--entry", metavar="NAME", help="The `.entry` to launch, where a file has several.")
@click.option(
    "--preset", multiple=True, metavar="NAME", help="A preset of the card, or `all`; may be repeated."
)
@click.option(
    "-a", "axis", multiple=True, metavar="NAME=V,V..", help="A size with several values: 1,2 or 8:64:8."
)
@launch_options
@emulator_options
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help="Append results here; those that are there already are not run again.")  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS", help="A dask scheduler, `tcp://host:8786`: run on its workers."
)
@click.option("--processes", type=click.IntRange(min=1), metavar="N", default=1, show_default=True,
              help="On this machine's emulator, so many jobs at a time.")  # fmt: skip
@click.option("--retries", type=click.IntRange(min=0), metavar="N", default=3, show_default=True,
              help="How often a job begins again whose process or worker died.")  # fmt: skip
@MAX_SIZE
def command(**given: Any) -> int:
    """Run and verify every combination of sizes, each result as a line of JSON.

    On this machine, on every GPU of it with `--device cuda:all` (a process each, one job at a time), or on a
    cluster. With -o a sweep that was interrupted goes on where it stopped.
    """
    jobs = _jobs(given)
    failed = 0
    with Results(given["output"]) as results:
        left = [job for job in jobs if job.key not in results.done]
        if len(left) < len(jobs):
            print(f"{len(jobs) - len(left)} of {len(jobs)} results are there already", file=sys.stderr)
        done = 0
        with Progress(f"{len(left)} jobs", lambda: done / len(left) if left else None):
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
            job = Job(plan, options, given["timeout"])
            jobs.setdefault(job.key, job)
    return list(jobs.values())
