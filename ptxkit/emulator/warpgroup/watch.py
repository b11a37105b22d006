"""Watching the registers of `wgmma`: other instructions must not access them while products are in flight."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.warpgroup.in_flight import Warpgroups


def watched(step: Step, slots: tuple[int, ...], site: Site, guard: SourceOperand | None) -> Step:
    """A step that accesses registers which some `wgmma` of the function uses.

    Args:
        step: the instruction's work.
        slots: which of those registers.
        site: the instruction.
        guard: its guard.
    """
    condition = guard.reader if guard is not None else None

    def careful(lane_set: LaneSet) -> Any:
        if lane_set.launch.sanitize:
            lane_set.batch.own(Warpgroups).touch(
                lane_set, slots, site, condition(lane_set) if condition else None
            )
        return step(lane_set)

    return careful
