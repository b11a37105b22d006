"""Which sectors of global memory the CTAs of a launch touch, and what that costs them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.counts import LINE, SECTOR, WORD, Traffic
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.timing.merging import WriteMerging
from ptxkit.emulator.timing.private import LINES, NOBODY, different
from ptxkit.emulator.timing.recorded import AccessCost, Touched
from ptxkit.emulator.timing.reuse import Reuse
from ptxkit.emulator.values import WARP, distinct

SECTORS, BANKS = LINE // SECTOR, LINE // WORD
MARKS = 64
"""CTAs that are told apart where one asks which of them has touched a sector."""


def _marks(ctas: np.ndarray) -> np.ndarray:
    """The bit that stands for each CTA."""
    return np.uint64(1) << (ctas % MARKS).astype(np.uint64)


def _again(words: np.ndarray, active: Any) -> int:
    """By how many lanes, beyond the first, warps change the word that most of theirs change; of all warps."""
    total = 0
    chosen = np.broadcast_to(True if active is None else active, words.shape)
    for row, who in zip(words.astype(np.int64) // WORD, chosen, strict=True):
        if who.any():
            total += int(np.unique(row[who], return_counts=True)[1].max()) - 1
    return total


def _of_one_bank(places: np.ndarray, active: Any, size: int) -> np.ndarray:
    """Of each row of addresses how many words its lanes want of the bank of which they want most."""
    rows = len(places)
    words = (places[:, :, None] // WORD + np.arange(max(size // WORD, 1))).reshape(rows, -1)
    if active is not None:
        some = np.repeat(np.broadcast_to(active, (rows, WARP)), words.shape[1] // WARP, axis=1)
        words = np.where(some, words, NOBODY)
    words = np.sort(words, axis=1)
    new = np.ones(words.shape, bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    row, at = np.nonzero(new & (words != NOBODY))
    counts = np.bincount(row * BANKS + words[row, at] % BANKS, minlength=rows * BANKS)
    return np.asarray(counts.reshape(rows, BANKS).max(axis=1))


def copied_waves(region: Region, rows: np.ndarray) -> np.ndarray:
    """The wavefronts that copies to intervals of shared memory take, each warp's at its first item.

    Args:
        region: the intervals.
        rows: the warp of each item.
    """
    found = np.zeros(len(rows))
    words = np.arange(max(int(region.size.max(initial=0)) // WORD, 1))
    every = (region.start[:, None] // WORD + words).reshape(-1)
    keys = np.unique(np.repeat(rows[region.item].astype(np.int64) << 44, len(words)) | every)
    warps, first = np.unique(rows, return_index=True)
    at = np.searchsorted(warps, keys >> 44)
    counts = np.bincount(at * BANKS + keys % BANKS, minlength=len(warps) * BANKS)
    found[first] = counts.reshape(-1, BANKS).max(axis=1)
    return found


@dataclass(slots=True)
class SectorTouch:
    """What CTAs had of the sectors that they touch.

    Attributes:
        owner: the address of the allocation that has the last of them.
        sectors: how many they are.
        missed: new to their CTA, or lost since.
        returned: lost by the CTA that was the first to touch them.
        between: of these the bytes that were touched since, summed up.
        common: of those that were missed for another reason, those that all CTAs touch.
    """

    owner: int = 0
    sectors: int = 0
    missed: int = 0
    returned: int = 0
    common: int = 0
    between: float = 0.0


class TouchedMemory(Traffic):
    """The costs of a launch's accesses, and which sectors of global memory it touched.

    Args:
        memory: the device's.
        near: bytes of L1 that its CTAs have.
        ctas: their numbers.

    Attributes:
        requested, again, returned, common: as of `Touched`, by the address of an allocation.
    """

    def __init__(self, memory: Any, near: float, ctas: np.ndarray) -> None:
        super().__init__()
        self.memory = memory
        self.near = near
        self.again: dict[int, Counter[int]] = defaultdict(Counter)
        self.returned: dict[int, Counter[int]] = defaultdict(Counter)
        self._reuse, self._wide = Reuse(), Traffic()
        self._last: dict[int, np.ndarray] = {}
        self.by: dict[int, np.ndarray] = {}
        self.first: dict[int, np.ndarray] = {}
        self.read: dict[int, np.ndarray] = {}
        self.written: dict[int, np.ndarray] = {}
        self.owners: dict[int, Allocation] = {}
        self.ctas = self.warps = np.zeros(0, np.int64)
        self._merging = WriteMerging()
        self.cost: AccessCost | None = None
        self.requested: Counter[int] = Counter()
        self.common: Counter[int] = Counter()
        self.changed: dict[int, np.ndarray] = {}
        self._all = np.bitwise_or.reduce(_marks(ctas)) if len(ctas) > 1 else None

    def lanes(
        self,
        space: str,
        index: Any,
        active: Any,
        rows: int,
        size: int,
        what: str,
        stride: int = 0,
        offset: int = 0,
    ) -> None:
        """Count an access; see `Traffic.lanes`. Of one to global memory see which sectors are new."""
        before = dict(self.counts)
        super().lanes(space, index, active, rows, size, what, stride, offset)
        cost = self.cost
        if cost is None:
            return
        cost.shared += self.counts[f"shared_wavefronts_{what}"] - before.get(f"shared_wavefronts_{what}", 0)
        if space == "shared":
            if what == "loaded" and size >= WORD:
                cost.wide8 += self._wider(index, active, rows, 8, stride, offset) if size < 8 else 0
                cost.wide16 += self._wider(index, active, rows, 16, stride, offset) if size < 16 else 0
            elif what == "reduced":
                cost.again += _again(np.broadcast_to(np.asarray(index), (rows, WARP)), active)
                cost.apart += self._wider(index, active, rows, size, stride, offset)
            return
        cost.requests += self.counts[f"global_requests_{what}"] - before.get(f"global_requests_{what}", 0)
        counted = float(self.counts[f"global_sectors_{what}"] - before.get(f"global_sectors_{what}", 0))
        places = np.broadcast_to(np.asarray(index).astype(np.int64), (rows, WARP)) + offset
        ctas, warps = (np.broadcast_to(each[:, None], (rows, WARP)) for each in (self.ctas, self.warps))
        lines, waves = places // LINE, _of_one_bank(places, active, size)
        chosen = None if active is None else np.broadcast_to(active, (rows, WARP))
        apart = different(lines, chosen)
        cost.lines += int(apart.sum())
        cost.waves += float((np.maximum(waves, apart / LINES) if what == "loaded" else apart).sum())
        every = np.broadcast_to(apart[:, None], (rows, WARP))
        places, ctas, warps, every = (
            each.reshape(-1) if chosen is None else each[chosen] for each in (places, ctas, warps, every)
        )
        filled = joined = 0.0
        if what == "stored" and places.size:
            joined, filled = self._merging.merge(cost, warps, places, every, size)
            counted *= 1.0 - joined
        cost.sectors += counted
        cost.sent += float(apart.sum()) * (1.0 - joined)
        if what != "loaded":
            cost.partial += max(counted - (places.size * size - filled) / SECTOR, 0.0)
        if not places.size:
            return
        sectors = distinct((ctas << 40) | (places // SECTOR))
        touch = self.touch(sectors & ((1 << 40) - 1), sectors >> 40, what != "loaded", what)
        share = counted / len(sectors)  # warps of one CTA may want the same ones
        share = min(share, 1.0)
        cost.missed += touch.missed * share
        cost.owner = touch.owner
        if what == "loaded":
            self.requested[touch.owner] += touch.missed * share * SECTOR  # type: ignore[assignment]
            self.common[touch.owner] += touch.common * share * SECTOR  # type: ignore[assignment]
            cost.common += touch.common * share
            cost.returned += touch.returned * share
            cost.between += touch.between * share

    def _wider(self, index: Any, active: Any, rows: int, width: int, stride: int, offset: int) -> int:
        """The wavefronts of loads of shared memory by so many bytes a lane that have the words of narrower
        ones."""
        places = (np.asarray(index).astype(np.int64) + offset) // width * width
        self._wide.counts.clear()
        self._wide.lanes("shared", places, active, rows, width, "loaded", stride)
        return self._wide.counts["shared_wavefronts_loaded"]

    def copies(self, *given: Any, **named: Any) -> None:
        """Count copies by `cp.async`; what they touch their operation says."""
        before = dict(self.counts)
        cost, self.cost = self.cost, None
        super().copies(*given, **named)
        self.cost = cost
        if cost is not None:
            # What copies of threads read passes L1 as it comes.
            key = "global_sectors_copied"
            lines = (self.counts[key] - before.get(key, 0)) * SECTOR / LINE
            cost.lines += lines
            cost.waves += lines
            for name in ("requests", "sectors"):
                key = f"global_{name}_copied"
                setattr(cost, name, getattr(cost, name) + self.counts[key] - before.get(key, 0))

    def touch(self, sectors: np.ndarray, ctas: np.ndarray, writes: bool, what: str = "") -> SectorTouch:
        """Some CTAs touch sectors."""
        found = SectorTouch(sectors=len(sectors))
        at = 0
        order = np.argsort(sectors, kind="stable")
        sectors, ctas = sectors[order], ctas[order]
        while at < len(sectors):
            owner = self.memory.find(int(sectors[at]) * SECTOR + BASE)
            if owner is None:
                at += 1
                continue
            first = (owner.address - BASE) // LINE * SECTORS
            end = int(np.searchsorted(sectors, first + -(-owner.size // SECTOR) + SECTORS))
            end = max(end, at + 1)
            by = self.by.get(owner.address)
            if by is None:
                count = -(-owner.size // LINE) * SECTORS + 2 * SECTORS
                by = self.by[owner.address] = np.zeros(count, np.uint64)
                self.first[owner.address] = np.full(count, NOBODY, np.int32)
                self.read[owner.address] = np.zeros(count, bool)
                self.written[owner.address] = np.zeros(count, bool)
                self._last[owner.address] = np.zeros(count // SECTORS, np.uint32)
                self.owners[owner.address] = owner
            here = np.clip(sectors[at:end] - first, 0, len(by) - 1)
            marks = _marks(ctas[at:end])
            found.owner = owner.address
            between = self._forget(owner.address, here, counted=not writes)
            held, whose = by[here], self.first[owner.address][here]
            if writes:
                self.written[owner.address][here] = True
            if not writes or what == "reduced":
                self.read[owner.address][here] = True
            if what == "reduced":
                changed = self.changed.setdefault(owner.address, np.zeros(len(by), np.uint64))
                np.bitwise_or.at(changed, here, marks)
            lacking = held & marks == 0
            found.missed += int(np.count_nonzero(lacking))
            own = lacking & (whose == ctas[at:end])
            found.returned += int(np.count_nonzero(own))
            found.between += float(between[own].sum())
            if what == "loaded":
                powers = np.bincount(np.log2(np.maximum(between[own], LINE)).astype(int)) * SECTOR
                self.returned[owner.address].update(
                    {power: int(size) for power, size in enumerate(powers) if size}
                )
            new = (held == 0) & (whose == NOBODY)
            # Of several CTAs the one that comes first, which is assigned last.
            self.first[owner.address][here[new][::-1]] = ctas[at:end][new][::-1]
            np.bitwise_or.at(by, here, marks)
            if self._all is not None:
                found.common += int(np.count_nonzero(lacking & ~own & (by[here] == self._all)))
            at = end
        return found

    def _forget(self, address: int, here: np.ndarray, counted: bool) -> np.ndarray:
        """Some sectors of an allocation are touched: L1 lost their lines if it has seen too much since. How
        many bytes that were, of each."""
        by, last = self.by[address], self._last[address]
        lines, of, sectors = np.unique(here // SECTORS, return_inverse=True, return_counts=True)
        if len(here) > 1 and not (here[1:] > here[:-1]).all():
            sectors = np.bincount(of[np.unique(here, return_index=True)[1]], minlength=len(lines))
        between = self._reuse.touch(last[lines]) * LINE
        last[lines] = self._reuse.now
        lost = between > self.near
        if not lost.any():
            return np.asarray(between[of])
        if counted:
            powers = np.log2(between[lost]).astype(int)
            sizes = np.bincount(powers, weights=sectors[lost] * SECTOR)
            self.again[address].update({power: int(size) for power, size in enumerate(sizes) if size})
        by.reshape(-1, SECTORS)[lines[lost]] = 0
        return np.asarray(between[of])

    def _changed_by_all(self, address: int) -> int:
        """Sectors of an allocation that all CTAs change by atomic operations; 0 of one CTA alone."""
        changed = self.changed.get(address)
        return 0 if changed is None or self._all is None else int(np.count_nonzero(changed == self._all))

    def unique(self, touched: dict[int, np.ndarray], late: list[int]) -> dict[int, Touched]:
        """What was touched of each allocation. `late`: the CTAs that stand for those that did not run."""
        found: dict[int, Touched] = {}
        for address, which in touched.items():
            count, owner = int(np.count_nonzero(which)), self.owners[address]
            if count:
                new = int(np.count_nonzero(np.isin(self.first[address][which], late)))
                found[address] = Touched(
                    min(count * SECTOR, owner.size),
                    new * SECTOR,
                    len(late),
                    owner.size,
                    self.requested[address],
                    self.again[address],
                    self.returned[address],
                    self.common[address],
                    self._changed_by_all(address),
                    2.0 * float(np.count_nonzero(which.reshape(-1, 2).any(axis=1))) / count,
                )
        return found
