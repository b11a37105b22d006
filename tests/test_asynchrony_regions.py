"""Regions of bytes against sets of bytes, and what stands in their records."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.asynchronous.reports import Earlier
from ptxkit.emulator.memory import Bank

BANK = Bank(np.zeros(64, np.uint8))
INTERVALS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 12)), max_size=8)


def region(intervals: list[tuple[int, int]]) -> Region:
    return Region(
        BANK, np.array([a for a, _ in intervals], np.int64), np.array([n for _, n in intervals], np.int64)
    )


def touched(intervals: list[tuple[int, int]]) -> set[int]:
    return {byte for a, n in intervals for byte in range(a, a + n)}


@given(INTERVALS, INTERVALS)
def test_regions_overlap_where_their_bytes_do(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    found = region(one).overlap(region(other))
    assert (found is not None) == bool(touched(one) & touched(other))
    if found is not None:
        assert touched([one[found[0]]]) & touched([other[found[1]]])


@given(INTERVALS, st.integers(0, 60), st.integers(1, 16))
def test_holding_finds_an_interval(intervals: list[tuple[int, int]], start: int, size: int) -> None:
    found = int(region(intervals).holding(np.array([start]), size)[0])
    wanted = set(range(start, start + size))
    assert (found >= 0) == bool(touched(intervals) & wanted)
    assert found < 0 or touched([intervals[found]]) & wanted


@given(INTERVALS, st.sampled_from([1, 4, 16]))
def test_indices_are_the_units_that_are_touched(intervals: list[tuple[int, int]], unit: int) -> None:
    index, interval = region(intervals).indices(unit)
    expected = [(byte // unit, i) for i, (a, n) in enumerate(intervals) for byte in range(a, a + n)]
    assert list(zip(index.tolist(), interval.tolist(), strict=True)) == sorted(
        dict.fromkeys(expected), key=lambda e: e[1]
    )


@given(
    st.lists(st.tuples(st.integers(0, 70), st.integers(1, 2**64 - 1)), min_size=1, max_size=40),
    st.integers(0, 40),
)
def test_a_pair_of_item_and_record_is_judged_once(pairs: list[tuple[int, int]], shift: int) -> None:
    """Where both fit into 64 bits; else all of them are kept."""
    pairs = [(item, max(record >> shift, 1)) for item, record in pairs * 2]
    items, record = np.array([one for one, _ in pairs]), np.array([one for _, one in pairs], np.uint64)
    there: Any = None
    once = Earlier(there, there, there, "write", False, np.arange(len(pairs)), items, record).once()
    found = list(zip(once.items.tolist(), once.record.tolist(), strict=True))
    assert set(found) == set(pairs)
    assert once.record.dtype == record.dtype
    if max(items).item().bit_length() + max(record).item().bit_length() <= 64:
        assert len(found) == len(set(pairs))
