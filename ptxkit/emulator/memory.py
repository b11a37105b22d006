"""Byte memories with their shadows.

A `Bank` is a flat array of bytes. Its shadow, of the same size, has a bit set for every bit that is
undefined; a third array, made only when a kernel stores something undefined, holds for every four bytes the
number of the origin of that undefinedness.
"""

from __future__ import annotations

import gc
import mmap
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.values import RAW, U64, UNITS, filled

MAP_NORESERVE = 0x4000
"""Linux's flag, which Python names only from 3.13 on."""
Index = Any
"""A byte offset in a bank: an int, or an `int64` array that broadcasts against (warps, 32)."""


def reserve(size: int) -> np.ndarray:
    """`size` zero bytes, committed page by page as they are first written; the `base` is the `mmap`."""
    try:
        pages = _map(size)
    except OSError:
        gc.collect()  # Devices that nobody has any more, in cycles, hold addresses: a thousand of them all.
        pages = _map(size)
    return np.frombuffer(pages, np.uint8)


def _map(size: int) -> mmap.mmap:
    if sys.platform == "linux":
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
    return mmap.mmap(-1, size)


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


class UnitViews(dict[int, np.ndarray]):
    """Views of a byte array by the size of what is accessed at once; made when they are first asked for."""

    __slots__ = ("_data",)

    def __init__(self, data: np.ndarray) -> None:
        self._data = data

    def __missing__(self, size: int) -> np.ndarray:
        view = self[size] = self._data.view(UNITS[size])
        return view


def _shift(index: Index, size: int) -> Index:
    return index >> (size.bit_length() - 1) if size > 1 else index


def _gather(units: Mapping[int, np.ndarray], index: Index, width: int, count: int) -> tuple[Any, ...]:
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
    """The elements of a vector access side by side, as the unit of `UnitViews`; flat over the lanes."""
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


def _scatter(units: Mapping[int, np.ndarray], index: Index, values: tuple[Any, ...], width: int) -> None:
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
        shadow: a bit set for each undefined bit, or None where everything is defined.
        origins: for every four bytes the origin of what a kernel left undefined there, 0 for none; or None.
    """

    def __init__(self, data: np.ndarray, shadow: np.ndarray | None = None) -> None:
        self.data = data
        self.units = UnitViews(data)
        self.shadow = shadow
        self.shadow_units: Mapping[int, np.ndarray] = UnitViews(shadow) if shadow is not None else {}
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
        shadow = filled(total, 0xFF, np.uint8) if tracked else None
        super().__init__(np.zeros(total, np.uint8), shadow)
        self._undefined: Any = filled(self.stride // CHUNK, tracked, bool)
        self._any = tracked
        self._looks = self._vain = 0
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
            self._see(slice(None))

    def look(self, first: int, last: int) -> bool:
        """`suspect` of bytes that are suspect, after a look at their chunks; where that was in vain, the next
        ones are further apart."""
        self._vain += 1
        if self._vain & (self._vain - 1):
            return True
        chunks = slice(first // CHUNK, last // CHUNK + 1)
        self._see(chunks)
        if self._undefined[chunks].any():
            return True
        self._vain = 0
        return False

    def _see(self, chunks: slice) -> None:
        """Look at some chunks of all tiles."""
        assert self.shadow is not None
        words = self.shadow.view(np.uint64).reshape(self.tiles, -1, CHUNK // 8)[:, chunks]
        self._undefined[chunks] = words.any(axis=(0, 2))
        self._any = bool(self._undefined.any())

    def spoil(self, first: int, last: int) -> None:
        """Bytes `first` to `last` of some tile may be undefined from now on."""
        self._undefined[first // CHUNK : last // CHUNK + 1] = True
        self._any = True

    def end(self, size: int) -> None:
        """Nobody reaches beyond so many bytes of a tile: what it is filled up with is never undefined."""
        if self.shadow is not None and size < self.stride:
            self.shadow.reshape(self.tiles, -1)[:, size:] = 0

    def define(self, size: int) -> None:
        """The first bytes of each tile hold zeros."""
        if self.shadow is not None:
            self.shadow.reshape(self.tiles, -1)[:, :size] = 0

    def grown(self, tiles: int, size: int) -> TiledBank:
        """A bank with larger tiles and the same contents; empty where this one had not as many tiles."""
        larger = TiledBank(tiles, size, self.shadow is not None)
        if tiles != self.tiles:
            return larger
        larger.data.reshape(self.tiles, -1)[:, : self.stride] = self.data.reshape(self.tiles, -1)
        if self.shadow is not None and larger.shadow is not None:
            larger.shadow.reshape(self.tiles, -1)[:, : self.stride] = self.shadow.reshape(self.tiles, -1)
        return larger
