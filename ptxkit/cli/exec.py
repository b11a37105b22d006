"""`ptxkit exec -- PROGRAM`."""

from __future__ import annotations

from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import keep_going_options, strict_option
from ptxkit.cli.options import TargetName, rule_options


@click.command(
    cls=Verb,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    examples=(
        ("ptxkit exec -- python tutorial.py", "a Python program: Triton, numba, cuda.bindings, .."),
        ("ptxkit exec --arch sm_100a -- ./program", "a program of its own, on a virtual B200"),
        ("ptxkit exec --order random --seed 3 -- ./program", "streams and copies in another order"),
        ("ptxkit exec --predict h200 -- ./program", "how long its kernels would take on an H200"),
        ("ptxkit exec --report found.sarif -- ./program", "findings as SARIF, for a CI"),
    ),
)
@click.option("--arch", type=TargetName(), default="sm_90a", metavar="SM", help="The target of the GPUs.")
@click.option("--devices", type=click.IntRange(1, 64), default=1, metavar="N", help="How many there are.")
@click.option(
    "--order",
    type=click.Choice(["lazy", "eager", "random"]),
    default="lazy",
    help="When asynchronous work happens: as late as it may, at once, or anyhow by --seed.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of --order random.")
@click.option(
    "--sanitize/--no-sanitize", default=True, help="Look for races and undefined data (the default)."
)
@strict_option
@keep_going_options
@rule_options
@click.option("--host-memory", is_flag=True, help="Let kernels reach all memory of the host, as with HMM.")
@click.option("--predict", metavar="GPU", help="Say how long each launch would take on b200, h100 or h200.")
@click.option("--report", metavar="FILE.sarif", help="Write the findings as SARIF.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, required=True, metavar="PROGRAM [ARGS]..")
def command(**given: Any) -> int:
    """Run a program on virtual GPUs.

    The program finds a CUDA driver whose devices are emulated ones; nothing of it is changed. Findings are
    printed as they occur, a summary at the end. The exit code is the program's; where that is 0, it is 1 if
    there were error findings.
    """
    from ptxkit.cli.launching.execute import execute

    return execute(given)
