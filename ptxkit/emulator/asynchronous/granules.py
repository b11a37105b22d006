"""The records of a region in an access history, granule by granule: by numpy, or by compiled code.

Code is compiled once there has been enough to look at, and where the `jit` extra may be used.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.ctas import Ctas

WORTH = 1 << 20
"""Granules looked at before code is compiled for that: about what its compilation costs."""
EACH = 1 << 11
"""Granules in whose time numpy begins."""
ROOM = 1 << 12
"""Runs that are found without a second look."""
KIND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_WORDS = ctypes.c_int64 * 12

_seen = 0


class Granules:
    """The granules of an access history that a region touches. `region`: in the history's memory."""

    def __init__(self, batch: Ctas, history: AccessHistory, region: Region) -> None:
        global _seen
        self.history, self.region = history, region
        self.compiled = False
        if batch.launch.options.jit:
            if _seen < WORTH:
                _seen += region.total // history.granule + EACH
            self.compiled = _seen >= WORTH

    @cached_property
    def every(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each granule, and the interval that it belongs to."""
        region = self.region
        moved = Region(region.bank, region.start - self.history.start, region.size, region.item)
        return moved.indices(self.history.granule)

    def runs(self, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Runs of granules one after the other of which the same record stands, of the same item; without
        those of which none does. For each the number of its first granule, the item and the record."""
        if not self.compiled:
            index, interval = self.every
            record = self.history.take(kind, index)
            at = np.flatnonzero(record)
            items = self.region.item[interval]
            at = at[begins(record[at], items[at])]
            return index[at], items[at], record[at]
        room = _room(ROOM, self.history.dtype.str)
        count = self._call("runs", kind, room.words)
        if count > ROOM:
            room = RunRoom(count, self.history.dtype.str)
            self._call("runs", kind, room.words)
        return room.index[:count].copy(), room.item[:count].copy(), room.record[:count].copy()

    def fill(self, kind: str, records: np.ndarray) -> None:
        """Set the record of all granules. `records`: one for each interval of the region."""
        if self.compiled:
            from ptxkit.emulator.native import address

            values = np.ascontiguousarray(records, self.history.dtype)
            self._call("fill", kind, (address(values), 0, 0, 0, 0))
        else:
            index, interval = self.every
            self.history.put(kind, index, records[interval])

    @cached_property
    def _words(self) -> tuple[int, ...]:
        """What the code takes whatever it does, behind the records: see `granules_code.FIELDS`."""
        from ptxkit.emulator.native import address

        region, history = self.region, self.history
        shift = history.granule.bit_length() - 1
        return len(region.start), *map(address, region.intervals), history.start, shift

    def _call(self, name: str, kind: str, further: tuple[int, ...]) -> int:
        from ptxkit.emulator.native import address

        words = _WORDS(address(self.history.records(kind)), *self._words, *further)
        found: int = _function(name, self.history.dtype.itemsize * 8)(words)
        return found


class RunRoom:
    """Where so many runs go: granules, items, and records of a type. `words`: what the code takes for it."""

    def __init__(self, count: int, dtype: str) -> None:
        from ptxkit.emulator.native import address

        self.index, self.item = np.empty(count, np.int64), np.empty(count, np.int64)
        self.record = np.empty(count, dtype)
        self.words = 0, *map(address, (self.index, self.item, self.record)), count


class _RunRooms(threading.local):
    """Room by how much and the type of records: each thread has its own."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], RunRoom] = {}

    def __call__(self, count: int, dtype: str) -> RunRoom:
        """Room for so many."""
        found = self.known.get((count, dtype))
        if found is None:
            found = self.known[count, dtype] = RunRoom(count, dtype)
        return found


_room = _RunRooms()


@cache
def _function(name: str, bits: int) -> Any:
    from ptxkit.emulator.asynchronous.granules_code import granules_code
    from ptxkit.emulator.native import compiler

    return compiler().function(granules_code(name, bits), KIND)


def begins(record: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Where runs begin of granules side by side of which the same record stands, of the same item: bool."""
    found = np.ones(len(record), bool)
    found[1:] = (record[1:] != record[:-1]) | (item[1:] != item[:-1])
    return found
