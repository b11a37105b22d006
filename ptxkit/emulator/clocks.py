"""Clocks beside those of warps: what mbarriers hand on, and what single lanes have acquired.

`VectorClocks` takes a warp for one party: what one of its lanes has acquired, all have. That is so from the
next `bar.warp.sync` or barrier on. Until then a lane that has not waited itself may run before the one that
has, though the two are converged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.values import WARP, distinct

SPACES = ("shared", "global")
"""The state spaces that a proxy fence may be for."""
HANDED_ON = ("clocks", "proxied", "acquired", "completed", "initialised")
"""What `HappensBefore` keeps of each row, and somebody who waits takes over."""


class ReleaseClocks:
    """The clocks that were released to each mbarrier of a batch: who waits for it acquires them.

    Args:
        further: what `HappensBefore` keeps of each row beside that, as int64 (rows,), and is handed on.

    Attributes:
        handed_on: the names of all that is.
        clocks, proxied: int64 (slots, warps of a cluster) and (slots, 2, warps), as in `HappensBefore`.
        acquired: int64 (slots,).
        completed: int64 (slots, CTAs of a cluster, local numbers).
        initialised: int64 (slots,).
    """

    def __init__(
        self, slots: int, width: int, ctas: int, locals_: int, further: tuple[str, ...] = ()
    ) -> None:
        self.further = further
        self.handed_on = HANDED_ON + further
        for name in further:
            setattr(self, name, np.zeros(slots, np.int64))
        self.clocks = np.zeros((slots, width), np.int64)
        self.proxied = np.zeros((slots, len(SPACES), width), np.int64)
        self.acquired = np.zeros(slots, np.int64)
        self.initialised = np.zeros(slots, np.int64)
        self.completed = np.zeros((slots, ctas, locals_), np.int64)

    def copy_from(self, other: ReleaseClocks, slots: Any) -> None:
        """Take over what another one has for some slots."""
        for name in self.handed_on:
            getattr(self, name)[slots] = getattr(other, name)[slots]

    def grown(self, slots: int, locals_: int) -> ReleaseClocks:
        """The same with room for more."""
        count, width = self.clocks.shape
        if (slots, locals_) == (count, self.completed.shape[2]):
            return self
        larger = ReleaseClocks(slots, width, self.completed.shape[1], locals_, self.further)
        for name in self.handed_on:
            mine = getattr(self, name)
            getattr(larger, name)[tuple(slice(extent) for extent in mine.shape)] = mine
        return larger


EVERY = 0xFFFF_FFFF
LANE_APART = (
    "WARP-SYNC-ASSUMED: another lane of its warp has waited for that, and no `bar.warp.sync` lies between"
)
MEET_FIRST = "put `bar.warp.sync` behind the wait: lanes of a warp need not run in step"


class MbarrierSlots(Protocol):
    """What clocks ask of mbarriers, by slot; see `ptxkit.emulator.asynchronous.objects.Objects`."""

    place: np.ndarray
    phase: np.ndarray
    local: np.ndarray
    turned: np.ndarray
    succeeded: np.ndarray

    def cta_of(self, slots: np.ndarray) -> np.ndarray:
        """The CTA of the batch in whose shared memory each object lies."""


class RowClocks(Protocol):
    """The clocks of whole rows, as `VectorClocks` has them."""

    batch: Ctas
    slots: MbarrierSlots
    clocks: np.ndarray
    completed: np.ndarray
    acquired: np.ndarray
    phases: np.ndarray
    column: np.ndarray


@dataclass(slots=True, eq=False)
class LaneClocks:
    """What some lanes have acquired, as `VectorClocks` has it of a row.

    Attributes:
        clocks: int64 (warps of a cluster,).
        completed: int64 (CTAs of a cluster, local numbers).
        acquired: for all CTAs outside the cluster.
    """

    clocks: np.ndarray
    completed: np.ndarray
    acquired: int

    def join(self, clocks: np.ndarray, completed: np.ndarray, acquired: int) -> None:
        """Acquire what somebody else has, too."""
        self.clocks = np.maximum(self.clocks, clocks)
        width = max(self.completed.shape[1], completed.shape[1])
        self.completed = np.maximum(_wide(self.completed, width), _wide(completed, width))
        self.acquired = max(self.acquired, acquired)


@dataclass(frozen=True, slots=True)
class Waited:
    """A successful wait for an mbarrier.

    Attributes:
        mask: the lanes that waited.
        count: how many phases of it they know to be complete.
    """

    mask: int
    count: int
    number: int


@dataclass(slots=True, eq=False)
class PartedWarp:
    """A warp of which a part of the lanes has waited alone.

    Attributes:
        common: what all its lanes have acquired.
        own: by set of lanes, a mask, what these have acquired besides.
        waits: by mbarrier the waits for it, the first of them for what all lanes had seen before.
    """

    common: LaneClocks
    own: dict[int, LaneClocks] = field(default_factory=dict)
    waits: dict[int, list[Waited]] = field(default_factory=dict)

    def of(self, lane: int) -> LaneClocks:
        """What a lane has acquired."""
        known = LaneClocks(self.common.clocks, self.common.completed, self.common.acquired)
        for mask, more in self.own.items():
            if mask >> lane & 1:
                known.join(more.clocks, more.completed, more.acquired)
        return known

    def wait(self, slot: int, latest: Waited, before: int, column: int) -> tuple[int, Waited] | None:
        """Lanes have waited for a phase by its parity.

        They must know that the phase before it was complete, or they may take an older one for it.

        Returns:
            A lane that does not know, and the wait of another lane that does; None where all is well.
        """
        waits = self.waits.get(slot)
        if waits is None or waits[-1].count > latest.count:
            waits = self.waits[slot] = [Waited(EVERY, before if before <= latest.count else 0, 0)]
        if len(waits) == 2 and waits[1].mask == latest.mask:
            waits[1] = latest  # The same lanes as each time.
            return None
        aware = [one for one in waits if one.count >= latest.count - 1]
        lacking = latest.mask
        for one in aware:
            lacking &= ~one.mask
        if latest.count > waits[0].count:
            waits[1:] = [*(one for one in waits[1:] if one.mask != latest.mask), latest]
        if not aware or not lacking or latest.count < 2:
            return None
        lane = (lacking & -lacking).bit_length() - 1
        clocks = int(self.of(lane).clocks[column])
        return None if any(one.number < clocks for one in aware) else (lane, aware[-1])


@dataclass(slots=True, eq=False)
class LanesApart:
    """The warps of a batch of which a part of the lanes has waited alone, by row."""

    warps: dict[int, PartedWarp] = field(default_factory=dict)

    def parts(self, row: int, lane: int) -> list[LaneClocks] | None:
        """What a lane has acquired, in parts of which one must know of something; None where it is not
        apart."""
        warp = self.warps.get(row)
        if warp is None:
            return None
        return [warp.common, *(more for mask, more in warp.own.items() if mask >> lane & 1)]

    def meet(self, rows: np.ndarray) -> None:
        """All lanes of some rows meet."""
        for row in self.warps.keys() & set(rows.tolist()):
            del self.warps[row]

    def advance(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """All lanes of some rows acquire everything up to some numbers."""
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            if row in self.warps:
                known = self.warps[row].common
                clocks, completed = np.full_like(known.clocks, number), np.full_like(known.completed, number)
                known.join(clocks, completed, number)

    def complete(self, rows: np.ndarray, ranks: np.ndarray, locals_: np.ndarray, number: int) -> None:
        """All lanes of some rows have waited for the asynchronous machine; see `HappensBefore.complete`."""
        for row, rank, local in zip(rows.tolist(), ranks.tolist(), locals_.tolist(), strict=True):
            if row in self.warps:
                known = self.warps[row].common
                known.completed = _wide(known.completed, local + 1).copy()
                known.completed[rank, local] = number

    def acquire(
        self,
        row_clocks: RowClocks,
        published: ReleaseClocks,
        rows: np.ndarray,
        slots: np.ndarray,
        masks: np.ndarray,
        number: int,
        by_parity: bool,
    ) -> tuple[int, int, Waited] | None:
        """Lanes have waited for mbarriers; the clocks of their rows don't show it yet.

        Args:
            row_clocks: of the rows.
            published: what was released to each mbarrier.
            rows, slots: the rows and what each waited for.
            masks: the lanes of each that did.
            by_parity: whether they gave the parity of the phase.

        Returns:
            Which of them, a lane of it and the wait of another lane, where the first might have come before
            the other, and would have taken an older phase for the one that it waited for.
        """
        mbarriers, batch = row_clocks.slots, row_clocks.batch
        alive = np.packbits(batch.alive[rows], axis=1, bitorder="little").view(np.uint32)[:, 0]
        pairs, which = np.unique(rows * len(mbarriers.place) + slots, return_inverse=True)
        together = np.zeros(len(pairs), np.uint32)
        np.bitwise_or.at(together, which, masks.astype(np.uint32) & alive)
        masks = together[which]
        each = np.zeros(len(rows), bool)
        each[np.unique(which, return_index=True)[1]] = True
        if self.warps:
            each &= (masks != alive) | np.isin(rows, list(self.warps))
        else:
            each &= masks != alive
        found = None
        for at in np.flatnonzero(each).tolist():
            row, slot, mask, living = int(rows[at]), int(slots[at]), int(masks[at]), int(alive[at])
            warp = self.warps.get(row)
            if warp is None:
                clocks, completed = row_clocks.clocks[row].copy(), row_clocks.completed[row].copy()
                warp = self.warps[row] = PartedWarp(
                    LaneClocks(clocks, completed, int(row_clocks.acquired[row]))
                )
            local = int(mbarriers.local[slot])
            latest = Waited(mask, int(mbarriers.phase[slot]), number)
            wrong = warp.wait(slot, latest, int(row_clocks.phases[row, local]), int(row_clocks.column[row]))
            if wrong is not None and by_parity:
                found = at, *wrong
            known = warp.common if mask == living else warp.own.get(mask)
            if known is None:
                known = warp.own[mask] = LaneClocks(
                    published.clocks[slot].copy(), row_clocks.completed[row] * 0, 0
                )
            rank = int(mbarriers.place[slot]) // batch.shared.stride % batch.cluster
            known.join(published.clocks[slot], published.completed[slot], int(published.acquired[slot]))
            known.completed = _wide(known.completed, local + 1)
            known.completed[rank, local] = max(known.completed[rank, local], mbarriers.turned[slot])
        return found

    def pairs(self, rows: np.ndarray, lanes: np.ndarray) -> list[tuple[LaneClocks, np.ndarray]]:
        """Of some rows and lanes those that are apart: what each has acquired, once, and where it stands."""
        keys = rows * WARP + lanes
        return [
            (self.warps[key // WARP].of(key % WARP), np.flatnonzero(keys == key))
            for key in distinct(keys).tolist()
            if key // WARP in self.warps
        ]


def _wide(completed: np.ndarray, width: int) -> np.ndarray:
    """The same with room for more local numbers."""
    ctas, known = completed.shape
    if known >= width:
        return completed
    whole = np.zeros((ctas, width), completed.dtype)
    whole[:, :known] = completed
    return whole
