"""`cp.async` and its groups. PTX ISA 9.7.9.25.3."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.asynchronous.region import Data, Region, save
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet

effect = Effects("asynchronous_copy")


@effect("cp.async")
def cp_async(instruction: ScopedInstruction) -> Effect:
    """`cp.async.{ca,cg}.shared.global{..} [dst], [src], cp-size{, src-size | {!}ignore-src}{, policy}`."""
    past_l1, size = instruction["cg"] is not None, instruction.number("cp_size")
    present = instruction.checked_source("src_size") if "src_size" in instruction.operands else None
    ignored = instruction.checked_source("ignore_src") if "ignore_src" in instruction.operands else None
    to = AddressResolver(instruction.address("dst"), "shared", size, instruction.site)
    source = AddressResolver(instruction.address("src"), "global", size, instruction.site, within="global")
    partial = AddressResolver(
        instruction.address("src"), "global", 1, instruction.site, size, within="global"
    )
    instruction.scope.program.asynchronous = True
    for space in ("shared", "global"):
        instruction.scope.program.touches(space, size if present is None or space == "shared" else 1)
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch = lane_set.batch
        places = to(lane_set, issuers)
        sizes = np.full(len(issuers), size)
        if present is not None:
            sizes = issuers.take(present(lane_set)).astype(np.int64)
            issuers.refuse(
                sizes > size,
                "P662",
                site,
                lambda at: f"expected a src-size of at most {size} bytes, found {int(sizes[at])}",
                "let src-size be at most cp-size",
            )
        elif ignored is not None:
            sizes = np.where(issuers.take(ignored(lane_set)), 0, size)
        starts = np.zeros(len(issuers), np.int64)
        for part, chosen in ((source, sizes == size), (partial, (sizes > 0) & (sizes < size))):
            if chosen.all():
                starts = part(lane_set, issuers)
            elif chosen.any():
                starts[chosen] = part(lane_set, issuers.some(chosen))
        launch = batch.launch
        launch.counts.load("global", int(sizes.sum()))
        launch.counts.store("shared", size * len(issuers))
        if launch.counts.traffic is not None:
            there = places % batch.shared.stride if past_l1 else None
            launch.counts.traffic.copies(issuers.rows, issuers.lanes, starts, sizes, size, there)
        if launch.layouts is not None:
            launch.layouts.copied(batch, places, starts + BASE, size, sizes == size)
        write = Region(batch.shared, places, size)
        batch.queue.issue(
            AsyncOperation(
                site,
                *issuers.who,
                reads=(Region(launch.memory, starts, sizes),),
                writes=(write,),
                fetch=lambda: _fetch(batch, starts, sizes, size),
                deliver=lambda data: save(write, data, site, launch),
                signal=batch.queue.groups["cp.async"].join(issuers.rows, issuers.lanes),
                proxy="generic",
            )
        )

    return Effect(by_thread(step))


def _fetch(batch: CtaBatch, starts: np.ndarray, sizes: np.ndarray, size: int) -> Data:
    """The bytes of each copy, zeros behind its src-size."""
    memory = batch.launch.memory
    inside = np.arange(size) < sizes[:, None]
    index = np.where(inside, starts[:, None] + np.arange(size), starts[:, None])
    data = np.where(inside, memory.data[index], np.uint8(0)).reshape(-1)
    if memory.shadow is None:
        return Data(data)
    undefined = np.where(inside, memory.shadow[index], np.uint8(0)).reshape(-1)
    if not undefined.any():
        return Data(data)
    origins = None if memory.origins is None else memory.origins[index.reshape(-1) >> 2]
    return Data(data, undefined, origins)


def commit(instruction: ScopedInstruction, name: str) -> Effect:
    """`.commit_group` of a kind of group."""
    instruction.scope.program.asynchronous = True

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        lane_set.batch.queue.groups[name].commit(issuers.rows, issuers.lanes)

    return Effect(step)


def wait(
    instruction: ScopedInstruction, name: str, left: int, read: bool = False, proxied: bool = False
) -> Effect:
    """`.wait_group N` of a kind of group. `read`, `proxied`: see `Queue.wait`."""
    instruction.scope.program.asynchronous = True
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        lane_set.batch.queue.wait(name, issuers.rows, issuers.lanes, left, site, read, proxied)

    return Effect(by_thread(step))


effect("cp.async.commit_group")(partial(commit, name="cp.async"))


@effect("cp.async.wait_group")
def wait_group(instruction: ScopedInstruction) -> Effect:
    """`cp.async.wait_group N`."""
    return wait(instruction, "cp.async", instruction.number("N"))


@effect("cp.async.wait_all")
def wait_all(instruction: ScopedInstruction) -> Effect:
    """`cp.async.wait_all`: commits, and waits for every group."""
    closing, waiting = commit(instruction, "cp.async").step, wait(instruction, "cp.async", 0).step
    assert closing is not None
    assert waiting is not None

    def step(lane_set: LaneSet, guard: Any) -> None:
        closing(lane_set, guard)
        waiting(lane_set, guard)

    return Effect(step)
