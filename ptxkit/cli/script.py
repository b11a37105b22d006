"""`ptxkit script`."""

from __future__ import annotations

from typing import Any

import click

from ptxkit.cli import Verb
from ptxkit.cli.options import MAX_SIZE, preprocessor_options


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit script gemv.ptx > gemv.py", "the Python that builds this module, statement by statement"),
        ("python gemv.py > again.ptx", "run it: the same module, in the style of `ptxkit fmt`"),
    ),
)
@click.argument("file", metavar="FILE")
@preprocessor_options
@MAX_SIZE
def command(file: str, **reading: Any) -> int:
    """Print the builder script that rebuilds a module."""
    from ptxkit.asm.script import script
    from ptxkit.cli import files

    module = files.read(file, **reading)
    print(script(module), end="")
    return 0
