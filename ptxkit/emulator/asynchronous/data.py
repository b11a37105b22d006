"""Moving the bytes of regions, with their undefined bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.distinct import distinct
from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import Bank, TiledBank

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
        data: the bytes.
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
