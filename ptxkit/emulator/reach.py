"""What lanes reach in one bank of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

HELP = "look where the generic address comes from"


@dataclass(slots=True, eq=False)
class Reach:
    """What some lanes reach in one bank.

    Attributes:
        lane_set: whose lanes.
        bank: the bytes.
        index: a byte offset in the bank: an int, or an array that broadcasts against (rows, 32). Lanes that
            take no part have the index of one that does.
        guard: bool, which of the set's lanes take part; None for all.
        owner: the allocation, or the tiled bank; None where lanes hit several allocations.
        first, last: the range of offsets in a tile.
    """

    lane_set: LaneSet
    site: Site
    space: str
    bank: Bank
    index: Any
    guard: Any
    owner: Allocation | TiledBank | None
    first: int = 0
    last: int = 0

    @property
    def suspect(self) -> bool:
        """Whether some of the bytes may be undefined."""
        owner = self.owner
        if isinstance(owner, TiledBank):
            return owner.suspect(self.first, self.last)
        if isinstance(owner, Allocation):
            return owner.undefined
        return self.bank.shadow is not None

    @property
    def history(self) -> AccessHistory | None:
        """Where accesses to this memory are entered, if races are sought in it."""
        if self.space == "global":
            return self.owner.history if isinstance(self.owner, Allocation) else None
        return self.bank.history if self.space == "shared" and isinstance(self.bank, TiledBank) else None

    @property
    def history_of_write(self) -> AccessHistory | None:
        """The same for a write: races are sought in global memory from the first one on, if not before."""
        known, launch = self.history, self.lane_set.launch
        if known is not None or not launch.sanitize or not isinstance(self.owner, Allocation):
            return known
        return launch.seek_races(self.owner)

    def refuse(self, does: str, why: str) -> NoReturn:
        """Report that memory of this space can't be accessed so. Raises P602."""
        thread = self.lane_set.thread(*self.lane_set.first(np.True_ if self.guard is None else self.guard))
        spelling = self.site.instruction.spelling
        message = f"out of bounds: `{spelling}` {does} {self.space} memory, {why}"
        raise fault("P602", message, self.site, (f"{thread}",), HELP)

    def check_in_flight(self, size: int, writes: bool) -> None:
        """Hold the access against asynchronous operations in flight, and mbarrier objects."""
        batch = self.lane_set.batch
        if self.space in ("shared", "global") and (
            batch.queue.hazards.in_flight or len(batch.mbarriers.place)
        ):
            batch.queue.hazards.check(self, size, writes)

    def each(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The offsets, rows of the batch and lanes of it, for the lanes that take part."""
        lane_set = self.lane_set
        shape = (lane_set.n, WARP)
        index = np.broadcast_to(np.asarray(self.index), shape)
        active = lanes_of(lane_set, self.guard, shape)
        row, lane = np.nonzero(np.ones(shape, bool) if active is None else np.broadcast_to(active, shape))
        return index[row, lane], row if lane_set.rows is None else lane_set.rows[row], lane

    def broadcast(self, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
        """The index and the values brought to one shape, with the lanes of that shape that take part."""
        shapes = [value.shape[:-1] if value.ndim in (1, 3) else value.shape for value in values]
        shape = np.broadcast_shapes(np.shape(self.index), *shapes)
        if shape and (self.guard is not None or self.lane_set.mask is not None):
            shape = np.broadcast_shapes(shape, (self.lane_set.n, WARP))
        active = lanes_of(self.lane_set, self.guard, shape)
        if not shape:
            return self.index, values, active
        if active is not None and active.ndim:
            active = np.broadcast_to(active, shape)
        index = np.broadcast_to(np.asarray(self.index), shape)
        spread = tuple(
            np.broadcast_to(value, (*shape, 2) if value.ndim in (1, 3) else shape) for value in values
        )
        return index, spread, active

    @property
    def lanes(self) -> int:
        """How many of the set's lanes take part."""
        return self.lane_set.size if self.guard is None else self.lane_set.count(self.guard)
