"""Going past an instruction that can't be executed.

By default a launch ends with the first error. One that keeps going leaves an instruction out for the lanes
that it can't be executed for, as hardware may: what it would have stored is not stored, and what it would
have loaded has undefined bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ptxkit.diagnostics import Diagnostic, counted
from ptxkit.emulator.faults import EmulatorFault, Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.values import WARP, ones, select, select_wide
from ptxkit.rules import ALWAYS


def leave_out(
    fault: EmulatorFault,
    run: Callable[[LaneSet, Any], Any],
    lane_set: LaneSet,
    guard: Any,
    site: Site,
    written: Callable[[], Sequence[int]],
) -> bool:
    """Go past an error: execute the instruction for the other lanes, and leave those with undefined bits.

    Args:
        fault: what the instruction met; of the lanes in `fault.lanes` if it says so, else of all.
        run: executes the instruction for the lanes for which a guard holds.
        guard: of the lanes for which it was executed; None: all of the set.
        site: the instruction.
        written: gives the slots that the instruction writes.

    Returns:
        Whether undefined bits came into a register.

    Raises:
        EmulatorFault: this one, where the launch goes past no further one.
    """
    launch = lane_set.launch
    if fault.diagnostics[0].code in ALWAYS:
        raise fault
    shape = (lane_set.n, WARP)
    left: Any = lane_set.full_mask()
    if guard is not None:
        left = left & np.broadcast_to(guard, shape)
    out = np.zeros(shape, bool)
    while True:
        bad = left if fault.lanes is None else left & np.broadcast_to(fault.lanes, shape)
        if not bad.any():
            bad = left
        for each in fault.diagnostics:
            launch.found.add(_with_others(each, lane_set, bad) if fault.lanes is not None else each)
        out, left = out | bad, left & ~bad
        if not left.any():
            break
        try:
            run(lane_set, left)
            break
        except EmulatorFault as another:
            fault = another
            if fault.diagnostics[0].code in ALWAYS:
                raise
    if not launch.sanitize:
        return False
    slots = written()
    origin = launch.origins.of_read(site, f"what `{site.instruction.spelling}` could not give")
    for slot in slots:
        width = lane_set.code.widths[slot]
        old, earlier = lane_set.undefined.get(slot, (lane_set.code.defined[slot], 0))
        mask = (select_wide if width == 128 else select)(out, ones(width), old)
        lane_set.undefined[slot] = mask, origin or earlier
    return bool(slots)


def _with_others(found: Diagnostic, lane_set: LaneSet, bad: np.ndarray) -> Diagnostic:
    """An error, which names the first of some lanes, with how many there are, and the last of them."""
    count = int(np.count_nonzero(bad))
    if count == 1:
        return found
    last = lane_set.thread(*divmod(int(np.flatnonzero(bad)[-1]), WARP))
    return replace(found, notes=(*found.notes, f"{counted(count, 'thread')} here, up to {last}"))
