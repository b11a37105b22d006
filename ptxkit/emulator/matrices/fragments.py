"""Between registers and matrices: fragments of a warp gathered into matrices of codes, and scattered again.

A matrix has the axes (first, second, tiles): A is (K, M, tiles), B (K, N, tiles), C and D (M, N, tiles). The
tiles are those of all rows of a set; where a warp holds several, its first ones come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

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
        """The codes of the matrix, in the smallest unsigned type.

        Args:
            values: the raw registers, each of a shape that broadcasts to (n, lanes).
            n: rows of the set, or warpgroups.
        """
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
