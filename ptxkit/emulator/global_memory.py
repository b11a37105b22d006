"""The global memory with its allocations.

It reserves its address range once and commits pages as they are touched; between allocations lie red zones,
and what was freed is remembered.
"""

from __future__ import annotations

import gc
import os
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted, error
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.events import Events
from ptxkit.emulator.memory import Bank, clear, reserve
from ptxkit.emulator.values import distinct
from ptxkit.support.heap import keep_freed_memory

BASE = 0x7E00_0000_0000
"""The first address of global memory. All that a 64-bit system maps by itself lies above, wherever it lets
a process begin, so the virtual driver can share it; real devices hand out addresses like these."""
GRANULE = 512
"""Alignment of every allocation, and the least red zone after it."""
RED_ZONE = (64 << 10, 256 << 20)
"""The red zone after what the host allocates is as large as the allocation within these bounds, so that an
index that is rows off meets no other allocation. It costs addresses, not memory."""
CAPACITY = 64 << 30


@dataclass(slots=True, eq=False)
class Allocation:
    """A range of global memory that somebody asked for.

    Attributes:
        address: of its first byte.
        size: in bytes.
        name: what messages call it: `array f32[1024]`, `variable table`.
        live: False once it has been freed.
        undefined: whether some of its bytes may be undefined.
        touched: whether an instruction has read or written some of it.
        heap: whether the device's `malloc` made it.
        freed_by: what freed it, in words.
        history: where accesses are entered that others may race with; None where races are not sought.
        shape: its elements', outermost first; None where nobody said what they are.
        element_bytes: of one of them.
    """

    address: int
    size: int
    name: str
    live: bool = True
    undefined: bool = False
    touched: bool = False
    heap: bool = False
    freed_by: str = ""
    history: AccessHistory | None = None
    shape: tuple[int, ...] | None = None
    element_bytes: int = 1

    def element(self, address: int) -> str:
        """Which element lies at an address: `element [2, 0] of x f32[4, 8]`; empty where nobody knows."""
        if not self.shape or not self.address <= address < self.end:
            return ""
        index = np.unravel_index((address - self.address) // self.element_bytes, self.shape)
        return f"element [{', '.join(str(int(i)) for i in index)}] of {self.name}"

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.address + self.size

    def __str__(self) -> str:
        return f"{self.name} at {self.address:#x} ({counted(self.size, 'byte')})"


def physical_memory() -> int:
    """Bytes of memory of this machine, as far as it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


class GlobalMemory(Bank):
    """Global memory: one range of addresses, its allocations in the order of their addresses.

    Several emulators may share it: what one allocates, the kernels of all may reach.

    Attributes:
        budget: most bytes that may be allocated at once.
        used: bytes that are.
        events: the numbers of accesses, and of what orders them, of all who share the memory.
        device_count: how many devices share it.
        endpoints: the logical endpoints, by their numbers; see `ptxkit.emulator.endpoints`.

    Raises:
        PtxkitError: P705, this process has no addresses left.
    """

    def __init__(self) -> None:
        keep_freed_memory()
        data, shadow = self._range()
        super().__init__(data, shadow)
        self._next, self._end = self._arena()
        self.budget = min(self._end - self._next, physical_memory() * 3 // 4)
        self.used = 0
        self.events = Events()
        self.device_count = 1
        self.endpoints: dict[int, Any] = {}
        self.heap_used = 0
        self._addresses: list[int] = []
        self._allocations: list[Allocation] = []
        self._table: tuple[np.ndarray, np.ndarray] | None = None
        self._live: list[Allocation] = []
        self.closed = False
        """Whether the emulator was closed that it belongs to."""

    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of all addresses from `BASE` on, and their shadow."""
        capacity = CAPACITY
        while True:
            try:
                return reserve(capacity), reserve(capacity)
            except (OSError, OverflowError, ValueError):
                # Emulators that nobody uses any more may still hold their ranges of addresses.
                if not gc.collect():
                    if capacity <= 1 << 28:
                        message = "out of device memory: no range of addresses is left for an emulator"
                        help = "let go of devices that are not used any more, or start a process for each"
                        raise error("P705", message, help=help) from None
                    capacity //= 2

    def _arena(self) -> tuple[int, int]:
        """The addresses that `allocate` gives out: the first, and the one behind the last."""
        return BASE + (2 << 20), BASE + len(self.data)

    def refuse_closed(self) -> None:
        """Raise P714 where it was closed."""
        if self.closed:
            raise error("P714", "the emulator was closed", help="open it again with `open_device`")

    def allocate(self, size: int, name: str, align: int = GRANULE, heap: bool = False) -> Allocation:
        """A new range. Its bytes are zero and count as defined. Raises P705, there is no room."""
        align = max(align, GRANULE)
        address = -(-self._next // align) * align
        least, most = RED_ZONE
        red_zone = GRANULE if heap else min(max(size, least), most)
        beyond = -(-(address + size + red_zone) // GRANULE) * GRANULE
        if self.used + size > self.budget or beyond > self._end:
            reused = self._reuse(size, align) if self.used + size <= self.budget else None
            if reused is None:
                free = max(0, self.budget - self.used)
                raise error(
                    "P705",
                    f"out of device memory: asked for {counted(size, 'byte')}, {counted(free, 'byte')} free",
                    help="give smaller sizes; an emulator takes at most 3/4 of this machine's memory",
                )
            address = reused
        else:
            self._next = beyond
        allocation = self.adopt(address, size, name, heap)
        self.used += size
        if heap:
            self.heap_used += size
        return allocation

    def adopt(self, address: int, size: int, name: str, heap: bool = False) -> Allocation:
        """Let kernels reach a range that belongs to nobody; its bytes count as defined."""
        allocation = Allocation(address, size, name, heap=heap)
        self.place(allocation)
        return allocation

    def place(self, allocation: Allocation) -> None:
        """Take up a range that belongs to nobody."""
        at = bisect_right(self._addresses, allocation.address)
        self._addresses.insert(at, allocation.address)
        self._allocations.insert(at, allocation)
        self._table = None

    def set_aside(self, size: int, align: int) -> int:
        """Addresses that `allocate` gives to nobody."""
        made = self.allocate(size, "reserved addresses", align)
        self.disown(made)
        self.used -= size
        return made.address

    def disown(self, allocation: Allocation) -> None:
        """Forget a range that was adopted."""
        at = self._allocations.index(allocation)
        del self._allocations[at], self._addresses[at]
        allocation.live = False
        self._table = None

    def _reuse(self, size: int, align: int) -> int | None:
        """Room in a freed range; its memory of having been freed ends here."""
        for at, allocation in enumerate(self._allocations):
            freed = not allocation.live and allocation.freed_by
            if freed and allocation.size >= size and allocation.address % align == 0:
                del self._allocations[at], self._addresses[at]
                return allocation.address
        return None

    def free(self, allocation: Allocation, by: str) -> None:
        """Give a range back. Its address stays known as freed."""
        if not allocation.live:
            return
        allocation.live = False
        allocation.freed_by = by
        allocation.undefined = False
        allocation.history = None
        self.used -= allocation.size
        if allocation.heap:
            self.heap_used -= allocation.size
        self._table = None
        start = allocation.address - BASE
        self._clear(start, allocation.size)
        assert self.shadow is not None
        clear(self.shadow, start, allocation.size)
        if self.origins is not None:
            self.origins[start // 4 : (start + allocation.size + 3) // 4] = 0

    def _clear(self, start: int, size: int) -> None:
        """Make bytes zero, as fresh ones are."""
        clear(self.data, start, size)

    def forget(self, allocation: Allocation) -> None:
        """Mark a whole allocation as undefined, as fresh memory is."""
        start = allocation.address - BASE
        assert self.shadow is not None
        self.shadow[start : start + allocation.size] = 0xFF
        allocation.undefined = allocation.size > 0

    def snapshot(self) -> tuple[list[Any], tuple[int, int, int]]:
        """What it holds now, for `restore`: of each allocation what it is, and its bytes, undefined bits and
        origins, None where it has none of these; and the memory's totals."""
        held = []
        for allocation in self._allocations:
            where = slice(allocation.address - BASE, allocation.end - BASE)
            masks = self.shadow[where].copy() if self.shadow is not None and allocation.undefined else None
            words = slice(where.start // 4, (where.stop + 3) // 4)
            origins = self.origins[words].copy() if self.origins is not None else None
            data = self.data[where].copy() if allocation.live else None
            held.append((allocation, replace(allocation), data, masks, origins))
        return held, (self._next, self.used, self.heap_used)

    def restore(self, held: list[Any], totals: tuple[int, int, int]) -> None:
        """Hold again what was held then. What was allocated since is gone, accesses are forgotten."""
        kept = {id(allocation) for allocation, *_ in held}
        for allocation in self._allocations:
            if id(allocation) not in kept:
                self.free(allocation, "the launches begin anew")
        self._allocations = [allocation for allocation, *_ in held]
        self._addresses = [allocation.address for allocation in self._allocations]
        self._table = None
        for allocation, then, data, masks, origins in held:
            where = slice(allocation.address - BASE, allocation.end - BASE)
            if data is not None:
                self.data[where] = data
            if self.shadow is not None and (allocation.undefined or masks is not None):
                self.shadow[where] = 0 if masks is None else masks
            if self.origins is not None:
                words = slice(where.start // 4, (where.stop + 3) // 4)
                self.origins[words] = 0 if origins is None else origins
            allocation.live, allocation.undefined = then.live, then.undefined
            allocation.freed_by, allocation.history = then.freed_by, None
        self._next, self.used, self.heap_used = totals

    def forget_histories(self) -> None:
        """Forget all accesses."""
        for allocation in self._allocations:
            allocation.history = None

    def refine_histories(self, granule: int) -> None:
        """Accesses may be as small as that from now on."""
        for allocation in self._allocations:
            if allocation.history is not None and allocation.history.granule > granule:
                allocation.history.refine(granule)

    def allocations(self) -> list[Allocation]:
        """Those that live, by their addresses."""
        return [allocation for allocation in self._allocations if allocation.live]

    def find(self, address: int) -> Allocation | None:
        """The allocation, live or freed, with the greatest address not above `address`."""
        at = bisect_right(self._addresses, address)
        return self._allocations[at - 1] if at else None

    def after(self, address: int) -> Allocation | None:
        """The first allocation above `address`."""
        at = bisect_right(self._addresses, address)
        return self._allocations[at] if at < len(self._allocations) else None

    def bars(self, allocation: Allocation, device: int) -> bool:
        """Whether a device may not reach an allocation."""
        return False

    def inside(self, addresses: Any, size: int) -> Any:
        """Whether the `size` bytes that are touched from each address lie in one live allocation."""
        if self._table is None:
            self._live = live = [allocation for allocation in self._allocations if allocation.live]
            self._table = (
                np.array([0, *(allocation.address for allocation in live)], np.uint64),
                np.array([0, *(allocation.end for allocation in live)], np.uint64),
            )
        starts, ends = self._table
        at: Any = np.searchsorted(starts, addresses, side="right") - 1
        last = addresses + np.uint64(size)
        inside: Any = (last <= ends[at]) & (last > addresses)
        for number in distinct(np.atleast_1d(at)[np.atleast_1d(inside)]).tolist():
            self._live[number - 1].touched = True
        return inside
