"""FILE arguments: found, read and parsed; and files that are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copymode

from ptxkit import kernels
from ptxkit.asm import Module, parse
from ptxkit.diagnostics import PtxkitError, error, reason

_HELP = {
    "P110": "give a file, or the name of a shipped kernel: `ptxkit kernels` lists them",
    "P111": "allow more with `--max-size`, as in `--max-size 64M`",
}
"""What to do in the words of the command line, where `parse` speaks to a program."""

NO_TEXT = "P112"
_FOLDER = "the folder must be there, and must let you write"


Macros = Sequence[tuple[str, str]]
"""What `-D` gives: names and what they stand for."""


def read(file: str, max_size: int, include: Sequence[str] = (), define: Macros = ()) -> tuple[Path, Module]:
    """The path that FILE stands for, and its module; syntax errors are in the module's diagnostics.

    Raises:
        PtxkitError: P559 (no such file), P110 to P112 (unreadable, too large, no text).
    """
    name, path = kernels.find(file)
    return path, parsed(path, name, max_size, include, define)


def parsed(path: Path, name: str, max_size: int, include: Sequence[str] = (), define: Macros = ()) -> Module:
    """The module of the file at a path; syntax errors are in its diagnostics.

    Raises:
        PtxkitError: P110 to P112 (unreadable, too large, no text).
    """
    try:
        module = parse(path, name=name, max_size=max_size, include=include, define=dict(define))
    except PtxkitError as problem:
        raise PtxkitError(replace(d, help=_HELP.get(d.code, d.help)) for d in problem.diagnostics) from None
    no_text = [diagnostic for diagnostic in module.diagnostics if diagnostic.code == NO_TEXT]
    if no_text:
        raise PtxkitError(no_text)
    return module


def write_whole(path: Path, content: bytes) -> None:
    """Write the whole file or nothing; one that is there keeps its permissions.

    Raises:
        PtxkitError: P567, it cannot be written.
    """
    path = path.resolve()
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(content)
        if path.exists():
            copymode(path, part)
        part.replace(path)
    except OSError as problem:
        raise error("P567", f"cannot write `{path}`: {reason(problem)}", help=_FOLDER) from None
    finally:
        part.unlink(missing_ok=True)
