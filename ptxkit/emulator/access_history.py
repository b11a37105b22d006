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


def strength_at(private: bool) -> int:
    """The bit from which on a record has its strength."""
    return THREAD_BITS if private else 34


class AccessHistory:
    """The accesses to one memory that later ones may race with.

    For each granule it has records of the last write, the first read and the last read. A record is, from its
    highest bit: the access's number less `base`, two bits for its strength, its thread.

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
        self.releases: np.ndarray | None = None
        self._among_devices: Any = None

    def refine(self, granule: int) -> None:
        """From now on accesses may be as small as that: each smaller granule has the records of the one that
        it was part of."""
        factor = self.granule // granule
        self.granule, self._count = granule, self._count * factor
        for kind, bank in self._banks.items():
            records = np.zeros(-(-self._count // 8) * 8, self.dtype)
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
        return kind in self._banks

    def _unit(self, kind: str, count: int) -> np.ndarray:
        """The records of a kind, `count` at a time."""
        bank = self._banks.get(kind)
        if bank is None:
            bank = self._banks[kind] = np.zeros(-(-self._count // 8) * 8, self.dtype)
        size = count * self.dtype.itemsize
        return bank if count == 1 else bank.view(UNITS[size])

    def records(self, kind: str) -> np.ndarray:
        """The records of a kind, granule by granule; none of them is set where there were none."""
        return self._unit(kind, 1)

    def read(self, kind: str, at: Any, count: int) -> Any:
        """`count` records from each granule on, along a further axis; `at` is a multiple of `count`."""
        found = self._unit(kind, count).take(at if count == 1 else at // count, mode="wrap")
        return found[..., None].view(self.dtype)

    def write(self, kind: str, at: Any, records: Any, count: int) -> None:
        """Set `count` records from each granule on: an array with a further axis of 1 or `count`."""
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
        return self._banks[kind][at]

    def put(self, kind: str, at: np.ndarray, records: np.ndarray) -> None:
        """Set the records of single granules."""
        self._unit(kind, 1)[at] = records

    def own(self, number: int, strength: int, threads: Any) -> Any:
        """The records of threads for an access."""
        if (number - self.base) >> (self.dtype.itemsize * 8 - self.number_at):
            self.base = number - 1
            self._banks.clear()
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
