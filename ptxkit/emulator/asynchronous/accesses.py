"""What a thread's own access may not meet: bytes in flight, and mbarrier objects."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.asynchronous.completions import Completions
from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.faults import Site
from ptxkit.emulator.memory import Bank, TiledBank


class Synchronous(Protocol):
    """A thread's own access; see `ptxkit.emulator.access.Access`."""

    site: Site
    space: str
    bank: Bank
    index: Any
    first: int
    last: int

    def each(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The offsets, rows of the batch and lanes of it, for the lanes that take part."""


class Accesses(Completions):
    """Holds synchronous accesses of a batch against what is in flight."""

    def check(self, access: Synchronous, size: int, writes: bool) -> None:
        """Hold a synchronous access against what is in flight.

        Raises:
            EmulatorFault: it reads what has not been seen completed, or writes what is in use.
        """
        barriers = self.mbarriers
        shared = access.space == "shared"
        if shared and len(barriers.place):
            self._check_access_objects(access, size, writes)
        flat: Any = None
        for operation in self.in_flight:
            for regions, flags, reads in (
                (operation.writes, operation.unwritten, False),
                (operation.reads, operation.unread, True),
            ):
                if reads and not writes:
                    continue
                for region in regions:
                    if region.bank is not access.bank or not _near(region, access, size) or not flags.any():
                        continue
                    if flat is None:
                        flat = access.each()
                    self._check_region(access, flat, size, operation, region, flags, writes, reads)

    def _check_region(
        self,
        access: Synchronous,
        flat: tuple[np.ndarray, np.ndarray, np.ndarray],
        size: int,
        operation: AsyncOperation,
        region: Region,
        flags: np.ndarray,
        writes: bool,
        reads: bool,
    ) -> None:
        index, rows, lanes = flat
        held = region.of_items(flags)
        if not len(held.start):
            return
        found = held.holding(index, size)
        hit = found >= 0
        if not hit.any():
            return
        at = int(np.argmax(hit))
        item = int(held.item[int(found[at])])
        row, lane = int(rows[at]), int(lanes[at])
        who = str(self.batch.thread(row, lane))
        code = "P653" if reads else "P654" if writes else "P652"
        self.reports.in_flight(access.site, who, row, lane, region, int(index[at]), operation, item, code)

    def _check_access_objects(self, access: Synchronous, size: int, writes: bool) -> None:
        index, rows, lanes = access.each()
        barriers = self.mbarriers
        for offset in {0, max(size - 1, 0)}:
            slots = barriers.at[(index + offset) >> 3].astype(np.int64) - 1
            hit = slots >= 0
            if hit.any():
                hit &= barriers.live[np.maximum(slots, 0)]
            if hit.any():
                at = int(np.argmax(hit))
                who = str(self.batch.thread(int(rows[at]), int(lanes[at])))
                self.reports.raw(int(slots[at]), access.site, who, "writes" if writes else "reads")


def _near(region: Region, access: Synchronous, size: int) -> bool:
    """Whether an access may touch a region, by the least and greatest offset."""
    if isinstance(region.bank, TiledBank):
        low, high = region.within
        return access.first < high and access.last >= low
    index = access.index
    if isinstance(index, int):
        return index < region.last and index + size > region.first
    return int(index.min()) < region.last and int(index.max()) + size > region.first
