"""`tcgen05.alloc`, `tcgen05.dealloc`, `tcgen05.relinquish_alloc_permit`. PTX ISA 9.7.16.7."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operations.tensor_memory.issue import cta_group
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.emulator.tensor_memory.sync_points import AllocationSyncPoint, DeallocationSyncPoint
from ptxkit.isa.modifiers import StateSpace

effect, later = Effects("tcgen05"), Effects("compression")


@later("tcgen05.alloc")
@effect("tcgen05.alloc")
def alloc(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.alloc{.exclusive}.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols`."""
    space = plain_space(instruction.find(StateSpace) or StateSpace.GENERIC)
    accessor = Accessor(instruction.address("dst"), space, 4, instruction.site)
    instruction.scope.program.touches("shared", 4)
    instruction.scope.program.takes_columns = True
    sync_point, site = (
        AllocationSyncPoint(instruction, instruction.source("nCols"), cta_group(instruction)),
        instruction.site,
    )

    def step(lane_set: LaneSet, guard: Any) -> None:
        engine = lane_set.batch.own(Engine)
        lanes = executing(lane_set, guard)
        on = np.ones(lane_set.n, bool) if lanes is None else lanes.any(axis=1)
        if not on.any():
            return
        addresses = np.zeros((lane_set.n, 1), np.uint32)
        rows: np.ndarray = np.flatnonzero(on) if lane_set.rows is None else lane_set.rows[on]
        addresses[on, 0] = [engine.granted.pop(row) for row in rows.tolist()]
        for access in accessor(lane_set, guard):
            access.store((addresses,), None, 4)
        # The whole warp stores, so its lanes may load at once (PTX ISA 9.7.16.6.1).
        lane_set.batch.happens_before.warps_meet(rows, lane_set.launch.events.take(site))

    return Effect(step, sync_point)


@later("tcgen05.dealloc")
@effect("tcgen05.dealloc")
def dealloc(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.dealloc{.exclusive}.cta_group.sync.aligned.b32 taddr, nCols`."""
    sync_point = DeallocationSyncPoint(
        instruction, instruction.source("taddr"), instruction.source("nCols"), cta_group(instruction)
    )
    return Effect(lambda lane_set, guard: None, sync_point)


@effect("tcgen05.relinquish_alloc_permit")
def relinquish(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.relinquish_alloc_permit.cta_group.sync.aligned`."""
    cta_group(instruction)
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        check_whole_warps(lane_set, guard, site)
        engine = lane_set.batch.own(Engine)
        lanes = executing(lane_set, guard)
        rows = np.arange(lane_set.n) if lanes is None else np.flatnonzero(lanes.any(axis=1))
        for at in rows:
            row = int(at if lane_set.rows is None else lane_set.rows[at])
            cta = row // lane_set.batch.warps_per_cta
            holder, pool = engine.holders[cta], engine.pool(cta)
            holder.relinquished = holder.relinquished or site
            if pool.permit is holder:
                pool.permit = None
                pool.wake()

    return Effect(step, AlignedSyncPoint(instruction))
