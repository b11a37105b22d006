"""Breakpoints as an editor sets them: all of a file at once, all at functions, on data, on findings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.asm.tree import Instruction
from ptxkit.debugger.asking import LaneCondition
from ptxkit.debugger.commands import Commands
from ptxkit.debugger.dap.sources import SourceFiles
from ptxkit.debugger.dap.values import FrameValues
from ptxkit.debugger.expressions import Expression
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.text import grouped, texts_of
from ptxkit.debugger.variables import LaneNames
from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator.code_places import CodePlace, WarpNumber

FILTERS = (
    {
        "filter": "errors",
        "label": "Errors",
        "description": "Stop where a finding ends the launch",
        "default": True,
    },
    {
        "filter": "warnings",
        "label": "Warnings",
        "description": "Stop behind the instruction that is warned of",
        "default": False,
    },
    {
        "filter": "results",
        "label": "Wrong results",
        "description": "Stop at the end if outputs are wrong",
        "default": True,
    },
)
"""The kinds of findings that can stop."""


class WarningWatch:
    """The warnings of a device, which a watchpoint sees come."""

    text = "warnings"

    def __init__(self, findings: Sequence[Diagnostic]) -> None:
        self._findings = findings

    def value(self) -> int:
        """How many there are."""
        return len(self._findings)

    def seen(self, last: int | None, value: int) -> tuple[bool, int]:
        """Changed where there are more."""
        return last is not None and value > last, value

    def told(self, old: int, new: int) -> tuple[str, str]:
        """How many there were and are."""
        return str(old), str(new)


class LogPoint:
    """A condition that never holds: it says a message where a breakpoint is, `{EXPR}` filled in."""

    def __init__(
        self, message: str, condition: str | None, commands: Commands, say: Callable[[str], None]
    ) -> None:
        self.text = message
        self._holds = LaneCondition(condition or "1", commands)
        self._commands, self._say = commands, say

    def first(self, place: CodePlace, row: int | None) -> int | None:
        """None, having said it for the first warp."""
        found = self._holds.first(place, row)
        if found is not None:
            self._say(re.sub(r"\{([^{}]+)\}", lambda part: self._filled(part[1], place, found), self.text))
        return None

    def _filled(self, text: str, place: CodePlace, row: int) -> str:
        names = LaneNames(place, [row], self._commands.session.variables, self._commands.execution())
        try:
            (values,) = Expression(text).evaluate(names, 1)
        except RefusedError as refused:
            return f"{{{refused}}}"
        return grouped(texts_of(values, names.active(0)))


class EditorBreakpoints:
    """What an editor has set.

    Args:
        commands: of the session.
        files: of the module.
        values: what variables that it has shown are.
        say: takes what log points say.
    """

    def __init__(
        self, commands: Commands, files: SourceFiles, values: FrameValues, say: Callable[[str], None]
    ) -> None:
        self._commands, self._files, self._values, self._say = commands, files, values, say
        self._debugger = commands.debugger
        self._locations = commands.session.locations
        self._of_file: dict[str, list[int]] = {}
        self._of_functions: list[int] = []
        self._of_data: list[int] = []
        self._warnings: int | None = None
        self.stopping = {str(each["filter"]) for each in FILTERS if each["default"]}

    def _drop(self, numbers: list[int]) -> None:
        for number in numbers:
            if number in self._debugger.breakpoints or number in self._debugger.watchpoints:
                self._debugger.delete(number)
        numbers.clear()

    def in_file(
        self, source: dict[str, Any], wanted: Sequence[dict[str, Any]], first: int
    ) -> list[dict[str, Any]]:
        """Set all breakpoints of a file. `first`: the number of its first line."""
        key = str(source.get("path") or source.get("name") or "")
        self._drop(self._of_file.setdefault(key, []))
        found = []
        for each in wanted:
            line = int(each.get("line", 0)) + 1 - first
            try:
                name = self._files.name_of(key)
                places = self._locations.line(name, line)
                number = self._add(places, each, self._of_file[key])
                at = self._files.line_in(places[0], name) - 1 + first
                found.append({"id": number, "verified": True, "line": at, "source": source})
            except RefusedError as refused:
                found.append({"verified": False, "line": each.get("line", 0), "message": str(refused)})
        return found

    def at_functions(self, wanted: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Set all breakpoints at functions and labels."""
        self._drop(self._of_functions)
        found: list[dict[str, Any]] = []
        for each in wanted:
            try:
                places = self._locations.at(str(each.get("name", "")))
                found.append({"id": self._add(places, each, self._of_functions), "verified": True})
            except RefusedError as refused:
                found.append({"verified": False, "message": str(refused)})
        return found

    def _add(self, places: Sequence[Instruction], wanted: dict[str, Any], numbers: list[int]) -> int:
        hits = str(wanted.get("hitCondition") or "1")
        if not hits.isdecimal():
            raise RefusedError(f"expected a number of hits, found `{hits}`")
        condition, message = wanted.get("condition") or None, wanted.get("logMessage")
        made = self._commands.add_breakpoint(places, None if message else condition)
        if message:
            made.condition = LogPoint(str(message), condition, self._commands, self._say)
        made.ignored = max(int(hits) - 1, 0)
        numbers.append(made.number)
        return made.number

    # ---- data

    def data_info(self, reference: int, name: str, warp: WarpNumber) -> dict[str, Any]:
        """What can be watched of a variable that was shown, or of an expression."""
        known = self._values.watch_of(reference, name) if reference else (warp, name)
        if known is None:
            return {"dataId": None, "description": f"`{name}` can't be watched"}
        warp, text = known
        try:
            with self._values.of(warp):
                watched, _ = self._commands.watched(text.split())
        except RefusedError as refused:
            return {"dataId": None, "description": str(refused)}
        identity = json.dumps([warp.cta, warp.number, text])
        return {"dataId": identity, "description": watched.text, "accessTypes": ["write"]}

    def on_data(self, wanted: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Set all watchpoints."""
        self._drop(self._of_data)
        found: list[dict[str, Any]] = []
        for each in wanted:
            try:
                cta, number, text = json.loads(str(each.get("dataId")))
                with self._values.of(WarpNumber(int(cta), int(number))):
                    made = self._debugger.watch(*self._commands.watched(str(text).split()))
                self._of_data.append(made.number)
                found.append({"id": made.number, "verified": True, "message": made.watched.text})
            except (RefusedError, ValueError, TypeError) as refused:
                found.append({"verified": False, "message": str(refused)})
        return found

    # ---- findings

    def on_findings(self, filters: Sequence[str]) -> None:
        """Set which kinds of findings stop."""
        self.stopping = set(filters)
        if self._warnings is not None:
            self._drop([self._warnings])
            self._warnings = None
        if "warnings" in self.stopping:
            watch = WarningWatch(self._commands.session.device.findings)
            made = self._debugger.watch(watch, 0)
            self._warnings = made.number

    def is_warning(self, numbers: Sequence[int]) -> bool:
        """Whether a stop is one for a warning."""
        return self._warnings is not None and self._warnings in numbers
