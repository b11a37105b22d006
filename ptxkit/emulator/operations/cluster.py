"""Clusters: `mapa`, `getctarank`, `barrier.cluster`. PTX ISA 9.7.9.23, 9.7.9.24, 9.7.13.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.addresses import CLUSTER_STEP
from ptxkit.emulator.aligned import AlignedGate
from ptxkit.emulator.clusters import ClusterArrival, ClusterWait
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import fault
from ptxkit.emulator.gates import executing
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

RANKS = 0xFF
"""The bits of an address that hold a rank, above the offset."""


@effect("mapa")
def mapa(form: Form) -> Effect:
    """`mapa{.shared::cluster}.type d, a, b`: the address of the same variable in the CTA with rank b."""
    m = form.modifiers
    m.flag("shared::cluster")
    kind = m.type().name
    name = f"u{kind[1:]}"
    target = form.target(form.targets[0], name)
    address, read_rank = form.source(form.sources[0], name), form.deciding(form.sources[1], "u32")
    read, site = address.reader, form.site
    low = ((1 << int(name[1:])) - 1) & ~(RANKS * CLUSTER_STEP)

    def step(group: Group, guard: Any) -> bool:
        ranks, value = read_rank(group), read(group)
        beyond = np.broadcast_to(ranks >= group.gang.cluster, (group.n, WARP))
        lanes = executing(group, guard)
        if lanes is not None:
            beyond = beyond & lanes
        if beyond.any():
            row, lane = group.first(beyond)
            found = int(np.broadcast_to(ranks, beyond.shape)[row, lane])
            message = f"`mapa` to rank {found}: the cluster has {counted(group.gang.cluster, 'CTA')}"
            raise fault("P602", message, site, (f"{group.thread(row, lane)}",))
        moved = value & value.dtype.type(low) | ranks.astype(value.dtype) * value.dtype.type(CLUSTER_STEP)
        entry = address.undefined(group) if group.undefined else None
        if target is not None:
            target.write(group, moved, entry, guard)
        return entry is not None

    return Effect(step)


@effect("getctarank")
def getctarank(form: Form) -> Effect:
    """`getctarank{.shared::cluster}.type d, a`: the rank of the CTA that an address belongs to."""
    m = form.modifiers
    m.flag("shared::cluster")
    name = f"u{m.type().bits}"
    target = form.target(form.targets[0], "u32")
    address = form.source(form.sources[0], name)
    read = address.reader

    def step(group: Group, guard: Any) -> bool:
        value = read(group)
        rank = (value // value.dtype.type(CLUSTER_STEP) & value.dtype.type(RANKS)).astype(np.uint32)
        entry = address.undefined(group) if group.undefined else None
        if target is not None:
            mask = (
                None if entry is None else (np.where(entry[0] != 0, np.uint32(RANKS), np.uint32(0)), entry[1])
            )
            target.write(group, rank, mask, guard)
        return entry is not None

    return Effect(step)


@effect("barrier.cluster")
def barrier(form: Form) -> Effect:
    """`barrier.cluster.arrive{.sem}{.aligned}`, `barrier.cluster.wait{.acquire}{.aligned}`."""
    m = form.modifiers
    arrives = m.need("arrive", "wait") == "arrive"
    relaxed = m.choose("release", "acquire", "relaxed") == "relaxed"
    aligned = m.flag("aligned")
    if arrives:
        return Effect(ClusterArrival(form.site, relaxed).step, AlignedGate(form) if aligned else None)
    return Effect(gate=ClusterWait(form.site, form.guard))
