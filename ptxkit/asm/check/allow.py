"""Suppression: `// ptxkit: allow P203` on a line, or alone on the line before, silences that code there.

The checker's findings need no reason, those of the emulator do (`ptxkit.rules`).
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.asm.tree import Module
from ptxkit.diagnostics import Diagnostic, Source
from ptxkit.rules import allowance


def without_allowed(found: Iterable[Diagnostic], module: Module) -> list[Diagnostic]:
    """The findings without an `allow` comment.

    After preprocessing, the comments of the file that a finding points into count.
    """
    findings = list(found)
    if not findings or module.source is None or "ptxkit:" not in module.source.text:
        return findings
    allowed: dict[Source, dict[int, set[str]]] = {}
    kept = []
    for diagnostic in findings:
        source = diagnostic.source or module.source
        if source not in allowed:
            allowed[source] = _allowed(source)
        if diagnostic.span is None or diagnostic.code not in allowed[source].get(diagnostic.span.line, ()):
            kept.append(diagnostic)
    return kept


def _allowed(source: Source) -> dict[int, set[str]]:
    """The codes that are allowed on each line of a source."""
    allowed: dict[int, set[str]] = {}
    for number, line in enumerate(source.text.split("\n"), 1):
        if "ptxkit:" in line and (comment := allowance(line)) is not None:
            allowed.setdefault(number + comment.alone, set()).update(comment.codes)
    return allowed
