"""`tcgen05.alloc`, `tcgen05.dealloc`, `tcgen05.relinquish_alloc_permit`. PTX ISA 9.7.16.7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.operations.tensor_memory.issue import cta_group
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_memory.engine import engine_of
from ptxkit.emulator.tensor_memory.waiting import AllocationSyncPoint, DeallocationSyncPoint
from ptxkit.isa.modifiers import StateSpace

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

effect = Effects("tcgen05")


@effect("tcgen05.alloc")
def alloc(form: Form) -> Effect:
    """`tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols`."""
    space = plain_space(form.find(StateSpace) or StateSpace.GENERIC)
    accessor = Accessor(form.address("dst"), space, 4, form.site)
    form.builder.program.touches("shared", 4)
    sync_point, site = AllocationSyncPoint(form, form.source("nCols"), cta_group(form)), form.site

    def step(group: Group, guard: Any) -> None:
        engine = engine_of(group.batch)
        lanes = executing(group, guard)
        on = np.ones(group.n, bool) if lanes is None else lanes.any(axis=1)
        if not on.any():
            return
        addresses = np.zeros((group.n, 1), np.uint32)
        rows: np.ndarray = np.flatnonzero(on) if group.rows is None else group.rows[on]
        addresses[on, 0] = [engine.granted.pop(row) for row in rows.tolist()]
        for access in accessor(group, guard):
            access.store((addresses,), None, 4)
        # The whole warp stores, so its lanes may load at once (PTX ISA 9.7.16.6.1).
        group.batch.happens_before.warps_meet(rows, group.batch.launch.events.take(site))

    return Effect(step, sync_point)


@effect("tcgen05.dealloc")
def dealloc(form: Form) -> Effect:
    """`tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, nCols`."""
    sync_point = DeallocationSyncPoint(form, form.source("taddr"), form.source("nCols"), cta_group(form))
    return Effect(lambda group, guard: None, sync_point)


@effect("tcgen05.relinquish_alloc_permit")
def relinquish(form: Form) -> Effect:
    """`tcgen05.relinquish_alloc_permit.cta_group.sync.aligned`."""
    cta_group(form)
    site = form.site

    def step(group: Group, guard: Any) -> None:
        check_whole(group, guard, site)
        engine = engine_of(group.batch)
        lanes = executing(group, guard)
        rows = np.arange(group.n) if lanes is None else np.flatnonzero(lanes.any(axis=1))
        for at in rows:
            row = int(at if group.rows is None else group.rows[at])
            cta = row // group.batch.warps
            holder, pool = engine.holders[cta], engine.pool(cta)
            holder.relinquished = holder.relinquished or site
            if pool.permit is holder:
                pool.permit = None
                pool.wake()

    return Effect(step, AlignedSyncPoint(form))
