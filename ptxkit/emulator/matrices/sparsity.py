"""Sparsity metadata in registers: the nibbles that say which elements are stored. PTX ISA 9.7.14.6.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.faults import fault
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.operand import Mask
from ptxkit.emulator.operation import Unsupported
from ptxkit.layouts.fragments import mma_metadata


class SparsityMetadata:
    """A metadata operand with its sparsity selector.

    Args:
        form: the instruction.
        operands: the names of metadata and selector.
        k: elements along K, dense.
        bits: of an element, 8 for all that sit in bytes.
        meaningful: the nibbles that mean something.

    Raises:
        Unsupported: the selector means nothing for this shape.
    """

    def __init__(
        self, form: ScopedForm, operands: tuple[str, str], k: int, bits: int, meaningful: Sequence[int]
    ) -> None:
        metadata, selector = operands
        try:
            self.lanes, self.shifts = mma_metadata(k, bits, form.number(selector))
        except PtxkitError as wrong:
            raise Unsupported(wrong.diagnostics[0].message) from None
        self.source = form.source(metadata, "b32")
        self.bits, self.site = bits, form.site
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
