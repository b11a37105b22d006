"""The log of ptxas, nvJitLink and the driver's JIT compiler, as diagnostics with places in the source.

Their lines have three forms, the severity padded to seven letters:

    ptxas application ptx input, line 12; error   : Unknown symbol '%r9'
    ptxas fatal   : Ptx assembly aborted due to errors
    error   : Undefined reference to 'foo' in 'gemv.ptx'

A line number is all they tell of the place; the column comes from what the message quotes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ptxkit.diagnostics import Diagnostic, Severity, Source, Span

_LINE = re.compile(
    r"(?:ptxas|nvlink)?\s*(?:(?P<file>\S.*), line (?P<line>\d+);\s*)?"
    r"(?P<severity>fatal|error|warning|info)\s*: (?P<message>.+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'([^']+)'")
_UNDEFINED = re.compile(r"(?:Undefined reference to|Unresolved extern \w+) '([^']+)'")
_ADVICE = re.compile(r"\((?P<number>C\d+)\)|Potential Performance Loss|Advisory")
_AROUND = re.compile(r"around line (\d+)")
_ABORTED = "assembly aborted due to errors"

_FUNCTION = re.compile(r"Function properties for '?([^'\s]+)'?")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")

ERROR, WARNING, ADVICE, UNDEFINED = "P706", "P707", "P708", "P709"
_ADVISED = {
    "C7504": "nvJitLink assembles for linking, and leaves it out; `ptxas` without `-c` keeps it",
    "C7517": "put `wgmma.wait_group` before the registers are used",
}
"""What to do about some of the assembler's advice, by its number."""


class ResourceUsage(NamedTuple):
    """What a function uses: 32-bit registers of a thread, bytes of local memory of a thread."""

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


def read_log(log: str, source: Source | None = None) -> list[Diagnostic]:
    """The findings in a log, in its order, each once.

    Args:
        log: what the assembler wrote.
        source: the text it was given.

    Lines about registers and sizes are no findings; `read_usage` reads those.
    """
    found: list[Diagnostic] = []
    aborted: list[Diagnostic] = []
    for line in log.splitlines():
        match = _LINE.match(line.strip())
        if match is None:
            continue
        diagnostic = _diagnostic(match, source)
        if diagnostic is None or diagnostic in found:
            continue
        (aborted if _ABORTED in diagnostic.message else found).append(diagnostic)
    return found if any(d.is_error for d in found) else found + aborted


def read_usage(log: str) -> dict[str, ResourceUsage]:
    """What each function uses, by its name; only verbose logs say so (`-v`, `CU_JIT_LOG_VERBOSE`)."""
    usage: dict[str, ResourceUsage] = {}
    name, stack = None, None
    for line in log.splitlines():
        if match := _FUNCTION.search(line):
            name, stack = match[1], None
        elif match := _STACK.search(line):
            stack = [int(number) for number in match.groups()]
        elif (match := _REGISTERS.search(line)) and name and stack:
            usage.setdefault(name, ResourceUsage(int(match[1]), *stack))
            name = None
    return usage


def _diagnostic(match: re.Match[str], source: Source | None) -> Diagnostic | None:
    message = match["message"].strip()
    severity = match["severity"].lower()
    help = None
    if severity in ("fatal", "error"):
        code, weight = ERROR, Severity.ERROR
        if _UNDEFINED.search(message):
            code = UNDEFINED
            help = "define it in this module, or load the module that defines it together with this one"
    elif severity == "warning":
        code, weight = WARNING, Severity.WARNING
    elif _ADVICE.search(message):
        code, weight = ADVICE, Severity.WARNING
        help = next((advice for number, advice in _ADVISED.items() if number in message), None)
    else:
        return None
    around = _AROUND.search(message)
    number = int(match["line"] or (around[1] if around else 0)) or None
    span = _place(message, number, source) if source else Span(number, 1, number, 1) if number else None
    return Diagnostic(code, _lower(message), span, weight, help=help, source=source)


def _place(message: str, number: int | None, source: Source) -> Span | None:
    """The first quoted word of the message in its line, else the line; without a line, in the whole text."""
    words = [word for word in _QUOTED.findall(message) if word.strip()]
    if number is None:
        return next((span for word in words if (span := _find(word, source))), None)
    text = source.line(number)
    if text is None:
        return None
    for word in words:
        match = _whole(word).search(text)
        if match:
            return Span(number, match.start() + 1, number, match.end() + 1)
    indent = len(text) - len(text.lstrip())
    return Span(number, indent + 1, number, max(len(text.rstrip()), indent + 1) + 1)


def _find(word: str, source: Source) -> Span | None:
    """Where a word first occurs, trailing comments aside."""
    for match in _whole(word).finditer(source.text):
        begin = source.text.rfind("\n", 0, match.start()) + 1
        if "//" not in source.text[begin : match.start()]:
            line, column = source.text.count("\n", 0, begin) + 1, match.start() - begin + 1
            return Span(line, column, line, column + len(word))
    return None


def _whole(word: str) -> re.Pattern[str]:
    before = r"(?<![\w$%])" if re.match(r"[\w$%]", word) else ""
    return re.compile(rf"{before}{re.escape(word)}(?![\w$])")


def _lower(message: str) -> str:
    """The house's style: no capital at the start (unless the word is one), backticks for quotes."""
    message = _QUOTED.sub(r"`\1`", message).rstrip(".")
    head = message.split(maxsplit=1)[0]
    return message if head.isupper() or not head.isalpha() else message[0].lower() + message[1:]
