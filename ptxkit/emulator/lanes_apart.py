"""What single lanes of a warp know by mbarriers that they waited for, since the lanes of the warp last met.

`HappensBefore` takes a warp for one party: what one of its lanes has acquired, all have. That is so from the
next `bar.warp.sync` or barrier on. Until then a lane that has not waited itself may run before the one that
has, though the two are converged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.happens_before import HappensBefore
    from ptxkit.emulator.release_clocks import ReleaseClocks

EVERY = 0xFFFF_FFFF
LANE_APART = (
    "WARP-SYNC-ASSUMED: another lane of its warp has waited for that, and no `bar.warp.sync` lies between"
)
MEET_FIRST = "put `bar.warp.sync` behind the wait: lanes of a warp need not run in step"


@dataclass(slots=True, eq=False)
class Known:
    """What some lanes know, as `HappensBefore` has it of a row.

    Attributes:
        clocks: int64 (warps of a cluster,).
        completed: int64 (CTAs of a cluster, local numbers).
        acquired: for all CTAs outside the cluster.
    """

    clocks: np.ndarray
    completed: np.ndarray
    acquired: int

    def join(self, clocks: np.ndarray, completed: np.ndarray, acquired: int) -> None:
        """Know what somebody else does, too."""
        self.clocks = np.maximum(self.clocks, clocks)
        width = max(self.completed.shape[1], completed.shape[1])
        self.completed = np.maximum(_wide(self.completed, width), _wide(completed, width))
        self.acquired = max(self.acquired, acquired)


@dataclass(frozen=True, slots=True)
class Look:
    """A successful wait for an mbarrier.

    Attributes:
        mask: the lanes that waited.
        count: how many phases of it they know to be complete.
        number: the event.
    """

    mask: int
    count: int
    number: int


@dataclass(slots=True, eq=False)
class Warp:
    """A warp of which a part of the lanes has waited alone.

    Attributes:
        whole: what all its lanes know.
        own: by set of lanes, a mask, what these have acquired besides.
        looks: by mbarrier the waits for it, the first of them for what all lanes knew before.
    """

    whole: Known
    own: dict[int, Known] = field(default_factory=dict)
    looks: dict[int, list[Look]] = field(default_factory=dict)

    def of(self, lane: int) -> Known:
        """What a lane knows."""
        known = Known(self.whole.clocks, self.whole.completed, self.whole.acquired)
        for mask, more in self.own.items():
            if mask >> lane & 1:
                known.join(more.clocks, more.completed, more.acquired)
        return known

    def look(self, slot: int, look: Look, before: int, column: int) -> tuple[int, Look] | None:
        """Lanes have waited for a phase by its parity.

        They must know that the phase before it was complete, or they may take an older one for it.

        Returns:
            A lane that does not know, and the wait of another lane that does; None where all is well.
        """
        looks = self.looks.get(slot)
        if looks is None or looks[-1].count > look.count:
            looks = self.looks[slot] = [Look(EVERY, before if before <= look.count else 0, 0)]
        if len(looks) == 2 and looks[1].mask == look.mask:
            looks[1] = look  # The same lanes as each time.
            return None
        knowing = [one for one in looks if one.count >= look.count - 1]
        lacking = look.mask
        for one in knowing:
            lacking &= ~one.mask
        if look.count > looks[0].count:
            looks[1:] = [*(one for one in looks[1:] if one.mask != look.mask), look]
        if not knowing or not lacking or look.count < 2:
            return None
        lane = (lacking & -lacking).bit_length() - 1
        clocks = int(self.of(lane).clocks[column])
        return None if any(one.number < clocks for one in knowing) else (lane, knowing[-1])


@dataclass(slots=True, eq=False)
class LanesApart:
    """The warps of a batch of which a part of the lanes has waited alone, by row."""

    warps: dict[int, Warp] = field(default_factory=dict)

    def meet(self, rows: np.ndarray) -> None:
        """All lanes of some rows meet."""
        for row in self.warps.keys() & set(rows.tolist()):
            del self.warps[row]

    def learn(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """All lanes of some rows learn of everything up to some numbers."""
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            if row in self.warps:
                known = self.warps[row].whole
                clocks, completed = np.full_like(known.clocks, number), np.full_like(known.completed, number)
                known.join(clocks, completed, number)

    def know(self, rows: np.ndarray, ranks: np.ndarray, locals_: np.ndarray, number: int) -> None:
        """All lanes of some rows have waited for the asynchronous machine; see `HappensBefore.know`."""
        for row, rank, local in zip(rows.tolist(), ranks.tolist(), locals_.tolist(), strict=True):
            if row in self.warps:
                known = self.warps[row].whole
                known.completed = _wide(known.completed, local + 1).copy()
                known.completed[rank, local] = number

    def acquire(
        self,
        happens_before: HappensBefore,
        published: ReleaseClocks,
        rows: np.ndarray,
        slots: np.ndarray,
        masks: np.ndarray,
        number: int,
        by_parity: bool,
    ) -> tuple[int, int, Look] | None:
        """Lanes have waited for mbarriers; `HappensBefore` does not know of it yet.

        Args:
            happens_before: what the rows know.
            published: what was released to each mbarrier.
            rows, slots: the rows and what each waited for.
            masks: the lanes of each that did.
            number: the event.
            by_parity: whether they gave the parity of the phase.

        Returns:
            Which of them, a lane of it and the wait of another lane, where the first might have come before
            the other, and would have taken an older phase for the one that it waited for.
        """
        mbarriers = happens_before.batch.mbarriers
        alive = np.packbits(happens_before.batch.alive[rows], axis=1, bitorder="little").view(np.uint32)[:, 0]
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
                clocks, completed = happens_before.clocks[row].copy(), happens_before.completed[row].copy()
                warp = self.warps[row] = Warp(Known(clocks, completed, int(happens_before.acquired[row])))
            local = int(mbarriers.local[slot])
            look = Look(mask, int(mbarriers.phase[slot]), number)
            wrong = warp.look(
                slot, look, int(happens_before.phases[row, local]), int(happens_before.column[row])
            )
            if wrong is not None and by_parity:
                found = at, *wrong
            known = warp.whole if mask == living else warp.own.get(mask)
            if known is None:
                known = warp.own[mask] = Known(
                    published.clocks[slot].copy(), happens_before.completed[row] * 0, 0
                )
            rank = (
                int(mbarriers.place[slot])
                // happens_before.batch.shared.stride
                % happens_before.batch.cluster
            )
            known.join(published.clocks[slot], published.completed[slot], int(published.acquired[slot]))
            known.completed = _wide(known.completed, local + 1)
            known.completed[rank, local] = max(known.completed[rank, local], mbarriers.turned[slot])
        return found

    def pairs(self, rows: np.ndarray, lanes: np.ndarray) -> list[tuple[Known, np.ndarray]]:
        """Of some rows and lanes those that are apart: what each knows, once, and where it stands."""
        keys = rows * WARP + lanes
        return [
            (self.warps[key // WARP].of(key % WARP), np.flatnonzero(keys == key))
            for key in np.unique(keys).tolist()
            if key // WARP in self.warps
        ]


def _wide(completed: np.ndarray, width: int) -> np.ndarray:
    """The same with room for more local numbers."""
    more = width - completed.shape[1]
    return np.pad(completed, ((0, 0), (0, more))) if more > 0 else completed
