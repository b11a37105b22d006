"""PTX text, or the file that holds it, to a `Module`; what is wrong is in its diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import IO

from ptxkit.asm.collector import at_rest
from ptxkit.asm.lexer import DIRECTIVE
from ptxkit.asm.parser import Parser
from ptxkit.asm.tree import Module
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, counted, error, reason, shortened

MAX_SIZE = 32 << 20
"""Largest file that is read unless the caller says otherwise, in bytes."""
_PART = 1 << 20


def parse(
    source: str | Path,
    *,
    name: str | None = None,
    max_size: int = MAX_SIZE,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str] | None = None,
) -> Module:
    """Read PTX: a `str` with a newline is text, any other a path.

    Bad PTX does not raise: the parser recovers at the next statement, and `module.diagnostics` has every
    syntax error, codes P101 to P109. A text with lines that begin with `#` goes through the C preprocessor
    first (4.1), whose errors are P113 and P114; what it makes is the module's source.

    Args:
        source: the text, or the path of a file in UTF-8.
        name: what diagnostics call the text; by default the path, or `<text>`.
        max_size: the largest text that is read, in bytes, included files and what macros make too.
        include: folders that `#include` looks in; `#include "x"` looks beside the file first.
        define: macros, and what they stand for.

    Raises:
        PtxkitError: P110, the file cannot be read; P111, it is larger than `max_size`.
        TypeError: neither a text nor a path is given.
    """
    if not isinstance(source, str | PathLike):
        raise TypeError(f"expected PTX text or the path of a file, found {type(source).__name__}")
    path = None
    if isinstance(source, str) and "\n" in source:
        text, name = source, name or "<text>"
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if size > max_size:
            raise too_large(name, max_size)
    else:
        name, path = name or str(source), Path(source)
        data = _read(path, max_size)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return Module([], "", [not_text(name, data, f"byte {wrong.start} is not UTF-8")])
    if "\0" in text:
        return Module([], "", [not_text(name, text[:4].encode(), f"character {text.index(chr(0))} is NUL")])
    read, found = Source(name, text), list[Diagnostic]()
    if "#" in text and DIRECTIVE.search(text):
        from ptxkit.asm.preprocess import expand

        read, found = expand(read, path, max_size, include, define)
        if any(diagnostic.is_error for diagnostic in found):
            return Module([], "", found, read, complete=False)
    parser = Parser(read.text, read)
    if not read.text.isascii():
        parser.report_not_ascii()
    with at_rest():
        module = parser.run()
    module.diagnostics[:0] = found
    return module


def _read(path: Path, max_size: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = read_beyond(file, max_size)
    except (OSError, ValueError) as wrong:
        help = "PTX given as a text has a newline in it; a text without one is taken for a path"
        raise error("P110", f"cannot read `{shortened(str(path))}`: {reason(wrong)}", help=help) from None
    if len(data) > max_size:
        raise too_large(str(path), max_size)
    return data


def read_beyond(file: IO[bytes], max_size: int) -> bytes:
    """What a file holds, of a larger one a byte more than `max_size`."""
    parts, left = [], max_size + 1
    while left > 0 and (part := file.read(min(left, _PART))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def too_large(name: str, max_size: int) -> PtxkitError:
    """What is said of a text beyond the limit."""
    return error(
        "P111", f"`{name}` is larger than {counted(max_size, 'byte')}", help="raise the limit with `max_size`"
    )


def as_text(text: str) -> str:
    """PTX that is text for certain, so that `parse` does not take it for a path."""
    return text if "\n" in text else f"{text}\n"


_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def not_text(name: str, data: bytes, why: str) -> Diagnostic:
    """P112, by what the file begins with and whether it has NUL in it."""
    what, help = (
        "a binary file",
        "a cubin or a fatbin is no PTX; `cuobjdump -ptx` extracts the PTX that it may hold",
    )
    if data.startswith(_UTF16):
        what, help = "UTF-16", "save the file as UTF-8"
    elif b"\0" not in data and not why.endswith("NUL"):
        what, help = "a text in another encoding", "save the file as UTF-8"
    return Diagnostic("P112", f"expected PTX text, found {what}: {why}", help=help, source=Source(name, ""))
