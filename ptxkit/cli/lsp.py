"""`ptxkit lsp`."""

from __future__ import annotations

import os
import sys

import click

from ptxkit.cli import Verb
from ptxkit.diagnostics import error


@click.command(
    cls=Verb,
    examples=(("ptxkit lsp", "what an editor starts: the language server on standard input and output"),),
)
def command() -> int:
    """Serve the language server protocol on standard input and output.

    Editors get findings as you type, the forms of an instruction, where a name is declared, completion of
    opcodes, modifiers and names, and the formatter.
    """
    try:
        from ptxkit.editors.server import make
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise error("P570", "pygls is not installed", help="pip install 'ptxkit[lsp]'") from None
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as pipe:  # pygls closes what it writes to
        make().start_io(stdout=pipe)
    return 0
