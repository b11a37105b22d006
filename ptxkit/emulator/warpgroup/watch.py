"""Watching the registers of `wgmma`: other instructions must not access them while products are in flight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ptxkit.emulator.faults import Site
from ptxkit.emulator.operands import Source
from ptxkit.emulator.warpgroup.in_flight import Warpgroups

if TYPE_CHECKING:
    from ptxkit.emulator.group import Group

Step = Callable[["Group"], Any]


def watched(step: Step, slots: tuple[int, ...], site: Site, guard: Source | None) -> Step:
    """A step that accesses registers which some `wgmma` of the function uses.

    Args:
        step: the instruction's work.
        slots: which of those registers.
        site: the instruction.
        guard: its guard.
    """
    condition = guard.reader if guard is not None else None

    def careful(group: Group) -> Any:
        if group.batch.launch.sanitize:
            Warpgroups.of(group.batch).touch(group, slots, site, condition(group) if condition else None)
        return step(group)

    return careful
