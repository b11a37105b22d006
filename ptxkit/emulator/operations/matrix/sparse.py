"""Structured sparsity of `mma.sp`: metadata, and stored elements at their places. PTX ISA 9.7.14.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.operand import Mask
from ptxkit.emulator.matrices.sparsity import SparsityMetadata
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_cores.sparsity import ANY_ORDER, ORDERED, TF32, expand
from ptxkit.emulator.values import WARP


class MmaMetadata(SparsityMetadata):
    """The operands `e, f`: metadata and sparsity selector; `ordered`: `.sp::ordered_metadata`."""

    def __init__(self, form: ScopedForm, k: int, bits: int, ordered: bool) -> None:
        meaningful = TF32 if bits == 32 else ORDERED if ordered else ANY_ORDER
        super().__init__(form, ("e", "f"), k, bits, meaningful)

    def read(self, lane_set: LaneSet, guard: Any) -> tuple[np.ndarray, Mask]:
        """The nibbles of each tile, see `checked`."""
        lanes = executing(lane_set, guard)
        return self.checked(
            lane_set,
            lambda value: np.broadcast_to(value, (lane_set.n, WARP))[:, self.lanes],
            None if lanes is None else lanes[:, 0],
            lambda chunk, row, at: str(lane_set.thread(at, int(self.lanes[row, chunk]))),
        )

    def expand(self, stored: np.ndarray, nibbles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`tensor_cores.expand` for this instruction's elements."""
        return expand(stored, nibbles, self.bits)
