"""What `.sync.aligned` instructions share: the whole warp executes them together, with the same operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import WarpSyncPoint, check_defined, executing
from ptxkit.emulator.values import WARP, first_true


class AlignedSyncPoint(WarpSyncPoint):
    """Lets a warp through when its lanes have come, and finds a guard that they disagree about."""

    code = "P640"

    def __init__(self, instruction: ScopedInstruction) -> None:
        super().__init__(instruction.site, None, instruction.guard)

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        if self.guard is not None:
            guard = self.guard(lane_set)
            if guard.ndim and guard.shape[1] != 1:
                self._check_guard(lane_set, guard)
        return super().__call__(lane_set)

    def _check_guard(self, lane_set: LaneSet, guard: np.ndarray) -> None:
        on, off = (
            (guard, ~guard) if lane_set.mask is None else (guard & lane_set.mask, ~guard & lane_set.mask)
        )
        if (row := first_true(on.any(axis=1) & off.any(axis=1))) is not None:
            which = int(
                np.packbits(np.broadcast_to(on, (lane_set.n, WARP))[row], bitorder="little").view("u4")[0]
            )
            raise fault(
                "P640",
                f"lanes of a warp disagree about the guard of `{self.site.instruction.spelling}`",
                self.site,
                (f"{lane_set.thread(row, int(np.argmax(on[row])))}", f"it holds for lanes {which:#010x}"),
                "let the whole warp take it, or leave it out; PTX ISA 9.7.14",
            )


def count_products(lane_set: LaneSet, guard: Any, multiply_adds: int) -> None:
    """Count the products of the warps that execute an instruction, each of so many multiply-adds."""
    lanes = lane_set.size if guard is None else lane_set.count(guard)
    lane_set.launch.counts.multiply_adds += lanes // WARP * multiply_adds


def check_whole_warps(lane_set: LaneSet, guard: Any, site: Site) -> None:
    """All 32 lanes must execute the instruction, in every warp that does. Raises P641, a lane has exited or
    never existed; P640, lanes are elsewhere."""
    lanes = executing(lane_set, guard)
    if lanes is None:
        return
    some, every = lanes.any(axis=1), lanes.all(axis=1)
    broken = some & ~every
    if not broken.any():
        return
    row = int(np.argmax(broken))
    there = lanes[row]
    alive = lane_set.batch.alive[row if lane_set.rows is None else int(lane_set.rows[row])]
    first = lane_set.thread(row, int(np.argmax(there)))
    absent = int(np.packbits(~there, bitorder="little").view(np.uint32)[0])
    if not (~there & alive).any():
        raise fault(
            "P641",
            f"`{site.instruction.spelling}` needs all 32 lanes of the warp",
            site,
            (f"{first}", f"lanes {absent:#010x} have exited or never existed"),
            "keep every lane until the instruction, and launch whole warps",
        )
    raise fault(
        "P640",
        f"`{site.instruction.spelling}` needs all 32 lanes of the warp at the same place",
        site,
        (f"{first}", f"lanes {absent:#010x} are elsewhere"),
        "let the lanes meet before it",
    )


def uniform(lane_set: LaneSet, guard: Any, source: SourceOperand, value: Any, site: Site) -> Any:
    """An operand that must be the same for all lanes of a warp, with one lane's axis left: (n or 1, 1) or ().
    Raises P642, lanes differ; P605, it has undefined bits."""
    check_defined(lane_set, guard, source, site)
    if np.ndim(value) == 0 or value.shape[1] == 1:
        return value
    differs = value != value[:, :1]
    lanes = executing(lane_set, guard)
    wrong = differs if lanes is None else differs & lanes
    if wrong.any():
        row, lane = lane_set.first(wrong)
        values = np.broadcast_to(value, (lane_set.n, WARP))[row]
        lane_set.launch.report(
            "P642",
            f"lanes of a warp disagree about `{source.name}` of `{site.instruction.spelling}`",
            site,
            (f"{lane_set.thread(row, lane)} has {int(values[lane]):#x}, lane 0 has {int(values[0]):#x}",),
        )
    return value[:, :1]
