"""`ptxkit trace FILE -o t.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import ENTRY, emulator_options, finding_options, launch_options
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit trace gemm_wgmma.ptx -o t.json", "a shipped kernel; open t.json in https://ui.perfetto.dev"),
        ("ptxkit trace gemm_tcgen05.ptx -o t.json --ctas 2 --order eager", "two CTAs, copies done at once"),
        ("ptxkit trace gemm_wgmma.ptx -o t.svg --ctas 1", "a picture of one CTA"),
    ),
)
@click.argument("file")
@ENTRY
@launch_options
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="T.json|T.svg",
    help="Where to write the trace: events for Perfetto, or a picture.",
)
@click.option(
    "--ctas", type=click.IntRange(min=1), default=8, show_default=True, help="CTAs of each grid to show."
)
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card, by default its first.")
@emulator_options
@finding_options
@MAX_SIZE
def command(**given: Any) -> int:
    """Run FILE on the emulator and write what its warps, copies, matrix units and mbarriers did.

    The axis counts steps of the emulator, not time. A run that ends in a fault leaves a trace, too.
    """
    from ptxkit.cli.launching.trace import trace

    return trace(given)
