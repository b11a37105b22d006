"""Where the accesses of asynchronous operations are entered: the ledgers behind a region."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.ledger import Ledger
from ptxkit.emulator.memory import BASE, GlobalMemory, TiledBank

if TYPE_CHECKING:
    from ptxkit.emulator.gang import Gang


def ledgers(gang: Gang, region: Region, kind: str) -> Iterator[tuple[Ledger, Region]]:
    """The ledgers for a region, each with the intervals that it is for."""
    bank = region.bank
    if not len(region.start):
        return
    if isinstance(bank, TiledBank):
        if bank.ledger is not None:
            yield bank.ledger, region
    elif isinstance(bank, GlobalMemory):
        owner = bank.find(region.first + BASE)
        if owner is not None and region.last + BASE <= owner.end:
            parts = [(owner, region)]
        else:
            parts = []
            for start in np.unique(region.start).tolist():
                found = bank.find(start + BASE)
                if found is not None and all(found is not known for known, _ in parts):
                    keep = (region.start + BASE >= found.address) & (region.start + BASE < found.end)
                    parts.append(
                        (found, Region(bank, region.start[keep], region.size[keep], region.item[keep]))
                    )
        for owner, part in parts:
            ledger = owner.ledger
            if ledger is None and kind == "write":
                ledger = gang.launch.seek_races(owner)
            if ledger is not None:
                yield ledger, part


def granules(ledger: Ledger, region: Region) -> tuple[np.ndarray, np.ndarray]:
    """The granules of a ledger that a region touches, and the interval of each."""
    moved = Region(region.bank, region.start - ledger.start, region.size, region.item)
    return moved.indices(ledger.granule)
