"""Times of launches on a GPU, between events in the stream."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from ptxkit.driver.context import Context
from ptxkit.driver.errors import bindings, check
from ptxkit.driver.memory import DeviceBuffer
from ptxkit.driver.streams import Event


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of one launch, repeated.

    Attributes:
        seconds: each repetition, in order.
        cold: whether the L2 cache was flushed before each.
    """

    seconds: tuple[float, ...]
    cold: bool

    @property
    def median(self) -> float:
        """The median in seconds; it carries the cost of a pair of events, about 3 us on an H200."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, in seconds."""
        if len(self.seconds) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2


def time_launches(
    context: Context,
    launch: Callable[[], None],
    l2_bytes: int,
    repeats: int = 20,
    warmup: int = 3,
    cold: bool = True,
) -> Timing:
    """Time what `launch` puts into the default stream.

    Args:
        context: the GPU.
        launch: starts the work and returns; it must not wait for it.
        l2_bytes: size of the L2 cache; before each timed launch as much again and once more is written.
        repeats: timed launches.
        warmup: launches before them.
        cold: whether to flush the L2 cache. The flush lies outside the timed window.

    Raises:
        PtxkitError: what a launch met.
    """
    flush = DeviceBuffer.empty(context, 2 * l2_bytes, "u8") if cold else None
    for _ in range(warmup):
        launch()
    context.synchronize()
    pairs = [(Event(context), Event(context)) for _ in range(repeats)]
    for number, (start, end) in enumerate(pairs):
        if flush is not None:
            with context:
                wiped = bindings().cuMemsetD8Async(flush.address, number & 0xFF, flush.nbytes, 0)
                check(wiped, "flush the L2 cache")
        start.record()
        launch()
        end.record()
    context.synchronize()
    return Timing(tuple(end.seconds_since(start) for start, end in pairs), cold)
