"""FILE arguments: found, read and parsed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ptxkit import kernels
from ptxkit.asm import Module, parse
from ptxkit.diagnostics import PtxkitError

_HELP = {
    "P110": "give a file, or the name of a shipped kernel: `ptxkit kernels` lists them",
    "P111": "allow more with `--max-size`, as in `--max-size 64M`",
}
"""What to do in the words of the command line, where `parse` speaks to a program."""

NO_TEXT = "P112"


def read(file: str, max_size: int) -> tuple[Path, Module]:
    """The path that FILE stands for, and its module; syntax errors are in the module's diagnostics.

    Raises:
        PtxkitError: P559 (no such file), P110 to P112 (unreadable, too large, no text).
    """
    name, path = kernels.find(file)
    try:
        module = parse(path, name=name, max_size=max_size)
    except PtxkitError as problem:
        raise PtxkitError(replace(d, help=_HELP.get(d.code, d.help)) for d in problem.diagnostics) from None
    no_text = [diagnostic for diagnostic in module.diagnostics if diagnostic.code == NO_TEXT]
    if no_text:
        raise PtxkitError(no_text)
    return path, module
