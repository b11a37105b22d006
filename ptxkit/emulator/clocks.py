"""The special registers that change while a kernel runs. PTX ISA 10.23, 10.24, 10.28."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.values import WARP


def _ticks(lane_set: LaneSet) -> int:
    """Time as a kernel sees it: it passes with what the launch has executed, and with every look at it."""
    launch = lane_set.launch
    launch.clock += 32
    return launch.clock + launch.counts.instructions // (WARP * launch.sm_count)


VARYING: dict[str, Callable[[LaneSet], Any]] = {
    "%clock": lambda lane_set: np.uint32(_ticks(lane_set) & 0xFFFF_FFFF),
    "%clock_hi": lambda lane_set: np.uint32(_ticks(lane_set) >> 32),
    "%clock64": lambda lane_set: np.uint64(_ticks(lane_set)),
    "%globaltimer": lambda lane_set: np.uint64(START_OF_TIME + _ticks(lane_set)),
    "%globaltimer_lo": lambda lane_set: np.uint32((START_OF_TIME + _ticks(lane_set)) & 0xFFFF_FFFF),
    "%globaltimer_hi": lambda lane_set: np.uint32((START_OF_TIME + _ticks(lane_set)) >> 32),
}
"""Special registers that are read anew each time: what computes the value for a lane set."""
START_OF_TIME = 1_700_000_000 * 10**9
"""`%globaltimer` at the first launch: nanoseconds, and the same in every run."""
