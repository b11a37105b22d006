"""Records of accesses to memory, granule by granule: what later accesses may race with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ptxkit.emulator.values import U32, U64, UNITS

T = TypeVar("T")
WEAK, ATOMIC, ASYNC, STRONG = 0, 1, 2, 3
"""How strong an access is: an atomic one is strong too. An `ASYNC` one is weak, and made by the asynchronous
machine: its record has the number of the mbarrier that tells of it (`HappensBefore.completed`) for a
thread."""
THREAD_BITS = 10
THREAD = (1 << THREAD_BITS) - 1
"""The bits of a record's thread that number it in its CTA; those above, if there are any, number the CTA."""
ROW = 32
"""Granules of a block: what a warp touches whose lanes access places side by side."""
SHIFT = ROW.bit_length() - 1
LARGE = 1 << 15
"""Blocks that are looked at together; where an access may touch more of them, all are set apart for good."""


def strength_at(private: bool) -> int:
    """The bit from which on a record has its strength."""
    return THREAD_BITS if private else 34


class AccessHistory:
    """The accesses to one memory that later ones may race with.

    For each granule it has records of the last write, the first read and the last read. A record is, from its
    highest bit: the access's number less `base`, two bits for its strength, its thread.

    Of memory that all CTAs share, a block of 32 granules has one record as long as each access to it was that
    of a whole warp, lane by lane: that of its first lane. It has one for each granule from the first other
    access on. Whoever reads or sets records of granules finds all of them; `rows` is for who knows of blocks.

    Args:
        size: bytes of the memory.
        granule: bytes that an access never covers in part: the size of the smallest access.
        start: the offset of the memory in its bank.
        private: whether each place is of one CTA, so that records need not name it.
    """

    def __init__(self, size: int, granule: int, start: int = 0, private: bool = False) -> None:
        self.granule = granule
        self.private = private
        self.dtype = U32 if private else U64
        self.strength_at = strength_at(private)
        self.number_at = self.strength_at + 2
        self.base = 0
        self.start = start
        self._count = -(-size // granule)
        self._banks: dict[str, np.ndarray] = {}
        self._rows: dict[str, np.ndarray] | None = None if private or start % (ROW * granule) else {}
        self._apart: np.ndarray | None = None
        self._many = 0
        self.releases: np.ndarray | None = None
        self._among_devices: Any = None

    def refine(self, granule: int) -> None:
        """From now on accesses may be as small as that: each smaller granule has the records of the one that
        it was part of."""
        self._all_apart()
        factor = self.granule // granule
        self.granule, self._count = granule, self._count * factor
        for kind, bank in self._banks.items():
            records = self._none()
            whole = np.repeat(bank, factor)[: self._count]
            records[: len(whole)] = whole
            self._banks[kind] = records
        if self.releases is not None:
            self.releases = np.repeat(self.releases, factor)
        if self._among_devices is not None:
            self._among_devices.refine(factor)

    def granules(self, index: Any) -> Any:
        """Byte offsets in the bank as numbers of granules."""
        return (index - self.start) >> (self.granule.bit_length() - 1)

    def has(self, kind: str) -> bool:
        """Whether there is any record of a kind: `write`, `first read`, `last read`."""
        return kind in self._banks or (self._rows is not None and kind in self._rows)

    @property
    def _blocks(self) -> int:
        return -(-self._count // ROW)

    def _none(self) -> np.ndarray:
        return np.zeros(self._blocks * ROW, self.dtype)

    def _bank(self, kind: str) -> np.ndarray:
        bank = self._banks.get(kind)
        if bank is None:
            bank = self._banks[kind] = self._none()
        return bank

    def _unit(self, kind: str, count: int) -> np.ndarray:
        """The records of a kind, `count` at a time."""
        bank = self._bank(kind)
        size = count * self.dtype.itemsize
        return bank if count == 1 else bank.view(UNITS[size])

    def records(self, kind: str) -> np.ndarray:
        """The records of a kind, granule by granule; none of them is set where there were none."""
        self._all_apart()
        return self._unit(kind, 1)

    def granule_records(self, kind: str) -> np.ndarray:
        """The same of granules that are set apart, for code that looks at no others."""
        return self._bank(kind)

    def since(self, kind: str, limit: int, count: int) -> np.ndarray:
        """Which of the first `count` granules have a record of a kind from a limit on: bool."""
        found = np.zeros(self._blocks * ROW, bool)
        if kind in self._banks:
            np.greater_equal(self._banks[kind], self.dtype.type(limit), out=found)
        if self._rows is not None and kind in self._rows:
            found.reshape(-1, ROW)[...] |= (self._rows[kind] >= self.dtype.type(limit))[:, None]
        return found[:count]

    def records_since(self, kind: str, limit: int, count: int) -> np.ndarray:
        """The records of a kind of the first `count` granules, from a limit on; 0 where there is none. Of a
        block that has one record all granules have that."""
        found = self._none()
        if kind in self._banks:
            np.copyto(found, self._banks[kind], where=self._banks[kind] >= self.dtype.type(limit))
        if self._rows is not None and kind in self._rows:
            rows = self._rows[kind]
            np.copyto(found.reshape(-1, ROW), rows[:, None], where=(rows >= self.dtype.type(limit))[:, None])
        return found[:count]

    # ---- blocks

    @property
    def in_blocks(self) -> bool:
        """Whether there may be records of whole blocks."""
        return self._rows is not None

    def rows(self, kind: str) -> np.ndarray:
        """The records of a kind, block by block: that of the first granule, whose thread is the first of a
        warp's; 0 where there is none, or where `apart` says that each granule has its own."""
        assert self._rows is not None
        if kind not in self._rows:
            self._rows[kind] = np.zeros(self._blocks, self.dtype)
        return self._rows[kind]

    @property
    def apart(self) -> np.ndarray:
        """For each block whether its granules have records of their own: uint8."""
        if self._apart is None:
            self._apart = np.zeros(self._blocks, np.uint8)
        return self._apart

    def set_apart(self, first: int, last: int) -> None:
        """Give granules `first` to `last`, and those of their blocks, records of their own."""
        if self._rows is None:
            return
        blocks = slice(first >> SHIFT, (last >> SHIFT) + 1)
        if blocks.stop - blocks.start > LARGE:
            self._all_apart()
            return
        new = blocks.stop - blocks.start - int(np.count_nonzero(self.apart[blocks]))
        if not new:
            return
        self._many += new
        if 4 * self._many > self._blocks:
            self._all_apart()
        else:
            self._split(self._rows, blocks)
            self.apart[blocks] = 1

    def _all_apart(self) -> None:
        if self._rows is not None:
            self._split(self._rows, slice(None))
            self._rows = self._apart = None

    def _split(self, rows: dict[str, np.ndarray], blocks: slice) -> None:
        for kind, records in rows.items():
            at = np.flatnonzero(records[blocks])
            if len(at):
                at += blocks.start or 0
                self._bank(kind).reshape(-1, ROW)[at] = records[at][:, None] + np.arange(
                    ROW, dtype=self.dtype
                )
                records[at] = 0

    def put_together(self, first: int, last: int) -> None:
        """Let the blocks of granules `first` to `last` have one record again, where those of their granules
        say no more."""
        if self._rows is None:
            return
        start, stop = first >> SHIFT, (last >> SHIFT) + 1
        whole = self.apart[start:stop] != 0
        found: dict[str, np.ndarray] = {}
        for kind, bank in self._banks.items():
            block = bank.reshape(-1, ROW)[start:stop]
            found[kind] = block[:, 0].copy()
            lanes = np.arange(ROW, dtype=self.dtype) * (found[kind] != 0)[:, None]
            whole &= (block == found[kind][:, None] + lanes).all(axis=1)
            whole &= found[kind] & self.dtype.type(ROW - 1) == 0
        at = np.flatnonzero(whole)
        for kind, records in found.items():
            self.rows(kind)[start + at] = records[at]
            self._banks[kind].reshape(-1, ROW)[start + at] = 0
        self.apart[start + at] = 0
        self._many -= len(at)

    def _set_apart(self, at: Any) -> None:
        if self._rows is not None and np.size(at):
            self.set_apart(max(int(np.min(at)), 0), min(int(np.max(at)), self._count - 1))

    # ---- granules

    def read(self, kind: str, at: Any, count: int) -> Any:
        """`count` records from each granule on, along a further axis; `at` is a multiple of `count`."""
        self._set_apart(at)
        found = self._unit(kind, count).take(at if count == 1 else at // count, mode="wrap")
        return found[..., None].view(self.dtype)

    def write(self, kind: str, at: Any, records: Any, count: int) -> None:
        """Set `count` records from each granule on: an array with a further axis of 1 or `count`."""
        self._set_apart(at)
        if count > 1:
            whole = np.empty((*at.shape, count), self.dtype)
            whole[...] = records
            records = whole.view(UNITS[count * self.dtype.itemsize])
            at = at // count
        self._unit(kind, count)[at] = records[..., 0]

    def parts(self, size: int) -> list[tuple[int, int]]:
        """The records of an access of `size` bytes in vectors: where each begins and how long it is."""
        count, most = size // self.granule, 32 // self.dtype.itemsize
        return [(start, min(count, most)) for start in range(0, count, most)]

    def offset(self, granule: int) -> int:
        """The byte offset of a granule in the bank."""
        return self.start + granule * self.granule

    def take(self, kind: str, at: np.ndarray) -> np.ndarray:
        """The records of a kind that there are, of single granules."""
        self._set_apart(at)
        return self._bank(kind)[at]

    def put(self, kind: str, at: np.ndarray, records: np.ndarray) -> None:
        """Set the records of single granules."""
        self._set_apart(at)
        self._unit(kind, 1)[at] = records

    def own(self, number: int, strength: int, threads: Any) -> Any:
        """The records of threads for an access."""
        if (number - self.base) >> (self.dtype.itemsize * 8 - self.number_at):
            self.base = number - 1
            self._banks.clear()
            if self._rows is not None:
                self._rows, self._apart, self._many = {}, None, 0
        return threads | self.dtype.type(
            (number - self.base) << self.number_at | strength << self.strength_at
        )

    def limit(self, numbers: Any) -> Any:
        """The least record with at least a number: an int, or an array with a further axis."""
        if np.ndim(numbers) == 0:
            return max(int(numbers) - self.base, 1) << self.number_at
        return (np.maximum(numbers - self.base, 1) << self.number_at).astype(self.dtype)[..., None]

    def number(self, record: Any) -> Any:
        """The number of a record."""
        return (record >> record.dtype.type(self.number_at)).astype(np.int64) + self.base

    def thread(self, record: Any) -> Any:
        """The thread of a record."""
        return record & record.dtype.type((1 << self.strength_at) - 1)

    def is_at_least(self, record: Any, strength: int) -> Any:
        """Whether a record's access has a strength."""
        wanted = record.dtype.type(strength << self.strength_at)
        return record & wanted == wanted

    def is_async(self, record: Any) -> Any:
        """Whether a record is of the asynchronous machine."""
        return (record >> record.dtype.type(self.strength_at)) & record.dtype.type(STRONG) == ASYNC

    def is_thread(self, record: Any, threads: Any) -> Any:
        """Whether a record is of a thread."""
        return (self.thread(record) == threads) & ~self.is_async(record)

    def release_numbers(self) -> np.ndarray:
        """For each granule up to which number a strong write of it published accesses."""
        if self.releases is None:
            self.releases = np.zeros(self._count, np.int64)
        return self.releases

    def releases_of(self, kind: Callable[[int], T]) -> T:  # its `refine` takes how often each is repeated
        """The same where several launches run at the same time; `kind`: made of the number of granules."""
        if self._among_devices is None:
            self._among_devices = kind(self._count)
        made: T = self._among_devices
        return made
