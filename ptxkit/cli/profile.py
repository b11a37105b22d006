"""`ptxkit profile FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.launch_options import (
    ENTRY,
    emulator_options,
    finding_options,
    launch_options,
)
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit profile gemm_wgmma.ptx", "the lines of a shipped kernel that did most"),
        ("ptxkit profile gemm_wgmma.ptx --annotate", "its whole text with figures beside it"),
        ("ptxkit profile gemm_wgmma.ptx -o p.html", "the same as a page"),
        ("ptxkit profile gemm_wgmma.ptx -o p.speedscope.json", "flame graphs for https://speedscope.app"),
    ),
)
@click.argument("file")
@ENTRY
@launch_options
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="P.html|P.json|P.speedscope.json",
    help="Also write the profile: a page, every figure as JSON, or flame graphs for Speedscope.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="Lines to print.")
@click.option("--annotate", is_flag=True, help="Print the whole text with figures beside it.")
@click.option("--preset", metavar="NAME", help="A named set of sizes of the card, by default its first.")
@emulator_options
@finding_options
@MAX_SIZE
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def command(**given: Any) -> int:
    """Run FILE on the emulator, or with `--device cuda` on a GPU, and tell what each line did.

    How often warps executed it and with how many lanes, what its accesses cost, what warps waited for at it,
    and what the tensor cores did. Lines of CUDA C++, Python or Triton are told where `.loc` names them. On a
    GPU it is Nsight Compute's `ncu` that counts.
    """
    from ptxkit.cli.launching.profile import profile

    return profile(given)
