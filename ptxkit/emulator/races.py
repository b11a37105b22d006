"""Data races in shared and global memory, by happens-before: SMEM-RACE, GMEM-RACE. PTX ISA chapter 8.

Every access that is sought for races, and every event that orders accesses, has a number; numbers grow as the
machine runs. For each granule of memory a `Ledger` holds the last write and the first and last read that
later accesses may have to be ordered with: number, thread, and whether the access was strong. An `Order`
holds for each warp up to which number it has seen the others' accesses. Two accesses race if they are of
different threads, one writes, not both are strong, and the later one's warp has not seen the earlier one.

What a warp has seen of other CTAs is one number, so an order that goes through memory is taken to cover
everything before it: races may be missed that way, but none is invented. Stores of the value that is there
already are no race, nor are plain loads of what others change atomically: compilers make such loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import Label
from ptxkit.emulator.faults import Site, Thread, fault
from ptxkit.emulator.memory import BASE, Bank
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.access import Access
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group

# A record: the access's number, its strength, the CTA's number in the grid, the thread's in it.
THREAD_BITS = 10
WEAK = np.uint64(0)
STRONG = np.uint64(1 << 35)
ATOMIC = np.uint64(1 << 34)
THREAD = np.uint64((1 << 34) - 1)
NUMBER = np.uint64(36)
LAST_NUMBER = (1 << 28) - 1


class Events:
    """The numbers of accesses and ordering events of a device, and the instruction behind each number."""

    def __init__(self) -> None:
        self.first = 1
        self._sites: list[Site | None] = [None]

    @property
    def now(self) -> int:
        """The number that the next event will have."""
        return self.first + len(self._sites) - 1

    def take(self, site: Site | None = None) -> int:
        """The number of a new event."""
        self._sites.append(site)
        return self.now - 1

    def site(self, number: int) -> Site | None:
        """The instruction behind a number of this launch."""
        at = number - self.first + 1
        return self._sites[at] if 0 < at < len(self._sites) else None

    def start(self) -> bool:
        """Begin a launch: everything before it is ordered before it.

        Returns:
            Whether numbers begin anew, so that all ledgers must be forgotten.
        """
        self.first = self.now
        self._sites = [None]
        if self.first > LAST_NUMBER // 2:
            self.first = 1
            return True
        return False


class Ledger:
    """The accesses to one memory that later ones may race with.

    Args:
        size: bytes of the memory.
        granule: bytes that an access never covers in part: the size of the smallest access.
        start: the offset of the memory in its bank.
    """

    def __init__(self, size: int, granule: int, start: int = 0) -> None:
        self.granule = granule
        self._start = start
        self._records = -(-size // granule)
        self.writes = self._bank()
        self.first_reads: Bank | None = None
        self.last_reads: Bank | None = None
        self.releases: np.ndarray | None = None

    def _bank(self) -> Bank:
        return Bank(np.zeros(-(-self._records * 8 // 32) * 32, np.uint8))

    def places(self, index: Any) -> Any:
        """Byte offsets in the bank as offsets in the banks of records."""
        return self.granules(index) << 3

    def granules(self, index: Any) -> Any:
        """Byte offsets in the bank as numbers of granules."""
        return (index - self._start) >> (self.granule.bit_length() - 1)

    def read_banks(self) -> tuple[Bank, Bank]:
        """The banks of first and last reads."""
        if self.first_reads is None or self.last_reads is None:
            self.first_reads, self.last_reads = self._bank(), self._bank()
        return self.first_reads, self.last_reads

    def release_numbers(self) -> np.ndarray:
        """For each granule up to which number a strong write of it published accesses."""
        if self.releases is None:
            self.releases = np.zeros(self._records, np.int64)
        return self.releases


class Order:
    """What each warp of a gang has seen.

    Attributes:
        seen: int64 (rows, warps of a CTA): accesses of that warp of the own CTA with smaller numbers happen
            before what the row does now.
        acquired: int64 (rows,), the same for all other CTAs.
        fenced: int64 (rows,), up to which number a relaxed write publishes: the last fence.
        pending: int64 (rows,), what relaxed reads have found published and a fence will acquire.
    """

    def __init__(self, gang: Gang, start: int) -> None:
        self.gang = gang
        self.seen = np.full((gang.rows, gang.warps), start, np.int64)
        self.acquired = np.full(gang.rows, start, np.int64)
        self.fenced = np.zeros(gang.rows, np.int64)
        self.pending = np.zeros(gang.rows, np.int64)
        self._limit: Any = None

    def limit(self, group: Group, shared: bool) -> Any:
        """The least record that a row may not have seen: a scalar where all rows agree, else a column."""
        if self._limit is None:
            own = self.seen.min(axis=1)
            self._limit = tuple(_as_limit(limit) for limit in (own, np.minimum(own, self.acquired)))
        limit = self._limit[0 if shared else 1]
        return limit[group.rows] if limit.ndim and group.rows is not None else limit

    # ---- what orders

    def barrier(self, rows: Any, number: int) -> None:
        """Whole CTAs meet: `rows` are all their rows, a slice or a bool array."""
        self.seen[rows] = number
        by_cta = (-1, self.gang.warps)
        for values in (self.acquired, self.fenced, self.pending):
            values[rows] = np.repeat(values[rows].reshape(by_cta).max(axis=1), self.gang.warps)
        self._limit = None

    def meet(self, arrived: np.ndarray, waiting: np.ndarray, covered: np.ndarray) -> None:
        """Some warps of a CTA meet.

        Args:
            arrived: rows that take part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
        """
        columns = arrived % self.gang.warps
        best = self.seen[arrived].max(axis=0)
        best[columns] = np.maximum(best[columns], covered)
        self.seen[waiting] = np.maximum(self.seen[waiting], best)
        for values in (self.acquired, self.fenced):
            values[waiting] = np.maximum(values[waiting], values[arrived].max())
        self._limit = None

    def warp_sync(self, group: Group, number: int) -> None:
        """The lanes of each of the group's warps meet."""
        rows, _ = group.occupied()
        self.seen[rows, rows % self.gang.warps] = number
        self._limit = None

    def fence(self, group: Group, number: int) -> None:
        """A fence publishes what came before it, and acquires what relaxed reads have found."""
        rows, _ = group.occupied()
        self.fenced[rows] = number
        self._acquire(rows, self.pending[rows])

    def _acquire(self, rows: Any, numbers: np.ndarray) -> None:
        self.seen[rows] = np.maximum(self.seen[rows], numbers[:, None])
        self.acquired[rows] = np.maximum(self.acquired[rows], numbers)
        self._limit = None

    def synchronise(self, access: Access, ledger: Ledger, number: int, acquires: str, releases: str) -> None:
        """A strong access passes an order on through memory.

        Args:
            access: what is accessed.
            ledger: of that memory.
            number: of the access.
            acquires, releases: `yes`, `fence` (only together with one), or `no`.
        """
        group = access.group
        shape = (group.n, WARP)
        index = np.broadcast_to(np.asarray(access.index), shape)
        active = lanes_of(group, access.guard, shape)
        row, lane = np.nonzero(np.ones(shape, bool) if active is None else active)
        places = ledger.granules(index[row, lane])
        rows = row if group.rows is None else group.rows[row]
        published = ledger.release_numbers()
        found = published[places]
        if releases != "no":
            own = np.full(len(rows), number) if releases == "yes" else self.fenced[rows]
            np.maximum.at(published, places, own)
            if acquires != "no" and len(np.unique(places)) < len(places):
                found = published[places]
        if acquires == "no":
            return
        best = np.zeros(self.gang.rows, np.int64)
        np.maximum.at(best, rows, found)
        self.pending = np.maximum(self.pending, best)
        if acquires == "yes":
            self._acquire(slice(None), best)


def _as_limit(numbers: np.ndarray) -> Any:
    limits = numbers.astype(np.uint64) << NUMBER
    return limits[0] if (limits == limits[0]).all() else limits.reshape(-1, 1)


def _of_active(index: Any, active: Any) -> Any:
    """An index whose lanes that take no part have the place of one that does."""
    if active is None or active.ndim == 0:
        return index
    return np.where(active, index, index.flat[int(np.broadcast_to(active, index.shape).argmax())])


def _own_records(access: Access, number: int, strength: np.uint64, shape: tuple[int, ...]) -> Any:
    """The record of the thread behind each place of an index. Lanes that share a place share the first one's;
    lanes that take no part have that of one that does."""
    group = access.group
    threads = group.special("record")
    active = lanes_of(group, access.guard, (group.n, WARP))
    if shape[0] == 1 and group.n > 1:
        row = int(np.argmax(active.any(axis=1))) if active is not None else 0
        threads = threads[row : row + 1]
        active = active[row : row + 1] if active is not None else None
    if shape[1] == 1:
        lane = np.argmax(active, axis=1) if active is not None else np.zeros(len(threads), np.intp)
        threads = threads[np.arange(len(threads)), lane].reshape(-1, 1)
    elif active is not None:
        threads = np.where(active, threads, threads.flat[int(active.argmax())])
    return threads | np.uint64(number << 36) | strength


def check_load(access: Access, ledger: Ledger, size: int, strong: bool) -> int:
    """Look for a write that the load races with, and enter the load.

    Returns:
        The load's number.
    """
    gang = access.group.gang
    number = gang.launch.events.take(access.site)
    index = np.atleast_2d(np.asarray(access.index))
    own = _own_records(access, number, STRONG if strong else WEAK, index.shape)
    index = _of_active(index, lanes_of(access.group, access.guard, index.shape))
    limit = gang.order.limit(access.group, access.space == "shared")
    firsts, lasts = ledger.read_banks()
    for start, count in _parts(size // ledger.granule):
        places = ledger.places(index) + 8 * start
        for record in ledger.writes.load(places, 8, count):
            flagged = record >= limit
            if flagged.any():
                _examine(access, record, own, flagged, strong, "write", "read")
        first = firsts.load(places, 8, count)
        new = tuple(np.where(old < limit, own, old) for old in first)
        if any(a is not b and (a != b).any() for a, b in zip(new, first, strict=True)):
            firsts.store(places[::-1, ::-1], tuple(record[::-1, ::-1] for record in new), 8)
        lasts.store(places, (np.broadcast_to(own, places.shape),) * count, 8)
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
    own = np.broadcast_to(_own_records(access, number, STRONG if strong else WEAK, index.shape), index.shape)
    index = _of_active(index, active)
    limit = gang.order.limit(access.group, access.space == "shared")
    for start, count in _parts(width * len(values) // ledger.granule):
        places = ledger.places(index) + 8 * start
        for record in ledger.writes.load(places, 8, count):
            flagged = record >= limit
            if flagged.any():
                flagged = flagged & _changes(access, index, spread, width)
                _examine(access, record, own, flagged, strong, "write", "write")
        if ledger.first_reads is not None and ledger.last_reads is not None:
            for bank in (ledger.first_reads, ledger.last_reads):
                for record in bank.load(places, 8, count):
                    flagged = record >= limit
                    if flagged.any():
                        flagged = flagged & _changes(access, index, spread, width)
                        _examine(access, record, own, flagged, strong, "read", "write")
        ledger.writes.store(places, (own,) * count, 8)
        if not strong:
            _check_duplicates(access, ledger, places, own, index, spread)
    return number


def enter_atomic(access: Access, ledger: Ledger, size: int) -> int:
    """Look for weak accesses that an atomic operation races with, and enter it.

    Returns:
        The operation's number.
    """
    gang = access.group.gang
    number = gang.launch.events.take(access.site)
    index = np.broadcast_to(np.asarray(access.index), (access.group.n, WARP))
    own = _own_records(access, number, STRONG | ATOMIC, index.shape)
    index = _of_active(index, lanes_of(access.group, access.guard, index.shape))
    limit = gang.order.limit(access.group, access.space == "shared")
    banks = [(ledger.writes, "write")]
    if ledger.first_reads is not None and ledger.last_reads is not None:
        banks += [(ledger.first_reads, "read"), (ledger.last_reads, "read")]
    for start, count in _parts(size // ledger.granule):
        places = ledger.places(index) + 8 * start
        for bank, kind in banks:
            for record in bank.load(places, 8, count):
                flagged = record >= limit
                if flagged.any():
                    _examine(access, record, own, flagged, True, kind, "write")
        ledger.writes.store(places, (own,) * count, 8)
    return number


def _parts(count: int) -> list[tuple[int, int]]:
    """An access's records in vectors of 1, 2 or 4: where each begins and how long it is."""
    if count <= 4:
        return [(0, count)]
    return [(start, 4) for start in range(0, count, 4)]


def _changes(access: Access, index: Any, values: tuple[Any, ...], width: int) -> Any:
    """Where a store would change what is there."""
    held = access.bank.load(index, width, len(values))
    changed: Any = np.False_
    for old, new in zip(held, values, strict=True):
        differs = old != new
        changed = changed | (differs.any(axis=-1) if differs.ndim == 3 else differs)
    return changed


def _check_duplicates(
    access: Access, ledger: Ledger, places: Any, own: Any, index: Any, values: tuple[Any, ...]
) -> None:
    """Lanes of one store that hit one place with different values race with each other."""
    if places.size == 1:
        return
    (record,) = ledger.writes.load(places, 8, 1)
    other = record != own
    active = lanes_of(access.group, access.guard, other.shape)
    if active is not None:
        other = other & active
    if not other.any():
        return
    flat = np.broadcast_to(index, other.shape).reshape(-1)
    order = np.argsort(flat, kind="stable")
    if active is not None:
        order = order[active.reshape(-1)[order]]
    same = flat[order][1:] == flat[order][:-1]
    for value in values:
        lanes = np.broadcast_to(value, other.shape if value.ndim != 3 else (*other.shape, 2))
        lanes = lanes.reshape(-1, 2) if value.ndim == 3 else lanes.reshape(-1, 1)
        differs = (lanes[order][1:] != lanes[order][:-1]).any(axis=1) & same
        if differs.any():
            at = int(np.argmax(differs))
            one, two = (int(order[at + i]) for i in (0, 1))
            records = np.broadcast_to(own, other.shape).reshape(-1)
            _report(access, int(records[one]), int(records[two]), int(flat[one]), "write", "write")


def _examine(
    access: Access, record: Any, own: Any, flagged: Any, strong: bool, earlier: str, later: str
) -> None:
    """Lane by lane: whether a flagged record is of another thread, and has not been seen."""
    group = access.group
    order: Order = group.gang.order
    flagged = flagged & ((record ^ own) & THREAD != 0)
    if strong:
        flagged = flagged & (record & STRONG == 0)
    elif later == "read":
        flagged = flagged & (record & ATOMIC == 0)
    if later == "write" and earlier == "read" and (own & ATOMIC).any():
        return
    active = lanes_of(group, access.guard, flagged.shape)
    if active is not None:
        flagged = flagged & active
    if not flagged.any():
        return
    row, lane = np.nonzero(flagged)
    theirs = np.broadcast_to(record, flagged.shape)[row, lane]
    mine = np.broadcast_to(own, flagged.shape)[row, lane]
    rows = row if group.rows is None else group.rows[row]
    if flagged.shape[0] == 1 and group.n > 1:
        rows = np.full(len(row), int(_gang_row(group, int(mine[0]))))
    numbers = (theirs >> NUMBER).astype(np.int64)
    their_thread, my_thread = theirs & THREAD, mine & THREAD
    same_cta = their_thread >> np.uint64(THREAD_BITS) == my_thread >> np.uint64(THREAD_BITS)
    warps = ((their_thread & np.uint64((1 << THREAD_BITS) - 1)) >> np.uint64(5)).astype(np.int64)
    warps = np.minimum(warps, group.gang.warps - 1)
    seen = np.where(same_cta, order.seen[rows, warps], order.acquired[rows])
    bad = numbers >= seen
    if bad.any():
        at = int(np.argmax(bad))
        index = np.broadcast_to(np.atleast_2d(np.asarray(access.index)), flagged.shape)
        _report(access, int(theirs[at]), int(mine[at]), int(index[row[at], lane[at]]), earlier, later)


def _gang_row(group: Group, record: int) -> int:
    """The row of the thread of a record."""
    thread = record & int(THREAD)
    cta, number = thread >> THREAD_BITS, thread & ((1 << THREAD_BITS) - 1)
    return int(np.searchsorted(group.gang.ctas, cta)) * group.gang.warps + number // WARP


def _report(access: Access, theirs: int, mine: int, index: int, earlier: str, later: str) -> None:
    launch = access.group.gang.launch
    them, me = (_thread(launch, record) for record in (theirs, mine))
    site, other = access.site, launch.events.site(theirs >> 36)
    shared = access.space == "shared"
    tile = index % access.group.gang.shared.stride + launch.shared_start if shared else index + BASE
    place = f"{access.space} memory at {tile:#x}"
    code, rule = ("P650", "SMEM-RACE") if shared else ("P651", "GMEM-RACE")
    by = f": `{other.instruction.spelling}` at {other.where}" if other is not None else ""
    notes = [f"{me} makes the {later} here", f"{them} made the {earlier}{by}"]
    same_warp = (theirs & int(THREAD)) >> 5 == (mine & int(THREAD)) >> 5
    if not shared and (owner := launch.memory.find(tile)) is not None:
        notes.append(f"byte {tile - owner.address} of {owner}")
    if same_warp:
        notes.append("WARP-SYNC-ASSUMED: both are lanes of one warp, and no `bar.warp.sync` lies between")
        help = "put `bar.warp.sync` between the two: lanes of a warp need not run in step"
    elif them.ctaid == me.ctaid:
        help = "put a barrier between the two that both warps pass"
    else:
        help = "order the CTAs through memory: a release and an acquire of the same location, or two launches"
    labels = []
    if other is not None and other.span is not None and other.span != site.span:
        labels.append(Label(other.span, f"the other thread's {earlier}"))
    raise fault(
        code, f"{rule}: a {later} races with another thread's {earlier} of {place}", site, notes, help, labels
    )


def _thread(launch: Any, record: int) -> Thread:
    number = record & int(THREAD)
    cta, thread = number >> THREAD_BITS, number & ((1 << THREAD_BITS) - 1)
    (gx, gy, _), (bx, by, _) = launch.grid, launch.block
    return Thread(
        (cta % gx, cta // gx % gy, cta // (gx * gy)), (thread % bx, thread // bx % by, thread // (bx * by))
    )
