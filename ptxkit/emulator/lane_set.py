"""Lane sets: the lanes of a batch that stand at one instruction, their registers, and their schedule.

A lane set owns its registers: a list of values that broadcast against (rows, 32), where a row is a warp.
Values are never written in place, so lane sets that parted share what neither has changed since. A lane that
is not the set's (`mask`) may hold anything in the set's registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, ThreadIndex
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.special import value_of
from ptxkit.emulator.values import WARP, any_lane

POLL = 512
"""How many turns of a loop a look at memory that others may change counts for."""

Undefined = dict[int, tuple[Any, int]]
"""By slot: the undefined bits of a register, as an array of its raw dtype, and their origin."""

Trail = tuple[tuple[int, int, int], ...]
"""The return addresses of a set, innermost last: the caller's number, the block, where local variables
begin. Only lane sets with the same trail can merge."""


Step = Callable[["LaneSet"], Any]
"""Runs an instruction for a lane set; a true result says that undefined bits came into a register."""
SyncPoint = Callable[["LaneSet"], "LaneSet | None"]
"""Lets a lane set at a block's start through: the lanes that may go on, or None. What it keeps back is
blocked there."""
End = Callable[["LaneSet"], int]
"""Ends a block: the number of the block that the set goes on with, or -1 where it has parted or is gone."""


class BlockToRun(Protocol):
    """What lane sets and their schedule ask of a block; see `ptxkit.emulator.code.Block`."""

    number: int
    sites: list[Site]
    live: tuple[int, ...]
    count: int

    @property
    def sync_point(self) -> SyncPoint | None: ...

    @property
    def end(self) -> End: ...

    def forget_dead(self, undefined: Undefined) -> None: ...


class CodeToRun(Protocol):
    """What they ask of a function; see `ptxkit.emulator.code.Code`."""

    name: str
    number: int
    names: list[str]
    widths: list[int]
    blank: list[Any]
    defined: list[Any]
    wide: frozenset[int]

    @property
    def blocks(self) -> Sequence[BlockToRun]: ...

    @property
    def returns(self) -> Sequence[Any]: ...


@dataclass(slots=True)
class Frame:
    """A caller that waits for its callee to return."""

    code: CodeToRun
    pc: int
    regs: list[Any]
    undefined: Undefined
    local: int
    top: int
    results: Any


@dataclass(slots=True, eq=False)
class LaneSet:
    """Lanes of a batch at one block.

    Attributes:
        schedule, launch: of the batch.
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

    schedule: LaneSchedule
    code: CodeToRun
    pc: int
    rows: np.ndarray | None
    mask: np.ndarray | None
    size: int
    regs: list[Any]
    undefined: Undefined
    frames: tuple[Frame, ...] = ()
    trail: Trail = ()
    local: int = 0
    top: int = 0
    passed: bool = False
    result: Any = None
    joint: Any = None
    polled: Site | None = None
    spins: int = 0
    kept: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    n: int = field(init=False)
    batch: CtaBatch = field(init=False)
    launch: LaunchState = field(init=False)
    _special: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.batch = batch = self.schedule.batch
        self.launch = batch.launch
        self.n = batch.rows if self.rows is None else len(self.rows)

    # ---- what the lanes are

    def special(self, name: str) -> Any:
        """A value of the batch (a special register, a row's CTA) for the set's rows."""
        try:
            return self._special[name]
        except KeyError:
            value = value_of(self.batch, name)
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

    def thread(self, row: int, lane: int) -> ThreadIndex:
        """The thread at a row and lane of the lane set."""
        return self.batch.thread(row if self.rows is None else int(self.rows[row]), lane)

    # ---- parting and merging

    def full_mask(self) -> np.ndarray:
        """The mask, also where it is None."""
        return np.ones((self.n, WARP), bool) if self.mask is None else self.mask

    def occupied_rows(self) -> np.ndarray:
        """The batch's rows in which the lane set has lanes."""
        rows = np.arange(self.batch.rows) if self.rows is None else self.rows
        return rows if self.mask is None else rows[any_lane(self.mask)]

    def occupied(self) -> tuple[np.ndarray, np.ndarray]:
        """The same rows, and the lane set's lanes in each."""
        if self.mask is None:
            return self.occupied_rows(), np.broadcast_to(np.True_, (self.n, WARP))
        some = any_lane(self.mask)
        return np.flatnonzero(some) if self.rows is None else self.rows[some], self.mask[some]

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
        on = mask[:, 0] if mask.shape[1] == 1 else any_lane(mask)
        rows = int(np.count_nonzero(on))
        if 2 * rows <= self.n:
            return self._gathered(np.flatnonzero(on), mask, size, pc)
        if size == self.n * WARP:
            shared = None
        else:
            shared = np.repeat(mask, WARP, axis=1) if mask.shape[1] == 1 else mask
        child = LaneSet(
            self.schedule, self.code, pc, self.rows, shared, size, list(self.regs), dict(self.undefined)
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
        child = LaneSet(self.schedule, self.code, pc, rows, own, size, regs, undefined)
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
    code: CodeToRun, live: Iterable[int], regs: list[Any], undefined: Undefined, at: np.ndarray, n: int
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


# ---- whose turn it is


class Blocking(Protocol):
    """An object at which lane sets are blocked until others come; see `ptxkit.emulator.sync_points`."""

    @property
    def code(self) -> str:
        """What a deadlock at it is called."""

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes that others waited for have exited or moved."""

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a blocked lane set waits for, and why it can't come."""


@dataclass(slots=True, eq=False)
class Blocked:
    """A lane set at a synchronisation point.

    Attributes:
        lane_set: the lane set; its `pc` is the block behind the synchronisation point.
        sync_point: the object that lets it through.
    """

    lane_set: LaneSet
    sync_point: Blocking


class LaneSchedule:
    """The lane sets of a batch: those that are ready, and those that wait at a synchronisation point.

    Attributes:
        ready: lane sets that can run.
        blocked: lane sets at a synchronisation point.
        budget: how many blocks they may run before another batch has its turn.
    """

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.ready: list[LaneSet] = []
        self.blocked: list[Blocked] = []
        self.budget = 0

    def block(self, lane_set: LaneSet, sync_point: Blocking) -> None:
        """Block a lane set at a synchronisation point."""
        self.blocked.append(Blocked(lane_set, sync_point))

    def take(self, sync_point: Blocking, choose: Callable[[LaneSet], bool] | None = None) -> list[LaneSet]:
        """Take what is blocked at a synchronisation point, all of it or some, out of `blocked`."""
        taken = [
            e.lane_set
            for e in self.blocked
            if e.sync_point is sync_point and (choose is None or choose(e.lane_set))
        ]
        self.blocked = [e for e in self.blocked if all(e.lane_set is not lane_set for lane_set in taken)]
        return taken

    def retry(self, sync_point: Blocking) -> None:
        """Those who are blocked at a synchronisation point try again."""
        self.ready += self.take(sync_point)

    def reconsider(self) -> None:
        """Ask every synchronisation point again: lanes that others waited for have exited or moved."""
        for sync_point in {id(entry.sync_point): entry.sync_point for entry in self.blocked}.values():
            sync_point.reconsider(self)

    def poll(self, lane_set: LaneSet, site: Site | None) -> None:
        """The lane set looks at memory that others may change: let those others have a turn before long."""
        lane_set.polled = site
        self.budget -= POLL
        lane_set.spins += POLL

    def retire(self, lane_set: LaneSet) -> None:
        """The set's lanes exit."""
        batch = self.batch
        rows = slice(None) if lane_set.rows is None else lane_set.rows
        if lane_set.mask is None:
            batch.alive[rows] = False
        else:
            batch.alive[rows] &= ~lane_set.mask
        batch.living -= lane_set.size
        for look in batch.at_exit:
            look(lane_set.occupied_rows())
        self.reconsider()
