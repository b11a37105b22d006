"""Printing: colours where a terminal shows them, JSON where a program reads, numbers that people read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from ptxkit.cli.formats import to_json
from ptxkit.diagnostics import Diagnostic, render_text


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
    """Left-aligned columns for stdout, two blanks apart, without trailing blanks."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(row: tuple[str, ...]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    return "\n".join([strong(line(header)), *map(line, rows)])


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
