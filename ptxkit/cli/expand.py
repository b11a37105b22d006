"""`ptxkit expand FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ptxkit.cli import Verb, files
from ptxkit.cli.options import MAX_SIZE, preprocessor_options
from ptxkit.cli.output import print_diagnostics
from ptxkit.diagnostics import PtxkitError
from ptxkit.support.atomic_file import write_atomically


@click.command(
    cls=Verb,
    examples=(
        ("ptxkit expand gemm.ptx", "what `#include`, `#define` and `#if` leave of a file"),
        (
            "ptxkit expand -D TILE=64 -I include gemm.ptx -o gemm.64.ptx",
            "with a macro and a folder, to a file",
        ),
    ),
)
@click.argument("file")
@click.option("-o", "out", type=click.Path(path_type=Path), metavar="OUT.ptx", help="Where to, else printed.")
@preprocessor_options
@MAX_SIZE
def command(file: str, out: Path | None, **reading: Any) -> int:
    """Print FILE with the lines that begin with `#` carried out, as the assembler sees it.

    A file without such lines is printed as it is. `-` is standard input.
    """
    module = files.read(file, **reading)
    if not module.complete and not module.statements:
        raise PtxkitError(module.diagnostics)
    assert module.source is not None
    print_diagnostics([d for d in module.diagnostics if d.code == "P113"], sys.stderr)
    if out is None:
        sys.stdout.write(module.source.text)
    else:
        write_atomically(out, module.source.text.encode())
    return 0
