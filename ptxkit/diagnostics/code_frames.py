"""Lines of a text with carets under what is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

TAB_STOP = 4
FRAME_WIDTH = 160
"""Longest source line that a code frame prints whole; a longer one is cut round the caret."""


class Paint:
    """ANSI colours, or nothing at all."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.on and text else text


class Mark(NamedTuple):
    """A stretch of text to be marked: 1-based lines and columns, the end column exclusive.

    Attributes:
        text: a few words beside the mark.
        style: of ECMA-48, for the carets of what is meant; what has none is underlined.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""
    style: str = ""


def code_frame(
    line: Callable[[int], str | None], marks: Sequence[Mark], gutter: int, paint: Paint
) -> list[str]:
    """The lines that marks lie in, each with what marks it below.

    Args:
        line: the text of a line by its number, None past the end.
        marks: what to mark, in any order.
        gutter: digits of the longest line number.
        paint: colours.
    """
    bar = paint("|", "34")
    out = [f"{' ' * gutter} {bar}"]
    previous = 0
    for mark in sorted(marks, key=lambda mark: (mark.line, mark.column)):
        raw = line(mark.line)
        if raw is None:
            continue
        if previous and mark.line > previous + 1:
            out.append(paint("...", "34"))
        text, start, width = _fit(raw, mark)
        if mark.line != previous:
            out.append(f"{mark.line:>{gutter}} {bar} {text}".rstrip())
        previous = mark.line
        under = " " * start + paint(("^" if mark.style else "-") * width, mark.style or "34")
        out.append(f"{' ' * gutter} {bar} {under}{' ' + mark.text if mark.text else ''}")
    return out


def _fit(raw: str, mark: Mark) -> tuple[str, int, int]:
    """The line as printed (tabs expanded, cut round the mark), the caret's start and its width."""
    before = raw[: mark.column - 1]
    stop = mark.end_column - 1 if mark.end_line == mark.line else len(raw)
    marked = raw[mark.column - 1 : max(stop, mark.column - 1)]
    line = _printable(raw)
    start = len(_printable(before))
    width = max(1, len(_printable(before + marked)) - start)
    if len(line) > FRAME_WIDTH:
        left = max(0, min(start - FRAME_WIDTH // 4, len(line) - FRAME_WIDTH))
        cut = line[left : left + FRAME_WIDTH]
        head = "..." if left else ""
        tail = "..." if left + FRAME_WIDTH < len(line) else ""
        line, start = head + cut + tail, start - left + len(head)
        width = max(1, min(width, len(head) + len(cut) - start))
    return line, start, width


def _printable(text: str) -> str:
    """Tabs expanded; control characters shown as `?` so that a frame never drives the terminal."""
    expanded = text.expandtabs(TAB_STOP)
    return expanded if expanded.isprintable() else "".join(c if c.isprintable() else "?" for c in expanded)
