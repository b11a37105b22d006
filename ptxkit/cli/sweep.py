"""`ptxkit sweep FILE...`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import emulator_options, finding_options, launches_options
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        (
            "ptxkit sweep gemv.ptx --preset all -o results.jsonl",
            "every preset; run it again to continue after Ctrl-C",
        ),
        (
            "ptxkit sweep a.ptx b.ptx -a M=1024:8192:1024 -p K=7168 -p L=1 --device cuda:all",
            "on every GPU of this machine",
        ),
        (
            "ptxkit sweep gemv.ptx -a 'K[pow2]=8:14' --scheduler tcp://head:8786 -o r.jsonl",
            "on a dask cluster",
        ),
    ),
)
@launches_options
@emulator_options
@finding_options
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help="Append results here; jobs with a result there are not run again.")  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS", help="A dask scheduler, `tcp://host:8786`: run on its workers."
)
@click.option("--processes", type=click.IntRange(min=1), metavar="N", default=1, show_default=True,
              help="Jobs at a time on this machine's emulator.")  # fmt: skip
@click.option("--retries", type=click.IntRange(min=0), metavar="N", default=3, show_default=True,
              help="How often to restart a job whose process or worker died.")  # fmt: skip
@MAX_SIZE
def command(**given: Any) -> int:
    """Run and verify every combination of sizes, each result as a line of JSON.

    On this machine, on every GPU of it with `--device cuda:all` (a process each, one job at a time), or on a
    cluster. With -o an interrupted sweep continues where it stopped.
    """
    from ptxkit.cli.launching.sweep import sweep

    return sweep(given)
