"""Occupancy of what can't run."""

from __future__ import annotations

from kernels import begin

from wrong_calls.fixtures import Call, halves, place, raw
from wrong_calls.launches import kernel

__all__ = ["CALLS", "begin"]

PER_SM = "cuOccupancyMaxActiveBlocksPerMultiprocessor"


def _configured(name: str, block: int, cluster: tuple[int, ...] = ()) -> tuple[int]:
    """What a launch of 16 CTAs would come to."""
    at = place(4, 0, *cluster) if cluster else 0
    configuration = place(16, 1, 1, block, 1, 1, 0, 0, 0, 0, *halves(at), 1 if cluster else 0, 0)
    return raw(name, place(), kernel(b"plain"), configuration)


CALLS: dict[str, Call] = {
    "no kernel": lambda _: raw(PER_SM, place(), 0, 32, 0),
    "a gone kernel": lambda f: raw(PER_SM, place(), f.gone_function, 32, 0),
    "no threads": lambda f: raw(PER_SM, place(), f.function, 0, 0),
    "less than no threads": lambda f: raw(PER_SM, place(), f.function, -1, 0),
    "too many threads": lambda f: raw(PER_SM, place(), f.function, 4096, 0),
    "too much shared memory": lambda f: raw(PER_SM, place(), f.function, 32, 1 << 30),
    "as much shared memory as can be said": lambda f: raw(PER_SM, place(), f.function, 32, (1 << 64) - 1),
    "nowhere": lambda f: raw(PER_SM, 0, f.function, 32, 0),
    "flags that there are not": lambda f: raw(f"{PER_SM}WithFlags", place(), f.function, 32, 0, 77),
    "the best CTA of no kernel": lambda _: raw(
        "cuOccupancyMaxPotentialBlockSize", place(), place(), 0, 0, 0, 0
    ),
    "the best CTA, nowhere": lambda f: raw("cuOccupancyMaxPotentialBlockSize", 0, 0, f.function, 0, 0, 0),
    "the best CTA of less than no threads": lambda f: raw(
        "cuOccupancyMaxPotentialBlockSize", place(), place(), f.function, 0, 0, -1
    ),
    "the best CTA of too much shared memory": lambda f: raw(
        "cuOccupancyMaxPotentialBlockSize", place(), place(), f.function, 0, 1 << 30, 0
    ),
    "the best CTA with flags that there are not": lambda f: raw(
        "cuOccupancyMaxPotentialBlockSizeWithFlags", place(), place(), f.function, 0, 0, 0, 77
    ),
    "shared memory for no CTAs": lambda f: raw(
        "cuOccupancyAvailableDynamicSMemPerBlock", place(), f.function, 0, 32
    ),
    "shared memory for less than no CTAs": lambda f: raw(
        "cuOccupancyAvailableDynamicSMemPerBlock", place(), f.function, -1, 32
    ),
    "shared memory for too many CTAs": lambda f: raw(
        "cuOccupancyAvailableDynamicSMemPerBlock", place(), f.function, 1000, 32
    ),
    "shared memory for no threads": lambda f: raw(
        "cuOccupancyAvailableDynamicSMemPerBlock", place(), f.function, 1, 0
    ),
    "shared memory for too many threads": lambda f: raw(
        "cuOccupancyAvailableDynamicSMemPerBlock", place(), f.function, 1, 4096
    ),
    "shared memory of no kernel": lambda _: raw("cuOccupancyAvailableDynamicSMemPerBlock", place(), 0, 1, 32),
    "the largest cluster of no kernel": lambda _: raw(
        "cuOccupancyMaxPotentialClusterSize", place(), 0, place(16, 1, 1, 32, 1, 1)
    ),
    "the largest cluster of no configuration": lambda f: raw(
        "cuOccupancyMaxPotentialClusterSize", place(), f.function, 0
    ),
    "the largest cluster of no threads": lambda _: _configured("cuOccupancyMaxPotentialClusterSize", 0),
    "the largest cluster of too many threads": lambda _: _configured(
        "cuOccupancyMaxPotentialClusterSize", 4096
    ),
    "clusters of no configuration": lambda f: raw("cuOccupancyMaxActiveClusters", place(), f.function, 0),
    "clusters without a cluster": lambda _: _configured("cuOccupancyMaxActiveClusters", 32),
    "clusters of 0": lambda _: _configured("cuOccupancyMaxActiveClusters", 32, (0, 1, 1)),
    "clusters that don't divide the grid": lambda _: _configured(
        "cuOccupancyMaxActiveClusters", 32, (3, 1, 1)
    ),
    "clusters of 1000": lambda _: _configured("cuOccupancyMaxActiveClusters", 32, (1000, 1, 1)),
    "clusters of too many threads": lambda _: _configured("cuOccupancyMaxActiveClusters", 4096, (2, 1, 1)),
}
