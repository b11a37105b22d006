"""What a launch did, counted.

What accesses cost the memory system (`Traffic`) is counted for each warp and instruction, as a GPU's profiler
does; `tools/compare_counts.py` holds it against
one. Shared memory has 32 banks of 4 bytes. A wavefront takes one word of each bank, and lanes that want the
same word share it. An access of 8 or 16 bytes a lane goes in parts, halves or quarters of the warp, each with
wavefronts of its own; but two parts of a load are one where in each pair of lanes, neighbours or lanes two
apart, both want the same or one takes no part. Lanes of an atomic operation share nothing. A bank conflict is
a wavefront beyond the first of a part.

A sector is 32 bytes of global memory. Lanes of a request that want the same sector share it; of an atomic
operation, unless they want the same place. Copies by `cp.async.cg`, which go past L1, count where they go to:
a sector of shared memory once for each line of 128 bytes that something in it comes from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import WARP, distinct

BANKS, WORD, SECTOR, LINE = 32, 4, 32, 128
SHARED = 1 << 20
"""More than the shared memory of a CTA."""
OUT = -1 << 40
"""In place of an offset: the lane takes no part."""
REMEMBERED = 1 << 16
"""Patterns whose cost is kept."""
_WEIGHTS = np.random.default_rng(0).integers(1, 1 << 62, WARP) | 1
"""Rows of offsets are told apart by their product with these, modulo 2^64."""


class Traffic:
    """The costs of a launch's accesses.

    Attributes:
        counts: by name. For shared memory `shared_wavefronts_X` and `shared_bank_conflicts_X`, for global
            memory `global_requests_X` and `global_sectors_X`; X is `loaded`, `stored`, `reduced` (by atomic
            operations and reductions) or `copied` (by `cp.async`, from global memory alone).
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._known: dict[tuple[int, int, str, bool], tuple[int, int]] = {}

    def lanes(
        self,
        space: str,
        index: Any,
        active: Any,
        rows: int,
        size: int,
        what: str,
        stride: int = 0,
        offset: int = 0,
    ) -> None:
        """Count an access of some warps.

        Args:
            space: `shared` or `global`.
            index: bytes from a multiple of 128 on: an int, or an array that broadcasts against (rows, 32).
            active: bool (rows, 32), which lanes take part; None for all.
            rows: how many warps.
            size: bytes of a lane: 1 to 16.
            what: `loaded`, `stored` or `reduced`.
            stride: from the shared memory of one CTA to that of the next.
            offset: bytes to add to the index.
        """
        shared = space == "shared"
        unit = WORD if shared else SECTOR
        warps = beyond = total = 0
        stride = stride if stride % (BANKS * WORD) else 0
        for row, count in _patterns(index, active, rows, unit, stride, offset):
            key = int((row * _WEIGHTS).sum()), size, what, shared
            cost = self._known.get(key)
            if cost is None:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                cost = wavefronts(row, size, what) if shared else (sectors(row, what), 0)
                self._known[key] = cost
            warps += count
            total += count * cost[0]
            beyond += count * cost[1]
        if warps and shared:
            self.counts[f"shared_wavefronts_{what}"] += total
            self.counts[f"shared_bank_conflicts_{what}"] += beyond
        elif warps:
            self.counts[f"global_requests_{what}"] += warps
            self.counts[f"global_sectors_{what}"] += total

    def copies(
        self,
        rows: np.ndarray,
        lanes: np.ndarray,
        sources: np.ndarray,
        sizes: np.ndarray,
        size: int,
        places: np.ndarray | None = None,
    ) -> None:
        """Count what copies of threads read of global memory. What they cost in shared memory hangs on when
        their bytes arrive, and is not counted.

        Args:
            rows, lanes: the threads.
            sources, sizes: the bytes that each reads; a size may be 0.
            size: bytes of a whole copy.
            places: where each goes in its CTA's shared memory, of copies past L1; None for those through it.
        """
        numbers, row = np.unique(rows, return_inverse=True)
        index, active = np.zeros((2, len(numbers), WARP), np.int64)
        index[row, lanes], active[row, lanes] = sources, sizes > 0
        if places is not None:
            index[row, lanes] = sources // LINE * (SHARED // SECTOR) + places // SECTOR
            pairs = np.sort(np.where(active, index, OUT), axis=1)
            apart = np.count_nonzero(pairs[:, 1:] != pairs[:, :-1], axis=1) + (pairs[:, 0] != OUT)
            self.counts["global_requests_copied"] += int(np.count_nonzero(apart))
            self.counts["global_sectors_copied"] += int(apart.sum())
            return
        self.lanes("global", index, active.astype(bool), len(numbers), size, "copied")


def _patterns(
    index: Any, active: Any, rows: int, unit: int, stride: int, offset: int
) -> Iterator[tuple[np.ndarray, int]]:
    """The ways in which the lanes of warps lie, each with how many warps lie so.

    A way is int64 (32,): offsets from a multiple of `unit`, or `OUT`.
    """
    found = np.asarray(index)
    found = found.view(np.int64) if found.dtype == np.uint64 else found.astype(np.int64, copy=False)
    found = found.reshape(1, 1) if found.ndim == 0 else found
    if stride:
        found = found % stride
    lines = found - ((found[:, :1] & -unit) - offset % unit)
    if active is not None:
        active = np.broadcast_to(active, (rows, WARP))
        lines = np.where(active, lines, OUT)[active.any(axis=1)]
        rows = len(lines)
    if not rows:
        return
    if len(lines) == 1 or (lines == lines[0]).all():
        yield np.broadcast_to(lines[0], WARP), rows
        return
    lines = np.broadcast_to(lines, (rows, WARP))
    _, first, counts = np.unique((lines * _WEIGHTS).sum(axis=1), return_index=True, return_counts=True)
    yield from zip(lines[first], counts.tolist(), strict=True)


def wavefronts(offsets: np.ndarray, size: int, what: str) -> tuple[int, int]:
    """How many wavefronts one warp's access to shared memory takes, and how many of them are bank conflicts.

    Args:
        offsets: int64 (32,), a byte for each lane, a multiple of `size`, or `OUT`.
        size: bytes of a lane.
        what: `loaded`, `stored` or `reduced`.
    """
    words = max(size // WORD, 1)
    total = beyond = 0
    for part in _parts(offsets, words, what == "loaded"):
        wanted = (part[part != OUT][:, None] // WORD + np.arange(words)).reshape(-1)
        if what != "reduced":
            wanted = distinct(wanted)
        if len(wanted):
            needed = int(np.bincount(wanted % BANKS).max())
            total += needed
            beyond += needed - 1
    return total, beyond


def _parts(offsets: np.ndarray, words: int, loads: bool) -> Iterator[np.ndarray]:
    """The lanes of each part of an access to shared memory."""
    parts = offsets.reshape(words, -1)
    if words == 1 or not loads:
        yield from parts
        return
    for two in offsets.reshape(words // 2, -1):
        lane = np.arange(len(two))
        paired = ((two == two[lane ^ step]) | (two == OUT) | (two[lane ^ step] == OUT) for step in (1, 2))
        if any(bool(pairs.all()) for pairs in paired):
            yield two
        else:
            yield from two.reshape(2, -1)


def sectors(offsets: np.ndarray, what: str) -> int:
    """How many sectors of global memory one warp's access touches; of an atomic operation how often, where
    lanes that want one place take turns.

    Args:
        offsets: int64 (32,), a byte for each lane, a multiple of the access's size, which is at most a
            sector; or `OUT`.
        what: `loaded`, `stored`, `reduced` or `copied`.
    """
    places, lanes = np.unique(offsets[offsets != OUT], return_counts=True)
    numbers, which = np.unique(places // SECTOR, return_inverse=True)
    if what != "reduced":
        return len(numbers)
    turns = np.zeros(len(numbers), np.int64)
    np.maximum.at(turns, which, lanes)
    return int(turns.sum())


class Ran(Protocol):
    """A block, as counts know it: its instructions."""

    sites: list[Site]


@dataclass(slots=True)
class Counts:
    """What a launch did.

    Attributes:
        instructions: thread-instructions, those with a false guard included.
        loaded, stored: bytes by state space, each lane's own.
        barriers: barriers completed, one a CTA; those of clusters one a cluster.
        phases: phases of mbarriers completed.
        executed: how many threads have run each block; `by_chapter` makes counts of it.
        asynchronous: operations queued, by `Site.name`: one a thread and destination, of `wgmma` one a
            warpgroup.
        multiply_adds: of the tensor cores; of a sparse product those of a dense one of its shape.
        tensor_columns: most columns of tensor memory that a CTA had at once.
        shared_bytes: shared memory of a CTA, static and dynamic.
        ctas: CTAs finished.
        traffic: what accesses cost the memory system; None where nobody asked.
    """

    instructions: int = 0
    loaded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    executed: dict[Ran, int] = field(default_factory=dict, compare=False, repr=False)
    barriers: int = 0
    phases: int = 0
    asynchronous: dict[str, int] = field(default_factory=dict)
    multiply_adds: int = 0
    tensor_columns: int = 0
    shared_bytes: int = 0
    ctas: int = 0
    traffic: Traffic | None = None

    def load(self, space: str, size: int) -> None:
        """Count bytes that lanes loaded."""
        self.loaded[space] = self.loaded.get(space, 0) + size

    def store(self, space: str, size: int) -> None:
        """Count bytes that lanes stored."""
        self.stored[space] = self.stored.get(space, 0) + size

    @property
    def by_chapter(self) -> dict[str, int]:
        """Thread-instructions by the chapter of `ptxkit.isa` that they belong to."""
        found: dict[str, int] = {}
        for block, lanes in self.executed.items():
            for site in block.sites:
                found[site.row.chapter] = found.get(site.row.chapter, 0) + lanes
        return found

    def issue(self, operation: str, count: int) -> None:
        """Count asynchronous operations."""
        self.asynchronous[operation] = self.asynchronous.get(operation, 0) + count
