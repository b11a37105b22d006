"""Sparsity metadata of `wgmma.mma_async.sp`. PTX ISA 9.7.15.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.faults import fault
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.tensor_cores.sparsity import ANY_ORDER, TF32
from ptxkit.emulator.values import WARP
from ptxkit.emulator.warpgroup.members import Members
from ptxkit.emulator.warpgroup.registers import THREADS, WARPS, spread
from ptxkit.layouts import fragments


class WgmmaMetadata:
    """The operands `sp-meta, sp-sel`.

    Args:
        form: the instruction.
        k: elements along K, dense.
        bits: of an element.

    Raises:
        Unsupported: the selector means nothing for this shape.
    """

    def __init__(self, form: ScopedForm, k: int, bits: int) -> None:
        try:
            lanes, self.shifts = fragments.mma_metadata(k, bits, form.number("sp_sel"))
        except PtxkitError as wrong:
            raise Unsupported(wrong.diagnostics[0].message) from None
        self.threads = np.concatenate([lanes + WARP * warp for warp in range(WARPS)])
        self.shifts = np.tile(self.shifts, (WARPS, 1)).astype(np.uint32)
        self.source = form.source("sp_meta", "b32")
        self.site = form.site
        self.meaningful = TF32 if bits == 32 else ANY_ORDER
        self._bad = np.array([nibble not in self.meaningful for nibble in range(16)])

    def read(self, lane_set: LaneSet, members: Members) -> tuple[np.ndarray, Any]:
        """The nibble of each chunk, row and warpgroup, and their undefined bits with their origin.

        Raises:
            EmulatorFault: P643, a nibble means nothing.
        """
        nibbles = self._nibbles(self.source.reader(lane_set), lane_set, members)
        entry = self.source.undefined(lane_set) if lane_set.undefined else None
        mask = None if entry is None else (self._nibbles(entry[0], lane_set, members), entry[1])
        bad = self._bad[nibbles]
        if mask is not None:
            bad &= mask[0] == 0
        if bad.any():
            chunk, row, at = (int(i) for i in np.argwhere(bad)[0])
            allowed = ", ".join(f"0b{nibble:04b}" for nibble in self.meaningful)
            place = f"row {row} of A, chunk {chunk}, in bits {int(self.shifts[row, chunk])} and up"
            found = f"0b{int(nibbles[chunk, row, at]):04b}"
            raise fault(
                "P643",
                f"expected one of {allowed} for each chunk, found {found}",
                self.site,
                (f"{thread_of(lane_set, members, at, int(self.threads[row, chunk]))} gives it for {place}",),
            )
        return nibbles, mask

    def _nibbles(self, value: Any, lane_set: LaneSet, members: Members) -> np.ndarray:
        held = np.broadcast_to(spread(value, members.rows, lane_set.n), (len(members.which), THREADS))
        found = (held[:, self.threads] >> self.shifts & np.uint32(0xF)).astype(np.uint8)
        return np.ascontiguousarray(found.transpose(2, 1, 0))


def thread_of(lane_set: LaneSet, members: Members, item: int, thread: int) -> str:
    """A thread of one of the warpgroups, by its number there."""
    row = WARPS * item + thread // WARP
    if members.rows is not None:
        row = int(members.rows[item, thread // WARP])
    return str(lane_set.thread(row, thread % WARP))
