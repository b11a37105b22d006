"""What orders accesses where launches run at the same time: scopes count, and who had ended before.

A release and an acquire order what other devices did only if both have system scope, `.sys`: they are morally
strong only then (PTX ISA 8.5, 8.7.3). Between fences and relaxed accesses both the fences and the accesses
must have it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import THREAD_BITS, AccessHistory
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.values import distinct
from ptxkit.isa.modifiers import MemoryOrder, MemoryScope

EVERYTHING = np.int64((1 << 62) - 1)


class DeviceReleases:
    """Up to which number strong writes of each granule published accesses: what one device's did, at any
    scope, to whoever reads it there.

    Attributes:
        own: int64 (granules,), the accesses of that device.
        abroad: the same, those of others that the writers knew of.
    """

    def __init__(self, granules: int) -> None:
        self.own = np.zeros(granules, np.int64)
        self.abroad = np.zeros(granules, np.int64)


class SystemReleases:
    """The same for all devices.

    Attributes:
        devices: what each one's writes published, by its number.
        system: int64 (granules,), what writes of system scope published to every device.
        narrow: int64 (granules,), what the others would have, had they that scope.
    """

    def __init__(self, granules: int) -> None:
        self._granules = granules
        self.devices: dict[int, DeviceReleases] = {}
        self.system = np.zeros(granules, np.int64)
        self.narrow = np.zeros(granules, np.int64)

    def refine(self, factor: int) -> None:
        """Each granule becomes so many, of which the same is known."""
        self._granules *= factor
        self.system, self.narrow = np.repeat(self.system, factor), np.repeat(self.narrow, factor)
        for one in self.devices.values():
            one.own, one.abroad = np.repeat(one.own, factor), np.repeat(one.abroad, factor)

    def of(self, device: int) -> DeviceReleases:
        """What the writes of one device published."""
        if device not in self.devices:
            self.devices[device] = DeviceReleases(self._granules)
        return self.devices[device]


class CompanyClocks(HappensBefore):
    """The clocks of a batch whose launch runs at the same time as others.

    Attributes:
        abroad: int64 (rows,), as `acquired`, for what other devices did.
        narrow: int64 (rows,), what `abroad` would be if every scope were wide enough.
        fenced_system, pending_abroad, pending_narrow: int64 (rows,), as `fenced` and `pending`, for these.
    """

    shared_by_ctas = ("abroad", "narrow", "fenced_system", "pending_abroad", "pending_narrow")
    further = ("abroad", "narrow")

    def __init__(self, batch: Ctas, start: int) -> None:
        super().__init__(batch, start)
        self.abroad = np.full(batch.rows, start, np.int64)
        self.narrow = np.full(batch.rows, start, np.int64)
        self.fenced_system = np.zeros(batch.rows, np.int64)
        self.pending_abroad = np.zeros(batch.rows, np.int64)
        self.pending_narrow = np.zeros(batch.rows, np.int64)
        launch = batch.launch
        self._company = launch.company
        self._ended: np.ndarray = launch.company.known[launch.place]

    def limit(self, rows: np.ndarray | None, private: bool) -> np.ndarray:
        if self._limit is None:
            super().limit(rows, private)
            limits: Any = self._limit
            self._limit = limits[0], np.minimum(limits[1], self.abroad.min())
        found: np.ndarray = super().limit(rows, private)
        return found

    def elsewhere(
        self, history: AccessHistory, record: np.ndarray, rows: np.ndarray, strong: bool
    ) -> np.ndarray:
        known = super().elsewhere(history, record, rows, strong)
        if history.private:
            return known
        whose = self._members_of(history, record)
        abroad = self.abroad[rows]
        if strong:
            abroad = np.maximum(abroad, self.pending_abroad[rows])
        far = self._company.devices[whose] != self.batch.launch.device
        ended = np.append(self._ended, False)[np.minimum(whose, len(self._ended))]
        return np.where(ended, EVERYTHING, np.where(far, abroad, known))

    def morally_strong(self, history: AccessHistory, record: Any, site: Site) -> Any:
        strong = super().morally_strong(history, record, site)
        if history.private:
            return strong
        machine = history.is_async(record)
        if machine.any() and of_system(site):
            # What a fabric operation does is strong, too, with system scope (8.6.1).
            numbers = history.number(record)
            for number in distinct(numbers[machine]).tolist():
                maker = self.batch.launch.events.site(number)
                if maker is not None and maker.row.chapter == "fabric":
                    strong = strong | (machine & (numbers == number))
        far = strong & ~machine & (self._devices_of(history, record) != self.batch.launch.device)
        if far.any():
            numbers, wide = history.number(record), of_system(site)
            for number in distinct(numbers[far]).tolist():
                if not wide or not self._of_system(number):
                    strong = strong & ~(far & (numbers == number))
        return strong

    def narrowly_ordered(self, row: int, number: int) -> bool:
        return number < int(self.narrow[row])

    def _members_of(self, history: AccessHistory, record: Any) -> np.ndarray:
        """The places in the company of the launches that made some records."""
        whose: np.ndarray = self._company.whose(history.thread(record).astype(np.int64) >> THREAD_BITS)
        return whose

    def _devices_of(self, history: AccessHistory, record: Any) -> np.ndarray:
        """The numbers of the devices that made some records."""
        devices: np.ndarray = self._company.devices[self._members_of(history, record)]
        return devices

    def fence(self, rows: np.ndarray, number: int) -> None:
        super().fence(rows, number)
        self.narrow[rows] = np.maximum(self.narrow[rows], self.pending_narrow[rows])
        if self._of_system(number):
            self.fenced_system[rows] = number
            self.abroad[rows] = np.maximum(self.abroad[rows], self.pending_abroad[rows])
        self._limit = None

    def publish_at(self, history: AccessHistory, places: np.ndarray, number: int) -> None:
        table = history.releases_of(SystemReleases)
        for numbers in (table.system, table.narrow):
            np.maximum.at(numbers, places, number)

    def synchronise(
        self,
        history: AccessHistory,
        rows: np.ndarray,
        places: np.ndarray,
        number: int,
        reads: MemoryOrder | None,
        writes: MemoryOrder | None,
    ) -> None:
        table = history.releases_of(SystemReleases)
        here, system = table.of(self.batch.launch.device), self._of_system(number)
        before = here.own[places], here.abroad[places], table.system[places], table.narrow[places]
        if writes is not None:
            release = writes is MemoryOrder.RELEASE
            own = np.full(len(rows), number) if release else self.fenced[rows]
            np.maximum.at(here.own, places, own)
            np.maximum.at(here.abroad, places, np.where(own > 0, self.abroad[rows], 0))
            np.maximum.at(table.narrow, places, own)
            if system:
                np.maximum.at(table.system, places, own if release else self.fenced_system[rows])
            if reads is not None and len(distinct(places)) < len(places):
                before = here.own[places], here.abroad[places], table.system[places], table.narrow[places]
        if reads is None:
            return
        own, abroad, everywhere, narrow = (self._best(rows, found) for found in before)
        if system:
            own, abroad = np.maximum(own, everywhere), np.maximum(abroad, everywhere)
        self.pending = np.maximum(self.pending, own)
        self.pending_abroad = np.maximum(self.pending_abroad, abroad)
        self.pending_narrow = np.maximum(self.pending_narrow, narrow)
        if reads is MemoryOrder.ACQUIRE:
            self._acquire(slice(None), own)
            self.abroad = np.maximum(self.abroad, abroad)
            self.narrow = np.maximum(self.narrow, narrow)
            self._limit = None

    def _best(self, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
        """The most that each row of the batch has found."""
        best = np.zeros(self.batch.rows, np.int64)
        np.maximum.at(best, rows, found)
        return best

    def _of_system(self, number: int) -> bool:
        """Whether the instruction of an event has system scope."""
        site = self.batch.launch.events.site(number)
        return site is not None and of_system(site)


@lru_cache(maxsize=4096)
def of_system(site: Site) -> bool:
    """Whether an instruction has system scope, as volatile ones do and `multimem.red` that names none."""
    decoded = site.decoded
    scope = decoded.find(MemoryScope)
    if scope is not None:
        return scope is MemoryScope.SYS
    if site.name == "multimem.red" or decoded["sys"]:
        return True
    orders = decoded.all(MemoryOrder)
    return MemoryOrder.VOLATILE in orders or MemoryOrder.MMIO in orders
