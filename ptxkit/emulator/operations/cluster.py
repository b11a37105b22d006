"""Clusters: `mapa`, `getctarank`, `barrier.cluster`. PTX ISA 9.7.9.23, 9.7.9.24, 9.7.13.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.addresses import CLUSTER_STEP
from ptxkit.emulator.aligned import AlignedSyncPoint
from ptxkit.emulator.clusters import ClusterArrival, ClusterWait
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import put
from ptxkit.isa.modifiers import MemoryOrder

RANKS = 0xFF
"""The bits of an address that hold a rank, above the offset; all of them are the rank of no CTA."""

movement = Effects("movement")
synchronization = Effects("synchronization")


@movement("mapa")
def mapa(instruction: ScopedInstruction) -> Effect:
    """`mapa{.shared::cluster}.type d, a, b`: the address of the same variable in the CTA with rank b.

    It is no access, and compilers move it ahead of the test of a rank: where there is no such CTA, the
    address is that of a rank that no cluster has.
    """
    bits = instruction.the(DType).bits
    target, address = instruction.target("d", f"u{bits}"), instruction.source("a", f"u{bits}")
    read, read_rank = address.reader, instruction.checked_source("b")
    low = ((1 << bits) - 1) & ~(RANKS * CLUSTER_STEP)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        value, ranks = read(lane_set), np.minimum(read_rank(lane_set), RANKS)
        moved = value & value.dtype.type(low) | ranks.astype(value.dtype) * value.dtype.type(CLUSTER_STEP)
        entry = address.undefined(lane_set) if lane_set.undefined else None
        put(target, lane_set, moved, entry, guard)
        return entry is not None

    return Effect(step)


@movement("getctarank")
def getctarank(instruction: ScopedInstruction) -> Effect:
    """`getctarank{.shared::cluster}.type d, a`: the rank of the CTA that an address belongs to."""
    target, address = instruction.target("d"), instruction.source("a", f"u{instruction.the(DType).bits}")
    read = address.reader

    def step(lane_set: LaneSet, guard: Any) -> bool:
        value = read(lane_set)
        rank = (value // value.dtype.type(CLUSTER_STEP) & value.dtype.type(RANKS)).astype(np.uint32)
        entry = address.undefined(lane_set) if lane_set.undefined else None
        if target is not None:
            mask = (
                None if entry is None else (np.where(entry[0] != 0, np.uint32(RANKS), np.uint32(0)), entry[1])
            )
            target.write(lane_set, rank, mask, guard)
        return entry is not None

    return Effect(step)


@synchronization("barrier.cluster.arrive")
def arrive(instruction: ScopedInstruction) -> Effect:
    """`barrier.cluster.arrive{.sem}{.aligned}`."""
    arrival = ClusterArrival(instruction.site, instruction["sem"] is MemoryOrder.RELAXED)
    return Effect(arrival.step, AlignedSyncPoint(instruction) if instruction["aligned"] else None)


@synchronization("barrier.cluster.wait")
def wait(instruction: ScopedInstruction) -> Effect:
    """`barrier.cluster.wait{.acquire}{.aligned}`."""
    return Effect(sync_point=ClusterWait(instruction.site, instruction.guard))
