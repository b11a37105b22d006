"""Warp-synchronous instructions as synchronisation points: lanes wait for their mask. PTX ISA 9.7.13."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold, join
from ptxkit.emulator.operands import SourceOperand, undefined_decides
from ptxkit.emulator.values import WARP


def packed(lanes: np.ndarray) -> np.ndarray:
    """Rows of 32 lanes, however they lie in memory, as a column of `uint32`, lane 0 lowest."""
    return np.packbits(np.ascontiguousarray(lanes), axis=-1, bitorder="little").view(np.uint32)


def unpacked(words: Any) -> np.ndarray:
    """Words as rows of 32 lanes."""
    flat = np.ascontiguousarray(np.atleast_1d(words), np.uint32).reshape(-1, 1)
    return np.unpackbits(flat.view(np.uint8), axis=1, bitorder="little").view(bool)


def executing(lane_set: LaneSet, guard: Any) -> np.ndarray | None:
    """The lanes of a set that a guard holds for, as (n, 32); None for all of its rows' lanes."""
    if guard is None or guard.ndim == 0:
        return lane_set.mask
    lanes = np.broadcast_to(guard, (lane_set.n, WARP))
    return lanes if lane_set.mask is None else lanes & lane_set.mask


def executing_rows(lane_set: LaneSet, guard: Any) -> np.ndarray:
    """The rows of the batch in which a set's lanes execute an instruction."""
    lanes = executing(lane_set, guard)
    rows = np.arange(lane_set.batch.rows) if lane_set.rows is None else lane_set.rows
    return rows if lanes is None else rows[lanes.any(axis=1)]


def check_defined(lane_set: LaneSet, guard: Any, source: SourceOperand, site: Site) -> None:
    """An operand decides what the machine does: it must be defined in the lanes that a guard holds for.
    Raises P605."""
    entry = source.undefined(lane_set) if lane_set.undefined else None
    if entry is None:
        return
    lanes = executing(lane_set, guard)
    some = entry[0] != 0 if lanes is None else (entry[0] != 0) & lanes
    if some.any():
        undefined_decides(lane_set, some, entry[1], site, f"the operand `{source.name}`")


class WarpSyncPoint:
    """Lets a lane of a warp-synchronous instruction through when all lanes of its member mask have come.

    Args:
        members: the member mask; None for all lanes of the warp.
        guard: the instruction's guard. Lanes that it switches off pass.
        exchanged: the operand whose value lanes see of one another, if there is one.

    Attributes:
        mask: the member mask, as an operand.
        exchanges: whether all lanes that come see a value of one another.
    """

    code = "P622"

    def __init__(
        self,
        site: Site,
        members: SourceOperand | None,
        guard: SourceOperand | None,
        exchanged: SourceOperand | None = None,
    ) -> None:
        self.site = site
        self.exchanged = exchanged
        self.mask = members
        self.members = members.reader if members is not None else None
        self.guard = guard.reader if guard is not None else None
        self.exchanges = exchanged is not None and guard is None

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        if self.guard is None and (lane_set.mask is None or lane_set.size == lane_set.batch.living):
            return self._passed(lane_set)
        if lane_set.schedule.blocked:
            lane_set = join(lane_set, self)
        held = self._held(lane_set)
        going = lane_set if held is None else hold(lane_set, held, self)
        return self._passed(going) if going is not None else None

    def _passed(self, lane_set: LaneSet) -> LaneSet:
        """A lane set of all lanes of its warps goes on."""
        if self.exchanges and (self.named(lane_set) == 0xFFFF_FFFF).all():
            rows = lane_set.rows if lane_set.mask is None else lane_set.occupied_rows()
            lane_set.batch.happens_before.exchange(rows)
        return lane_set

    def _held(self, lane_set: LaneSet) -> np.ndarray | None:
        """The lanes that have to wait; None for none."""
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0 and not guard:
            return None
        present = executing(lane_set, guard)
        if present is None:
            return None
        alive = lane_set.batch.alive if lane_set.rows is None else lane_set.batch.alive[lane_set.rows]
        missing = self.named(lane_set) & packed(alive) & ~packed(present)
        if not missing.any():
            return None
        return present & np.broadcast_to(missing != 0, present.shape)

    def named(self, lane_set: LaneSet) -> Any:
        """The member mask of each lane."""
        return np.uint32(0xFFFF_FFFF) if self.members is None else self.members(lane_set)

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited: whoever waited for them tries again."""
        schedule.retry(self)

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        at = row if lane_set.rows is None else int(np.searchsorted(lane_set.rows, row))
        mask = lane_set.full_mask()[at]
        named = np.broadcast_to(self.named(lane_set), (lane_set.n, WARP))[at][mask]
        wanted = int(np.bitwise_or.reduce(named))
        alive = int(packed(lane_set.batch.alive[row])[0])
        missing = wanted & alive & ~int(packed(mask)[0])
        return (
            f"lanes {missing:#010x} of its member mask {wanted:#010x} at "
            f"`{self.site.instruction.spelling}`, which are elsewhere"
        )


# ---- lanes that execute the same instruction in different places


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """What lanes bring to a warp-synchronous instruction that they execute together in different places.

    Attributes:
        lanes: bool (rows of the batch, 32), the lanes that take part.
        values: the exchanged operand of each, of the same shape; None where there is none.
    """

    lanes: np.ndarray
    values: np.ndarray | None


def taking_part(lane_set: LaneSet, guard: Any) -> np.ndarray | None:
    """The lanes that execute an instruction together with the set's own; None for all."""
    if lane_set.joint is None:
        return executing(lane_set, guard)
    lanes: np.ndarray = lane_set.joint.lanes
    return lanes if lane_set.rows is None else lanes[lane_set.rows]


def exchanged(lane_set: LaneSet, own: Any) -> Any:
    """The value that each lane brings, for `taking_part`; `own` is what the set's registers hold."""
    if lane_set.joint is None or lane_set.joint.values is None:
        return own
    values = lane_set.joint.values
    return (values if lane_set.rows is None else values[lane_set.rows]).view(own.dtype)


def converge(schedule: LaneSchedule) -> bool:
    """Let through lanes that wait for one another at equal instructions in different places.

    On sm_70 and later the lanes of a member mask may execute the same `.sync` instruction, with the same
    qualifiers and mask, wherever it stands.

    Returns:
        Whether any lane can go on.
    """
    by_form: dict[Hashable, list[Any]] = {}
    for entry in schedule.blocked:
        if isinstance(entry.sync_point, WarpSyncPoint):
            by_form.setdefault(entry.sync_point.site.decoded.qualified, []).append(entry)
    moved = False
    for entries in by_form.values():
        if len(entries) > 1:
            moved |= _converge(schedule, entries)
    return moved


def _converge(schedule: LaneSchedule, entries: Sequence[Any]) -> bool:
    batch = schedule.batch
    shape = (batch.rows, WARP)
    lanes, members = np.zeros(shape, bool), np.zeros(shape, np.uint32)
    own = []
    for entry in entries:
        lane_set, sync_point = entry.lane_set, entry.sync_point
        rows = slice(None) if lane_set.rows is None else lane_set.rows
        here = executing(lane_set, sync_point.guard(lane_set) if sync_point.guard is not None else None)
        on = np.zeros(shape, bool)
        on[rows] = lane_set.full_mask() if here is None else here
        lanes |= on
        named = np.zeros(shape, np.uint32)
        named[rows] = sync_point.named(lane_set)
        members = np.where(on, named, members)
        own.append(on)
    missing = members & packed(batch.alive) & ~packed(lanes)
    same = unpacked_all(members)
    agree = ((members[:, :, None] == members[:, None, :]) | ~same | ~lanes[:, None, :]).all(axis=2)
    ready = lanes & (missing == 0) & agree
    if not ready.any():
        return False
    joint = Joint(ready, _bring(entries, own, shape))
    for entry, on in zip(entries, own, strict=True):
        lane_set = entry.lane_set
        mine = (on & ready) if lane_set.rows is None else (on & ready)[lane_set.rows]
        count = int(np.count_nonzero(mine))
        if not count:
            continue
        schedule.blocked.remove(entry)
        if count < lane_set.size:
            rest = lane_set.full_mask() & ~mine
            schedule.block(lane_set.part(rest, lane_set.size - count, lane_set.pc), entry.sync_point)
            lane_set = lane_set.part(mine, count, lane_set.pc)
        lane_set.passed, lane_set.joint = True, joint
        schedule.ready.append(lane_set)
    return True


def _bring(entries: Sequence[Any], own: Sequence[np.ndarray], shape: tuple[int, int]) -> np.ndarray | None:
    values: np.ndarray | None = None
    for entry, on in zip(entries, own, strict=True):
        source = entry.sync_point.exchanged
        if source is None:
            return None
        value = source.reader(entry.lane_set)
        if values is None:
            values = np.zeros(shape, value.dtype)
        spread = np.zeros(shape, value.dtype)
        spread[slice(None) if entry.lane_set.rows is None else entry.lane_set.rows] = value
        values = np.where(on, spread, values)
    return values


def unpacked_all(words: np.ndarray) -> np.ndarray:
    """For each lane the lanes that its word names: (n, 32) to (n, 32, 32)."""
    lanes: np.ndarray = (words[:, :, None] >> np.arange(WARP, dtype=np.uint32) & np.uint32(1)) != 0
    return lanes


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


def check_members(members: SourceOperand, site: Site) -> Callable[[LaneSet, Any], Any]:
    """A function that reads the member mask and sees to it that every executing lane is in it."""
    read = members.reader

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
