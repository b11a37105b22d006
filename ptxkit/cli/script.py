"""`ptxkit script`."""

from __future__ import annotations

import click

from ptxkit.cli import Verb
from ptxkit.cli.options import MAX_SIZE


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit script gemv.ptx > gemv.py", "the Python that builds this module, statement by statement"),
        ("python gemv.py > again.ptx", "run it: the same module, in the style of `ptxkit fmt`"),
    ),
)
@click.argument("file", metavar="FILE")
@MAX_SIZE
def command(file: str, max_size: int) -> int:
    """Print the builder script that makes a module again."""
    from ptxkit.asm.script import script
    from ptxkit.cli import files

    _, module = files.read(file, max_size)
    print(script(module), end="")
    return 0
