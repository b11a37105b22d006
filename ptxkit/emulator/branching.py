"""How blocks end: what a guard on a branch, an exit or a call does to a lane set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import End, LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.steps import check_guard
from ptxkit.emulator.values import WARP


def _check_uniform(lane_set: LaneSet, taken: Any, rest: Any, site: Site) -> None:
    """Lanes of a warp that are together at a `.uni` branch must go the same way."""
    shape = (lane_set.n, WARP)
    split = np.broadcast_to(taken, shape).any(axis=1) & np.broadcast_to(rest, shape).any(axis=1)
    if split.any():
        row = int(np.argmax(split))
        lane = int(np.argmax(np.broadcast_to(taken, shape)[row]))
        other = int(np.argmax(np.broadcast_to(rest, shape)[row]))
        notes = (f"{lane_set.thread(row, lane)} takes the branch", f"{lane_set.thread(row, other)} does not")
        message = f"the lanes of a warp disagree at `{site.instruction.spelling}`"
        raise fault("P626", message, site, notes, "leave `.uni` out")


def fall_through(following: int) -> End:
    """The end of a block that the next one follows."""
    return lambda lane_set: following


def guarded_end(
    guard: SourceOperand | None,
    site: Site,
    uniform: bool,
    end: End,
    number: int,
    following: int,
    target: int | None,
) -> End:
    """The end of a block whose last instruction may have a guard: lanes that it doesn't hold for go on.

    Args:
        guard: the guard, if there is one.
        site: the instruction.
        uniform: whether the lanes of a warp must agree on the guard.
        end: the end without the guard.
        number: the block.
        following: the block of the lanes that go on.
        target: the one block that `end` leads to, if there is but one.
    """
    if guard is None:
        return end
    read = guard.reader

    def guarded(lane_set: LaneSet) -> int:
        condition = read(lane_set)
        if lane_set.undefined:
            check_guard(lane_set, guard, condition, site)
        lanes = lane_set.count(condition)
        if lanes == 0:
            return following
        if lanes == lane_set.size:
            return end(lane_set)
        taken = condition if lane_set.mask is None else condition & lane_set.mask
        rest = ~condition if lane_set.mask is None else lane_set.mask & ~condition
        if uniform:
            _check_uniform(lane_set, taken, rest, site)
        ready = lane_set.schedule.ready
        ready.append(lane_set.part(rest, lane_set.size - lanes, following))
        if target is not None:
            ready.append(lane_set.part(taken, lanes, target))
            return -1
        # The block holds this instruction alone, so its live slots are what the end needs.
        parted = lane_set.part(taken, lanes, number)
        parted.pc = end(parted)
        if parted.pc >= 0:
            ready.append(parted)
        return -1

    return guarded
