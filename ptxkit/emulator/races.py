"""Data races in shared and global memory: SMEM-RACE, GMEM-RACE. PTX ISA chapter 8.

Two accesses race if they are of different threads, one writes, not both are strong, and the later one's warp
has not seen the earlier one (`ptxkit.emulator.order`). For each granule of memory a `Ledger` holds the last
write, and the first and the last read that later writes may have to be ordered with. Races may be missed
that way, but none is invented. Stores of the value that is there already are no race, nor are plain loads
of global memory that others change atomically: compilers make such loads. Nor is a strong access that comes,
without a fence, after a relaxed read of what a fence published: no GPU makes it earlier, and CUDA's samples
rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import Label
from ptxkit.emulator.barrier_phases import crowds_between
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lanes_apart import LANE_APART, MEET_FIRST
from ptxkit.emulator.ledger import ATOMIC, STRONG, THREAD, THREAD_BITS, WEAK, Ledger
from ptxkit.emulator.memory import BASE
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.execution import Execution


def check_load(access: Access, ledger: Ledger, size: int, strong: bool) -> int:
    """Look for a write that the load races with, and enter the load.

    Returns:
        The load's number.
    """
    gang = access.group.gang
    number = gang.launch.events.take(access.site)
    index = np.atleast_2d(np.asarray(access.index))
    own = _own_records(access, ledger, number, STRONG if strong else WEAK, index.shape)
    at = ledger.granules(_of_active(index, lanes_of(access.group, access.guard, index.shape)))
    limit = ledger.limit(gang.order.limit(access.group, ledger.private))
    for start, count in ledger.parts(size):
        place = at + start if start else at
        if ledger.has("write"):
            record = ledger.read("write", place, count)
            if _reaches(record, limit):
                _examine_reads(access, ledger, record, own, record >= limit, strong)
        first = ledger.read("first read", place, count)
        if not _all_reach(first, limit):
            # Rows that share a place: the first of them stands for all, by what it has seen.
            alone = index.shape[0] == 1 and np.size(limit) > 1
            seen = limit[_standing_row(access)] if alone else limit
            backward = np.where(first < seen, own[..., None], first)[::-1, ::-1]
            ledger.write("first read", place[::-1, ::-1], backward, count)
        last = own
        if index.shape[0] == 1 and access.group.n > 1:
            last = _own_records(access, ledger, number, STRONG if strong else WEAK, index.shape, last=True)
        ledger.write("last read", place, np.broadcast_to(last, place.shape)[..., None], count)
    return number


def check_store(access: Access, ledger: Ledger, values: tuple[Any, ...], width: int, strong: bool) -> int:
    """Look for accesses that a store races with, and enter the store; before it is made.

    Returns:
        The store's number.
    """
    gang = access.group.gang
    number = gang.launch.events.take(access.site)
    index, spread, active = access.spread(values)
    index = np.atleast_2d(np.asarray(index))
    own = _own_records(access, ledger, number, STRONG if strong else WEAK, index.shape)
    own = np.broadcast_to(own, index.shape)
    if access.space == "shared" and index.shape != (access.group.n, WARP):
        gang.launch.events.together[number] = _rows(access)
    index = _of_active(index, active)
    at = ledger.granules(index)
    limit = ledger.limit(gang.order.limit(access.group, ledger.private))
    for start, count in ledger.parts(width * len(values)):
        place = at + start if start else at
        for kind in KINDS:
            if not ledger.has(kind):
                continue
            record = ledger.read(kind, place, count)
            if _reaches(record, limit):
                flagged = (record >= limit) & _changes(access, index, spread, width)[..., None]
                _examine(access, ledger, record, own, flagged, strong, kind, "write")
        ledger.write("write", place, own[..., None], count)
        if not strong and index.size > 1:
            record = ledger.read("write", place, count)[..., :1]
            _check_duplicates(access, ledger, record, own, index, spread)
    return number


def enter_atomic(access: Access, ledger: Ledger, size: int) -> int:
    """Look for weak accesses that an atomic operation races with, and enter it.

    Returns:
        The operation's number.
    """
    gang = access.group.gang
    if gang.launch.program.asynchronous:
        access.meet_flying(size, True)
    number = gang.launch.events.take(access.site)
    index = np.broadcast_to(np.asarray(access.index), (access.group.n, WARP))
    own = _own_records(access, ledger, number, STRONG | ATOMIC, index.shape)
    at = ledger.granules(_of_active(index, lanes_of(access.group, access.guard, index.shape)))
    limit = ledger.limit(gang.order.limit(access.group, ledger.private))
    for start, count in ledger.parts(size):
        if ledger.has("write"):
            record = ledger.read("write", at + start, count)
            if _reaches(record, limit):
                _examine(access, ledger, record, own, record >= limit, True, "write", "write")
        ledger.write("write", at + start, own[..., None], count)
    return number


KINDS = ("write", "first read", "last read")


def _reaches(record: Any, limit: Any) -> bool:
    """Whether any record is at the limit or beyond."""
    if isinstance(limit, int):
        return int(record.max()) >= limit
    return bool((record >= limit).any())


def _all_reach(record: Any, limit: Any) -> bool:
    if isinstance(limit, int):
        return int(record.min()) >= limit
    return bool((record >= limit).all())


def _of_active(index: Any, active: Any) -> Any:
    """An index whose lanes that take no part have the place of one that does."""
    if active is None or active.ndim == 0:
        return index
    return np.where(active, index, index.flat[int(np.broadcast_to(active, index.shape).argmax())])


def _own_records(
    access: Access, ledger: Ledger, number: int, strength: int, shape: tuple[int, ...], last: bool = False
) -> Any:
    """The record of the thread behind each place of an index.

    Lanes that share a place share the first one's, or with `last` that of the last row; lanes that take no
    part have that of one that does.
    """
    group = access.group
    threads = group.special("own slot" if ledger.private else "own record")
    active = lanes_of(group, access.guard, (group.n, WARP))
    if active is not None:
        active = np.broadcast_to(active, (group.n, WARP))
    if shape[0] == 1 and group.n > 1:
        row = _standing_row(access, last)
        threads = threads[row : row + 1]
        active = active[row : row + 1] if active is not None else None
    if shape[1] == 1:
        lane = np.argmax(active, axis=1) if active is not None else np.zeros(len(threads), np.intp)
        threads = threads[np.arange(len(threads)), lane].reshape(-1, 1)
        if active is not None:
            some = active.any(axis=1)
            threads = np.where(some[:, None], threads, threads[int(some.argmax())])
    elif active is not None:
        threads = np.where(active, threads, threads.flat[int(active.argmax())])
    return ledger.own(number, strength, threads)


def _standing_row(access: Access, last: bool = False) -> int:
    """Which of the rows that share a place stands for all: the first, or the last, that takes part."""
    group = access.group
    active = lanes_of(group, access.guard, (group.n, WARP))
    some = np.any(np.broadcast_to(True if active is None else active, (group.n, WARP)), axis=1)
    return group.n - 1 - int(np.argmax(some[::-1])) if last else int(np.argmax(some))


def _changes(access: Access, index: Any, values: tuple[Any, ...], width: int) -> Any:
    """Where a store would change what is there."""
    held = access.bank.load(index, width, len(values))
    changed: Any = np.False_
    for old, new in zip(held, values, strict=True):
        differs = old != new
        changed = changed | (differs.any(axis=-1) if differs.ndim == 3 else differs)
    return changed


def _check_duplicates(
    access: Access, ledger: Ledger, record: Any, own: Any, index: Any, values: tuple[Any, ...]
) -> None:
    """Lanes of one store that hit one place with different values race with each other."""
    other = record[..., 0] != own
    active = lanes_of(access.group, access.guard, other.shape)
    if active is not None:
        other = other & active
    if not other.any():
        return
    flat = np.broadcast_to(index, other.shape).reshape(-1)
    order = np.argsort(flat, kind="stable")
    if active is not None:
        order = order[np.broadcast_to(active, other.shape).reshape(-1)[order]]
    same = flat[order][1:] == flat[order][:-1]
    for value in values:
        lanes = np.broadcast_to(value, other.shape if value.ndim != 3 else (*other.shape, 2))
        lanes = lanes.reshape(-1, 2) if value.ndim == 3 else lanes.reshape(-1, 1)
        differs = (lanes[order][1:] != lanes[order][:-1]).any(axis=1) & same
        if differs.any():
            at = int(np.argmax(differs))
            pair = [int(order[at + i]) for i in (0, 1)]
            parties = [_party(access, ledger, own.reshape(-1)[lane]) for lane in pair]
            _report(access, parties[0], parties[1], int(flat[pair[0]]), "write", "write")


def _rows(access: Access) -> frozenset[int]:
    """The gang's rows of which some lane takes part in an access; none where it is one lane's alone."""
    group = access.group
    lanes = lanes_of(group, access.guard, (group.n, WARP))
    lanes = np.broadcast_to(True if lanes is None else lanes, (group.n, WARP))
    on = lanes.any(axis=1) & (np.count_nonzero(lanes) > 1)
    rows: np.ndarray = np.flatnonzero(on) if group.rows is None else group.rows[on]
    return _interned(tuple(rows.tolist()))


@lru_cache(maxsize=1024)
def _interned(rows: tuple[int, ...]) -> frozenset[int]:
    return frozenset(rows)


def _examine_reads(access: Access, ledger: Ledger, record: Any, own: Any, flagged: Any, strong: bool) -> None:
    """`_examine` for a load: threads that load one place together are looked at one by one.

    A store of several threads to one place has the record of the first; those of its warps wrote it, too.
    """
    group = access.group
    shape = (group.n, WARP)
    if access.space == "shared" and own.shape != shape and group.lanes > 1:
        number = int(ledger.number(own.flat[0]))
        own = _own_records(access, ledger, number, STRONG if strong else WEAK, shape)
        flagged = np.broadcast_to(flagged, (*shape, flagged.shape[-1])) & ~ledger.is_async(record)
        together = group.gang.launch.events.together
        rows = np.arange(group.gang.rows) if group.rows is None else group.rows
        for number in np.unique(ledger.number(record)).tolist():
            if number in together:
                wrote = np.array([row in together[number] for row in rows.tolist()])[:, None, None]
                flagged = flagged & ~((ledger.number(record) == number) & wrote)
    _examine(access, ledger, record, own, flagged, strong, "write", "read")


def _examine(
    access: Access,
    ledger: Ledger,
    record: Any,
    own: Any,
    flagged: Any,
    strong: bool,
    earlier: str,
    later: str,
) -> None:
    """Lane by lane: whether a flagged record is of another thread, and has not been seen."""
    group = access.group
    order = group.gang.order
    flagged = flagged & ~order.is_own(ledger, record, ledger.thread(own)[..., None])
    if strong:
        flagged = flagged & ~ledger.is_at_least(record, STRONG)
    elif later == "read" and access.space == "global":
        flagged = flagged & ~ledger.is_at_least(record, ATOMIC)
    active = lanes_of(group, access.guard, flagged.shape[:2])
    if active is not None:
        flagged = flagged & active[..., None]
    if not flagged.any():
        return
    row, lane, piece = np.nonzero(flagged)
    theirs = np.broadcast_to(record, flagged.shape)[row, lane, piece]
    mine = np.broadcast_to(own, flagged.shape[:2])[row, lane]
    my_thread = ledger.thread(mine).astype(np.int64)
    if ledger.private:
        rows = row if group.rows is None else group.rows[row]
        if flagged.shape[0] == 1 and group.n > 1:
            rows = np.zeros(len(row), np.int64) + (my_thread[0] & THREAD) // WARP
    else:
        ctas = group.gang.position(my_thread >> THREAD_BITS)
        rows = ctas * group.gang.warps + (my_thread & THREAD) // WARP
    bad = ~order.has_seen(ledger, theirs, rows, strong, (my_thread & THREAD) % WARP)
    if earlier != "write" and bad.any() and group.gang.warpgroups is not None:
        bad &= ~group.gang.warpgroups.took(ledger, theirs, rows)
    if earlier != "write" and later == "write" and bad.any():
        bad &= ~order.is_over(ledger, theirs, rows)
    if bad.any():
        at = int(np.argmax(bad))
        index = np.broadcast_to(np.atleast_2d(np.asarray(access.index)), flagged.shape[:2])
        place = int(index[row[at], lane[at]]) + int(piece[at]) * ledger.granule
        them, me = _party(access, ledger, theirs[at]), _party(access, ledger, mine[at], int(rows[at]))
        if ledger.private:
            them = replace(them, cta=me.cta)
        apart = bool(order.has_seen(ledger, theirs[at : at + 1], rows[at : at + 1], strong)[0])
        _report(access, them, me, place, earlier.rpartition(" ")[2], later, apart)


# ---- the finding


@dataclass(frozen=True, slots=True)
class _Party:
    """One side of a race: the CTA's number in the grid, the thread's in the CTA, the instruction and its
    event; whether the asynchronous machine did it."""

    cta: int
    thread: int
    site: Site | None
    number: int
    machine: bool = False


def _party(access: Access, ledger: Ledger, record: Any, row: int = 0) -> _Party:
    gang = access.group.gang
    thread = int(ledger.thread(record))
    cta = int(gang.ctas[row // gang.warps]) if ledger.private else thread >> THREAD_BITS
    site = gang.launch.events.site(int(ledger.number(record)))
    number = int(ledger.number(record))
    return _Party(cta, thread & THREAD, site, number, bool(ledger.is_async(record)))


def _report(
    access: Access, them: _Party, me: _Party, index: int, earlier: str, later: str, apart: bool = False
) -> None:
    """Raise the finding; `apart`: another lane of the later one's warp knows of the earlier access."""
    gang, site, other = access.group.gang, access.site, them.site
    launch, shared = gang.launch, access.space == "shared"
    if them.number < launch.events.first:
        met_before_wait(launch, site, str(launch.thread(me.cta, me.thread)), index, earlier, later)
        return
    tile = index % gang.shared.stride + launch.shared_start if shared else index + BASE
    place = f"{access.space} memory at {tile:#x}"
    if shared and gang.cluster > 1:
        place += f" of CTA {gang.name_cta(index // gang.shared.stride)}"
    by = f": `{other.instruction.spelling}` at {other.where}" if other is not None else ""
    whose = (gang.mbarriers.machine if them.machine else launch.thread)(them.cta, them.thread)
    notes = [f"{launch.thread(me.cta, me.thread)} makes the {later} here", f"{whose} made the {earlier}{by}"]
    if not shared and (owner := launch.memory.find(tile)) is not None:
        notes.append(f"byte {tile - owner.address} of {owner}")
    if them.cta == me.cta and them.thread // WARP == me.thread // WARP and not them.machine:
        notes.append("WARP-SYNC-ASSUMED: both are lanes of one warp, and no `bar.warp.sync` lies between")
    code, message, help = _rule(them, me, place, earlier, later, shared)
    if them.cta == me.cta and not them.machine:
        crowds = crowds_between(gang, me.cta, (them.thread, me.thread), them.number)
        if crowds:
            notes += crowds
            help = "let the barrier expect all warps that come to it, or give each party one of its own"
    if apart:
        notes.append(LANE_APART)
        help = MEET_FIRST
    if shared and _relied_on_relaxed(access, them, me):
        message = f"MBAR-RELAXED-DATA: a {later} of {place} relies on a relaxed arrival or wait"
        code, help = (
            "P689",
            "use `.release` and `.acquire`, or a fence before the arrival and one after the wait",
        )
    labels = []
    if other is not None and other.span is not None and other.span != site.span:
        whose = "the asynchronous operation" if them.machine else f"the other thread's {earlier}"
        labels.append(Label(other.span, whose))
    raise fault(code, message, site, notes, help, labels)


def met_before_wait(launch: Execution, site: Site, thread: str, index: int, earlier: str, later: str) -> None:
    """A thread of a programmatic launch meets what the launch ahead of it did, and has not waited for that.

    Args:
        launch: the programmatic one.
        site: the instruction.
        thread: who executes it.
        index: the byte in global memory.
        earlier, later: `read` or `write`, what each of them does.

    Raises:
        EmulatorFault: P613, it reads what may not be written yet.
    """
    place = f"global memory at {index + BASE:#x}"
    notes = [f"{thread} makes the {later} here", f"the launch ahead of this one made the {earlier}"]
    if (owner := launch.memory.find(index + BASE)) is not None:
        notes.append(f"byte {index + BASE - owner.address} of {owner}")
    if later == "read":
        message = f"PDL-READ-BEFORE-WAIT: {place} is read, which the launch ahead of this one may yet write"
        raise fault("P613", message, site, notes, "put `griddepcontrol.wait` before the read")
    message = (
        f"PDL-WRITE-BEFORE-WAIT: {place} is written, which the launch ahead of this one may yet {earlier}"
    )
    launch.warn("P616", message, site, notes)


def _relied_on_relaxed(access: Access, them: _Party, me: _Party) -> bool:
    """Whether a relaxed arrival or wait lies between the two sides of a race, where it would order them."""
    gang = access.group.gang
    relaxed = gang.order.relaxed
    ctas = gang.position(np.array([them.cta, me.cta]))
    theirs, mine = (int(c) * gang.warps + p.thread // WARP for c, p in zip(ctas, (them, me), strict=True))
    if relaxed[mine] > them.number:
        return True
    return bool(not them.machine and ctas[0] >= 0 and relaxed[theirs] > them.number)


def _rule(
    them: _Party, me: _Party, place: str, earlier: str, later: str, shared: bool
) -> tuple[str, str, str]:
    """The code, message and advice for a race."""
    code, rule = ("P650", "SMEM-RACE") if shared else ("P651", "GMEM-RACE")
    if them.machine:
        help = (
            "wait for the mbarrier that tells of the operation, in this warp or in one that it then waits for"
        )
        if (earlier, later) == ("write", "read"):
            message = f"ASYNC-READ-BEFORE-WAIT: {place} is read by a warp that did not wait for what wrote it"
            return "P652", message, help
        return code, f"{rule}: a {later} races with an asynchronous {earlier} of {place}", help
    if earlier == "write" and them.site is not None and them.site.name == "cp.async":
        message = f"ASYNC-NO-BLOCK-SYNC: a {later} of {place}, which another thread's copy wrote"
        help = "a wait covers its own thread: put a barrier after it, before others use the bytes"
        return "P658", message, help
    message = f"{rule}: a {later} races with another thread's {earlier} of {place}"
    if them.cta == me.cta and them.thread // WARP == me.thread // WARP:
        return code, message, "put `bar.warp.sync` between the two: lanes of a warp need not run in step"
    if them.cta == me.cta:
        return code, message, "put a barrier between the two that both warps pass"
    if shared:
        help = "order the CTAs by `barrier.cluster`, or by an mbarrier with `.cluster` scope on both sides"
        return code, message, help
    help = "order the CTAs through memory, by a release and an acquire of one location, or use two launches"
    return code, message, help
