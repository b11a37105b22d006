"""FILE arguments: found, read and parsed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ptxkit.asm import Module, parse
from ptxkit.asm.reading import as_text, not_text, read_beyond, too_large
from ptxkit.asm.unread import known_diagnostics
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.shipped import kernels

_HELP = {
    "P110": "give a file that is there and that you may read; `ptxkit kernels` lists the shipped ones",
    "P111": "allow more with `--max-size`, as in `--max-size 64M`",
}
"""What to do in the words of the command line, where `parse` speaks to a program."""

STANDARD = "-"
"""FILE for standard input."""
NO_TEXT = "P112"

Macros = Sequence[tuple[str, str]]
"""What `-D` gives: names and what they stand for."""


def found_in(files: Sequence[str]) -> list[str]:
    """The files of FILE arguments: of a folder every `.ptx` in it and below, in the order of their names.

    Raises:
        PtxkitError: P559, a folder without any.
    """
    found: dict[str, None] = {}
    for file in files:
        folder = Path(file)
        if file == STANDARD or not folder.is_dir():
            found[file] = None
            continue
        inside = sorted(folder.rglob("*.ptx"))
        kept = [path for path in inside if not _hidden(path.relative_to(folder)) and path.is_file()]
        if not kept:
            raise error("P559", f"expected `.ptx` files in `{file}` or below, found none")
        found.update(dict.fromkeys(map(str, kept)))
    return list(found)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read(file: str, max_size: int, include: Sequence[str] = (), define: Macros = ()) -> Module:
    """The module of FILE: a path, a shipped kernel, or `-` for standard input; syntax errors are in it.

    Raises:
        PtxkitError: P559 (no such file), P110 to P112 (unreadable, too large, no text).
    """
    if file == STANDARD:
        return parsed(as_text(standard_input(max_size)), "<stdin>", max_size, include, define)
    name, path = kernels.find(file)
    return parsed(path, name, max_size, include, define)


def standard_input(max_size: int) -> str:
    """All of standard input.

    Raises:
        PtxkitError: P111, it is too large; P112, it is not a text.
    """
    data = read_beyond(sys.stdin.buffer, max_size)
    if len(data) > max_size:
        raise _in_our_words(too_large("<stdin>", max_size))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise PtxkitError(not_text("<stdin>", data, f"byte {wrong.start} is not UTF-8")) from None


def parsed(
    source: str | Path, name: str, max_size: int, include: Sequence[str] = (), define: Macros = ()
) -> Module:
    """The module of a text or of the file at a path; syntax errors are in its diagnostics.

    Raises:
        PtxkitError: P110 to P112 (unreadable, too large, no text).
    """
    try:
        module = parse(source, name=name, max_size=max_size, include=include, define=dict(define))
    except PtxkitError as problem:
        raise _in_our_words(problem) from None
    no_text = [diagnostic for diagnostic in known_diagnostics(module) if diagnostic.code == NO_TEXT]
    if no_text:
        raise PtxkitError(no_text)
    return module


def _in_our_words(problem: PtxkitError) -> PtxkitError:
    return PtxkitError(replace(d, help=_HELP.get(d.code, d.help)) for d in problem.diagnostics)
