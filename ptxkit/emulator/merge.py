"""Lane sets that meet at a block become one; at a synchronisation point they part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.lane_set import Blocking, CodeToRun, Frame, LaneSet, Undefined
from ptxkit.emulator.values import WARP, distinct


def join(lane_set: LaneSet, sync_point: Blocking) -> LaneSet:
    """A lane set that has come to a synchronisation point, merged with those that wait there at the same
    place."""
    blocked = lane_set.schedule.take(
        sync_point,
        lambda other: (
            other.pc == lane_set.pc and other.code is lane_set.code and other.trail == lane_set.trail
        ),
    )
    return merge([lane_set, *blocked]) if blocked else lane_set


def hold(lane_set: LaneSet, held: np.ndarray, sync_point: Blocking, result: Any = None) -> LaneSet | None:
    """Block some of a set's lanes at a synchronisation point.

    Args:
        held: bool (n, 32), the lanes; some of its own, or none.
        sync_point: where.
        result: what these lanes keep; see `LaneSet.result`.

    Returns:
        The other lanes; None where there are none.
    """
    count = int(np.count_nonzero(held))
    if not count:
        return lane_set
    rest = lane_set.size - count
    blocked = lane_set.part(held, count, lane_set.pc) if rest else lane_set
    if result is not None:
        blocked.result = result
    lane_set.schedule.block(blocked, sync_point)
    return lane_set.part(lane_set.full_mask() & ~held, rest, lane_set.pc) if rest else None


def merge(lane_sets: Sequence[LaneSet]) -> LaneSet:
    """One lane set of the lanes of several at the same block with the same trail."""
    ordered = sorted(lane_sets, key=lambda lane_set: -lane_set.n)
    merged = ordered[0]
    for other in ordered[1:]:
        merged = _merge_two(merged, other)
    return merged


@dataclass(slots=True)
class _MergeSide:
    """One of two lane sets that merge: where its rows stand in the merged one (None: the same), its lanes.

    The first alone can have the same rows while the second has not, since it has the most.
    """

    at: np.ndarray | None
    mask: np.ndarray | None


def _merge_two(a: LaneSet, b: LaneSet) -> LaneSet:
    batch = a.batch
    rows: np.ndarray | None
    at_a: np.ndarray | None = None
    at_b: np.ndarray | None = None
    if a.rows is b.rows:
        rows = a.rows
    elif a.rows is None:
        rows, at_b = None, b.rows
    else:
        assert b.rows is not None
        rows = distinct(np.concatenate([a.rows, b.rows]))
        at_a = None if len(rows) == a.n else np.searchsorted(rows, a.rows)
        at_b = None if len(rows) == b.n else np.searchsorted(rows, b.rows)
        if len(rows) == batch.rows:
            rows = None
    n = batch.rows if rows is None else len(rows)
    sides = _MergeSide(at_a, a.mask), _MergeSide(at_b, b.mask)
    size = a.size + b.size
    mask = None
    if size < n * WARP:
        mask = np.zeros((n, WARP), bool)
        for side, lane_set in zip(sides, (a, b), strict=True):
            if side.at is None:
                mask |= lane_set.full_mask()
            else:
                mask[side.at] |= lane_set.full_mask()
    live = a.code.blocks[a.pc].live
    regs, undefined = _join(a.code, live, n, sides, (a.regs, b.regs), (a.undefined, b.undefined), b.kept)
    merged = LaneSet(a.schedule, a.code, a.pc, rows, mask, size, regs, undefined)
    frames = []
    for fa, fb in zip(a.frames, b.frames, strict=True):
        values, masks = _join(
            fa.code,
            fa.code.blocks[fa.pc].live,
            n,
            sides,
            (fa.regs, fb.regs),
            (fa.undefined, fb.undefined),
            {},
        )
        frames.append(Frame(fa.code, fa.pc, values, masks, fa.local, max(fa.top, fb.top), fa.results))
    merged._inherit(a, tuple(frames))
    merged.top = max(a.top, b.top)
    merged.spins = min(a.spins, b.spins)
    if rows is a.rows and at_a is None:
        merged._special = a._special
        merged.kept = a.kept
    return merged


def _join(
    code: CodeToRun,
    live: Iterable[int],
    n: int,
    sides: tuple[_MergeSide, _MergeSide],
    regs: tuple[list[Any], list[Any]],
    undefined: tuple[Undefined, Undefined],
    kept: dict[int, tuple[Any, Any]],
) -> tuple[list[Any], Undefined]:
    joined = list(code.blank)
    masks: Undefined = {}
    for slot in live:
        one, other = regs[0][slot], regs[1][slot]
        before = kept.get(slot)
        same_rows = sides[0].at is None and sides[1].at is None
        gathered = before is not None and before[0] is one and before[1] is other and sides[0].at is None
        if gathered or (one is other and (same_rows or one.ndim == 0)):
            joined[slot] = one
        else:
            joined[slot] = _join_value(one, other, n, sides, slot in code.wide)
        if slot in undefined[0] or slot in undefined[1]:
            none = code.defined[slot]
            (mask, origin), (mask2, origin2) = (part.get(slot, (none, 0)) for part in undefined)
            both = _join_value(mask, mask2, n, sides, slot in code.wide)
            if both.any():
                masks[slot] = (both, origin or origin2)
    return joined, masks


def _join_value(one: Any, other: Any, n: int, sides: tuple[_MergeSide, _MergeSide], wide: bool) -> Any:
    if other.dtype is not one.dtype:
        other = other.view(one.dtype)
    if one.ndim == 0 and other.ndim == 0 and one.tobytes() == other.tobytes():
        return one
    whole_rows = sides[0].mask is None and sides[1].mask is None
    width = WARP
    if whole_rows and not wide and all(v.ndim == 0 or v.shape[1] == 1 for v in (one, other)):
        width = 1
    (at, mask), (at2, mask2) = ((side.at, side.mask) for side in sides)
    if wide:
        mask, mask2 = (part if part is None else part[..., None] for part in (mask, mask2))
    if at is None and at2 is None and mask is not None:
        return np.where(mask, one, other)
    joined = np.zeros((n, width, 2) if wide else (n, width), one.dtype)
    for value, rows, lanes in ((one, at, mask), (other, at2, mask2)):
        if rows is None:
            joined[...] = value
        elif lanes is None:
            joined[rows] = value
        else:
            joined[rows] = np.where(lanes, value, joined[rows])
    return joined
