"""Copies that look at what they copy, and report elements of a pattern. PTX ISA 9.4, 9.7.10.28.1.3.

A producer marks memory that holds no data yet by a pattern that data never has; a copy that meets it reports
on the mbarrier that it signals. Which element of 16 bytes is sampled is told nowhere: here it is the first
one that is copied, in random order any.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.faults import Site
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.isa.modifiers import Validity

CHUNK = 16
"""Bytes of which one element is sampled, aligned in the source."""


def reporting(validity: Validity, source: Region, count: int, site: Site, launch: LaunchState) -> np.ndarray:
    """Which items of an operation report, by what its source holds now.

    Args:
        validity: what they look for.
        source: in global memory, what they read.
        count: how many items there are.

    Returns:
        bool (count,).

    Reports P605, an element that is looked at has undefined bits, and no other one of its item is found; then
    what it holds counts.
    """
    byte, interval = source.indices()
    chunks, which = np.unique(byte // CHUNK, return_inverse=True)
    copied = np.zeros((len(chunks), CHUNK), bool)
    copied[which, byte % CHUNK] = True
    looked = _looked_at(validity, copied, launch)
    whole = np.minimum(chunks[:, None] * CHUNK + np.arange(CHUNK), len(source.bank.data) - 1)
    equal = looked & (_elements(source.bank.data[whole], validity.bits) == validity.pattern)
    item = source.item[interval]

    def items(chosen: np.ndarray) -> np.ndarray:
        some: np.ndarray = np.any(chosen, axis=1)
        found = np.zeros(count, bool)
        found[item[some[which]]] = True
        return found

    if source.bank.shadow is not None:
        unknown = looked & (_elements(source.bank.shadow[whole], validity.bits) != 0)
        doubtful = unknown.any(axis=1)[which] & ~items(equal & ~unknown)[item]
        if doubtful.any():
            _report_undefined(source, int(byte[np.argmax(doubtful)]), site, launch)
    return items(equal)


def _looked_at(validity: Validity, copied: np.ndarray, launch: LaunchState) -> np.ndarray:
    """Which elements of each 16 bytes are looked at, of those that are copied whole; bool."""
    parts = np.repeat(copied, 8 // min(validity.bits, 8), axis=1)
    there: np.ndarray = np.all(parts.reshape(len(copied), -1, max(validity.bits // 8, 1)), axis=2)
    if not validity.sampled:
        return there
    rank: Any = np.arange(there.shape[1])[::-1]
    if launch.random is not None:
        rank = launch.random.random(there.shape)
    chosen = np.argmax(np.where(there, rank, -1.0), axis=1)
    return there & (np.arange(there.shape[1]) == chosen[:, None])


def _elements(chunks: np.ndarray, bits: int) -> np.ndarray:
    """The elements of chunks, uint8 (n, 16): (n, 128 / bits), those of 4 bits from the low half of a byte."""
    if bits == 4:
        return np.stack([chunks & 0xF, chunks >> 4], axis=2).reshape(len(chunks), -1)
    return np.ascontiguousarray(chunks).view(f"u{bits // 8}")


def _report_undefined(source: Region, place: int, site: Site, launch: LaunchState) -> None:
    origins = source.bank.origins
    number = launch.origin(int(origins[place >> 2]) if origins is not None else 0, site)
    notes, labels = launch.origins.describe(number or launch.origins.of_copy(site))
    message = "undefined: whether the copy reports depends on bits that were never written"
    launch.report("P605", message, site, notes, labels=[label for label in labels if label.span != site.span])
