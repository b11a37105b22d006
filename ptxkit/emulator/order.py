"""Happens-before: the numbers of accesses, and up to which each warp has seen those of the others.

Numbers grow as the machine runs; every access that is sought for races, and every event that orders
accesses, has one. What a warp has seen of its own CTA's warps is kept warp by warp; what it has seen of other
CTAs is one number, so an order that goes through memory is taken to cover everything before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.ledger import Ledger
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group

LAST_NUMBER = (1 << 28) - 1


class Events:
    """The numbers of accesses and ordering events of a device, and the instruction behind each number."""

    def __init__(self) -> None:
        self.first = 1
        self._sites: list[Site | None] = [None]

    @property
    def now(self) -> int:
        """The number that the next event will have."""
        return self.first + len(self._sites) - 1

    def take(self, site: Site | None = None) -> int:
        """The number of a new event."""
        self._sites.append(site)
        return self.now - 1

    def site(self, number: int) -> Site | None:
        """The instruction behind a number of this launch."""
        at = number - self.first + 1
        return self._sites[at] if 0 < at < len(self._sites) else None

    def start(self) -> bool:
        """Begin a launch: everything before it is ordered before it.

        Returns:
            Whether numbers begin anew, so that all ledgers must be forgotten.
        """
        self.first = self.now
        self._sites = [None]
        if self.first > LAST_NUMBER // 2:
            self.first = 1
            return True
        return False


class Order:
    """What each warp of a gang has seen.

    Attributes:
        seen: int64 (rows, warps of a CTA): accesses of that warp of the own CTA with smaller numbers happen
            before what the row does now.
        acquired: int64 (rows,), the same for all other CTAs.
        fenced: int64 (rows,), up to which number a relaxed write publishes: the last fence.
        pending: int64 (rows,), what relaxed reads have found published: a fence will acquire it, and strong
            accesses come after it.
    """

    def __init__(self, gang: Gang, start: int) -> None:
        self.gang = gang
        self.seen = np.full((gang.rows, gang.warps), start, np.int64)
        self.acquired = np.full(gang.rows, start, np.int64)
        self.fenced = np.zeros(gang.rows, np.int64)
        self.pending = np.zeros(gang.rows, np.int64)
        self._limit: Any = None

    def limit(self, group: Group, private: bool) -> Any:
        """The least number that a row may not have seen: a scalar where all rows agree, else a column.

        Args:
            group: whose rows.
            private: whether only accesses of the own CTA count.
        """
        if self._limit is None:
            own = self.seen.min(axis=1)
            self._limit = tuple(_column(limits) for limits in (own, np.minimum(own, self.acquired)))
        limit = self._limit[0 if private else 1]
        return limit[group.rows] if limit.ndim and group.rows is not None else limit

    # ---- what orders

    def barrier(self, rows: Any, number: int) -> None:
        """Whole CTAs meet: `rows` are all their rows, a slice or a bool array."""
        self.seen[rows] = number
        by_cta = (-1, self.gang.warps)
        for values in (self.acquired, self.fenced, self.pending):
            values[rows] = np.repeat(values[rows].reshape(by_cta).max(axis=1), self.gang.warps)
        self._limit = None

    def meet(self, arrived: np.ndarray, waiting: np.ndarray, covered: np.ndarray) -> None:
        """Some warps of a CTA meet.

        Args:
            arrived: rows that take part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
        """
        columns = arrived % self.gang.warps
        best = self.seen[arrived].max(axis=0)
        best[columns] = np.maximum(best[columns], covered)
        self.seen[waiting] = np.maximum(self.seen[waiting], best)
        for values in (self.acquired, self.fenced):
            values[waiting] = np.maximum(values[waiting], values[arrived].max())
        self._limit = None

    def warp_sync(self, group: Group, number: int) -> None:
        """The lanes of each of the group's warps meet."""
        rows, _ = group.occupied()
        self.seen[rows, rows % self.gang.warps] = number
        self._limit = None

    def fence(self, group: Group, number: int) -> None:
        """A fence publishes what came before it, and acquires what relaxed reads have found."""
        rows, _ = group.occupied()
        self.fenced[rows] = number
        self._acquire(rows, self.pending[rows])

    def _acquire(self, rows: Any, numbers: np.ndarray) -> None:
        self.seen[rows] = np.maximum(self.seen[rows], numbers[:, None])
        self.acquired[rows] = np.maximum(self.acquired[rows], numbers)
        self._limit = None

    def synchronise(self, access: Access, ledger: Ledger, number: int, acquires: str, releases: str) -> None:
        """A strong access passes an order on through memory.

        Args:
            access: what is accessed.
            ledger: of that memory.
            number: of the access.
            acquires, releases: `yes`, `fence` (only together with one), or `no`.
        """
        group = access.group
        shape = (group.n, WARP)
        index = np.broadcast_to(np.asarray(access.index), shape)
        active = lanes_of(group, access.guard, shape)
        row, lane = np.nonzero(np.ones(shape, bool) if active is None else active)
        places = ledger.granules(index[row, lane])
        rows = row if group.rows is None else group.rows[row]
        published = ledger.release_numbers()
        found = published[places]
        if releases != "no":
            own = np.full(len(rows), number) if releases == "yes" else self.fenced[rows]
            np.maximum.at(published, places, own)
            if acquires != "no" and len(np.unique(places)) < len(places):
                found = published[places]
        if acquires == "no":
            return
        best = np.zeros(self.gang.rows, np.int64)
        np.maximum.at(best, rows, found)
        self.pending = np.maximum(self.pending, best)
        if acquires == "yes":
            self._acquire(slice(None), best)


def _column(numbers: np.ndarray) -> Any:
    return numbers[0] if (numbers == numbers[0]).all() else numbers.reshape(-1, 1)
