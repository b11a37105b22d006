"""One asynchronous operation: what an instruction started for the lanes of a group, and what it signals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.faults import Site
from ptxkit.emulator.sync_points import executing, packed
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.asynchronous.groups import Groups
    from ptxkit.emulator.cta_batch import CtaBatch
    from ptxkit.emulator.group import Group


@dataclass(frozen=True, slots=True, eq=False)
class Issuers:
    """The threads of a group that execute an instruction, one after the other.

    Attributes:
        group: the group.
        at: their places in the group's (n, 32) values: row and lane.
        rows: their rows of the batch.
        lanes_each: for how many lanes of its warp each stands; None where each stands for itself.
    """

    group: Group
    at: tuple[np.ndarray, np.ndarray]
    rows: np.ndarray
    lanes_each: np.ndarray | None = None

    @classmethod
    def of(cls, group: Group, guard: Any) -> Issuers:
        """The group's lanes for which a guard holds."""
        lanes = executing(group, guard)
        at = np.nonzero(np.ones((group.n, WARP), bool) if lanes is None else lanes)
        return cls(group, (at[0], at[1]), at[0] if group.rows is None else group.rows[at[0]])

    @classmethod
    def by_warp(cls, group: Group, guard: Any, *operands: Any) -> Issuers:
        """The same, but of each warp only the first lane, where all its lanes have the same operands."""
        if any(np.ndim(operand) and np.shape(operand)[1] > 1 for operand in operands):
            return cls.of(group, guard)
        lanes = executing(group, guard)
        if lanes is None:
            row = np.arange(group.n)
            lane, counts = np.zeros(group.n, np.int64), np.full(group.n, WARP)
        else:
            counts = np.count_nonzero(lanes, axis=1)
            row = np.flatnonzero(counts)
            lane, counts = np.argmax(lanes[row], axis=1), counts[row]
        return cls(group, (row, lane), row if group.rows is None else group.rows[row], counts)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """A value of each as one of the group: (n, 32), or (n, 1) where they stand for whole warps."""
        whole = self.lanes_each is not None
        spread = np.zeros((self.group.n, 1 if whole else WARP), values.dtype)
        spread[self.at[0], 0 if whole else self.at[1]] = values
        return spread

    def masks(self, guard: Any) -> np.ndarray | None:
        """For each the lanes of its warp for which it stands, as a mask; None where all of every warp do."""
        lanes = executing(self.group, guard)
        if self.lanes_each is None:
            return np.uint32(1) << self.at[1].astype(np.uint32)
        return None if lanes is None else packed(np.ascontiguousarray(lanes))[self.at[0], 0]

    @property
    def lanes(self) -> np.ndarray:
        """The lane of each."""
        return self.at[1]

    @property
    def threads(self) -> np.ndarray:
        """The number of each in the batch."""
        return self.rows * WARP + self.lanes

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, value: Any) -> np.ndarray:
        """A value of the group for each of them: (count,)."""
        taken: np.ndarray = np.broadcast_to(value, (self.group.n, WARP))[self.at]
        return taken

    def some(self, chosen: np.ndarray) -> Issuers:
        """Some of them."""
        return Issuers(self.group, (self.at[0][chosen], self.at[1][chosen]), self.rows[chosen])

    def name(self, item: int) -> str:
        """`thread (3, 0, 0) of CTA (0, 0, 0)`."""
        return str(self.group.batch.thread(int(self.rows[item]), int(self.lanes[item])))


@dataclass(frozen=True, slots=True, eq=False)
class Transaction:
    """Each item subtracts its bytes from the tx-count of an mbarrier: complete_tx, PTX ISA 9.7.13.15.5.

    Attributes:
        slots: the mbarrier of each item.
        sizes: bytes of each.
    """

    slots: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """Each item arrives at an mbarrier with count 1.

    Attributes:
        slots: the mbarrier of each item.
        tells: whether the phase's completion tells that everything in `Operation.after` is done.
    """

    slots: np.ndarray
    tells: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Each item belongs to a group of its issuing thread, which waits for it there.

    Attributes:
        groups: of which kind.
        index: the number of the thread's group.
    """

    groups: Groups
    index: np.ndarray


Signal = Transaction | Arrival | Membership


def _nothing(data: Any = None) -> Any:
    return None


@dataclass(slots=True, eq=False)
class Operation:
    """What one instruction started; see the package's docstring.

    Attributes:
        site: the instruction.
        batch: where.
        rows, lanes: the issuing thread of each item.
        reads, writes: bytes that it touches.
        fetch: reads every source; what it returns goes to `deliver`, which writes every result.
        signal: what its completion does.
        proxy: `async` or `generic`.
        after: what must be done before it is.
        reduces: whether it combines with what is there, so that several may be in flight at once.
        warps: how many warps issue each item together, from its row on: 4 of a warpgroup.
        completion: int64 (count,), the number in `HappensBefore.completed` by which warps that have waited
            know of each item's completion; None where a wait tells the issuing thread alone, or an mbarrier
            tells.
        number: the event of its issue.
        fetched, delivered: how far it is.
        data: what was fetched.
        phases: for a `Transaction`, the phase that each item's bytes counted for; -1 before that.
        unread, unwritten: bool (count,), the items whose reads and writes nobody has seen completed.
    """

    site: Site
    batch: CtaBatch
    rows: np.ndarray
    lanes: np.ndarray
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    fetch: Callable[[], Any] = _nothing
    deliver: Callable[[Any], None] = _nothing
    signal: Signal | None = None
    proxy: str = "async"
    after: tuple[Operation, ...] = ()
    reduces: bool = False
    warps: int = 1
    completion: np.ndarray | None = None
    number: int = 0
    fetched: bool = False
    delivered: bool = False
    data: Any = None
    phases: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    unread: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    unwritten: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def count(self) -> int:
        """How many items it has."""
        return len(self.rows)

    @property
    def spelling(self) -> str:
        """The instruction's name with its modifiers."""
        return self.site.instruction.spelling

    def thread(self, item: int) -> str:
        """The issuing thread of an item, as messages call it."""
        return str(self.batch.thread(int(self.rows[item]), int(self.lanes[item])))
