"""What a watchpoint can look at: memory, tensor memory, a register, an mbarrier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.text import grouped
from ptxkit.debugger.variables import Variables, memory_words
from ptxkit.emulator import inspection
from ptxkit.emulator.code_places import WarpNumber, row_of
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.debug import Debugger
from ptxkit.emulator.inspection import KnownBits, shown
from ptxkit.emulator.values import WARP

NO_VALUE: tuple[KnownBits | None, ...] = (None,) * WARP
"""What a register is before anything was written to it."""


class Comparable:
    """What is seen at once, and changed where it is not equal."""

    def seen(self, last: Any, value: Any) -> tuple[bool, Any]:
        """Whether a value is another than the last one (None: not the first), and what to keep of both."""
        return last is not None and last != value, value


def batch_of(debugger: Debugger, cta: int) -> CtaBatch | None:
    """The batch that has a CTA of the grid; None where it has not begun or is gone."""
    for schedule in debugger.schedules:
        if (schedule.batch.ctas == cta).any():
            return schedule.batch
    return None


class MemoryWatch(Comparable):
    """Elements of `shared`, `global` or `tmem` memory.

    Args:
        cta: whose; without a meaning for global memory.
        at: the address; of tensor memory the lane and the column.
        kind: the PTX type of an element.
        count: how many.
    """

    def __init__(
        self,
        debugger: Debugger,
        variables: Variables,
        cta: int,
        space: str,
        kind: str,
        at: tuple[int, ...],
        count: int,
    ) -> None:
        self._debugger = debugger
        self._variables = variables
        self._cta, self.space, self.kind, self.at, self._count = cta, space, kind, at, count

    @property
    def text(self) -> str:
        """As an expression has it."""
        where = ", ".join(map(str, self.at)) if self.space == "tmem" else f"{self.at[0]:#x}"
        more = f", {self._count} elements" if self._count > 1 else ""
        whose = "" if self.space == "global" else f" of CTA {self._cta}"
        return f"{self.space}.{self.kind}[{where}]{more}{whose}"

    def value(self) -> tuple[KnownBits, ...] | None:
        """The elements; None where the CTA is not there, or has no such memory yet."""
        batch = batch_of(self._debugger, self._cta)
        if self.space == "global" and self._debugger.schedules:
            batch = batch or self._debugger.schedules[-1].batch
        if batch is None:
            return None
        numbers = batch.ctas.tolist()
        cta = numbers.index(self._cta) if self._cta in numbers else 0
        try:
            return tuple(
                memory_words(self._variables, batch, cta, self.space, self.kind, self.at, self._count)
            )
        except RefusedError:
            return None

    def told(self, old: Sequence[KnownBits], new: Sequence[KnownBits]) -> tuple[str, str]:
        """The elements, the first sixteen of many."""

        def text(value: Sequence[KnownBits]) -> str:
            texts = [shown(one, self.kind) for one in value[:16]]
            return " ".join([*texts, *(["..."] if len(value) > 16 else [])])

        return text(old), text(new)


GROUPS = 8
"""Values of a register that a change tells."""
Lanes = tuple[KnownBits | None, ...]
"""A register in each lane; None where it has no value."""


class RegisterWatch:
    """A register of a warp, in whichever lane sets its lanes are."""

    def __init__(self, debugger: Debugger, warp: WarpNumber, name: str) -> None:
        self._debugger, self._warp, self._name = debugger, warp, name
        self._kind = "b32"

    @property
    def text(self) -> str:
        """Its name, and whose it is."""
        return f"{self._name} of warp {self._warp.number} of CTA {self._warp.cta}"

    def value(self) -> Lanes | None:
        """Its value in each lane; None where the warp is not there."""
        lanes: list[KnownBits | None] = [None] * WARP
        found = False
        for schedule in self._debugger.schedules:
            row = row_of(schedule.batch, self._warp)
            for place, _ in self._debugger.places(schedule) if row is not None else ():
                found = True
                state = next(inspection.registers(place, row or 0, self._name), None)
                if state is not None and not state.lost:
                    self._kind = state.type
                    lanes = [new or old for new, old in zip(state.values, lanes, strict=True)]
        return tuple(lanes) if found else None

    def seen(self, last: Lanes | None, value: Lanes) -> tuple[bool, Lanes]:
        """Changed where a lane has another value, or has one again."""
        if last is None:
            return False, value
        merged = tuple(new or old for new, old in zip(value, last, strict=True))
        return merged != last, merged

    def told(self, old: Lanes, new: Lanes) -> tuple[str, str]:
        """The lanes that have changed, those of one value together, the first of many."""
        other = [before != after for before, after in zip(old, new, strict=True)]

        def text(lanes: Lanes) -> str:
            changed = [one if differs else None for one, differs in zip(lanes, other, strict=True)]
            texts = [shown(one, self._kind) if one is not None else None for one in changed]
            return grouped(texts, GROUPS) or "no value"

        return text(old), text(new)


class MbarrierWatch(Comparable):
    """An mbarrier of a CTA."""

    def __init__(self, debugger: Debugger, cta: int, address: int, name: str) -> None:
        self._debugger, self._cta, self._address, self._name = debugger, cta, address, name

    @property
    def text(self) -> str:
        """Its name, and whose it is."""
        return f"mbarrier {self._name} of CTA {self._cta}"

    def value(self) -> str | None:
        """Its state in words; None where the CTA is not there."""
        batch = batch_of(self._debugger, self._cta)
        if batch is None:
            return None
        cta = batch.ctas.tolist().index(self._cta)
        return dict(inspection.mbarriers(batch, cta)).get(self._address, "not initialised")

    def told(self, old: str, new: str) -> tuple[str, str]:
        """The same."""
        return old, new
