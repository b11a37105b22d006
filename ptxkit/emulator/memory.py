"""Byte memories with their shadows, and the global memory with its allocations.

A `Bank` is a flat array of bytes. Its shadow, of the same size, has a bit set for every bit that is
undefined; a third array, made only when a kernel stores something undefined, holds for every four bytes the
number of the origin of that undefinedness. Global memory reserves its address range once and commits pages
as they are touched; between allocations lie red zones, and what was freed is remembered.
"""

from __future__ import annotations

import gc
import mmap
import os
import sys
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted, error
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.values import RAW, U64, UNITS

MAP_NORESERVE = 0x4000
"""Linux's flag, which Python names only from 3.13 on."""
Index = Any
"""A byte offset in a bank: an int, or an `int64` array that broadcasts against (warps, 32)."""


def reserve(size: int) -> np.ndarray:
    """`size` zero bytes, committed page by page as they are first written; the `base` is the `mmap`."""
    if sys.platform == "linux":
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8)
    return np.frombuffer(mmap.mmap(-1, size), np.uint8)


def clear(reserved: np.ndarray, start: int, size: int) -> None:
    """Make a stretch of `reserve`d bytes zero again, and give whole pages back to the system."""
    page = mmap.PAGESIZE
    first, last = -(-start // page) * page, (start + size) // page * page
    pages = reserved.base.obj if isinstance(reserved.base, memoryview) else reserved.base
    if sys.platform == "linux" and isinstance(pages, mmap.mmap) and last > first:
        pages.madvise(mmap.MADV_DONTNEED, first, last - first)
        reserved[start:first] = 0
        reserved[last : start + size] = 0
    else:
        reserved[start : start + size] = 0


def _units(data: np.ndarray) -> dict[int, np.ndarray]:
    """Views of a byte array by the size of what is accessed at once."""
    return {size: data.view(dtype) for size, dtype in UNITS.items()}


def _shift(index: Index, size: int) -> Index:
    return index >> (size.bit_length() - 1) if size > 1 else index


def _gather(units: dict[int, np.ndarray], index: Index, width: int, count: int) -> tuple[Any, ...]:
    size = width * count
    dtype = RAW[width * 8]
    if isinstance(index, int):
        data = units[1][index : index + size].view(dtype)
        return (data,) if width == 16 else tuple(data)
    at = _shift(index, size)
    data = units[size].take(at, mode="wrap")
    if width == 16:
        return (data[..., None].view(U64),)
    if count == 1:
        return (data,)
    parts = data[..., None].view(dtype)
    return tuple(np.ascontiguousarray(parts[..., element]) for element in range(count))


def _pack(values: tuple[Any, ...], width: int, shape: tuple[int, ...]) -> Any:
    """The elements of a vector access side by side, as the unit of `_units`; flat over the lanes."""
    size = width * len(values)
    dtype = RAW[width * 8]
    if width == 16:
        return np.ascontiguousarray(values[0]).view(np.complex128)[..., 0]
    if len(values) == 1:
        return values[0]
    packed = np.empty((*shape, len(values)), dtype)
    for element, value in enumerate(values):
        packed[..., element] = value
    return packed.view(UNITS[size])[..., 0]


def _scatter(units: dict[int, np.ndarray], index: Index, values: tuple[Any, ...], width: int) -> None:
    """Where lanes hit one place the last one wins."""
    size = width * len(values)
    if isinstance(index, int):
        data = units[1][index : index + size].view(RAW[width * 8])
        if width == 16:
            data[:] = values[0]
        else:
            for element, value in enumerate(values):
                data[element] = value
        return
    units[size][_shift(index, size)] = _pack(values, width, np.shape(index))


class Bank:
    """A flat byte memory.

    Attributes:
        data: the bytes.
        shadow: a bit set for each undefined bit, or None where everything is defined.
        origins: for every four bytes the origin of what a kernel left undefined there, 0 for none; or None.
    """

    def __init__(self, data: np.ndarray, shadow: np.ndarray | None = None) -> None:
        self.data = data
        self.units = _units(data)
        self.shadow = shadow
        self.shadow_units = _units(shadow) if shadow is not None else {}
        self.origins: np.ndarray | None = None

    def load(self, index: Index, width: int, count: int = 1) -> tuple[Any, ...]:
        """`count` elements of `width` bytes from each place; raw values of the index's shape."""
        return _gather(self.units, index, width, count)

    def store(self, index: Index, values: tuple[Any, ...], width: int) -> None:
        """Elements of `width` bytes to each place; the values have the index's shape or broadcast to it."""
        _scatter(self.units, index, values, width)

    def load_shadow(self, index: Index, width: int, count: int = 1) -> tuple[Any, ...]:
        """The undefined bits of what `load` reads."""
        return _gather(self.shadow_units, index, width, count)

    def store_shadow(self, index: Index, masks: tuple[Any, ...], width: int) -> None:
        """Set the undefined bits of what `store` wrote."""
        _scatter(self.shadow_units, index, masks, width)

    def origin(self, index: Index, size: int) -> Any:
        """The origin numbers at each place, 0 where a kernel left nothing undefined."""
        if self.origins is None:
            return np.zeros(np.shape(index), np.uint32)
        first = self.origins[np.asarray(index) >> 2]
        last = self.origins[(np.asarray(index) + (size - 1)) >> 2]
        return np.maximum(first, last)

    def set_origin(self, index: Index, size: int, origin: Any) -> None:
        """Remember where the undefined bits at each place come from; 0 forgets."""
        if self.origins is None:
            self.origins = reserve(len(self.data)).view(np.uint32)
        for offset in range(0, max(size, 4), 4):
            self.origins[(np.asarray(index) + offset) >> 2] = origin


# ---- global memory

BASE = 0x7F00_0000_0000
"""The first address of global memory; real devices hand out addresses like it."""
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
        heap: whether the device's `malloc` made it.
        freed_by: what freed it, in words.
        history: where accesses are entered that others may race with; None where races are not sought.
    """

    address: int
    size: int
    name: str
    live: bool = True
    undefined: bool = False
    heap: bool = False
    freed_by: str = ""
    history: AccessHistory | None = None

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

    Raises:
        PtxkitError: P705, this process has no addresses left.
    """

    def __init__(self) -> None:
        data, shadow = self._range()
        super().__init__(data, shadow)
        self._next, self._end = self._arena()
        self.budget = min(self._end - self._next, physical_memory() * 3 // 4)
        self.used = 0
        self.heap_used = 0
        self._addresses: list[int] = []
        self._allocations: list[Allocation] = []
        self._table: tuple[np.ndarray, np.ndarray] | None = None
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
        """A new range. Its bytes are zero and count as defined.

        Raises:
            PtxkitError: P705, there is no room.
        """
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
        at = bisect_right(self._addresses, address)
        self._addresses.insert(at, address)
        self._allocations.insert(at, allocation)
        self._table = None
        return allocation

    def disown(self, allocation: Allocation) -> None:
        """Forget a range that was adopted."""
        at = self._allocations.index(allocation)
        del self._allocations[at], self._addresses[at]
        allocation.live = False
        self._table = None

    def _reuse(self, size: int, align: int) -> int | None:
        """Room in a freed range; its memory of having been freed ends here."""
        for at, allocation in enumerate(self._allocations):
            if not allocation.live and allocation.size >= size and allocation.address % align == 0:
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

    def forget_histories(self) -> None:
        """Forget all accesses."""
        for allocation in self._allocations:
            allocation.history = None

    def find(self, address: int) -> Allocation | None:
        """The allocation, live or freed, with the greatest address not above `address`."""
        at = bisect_right(self._addresses, address)
        return self._allocations[at - 1] if at else None

    def after(self, address: int) -> Allocation | None:
        """The first allocation above `address`."""
        at = bisect_right(self._addresses, address)
        return self._allocations[at] if at < len(self._allocations) else None

    def inside(self, addresses: Any, size: int) -> Any:
        """Whether the `size` bytes from each address lie in one live allocation."""
        if self._table is None:
            live = [allocation for allocation in self._allocations if allocation.live]
            self._table = (
                np.array([0, *(allocation.address for allocation in live)], np.uint64),
                np.array([0, *(allocation.end for allocation in live)], np.uint64),
            )
        starts, ends = self._table
        at: Any = np.searchsorted(starts, addresses, side="right") - 1
        last = addresses + np.uint64(size)
        inside: Any = (last <= ends[at]) & (last > addresses)
        return inside


CHUNK = 64
"""Bytes that a `TiledBank` knows to be defined or not at once, the same ones in all tiles."""


class TiledBank(Bank):
    """Equal tiles one after another: the shared memory of each CTA, the local memory of each thread.

    Fresh tiles are undefined. For each chunk of a tile the bank knows whether it is defined in all tiles, so
    that what is written once and read often costs no look at the shadow.
    """

    def __init__(self, tiles: int, size: int, tracked: bool) -> None:
        self.tiles = tiles
        self.stride = max(-(-size // CHUNK) * CHUNK, CHUNK)
        total = tiles * self.stride
        shadow = np.full(total, 0xFF, np.uint8) if tracked else None
        super().__init__(np.zeros(total, np.uint8), shadow)
        self._undefined: Any = np.full(self.stride // CHUNK, tracked)
        self._any = tracked
        self._looks = 0
        self.history: AccessHistory | None = None

    def suspect(self, first: int, last: int) -> bool:
        """Whether bytes `first` to `last` (inclusive) of some tile may be undefined."""
        if not self._any:
            return False
        return bool(self._undefined[first // CHUNK : last // CHUNK + 1].any())

    def found_defined(self) -> None:
        """Take note that suspect bytes turned out defined; now and then look at them all again."""
        self._looks += 1
        if self._looks & (self._looks - 1) == 0 or self._looks % 64 == 0:
            assert self.shadow is not None
            chunks = self.shadow.reshape(self.tiles, -1, CHUNK)
            self._undefined = chunks.any(axis=(0, 2))
            self._any = bool(self._undefined.any())

    def spoil(self, first: int, last: int) -> None:
        """Bytes `first` to `last` of some tile may be undefined from now on."""
        self._undefined[first // CHUNK : last // CHUNK + 1] = True
        self._any = True

    def define(self, size: int) -> None:
        """The first bytes of each tile hold zeros."""
        if self.shadow is not None:
            self.shadow.reshape(self.tiles, -1)[:, :size] = 0

    def grown(self, size: int) -> TiledBank:
        """A bank with larger tiles and the same contents."""
        larger = TiledBank(self.tiles, size, self.shadow is not None)
        larger.data.reshape(self.tiles, -1)[:, : self.stride] = self.data.reshape(self.tiles, -1)
        if self.shadow is not None and larger.shadow is not None:
            larger.shadow.reshape(self.tiles, -1)[:, : self.stride] = self.shadow.reshape(self.tiles, -1)
        return larger
