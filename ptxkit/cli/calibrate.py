"""`ptxkit calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit calibrate", "figures of the GPU that is here, beside those that ptxkit knows"),
        ("ptxkit calibrate -o mine.toml", "also a file for `ptxkit predict gemv.ptx --on mine.toml`"),
        ("ptxkit calibrate --only l2_rate --only dram_rate", "some of them"),
    ),
)
@click.option(
    "--device",
    default="cuda",
    show_default=True,
    metavar="cuda|cuda:N|emu",
    help="Which GPU; with emu the probes run, but their figures mean nothing.",
)
@click.option("--only", multiple=True, metavar="NAME", help="A figure to measure; may be repeated.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="GPU.toml",
    help="Write the figures into a file, which `ptxkit predict --on` takes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print every figure, and each probe's value, as JSON.")
def command(**given: Any) -> int:
    """Measure the figures of a GPU that `ptxkit predict` models one by.

    Microbenchmarks in PTX run on it, for a minute or two. What none of them measures is taken from the
    nearest GPU that ptxkit knows, and is said to be.
    """
    from ptxkit.cli.launching.calibrate import calibrate

    return calibrate(given)
