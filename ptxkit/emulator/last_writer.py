"""Who wrote a byte of memory last."""

from __future__ import annotations

from ptxkit.emulator.access_history import THREAD, THREAD_BITS, AccessHistory
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.launch_state import LaunchState


def last_writer(launch: LaunchState, address: int) -> str | None:
    """Who of a launch's threads wrote a byte of global memory last, and by which instruction.

    None where nobody did, where races were not sought, or the byte is not of an allocation.
    """
    allocation = launch.memory.find(address)
    history = allocation.history if allocation is not None else None
    return _writer(launch, history, address - BASE, None)


def last_writer_of_shared(batch: CtaBatch, cta: int, address: int) -> str | None:
    """The same for a byte of the shared memory of a CTA of a batch; `address` as `ld.shared` has it."""
    offset = cta * batch.shared.stride + address - batch.launch.shared.start
    return _writer(batch.launch, batch.shared.history, offset, int(batch.ctas[cta]))


def _writer(launch: LaunchState, history: AccessHistory | None, offset: int, cta: int | None) -> str | None:
    """`cta`: whose memory it is, where it is a CTA's own."""
    if history is None or not history.has("write"):
        return None
    place = int(history.granules(offset))
    record = history.records("write")[place : place + 1]
    site = launch.events.site(int(history.number(record)[0])) if record.any() else None
    if site is None:
        return None
    by = f"`{site.instruction.spelling}` at {site.where}"
    if history.is_async(record)[0]:
        return f"{by}, asynchronously"
    thread = int(history.thread(record)[0])
    whose = thread >> THREAD_BITS if cta is None or not history.private else cta
    return f"{by}, {launch.thread(whose, thread & THREAD)}"
