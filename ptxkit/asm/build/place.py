"""Where in the caller's Python a statement is built, so that a mistake is shown on the line that makes it."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any

from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span

_OURS = (str(Path(__file__).resolve().parent), contextlib.__file__)


class CallerPlace:
    """A position in the caller's code; its text is read only when a finding is shown."""

    __slots__ = ("_code", "_globals", "_instruction", "_line")

    def __init__(self, code: CodeType, instruction: int, line: int, globals: dict[str, Any]) -> None:
        self._code = code
        self._instruction = instruction
        self._line = line
        self._globals = globals

    def resolve(self) -> tuple[Span, Source]:
        """The expression's span and the file that it is in; the whole line where Python keeps no columns."""
        name = self._code.co_filename
        lines = linecache.getlines(name, self._globals)
        source = Source(name, "".join(lines))
        position = next(islice(self._code.co_positions(), self._instruction // 2, None), None)
        if position is None or None in position:
            return Span(self._line, 1, self._line, len(source.line(self._line) or "") + 1), source
        first, last, start, stop = position
        return Span(first, _column(source, first, start), last, _column(source, last, stop)), source  # type: ignore[arg-type]


def _column(source: Source, line: int | None, offset: int | None) -> int:
    """The 1-based column of an offset that counts UTF-8 bytes."""
    text = source.line(line or 0)
    if text is None or text.isascii():
        return (offset or 0) + 1
    return len(text.encode()[:offset].decode(errors="ignore")) + 1


def caller() -> CallerPlace:
    """The place of the innermost call that is not the builder's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return CallerPlace(frame.f_code, frame.f_lasti, frame.f_lineno, frame.f_globals)


class UnknownName(PtxkitError, AttributeError):
    """There is no instruction of that name; an `AttributeError` too, so that `hasattr` works."""


def refuse(
    found: Iterable[Diagnostic], place: CallerPlace | None = None, kind: type[PtxkitError] = PtxkitError
) -> PtxkitError:
    """These findings at a place of the caller's code, by default its present line, ready to raise."""
    span, source = (place or caller()).resolve()
    return kind(diagnostic.at(span, source) for diagnostic in found)


def mistake(code: str, message: str, place: CallerPlace | None = None, **rest: Any) -> PtxkitError:
    """One finding at a place of the caller's code, ready to raise; keywords as `Diagnostic` has them."""
    return refuse((Diagnostic(code, message, **rest),), place)
