"""Lane sets: the lanes of a batch that stand at one instruction, and their registers.

A lane set owns its registers: a list of values that broadcast against (rows, 32), where a row is a warp.
Values are never written in place, so lane sets that parted share what neither has changed since. A lane that
is not the set's (`mask`) may hold anything in the set's registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.faults import Site, Thread
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.code import Code
    from ptxkit.emulator.cta_batch import CtaBatch

Undefined = dict[int, tuple[Any, int]]
"""By slot: the undefined bits of a register, as an array of its raw dtype, and their origin."""

Trail = tuple[tuple[int, int, int], ...]
"""The return addresses of a set, innermost last: the caller's number, the block, where local variables
begin. Only lane sets with the same trail can merge."""


@dataclass(slots=True)
class Frame:
    """A caller that waits for its callee to return."""

    code: Code
    pc: int
    regs: list[Any]
    undefined: Undefined
    local: int
    top: int
    results: Any


class LaneSet:
    """Lanes of a batch at one block.

    Attributes:
        batch: the batch.
        code, pc: the function and the number of its block that comes next.
        rows: the batch's rows that the lane set has lanes in, ascending; None for all of them.
        n: how many rows.
        mask: bool of shape (n, 32), the set's lanes; None where every lane of its rows is the set's.
        size: how many lanes.
        regs: the value of each slot.
        undefined: the slots that have undefined bits.
        frames: the callers, outermost first.
        trail: their return addresses.
        local: where the running function's local variables begin.
        top: where its part of the stack ends, at the furthest of any lane.
        passed: whether the synchronisation point of the block at `pc` has let the lane set through.
        result: what that synchronisation point has for the block's first instruction: the counts of a
            `bar.red`.
        joint: what lanes in other places bring to that instruction; see `ptxkit.emulator.sync_points`.
        polled: the instruction by which the lane set last looked at memory that others may change.
        spins: how long the lane set has gone in loops while others waited.
    """

    __slots__ = (
        "_special",
        "batch",
        "code",
        "frames",
        "joint",
        "kept",
        "local",
        "mask",
        "n",
        "passed",
        "pc",
        "polled",
        "regs",
        "result",
        "rows",
        "size",
        "spins",
        "top",
        "trail",
        "undefined",
    )

    def __init__(
        self,
        batch: CtaBatch,
        code: Code,
        pc: int,
        rows: np.ndarray | None,
        mask: np.ndarray | None,
        size: int,
        regs: list[Any],
        undefined: Undefined,
    ) -> None:
        self.batch = batch
        self.code = code
        self.pc = pc
        self.rows = rows
        self.n = batch.rows if rows is None else len(rows)
        self.mask = mask
        self.size = size
        self.regs = regs
        self.undefined = undefined
        self.frames: tuple[Frame, ...] = ()
        self.trail: Trail = ()
        self.local = 0
        self.top = 0
        self.passed = False
        self.spins = 0
        self.result: Any = None
        self.joint: Any = None
        self.polled: Site | None = None
        self.kept: dict[int, tuple[Any, Any]] = {}
        self._special: dict[str, Any] = {}

    # ---- what the lanes are

    def special(self, name: str) -> Any:
        """A value of the batch (a special register, a row's CTA) for the set's rows."""
        try:
            return self._special[name]
        except KeyError:
            value = self.batch.value(name)
            if self.rows is not None:
                value = _rows_of(value, self.rows, self.batch.rows)
            self._special[name] = value
            return value

    def active(self, condition: Any = None) -> Any:
        """The set's lanes for which a condition holds: None for all of 32 lanes in every row.

        A condition that is the same for all lanes must be true.
        """
        if condition is None or condition.ndim == 0:
            return self.mask
        return condition if self.mask is None else condition & self.mask

    def count(self, condition: Any) -> int:
        """How many of the set's lanes a condition holds for."""
        if condition.ndim == 0:
            return self.size if condition else 0
        if self.mask is not None:
            return int(np.count_nonzero(condition & self.mask))
        spread = self.n * WARP // condition.size
        return int(np.count_nonzero(condition)) * spread

    def first(self, condition: Any) -> tuple[int, int]:
        """Row and lane of the first of the set's lanes for which a condition holds; one must."""
        where = np.broadcast_to(condition, (self.n, WARP))
        if self.mask is not None:
            where = where & self.mask
        row, lane = divmod(int(np.argmax(where)), WARP)
        return row, lane

    def thread(self, row: int, lane: int) -> Thread:
        """The thread at a row and lane of the lane set."""
        return self.batch.thread(row if self.rows is None else int(self.rows[row]), lane)

    # ---- parting and merging

    def full_mask(self) -> np.ndarray:
        """The mask, also where it is None."""
        return np.ones((self.n, WARP), bool) if self.mask is None else self.mask

    def occupied(self) -> tuple[np.ndarray, np.ndarray]:
        """The batch's rows in which the lane set has lanes, and its lanes in each."""
        rows = np.arange(self.batch.rows) if self.rows is None else self.rows
        if self.mask is None:
            return rows, np.ones((self.n, WARP), bool)
        some = self.mask.any(axis=1)
        return rows[some], self.mask[some]

    def in_batch(self) -> np.ndarray:
        """The set's lanes as bool (rows of the batch, 32)."""
        if self.rows is None:
            return self.full_mask()
        lanes = np.zeros((self.batch.rows, WARP), bool)
        lanes[self.rows] = self.full_mask()
        return lanes

    def part(self, mask: np.ndarray, size: int, pc: int) -> LaneSet:
        """The lane set of some of this set's lanes, at another block of the same function.

        Args:
            mask: bool, of a shape that broadcasts to (n, 32); some of the set's own lanes.
            size: how many they are, at least one.
            pc: the block.
        """
        if mask.shape[0] != self.n:
            mask = np.broadcast_to(mask, (self.n, mask.shape[1]))
        on = mask[:, 0] if mask.shape[1] == 1 else mask.any(axis=1)
        rows = int(np.count_nonzero(on))
        if 2 * rows <= self.n:
            return self._gathered(np.flatnonzero(on), mask, size, pc)
        if size == self.n * WARP:
            shared = None
        else:
            shared = np.repeat(mask, WARP, axis=1) if mask.shape[1] == 1 else mask
        child = LaneSet(
            self.batch, self.code, pc, self.rows, shared, size, list(self.regs), dict(self.undefined)
        )
        child._inherit(self, self.frames)
        child._special = self._special
        child.kept = self.kept
        return child

    def _gathered(self, at: np.ndarray, mask: np.ndarray, size: int, pc: int) -> LaneSet:
        live = self.code.blocks[pc].live
        regs, undefined = _take(self.code, live, self.regs, self.undefined, at, self.n)
        own = None
        if size < len(at) * WARP:
            own = mask[at] if mask.shape[1] == WARP else np.repeat(mask[at], WARP, axis=1)
        rows = at if self.rows is None else self.rows[at]
        child = LaneSet(self.batch, self.code, pc, rows, own, size, regs, undefined)
        frames = []
        for frame in self.frames:
            values, masks = _take(
                frame.code, frame.code.blocks[frame.pc].live, frame.regs, frame.undefined, at, self.n
            )
            frames.append(Frame(frame.code, frame.pc, values, masks, frame.local, frame.top, frame.results))
        child._inherit(self, tuple(frames))
        child.kept = {
            slot: (self.regs[slot], regs[slot]) for slot in live if regs[slot] is not self.regs[slot]
        }
        return child

    def _inherit(self, parent: LaneSet, frames: tuple[Frame, ...]) -> None:
        self.frames = frames
        self.trail = parent.trail
        self.local = parent.local
        self.top = parent.top
        self.spins = parent.spins
        self.polled = parent.polled


def _rows_of(value: Any, at: np.ndarray, n: int) -> Any:
    """Some rows of a value; a value that is the same for all rows as it is."""
    return value.take(at, axis=0) if n > 1 and value.ndim > 1 and value.shape[0] == n else value


def _take(
    code: Code, live: Iterable[int], regs: list[Any], undefined: Undefined, at: np.ndarray, n: int
) -> tuple[list[Any], Undefined]:
    """The live registers of some rows. What isn't live is left out."""
    taken = list(code.blank)
    masks: Undefined = {}
    for slot in live:
        taken[slot] = _rows_of(regs[slot], at, n)
        if slot in undefined:
            mask, origin = undefined[slot]
            masks[slot] = (_rows_of(mask, at, n), origin)
    return taken, masks


def merge(groups: Sequence[LaneSet]) -> LaneSet:
    """One lane set of the lanes of several at the same block with the same trail."""
    ordered = sorted(groups, key=lambda lane_set: -lane_set.n)
    merged = ordered[0]
    for other in ordered[1:]:
        merged = _merge_two(merged, other)
    return merged


@dataclass(slots=True)
class _Side:
    """One of two lane sets that merge: where its rows stand in the merged one (None: the same), its lanes."""

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
        rows = np.union1d(a.rows, b.rows)
        at_a = None if len(rows) == a.n else np.searchsorted(rows, a.rows)
        at_b = None if len(rows) == b.n else np.searchsorted(rows, b.rows)
        if len(rows) == batch.rows:
            rows = None
    n = batch.rows if rows is None else len(rows)
    sides = _Side(at_a, a.mask), _Side(at_b, b.mask)
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
    merged = LaneSet(batch, a.code, a.pc, rows, mask, size, regs, undefined)
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
    code: Code,
    live: Iterable[int],
    n: int,
    sides: tuple[_Side, _Side],
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


def _join_value(one: Any, other: Any, n: int, sides: tuple[_Side, _Side], wide: bool) -> Any:
    if other.dtype is not one.dtype:
        other = other.view(one.dtype)
    if one.ndim == 0 and other.ndim == 0 and one.tobytes() == other.tobytes():
        return one
    whole_rows = sides[0].mask is None and sides[1].mask is None
    width = WARP
    if whole_rows and not wide and all(v.ndim == 0 or v.shape[1] == 1 for v in (one, other)):
        width = 1
    joined = np.zeros((n, width, 2) if wide else (n, width), one.dtype)
    for value, side in ((one, sides[0]), (other, sides[1])):
        mask = side.mask if side.mask is None or not wide else side.mask[..., None]
        if side.at is None:
            np.copyto(joined, value, where=True if mask is None else mask)
        elif mask is None:
            joined[side.at] = value
        else:
            part = joined[side.at]
            np.copyto(part, value, where=mask)
            joined[side.at] = part
    return joined
