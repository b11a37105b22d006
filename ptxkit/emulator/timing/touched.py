"""Which sectors of global memory the CTAs of a launch touch, and what that costs them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ptxkit.emulator.counts import LINE, SECTOR, WORD, Traffic
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.timing.recorded import AccessCost, Touched
from ptxkit.emulator.timing.reuse import Reuse
from ptxkit.emulator.values import WARP, distinct

NOBODY = -1
SECTORS, BANKS = LINE // SECTOR, LINE // WORD
LINES = 2
"""Lines that a wavefront of a load may come from, if its words lie in different banks."""
MARKS = 64
"""CTAs that are told apart where one asks which of them has touched a sector."""


def _again(words: np.ndarray, active: Any) -> int:
    """By how many lanes, beyond the first, warps change the word that most of theirs change; of all warps."""
    total = 0
    chosen = np.broadcast_to(True if active is None else active, words.shape)
    for row, who in zip(words.astype(np.int64) // WORD, chosen, strict=True):
        if who.any():
            total += int(np.unique(row[who], return_counts=True)[1].max()) - 1
    return total


def _conflicts(places: np.ndarray, active: Any, size: int) -> np.ndarray:
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


class TouchedMemory(Traffic):
    """The costs of a launch's accesses, and which sectors of global memory it touched.

    Args:
        memory: the device's.
        near: bytes of L1 that its CTAs have.

    Attributes:
        again: by how many bytes were touched since, to a power of two, the bytes that L1 no longer had.
    """

    def __init__(self, memory: Any, near: float) -> None:
        super().__init__()
        self.memory = memory
        self.near = near
        self.again: Counter[int] = Counter()
        self._reuse = Reuse()
        self._last: dict[int, np.ndarray] = {}
        self.by: dict[int, np.ndarray] = {}
        self.first: dict[int, np.ndarray] = {}
        self.read: dict[int, np.ndarray] = {}
        self.written: dict[int, np.ndarray] = {}
        self.owners: dict[int, Allocation] = {}
        self.ctas = np.zeros(0, np.int64)
        self.cost: AccessCost | None = None
        self.requested = 0.0

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
            if what == "reduced":
                cost.again += _again(np.broadcast_to(np.asarray(index), (rows, WARP)), active)
            return
        cost.requests += self.counts[f"global_requests_{what}"] - before.get(f"global_requests_{what}", 0)
        counted = self.counts[f"global_sectors_{what}"] - before.get(f"global_sectors_{what}", 0)
        cost.sectors += counted
        if what != "loaded":
            lanes = rows * WARP if active is None else np.count_nonzero(np.broadcast_to(active, (rows, WARP)))
            cost.partial += max(counted - lanes * size / SECTOR, 0.0)
        places = np.broadcast_to(np.asarray(index).astype(np.int64), (rows, WARP)) + offset
        ctas = np.broadcast_to(self.ctas[:, None], (rows, WARP))
        lines, waves = places // LINE, _conflicts(places, active, size)
        if active is not None:
            chosen = np.broadcast_to(active, (rows, WARP))
            lines = np.where(chosen, lines, NOBODY)
            places, ctas = places[chosen], ctas[chosen]
        lines = np.sort(lines, axis=1)
        apart = np.count_nonzero(lines[:, 1:] != lines[:, :-1], axis=1) + 1 - (lines[:, 0] == NOBODY)
        cost.lines += int(apart.sum())
        cost.waves += float((np.maximum(waves, apart / LINES) if what == "loaded" else apart).sum())
        if not places.size:
            return
        sectors = distinct((ctas.reshape(-1) << 40) | (places.reshape(-1) // SECTOR))
        missed, cold = self.touch(sectors & ((1 << 40) - 1), sectors >> 40, what != "loaded", what)
        share = counted / len(sectors)  # warps of one CTA may want the same ones
        cost.missed += missed * min(share, 1.0)
        if what == "loaded":
            self.requested += missed * min(share, 1.0) * SECTOR
        cost.cold += cold * min(share, 1.0)

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

    def touch(self, sectors: np.ndarray, ctas: np.ndarray, writes: bool, what: str = "") -> tuple[int, int]:
        """Some CTAs touch sectors. Returns how many of them are new to their CTA, and how many to all."""
        missed = cold = 0
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
            marks = np.uint64(1) << (ctas[at:end] % MARKS).astype(np.uint64)
            self._forget(owner.address, here, counted=not writes)
            held = by[here]
            if writes:
                self.written[owner.address][here] = True
            if not writes or what == "reduced":
                self.read[owner.address][here] = True
            missed += int(np.count_nonzero(held & marks == 0))
            new = held == 0
            new &= self.first[owner.address][here] == NOBODY
            cold += len(distinct(here[new]))
            # Of several CTAs the one that comes first, which is assigned last.
            self.first[owner.address][here[new][::-1]] = ctas[at:end][new][::-1]
            np.bitwise_or.at(by, here, marks)
            at = end
        return missed, cold

    def _forget(self, address: int, here: np.ndarray, counted: bool) -> None:
        """Some sectors of an allocation are touched: L1 lost their lines if it has seen too much since."""
        by, last = self.by[address], self._last[address]
        lines, sectors = np.unique(np.unique(here) // SECTORS, return_counts=True)
        between = self._reuse.touch(last[lines]) * LINE
        last[lines] = self._reuse.now
        lost = between > self.near
        if not lost.any():
            return
        if counted:
            powers = np.log2(between[lost]).astype(int)
            sizes = np.bincount(powers, weights=sectors[lost] * SECTOR)
            self.again.update({power: int(size) for power, size in enumerate(sizes) if size})
        by.reshape(-1, SECTORS)[lines[lost]] = 0

    def unique(self, touched: dict[int, np.ndarray], ctas: list[int]) -> dict[str, Touched]:
        """What was touched of each allocation. `ctas`: those that ran, in the order of their start."""
        found: dict[str, Touched] = {}
        late = np.array(ctas[len(ctas) // 2 :])
        for address, which in touched.items():
            count, owner = int(np.count_nonzero(which)), self.owners[address]
            if count:
                new = int(np.count_nonzero(np.isin(self.first[address][which], late)))
                name = f"{owner.name or 'buffer'} at {address:#x}"
                found[name] = Touched(min(count * SECTOR, owner.size), new * SECTOR, owner.size)
        return found
