"""What several processes read and wrote of global memory, and the bytes that they wrote, in memory that they
share."""

from __future__ import annotations

import mmap
from typing import NamedTuple

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory
from ptxkit.emulator.values import UNITS


class Part(NamedTuple):
    """An allocation that is stored to, and its place in the shared memory.

    Attributes:
        allocation, history: it, and the record of what was accessed there.
        base: of the record's numbers.
        granules: how many they are.
        at: where its bytes begin.
        marks: where the marks of the first process begin, a bit a granule: of what it wrote, then of what it
            read.
    """

    allocation: Allocation
    history: AccessHistory
    base: int
    granules: int
    at: int
    marks: int

    @property
    def mark_bytes(self) -> int:
        """Bytes of the marks of one kind."""
        return -(-self.granules // 8)


class Footprints:
    """Those of the processes that are forked after this was made.

    Args:
        memory: what they work on.
        processes: how many they are.

    Attributes:
        processes: the same.
    """

    def __init__(self, memory: GlobalMemory, processes: int) -> None:
        self._memory = memory
        self.processes = processes
        self._since = memory.events.now
        self._parts: list[Part] = []
        at = 0
        for allocation in memory.allocations():
            history = allocation.history
            if history is None:
                continue
            count = -(-allocation.size // history.granule)
            bytes_ = -(-count * history.granule // mmap.PAGESIZE) * mmap.PAGESIZE
            part = Part(allocation, history, history.base, count, at, at + bytes_)
            self._parts.append(part)
            at = part.marks + 2 * processes * part.mark_bytes
            at = -(-at // mmap.PAGESIZE) * mmap.PAGESIZE
        self._shared = np.frombuffer(mmap.mmap(-1, max(at, mmap.PAGESIZE)), np.uint8)

    # ---- in a process

    def leave(self, process: int) -> bool:
        """Write down what a process read and wrote since this was made. Returns False where that can't be
        told or handed on: undefined bits, an allocation that nobody expected to be stored to."""
        expected = {id(part.allocation) for part in self._parts}
        for allocation in self._memory.allocations():
            if allocation.history is not None and id(allocation) not in expected:
                return False
        return all(self._leave(process, part) for part in self._parts)

    def _leave(self, process: int, part: Part) -> bool:
        history = part.allocation.history
        if history is None or history is not part.history or history.base != part.base:
            return False
        wrote, read = self._marks(part, process)
        read[:] = np.packbits(self._since_then(part, "first read") | self._since_then(part, "last read"))
        mine = self._since_then(part, "write")
        if not mine.any():
            return True
        wrote[:] = np.packbits(mine)
        first, last = int(mine.argmax()), part.granules - int(mine[::-1].argmax())
        some = mine[first:last]
        if part.allocation.undefined:
            assert self._memory.shadow is not None
            if _granules(part, self._memory.shadow)[first:last, 0][some].view(np.uint8).any():
                return False
        data = _granules(part, self._memory.data)[first:last, 0]
        np.copyto(self._bytes(part)[first:last, 0], data, where=some)
        return True

    def _since_then(self, part: Part, kind: str) -> np.ndarray:
        """The granules with a newer record of a kind, bool (granules,)."""
        if not part.history.has(kind):
            return np.zeros(part.granules, bool)
        return part.history.since(kind, part.history.limit(self._since), part.granules)

    # ---- behind them

    def collide(self) -> bool:
        """Whether a process touched what another one wrote."""
        for part in self._parts:
            written = np.zeros(part.mark_bytes, np.uint8)
            seen = written.copy()
            for process in range(self.processes):
                wrote, read = self._marks(part, process)
                if (wrote & (written | seen)).any() or (read & written).any():
                    return True
                written |= wrote
                seen |= read
        return False

    def commit(self) -> None:
        """What the processes wrote is in memory from now on."""
        for part in self._parts:
            marks = [self._marks(part, process)[0] for process in range(self.processes)]
            union = np.bitwise_or.reduce(marks)
            if not union.any():
                continue
            mask = np.unpackbits(union, count=part.granules).view(bool)
            first, last = int(mask.argmax()), part.granules - int(mask[::-1].argmax())
            where = True if mask[first:last].all() else mask[first:last]
            new = self._bytes(part)[first:last, 0]
            np.copyto(_granules(part, self._memory.data)[first:last, 0], new, where=where)
            if part.allocation.undefined:
                assert self._memory.shadow is not None
                shadow = _granules(part, self._memory.shadow)[first:last, 0]
                np.copyto(shadow, shadow.dtype.type(0), where=where)

    # ---- views

    def _bytes(self, part: Part) -> np.ndarray:
        """The shared copy of an allocation, (granules, 1)."""
        size = part.granules * part.history.granule
        return self._shared[part.at : part.at + size].view(UNITS[part.history.granule])[:, None]

    def _marks(self, part: Part, process: int) -> np.ndarray:
        """The marks of a process, (2, bytes): what it wrote, what it read."""
        start, size = part.marks + 2 * process * part.mark_bytes, 2 * part.mark_bytes
        return self._shared[start : start + size].reshape(2, -1)


def _granules(part: Part, data: np.ndarray) -> np.ndarray:
    """The granules of an allocation in an array of all bytes, (granules, 1). The last one may reach into the
    red zone, which belongs to nobody."""
    start = part.allocation.address - BASE
    size = part.granules * part.history.granule
    return data[start : start + size].view(UNITS[part.history.granule])[:, None]
