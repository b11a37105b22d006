"""Who wrote a byte of global memory last."""

from __future__ import annotations

from ptxkit.emulator.access_history import THREAD, THREAD_BITS
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.launch_state import LaunchState


def last_writer(launch: LaunchState, address: int) -> str | None:
    """Who of a launch's threads wrote a byte of global memory last, and by which instruction.

    None where nobody did, where races were not sought, or the byte is not of an allocation.
    """
    allocation = launch.memory.find(address)
    history = allocation.history if allocation is not None else None
    if history is None or not history.has("write"):
        return None
    place = int(history.granules(address - BASE))
    record = history.records("write")[place : place + 1]
    site = launch.events.site(int(history.number(record)[0])) if record.any() else None
    if site is None:
        return None
    by = f"`{site.instruction.spelling}` at {site.where}"
    if history.is_async(record)[0]:
        return f"{by}, asynchronously"
    thread = int(history.thread(record)[0])
    return f"{by}, {launch.thread(thread >> THREAD_BITS, thread & THREAD)}"
