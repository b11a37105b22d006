"""The comment block that holds a launch card, and where the characters of its TOML are in the file.

The block opens with the line `// /// ptxkit` and closes with `// ///`; every line between begins with `//`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from ptxkit.card.positions import Path, Positions
from ptxkit.diagnostics import PtxkitError, Source, Span, error

OPENING = "// /// ptxkit"
CLOSING = "// ///"
MARK = "// "
"""What comes before each line of TOML."""

_NEARLY = re.compile(r"\s*(?:/{3,}|//\s*/+)\s*ptxkit\s*\Z")
_AT_LINE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\Z")
_KEY = r"'([^']*)'"
_KEYS = re.compile(rf"\({_KEY}(?:, {_KEY})*,?\)")
"""A key as `tomllib` shows it: `('tensors', 'x')`."""
_CLEARER = {
    "Cannot overwrite a value": "a key that is there already",
    "Illegal character '\\n'": "a string that does not end on its line",
}
_HELP = f"a card opens with the line `{OPENING}`, goes on in lines of `// TOML` and ends with `{CLOSING}`"


@dataclass
class CardFrame:
    """A card's TOML in its place.

    Attributes:
        source: the file.
        opening: the line of the opening.
        text: the TOML, comment marks taken off.
        document: what it says.
    """

    source: Source
    opening: int
    text: str
    document: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        try:
            self.document = tomllib.loads(self.text)
        except RecursionError:
            raise self._syntax("too deeply nested") from None
        except ValueError as problem:  # also a number with thousands of digits
            raise self._syntax(str(problem)) from None
        self._positions = Positions.of(self.text)

    @property
    def span(self) -> Span:
        """The opening line."""
        return _line(self.opening, OPENING)

    def value_span(self, path: Path) -> Span:
        """Where the value at `path` stands, else its key, else the nearest parent."""
        extent = self._positions.find(path)
        return self._span(*extent) if extent else self.span

    def key_span(self, path: Path) -> Span:
        """Where the key at `path` stands."""
        extent = self._positions.keys.get(path)
        return self._span(*extent) if extent else self.value_span(path)

    def inside_span(self, path: Path) -> Span:
        """A string's text without its quotes; the whole value where an escape shifts the columns."""
        span = self.value_span(path)
        extent = self._positions.values.get(path)
        written = self.text[slice(*extent)] if extent else ""
        plain = written[:1] in "'\"" and written[:3] not in ('"""', "'''") and "\\" not in written
        if not plain or len(written) < 3:
            return span
        return span._replace(column=span.column + 1, end_column=span.end_column - 1)

    def _span(self, start: int, stop: int) -> Span:
        return Span(*self._place(start), *self._place(stop))

    def _place(self, offset: int) -> tuple[int, int]:
        line = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        return self.opening + 1 + line, column + len(MARK) + 1

    def _syntax(self, problem: str) -> PtxkitError:
        match = _AT_LINE.search(problem)
        last = self.text.count("\n")
        row = min(int(match["line"]) - 1 if match and match["line"] else last, last)
        written = self.text.split("\n")[row]
        column = int(match["column"]) if match and match["column"] else len(written) + 1
        line = self.opening + 1 + row
        start = column + len(MARK)
        message = (problem[: match.start()] if match else problem).partition("; use sys.")[0]
        message = _KEYS.sub(lambda keys: f"`{'.'.join(re.findall(_KEY, keys[0]))}`", message)
        message = f"expected TOML in the card: {_CLEARER.get(message, message[:1].lower() + message[1:])}"
        span = Span(line, start, line, start + 1)
        return error("P530", message, span, help="the card is TOML 1.0: toml.io", source=self.source)


def find(source: Source) -> CardFrame | None:
    """The card's block, None where the file has none.

    Raises:
        PtxkitError: P530 (no TOML), P531 (the lines that frame it).
    """
    lines = source.text.split("\n")
    openings = [number for number, line in enumerate(lines, 1) if "ptxkit" in line and _NEARLY.match(line)]
    if not openings:
        return None
    for number in openings:
        line = lines[number - 1].rstrip("\r")
        if line.rstrip() != OPENING:
            raise _refusal(source, f"expected `{OPENING}`, found `{line.rstrip()}`", _line(number, line))
    first = openings[0]
    if len(openings) > 1:
        second = openings[1]
        raise _refusal(source, f"expected one card, found another at line {second}", _line(second, OPENING))
    content: list[str] = []
    for number, raw in enumerate(lines[first:], first + 1):
        line = raw.rstrip("\r")
        if line.rstrip() == CLOSING:
            return CardFrame(source, first, "\n".join(content))
        if not line.startswith("//"):
            break
        if len(line) > 2 and line[2] not in " \t":
            span = _line(number, line)
            raise _refusal(source, "expected a blank after `//` in the card", span, f"write `// {line[2:]}`")
        content.append(line[len(MARK) :])
    raise _refusal(source, f"expected `{CLOSING}` at the end of the card, found none", _line(first, OPENING))


def _line(number: int, text: str) -> Span:
    return Span(number, 1, number, max(2, len(text) + 1))


def _refusal(source: Source, message: str, span: Span, help: str = _HELP) -> PtxkitError:
    return error("P531", message, span, help=help, source=source)
