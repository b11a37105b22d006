"""Where a finding comes from in the program's own source: compilers note it by `.loc`. PTX ISA 11.5.3."""

from __future__ import annotations

import re

from ptxkit.diagnostics import Diagnostic

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
_FUNCTION = re.compile(r"\s*(?:\.\w+\s+)*\.(?:entry|func)\b")


def source_line(diagnostic: Diagnostic) -> str | None:
    """`kernel.py:12`; None where the compiler did not say."""
    if diagnostic.source is None or diagnostic.span is None:
        return None
    text = diagnostic.source.text
    for line in reversed(text.split("\n")[: diagnostic.span.line]):
        if found := _LOC.match(line):
            files = dict(_FILE.findall(text))
            return f"{files[found[1]]}:{found[2]}" if found[1] in files and found[2] != "0" else None
        if _FUNCTION.match(line):
            return None
    return None
