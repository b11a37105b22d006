"""Where the accesses of asynchronous operations are entered: the access histories behind a region."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.distinct import distinct
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.memory import TiledBank


def histories(batch: Ctas, region: Region, kind: str) -> Iterator[tuple[AccessHistory, Region]]:
    """The histories for a region, each with the intervals that it is for."""
    bank = region.bank
    if not len(region.start):
        return
    if isinstance(bank, TiledBank):
        if bank.history is not None:
            yield bank.history, region
    elif isinstance(bank, GlobalMemory):
        owner = bank.find(region.first + BASE)
        if owner is not None and region.last + BASE <= owner.end:
            parts = [(owner, region)]
        else:
            parts = []
            for start in distinct(region.start).tolist():
                found = bank.find(start + BASE)
                if found is not None and all(found is not known for known, _ in parts):
                    keep = (region.start + BASE >= found.address) & (region.start + BASE < found.end)
                    parts.append(
                        (found, Region(bank, region.start[keep], region.size[keep], region.item[keep]))
                    )
        for owner, part in parts:
            history = owner.history
            if history is None and kind == "write":
                history = batch.launch.seek_races(owner)
            if history is not None:
                yield history, part


def granules(history: AccessHistory, region: Region) -> tuple[np.ndarray, np.ndarray]:
    """The granules of an access history that a region touches, and the interval of each."""
    moved = Region(region.bank, region.start - history.start, region.size, region.item)
    return moved.indices(history.granule)
