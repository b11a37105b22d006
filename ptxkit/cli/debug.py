"""`ptxkit debug FILE`."""

from __future__ import annotations

from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import ENTRY, emulator_options, finding_options, launch_options
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit debug gemv.ptx", "the first preset of a shipped kernel; `help` lists the commands"),
        (
            "ptxkit debug my.ptx --grid 4 --block 256 --arg x=f32[1024]:randn --arg y=f32[1024] < commands",
            "commands from a file, one a line",
        ),
    ),
)
@click.argument("file")
@ENTRY
@launch_options
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card.")
@emulator_options
@finding_options
@MAX_SIZE
def command(**given: Any) -> int:
    """Launch the kernel in FILE on the emulator, and stop where you say.

    Commands come from standard input, one a line. The launch begins with `run` or `step`; a finding ends it
    and leaves its state to be looked at.
    """
    from ptxkit.cli.launching.debug import debug

    return debug(given)
