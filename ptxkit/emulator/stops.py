"""What stops a launch under a debugger: breakpoints, watchpoints, the end of a walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ptxkit.asm.tree import Instruction
from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.code_places import CodePlace, WarpNumber
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site


class StopCondition(Protocol):
    """What must hold where a breakpoint is.

    Attributes:
        text: as it was written.
    """

    text: str

    def first(self, place: CodePlace, row: int | None) -> int | None:
        """The first row of the batch with a lane for which it holds, of all of the lane set or of one; None
        where it holds for none.

        Raises:
            ConditionError: it can't be told.
        """


class ConditionError(Exception):
    """A condition that can't be told here; says why."""


class Watched(Protocol):
    """Something that a watchpoint looks at."""

    @property
    def text(self) -> str:
        """What it is called."""

    def value(self) -> Any:
        """What it is now, to be compared; None where that can't be seen now."""

    def seen(self, last: Any, value: Any) -> tuple[bool, Any]:
        """Whether a value is a change from the last one, and what to keep of both."""

    def told(self, old: Any, new: Any) -> tuple[str, str]:
        """A change for people: from what, to what."""


@dataclass(slots=True, eq=False)
class Breakpoint:
    """A stop that somebody asked for.

    Attributes:
        number: what it is called by.
        instructions: before which execution stops.
        warp: the only warp that stops; None for the first that comes.
        condition: what must hold; None for nothing.
        temporary: whether it is gone once it has stopped somebody.
        enabled: whether it stops anybody.
        ignored: how often it lets pass whom it would stop.
        hits: how often it has stopped somebody.
    """

    number: int
    instructions: Sequence[Instruction]
    warp: WarpNumber | None = None
    condition: StopCondition | None = None
    temporary: bool = False
    enabled: bool = True
    ignored: int = 0
    hits: int = 0


@dataclass(slots=True, eq=False)
class Watchpoint:
    """A stop where something has changed.

    Attributes:
        number: what it is called by; breakpoints and watchpoints have numbers of one sequence.
        enabled, ignored, hits: as for breakpoints.
        last: what it was when it was looked at last; None where it could not be seen yet.
    """

    number: int
    watched: Watched
    enabled: bool = True
    ignored: int = 0
    hits: int = 0
    last: Any = None


def change(
    watchpoint: Watchpoint, values: tuple[Any, Any], instruction: Site | None, done: Sequence[Site]
) -> str:
    """A change in words.

    Args:
        watchpoint: that saw it.
        values: from which one to which.
        instruction: that has been executed last.
        done: the asynchronous operations that were done since.
    """
    watched = watchpoint.watched
    old, new = watched.told(*values)
    lines = [f"watchpoint {watchpoint.number}: {watched.text}", f"  old value: {old}", f"  new value: {new}"]
    by = [f"`{site.instruction.spelling}` at {site.where}, asynchronously" for site in done]
    if not by and instruction is not None:
        by = [f"`{instruction.instruction.spelling}` at {instruction.where}"]
    return "\n".join(lines + ([f"  by {' or '.join(dict.fromkeys(by))}"] if by else []))


class Stop(NamedTuple):
    """Why a launch stands still.

    Attributes:
        reason: `entry`, `step`, `breakpoint`, `data breakpoint`, `pause`, `goto` or `exited`.
        text: the same for people; empty for a step.
        numbers: of the breakpoints or watchpoints.
        warp: that was meant; None for the current one if it is there, else the first one.
    """

    reason: str
    text: str = ""
    numbers: tuple[int, ...] = ()
    warp: WarpNumber | None = None


@dataclass(slots=True, eq=False)
class Walk:
    """How far a warp goes until it stops.

    Attributes:
        batch, row: the warp; None for the first warp that executes something.
        left: arrivals until it stops.
        arrives: whether it arrives where its lane set stands.
    """

    batch: CtaBatch | None
    row: int
    left: int
    arrives: Callable[[CodePlace], bool]


@dataclass(slots=True, eq=False)
class Search:
    """A look, in the past of a step, for where a launch would have stopped.

    Attributes:
        limit: the step.
        arrives: whether a place is one of those; None for breakpoints and watchpoints.
        wanted: how many of them back.
        only: the only watchpoint that is asked, and no breakpoint; None for all of them.
        back_to: the step to stop at again once it is known; None to stop at what was found.
        found: the last ones, the latest last, with why.
        done: whether the step has been reached.
    """

    limit: int
    arrives: Callable[[CodePlace], bool] | None
    wanted: int = 1
    only: Watchpoint | None = None
    back_to: int | None = None
    found: list[tuple[int, Stop]] = field(default_factory=list)
    done: bool = False

    def note(self, step: int, stop: Stop) -> None:
        """A place that is one, or a better reason for the same."""
        if self.found and self.found[-1][0] == step:
            self.found[-1] = (step, stop)
        else:
            self.found = [*self.found[1 - self.wanted :], (step, stop)] if self.wanted > 1 else [(step, stop)]


class LastDone:
    """The asynchronous operations that were done since the last instruction; a `Trace` of a batch."""

    def __init__(self) -> None:
        self.sites: list[Site] = []

    def completed(self, operation: AsyncOperation) -> None:
        self.sites.append(operation.site)

    def issued(self, operation: AsyncOperation, site: Site | None = None, reads: Any = None) -> None:
        """Nothing: it has not happened yet."""

    def turned(self, slots: np.ndarray) -> None:
        """Nothing: an mbarrier changes by an instruction or an operation."""

    def invalidated(self, slots: np.ndarray) -> None:
        """Nothing."""

    def allocated(self, cta: int, first: int, columns: int, cta_group: int, site: Site) -> None:
        """Nothing."""

    def freed(self, cta: int, first: int) -> None:
        """Nothing."""
