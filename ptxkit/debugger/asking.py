"""What every group of commands has: the session, and somewhere to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.debugger.expressions import Expression
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.session import DebugSession
from ptxkit.debugger.text import number
from ptxkit.debugger.variables import LaneNames
from ptxkit.emulator.code_places import CodePlace, WarpNumber
from ptxkit.emulator.execution import Execution
from ptxkit.emulator.stops import ConditionError


class Asking:
    """The ground that commands stand on.

    Args:
        session: that is asked.
        say: takes a line of an answer.
    """

    def __init__(self, session: DebugSession, say: Callable[[str], None]) -> None:
        self.session = session
        self.debugger = session.debugger
        self.say = say

    def execution(self) -> Execution:
        """The launch. Raises RefusedError: it has not begun."""
        if self.debugger.execution is None or not self.debugger.now:
            raise RefusedError("the launch has not begun")
        return self.debugger.execution

    def names(self) -> LaneNames:
        """What names stand for in the current warp."""
        place, _, row = self.session.here()
        return LaneNames(place, [row], self.session.variables, self.execution())

    def value(self, text: str) -> Any:
        """An expression in the first lane of the current warp that is here.

        Raises:
            RefusedError: it has no value there.
        """
        if text[:1].isdecimal() and text.isalnum():
            return number(text)
        names = self.names()
        (row,) = Expression(text).evaluate(names, 1)
        found = row[names.active(0).index(True)]
        if not isinstance(found, int | float):
            raise RefusedError(f"`{text}` is undefined")
        return found

    def address(self, text: str) -> int:
        """An address, as a number or an expression."""
        found = self.value(text)
        if not isinstance(found, int) or found < 0:
            raise RefusedError(f"expected an address, found `{text}`")
        return found

    def cta(self, text: str) -> int:
        """The number of a CTA in the grid, given as that or as x,y,z."""
        parts = [number(part) for part in text.split(",")]
        execution = self.debugger.execution
        if len(parts) == 1:
            return parts[0]
        if execution is None:
            raise RefusedError("expected the number of a CTA: the launch has not begun")
        x, y, _ = execution.launch.shape.grid
        parts += [0] * (3 - len(parts))
        return parts[0] + x * (parts[1] + y * parts[2])

    def warp(self, words: Sequence[str]) -> WarpNumber:
        """A warp, given by its CTA and its number."""
        return WarpNumber(self.cta(words[0]), number(words[1]))


class LaneCondition:
    """The condition of a breakpoint; see `ptxkit.emulator.stops.StopCondition`."""

    def __init__(self, text: str, asking: Asking) -> None:
        self.text = text
        self._expression = Expression(text)
        self._asking = asking

    def first(self, place: CodePlace, row: int | None) -> int | None:
        """The first row with a lane for which it holds."""
        rows = [row] if row is not None else place.lane_set.occupied()[0].tolist()
        names = LaneNames(place, rows, self._asking.session.variables, self._asking.execution())
        try:
            values = self._expression.evaluate(names, len(rows))
        except RefusedError as refused:
            raise ConditionError(str(refused)) from None
        for at, lanes in enumerate(values):
            here = [value for value, on in zip(lanes, names.active(at), strict=True) if on]
            if any(isinstance(value, int | float) and value for value in here):
                return int(rows[at])
        return None
