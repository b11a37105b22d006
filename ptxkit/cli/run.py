"""`ptxkit run FILE`."""

from __future__ import annotations

from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import (
    ENTRY,
    emulator_options,
    finding_options,
    jit_option,
    launch_options,
    threads_option,
)
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit run gemv.ptx", "a shipped kernel, its first preset, verified against numpy"),
        ("ptxkit run gemv.ptx --preset all --json", "every preset, as one JSON document"),
        ("ptxkit run gemv.ptx -p M=4096 -p K=7168 -p L=2 --device cuda:0", "sizes of your own, on a GPU"),
        (
            "ptxkit run my.ptx --grid 4 --block 256 --arg x=f32[1024]:randn --arg y=f32[1024] --save y=y.npy",
            "a file without a card: arguments in the order of the `.entry`",
        ),
    ),
)
@click.argument("file")
@ENTRY
@launch_options
@click.option(
    "--preset",
    multiple=True,
    metavar="NAME",
    help="A named set of sizes of the card, or `all`; may be repeated.",
)
@click.option("--save", multiple=True, metavar="NAME=FILE.npy", help="Keep a tensor after the run.")
@emulator_options
@finding_options
@jit_option
@threads_option
@click.option(
    "--mend",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    envvar="PTXKIT_MEND",
    help="Processor time for changes of a kernel whose result is wrong (emulator); 0: none.",
)
@click.option(
    "--predict",
    metavar="GPU",
    help="Then say how long it would take on b200, h100 or h200.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Print launches, tensors and counters too.")
@MAX_SIZE
def command(**given: Any) -> int:
    """Launch the kernel in FILE and verify its result.

    FILE is a path or a shipped kernel; `-` is standard input. Its launch card says how it is launched and
    which problem it solves; without -p or --preset the card's first preset runs.
    """
    from ptxkit.cli.launching.run import run

    return run(given)
