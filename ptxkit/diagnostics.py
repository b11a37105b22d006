"""Diagnostics as values: where, what, why, and how to fix it.

A `Diagnostic` is data. `render_text` shows them to people; `ptxkit.cli.formats` has them for programs. What
each code means lives in `ptxkit/codes/*.toml`, a file or
several a family, and is read only when somebody asks (`code_info`), so that raising a diagnostic costs
nothing.

Families: P1 syntax, P2 form and symbols, P3 target and version, P4 descriptors and layouts,
P5 launch and arguments, P6 emulator, P7 driver, P8 results.

Messages are lower case, put backticks round code, name what was expected before what was found,
and end without a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, NamedTuple

TAB_STOP = 4
FRAME_WIDTH = 160
"""Longest source line that a code frame prints whole; a longer one is cut round the caret."""


class Span(NamedTuple):
    """A stretch of source text: 1-based lines and columns, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.line, self.column, other.end_line, other.end_column)


class Severity(StrEnum):
    """How much a finding weighs. Only errors change the exit code."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Source:
    """A named text that diagnostics quote. It is for code frames alone; nothing is rebuilt from it."""

    __slots__ = ("_lines", "name", "text")

    made: ClassVar[bool] = False
    """Whether the text was made from others, to which `origin` leads."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._lines: list[str] | None = None

    def line(self, number: int) -> str | None:
        """Line `number` (1-based) without its line end, or None past the end."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        if not 1 <= number <= len(self._lines):
            return None
        return self._lines[number - 1].rstrip("\r")

    def origin(self, span: Span) -> tuple[Source, Span, str | None]:
        """Where a stretch of this text comes from, and a note about that: of a text that nothing made from
        another, the stretch itself."""
        return self, span, None


class SpanLabel(NamedTuple):
    """A second place that a diagnostic points at, with a few words: `target set here`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Args:
        code: `P` and three or four digits, of which the first is the family.
        message: one line, see the module's docstring for its style.
        span: the primary place, or None where the finding has none (a launch argument, say).
        severity: `error`, `warning` or `note`.
        notes: further facts, a line each.
        help: what to do about it.
        labels: secondary places, drawn in the same frame.
        source: the text that `span` and `labels` refer to. Where it was made from other texts
            (`Source.origin`), the finding moves to where its span comes from.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    notes: tuple[str, ...] = ()
    help: str | None = None
    labels: tuple[SpanLabel, ...] = ()
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.source is None or self.span is None or not self.source.made:
            return
        source, span, note = self.source.origin(self.span)
        labels, notes = [], [*self.notes, *([note] if note else [])]
        for label in self.labels:
            other, place, _ = self.source.origin(label.span)
            if other is source:
                labels.append(SpanLabel(place, label.text))
            else:
                notes.append(f"{label.text}: {other.name}:{place.line}:{place.column}")
        for name, value in (("span", span), ("labels", labels), ("notes", notes), ("source", source)):
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)

    def at(self, span: Span | None, source: Source | None = None) -> Diagnostic:
        """The same finding at another place."""
        return replace(self, span=span, source=source or self.source)

    @property
    def is_error(self) -> bool:
        """Whether this finding alone makes the exit code 1 or more."""
        return self.severity is Severity.ERROR

    @property
    def remedy(self) -> str | None:
        """What to do: `help`; where there is none and that of its code fits all its findings, that."""
        if self.help:
            return self.help
        info = code_info(self.code)
        return _as_help(info.fix) if info and info.helps else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; `span` is null or `{line, column, end_line, end_column}`."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.source.name if self.source else None,
            "span": self.span._asdict() if self.span else None,
            "labels": [{"span": label.span._asdict(), "text": label.text} for label in self.labels],
            "notes": list(self.notes),
            "help": self.remedy,
        }

    def __str__(self) -> str:
        return render_text([self])


class PtxkitError(Exception):
    """Every error that ptxkit raises on purpose; what is wrong is in `.diagnostics`, never empty."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        if not found:
            raise ValueError("a PtxkitError needs at least one diagnostic")
        super().__init__(found)
        self.diagnostics: tuple[Diagnostic, ...] = found

    def __str__(self) -> str:
        return render_text(self.diagnostics)


def error(code: str, message: str, span: Span | None = None, **rest: Any) -> PtxkitError:
    """A `PtxkitError` of one error diagnostic, ready to raise."""
    return PtxkitError(Diagnostic(code, message, span, **rest))


def counted(number: int, noun: str) -> str:
    """`1 byte`, `2 bytes`, `0 entries`: a number of things, for a message."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number} {plural}"


def listing(names: Iterable[object]) -> str:
    """Names for a message, in backticks: "`a`, `b`"."""
    return ", ".join(f"`{name}`" for name in names)


def reason(problem: Exception) -> str:
    """What a library or the system says, for the end of a message: one line that begins in lower case."""
    said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    line = said.strip().partition("\n")[0] or type(problem).__name__
    return line if line[:2].isupper() else line[:1].lower() + line[1:]


def shortened(text: str) -> str:
    """A text of anybody's, a name for instance, for a message: at most 80 characters of it."""
    return text if len(text) <= 80 else f"{text[:77]}..."


# ---- the code registry


class CodeInfo(NamedTuple):
    """What one code means, for `ptxkit explain CODE` and the documentation.

    `helps` says that `fix` is good advice for every finding of the code: it is the help line of those that
    have none of their own. So it is with the emulator's codes, each of which is one rule.
    """

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    example: str
    fix: str
    exit: int
    helps: bool


FAMILIES = {
    "P1": "syntax",
    "P2": "form and symbols",
    "P3": "target and version",
    "P4": "descriptors and layouts",
    "P5": "launch and arguments",
    "P6": "emulator",
    "P7": "driver",
    "P8": "results",
}
FAMILY_EXIT = {"P1": 1, "P2": 1, "P3": 1, "P4": 1, "P5": 2, "P6": 1, "P7": 3, "P8": 4}
"""The process exit code of an error of each family, unless its entry says otherwise."""


@cache
def code_table() -> dict[str, CodeInfo]:
    """Every registered code, in order, read from `ptxkit/codes/*.toml`."""
    import tomllib
    from importlib import resources

    table: dict[str, CodeInfo] = {}
    files = [file for file in (resources.files("ptxkit") / "codes").iterdir() if file.name.endswith(".toml")]
    for family, default_exit in FAMILY_EXIT.items():
        entries: dict[str, dict[str, Any]] = {}
        for file in files:
            if file.name.startswith(family):
                entries |= tomllib.loads(file.read_text(encoding="utf-8"))
        for code, entry in sorted(entries.items()):
            table[code] = CodeInfo(
                code=code,
                name=entry["name"],
                severity=Severity(entry.get("severity", "error")),
                what=entry["what"],
                why=entry["why"],
                example=_example(entry),
                fix=entry["fix"],
                exit=entry.get("exit", default_exit),
                helps=entry.get("helps", family == "P6"),
            )
    return table


def _example(entry: dict[str, Any]) -> str:
    """The example as it is read: the files it needs, what comes before it, then itself."""
    files = [f"{name}:\n{_indented(text)}" for name, text in entry.get("files", {}).items()]
    return "\n".join([*files, *filter(None, [entry.get("given")]), entry["example"]])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def code_info(code: str) -> CodeInfo | None:
    """What `code` means, or None for a code that does not exist."""
    return code_table().get(code.upper())


@cache
def _as_help(fix: str) -> str:
    """Sentences as a help line has them."""
    sentences = re.split(r"\.\s+(?=[A-Z`])", fix.strip().removesuffix("."))
    return "; ".join(re.sub(r"^[A-Z](?=[a-z ])", lambda first: first[0].lower(), said) for said in sentences)


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """The process exit code for these findings: 0 without errors, else that of the first error."""
    for diagnostic in diagnostics:
        if diagnostic.is_error:
            info = code_info(diagnostic.code)
            return info.exit if info else FAMILY_EXIT[diagnostic.code[:2]]
    return 0


# ---- rendering

_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}


class _Paint:
    """ANSI colours, or nothing at all."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.on and text else text


def render_text(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """Code frames for people, a blank line between findings."""
    paint = _Paint(color)
    return "\n\n".join(_render_one(diagnostic, paint) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, paint: _Paint) -> str:
    style = _COLORS[diagnostic.severity]
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", style)
    lines = [f"{head}: {paint(diagnostic.message, '1')}"]
    gutter = 0
    if diagnostic.span:
        shown = [diagnostic.span, *(label.span for label in diagnostic.labels)]
        gutter = len(str(max(span.line for span in shown)))
        name = diagnostic.source.name if diagnostic.source else "<text>"
        arrow = paint("-->", "34")
        lines.append(f"{' ' * gutter}{arrow} {name}:{diagnostic.span.line}:{diagnostic.span.column}")
        if diagnostic.source:
            lines += _frame(diagnostic, gutter, paint)
    pad = " " * (gutter + 1)
    lines += [f"{pad}= note: {note}" for note in diagnostic.notes]
    if remedy := diagnostic.remedy:
        lines.append(f"{pad}= help: {remedy}")
    return "\n".join(lines)


def _frame(diagnostic: Diagnostic, gutter: int, paint: _Paint) -> list[str]:
    assert diagnostic.span is not None
    assert diagnostic.source is not None
    marks = [(diagnostic.span, "", True), *((label.span, label.text, False) for label in diagnostic.labels)]
    marks.sort(key=lambda mark: (mark[0].line, mark[0].column))
    bar = paint("|", "34")
    out = [f"{' ' * gutter} {bar}"]
    previous = 0
    for span, text, primary in marks:
        raw = diagnostic.source.line(span.line)
        if raw is None:
            continue
        if previous and span.line > previous + 1:
            out.append(paint("...", "34"))
        line, start, width = _fit(raw, span)
        if span.line != previous:
            out.append(f"{span.line:>{gutter}} {bar} {line}".rstrip())
        previous = span.line
        mark = ("^" if primary else "-") * width
        under = " " * start + paint(mark, _COLORS[diagnostic.severity] if primary else "34")
        out.append(f"{' ' * gutter} {bar} {under}{' ' + text if text else ''}")
    return out


def _fit(raw: str, span: Span) -> tuple[str, int, int]:
    """The line as printed (tabs expanded, cut round the span), the caret's start and its width."""
    before = raw[: span.column - 1]
    stop = span.end_column - 1 if span.end_line == span.line else len(raw)
    marked = raw[span.column - 1 : max(stop, span.column - 1)]
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
