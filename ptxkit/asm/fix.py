"""What to change in a text so that a finding goes away: for `check --fix` and for editors.

A change that is *sure* says the same to the assembler as what was meant, or takes away what nothing uses; the
others are guesses, which a person chooses among.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ptxkit.diagnostics import Diagnostic, Source, Span

_QUOTED = re.compile(r"`([^`]+)`")
_DECLARATION = re.compile(r"declare it before its first use: `(.+)`")
_ORDERED = re.compile(r"write `([a-z][\w.:]*)`")
_REGISTER = re.compile(r"\.reg\b")


class Fix(NamedTuple):
    """One change of a text.

    Attributes:
        title: what it does, for a person.
        span: what goes; empty where something is only put in.
        text: what comes in its place.
        sure: whether nobody needs to be asked.
    """

    title: str
    span: Span
    text: str
    sure: bool = False


def fixes(found: Diagnostic, source: Source) -> list[Fix]:
    """The changes that would make a finding go away, the likeliest first; none where none is known.

    Args:
        found: with its place in the text.
        source: the text.
    """
    span, help = found.span, found.help or ""
    if span is None or source.made or (found.source is not None and found.source.name != source.name):
        return []
    there = _text(source, span)
    if found.code == "P102" and help == "end the statement with `;`":
        return [Fix("end the statement with `;`", _at(span.line, span.column), ";", True)]
    if found.code == "P103" and help == "the suffix is a capital `U`":
        return [Fix("write the suffix as a capital `U`", span, f"{there[:-1]}U", True)]
    if found.code == "P103" and help == "a floating-point literal has no suffix":
        return [Fix("leave the suffix out", span, there[:-1], True)]
    if found.code == "P101" and help.endswith("remove the `;`"):
        return [Fix("remove the `;`", span, "", True)]
    if found.code == "P223" and (order := _ORDERED.fullmatch(help)):
        return [Fix(f"write `{order[1]}`", span, order[1], True)]
    if found.code == "P203":
        return _left_out(source, span)
    if declaration := _DECLARATION.fullmatch(help):
        return _declared(source, span, declaration[1])
    if help.startswith("did you mean "):
        return _meant(found, span, there, _QUOTED.findall(help))
    return []


def apply(source: Source, changes: Iterable[Fix]) -> str:
    """The text with the changes made; of two that overlap the first."""
    lines = source.text.split("\n")
    done: Span | None = None
    kept = []
    for change in sorted(set(changes), key=lambda each: each.span):
        if done is None or change.span[:2] >= done[2:]:
            kept.append(change)
            done = change.span
    for _, (line, column, end_line, end_column), text, _ in reversed(kept):
        made = lines[line - 1][: column - 1] + text + lines[end_line - 1][end_column - 1 :]
        lines[line - 1 : end_line] = made.split("\n")
    return "\n".join(lines)


def _at(line: int, column: int) -> Span:
    return Span(line, column, line, column)


def _text(source: Source, span: Span) -> str:
    """What stands at a place of one line."""
    return (source.line(span.line) or "")[span.column - 1 : span.end_column - 1]


def _meant(found: Diagnostic, span: Span, there: str, candidates: list[str]) -> list[Fix]:
    """The word that was found, replaced by what it is close to."""
    word = next((word for word in _QUOTED.findall(found.message) if word in there), None)
    if word is None:
        return []
    column = span.column + there.index(word)
    place = Span(span.line, column, span.line, column + len(word))
    dotted = word.startswith(".")
    words = [candidate if dotted else candidate.removeprefix(".") for candidate in candidates]
    return [Fix(f"change to `{candidate}`", place, candidate) for candidate in words]


def _left_out(source: Source, span: Span) -> list[Fix]:
    """A register that nothing uses: its statement where it declares nothing else, else its name."""
    line = source.line(span.line) or ""
    before, after = line[: span.column - 1], line[span.end_column - 1 :]
    alone = re.fullmatch(r"\s*\.reg\s+(\.v[248]\s+)?\.\w+\s+", before)
    if alone and (end := re.match(r"\s*;", after)):
        rest = after[end.end() :]
        if rest.strip():
            column = span.end_column + end.end()
            start = len(before) - len(before.lstrip()) + 1
            place = Span(span.line, start, span.line, column + len(rest) - len(rest.lstrip()))
        else:
            place = Span(span.line, 1, span.line + 1, 1)
        return [Fix("leave the declaration out", place, "", True)]
    if comma := re.match(r"\s*,\s*", after):
        place = Span(span.line, span.column, span.line, span.end_column + comma.end())
    elif comma := re.search(r"\s*,\s*$", before):
        place = Span(span.line, comma.start() + 1, span.line, span.end_column)
    else:
        return []
    return [Fix("leave the declaration out", place, "", True)]


def _declared(source: Source, span: Span, declaration: str) -> list[Fix]:
    """A declaration behind the last one of a register before a place, else at the beginning of the body."""
    for number in range(span.line - 1, 0, -1):
        line = source.line(number) or ""
        code = line.partition("//")[0]
        if _REGISTER.match(code.strip()) and code.rstrip().endswith(";"):
            indent = line[: len(line) - len(line.lstrip())]
            return [Fix(f"declare `{declaration}`", _at(number + 1, 1), f"{indent}{declaration}\n")]
        if code.strip() == "{":
            return [Fix(f"declare `{declaration}`", _at(number + 1, 1), f"    {declaration}\n")]
        if "}" in code:
            break
    return []
