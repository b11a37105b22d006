"""Matrices in the registers of warps and warpgroups: fragments, operands, sparsity metadata.

What `mma`, `wmma`, `ldmatrix` and their like (`operations/matrix`) share with `wgmma` (`warpgroup`). A matrix
of codes has the axes (first, second, tiles): A is (K, M, tiles), B (K, N, tiles), C and D (M, N, tiles). The
tiles are those of all rows of a set; where a warp holds several, its first ones come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand, TargetOperand
from ptxkit.emulator.operation import Unsupported
from ptxkit.layouts.fragments import mma_metadata

CODES = {4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


class Fragment:
    """A matrix in the registers of a warp, or of the 128 threads of a warpgroup.

    Args:
        first, second: for every lane and element the place along the matrix's two axes, int64 (lanes,
            elements). Elements fill registers from the low bits up.
        bits: of an element.
        tile: for every lane and element its matrix, where a warp holds several.
    """

    def __init__(
        self, first: np.ndarray, second: np.ndarray, bits: int, tile: np.ndarray | None = None
    ) -> None:
        self.bits = bits
        self.word = max(bits, 32)
        self.packed = self.word // bits
        self.lanes, elements = first.shape
        self.registers = elements // self.packed
        if tile is None:
            tile = np.zeros_like(first)
        self.shape = (int(first.max()) + 1, int(second.max()) + 1, int(tile.max()) + 1)
        at = np.indices(first.shape)
        lane, word, inside = at[0], at[1] // self.packed, at[1] % self.packed
        place = (first * self.shape[1] + second) * self.shape[2] + tile
        # Of several copies the first one counts.
        count = prod(self.shape)
        self.words = np.empty(count, np.int64)
        inside_of = np.empty(count, np.int64)
        for copy in reversed(range(elements)):
            self.words[place[:, copy]] = word[:, copy] * self.lanes + lane[:, copy]
            inside_of[place[:, copy]] = inside[:, copy]
        self.shifts = (inside_of * bits).astype(CODES[self.word])[:, None]
        self.places = place.T.reshape(self.registers, self.packed, self.lanes)

    def gather(self, values: Sequence[Any], n: int) -> np.ndarray:
        """The codes of the matrix, in the smallest unsigned type. `values`: the raw registers, each of a
        shape that broadcasts to (n, lanes). `n`: rows of the set, or warpgroups."""
        words = np.empty((self.registers, self.lanes, n), CODES[self.word])
        for into, value in zip(words, values, strict=True):
            into[...] = value.T if np.ndim(value) else value
        found = words.reshape(-1, n).take(self.words, axis=0)
        if self.packed > 1:
            found >>= self.shifts
            found = found.astype(CODES[self.bits])
            if self.bits < 8:
                found &= np.uint8((1 << self.bits) - 1)
        return found.reshape(*self.shape[:2], self.shape[2] * n)

    def scatter(self, matrix: np.ndarray) -> list[np.ndarray]:
        """The registers that hold a matrix, (n, lanes) each; undoes `gather`."""
        n = matrix.shape[2] // self.shape[2]
        flat = matrix.reshape(-1, n)
        registers = []
        for places in self.places:
            word = flat.take(places[0], axis=0)
            if self.packed > 1:
                word = word.astype(np.uint32)
                for i in range(1, self.packed):
                    word |= flat.take(places[i], axis=0).astype(np.uint32) << np.uint32(i * self.bits)
            registers.append(np.ascontiguousarray(word.T))
        return registers

    def scatter_from(self, matrices: np.ndarray, which: np.ndarray) -> Iterator[np.ndarray]:
        """The registers, (n, lanes) each, that hold n matrices of one tile. `matrices`: (.., first, second),
        contiguous. `which`: those of them."""
        flat = matrices.reshape(-1)
        starts = (which * (len(flat) // len(matrices)))[:, None]
        for places in self.places:
            word = flat.take(starts + places[0])
            if self.packed > 1:
                word = word.astype(np.uint32)
                for i in range(1, self.packed):
                    word |= flat.take(starts + places[i]).astype(np.uint32) << np.uint32(i * self.bits)
            yield word


Mask = tuple[Any, int] | None
"""Undefined bits and their origin; None where there are none."""


@dataclass(slots=True)
class MatrixSource:
    """A matrix that is read."""

    fragment: Fragment
    sources: list[SourceOperand]
    readers: list[Callable[[LaneSet], Any]]

    @classmethod
    def of(cls, instruction: ScopedInstruction, operand: str, fragment: Fragment) -> MatrixSource:
        """The registers of an operand as a fragment."""
        sources = [instruction.source(part, f"b{fragment.word}") for part in instruction.parts(operand)]
        assert len(sources) == fragment.registers
        return cls(fragment, sources, [source.reader for source in sources])

    def codes(self, lane_set: LaneSet) -> np.ndarray:
        """The matrix: (first, second, tiles)."""
        return self.fragment.gather([read(lane_set) for read in self.readers], lane_set.n)

    def unknown(self, lane_set: LaneSet) -> Mask:
        """The undefined bits of the matrix's codes."""
        if not lane_set.undefined:
            return None
        found = [source.undefined(lane_set) for source in self.sources]
        if not any(found):
            return None
        masks: list[Any] = [np.uint32(0) if entry is None else entry[0] for entry in found]
        return self.fragment.gather(masks, lane_set.n), next(entry[1] for entry in found if entry)


@dataclass(slots=True)
class MatrixTarget:
    """A matrix that is written."""

    fragment: Fragment
    targets: list[TargetOperand | None]

    @classmethod
    def of(cls, instruction: ScopedInstruction, operand: str, fragment: Fragment) -> MatrixTarget:
        """The registers of an operand as a fragment."""
        targets = [instruction.target(part, f"b{fragment.word}") for part in instruction.parts(operand)]
        assert len(targets) == fragment.registers
        return cls(fragment, targets)

    def write(self, lane_set: LaneSet, guard: Any, matrix: np.ndarray, undefined: Mask = None) -> bool:
        """Store a matrix of codes, of which some may be undefined (bits, or bool for all of an element's).
        Returns whether any are."""
        masks: list[np.ndarray] | None = None
        if undefined is not None:
            bits, origin = undefined
            if bits.dtype == bool:
                bits = np.where(bits, np.iinfo(matrix.dtype).max, 0).astype(matrix.dtype)
            masks = self.fragment.scatter(np.ascontiguousarray(np.broadcast_to(bits, matrix.shape)))
        for i, (target, value) in enumerate(zip(self.targets, self.fragment.scatter(matrix), strict=True)):
            if target is not None:
                entry = (masks[i], origin) if masks is not None and masks[i].any() else None
                target.write(lane_set, value, entry, guard)
        return masks is not None


class Unknown:
    """Which elements of D are made of undefined bits: one in the row of A, the column of B or C is enough."""

    def __init__(self) -> None:
        self._where: Any = None
        self._origin = 0

    def add(self, mask: Mask) -> None:
        """Undefined bits of C: (M, N, tiles), or what broadcasts to it."""
        if mask is not None:
            where = mask[0] != 0
            self._where = where if self._where is None else self._where | where
            self._origin = self._origin or mask[1]

    def add_rows(self, mask: Mask) -> None:
        """Undefined bits along rows of A: (K, M, tiles)."""
        if mask is not None:
            self.add((mask[0].any(axis=0)[:, None], mask[1]))

    def add_columns(self, mask: Mask) -> None:
        """Undefined bits along columns of B: (K, N, tiles)."""
        if mask is not None:
            self.add((mask[0].any(axis=0)[None], mask[1]))

    def found(self, lane_set: LaneSet, site: Site) -> Mask:
        """The elements of D, as bool, and the origin that they have from this instruction on."""
        if self._where is None or not self._where.any():
            return None
        return self._where, lane_set.launch.origin(self._origin, site)


class SparsityMetadata:
    """A metadata operand with its sparsity selector.

    Args:
        operands: the names of metadata and selector.
        k: elements along K, dense.
        bits: of an element, 8 for all that sit in bytes.
        meaningful: the nibbles that mean something.

    Raises:
        Unsupported: the selector means nothing for this shape.
    """

    def __init__(
        self,
        instruction: ScopedInstruction,
        operands: tuple[str, str],
        k: int,
        bits: int,
        meaningful: Sequence[int],
    ) -> None:
        metadata, selector = operands
        try:
            self.lanes, self.shifts = mma_metadata(k, bits, instruction.number(selector))
        except PtxkitError as wrong:
            raise Unsupported(wrong.diagnostics[0].message) from None
        self.source = instruction.source(metadata, "b32")
        self.bits, self.site = bits, instruction.site
        self.meaningful = meaningful
        self._bad = np.array([nibble not in meaningful for nibble in range(16)])

    def checked(
        self,
        lane_set: LaneSet,
        held: Callable[[Any], np.ndarray],
        runs: np.ndarray | None,
        giver: Callable[[int, int, int], str],
    ) -> tuple[np.ndarray, Mask]:
        """The nibble of each chunk, row and item, uint8 (chunks, 16, items), and their undefined bits.

        Args:
            lane_set: what reads them.
            held: of a register, the word of each item and chunk's row, (items, rows, chunks).
            runs: which items execute; None: all.
            giver: the name of the thread that gives a chunk of a row of an item.

        Raises:
            EmulatorFault: P643, a nibble means nothing.
        """
        nibbles = self._nibbles(held(self.source.reader(lane_set)))
        entry = self.source.undefined(lane_set) if lane_set.undefined else None
        mask = None if entry is None else (self._nibbles(held(entry[0])), entry[1])
        bad = self._bad[nibbles]
        if mask is not None:
            bad &= mask[0] == 0
        if runs is not None:
            bad &= runs
        if bad.any():
            chunk, row, item = (int(i) for i in np.argwhere(bad)[0])
            allowed = ", ".join(f"0b{nibble:04b}" for nibble in self.meaningful)
            found = f"0b{int(nibbles[chunk, row, item]):04b}"
            place = f"row {row} of A, chunk {chunk}, in bits {int(self.shifts[row, chunk])} and up"
            notes = (f"{giver(chunk, row, item)} gives it for {place}",)
            raise fault("P643", f"expected one of {allowed} for each chunk, found {found}", self.site, notes)
        return nibbles, mask

    def _nibbles(self, words: np.ndarray) -> np.ndarray:
        found = (words >> self.shifts.astype(np.uint32) & np.uint32(0xF)).astype(np.uint8)
        return np.ascontiguousarray(found.transpose(2, 1, 0))
