"""Who wrote a byte of memory last."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.access_history import THREAD, THREAD_BITS, AccessHistory
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import show
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.launch_state import LaunchState

NAMED = 4
"""CTAs that are named one by one, at most."""


def last_writer(launch: LaunchState, address: int) -> str | None:
    """Who of a launch's threads wrote a byte of global memory last, and by which instruction.

    None where nobody did, where races were not sought, or the byte is not of an allocation.
    """
    allocation = launch.memory.find(address)
    history = allocation.history if allocation is not None else None
    return _writer(launch, history, address - BASE, None)


def writing_ctas(launch: LaunchState, addresses: np.ndarray) -> np.ndarray | None:
    """The numbers of the CTAs whose threads wrote bytes of one allocation of global memory last, -1 for those
    that nobody wrote.

    None where races were not sought, or the asynchronous machine wrote some: its records do not name a CTA.
    """
    allocation = launch.memory.find(int(addresses[0]))
    history = allocation.history if allocation is not None else None
    if history is None or not history.has("write"):
        return None
    records = history.records("write")[history.granules(addresses - BASE)]
    if history.is_async(records).any():
        return None
    ctas: np.ndarray = (history.thread(records) >> THREAD_BITS).astype(np.int64)
    return np.where(records == 0, -1, ctas)


def ctas_named(launch: LaunchState, written_by: np.ndarray, wrong: np.ndarray) -> str | None:
    """Who wrote wrong elements, in words; None unless they are all that these CTAs wrote.

    Args:
        launch: whose CTAs.
        written_by: the CTA that wrote each element, -1 for none.
        wrong: the numbers of the wrong ones.
    """
    guilty, everyone = np.unique(written_by[wrong]), np.setdiff1d(written_by, [-1])
    right = np.ones(len(written_by), bool)
    right[wrong] = False
    if guilty[0] < 0 or len(guilty) == len(everyone) or np.isin(written_by[right], guilty).any():
        return None
    places = {int(cta): launch.thread(int(cta), 0).ctaid for cta in everyone}
    mine = [places[int(cta)] for cta in guilty]
    for axis, name in enumerate("xyz") if len(mine) > 1 else ():
        same = {place[axis] for place in mine}
        if len(same) == 1 and sum(place[axis] in same for place in places.values()) == len(mine):
            return f"they are all that the CTAs with `%ctaid.{name}` {same.pop()} wrote"
    if len(mine) > NAMED:
        return None
    listed = ", ".join(show(place) for place in mine)
    return f"they are all that CTA{'s' * (len(mine) > 1)} {listed} wrote"


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
