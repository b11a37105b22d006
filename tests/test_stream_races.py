"""The order of streams' work, and the first bytes that unordered work shares, against a plain search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.virtual.calling import NOWHERE
from ptxkit.virtual.gpu.stream_order import OrderedOperation, StreamOrder
from ptxkit.virtual.gpu.stream_races import FinishedWork, StreamRaces, TouchedBytes

BUFFER = Allocation(BASE, 64, "a buffer")


def touched(stretches: list[tuple[int, int]], write: bool, strong: bool = False) -> TouchedBytes:
    starts, ends = (np.array(part, np.int64) + BASE for part in zip(*stretches, strict=True))
    return TouchedBytes(BUFFER, starts, ends, write, np.full(len(starts), strong))


def told(order: StreamOrder, works: list[tuple[OrderedOperation, TouchedBytes]]) -> list[str]:
    """The messages of operations that happen one after another."""
    races, found = StreamRaces(order), []
    for number, (place, bytes_) in enumerate(works):
        place.begin()
        work = FinishedWork(place, f"work {number}", "a stream", NOWHERE, [bytes_])
        found += [race.message for race in races.add(work, place)]
    return found


STRETCHES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4), st.integers(0, 5)), min_size=1).map(
    lambda parts: [
        (end - length, end)
        for end, length in zip(
            np.cumsum([gap + length for _, length, gap in parts]).tolist(),
            [length for _, length, _ in parts],
            strict=True,
        )
    ]
)
"""Stretches in order that do not meet, though they may touch."""


@given(STRETCHES, STRETCHES, st.booleans(), st.booleans(), st.booleans())
def test_what_both_touch(first: list, second: list, one: bool, other: bool, strong: bool) -> None:
    first = [(start, min(end, start + 4)) for start, end in first]
    order = StreamOrder()
    works = [
        (order.place([], 0), touched(first, one, strong)),
        (order.place([], 0), touched(second, other, True)),
    ]
    common = {byte for start, end in first for byte in range(start, end)}
    common &= {byte for start, end in second for byte in range(start, end)}
    races = told(order, works)
    assert len(races) == bool(common and (one or other) and not strong)
    if races:
        place = int(races[0].split(" at 0x")[1].split()[0], 16) - BASE
        assert place == min(common)


@given(st.data())
def test_an_order_is_that_of_the_graph(data: st.DataObject) -> None:
    """Streams, events and waits of the host at random: two operations are ordered if a path leads there."""
    order, places, edges = StreamOrder(), [], []
    tails: dict[int, int] = {}
    seen: set[int] = set()
    for number in range(data.draw(st.integers(2, 12))):
        stream = data.draw(st.integers(0, 3))
        events = data.draw(st.lists(st.integers(0, number - 1), max_size=2)) if number else []
        before = [tails[stream]] if stream in tails else []
        place = order.place([places[at] for at in [*before, *events]], 0)
        place.begin()
        places.append(place)
        edges.append({*before, *events, *seen})
        tails[stream] = number
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            waited = data.draw(st.integers(0, number))
            order.saw(places[waited])
            seen |= {waited}

    def reaches(number: int) -> set[int]:
        return {number}.union(*(reaches(at) for at in edges[number]))

    for later, place in enumerate(places):
        ahead = reaches(later)
        assert {at for at, other in enumerate(places[: later + 1]) if other.is_before(place)} == ahead


def test_what_is_said_of_a_race() -> None:
    order = StreamOrder()
    works = [(order.place([], 0), touched([(0, 8)], True)), (order.place([], 0), touched([(4, 64)], False))]
    (message,) = told(order, works)
    what = "4 bytes at 0x7e0000000004 of global memory"
    assert message == f"STREAM-RACE: work 1 reads {what} that work 0 writes, and nothing orders the two"
