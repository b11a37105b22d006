"""What NVIDIA's compute-sanitizer writes, as diagnostics on the PTX lines.

The sanitizer names instructions by their place in the machine code; the machine code, disassembled, leads to
the PTX line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ptxkit.diagnostics import Diagnostic, PtxkitError, Severity, Source, Span, SpanLabel
from ptxkit.toolchain.sass import disassemble

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")

Lines = Mapping[str, Mapping[int, int]]
"""By function and place in its machine code, the PTX line."""

_MARK = re.compile(r"=========(?: (?P<text>.*))?$")
_PLACE = re.compile(
    r"\bat (?:0x(?P<offset>[0-9a-f]+) in (?P<name>[^\s(]+)"
    r"|(?P<first>[^\s(+]+)(?:\([^)]*\))?\+0x(?P<plus>[0-9a-f]+))(?: in \S+:\d+)?"
)
_NO_FINDING = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY:|Program hit |Target application returned|Warning: Detected overlap|$"
)
_TOOL_FAILED = re.compile(
    r"(?:Error: )?(?:No attachable process|Device not supported|Internal Sanitizer Error).*"
)
_BACKTRACE = re.compile(r"Saved host backtrace|Host Frame|Device Frame|in /|in \[")


def read_log(log: str, tool: str, lines: Lines, source: Source | None) -> list[Diagnostic]:
    """The findings in a log of compute-sanitizer, those that differ in the thread alone as one.

    Args:
        log: what it wrote.
        tool: which of `TOOLS`.
        lines: from machine code to PTX lines.
        source: the PTX.
    """
    found: dict[tuple[str, Span | None], tuple[Diagnostic, int]] = {}
    for header, details in _entries(log):
        severity = Severity.WARNING if header.startswith("Warning:") else Severity.ERROR
        text = re.sub(r"^(Error|Warning): ", "", header)
        places = _PLACE.finditer("\n".join([header, *details]))
        spans = [span for place in places if (span := _span(place, lines, source))]
        message = _PLACE.sub("", text).strip().rstrip(":")
        message = f"{tool}: {message[:1].lower()}{message[1:]}"
        diagnostic = Diagnostic(
            "P734",
            message,
            spans[0] if spans else None,
            severity,
            notes=tuple(details),
            help="the emulator names the thread, the bytes and the other party: `--device emu`",
            source=source,
            labels=tuple(SpanLabel(span, "the other access") for span in spans[1:2] if span != spans[0]),
        )
        first, count = found.get((message, diagnostic.span), (diagnostic, 0))
        found[message, diagnostic.span] = first, count + 1
    return [
        replace(first, notes=(*first.notes, f"and {count - 1} more like it")) if count > 1 else first
        for first, count in found.values()
    ]


def _entries(log: str) -> Iterable[tuple[str, list[str]]]:
    """Each finding's first line and the indented ones beneath, without host backtraces."""
    header: str | None = None
    details: list[str] = []
    for line in [*log.splitlines(), "========="]:
        match = _MARK.match(line)
        if match is None:
            continue
        text = match["text"] or ""
        if text.startswith("  ") and text.strip():
            if header is not None and not _BACKTRACE.match(text.strip()):
                details.append(text.strip())
            continue
        if header is not None:
            yield header, details
        header, details = (None if _NO_FINDING.match(text) or _TOOL_FAILED.match(text) else text), []


def _span(place: re.Match[str], lines: Lines, source: Source | None) -> Span | None:
    """The PTX line of a place in the machine code."""
    name = place["name"] or place["first"]
    number = lines.get(name, {}).get(int(place["offset"] or place["plus"], 16))
    text = source.line(number) if source and number else None
    if number is None or text is None:
        return None
    indent = len(text) - len(text.lstrip())
    return Span(number, indent + 1, number, len(text.rstrip()) + 1)


def ptx_lines(cubin: Path) -> Lines:
    """PTX lines by machine code; nothing where there is no machine code or no disassembler."""
    try:
        functions = disassemble(cubin.read_bytes())
    except (PtxkitError, OSError):
        return {}
    return {
        function.name: {i.address: i.line for i in function.instructions if i.line is not None}
        for function in functions
    }
