"""`ptxkit predict FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import ENTRY, launch_options
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit predict gemm_wgmma.ptx -p M=2048 -p N=2048 -p K=2048", "on an H200, which nobody need have"),
        ("ptxkit predict gemv.ptx --preset bench_7168x16384x1 --on b200", "on a B200"),
        ("ptxkit predict gemv.ptx -o t.json", "also a timeline for https://ui.perfetto.dev"),
        ("ptxkit predict gemv.ptx --what-if", "also what a faster DRAM, L2, .. would bring"),
        ("ptxkit predict a.ptx b.ptx", "which of two variants is faster, and why"),
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@ENTRY
@launch_options
@click.option(
    "--on",
    default="h200",
    show_default=True,
    metavar="GPU",
    help="Which GPU: b200, h100, h200, or FILE.toml of `ptxkit calibrate`.",
)
@click.option(
    "--clock", type=click.FloatRange(min=1), metavar="MHZ", help="Its clock, instead of its highest."
)
@click.option("--warm", is_flag=True, help="What fits into the L2 cache is there when a launch begins.")
@click.option("--what-if", is_flag=True, help="Also say what each resource would bring, twice as fast.")
@click.option(
    "--by-rule", is_flag=True, help="Take what ptxas makes of the PTX by rule, even if one is here."
)
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card, by default its first.")
@click.option("--top", type=click.IntRange(min=0), default=5, show_default=True, help="Waits to print.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="T.json",
    help="Also write a timeline of the simulated multiprocessors, in cycles.",
)
@MAX_SIZE
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def command(**given: Any) -> int:
    """Say how long the launches of each FILE would take on a GPU that need not be there.

    And what bounds them, and what their warps wait for. Some CTAs run on the emulator; a model of the GPU
    replays what they did. The result is not verified. Of several files it says which is faster, and why.
    """
    from ptxkit.cli.launching.predict import predict

    return predict(given)
