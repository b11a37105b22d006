"""`ptxkit dap`."""

from __future__ import annotations

import click

from ptxkit.cli import Verb


@click.command(
    cls=Verb,
    examples=(("ptxkit dap", "what an editor starts: the debug adapter on standard input and output"),),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Listen on a port of this machine instead; 0: any free one.",
)
def command(port: int | None) -> int:
    """Serve the Debug Adapter Protocol: kernels on the emulator under an editor's debugger.

    A launch has `program`, a file, and `args`, options as those of `ptxkit debug`. Breakpoints are lines of
    the PTX or of the source that it was compiled from; steps go back, too.
    """
    from ptxkit.cli.launching.dap import serve

    return serve(port)
