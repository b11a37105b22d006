"""Where in the source a part of an instruction stands; worked out only when a finding needs it."""

from __future__ import annotations

import re

from ptxkit.asm.tree import Instruction
from ptxkit.diagnostics import Source, Span

_PART = re.compile(r"\.[\w:]+")


def spelling_span(instruction: Instruction, source: Source | None) -> Span | None:
    """The opcode with its modifiers."""
    found = _spelling(instruction, source)
    if found is None:
        return instruction.span
    line, start, text = found
    return Span(line, start + 1, line, start + 1 + len(text))


def modifier_span(instruction: Instruction, modifier: str, source: Source | None) -> Span | None:
    """One modifier with its dot; the whole spelling where it can't be told apart."""
    found = _spelling(instruction, source)
    if found is None:
        return instruction.span
    line, start, text = found
    for part in _PART.finditer(text):
        if part.group()[1:] == modifier:
            return Span(line, start + part.start() + 1, line, start + part.end() + 1)
    return Span(line, start + 1, line, start + 1 + len(text))


def _spelling(instruction: Instruction, source: Source | None) -> tuple[int, int, str] | None:
    """Line, 0-based column and text of the opcode with its modifiers, where they stand on one line."""
    if instruction.span is None or source is None:
        return None
    line = source.line(instruction.span.line)
    if line is None:
        return None
    start = instruction.span.column - 1
    if instruction.guard is not None:
        guard = re.compile(r"@\s*!?\s*[\w$%]+\s*").match(line, start)
        if guard is None:
            return None
        start = guard.end()
    text = instruction.spelling
    return (instruction.span.line, start, text) if line.startswith(text, start) else None
