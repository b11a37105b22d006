"""Suppression: `// ptxkit: allow P203` on a line, or alone on the line before, silences that code there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.asm.tree import Module
from ptxkit.diagnostics import Diagnostic

_ALLOW = re.compile(r"//\s*ptxkit:\s*allow\s+(P\d{3,4}(?:[\s,]+P\d{3,4})*)")


def without_allowed(found: Iterable[Diagnostic], module: Module) -> list[Diagnostic]:
    """The findings that no comment of the source allows."""
    findings = list(found)
    if not findings or module.source is None or "ptxkit:" not in module.source.text:
        return findings
    allowed: dict[int, set[str]] = {}
    for number, line in enumerate(module.source.text.split("\n"), 1):
        match = _ALLOW.search(line)
        if match:
            codes = set(re.findall(r"P\d{3,4}", match[1]))
            alone = not line[: match.start()].strip()
            allowed.setdefault(number + alone, set()).update(codes)
    return [
        diagnostic
        for diagnostic in findings
        if diagnostic.span is None or diagnostic.code not in allowed.get(diagnostic.span.line, ())
    ]
