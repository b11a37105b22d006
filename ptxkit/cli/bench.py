"""`ptxkit bench FILE...`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ptxkit.bench.settings import Settings
from ptxkit.cli import Verb
from ptxkit.cli.launch_options import launches_options, strict_option
from ptxkit.cli.options import MAX_SIZE, Seconds, rule_options

_DEFAULTS = Settings()
_RULE = _DEFAULTS.rule


def _number(name: str, least: float, default: float, metavar: str, help: str) -> Callable[[Any], Any]:
    """An option that takes a number, an integer where the least one is."""
    kind = click.IntRange(min=least) if isinstance(least, int) else Seconds(min=least)
    return click.option(name, type=kind, default=default, metavar=metavar, show_default=True, help=help)


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit bench gemv.ptx", "the presets made for it, beside the memory roof"),
        (
            "ptxkit bench a.ptx b.ptx --preset all --json > now.json",
            "two kernels of one problem, alternating",
        ),
        ("ptxkit bench gemv.ptx -a M=1024:8192:1024 -p K=7168 -p L=1 --csv", "one size along an axis"),
        (
            "ptxkit bench gemv.ptx -a M=1024:8192:1024 -p K=7168 -p L=1 --device cuda:all",
            "on every GPU of the host",
        ),
        ("ptxkit bench gemv.ptx --baseline now.json --plot roofline.png", "against an earlier bench"),
    ),
)
@launches_options
@strict_option
@rule_options
@click.option(
    "--flush",
    type=click.Choice(["read", "write", "none"]),
    default=_DEFAULTS.flush,
    help="How the L2 cache is flushed before each sample: `read` leaves it full of clean lines, `write` of "
    "modified ones, whose way to memory the kernel then pays.",
)
@click.option(
    "--rotate",
    type=click.IntRange(min=1),
    metavar="N",
    help="Sets of buffers that alternate; 2, or 1 without a flush.",
)
@_number("--trials", 3, _DEFAULTS.trials, "N", "Series of samples, each with fresh buffers.")
@_number("--min-samples", 2, _RULE.min_samples, "N", "The least number of samples in a trial.")
@_number("--min-time", 0.0, _RULE.min_time, "S", "The least total time of a trial's samples, in seconds.")
@_number(
    "--max-noise", 0.0, 100 * _RULE.max_noise, "PERCENT", "How precisely a trial's median must be known."
)
@_number("--max-time", 0.001, _RULE.max_time, "S", "Seconds after which a trial ends in any case.")
@_number("--warmup", 0.0, _DEFAULTS.warmup, "S", "Seconds of launches before each trial.")
@_number(
    "--pause",
    0.0,
    _DEFAULTS.pause,
    "S",
    "Seconds of rest before each burst of samples; 0: always under load.",
)
@click.option("--no-roof", is_flag=True, help="Leave the memory roof out.")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE.json", help="An earlier bench.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.png", help="Draw a roofline.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
@click.option("-v", "--verbose", is_flag=True, help="Print each trial, and the roofs one by one.")
@MAX_SIZE
def command(**given: Any) -> int:
    """Time the kernels in FILEs on a GPU: verified, in trials, beside the memory roof.

    Kernels that solve the same problem alternate and are compared. Without --preset, -p and -a the presets
    whose names begin with `bench` are measured, else the card's first. The emulator does not model time:
    there a bench verifies and counts.
    """
    from ptxkit.cli.launching.bench import bench

    return bench(given)
