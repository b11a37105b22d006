"""Member masks: which lanes of a warp take part in a `.sync` instruction. PTX ISA 9.7.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand, undefined_decides
from ptxkit.emulator.sync_points import executing, taking_part, unpacked_all
from ptxkit.emulator.values import WARP

LANES = np.arange(WARP, dtype=np.uint32).reshape(1, WARP)
EVERY = 0xFFFF_FFFF


def participants(lane_set: LaneSet, guard: Any, members: Any) -> np.ndarray | None:
    """The lanes that take part, as (n, 32); None for all of them."""
    lanes = taking_part(lane_set, guard)
    if members.ndim == 0 and int(members) == EVERY:
        return lanes
    named = (members >> LANES & np.uint32(1)) != 0
    if lanes is None:
        return np.broadcast_to(named, (lane_set.n, WARP))
    return lanes & named


def check_members(form: ScopedForm, members: SourceOperand) -> Callable[[LaneSet, Any], Any]:
    """A function that reads the member mask and sees to it that every executing lane is in it."""
    read, site = members.reader, form.site

    def checked(lane_set: LaneSet, guard: Any) -> Any:
        mask = read(lane_set)
        if members.slot is not None and members.slot in lane_set.undefined:
            undefined, origin = lane_set.undefined[members.slot]
            lanes = executing(lane_set, guard)
            if (undefined if lanes is None else (undefined != 0) & lanes).any():
                undefined_decides(lane_set, undefined, origin, site, f"the mask `{members.name}`")
        if mask.ndim == 0 and int(mask) == EVERY:
            return mask
        outside = (mask >> LANES & np.uint32(1)) == 0
        lanes = executing(lane_set, guard)
        wrong = np.broadcast_to(outside, (lane_set.n, WARP)) if lanes is None else outside & lanes
        if wrong.any():
            row, lane = lane_set.first(wrong)
            value = int(np.broadcast_to(mask, (lane_set.n, WARP))[row, lane])
            message = f"lane {lane} executes `{site.instruction.spelling}` and is not in its mask"
            raise fault("P620", message, site, (f"{lane_set.thread(row, lane)}, member mask {value:#010x}",))
        if mask.ndim and mask.shape[1] != 1:
            _check_agreement(lane_set, taking_part(lane_set, guard), mask, site)
        return mask

    return checked


def _check_agreement(lane_set: LaneSet, lanes: np.ndarray | None, mask: Any, site: Site) -> None:
    """Lanes that name each other must have the same member mask."""
    wide = np.broadcast_to(mask, (lane_set.n, WARP))
    on = np.ones(wide.shape, bool) if lanes is None else lanes
    lead = wide[np.arange(lane_set.n), np.argmax(on, axis=1)][:, None]
    rows = np.flatnonzero(((wide != lead) & on).any(axis=1))
    if not len(rows):
        return
    some, there = wide[rows], on[rows]
    named = unpacked_all(some) & there[:, :, None] & there[:, None, :]
    wrong = named & (some[:, :, None] != some[:, None, :])
    if wrong.any():
        at, lane, other = (int(i[0]) for i in np.nonzero(wrong))
        row = int(rows[at])
        notes = [
            f"{lane_set.thread(row, lane)} has {int(some[at, lane]):#010x}, which names lane {other}",
            f"{lane_set.thread(row, other)} has {int(some[at, other]):#010x}",
        ]
        message = f"lanes of one `{site.instruction.spelling}` have different member masks"
        raise fault("P621", message, site, notes)
