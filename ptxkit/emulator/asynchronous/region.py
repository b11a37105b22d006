"""The bytes that an operation touches: a bank and intervals in it, each of one item; and moving them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.values import distinct


class Region:
    """Byte intervals of a bank.

    Args:
        bank: `batch.shared` or `launch.memory`.
        start: offset of the first byte of each interval in the bank, int64 (n,).
        size: bytes of each, int64 (n,) or one number for all; 0 for none.
        item: the item of the operation that each belongs to; by default one interval an item.
    """

    __slots__ = ("_intervals", "_sorted", "_within", "bank", "first", "item", "last", "size", "start")

    def __init__(self, bank: Bank, start: np.ndarray, size: Any, item: np.ndarray | None = None) -> None:
        self.bank = bank
        self.start = np.asarray(start, np.int64)
        self.size = np.broadcast_to(np.asarray(size, np.int64), self.start.shape)
        self.item = np.arange(len(self.start)) if item is None else item
        self._sorted: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._within: tuple[int, int] | None = None
        self._intervals: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.first = int(self.start.min()) if len(self.start) else 0
        self.last = int((self.start + self.size).max()) if len(self.start) else 0

    @property
    def intervals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`start`, `size` and `item` as int64 arrays in one piece each, for compiled code."""
        if self._intervals is None:
            start, size, item = (
                np.ascontiguousarray(a, np.int64) for a in (self.start, self.size, self.item)
            )
            self._intervals = start, size, item
        return self._intervals

    @property
    def total(self) -> int:
        """Bytes of all intervals."""
        return int(self.size.sum())

    @property
    def within(self) -> tuple[int, int]:
        """Of a bank of tiles: the least offset in a tile, and the one behind the greatest."""
        if self._within is None:
            assert isinstance(self.bank, TiledBank)
            offsets = self.start % self.bank.stride
            self._within = (int(offsets.min()), int((offsets + self.size).max())) if len(offsets) else (0, 0)
        return self._within

    def of_items(self, chosen: np.ndarray) -> Region:
        """The intervals of some items: bool (count,)."""
        keep = chosen[self.item]
        return self if keep.all() else Region(self.bank, self.start[keep], self.size[keep], self.item[keep])

    def indices(self, unit: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The offset of every `unit` bytes that the intervals touch, and the interval that each lies in."""
        first = self.start // unit
        counts = np.where(self.size > 0, (self.start + self.size - 1) // unit - first + 1, 0)
        interval = np.repeat(np.arange(len(first)), counts)
        begins = np.cumsum(counts) - counts
        return first[interval] + np.arange(len(interval)) - begins[interval], interval

    def holding(self, start: np.ndarray, size: Any) -> np.ndarray:
        """For each of some ranges of bytes an interval that it overlaps, -1 where there is none. `start`:
        int64 offsets in the bank. `size`: bytes of each."""
        if not self.size.any():
            return np.full(np.shape(start), -1)
        size = np.broadcast_to(size, np.shape(start))
        if self._sorted is None:
            order = np.argsort(self.start, kind="stable")
            order = order[self.size[order] > 0]
            begins = self.start[order]
            reach = np.maximum.accumulate(begins + self.size[order])
            self._sorted = begins, reach, order
        begins, reach, order = self._sorted
        at = np.searchsorted(begins, start + size, side="left") - 1
        inside = (at >= 0) & (reach[at] > start)
        if not inside.any():
            return np.full(np.shape(start), -1)
        found = np.where(inside, order[np.maximum(at, 0)], -1)
        # `reach` may come from an earlier, longer interval than the last that begins before the range's end.
        ends = self.start[found] + self.size[found]
        for i in np.flatnonzero(inside & (ends <= start)):
            overlaps = (self.start < start[i] + size[i]) & (self.start + self.size > start[i])
            overlaps &= self.size > 0
            found[i] = int(np.argmax(overlaps)) if overlaps.any() else -1
        return found

    def apart(self, other: Region) -> bool:
        """Whether it is seen at once that no byte is in both."""
        if self.bank is not other.bank or self.first >= other.last or other.first >= self.last:
            return True
        if not isinstance(self.bank, TiledBank):
            return False
        # Those of a pair of CTAs lie at the same offsets of two tiles.
        (low, high), (begin, end) = self.within, other.within
        return low >= end or begin >= high

    def overlap(self, other: Region) -> tuple[int, int] | None:
        """An interval of this region and one of another with a byte in common, if there are any."""
        if self.apart(other):
            return None
        if len(self.start) > len(other.start):
            found = other.overlap(self)
            return None if found is None else (found[1], found[0])
        theirs = other.holding(self.start, self.size)
        theirs = np.where(self.size > 0, theirs, -1)
        if not (theirs >= 0).any():
            return None
        mine = int(np.argmax(theirs >= 0))
        return mine, int(theirs[mine])


LONG = 64
"""Bytes from which on an interval is copied as a slice."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The bytes of a region's intervals, one interval after the other.

    Attributes:
        data: uint8.
        undefined: a bit set for each undefined bit; None where all are defined.
        origins: for each byte where its undefined bits come from; None likewise.
    """

    data: np.ndarray
    undefined: np.ndarray | None = None
    origins: np.ndarray | None = None

    def take(self, index: Any) -> Data:
        """Some of the bytes, or all in another order."""
        undefined = None if self.undefined is None else self.undefined[index]
        return Data(self.data[index], undefined, None if self.origins is None else self.origins[index])


def _long(region: Region) -> bool:
    return len(region.start) * LONG <= region.total


def _gather(array: np.ndarray, region: Region, index: np.ndarray | None) -> np.ndarray:
    if index is not None:
        return array[index]
    parts = [array[a : a + n] for a, n in zip(region.start.tolist(), region.size.tolist(), strict=True)]
    return np.concatenate(parts) if len(parts) != 1 else parts[0].copy()


def load(region: Region) -> Data:
    """The bytes of a region as they are now."""
    bank = region.bank
    index = None if _long(region) else region.indices()[0]
    data = _gather(bank.data, region, index)
    if bank.shadow is None or not _suspect(region):
        return Data(data)
    undefined = _gather(bank.shadow, region, index)
    if not undefined.any():
        return Data(data)
    origins = np.zeros(len(data), np.uint32)
    if bank.origins is not None:
        origins = bank.origins[(region.indices()[0] if index is None else index) >> 2]
    return Data(data, undefined, origins)


def _suspect(region: Region) -> bool:
    """Whether some of the bytes may be undefined."""
    bank = region.bank
    if isinstance(bank, TiledBank):
        first = region.first % bank.stride
        last = first + region.last - region.first - 1
        return bank.suspect(0, bank.stride - 1) if last >= bank.stride else bank.suspect(first, last)
    if isinstance(bank, GlobalMemory):
        owner = bank.find(region.first + BASE)
        return owner is None or region.last + BASE > owner.end or owner.undefined
    return True


def save(region: Region, data: Data, site: Site, launch: LaunchState) -> None:
    """Write bytes to a region.

    Args:
        region: as many bytes as there are data.
        site: the instruction that moves them.
        launch: what it belongs to.
    """
    bank = region.bank
    index = None if _long(region) else region.indices()[0]
    _scatter(bank.data, region, index, data.data)
    if launch.watching:
        launch.changes += 1
    if bank.shadow is None or (data.undefined is None and not _suspect(region)):
        return
    if data.undefined is None:
        _scatter(bank.shadow, region, index, np.zeros(len(data.data), np.uint8))
        return
    _scatter(bank.shadow, region, index, data.undefined)
    _spoil(bank, region)
    every = region.indices()[0] if index is None else index
    origins = np.zeros(len(every), np.uint32) if data.origins is None else data.origins.copy()
    unknown = (data.undefined != 0) & (origins == 0)
    if unknown.any():
        origins[unknown] = launch.origins.of_copy(site)
    bank.set_origin(every, 1, origins)


def _scatter(array: np.ndarray, region: Region, index: np.ndarray | None, data: np.ndarray) -> None:
    if index is not None:
        array[index] = data
        return
    at = 0
    for start, size in zip(region.start.tolist(), region.size.tolist(), strict=True):
        array[start : start + size] = data[at : at + size]
        at += size


def _spoil(bank: Bank, region: Region) -> None:
    if isinstance(bank, TiledBank):
        for start, size in zip((region.start % bank.stride).tolist(), region.size.tolist(), strict=True):
            if size:
                bank.spoil(start, start + size - 1)
    elif isinstance(bank, GlobalMemory):
        for start in distinct(region.start).tolist():
            owner = bank.find(start + BASE)
            if owner is not None:
                owner.undefined = True
