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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from ptxkit.diagnostics.code_frames import Paint
    from ptxkit.diagnostics.line_table import SourceLocation


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

    def compiled_from(self, line: int) -> tuple[SourceLocation, ...]:
        """Where a line comes from, if a compiler wrote it and said so: the innermost function first, then
        where each was inlined."""
        if ".loc" not in self.text:
            return ()
        from ptxkit.diagnostics.line_table import line_table

        return line_table(self.text).places(line)

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
    def compiled_from(self) -> tuple[SourceLocation, ...]:
        """Where the primary place was compiled from; see `Source.compiled_from`."""
        if self.source is None or self.span is None:
            return ()
        return self.source.compiled_from(self.span.line)

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
            "compiled_from": [place._asdict() for place in self.compiled_from],
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
    return {code: info for family in FAMILIES for code, info in _codes_of(family).items()}


@cache
def _codes_of(family: str) -> dict[str, CodeInfo]:
    """The codes of a family, in order: others are not read for them."""
    import tomllib
    from importlib import resources

    entries: dict[str, dict[str, Any]] = {}
    for file in (resources.files("ptxkit") / "codes").iterdir():
        if file.name.startswith(family) and file.name.endswith(".toml"):
            entries |= tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        code: CodeInfo(
            code=code,
            name=entry["name"],
            severity=Severity(entry.get("severity", "error")),
            what=entry["what"],
            why=entry["why"],
            example=_example(entry),
            fix=entry["fix"],
            exit=entry.get("exit", FAMILY_EXIT[family]),
            helps=entry.get("helps", family == "P6"),
        )
        for code, entry in sorted(entries.items())
    }


def _example(entry: dict[str, Any]) -> str:
    """The example as it is read: the files it needs, what comes before it, then itself."""
    files = [f"{name}:\n{_indented(text)}" for name, text in entry.get("files", {}).items()]
    return "\n".join([*files, *filter(None, [entry.get("given")]), entry["example"]])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def code_info(code: str) -> CodeInfo | None:
    """What `code` means, or None for a code that does not exist."""
    family = code[:2].upper()
    return _codes_of(family).get(code.upper()) if family in FAMILIES else None


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


def render_text(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """Code frames for people, a blank line between findings."""
    from ptxkit.diagnostics.code_frames import Paint

    paint = Paint(color)
    return "\n\n".join(_render_one(diagnostic, paint) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, paint: Paint) -> str:
    from ptxkit.diagnostics.code_frames import Mark, code_frame

    style = _COLORS[diagnostic.severity]
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", style)
    lines = [f"{head}: {paint(diagnostic.message, '1')}"]
    gutter = 0
    compiled_from = diagnostic.compiled_from
    if diagnostic.span:
        shown = [diagnostic.span.line, *(label.span.line for label in diagnostic.labels)]
        gutter = max(len(str(line)) for line in (*shown, *(place.line for place in compiled_from[:1])))
        name = diagnostic.source.name if diagnostic.source else "<text>"
        arrow = paint("-->", "34")
        lines.append(f"{' ' * gutter}{arrow} {name}:{diagnostic.span.line}:{diagnostic.span.column}")
        if diagnostic.source:
            marks = [Mark(*diagnostic.span, style=style)]
            marks += [Mark(*label.span, text=label.text) for label in diagnostic.labels]
            lines += code_frame(diagnostic.source.line, marks, gutter, paint)
            lines += _compiled_from(compiled_from, diagnostic.source, gutter, paint)
    pad = " " * (gutter + 1)
    lines += [f"{pad}= note: {note}" for note in (*_origins(diagnostic), *diagnostic.notes)]
    if remedy := diagnostic.remedy:
        lines.append(f"{pad}= help: {remedy}")
    return "\n".join(lines)


def _compiled_from(places: Sequence[SourceLocation], source: Source, gutter: int, paint: Paint) -> list[str]:
    """The line of the source that the compiler read, where it said which and the file is here."""
    from ptxkit.diagnostics.code_frames import Mark, code_frame

    if not places:
        return []
    place = places[0]
    lines = [f"{' ' * gutter}{paint(':::', '34')} {place}"]
    text = place.text(source.name)
    if text is None:
        return lines
    first = len(text) - len(text.lstrip()) + 1
    column = place.column if 0 < place.column <= len(text) else first
    word = re.match(r"\w+|.", text[column - 1 :])
    mark = Mark(place.line, column, place.line, column + (len(word[0]) if word else 1))
    return lines + code_frame(lambda _: text, [mark], gutter, paint)


def _origins(diagnostic: Diagnostic) -> list[str]:
    """Where the function that a finding lies in was inlined, and where its other places come from."""
    source, here = diagnostic.source, diagnostic.compiled_from
    if source is None or not here:
        return []
    notes = [f"inlined at {place}" for place in here[1:]]
    for label in diagnostic.labels:
        places = source.compiled_from(label.span.line)
        if places and places != here:
            text = (places[0].text(source.name) or "").strip()
            notes.append(f"{label.text}: {places[0]}{f': `{text}`' if text else ''}")
    return notes
