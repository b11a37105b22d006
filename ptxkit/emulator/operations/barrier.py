"""Barriers and fences: `bar`, `barrier`, `membar`, `fence`. PTX ISA 9.7.13.1, 9.7.13.2, 9.7.13.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.barrier_sync_point import BarrierSyncPoint
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.sync_points import WarpSyncPoint, check_members, executing_rows
from ptxkit.isa.modifiers import MemoryOperation

effect, later = Effects("synchronization"), Effects("memory")


@effect("bar.warp.sync")
def warp_sync(instruction: ScopedInstruction) -> Effect:
    """`bar.warp.sync membermask`."""
    members = instruction.source("membermask")
    check, site = check_members(members, instruction.site), instruction.site

    def meet(lane_set: LaneSet, guard: Any) -> None:
        check(lane_set, guard)
        lane_set.batch.happens_before.warps_meet(lane_set.occupied_rows(), lane_set.launch.events.take(site))

    return Effect(meet, WarpSyncPoint(instruction.site, members, instruction.guard))


@effect("bar.sync", "barrier.sync", "barrier.aligned.sync")
def sync(instruction: ScopedInstruction) -> Effect:
    """`bar.sync a{, b}`, `barrier.sync{.aligned} a{, b}`."""
    return Effect(sync_point=_sync_point(instruction, waits=True))


@effect("bar.arrive", "barrier.arrive")
def arrive(instruction: ScopedInstruction) -> Effect:
    """`bar.arrive a, b`, `barrier.arrive{.aligned} a, b`."""
    return Effect(sync_point=_sync_point(instruction, waits=False))


@effect("bar.red", "barrier.red")
def red(instruction: ScopedInstruction) -> Effect:
    """`bar.red.popc.u32 d, a{, b}, {!}c`, `bar.red.op.pred p, a{, b}, {!}c`, and those of `barrier`."""
    operator, target = instruction.the(MemoryOperation), instruction.target("d") or instruction.target("p")

    def step(lane_set: LaneSet, guard: Any) -> None:
        counted = lane_set.result
        lane_set.result = None
        if target is None or counted is None:
            return
        rows = counted if lane_set.rows is None else counted[lane_set.rows]
        true, every = rows[:, :1], rows[:, 1:]
        if operator is MemoryOperation.POPC:
            value = true.astype(np.uint32)
        else:
            value = true == every if operator is MemoryOperation.AND else true > 0
        target.write(lane_set, value, None, guard)

    return Effect(step, _sync_point(instruction, waits=True))


def _sync_point(instruction: ScopedInstruction, waits: bool) -> BarrierSyncPoint:
    count, predicate = (instruction.source(name) if name in instruction.operands else None for name in "bc")
    return BarrierSyncPoint(
        instruction.site,
        instruction.source("a"),
        count,
        waits,
        predicate,
        instruction.guard,
        instruction.aligned,
    )


@effect("membar", "fence")
def fence(instruction: ScopedInstruction) -> Effect:
    """`membar.level`, `fence{.sem}.scope`: it matters to the search for races alone."""
    return Effect(_fence_inits) if instruction["mbarrier_init"] else _ordering(instruction)


def _ordering(instruction: ScopedInstruction) -> Effect:
    """A fence for every access."""
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        lane_set.batch.happens_before.fence(lane_set.occupied_rows(), lane_set.launch.events.take(site))

    return Effect(step)


def _fence_inits(lane_set: LaneSet, guard: Any) -> None:
    """`fence.mbarrier_init.release.cluster`: a cluster barrier hands the initialised mbarriers on."""
    rows = executing_rows(lane_set, guard)
    lane_set.batch.happens_before.init_fenced[rows] = lane_set.launch.events.take()


@effect("membar.proxy", "fence.proxy")
def proxy_fence(instruction: ScopedInstruction) -> Effect:
    """`fence.proxy.alias`, `fence.proxy.async{.space}`, and its one-way forms; `.tensormap`."""
    if instruction["tensormap::generic"]:
        from ptxkit.emulator.operations import tensor_map  # few kernels that have a barrier have tensor maps

        return tensor_map.fence(instruction)
    if instruction["alias"] or instruction["acquire"]:
        # `.acquire` orders what the async proxy did before what the generic one does; a wait does that, too.
        return Effect(lambda lane_set, guard: None)
    space, site = instruction["space"], instruction.site
    spaces = ("shared", "global") if space is None else (plain_space(space),)

    def step(lane_set: LaneSet, guard: Any) -> None:
        rows = executing_rows(lane_set, guard)
        if len(rows):
            lane_set.batch.happens_before.proxy_fence(rows, lane_set.launch.events.take(site), spaces)

    return Effect(step)


@later("fence.proxy")
def one_way_proxy_fence(instruction: ScopedInstruction) -> Effect:
    """`fence.proxy.alias.sem.sys` and those of the fabric proxy, which order as `fence` does: no two
    addresses here mean one place; and the `fence.proxy.async::generic.release` for reads of shared memory."""
    if instruction["tensormap::generic"]:
        raise Unsupported("`.acq_rel`, which the manual does not have")
    if instruction["proxykind"] or instruction["alias"]:
        return _ordering(instruction)
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        rows = executing_rows(lane_set, guard)
        if len(rows):
            lane_set.batch.happens_before.read_fence(rows, lane_set.launch.events.take(site))

    return Effect(step)


@later("fence")
def read_release_fence(instruction: ScopedInstruction) -> Effect:
    """`fence.alias.sync_restrict::read.release.sys`."""
    raise Unsupported("no manual has it, and what it orders is told nowhere")
