"""The C preprocessor in front of the parser: lines that begin with `#`. PTX ISA 4.1.

The work is pcpp's. Here are its bounds, its messages as Diagnostics, and the way back: the text that it makes
is a `Source` whose every line knows the file and the line that it came from.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from pcpp.evaluator import Value

from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.lexer import SOURCE_BEGIN, source_lines, without_sources
from ptxkit.asm.macros import MacroExpansion
from ptxkit.asm.reading import too_large
from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, Span

MAX_DEPTH = 64
"""Deepest nesting of included files."""
MAX_TOKENS = 2_000_000
"""Most tokens that macros may make, those of macros in macros included."""
MAX_COMPARED = 10_000
"""Pairs of tokens, of a line and of what was made from it, that are compared to tell where each is from."""
MAX_SHOWN = 200
"""Longest line that a note repeats."""

_shift = Value.__lshift__


def _bounded_shift(value: Value, count: int) -> Value:
    """`value << count`, by 63 bits at most: pcpp would first make a number of as many bits, of any number."""
    return _shift(value, Value(63) if int(count) > 63 else count)


Value.__lshift__ = _bounded_shift


_BREAKS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)")
"""What Python takes for the end of a line, and PTX does not (4.1)."""
_TOKEN = re.compile(r"[\w$]+|\s+|.")
_EVALUATED = re.compile(r"\(passed to evaluator: '(.*)'\)$", re.DOTALL)
_NAMED = ("define", "undef", "ifdef", "ifndef", "if", "elif", "include")
"""Directives that something must follow."""
_IGNORED = ("line", "file", "pragma", "ident")


class Expanded(Source):
    """A text that the preprocessor made.

    Attributes:
        origins: where each line comes from: a source and a line in it.
    """

    __slots__ = ("_blocks", "origins")

    made = True

    def __init__(self, name: str, text: str, origins: Sequence[tuple[Source, int]]) -> None:
        super().__init__(name, text)
        self.origins = origins
        self._blocks: dict[int, list[Block]] = {}

    def origin(self, span: Span) -> tuple[Source, Span, str | None]:
        """Where a stretch comes from; what a macro has made, from the place where the macro stands."""
        source, line = self._origin(span.line)
        last, end_line = self._origin(span.end_line)
        column, _ = self._written(span.line, span.column, span.column)
        if last is source and end_line >= line:
            _, end = self._written(span.end_line, max(1, span.end_column - 1), span.end_column)
        else:
            end_line, end = line, len(source.line(line) or "") + 1
        made = (self.line(span.line) or "").strip()
        note = None
        if made and made != (source.line(line) or "").strip():
            note = (
                f"the line expands to `{made if len(made) <= MAX_SHOWN else made[: MAX_SHOWN - 3] + '...'}`"
            )
        return source, Span(line, column, end_line, max(end, column + 1) if end_line == line else end), note

    def _origin(self, line: int) -> tuple[Source, int]:
        return self.origins[min(line, len(self.origins)) - 1]

    def _written(self, number: int, first: int, end: int) -> tuple[int, int]:
        """The columns that a stretch within a token of a line comes from."""
        source, line = self._origin(number)
        made, written = self.line(number) or "", source.line(line) or ""
        if made == written.rstrip():
            return first, end
        if not made:
            return 1, len(written) + 1
        if number not in self._blocks:
            self._blocks[number] = _blocks(made, written)
        for same, start, stop, at, to in self._blocks[number]:
            if start <= first < stop:
                return (first + at - start, end + at - start) if same else (at, to)
        return len(written) + 1, len(written) + 2


Block = tuple[bool, int, int, int, int]
"""Whether two stretches are the same, the columns of one, the columns of the other."""


def _blocks(made: str, written: str) -> list[Block]:
    """Which stretch of a line each stretch of the line that was made from it comes from."""
    a, b = _TOKEN.findall(made), _TOKEN.findall(written)
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    tail = 0
    while tail < min(len(a), len(b)) - same and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[same : len(a) - tail], b[same : len(b) - tail]
    found = [("equal", 0, same, 0, same)]
    if len(inner_a) * len(inner_b) > MAX_COMPARED:
        found.append(("replace", same, len(a) - tail, same, len(b) - tail))
    else:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, inner_a, inner_b, autojunk=False)
        found += [(tag, i + same, j + same, k + same, m + same) for tag, i, j, k, m in matcher.get_opcodes()]
    found.append(("equal", len(a) - tail, len(a), len(b) - tail, len(b)))
    at_a, at_b = (list(accumulate(map(len, tokens), initial=1)) for tokens in (a, b))
    return [(tag == "equal", at_a[i], at_a[j], at_b[k], at_b[m]) for tag, i, j, k, m in found]


class _Stop(Exception):
    """Nothing more can be read; what is wrong has been reported."""


@gc_paused()
def expand(
    source: Source,
    path: Path | None,
    max_size: int,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str] | None = None,
) -> tuple[Expanded, list[Diagnostic]]:
    """The text that the assembler sees, and what is wrong with the lines that begin with `#`.

    Args:
        source: the text.
        path: its file, beside which `#include "x"` looks first; None: it looks in the current folder.
        max_size: the largest text that is made, in bytes, and the most that is read of all included files.
        include: folders that `#include` looks in.
        define: macros and what they stand for.

    Raises:
        PtxkitError: P111, the text grows larger than `max_size`.
    """
    place = os.path.abspath(path or source.name)
    run = _Preprocessor(source, place, max_size)
    for folder in include:
        run.add_path(str(folder))
    for name, value in (define or {}).items():
        run.define(f"{name} {value}")
    text, places = _Text(place, run.sources), _Places()
    run.parse(_BREAKS.sub(" ", without_sources(source.text)), place)
    try:
        while (token := run.token()) is not None:
            text.add(str(token.value), places[token.source], token.lineno)
            if text.size > max_size:
                raise too_large(source.name, max_size)
    except _Stop:
        pass
    except PtxkitError:
        raise
    except Exception as wrong:  # noqa: BLE001 - pcpp has no exception of its own for what it can't read
        run.report_last(f"cannot preprocess this line: {wrong or type(wrong).__name__}")
    return text.finish(), run.found


class _Places(dict[str, str]):
    """Paths by the names under which tokens know them: few, each of many tokens."""

    def __missing__(self, name: str) -> str:
        self[name] = found = os.path.abspath(name)
        return found


class _Text:
    """The lines that are made, and where each comes from.

    A line of the file itself keeps its number as long as no file is included before it: lines that the
    preprocessor took away stay as empty ones.
    """

    def __init__(self, place: str, sources: Mapping[str, Source]) -> None:
        self.main = place
        self.sources = sources
        self.lines: list[str] = []
        self.origins: list[tuple[Source, int]] = []
        self.last: dict[str, int] = {place: 0}
        self.pieces: list[str] = []
        self.place: tuple[str, int] | None = None
        self.size = 0

    def add(self, text: str, path: str, line: int) -> None:
        """Add a token of a line."""
        self.size += len(text)
        for number, piece in enumerate(text.split("\n")):
            if number:
                self.end_line(path, line + number - 1)
            if piece and self.place is None:
                self.place = path, line + number
            self.pieces.append(piece)

    def end_line(self, path: str, line: int) -> None:
        path, line = self.place or (path, line)
        source = self.sources[path]
        for skipped in range(self.last.get(path, line) + 1, line):
            self.lines.append("")
            self.origins.append((source, skipped))
        self.last[path] = line
        self.lines.append("".join(self.pieces).rstrip())
        self.origins.append((source, line))
        self.pieces.clear()
        self.place = None

    def finish(self) -> Expanded:
        """The whole text."""
        if any(self.pieces) or not self.lines:
            self.end_line(self.main, 1)
        self.put_back()
        return Expanded(self.sources[self.main].name, "\n".join([*self.lines, ""]), self.origins)

    def put_back(self) -> None:
        """Sources of other languages, whose lines have stayed empty."""
        found = {
            (source, source.text.count("\n", 0, first)): source.text[first:last].split("\n")[:-1]
            for source in self.sources.values()
            for first, last in source_lines(source.text)
        }
        for index, line in enumerate(self.lines) if found else ():
            if SOURCE_BEGIN in line:
                lines = found.get(self.origins[index], [])
                self.lines[index + 1 : index + 1 + len(lines)] = lines


_ADVICE = {
    "bad macro definition": "write `#define NAME text` or `#define NAME(a, b) text`",
    "cannot evaluate": "an `#if` takes integers, macros, `defined(NAME)` and C's operators",
    "expected something after `#if`": "write what to test: `#if defined(NAME)`",
    "files are included": "guard the file against itself: `#ifndef NAME`, `#define NAME`, .., `#endif`",
    "invalid macro argument": "parameters are names, separated by commas",
    "macro ": "give as many arguments as its `#define` has",
    "macros make more": "expand less: macros that contain several others multiply",
    "malformed #include": 'write `#include "file"`',
    "misplaced": "it needs an `#if` before it",
    "missing ')'": "close the macro's arguments with `)`",
    "unterminated": "close it with `#endif`",
}
"""What to do about a message that begins so."""


class _Preprocessor(MacroExpansion):
    """pcpp with bounds, and with Diagnostics for messages."""

    def __init__(self, source: Source, place: str, max_size: int) -> None:
        super().__init__()
        self.sources = {place: source}
        self.left = max_size
        self.max_size = max_size
        self.made = 0
        self.found: list[Diagnostic] = []

    def report(
        self,
        path: str,
        line: int,
        message: str,
        code: str = "P113",
        severity: Severity = Severity.ERROR,
        help: str | None = None,
    ) -> None:
        """Something is wrong with a line."""
        source = self.sources.get(os.path.abspath(path))
        written = (source.line(line) if source else None) or ""
        start = len(written) - len(written.lstrip()) + 1
        span = Span(line, start, line, max(start + 1, len(written.rstrip()) + 1))
        if help is None:
            help = next((advice for begin, advice in _ADVICE.items() if message.startswith(begin)), None)
        self.found.append(Diagnostic(code, message, span, severity, help=help, source=source))

    def report_last(self, message: str) -> None:
        """Something is wrong with the latest directive."""
        directive = self.lastdirective
        self.report(directive.source, directive.lineno, message)

    # ---- what pcpp asks

    def on_error(self, file: str, line: int, msg: str) -> None:
        evaluated = _EVALUATED.search(msg)
        message = f"cannot evaluate `{evaluated[1]}`" if evaluated else " ".join(msg.split())
        self.report(file, line, f"{message[:1].lower()}{message[1:]}".rstrip("."))

    def on_comment(self, tok: Any) -> bool:
        return True

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: Any, precedingtoks: Any) -> Any:
        self.lastdirective = directive
        if directive.value in _NAMED and not toks:
            self.report_last(f"expected something after `#{directive.value}`, found the end of the line")
            raise _Stop
        if directive.value in _NAMED[:4] and toks[0].type != self.t_ID:
            self.report_last(f"expected a name after `#{directive.value}`, found `{toks[0].value}`")
            raise _Stop
        return True

    def on_directive_unknown(self, directive: Any, toks: Any, ifpassthru: Any, precedingtoks: Any) -> Any:
        self.lastdirective = directive
        name, text = directive.value, "".join(str(tok.value) for tok in toks)
        if name in ("error", "warning"):
            severity = Severity.ERROR if name == "error" else Severity.WARNING
            self.report(directive.source, directive.lineno, f"`#{name}`: {text}", severity=severity)
        elif name.isdigit():
            return None
        elif name not in _IGNORED:
            known = ", ".join(f"`#{known}`" for known in (*_NAMED, "else", "endif"))
            message = f"there is no directive `#{name}`"
            self.report(directive.source, directive.lineno, message, help=f"there are {known}")
        return True

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        path = Path(includepath)
        if not path.is_file():
            raise FileNotFoundError(includepath)
        if self.include_depth > MAX_DEPTH:
            self.report_last(f"files are included more than {MAX_DEPTH} deep")
            raise _Stop
        size = path.stat().st_size
        self.left -= size
        if self.left < 0:
            raise too_large(includepath, self.max_size)
        with path.open("rb") as file:
            data = file.read(size)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            self.report_last(f"`{path.name}` is not UTF-8 text")
            raise _Stop from None
        self.sources.setdefault(includepath, Source(_shown(includepath), text))
        return io.StringIO(_BREAKS.sub(" ", without_sources(text)))

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> None:
        directive = self.lastdirective
        if is_malformed:
            message, help = f'expected `"file"` or `<file>`, found `{includepath}`', None
        else:
            message, help = f"there is no file `{includepath}`", "`-I FOLDER` names a folder to look in"
        self.report(directive.source, directive.lineno, message, code="P114", help=help)
        raise _Stop

    def expand_macros(self, tokens: list[Any], expanding_from: Sequence[str] = ()) -> list[Any]:
        made: list[Any] = super().expand_macros(tokens, expanding_from)
        if expanding_from:
            self.made += len(made)
            if self.made > MAX_TOKENS:
                line = made[0].lineno if made and self.lastdirective is None else self.lastdirective.lineno
                self.report(self.source or "", line, f"macros make more than {MAX_TOKENS} tokens")
                raise _Stop
        return made


def _shown(path: str) -> str:
    """A path as a person would write it here."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
