"""Matrices of `wgmma` in shared memory, for many warpgroups at once, and sparsity metadata.

A matrix is read in pieces of 16 bytes, which no layout parts. Where the pieces lie hangs on the
descriptor alone but for multiples of 1024 bytes, after which every swizzle repeats, so the maps are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.matrices import Mask, SparsityMetadata
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.tensor_cores.elements import ANY_ORDER, TF32
from ptxkit.emulator.values import WARP, distinct
from ptxkit.emulator.warpgroup.members import THREADS, WARPS, Members, per_thread
from ptxkit.encodings.shared_memory import SmemDescWgmma
from ptxkit.layouts import operand_bits
from ptxkit.layouts.swizzle import pattern

REPEAT = 1024
"""Bytes after which every swizzle repeats."""
CHUNK = 16
"""Bytes of a piece."""
CODES = {1: np.uint32, 8: np.uint8, 16: np.uint16, 32: np.uint32}
"""What elements are handed on as, by their bits; single bits as words of 32 along K."""


@dataclass(frozen=True, eq=False)
class SharedMatrix:
    """Where a matrix lies, from a shared address that is a multiple of `REPEAT`.

    Attributes:
        pieces: int64 (rows, pieces of a row), offsets in units of `CHUNK`; rows go along MN where the matrix
            is K-major, else along K.
        major: `K` or `MN`.
        bits: of an element.
        start, size: the intervals of bytes that it takes, ascending.
        torn: whether its rows are longer than those of its swizzle, which no layout has.
    """

    pieces: np.ndarray
    major: str
    bits: int
    start: np.ndarray
    size: np.ndarray
    torn: bool

    @cached_property
    def places(self) -> np.ndarray:
        """The same in bytes."""
        return self.pieces * CHUNK

    @property
    def last(self) -> int:
        """The offset behind the last byte."""
        return int(self.start[-1] + self.size[-1])

    def gather(self, units: np.ndarray, origins: np.ndarray) -> np.ndarray:
        """The codes (K, MN, matrices). `units`: a bank's bytes or their shadow in units of `CHUNK`.
        `origins`: int64, where the map's address lies in the bank, for each matrix; multiples of `CHUNK`."""
        index = self.pieces[:, :, None] + (origins // CHUNK)[None, None, :]
        taken = units.take(index)[..., None].view(CODES[self.bits])
        rows, pieces, matrices, elements = taken.shape
        order = (1, 3, 0, 2) if self.major == "K" else (0, 1, 3, 2)
        along = pieces * elements
        shape = (along, rows, matrices) if self.major == "K" else (rows, along, matrices)
        return np.ascontiguousarray(taken.transpose(order)).reshape(shape)


@lru_cache(maxsize=1024)
def shared_matrix(descriptor: int, mn: int, k: int, dtype: str, major: str) -> tuple[int, SharedMatrix]:
    """The shared address from which a matrix's map counts, and the map.

    Args:
        descriptor: the 64 bits of the matrix descriptor.
        mn, k: elements along MN and K, as stored.
        dtype: their type.
        major: `MN` where the instruction transposes the matrix.

    Raises:
        PtxkitError: the descriptor has bits that mean nothing.
    """
    found = SmemDescWgmma.decode(descriptor)
    phase = found.address % REPEAT
    return found.address - phase, _map(int(found.replace(address=phase)), mn, k, dtype, major)


@lru_cache(maxsize=256)
def _map(descriptor: int, mn: int, k: int, dtype: str, major: str) -> SharedMatrix:
    bits = DTYPES[dtype].bits
    layout = SmemDescWgmma.decode(descriptor)
    byte = operand_bits(layout, mn, k, dtype, major) // 8
    pieces = (byte if major == "K" else byte.T)[:, :: CHUNK * 8 // bits] // CHUNK
    torn = major == "K" and layout.swizzle != "none" and k * bits // 8 > pattern(layout.swizzle).row_bytes
    return _of_pieces(np.asarray(pieces, np.int64).tobytes(), len(pieces), major, bits, torn)


@lru_cache(maxsize=256)
def _of_pieces(data: bytes, rows: int, major: str, bits: int, torn: bool) -> SharedMatrix:
    """One map for all descriptors that mean the same: not every field counts in every layout."""
    pieces = np.frombuffer(data, np.int64).reshape(rows, -1)
    every = distinct(pieces)
    begins = np.flatnonzero(np.diff(every, prepend=every[0] - 2) != 1)
    counts = np.diff(np.append(begins, len(every)))
    return SharedMatrix(pieces, major, bits, every[begins] * CHUNK, counts * CHUNK, torn)


@dataclass(frozen=True, slots=True, eq=False)
class WgmmaSharedOperand:
    """One operand of an instruction for all its warpgroups.

    Attributes:
        maps: the different maps among them.
        which: the number of each warpgroup's map.
        origins: int64, where it counts from in the bank.
    """

    maps: tuple[SharedMatrix, ...]
    which: np.ndarray
    origins: np.ndarray

    def gather(self, units: np.ndarray) -> np.ndarray:
        """The codes (K, MN, warpgroups)."""
        if len(self.maps) == 1:
            return self.maps[0].gather(units, self.origins)
        parts = [self.maps[i].gather(units, self.origins[self.which == i]) for i in range(len(self.maps))]
        whole = np.empty((*parts[0].shape[:2], len(self.which)), parts[0].dtype)
        for i, part in enumerate(parts):
            whole[:, :, self.which == i] = part
        return whole

    def read(self, bank: TiledBank) -> tuple[np.ndarray, np.ndarray | None]:
        """The codes in a bank, and their undefined bits if there are any."""
        return self.gather(bank.units[CHUNK]), self.undefined(bank)

    def undefined(self, bank: TiledBank) -> np.ndarray | None:
        """The undefined bits of the codes; None where there are none."""
        if bank.shadow is None:
            return None
        phases = self.origins % bank.stride
        first = int(phases.min()) + min(int(found.start[0]) for found in self.maps)
        if not bank.suspect(first, int(phases.max()) + max(found.last for found in self.maps) - 1):
            return None
        undefined = self.gather(bank.shadow_units[CHUNK])
        if undefined.any():
            return undefined
        bank.found_defined()
        return None

    def intervals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offset and size of the intervals that are read, and the warpgroup of each."""
        if len(self.maps) == 1:
            found = self.maps[0]
            count = len(self.origins)
            start = (self.origins[:, None] + found.start).reshape(-1)
            return start, np.tile(found.size, count), np.repeat(np.arange(count), len(found.start))
        parts: list[Any] = []
        for at, (which, origin) in enumerate(zip(self.which.tolist(), self.origins.tolist(), strict=True)):
            found = self.maps[which]
            parts.append((found.start + origin, found.size, np.full(len(found.start), at)))
        start, size, item = (np.concatenate(column) for column in zip(*parts, strict=True))
        return start, size, item


class WgmmaMetadata(SparsityMetadata):
    """The operands `sp-meta, sp-sel`: each warp gives those of its 16 rows."""

    def __init__(self, instruction: ScopedInstruction, k: int, bits: int) -> None:
        super().__init__(instruction, ("sp_meta", "sp_sel"), k, bits, TF32 if bits == 32 else ANY_ORDER)
        self.threads = np.concatenate([self.lanes + WARP * warp for warp in range(WARPS)])
        self.shifts = np.tile(self.shifts, (WARPS, 1))

    def read(self, lane_set: LaneSet, members: Members) -> tuple[np.ndarray, Mask]:
        """The nibbles of each warpgroup, see `checked`."""
        shape = len(members.which), THREADS
        return self.checked(
            lane_set,
            lambda value: np.broadcast_to(per_thread(value, members.rows, lane_set.n), shape)[
                :, self.threads
            ],
            None,
            lambda chunk, row, at: thread_of(lane_set, members, at, int(self.threads[row, chunk])),
        )


def thread_of(lane_set: LaneSet, members: Members, item: int, thread: int) -> str:
    """A thread of one of the warpgroups, by its number there."""
    row = WARPS * item + thread // WARP
    if members.rows is not None:
        row = int(members.rows[item, thread // WARP])
    return str(lane_set.thread(row, thread % WARP))


def outside(launch: LaunchState, start: int, found: SharedMatrix) -> bool:
    """Whether a matrix reaches beyond the CTA's shared memory."""
    low, high = start + int(found.start[0]), start + found.last
    return low < launch.shared.start or high > launch.shared.start + launch.shared.total
