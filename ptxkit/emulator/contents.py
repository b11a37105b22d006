"""Where bytes of shared memory come from that threads stored: the same 16 bytes in global memory.

Threads that bring a matrix into shared memory load it into registers and store it. What they store tells
where it came from as long as it is rare: whoever looks for a wrong layout runs the launch with data in which
16 bytes hardly ever come twice.
"""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.global_memory import BASE, GlobalMemory

PIECE = 16
"""Bytes that are looked for at once: the unit that swizzles move."""
LARGEST = 1 << 28
"""Bytes of allocations that are looked through."""
NOWHERE, ZEROS = -1, -2
"""Of a piece that is not in global memory, or in several places; and of 16 bytes of zeros."""
MIXED = np.uint64(0x9E3779B97F4A7C15)


class GlobalContents:
    """The pieces of global memory, as they are now."""

    def __init__(self, memory: GlobalMemory) -> None:
        pieces, addresses, left = [np.zeros((0, 2), np.uint64)], [np.zeros(0, np.int64)], LARGEST
        for allocation in memory.allocations():
            size = allocation.size // PIECE * PIECE
            if size > left:
                continue
            left -= size
            start = allocation.address - BASE
            pieces.append(memory.data[start : start + size].view(np.uint64).reshape(-1, 2))
            addresses.append(allocation.address + np.arange(0, size, PIECE))
        held, places = np.concatenate(pieces), np.concatenate(addresses)
        keys = _keys(held)
        order = np.argsort(keys, kind="stable")
        keys, held, places = keys[order], held[order], places[order]
        alone = np.ones(len(keys), bool)
        alone[1:] &= keys[1:] != keys[:-1]
        alone[:-1] &= keys[1:] != keys[:-1]
        self._keys, self._held, self._places = keys[alone], held[alone], places[alone]

    def find(self, pieces: np.ndarray) -> np.ndarray:
        """The global address of each piece, (pieces, 16) bytes; else `NOWHERE` or `ZEROS`."""
        wanted = np.ascontiguousarray(pieces).view(np.uint64).reshape(-1, 2)
        found = np.full(len(wanted), NOWHERE, np.int64)
        if len(self._keys):
            at = np.minimum(np.searchsorted(self._keys, _keys(wanted)), len(self._keys) - 1)
            same = (self._held[at] == wanted).all(axis=1)
            found[same] = self._places[at[same]]
        found[~wanted.any(axis=1)] = ZEROS
        return found


def _keys(pieces: np.ndarray) -> np.ndarray:
    keys: np.ndarray = pieces[:, 0] * MIXED ^ pieces[:, 1]
    return keys
