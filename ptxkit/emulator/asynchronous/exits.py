"""What threads leave behind when they exit, and what still reaches for the shared memory of a CTA by then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptxkit.emulator.access_history import THREAD, THREAD_BITS
from ptxkit.emulator.asynchronous.hazards import Hazards
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Membership, Transaction
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site
from ptxkit.emulator.values import WARP, distinct, first_true

KINDS = (("write", "write"), ("last read", "read"), ("first read", "read"))
MEET = "wait for what other CTAs send, and let all CTAs of the cluster meet at a barrier before any exits"


def exited(hazards: Hazards, pending: Sequence[AsyncOperation], rows: np.ndarray) -> None:
    """Look at what some rows, whose threads have exited, leave behind.

    Args:
        hazards: what is in flight.
        pending: what has not been delivered.
        rows: of the batch.

    Raises:
        EmulatorFault: P694, a CTA is gone, all its threads, and another one's thread or operation may still
            access its shared memory. What the CTA's own operations may still read is a warning, P659, and so
            are copies that nobody committed, P656.
    """
    batch = hazards.batch
    ctas = distinct(rows // batch.warps_per_cta)
    gone = ctas[~batch.alive.reshape(len(batch.ctas), -1)[ctas].any(axis=1)]
    if not len(gone):
        return
    for operation in hazards.in_flight:
        _check_committed(operation, gone)
        _check_bytes(operation, gone)
    if batch.cluster > 1:
        for cta in gone.tolist():
            _check_arrivals(hazards, pending, cta)
            _check_accesses(hazards, cta)


def issued(operation: AsyncOperation, mbarriers: MBarriers) -> None:
    """Look at where an operation that is being issued works. Raises P694, it writes to the shared memory of a
    CTA that has exited, or signals there."""
    batch = operation.batch
    if batch.cluster == 1:
        return
    running: np.ndarray = np.any(batch.alive.reshape(len(batch.ctas), -1), axis=1)
    if running.all():
        return
    for region in (*operation.reads, *operation.writes):
        if region.bank is batch.shared:
            _refuse(operation, region.start // batch.shared.stride, region.item, running)
    slots = _slots(operation)
    _refuse(operation, mbarriers.cta_of(slots), np.arange(len(slots)), running)


def _refuse(operation: AsyncOperation, tiles: np.ndarray, items: np.ndarray, running: np.ndarray) -> None:
    if (at := first_true(~running[tiles])) is not None:
        batch = operation.batch
        batch.launch.report(
            "P694",
            f"shared memory of CTA {batch.name_cta(int(tiles[at]))}, which has exited, is accessed",
            operation.site,
            (operation.thread(int(items[at])),),
            MEET,
        )


def _slots(operation: AsyncOperation) -> np.ndarray:
    """The mbarrier that each item signals; empty where it signals none."""
    signal = operation.signal
    return signal.slots if isinstance(signal, Arrival | Transaction) else np.zeros(0, np.int64)


def _check_bytes(operation: AsyncOperation, gone: np.ndarray) -> None:
    """Whether an operation in flight may still read or write the shared memory of CTAs that are gone."""
    batch = operation.batch
    for regions, flags, verb in (
        (operation.reads, operation.unread, "read"),
        (operation.writes, operation.unwritten, "write"),
    ):
        for region in regions:
            if region.bank is not batch.shared or not flags.any():
                continue
            held = region.of_items(flags)
            tile = held.start // batch.shared.stride
            own = tile == operation.rows[held.item] // batch.warps_per_cta
            hit = np.isin(tile, gone)
            if (hit & ~own).any():
                at = int(np.argmax(hit & ~own))
                who = operation.thread(int(held.item[at]))
                _foreign(
                    batch, int(tile[at]), operation.site, f"{verb} its shared memory", f"issued by {who}"
                )
            if operation.proxied is not None:
                hit &= operation.proxied[held.item] == 0
            if verb == "read" and hit.any():
                at = int(np.argmax(hit))
                batch.launch.warn(
                    "P659",
                    f"CTA {batch.name_cta(int(tile[at]))} exits while this "
                    "operation may still read its shared memory",
                    operation.site,
                    (f"issued by {operation.thread(int(held.item[at]))}",),
                )


def _foreign(batch: Ctas, cta: int, site: Site | None, does: str, who: str) -> None:
    message = f"CTA {batch.name_cta(cta)} exits while another CTA's instruction may still {does}"
    batch.launch.report("P694", message, site, (who,), MEET)


def _check_arrivals(hazards: Hazards, pending: Sequence[AsyncOperation], cta: int) -> None:
    """Whether all arrivals of other CTAs have come for which a CTA's mbarriers are told, so that it knows.

    A thread of the CTA knows of an arrival if it has waited for its phase, or for that of a later
    `tcgen05.commit` of the same thread: these arrive in their order. An arrival by a thread itself is known
    by any order of threads.
    """
    batch, barriers = hazards.batch, hazards.mbarriers
    mine = np.flatnonzero(barriers.live & (barriers.place // batch.shared.stride == cta))
    visited = mine[barriers.visited[mine] > 0]
    observed = barriers.visited[visited] <= barriers.observed[visited]
    known: dict[int, int] = {}
    own = frozenset(mine.tolist())
    for slot in visited[observed].tolist():
        number = -int(barriers.visited_at[slot])
        if number > 0 and _is_commit(batch.launch.events.site(number)):
            visitor = int(barriers.visitor[slot])
            known[visitor] = max(known.get(visitor, 0), number)
    for operation in pending:
        slots = _slots(operation)
        signalled = slots.tolist()
        if own.isdisjoint(signalled):
            continue
        hit = np.array([slot in own for slot in signalled]) & (
            operation.rows[: len(slots)] // batch.warps_per_cta != cta
        )
        if not hit.any():
            continue
        at = int(np.argmax(hit))
        visitor = int(operation.rows[at]) * WARP + int(operation.lanes[at])
        if not _is_commit(operation.site) or known.get(visitor, 0) < operation.number:
            does = _arrives(barriers, int(slots[at]))
            _foreign(batch, cta, operation.site, does, f"issued by {operation.thread(at)}")
    rows = np.arange(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
    for slot in visited[~observed].tolist():
        number, visitor = int(barriers.visited_at[slot]), int(barriers.visitor[slot])
        site = batch.launch.events.site(abs(number))
        if number < 0:
            waited_for = _is_commit(site) and known.get(visitor, 0) > -number
        else:
            by = np.full(len(rows), visitor // WARP)
            waited_for = bool(hazards.happens_before.covers(rows, by, np.full(len(rows), number)).any())
        if not waited_for:
            _foreign(batch, cta, site, _arrives(barriers, slot), barriers.thread(visitor))


def _arrives(mbarriers: MBarriers, slot: int) -> str:
    batch, place = mbarriers.batch, int(mbarriers.place[slot])
    return f"arrive at its mbarrier at {place % batch.shared.stride + batch.launch.shared.start:#x}"


def _is_commit(site: Site | None) -> bool:
    return site is not None and "commits" in site.row.traits


def _check_accesses(hazards: Hazards, cta: int) -> None:
    """Whether accesses of other CTAs' threads to a CTA's shared memory are ordered before its exit."""
    batch = hazards.batch
    history = batch.shared.history
    if history is None or history.private:
        return
    first, last = (
        int(history.granules(at)) for at in (cta * batch.shared.stride, (cta + 1) * batch.shared.stride)
    )
    rows = np.arange(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
    for kind, verb in KINDS:
        if not history.has(kind):
            continue
        # Neighbours mostly have the same record: without those there is little to sort.
        every = history.records(kind)[first:last]
        records = distinct(every[np.append(True, every[1:] != every[:-1])])
        owner = (history.thread(records) >> history.dtype.type(THREAD_BITS)).astype(np.int64)
        others = (records != 0) & ~history.is_async(records)
        others &= owner != int(batch.ctas[cta]) + batch.launch.first_cta
        others &= history.number(records) >= batch.launch.events.first
        for record in records[others]:
            who = (int(history.thread(record)) >> THREAD_BITS) - batch.launch.first_cta
            if not hazards.happens_before.covers_records(history, np.full(len(rows), record), rows).any():
                site = batch.launch.events.site(int(history.number(record)))
                thread = batch.launch.thread(who, int(history.thread(record)) & THREAD)
                _foreign(batch, cta, site, f"{verb} its shared memory", str(thread))


def _check_committed(operation: AsyncOperation, gone: np.ndarray) -> None:
    signal = operation.signal
    if not isinstance(signal, Membership) or signal.groups.name != "cp.async":
        return
    left = signal.index >= signal.groups.committed[operation.rows, operation.lanes]
    left &= operation.unwritten & np.isin(operation.rows // operation.batch.warps_per_cta, gone)
    if left.any():
        message = "a CTA exits with copies that were neither committed nor waited for"
        thread = operation.thread(int(np.argmax(left)))
        operation.batch.launch.warn("P656", message, operation.site, (thread,))
