"""Sparsity metadata of `wgmma.mma_async.sp`. PTX ISA 9.7.15.6."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.operand import Mask
from ptxkit.emulator.matrices.sparsity import SparsityMetadata
from ptxkit.emulator.tensor_cores.sparsity import ANY_ORDER, TF32
from ptxkit.emulator.values import WARP
from ptxkit.emulator.warpgroup.members import Members
from ptxkit.emulator.warpgroup.registers import THREADS, WARPS, spread


class WgmmaMetadata(SparsityMetadata):
    """The operands `sp-meta, sp-sel`: each warp gives those of its 16 rows."""

    def __init__(self, form: ScopedForm, k: int, bits: int) -> None:
        super().__init__(form, ("sp_meta", "sp_sel"), k, bits, TF32 if bits == 32 else ANY_ORDER)
        self.threads = np.concatenate([self.lanes + WARP * warp for warp in range(WARPS)])
        self.shifts = np.tile(self.shifts, (WARPS, 1))

    def read(self, lane_set: LaneSet, members: Members) -> tuple[np.ndarray, Mask]:
        """The nibbles of each warpgroup, see `checked`."""
        shape = len(members.which), THREADS
        return self.checked(
            lane_set,
            lambda value: np.broadcast_to(spread(value, members.rows, lane_set.n), shape)[:, self.threads],
            None,
            lambda chunk, row, at: thread_of(lane_set, members, at, int(self.threads[row, chunk])),
        )


def thread_of(lane_set: LaneSet, members: Members, item: int, thread: int) -> str:
    """A thread of one of the warpgroups, by its number there."""
    row = WARPS * item + thread // WARP
    if members.rows is not None:
        row = int(members.rows[item, thread // WARP])
    return str(lane_set.thread(row, thread % WARP))
