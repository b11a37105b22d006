"""Where PTX was compiled from, as `.loc` and `.file` say: CUDA C++, Python, Triton. PTX ISA 11.5.3, 11.5.4.

A `.loc` holds for what follows it in its function. One with `inlined_at` says where the function that it lies
in was inlined; compilers write that place's own `.loc` before it, so that calls can be followed outwards.

Inline assembly has the place of its statement, which stands ahead of it. LLVM 22 writes a `.loc` for each of
its lines, too, with as many lines more as precede it in the assembly: Triton's loads would seem to be of the
line behind theirs. So between the comments that open and close assembly none counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

LARGEST = 1 << 24
"""Bytes of a file that lines are still shown of."""
_MARK = re.compile(
    r"^[ \t]*(?:\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)"
    r"(?:[ \t]*,[ \t]*function_name[ \t]+([^,\n]+),[ \t]*inlined_at[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+))?"
    r"|(?:\.\w+[ \t]+)*\.(?:entry|func)\b|//[ \t]*(begin|end) inline asm)",
    re.M,
)
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"([^"\n]*)"', re.M)
_STRING = re.compile(r"^[ \t]*([\w$.]+):((?:\s*\.b8[ \t]+[\w \t,]+;?(?:[ \t]*//[^\n]*)?)+)", re.M)
_COMMENT = re.compile(r"//[^\n]*")
_NAME = re.compile(r"_ZN?[VK]*(?:St)?((?:\d+\w+)+)")


class SourceLocation(NamedTuple):
    """A place in a file that PTX was compiled from.

    Attributes:
        file: as the compiler named it.
        line, column: from 1; column 0 where the compiler names none.
        function: that was inlined here; None where nothing says which function it is.
    """

    file: str
    line: int
    column: int
    function: str | None = None

    def text(self, beside: str) -> str | None:
        """The line itself; None where the file is not here.

        Args:
            beside: the file with the PTX: a relative name is looked for from here, and from its folder.
        """
        return _line_of(self.file, beside, self.line)

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}" + (f" in {self.function}" if self.function else "")


class _Loc(NamedTuple):
    """A `.loc`; `at` is file, line and column, `inlined_at` likewise. A function's head has neither."""

    at: tuple[str, int, int] | None = None
    function: str = ""
    inlined_at: tuple[str, int, int] | None = None


class LineTable:
    """The `.loc`s of a text.

    Args:
        text: PTX.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._files = dict(_FILE.findall(text))
        self._lines: list[int] = []
        self._locs: list[_Loc] = []
        number, end, assembly = 1, 0, False
        for found in _MARK.finditer(text) if self._files else ():
            number += text.count("\n", end, found.start())
            end = found.start()
            if found[8]:
                assembly = found[8] == "begin"
            if found[8] or (assembly and found[1]):
                continue
            assembly = False
            self._lines.append(number)
            self._locs.append(_loc(found))

    def places(self, line: int) -> tuple[SourceLocation, ...]:
        """Where a line of the PTX comes from, the innermost function first, then where each was inlined.

        None where the compiler did not say, or said line 0.
        """
        index = bisect_right(self._lines, line) - 1
        found: list[SourceLocation] = []
        wanted = self._locs[index].at if index >= 0 else None
        while wanted is not None:
            while index >= 0 and self._locs[index].at not in (wanted, None):
                index -= 1
            loc = self._locs[index] if index >= 0 else _Loc()
            known = loc.at is not None
            file = self._files.get(wanted[0])
            if file is None or not wanted[1]:
                break
            function = self._function(loc.function) if known and loc.function else None
            found.append(SourceLocation(file, wanted[1], wanted[2], function))
            wanted = loc.inlined_at if known else None
            index -= 1
        return tuple(found)

    def _function(self, name: str) -> str | None:
        """What stands in `.debug_str` at `label` or `label + 12`."""
        label, _, offset = (part.strip() for part in name.partition("+"))
        for found in _STRING.finditer(self._text):
            if found[1] == label:
                numbers = re.findall(r"\w+", _COMMENT.sub("", found[2]).replace(".b8", " "))
                text = bytes(int(number, 0) & 255 for number in numbers)[int(offset or 0) :]
                return _readable(text.split(b"\0")[0].decode(errors="replace")) or None
        return None


def _loc(found: re.Match[str]) -> _Loc:
    if found[1] is None:
        return _Loc()
    inlined = (found[5], int(found[6]), int(found[7])) if found[5] else None
    return _Loc((found[1], int(found[2]), int(found[3])), found[4] or "", inlined)


def _readable(name: str) -> str:
    """A name of C++ without the types of its parameters: `tile::load` of `_ZN4tile4loadEPf`."""
    found = _NAME.match(name)
    if found is None:
        return name
    parts, rest = [], found[1]
    while count := re.match(r"\d+", rest):
        start = count.end()
        parts.append(rest[start : start + int(count[0])])
        rest = rest[start + int(count[0]) :]
        if not name.startswith("_ZN"):
            break
    return "::".join(parts)


@lru_cache(maxsize=8)
def line_table(text: str) -> LineTable:
    """The `.loc`s of a text, read once."""
    return LineTable(text)


@lru_cache(maxsize=64)
def _line_of(file: str, beside: str, line: int) -> str | None:
    for path in (Path(file), Path(beside).parent / file):
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        except (OSError, ValueError):
            continue
        return lines[line - 1].rstrip("\r") if line <= len(lines) else None
    return None
