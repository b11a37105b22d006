"""Matrices out of shared and tensor memory: which elements an instruction reads, by cached index maps.

Maps of shared memory are kept for addresses modulo the swizzle's repeat; what is left of an address is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.emulator.tensor_memory.cells import PITCH
from ptxkit.emulator.values import distinct
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts import operand_bits
from ptxkit.layouts.bitpacking import CODES
from ptxkit.layouts.shared_memory import ABSOLUTE
from ptxkit.layouts.swizzle import LAYOUT_UNSUPPORTED
from ptxkit.layouts.tensor_memory import DATA_PATHS, operand_a_cells

REPEAT = 1024
"""Bytes after which every swizzle repeats."""
CHUNK = 16
"""Bytes that a matrix descriptor can tell apart."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedMap:
    """Where an operand's elements lie from an address on, a multiple of `REPEAT`.

    Attributes:
        bits: of an element as it is stored.
        units: int64 (k, mn): for elements of 8 bits and more the element's number; for smaller ones the
            number of the byte in which it begins.
        shift: for smaller ones the bit in that byte; else None.
        straddles: whether some element reaches into the following byte.
        chunks: int64, the 16-byte pieces that are touched, ascending.
        runs: the same as runs of bytes: where each begins and how long it is.
    """

    bits: int
    units: np.ndarray
    shift: np.ndarray | None
    straddles: bool
    chunks: np.ndarray
    runs: tuple[np.ndarray, np.ndarray]

    def gather(self, memory: np.ndarray, start: int) -> np.ndarray:
        """The codes (k, mn) out of bytes; `start` is where the map's address lies in them."""
        if self.shift is None:
            size = self.bits // 8
            flat = memory[start : start + (len(memory) - start) // size * size]
            return flat.view(CODES[self.bits]).take(self.units)
        first = memory.take(self.units + start).astype(np.uint16)
        if self.straddles:
            first |= memory.take(np.minimum(self.units + (start + 1), len(memory) - 1)).astype(
                np.uint16
            ) << np.uint16(8)
        return (first >> self.shift & np.uint16((1 << self.bits) - 1)).astype(np.uint8)


@lru_cache(maxsize=512)
def _shared_map(
    descriptor: SmemDescTcgen05, mn: int, k: int, dtype: str, major: str, padded: bool
) -> SharedMap:
    places = operand_bits(descriptor, mn, k, dtype, major, padded).T
    bits = BITS[dtype]
    chunks = distinct(places // (8 * CHUNK))
    if bits >= 8:
        return SharedMap(bits, np.ascontiguousarray(places // bits), None, False, chunks, _runs(chunks))
    byte, shift = np.divmod(places, 8)
    straddles = bool((shift + bits > 8).any())
    chunks = distinct(np.concatenate([chunks, (places + bits - 1).reshape(-1) // (8 * CHUNK)]))
    units, shifts = np.ascontiguousarray(byte), shift.astype(np.uint16)
    return SharedMap(bits, units, shifts, straddles, chunks, _runs(chunks))


def _runs(chunks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring pieces as runs of bytes."""
    begins = np.flatnonzero(np.append(True, np.diff(chunks) > 1))
    counts = np.diff(np.append(begins, len(chunks)))
    return chunks[begins] * CHUNK, counts * CHUNK


BITS = {
    "tf32": 32, "f16": 16, "bf16": 16, "s1z4m11": 16,
    "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4,
}  # fmt: skip
"""Bits of an element as it is stored in shared memory, padding apart."""


@dataclass(frozen=True, slots=True)
class Tcgen05SharedOperand:
    """A matrix in the shared memory of a CTA, as a descriptor gives it.

    Attributes:
        start: the shared address from which the map counts.
        map: where its elements lie.
    """

    start: int
    map: SharedMap

    @property
    def first(self) -> int:
        """The least address that is read."""
        return int(self.map.chunks[0]) * CHUNK + self.start

    @property
    def last(self) -> int:
        """The greatest address that is read."""
        return int(self.map.chunks[-1]) * CHUNK + self.start + CHUNK - 1


@lru_cache(maxsize=1024)
def shared_operand(
    descriptor: SmemDescTcgen05, mn: int, k: int, dtype: str, major: str = "K", padded: bool = False
) -> Tcgen05SharedOperand:
    """What an instruction reads through a descriptor.

    Args:
        descriptor: the matrix descriptor.
        mn, k: elements along MN and along K, as stored.
        dtype: element type by PTX name.
        major: `K` or `MN`.
        padded: 16 elements of 4 or 6 bits to 16 bytes.

    Raises:
        PtxkitError: P471, the absolute leading mode of other than 48 bytes along K.
    """
    start, leading = descriptor.address, descriptor.leading_byte_offset
    absolute = descriptor.leading_mode == "absolute"
    if absolute:
        taken = k * BITS[dtype] // 8
        if taken != 3 * CHUNK or major != "K":
            message = f"`leading_mode` absolute is for 48 bytes along K, found {taken}"
            raise error(LAYOUT_UNSUPPORTED, message, notes=(ABSOLUTE,))
        start = min(start, leading)
    start -= start % REPEAT
    near = descriptor.replace(
        address=descriptor.address - start, leading_byte_offset=leading - start if absolute else leading
    )
    found = _shared_map(near, mn, k, dtype, major, padded)
    return Tcgen05SharedOperand(start, found)


# ---- tensor memory


@dataclass(frozen=True, slots=True, eq=False)
class CellMap:
    """Where packed elements lie in tensor memory, relative to an address.

    Attributes:
        cells: int64 (copies, k, rows).
        shift: uint32 of the same shape, the lowest bit.
        bits: of an element.
        columns: how many columns it takes.
        lanes: the lanes, as bits.
    """

    cells: np.ndarray
    shift: np.ndarray
    bits: int
    columns: int
    lanes: int

    def pick(self, words: np.ndarray) -> np.ndarray:
        """The elements out of the words of `cells`, in the smallest unsigned type."""
        if self.bits == 32:
            return words
        found: np.ndarray = words >> self.shift & np.uint32((1 << self.bits) - 1)
        return found.astype(CODES[self.bits])


def tensor_map(lane: np.ndarray, word: np.ndarray, bit: np.ndarray, bits: int) -> CellMap:
    """A map of lanes, columns and bits with the axes (copies, rows, k)."""
    cells = np.ascontiguousarray((lane * PITCH + word).transpose(0, 2, 1))
    shift = np.ascontiguousarray(bit.transpose(0, 2, 1)).astype(np.uint32)
    lanes = 0
    for one in distinct(lane):
        lanes |= 1 << int(one)
    return CellMap(cells, shift, bits, int(word.max()) + 1, lanes)


@lru_cache(maxsize=128)
def operand_a_map(path: str, k: int, bits: int, start_lane: int) -> CellMap:
    """Matrix A in tensor memory.

    Args:
        path: layout A to G of D.
        k: elements along K, as stored.
        bits: container bits of an element.
        start_lane: 0, or 16 for layouts C and F.

    Raises:
        PtxkitError: P471, layouts E and G.
    """
    return tensor_map(*operand_a_cells(DATA_PATHS[path], k, bits, start_lane), bits)
