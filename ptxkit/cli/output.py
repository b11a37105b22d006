"""Printing: colours where a terminal shows them, JSON where a program reads, numbers that people read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from ptxkit.cli.formats import to_json
from ptxkit.diagnostics import Diagnostic, render_text

LEAST_COLUMN = 8
"""Letters that a column of a table keeps, however narrow the terminal is."""


def wants_color(stream: IO[str]) -> bool:
    """Whether colours go to this stream: to a terminal that is not dumb, or where FORCE_COLOR is set; with
    NO_COLOR never."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def strong(text: str, style: str = "1") -> str:
    """A text for stdout, bold or in another style of ECMA-48 where it shows colours."""
    return f"\x1b[{style}m{text}\x1b[0m" if wants_color(sys.stdout) else text


def print_diagnostics(found: Iterable[Diagnostic], stream: IO[str]) -> None:
    """Findings as code frames, each followed by an empty line."""
    text = render_text(found, color=wants_color(stream))
    if text:
        print(text, end="\n\n", file=stream)


def print_failure(found: Iterable[Diagnostic], as_json: bool) -> None:
    """What ended the command: on stderr, or as a JSON document on stdout."""
    found = list(found)
    if as_json:
        print_json({**to_json(found), "ok": False})
    else:
        print(render_text(found, color=wants_color(sys.stderr)), file=sys.stderr)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on stdout."""
    import json

    print(json.dumps(document, indent=2, allow_nan=False))


def table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """Left-aligned columns for stdout, two blanks apart, without trailing blanks.

    In a terminal that is too narrow the widest cells are broken into several lines.
    """
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    most = columns()
    if most is not None and sum(widths) + 2 * (len(widths) - 1) > most:
        return "\n".join(_narrow(rows, header, widths, most))

    def line(row: tuple[str, ...]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    return "\n".join([strong(line(header)), *map(line, rows)])


def fitted(text: str, indent: int = 0) -> str:
    """A line for stdout, broken where a terminal is narrower, its further lines indented."""
    most = columns()
    if most is None or len(text) <= most:
        return text
    import textwrap

    return textwrap.fill(text, most, subsequent_indent=" " * indent)


def columns() -> int | None:
    """The columns of the terminal that stdout is; None where it is none."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def _narrow(
    rows: Sequence[tuple[str, ...]], header: tuple[str, ...], widths: Sequence[int], most: int
) -> Iterator[str]:
    """The lines of a table in so many columns: the widest cells give room first."""
    import textwrap

    left = list(widths)
    while sum(left) + 2 * (len(left) - 1) > most and max(left) > LEAST_COLUMN:
        left[left.index(max(left))] -= 1
    for number, row in enumerate((header, *rows)):
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, left, strict=True)]
        for at in range(max(map(len, cells))):
            parts = (cell[at] if at < len(cell) else "" for cell in cells)
            text = "  ".join(part.ljust(width) for part, width in zip(parts, left, strict=True)).rstrip()
            yield text if number else strong(text)


def si(value: float, unit: str) -> str:
    """`66.1 MB`, `2.45 TB/s`: three significant digits with a decimal prefix."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor * 0.9995:
            return f"{value / factor:{'.3g' if value < factor * 999.5 else '.0f'}} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def seconds(value: float) -> str:
    """`26.9 us`, `1.43 s`: three significant digits."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= factor * 0.9995:
            return f"{value / factor:.3g} {unit}" if value < 1000 else f"{value:.0f} s"
    return f"{value / 1e-9:.3g} ns"
