"""PTX text, or the file that holds it, to a `Module`; what is wrong is in its diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.lexer import PREPROCESSOR_LINE, without_sources
from ptxkit.asm.parser import Parser
from ptxkit.asm.reading import not_text, read_file, too_large
from ptxkit.asm.syntax_errors import report_not_ascii
from ptxkit.asm.tree import Module
from ptxkit.asm.unread import SMALLEST, parse_outside, run_parser
from ptxkit.diagnostics import Diagnostic, Source

MAX_SIZE = 32 << 20
"""Largest file that is read unless the caller says otherwise, in bytes."""


def parse(
    source: str | Path,
    *,
    name: str | None = None,
    max_size: int = MAX_SIZE,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str] | None = None,
) -> Module:
    """Read PTX: a `str` that contains a newline is PTX text; any other `str` is a path.

    Bad PTX does not raise: the parser recovers at the next statement, and `module.diagnostics` has every
    syntax error, codes P101 to P109; of a large text the bodies of functions are read when somebody looks at
    them, or at the diagnostics (`ptxkit.asm.unread`). A text with lines that begin with `#` goes through the
    C preprocessor first (4.1), whose errors are P113 and P114; what it makes is the module's source.

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
        data = read_file(path, max_size)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return Module([], "", [not_text(name, data, f"byte {wrong.start} is not UTF-8")])
    if "\0" in text:
        return Module([], "", [not_text(name, text[:4].encode(), f"character {text.index(chr(0))} is NUL")])
    read, found = Source(name, text), list[Diagnostic]()
    if "#" in text and PREPROCESSOR_LINE.search(without_sources(text)):
        from ptxkit.asm.preprocess import expand

        read, found = expand(read, path, max_size, include, define)
        if any(diagnostic.is_error for diagnostic in found):
            return Module([], "", found, read, complete=False)
    with gc_paused():
        if len(read.text) >= SMALLEST and read.text.isascii():
            module = parse_outside(read, found)
            if module is not None:
                return module
        parser = Parser(read.text, read)
        if not read.text.isascii():
            report_not_ascii(parser)
        module = run_parser(parser)
    module.diagnostics[:0] = found
    return module
