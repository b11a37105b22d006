"""Scale factors of `mma` with `.block_scale`: chosen bytes of chosen lanes. PTX ISA 9.7.14.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.aligned import uniform
from ptxkit.emulator.faults import fault
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.operand import Mask
from ptxkit.emulator.tensor_cores import Scales, decode_scales
from ptxkit.emulator.values import WARP

BYTES = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
"""The valid `byte-id`s by the number of factors of a row. Table 37."""


class ScaleOperand:
    """`scale-data, {byte-id, thread-id}`.

    Args:
        form: the instruction.
        matrix: `a` or `b`.
        kind: `ue8m0` or `ue4m3`.
        count: factors of a row of A or column of B, by `.scale_vec`.
        lanes: `fragments.mma_scales_a` or `fragments.mma_scales_b`.
        threads: how many values `thread-id` has.
    """

    def __init__(
        self,
        form: ScopedForm,
        matrix: str,
        kind: str,
        count: int,
        lanes: Callable[[int], np.ndarray],
        threads: int,
    ) -> None:
        self.kind, self.count, self.site = kind, count, form.site
        self.data = form.source(f"sf{matrix}", "b32")
        self.selectors = form.source(f"byte_{matrix}"), form.source(f"thread_{matrix}")
        self.lanes = np.stack([lanes(choice) for choice in range(threads)])

    def read(self, lane_set: LaneSet, guard: Any) -> tuple[Scales, Mask]:
        """The factors and their undefined bits: (count, rows, n)."""
        n = lane_set.n
        byte = self._selector(lane_set, guard, 0, BYTES[self.count])
        thread = self._selector(lane_set, guard, 1, tuple(range(len(self.lanes))))
        lanes = self.lanes[thread]
        shift = (8 * byte).astype(np.uint32)
        factors = decode_scales(self._bytes(self.data.reader(lane_set), lanes, shift, n), self.kind)
        entry = self.data.undefined(lane_set) if lane_set.undefined else None
        if entry is None:
            return factors, None
        return factors, (self._bytes(entry[0], lanes, shift, n), entry[1])

    def _selector(self, lane_set: LaneSet, guard: Any, which: int, valid: tuple[int, ...]) -> np.ndarray:
        """A selector of each row of the set: (n,) or ()."""
        source = self.selectors[which]
        value = np.asarray(uniform(lane_set, guard, source, source.reader(lane_set), self.site))
        bad = ~np.isin(value, valid)
        if bad.any() and not (guard is not None and not np.any(bad & guard)):
            name = ("byte-id", "thread-id")[which]
            found = int(value.flat[int(np.argmax(bad))])
            allowed = ", ".join(str(number) for number in valid)
            raise fault(
                "P644",
                f"expected {name} {allowed} for {counted(self.count, 'factor')}, found {found}",
                self.site,
                (f"{lane_set.thread(*lane_set.first(bad))}",),
            )
        value = np.where(bad, 0, value)
        return value.reshape(-1) if value.ndim else value

    def _bytes(self, value: Any, lanes: np.ndarray, shift: np.ndarray, n: int) -> np.ndarray:
        """The chosen bytes: uint8 (count, rows, n)."""
        words = np.broadcast_to(value, (n, WARP))
        if lanes.ndim == 1:
            chosen = words[:, lanes]
        else:
            chosen = np.take_along_axis(words, np.broadcast_to(lanes, (n, lanes.shape[1])), axis=1)
        chosen = chosen >> (shift if shift.ndim == 0 else shift[:, None])
        steps = np.arange(self.count, dtype=np.uint32)[:, None, None] * np.uint32(8)
        return (chosen.T[None] >> steps & np.uint32(0xFF)).astype(np.uint8)
