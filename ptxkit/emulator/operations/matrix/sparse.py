"""Structured sparsity of `mma.sp`: metadata, and stored elements at their places. PTX ISA 9.7.14.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.faults import fault
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.operand import Mask
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_cores.sparsity import ANY_ORDER, ORDERED, TF32, expand
from ptxkit.emulator.values import WARP
from ptxkit.layouts.fragments import mma_metadata


class MmaMetadata:
    """The operands `e, f`: metadata and sparsity selector.

    Args:
        form: the instruction.
        k: elements along K, dense.
        bits: of an element, 8 for all that sit in bytes.
        ordered: `.sp::ordered_metadata`.

    Raises:
        Unsupported: the selector means nothing for this shape.
    """

    def __init__(self, form: ScopedForm, k: int, bits: int, ordered: bool) -> None:
        try:
            self.lanes, self.shifts = mma_metadata(k, bits, form.number("f"))
        except PtxkitError as wrong:
            raise Unsupported(wrong.diagnostics[0].message) from None
        self.source = form.source("e", "b32")
        self.bits, self.site = bits, form.site
        self.meaningful = TF32 if bits == 32 else ORDERED if ordered else ANY_ORDER
        self._bad = np.array([nibble not in self.meaningful for nibble in range(16)])

    def read(self, lane_set: LaneSet, guard: Any) -> tuple[np.ndarray, Mask]:
        """The nibble of each chunk, row and tile, uint8 (chunks, 16, n), and their undefined bits.

        Raises:
            EmulatorFault: P643, a nibble means nothing.
        """
        nibbles = self._nibbles(self.source.reader(lane_set), lane_set.n)
        entry = self.source.undefined(lane_set) if lane_set.undefined else None
        mask = None if entry is None else (self._nibbles(entry[0], lane_set.n), entry[1])
        bad = self._bad[nibbles]
        if mask is not None:
            bad &= mask[0] == 0
        lanes = executing(lane_set, guard)
        if lanes is not None:
            bad &= lanes[:, 0]
        if bad.any():
            chunk, row, at = (int(i) for i in np.argwhere(bad)[0])
            allowed = ", ".join(f"0b{nibble:04b}" for nibble in self.meaningful)
            found = f"0b{int(nibbles[chunk, row, at]):04b}"
            place = f"row {row} of A, chunk {chunk}, in bits {int(self.shifts[row, chunk])} and up"
            raise fault(
                "P643",
                f"expected one of {allowed} for each chunk, found {found}",
                self.site,
                (f"{lane_set.thread(at, int(self.lanes[row, chunk]))} gives it for {place}",),
            )
        return nibbles, mask

    def _nibbles(self, value: Any, n: int) -> np.ndarray:
        words = np.broadcast_to(value, (n, WARP))[:, self.lanes]
        found = (words >> self.shifts.astype(np.uint32) & np.uint32(0xF)).astype(np.uint8)
        return np.ascontiguousarray(found.transpose(2, 1, 0))

    def expand(self, stored: np.ndarray, nibbles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`tensor_cores.expand` for this instruction's elements."""
        return expand(stored, nibbles, self.bits)
