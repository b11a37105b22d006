"""What a launch can reach: the allocations that its arguments point into, and those that these point into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pointed_at(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> set[int]:
    """The ranges that any aligned 64-bit word of some bytes points into, by their numbers.

    Args:
        data: u8[n].
        starts, ends: u64[ranges], ascending and apart: of each range the first address and the one behind
            its last.
    """
    words = data[: len(data) // 8 * 8].view(np.uint64)
    at = np.searchsorted(starts, words, side="right") - 1
    return set(np.unique(at[(at >= 0) & (words < ends[at])]).tolist())


def reachable(arguments: bytes, ranges: Sequence[tuple[int, np.ndarray]]) -> list[int]:
    """The numbers of the ranges that a kernel can reach, ascending.

    Args:
        arguments: the bytes of the parameter space.
        ranges: first address and bytes of each, ascending and apart.
    """
    starts = np.array([address for address, _ in ranges], np.uint64)
    ends = starts + np.array([len(data) for _, data in ranges], np.uint64)
    known: set[int] = set()
    found = pointed_at(np.frombuffer(arguments, np.uint8), starts, ends) if ranges else set()
    while found:
        known |= found
        found = set().union(*(pointed_at(ranges[one][1], starts, ends) for one in found)) - known
    return sorted(known)
