"""Data races in shared and global memory: SMEM-RACE, GMEM-RACE. PTX ISA chapter 8.

Two accesses race if they are of different threads, one writes, not both are strong, and the earlier one
does not happen before the later one (`ptxkit.emulator.happens_before`). For each granule of memory an
`AccessHistory` holds the last write, and the first and the last read that later writes may have to be ordered
with. Races may be missed that way, but none is invented.

Stores of the value that is there already are no race, nor are plain loads of global memory that others change
atomically: compilers make such loads. In shared memory that holds only of a load that guesses what a
compare-and-swap behind it will find, with no barrier in between: the swap tells whether the guess was right.
Nor is a strong access that comes, without a fence, after a relaxed read of what a fence published: no GPU
makes it earlier, and CUDA's samples rely on it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.tree import Instruction, Name
from ptxkit.emulator.access_history import ATOMIC, STRONG, THREAD, THREAD_BITS, WEAK, AccessHistory
from ptxkit.emulator.faults import Site
from ptxkit.emulator.launch_state import ProgramFacts
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.race_findings import party, report
from ptxkit.emulator.reach import Reach
from ptxkit.emulator.values import WARP, distinct, first_true
from ptxkit.isa.modifiers import MemoryOperation


def check_load(access: Reach, history: AccessHistory, size: int, strong: bool) -> int:
    """Look for a write that the load races with, and enter the load. Returns the load's number."""
    batch = access.lane_set.batch
    number = batch.launch.events.take(access.site)
    index = np.atleast_2d(np.asarray(access.index))
    own = _own_records(access, history, number, STRONG if strong else WEAK, index.shape)
    at = history.granules(_of_active(index, lanes_of(access.lane_set, access.guard, index.shape)))
    limit = history.limit(batch.happens_before.limit(access.lane_set.rows, history.private))
    for start, count in history.parts(size):
        place = at + start if start else at
        if history.has("write"):
            record = history.read("write", place, count)
            if _reaches(record, limit):
                _find_race_of_load(access, history, record, own, record >= limit, strong)
        first = history.read("first read", place, count)
        if not _all_reach(first, limit):
            # Rows that share a place: the first of them stands for all, by what it has seen.
            alone = index.shape[0] == 1 and np.size(limit) > 1
            seen = limit[_standing_row(access)] if alone else limit
            # Numpy goes through a copy in its order, through a view with negative strides in any.
            backward = np.where(first < seen, own[..., None], first)[::-1, ::-1]
            history.write("first read", place[::-1, ::-1].copy(), backward, count)
        last = own
        if index.shape[0] == 1 and access.lane_set.n > 1:
            last = _own_records(access, history, number, STRONG if strong else WEAK, index.shape, last=True)
        history.write("last read", place, np.broadcast_to(last, place.shape)[..., None], count)
    return number


def check_store(
    access: Reach, history: AccessHistory, values: tuple[Any, ...], width: int, strong: bool
) -> int:
    """Look for accesses that a store races with, and enter the store; before it is made. Returns the store's
    number."""
    batch = access.lane_set.batch
    number = batch.launch.events.take(access.site)
    index, spread, active = access.broadcast(values)
    index = np.atleast_2d(np.asarray(index))
    own = _own_records(access, history, number, STRONG if strong else WEAK, index.shape)
    own = np.broadcast_to(own, index.shape)
    if access.space == "shared" and index.shape != (access.lane_set.n, WARP):
        batch.launch.events.together[number] = _rows(access)
    index = _of_active(index, active)
    at = history.granules(index)
    limit = history.limit(batch.happens_before.limit(access.lane_set.rows, history.private))
    for start, count in history.parts(width * len(values)):
        place = at + start if start else at
        for kind in KINDS:
            if not history.has(kind):
                continue
            record = history.read(kind, place, count)
            if _reaches(record, limit):
                flagged = (record >= limit) & _changes(access, index, spread, width)[..., None]
                _find_race(access, history, record, own, flagged, strong, kind, "write")
        history.write("write", place, own[..., None], count)
        if not strong and index.size > 1:
            record = history.read("write", place, count)[..., :1]
            _check_duplicates(access, history, record, own, index, spread)
    return number


def enter_atomic(access: Reach, history: AccessHistory, size: int) -> int:
    """Look for weak accesses that an atomic operation races with, and enter it. Returns the operation's
    number."""
    batch = access.lane_set.batch
    if batch.launch.program.asynchronous:
        access.check_in_flight(size, True)
    number = batch.launch.events.take(access.site)
    index = np.broadcast_to(np.asarray(access.index), (access.lane_set.n, WARP))
    own = _own_records(access, history, number, STRONG | ATOMIC, index.shape)
    at = history.granules(_of_active(index, lanes_of(access.lane_set, access.guard, index.shape)))
    limit = history.limit(batch.happens_before.limit(access.lane_set.rows, history.private))
    for start, count in history.parts(size):
        if history.has("write"):
            record = history.read("write", at + start, count)
            if _reaches(record, limit):
                _find_race(access, history, record, own, record >= limit, True, "write", "write")
        history.write("write", at + start, own[..., None], count)
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
    access: Reach,
    history: AccessHistory,
    number: int,
    strength: int,
    shape: tuple[int, ...],
    last: bool = False,
) -> Any:
    """The record of the thread behind each place of an index.

    Lanes that share a place share the first one's, or with `last` that of the last row; lanes that take no
    part have that of one that does.
    """
    lane_set = access.lane_set
    threads = lane_set.special("own slot" if history.private else "own record")
    active = lanes_of(lane_set, access.guard, (lane_set.n, WARP))
    if active is not None:
        active = np.broadcast_to(active, (lane_set.n, WARP))
    if shape[0] == 1 and lane_set.n > 1:
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
    return history.own(number, strength, threads)


def _standing_row(access: Reach, last: bool = False) -> int:
    """Which of the rows that share a place stands for all: the first, or the last, that takes part."""
    lane_set = access.lane_set
    active = lanes_of(lane_set, access.guard, (lane_set.n, WARP))
    some = np.any(np.broadcast_to(True if active is None else active, (lane_set.n, WARP)), axis=1)
    return lane_set.n - 1 - int(np.argmax(some[::-1])) if last else int(np.argmax(some))


def _changes(access: Reach, index: Any, values: tuple[Any, ...], width: int) -> Any:
    """Where a store would change what is there."""
    held = access.bank.load(index, width, len(values))
    changed: Any = np.False_
    for old, new in zip(held, values, strict=True):
        differs = old != new
        changed = changed | (differs.any(axis=-1) if differs.ndim == 3 else differs)
    return changed


def _check_duplicates(
    access: Reach, history: AccessHistory, record: Any, own: Any, index: Any, values: tuple[Any, ...]
) -> None:
    """Lanes of one store that hit one place with different values race with each other."""
    other = record[..., 0] != own
    active = lanes_of(access.lane_set, access.guard, other.shape)
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
        if (at := first_true((lanes[order][1:] != lanes[order][:-1]).any(axis=1) & same)) is not None:
            pair = [int(order[at + i]) for i in (0, 1)]
            parties = [party(access, history, own.reshape(-1)[lane]) for lane in pair]
            report(access, parties[0], parties[1], int(flat[pair[0]]), "write", "write")


def _rows(access: Reach) -> frozenset[int]:
    """The batch's rows of which some lane takes part in an access; none where it is one lane's alone."""
    lane_set = access.lane_set
    lanes = lanes_of(lane_set, access.guard, (lane_set.n, WARP))
    lanes = np.broadcast_to(True if lanes is None else lanes, (lane_set.n, WARP))
    on = lanes.any(axis=1) & (np.count_nonzero(lanes) > 1)
    rows: np.ndarray = np.flatnonzero(on) if lane_set.rows is None else lane_set.rows[on]
    return _interned(tuple(rows.tolist()))


@lru_cache(maxsize=1024)
def _interned(rows: tuple[int, ...]) -> frozenset[int]:
    return frozenset(rows)


def _find_race_of_load(
    access: Reach, history: AccessHistory, record: Any, own: Any, flagged: Any, strong: bool
) -> None:
    """`_find_race` for a load: threads that load one place together are looked at one by one.

    A store of several threads to one place has the record of the first; those of its warps wrote it, too.
    """
    lane_set = access.lane_set
    shape = (lane_set.n, WARP)
    if access.space == "shared" and own.shape != shape and lane_set.size > 1:
        number = int(history.number(own.flat[0]))
        own = _own_records(access, history, number, STRONG if strong else WEAK, shape)
        flagged = np.broadcast_to(flagged, (*shape, flagged.shape[-1])) & ~history.is_async(record)
        together = lane_set.launch.events.together
        rows = np.arange(lane_set.batch.rows) if lane_set.rows is None else lane_set.rows
        for number in distinct(history.number(record)).tolist():
            if number in together:
                wrote = np.array([row in together[number] for row in rows.tolist()])[:, None, None]
                flagged = flagged & ~((history.number(record) == number) & wrote)
    _find_race(access, history, record, own, flagged, strong, "write", "read")


def _guessed(access: Reach, history: AccessHistory, records: Any) -> Any:
    """Which of the writes that a plain load meets are swaps, if the load is a guess at what one will find."""
    launch = access.lane_set.launch
    swapped = np.array([swaps(launch.events.site(int(number))) for number in history.number(records)])
    if swapped.any() and not is_guess(access.site, launch.program):
        swapped[:] = False
    return swapped


def _find_race(
    access: Reach,
    history: AccessHistory,
    record: Any,
    own: Any,
    flagged: Any,
    strong: bool,
    earlier: str,
    later: str,
) -> None:
    """Lane by lane: whether a flagged record is of another thread, and has not been seen."""
    lane_set = access.lane_set
    happens_before = lane_set.batch.happens_before
    flagged = flagged & ~happens_before.is_own(history, record, history.thread(own)[..., None])
    if strong:
        flagged = flagged & ~happens_before.morally_strong(history, record, access.site)
    elif later == "read" and access.space == "global":
        flagged = flagged & ~history.is_at_least(record, ATOMIC)
    active = lanes_of(lane_set, access.guard, flagged.shape[:2])
    if active is not None:
        flagged = flagged & active[..., None]
    if not flagged.any():
        return
    row, lane, piece = np.nonzero(flagged)
    theirs = np.broadcast_to(record, flagged.shape)[row, lane, piece]
    mine = np.broadcast_to(own, flagged.shape[:2])[row, lane]
    my_thread = history.thread(mine).astype(np.int64)
    if history.private:
        rows = row if lane_set.rows is None else lane_set.rows[row]
        if flagged.shape[0] == 1 and lane_set.n > 1:
            rows = np.zeros(len(row), np.int64) + (my_thread[0] & THREAD) // WARP
    else:
        ctas = lane_set.batch.position((my_thread >> THREAD_BITS) - lane_set.launch.first_cta)
        rows = ctas * lane_set.batch.warps_per_cta + (my_thread & THREAD) // WARP
    bad = ~happens_before.covers_records(history, theirs, rows, strong, (my_thread & THREAD) % WARP)
    if earlier != "write" and bad.any():
        bad &= ~happens_before.took(history, theirs, rows)
    if earlier != "write" and later == "write" and bad.any():
        bad &= ~happens_before.is_over(history, theirs, rows)
    if (earlier, later) == ("write", "read") and not strong and bad.any():
        bad &= ~_guessed(access, history, theirs)
    if (at := first_true(bad)) is not None:
        index = np.broadcast_to(np.atleast_2d(np.asarray(access.index)), flagged.shape[:2])
        place = int(index[row[at], lane[at]]) + int(piece[at]) * history.granule
        them, me = party(access, history, theirs[at]), party(access, history, mine[at], int(rows[at]))
        if history.private:
            them = them._replace(cta=me.cta)
        apart = bool(
            happens_before.covers_records(history, theirs[at : at + 1], rows[at : at + 1], strong)[0]
        )
        report(access, them, me, place, earlier.rpartition(" ")[2], later, apart)


def swaps(site: Site | None) -> bool:
    """Whether an instruction is a compare-and-swap."""
    return site is not None and _swaps(site.instruction)


def is_guess(load: Site, program: ProgramFacts) -> bool:
    """Whether a load of a program is a guess."""
    code = program.flow(load.function)
    start = next(at for at, one in enumerate(code.instructions) if one is load.instruction)
    return _meets_swap(code, code.successors(start), program, {load.function})


def _meets_swap(
    code: FunctionCode, starts: tuple[int, ...], program: ProgramFacts, entered: set[str]
) -> bool:
    """Whether a path from some instructions on comes to a compare-and-swap before it comes to a barrier."""
    ahead, seen = list(starts), set(starts)
    while ahead:
        at = ahead.pop()
        if at == len(code.instructions):
            continue
        instruction = code.instructions[at]
        if _swaps(instruction):
            return True
        if "meets" in traits(instruction):
            continue
        callee = _callee(instruction)
        if callee is not None and callee not in entered and program.has_body(callee):
            entered.add(callee)
            if _meets_swap(program.flow(callee), (0,), program, entered):
                return True
        new = [following for following in code.successors(at) if following not in seen]
        seen.update(new)
        ahead += new
    return False


def _swaps(instruction: Instruction) -> bool:
    return (
        instruction.match is not None
        and "reduces" in traits(instruction)
        and Decoded(instruction).find(MemoryOperation) is MemoryOperation.CAS
    )


def _callee(instruction: Instruction) -> str | None:
    """The function that an instruction calls by its name."""
    if "calls" not in traits(instruction):
        return None
    function = Decoded(instruction).operands["func"]
    return function.name if isinstance(function, Name) else None
