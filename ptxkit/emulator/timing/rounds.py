"""How often the warps of a batch have gone round their loops, and how often they still will."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ptxkit.emulator.code import CodeBlock, Computation, IRNode
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.timing.loops import LoopEnd, OuterLoops
from ptxkit.emulator.timing.recorded import BlockRun, Rounds
from ptxkit.emulator.values import WARP

ENOUGH = 4
"""Comparisons at the end of its loop after which a warp is known."""
ALIKE = 0.05
"""By which part the passages of one round may differ from those of the next."""
DRIFT = 0.1
"""By which part rounds that are left may be longer, on the average, than those that are known, or shorter, if
they go on to change as these did."""
LEAST = 2_000
"""Passages of a batch through blocks before which nothing is left out."""
PART = 0.5
"""The part of all passages that may have happened where the rest is left out."""


@dataclass(slots=True)
class _Compared:
    """What one comparison said to one warp: how many passages the warp had behind it each time, the operands'
    difference, what came to that the last time, and how many more comparisons will come."""

    marks: list[int] = field(default_factory=list)
    apart: int = 0
    step: int = 0
    left: int | None = None

    def again(self, end: LoopEnd, mark: int, apart: int) -> None:
        """It says something again."""
        before, self.step = self.step, apart - self.apart
        self.apart = apart
        self.marks.append(mark)
        steady = len(self.marks) > 2 and self.step == before
        self.left = end.left(apart, self.step) if steady else None

    @property
    def rounds(self) -> Rounds | None:
        """What the warp has done and will do; None where it does not do the same in each round."""
        if len(self.marks) < ENOUGH or self.left is None:
            return None
        first, last_but_one, last = self.marks[1], self.marks[-2], self.marks[-1]
        each = (last - first) / (len(self.marks) - 2)
        alike = abs(last - last_but_one - each) <= ALIKE * each and self._drift() <= DRIFT * each
        return Rounds(first, last, len(self.marks) - 2, self.left) if alike else None

    def _drift(self) -> float:
        """By how many passages rounds change from the middle of the known ones to that of those left, at the
        pace at which the second half of the known differs from the first."""
        assert self.left is not None
        known = len(self.marks) - 2
        half = known // 2
        early, late = self.marks[1 + half] - self.marks[1], self.marks[-1] - self.marks[-1 - half]
        return abs(late - early) / half / (known - half) * (known + self.left) / 2


class WatchedLoops:
    """Watches the loops of a batch.

    Args:
        loops: those of the entry.
        rows: of each row of the batch its passages through blocks.
    """

    def __init__(self, loops: OuterLoops, rows: Sequence[list[BlockRun]]) -> None:
        self._loops, self._rows = loops, rows
        self._ends: dict[CodeBlock, dict[int, LoopEnd]] = {}
        self._compared: list[dict[LoopEnd, _Compared]] = [{} for _ in rows]
        self._passages = 0

    def passes(self, block: CodeBlock) -> dict[int, LoopEnd]:
        """Some rows come to a block of the entry. Returns the comparisons in it that end loops, by number."""
        self._passages += 1
        ends = self._ends.get(block)
        if ends is None:
            known = (
                (number, self._loops.ends.get(id(s.instruction))) for number, s in enumerate(block.sites)
            )
            ends = self._ends[block] = {number: end for number, end in known if end is not None}
        return ends

    def compares(self, comparison: IRNode, end: LoopEnd, lane_set: LaneSet) -> None:
        """A comparison is about to happen."""
        assert isinstance(comparison, Computation)
        shape = lane_set.n, WARP
        first, second = (np.broadcast_to(one.reader(lane_set), shape) for one in comparison.sources[:2])
        mask = lane_set.full_mask()
        rows = np.arange(lane_set.n) if lane_set.rows is None else lane_set.rows
        for place in np.flatnonzero(mask.any(axis=1)).tolist():
            row, lane = int(rows[place]), int(mask[place].argmax())
            apart = int(first[place, lane]) - int(second[place, lane])
            found = self._compared[row].setdefault(end, _Compared())
            found.again(end, len(self._rows[row]), apart)

    @property
    def due(self) -> bool:
        """Whether enough has happened to see if the rest can be left out."""
        return self._passages >= LEAST

    def settled(self, going: Iterable[LaneSet]) -> dict[int, Rounds] | None:
        """The rows that have rounds to go, where nothing else is left to do and most of it can be left out;
        else None. `going`: all lane sets."""
        if not self.due:
            return None
        found: dict[int, Rounds] = {}
        for lane_set in going:
            if lane_set.frames or lane_set.passed:  # Who passes a barrier together has it recorded together.
                return None
            block = lane_set.code.blocks[lane_set.pc]
            if not block.sites or not self._loops.leads(block.sites[0].instruction):
                continue  # It ends, or waits for others that do.
            loop = self._loops.loop_of(block.sites[0].instruction)
            for row in lane_set.occupied_rows().tolist():
                rounds = self._of(row, loop)
                if rounds is None:
                    return None
                found[row] = rounds
        done = sum(map(len, self._rows))
        whole = done + sum(one.passages for one in found.values())
        return found if found and done <= PART * whole else None

    def _of(self, row: int, loop: int) -> Rounds | None:
        """The rounds of a row that is in a loop; None where they are not known."""
        compared = self._compared[row]
        ends = [compared[end].rounds for end in compared if end.loop == loop]
        known = [one for one in ends if one is not None]
        if loop not in self._loops.known or not ends or len(known) < len(ends):
            return None
        return min(known, key=lambda one: one.left)
