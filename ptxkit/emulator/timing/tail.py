"""How much longer a grid takes of which some CTAs do more than others: multiprocessors that are through wait
for those that are not."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

FITS = 0.8
"""What CTAs do hangs on their place in the grid where so much of its variance is linear in that."""
MOST_DEALT = 1 << 16
"""Clusters of a grid that are dealt out; of more the last make no difference."""
LEAST = 0.02
"""What a CTA does at least, of what they do on the average."""


def work_of_all(numbers: Sequence[int], done: Sequence[float], grid: Sequence[int]) -> np.ndarray:
    """What each CTA of a grid does, of those that were seen: along the axes of the grid, as a triangle has
    it, or else as those seen, over and over.

    Args:
        numbers, done: those that were seen, and how much each did.
        grid: its extents.
    """
    total = int(np.prod(grid))
    extents = [
        (step, extent) for step, extent in zip(np.cumprod([1, *grid[:-1]]), grid, strict=True) if extent > 1
    ]

    def places(which: np.ndarray) -> np.ndarray:
        axes = [which // step % extent / (extent - 1) for step, extent in extents]
        return np.stack([np.ones(len(which)), *axes], axis=1)

    seen = np.asarray(done, float)
    at = places(np.asarray(numbers))
    factors = np.linalg.lstsq(at, seen, rcond=None)[0]
    left = float(((seen - at @ factors) ** 2).sum())
    if len(seen) > at.shape[1] and left < (1.0 - FITS) * float(((seen - seen.mean()) ** 2).sum()):
        return np.asarray(np.maximum(places(np.arange(total)) @ factors, LEAST * seen.mean()))
    return np.resize(seen, total)


def stretch(work: np.ndarray, places: int, resident: int, busy: float) -> float:
    """How much longer the clusters of a grid take than if no multiprocessor were through before another.

    Args:
        work: what each does, in the order in which they are dealt out.
        places: multiprocessors, or as many as a cluster takes.
        resident: clusters that one runs at once.
        busy: for which part of the time its busiest resource is, with so many: fewer get on faster by that.
    """
    if not len(work):
        return 1.0
    speeds = [0.0, *(1.0 / (1.0 - busy + busy * count / resident) for count in range(1, resident + 1))]
    # Of each place: what those that run there have done since the start, when that was so, and when they end.
    done, seen = [0.0] * places, [0.0] * places
    running: list[list[float]] = [[] for _ in range(places)]
    turns = [0] * places
    events: list[tuple[float, int, int]] = []

    def begin(place: int, size: float) -> None:
        heapq.heappush(running[place], done[place] + size)

    def plan(place: int) -> None:
        turns[place] += 1
        if running[place]:
            left = running[place][0] - done[place]
            heapq.heappush(events, (seen[place] + left / speeds[len(running[place])], place, turns[place]))

    first = min(len(work), places * resident)
    for number in range(first):
        begin(number % places, float(work[number]))
    for place in range(places):
        plan(place)
    following, now = first, 0.0
    while events:
        time, place, turn = heapq.heappop(events)
        if turn != turns[place]:
            continue
        now = time
        done[place] = heapq.heappop(running[place])
        seen[place] = now
        if following < len(work):
            begin(place, float(work[following]))
            following += 1
        plan(place)
    return now / (float(work.sum()) / places / resident)
