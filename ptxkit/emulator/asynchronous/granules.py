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
        room = ROOM
        while True:
            index, item, record = _room(room, self.history.dtype.str)
            count = self._call("runs", kind, index=index, item=item, record=record)
            if count <= room:
                return index[:count].copy(), item[:count].copy(), record[:count].copy()
            room = 1 << count.bit_length()

    def fill(self, kind: str, records: np.ndarray) -> None:
        """Set the record of all granules. `records`: one for each interval of the region."""
        if self.compiled:
            self._call("fill", kind, values=np.ascontiguousarray(records, self.history.dtype))
        else:
            index, interval = self.every
            self.history.put(kind, index, records[interval])

    @cached_property
    def _words(self) -> dict[str, int]:
        """What the code takes whatever it does."""
        from ptxkit.emulator.native import address

        region, history = self.region, self.history
        self._held = [
            np.ascontiguousarray(array, np.int64) for array in (region.start, region.size, region.item)
        ]
        starts, sizes, items = map(address, self._held)
        words = {"starts": starts, "sizes": sizes, "items": items, "count": len(region.start)}
        return words | {"first": history.start, "shift": history.granule.bit_length() - 1}

    def _call(self, name: str, kind: str, **arrays: np.ndarray) -> int:
        from ptxkit.emulator.asynchronous.granules_code import FIELDS
        from ptxkit.emulator.native import address

        arrays["records"] = self.history.records(kind)
        values = self._words | {field: address(array) for field, array in arrays.items()}
        values["room"] = len(arrays["index"]) if name == "runs" else 0
        words = np.array([values.get(field, 0) for field in FIELDS], np.int64)
        found: int = _function(name, self.history.dtype.itemsize * 8)(address(words))
        return found


class _RunRooms(threading.local):
    """Where runs go, by how many and the type of records: each thread has its own."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def __call__(self, count: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Room for so many: granules, items and records."""
        found = self.known.get((count, dtype))
        if found is None:
            found = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, dtype)
            self.known[count, dtype] = found
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
