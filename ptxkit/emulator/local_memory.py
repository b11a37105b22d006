"""The local memory of threads: the stack of the functions that they call."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.addresses import LOCAL_START
from ptxkit.emulator.code import Code
from ptxkit.emulator.faults import EmulatorFault, Site, fault
from ptxkit.emulator.lane_set import LaneSet

LOCAL_LIMIT = 512 << 10
"""Bytes of local memory of a thread, on every target."""


def check_frame(code: Code) -> None:
    """The variables of an entry must find room.

    Raises:
        EmulatorFault: P611, more than a thread can have.
    """
    if code.frame > LOCAL_LIMIT:
        raise _overflow(code.frame, None, (f"variables of `{code.name}`",))


def reach_local(lane_set: LaneSet, top: int, site: Site | None) -> None:
    """Make sure that every thread has local memory up to address `top`.

    Raises:
        EmulatorFault: P611, more than a thread can have.
    """
    size, batch = top - LOCAL_START, lane_set.batch
    if size <= batch.local.stride:
        return
    if size > LOCAL_LIMIT:
        thread = lane_set.thread(*lane_set.first(np.True_))
        raise _overflow(size, site, (f"{thread}",), "a recursion without an end is the usual cause")
    batch.local = batch.local.grown(max(size, 2 * batch.local.stride))


def _overflow(size: int, site: Site | None, notes: tuple[str, ...], help: str | None = None) -> EmulatorFault:
    message = f"stack overflow: expected at most {LOCAL_LIMIT} bytes of local memory, found {size}"
    return fault("P611", message, site, notes, help)
