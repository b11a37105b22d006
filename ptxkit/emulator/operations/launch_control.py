"""Clusters that a running CTA takes over: `clusterlaunchcontrol`. PTX ISA 9.7.13.17, 9.7.13.18.

A response of `clusterlaunchcontrol.try_cancel` is opaque; here its four words are the coordinates of the
first CTA of the cluster that was cancelled, and 1, or four zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Data, Region, save
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import put, undefined_decides
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP
from ptxkit.isa.modifiers import FirstCta, StateSpace

effect = Effects("synchronization")

RESPONSE = 16
"""Bytes of a response."""
FIRST = {FirstCta.X: 0, FirstCta.Y: 1, FirstCta.Z: 2}
"""The word of a response that each coordinate is."""


ASKED = "its CTA has asked whether there is one; what it took instead is undefined"
NO_CTA = "the CTA of a response that cancelled none"
EVERY_BIT = np.uint32(0xFFFFFFFF)


class Refusals:
    """Which CTAs of a batch have been told that no cluster is left to cancel: `ctas`, bool (CTAs,)."""

    def __init__(self, batch: CtaBatch) -> None:
        self.ctas = np.zeros(len(batch.ctas), bool)


@effect("clusterlaunchcontrol.try_cancel.async")
def try_cancel(instruction: ScopedInstruction) -> Effect:
    """`clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128 [addr], [mbar]`."""
    multicast, space = instruction["multicast::cluster::all"], instruction["space"] or StateSpace.GENERIC
    to = AddressResolver(instruction.address("addr"), space, RESPONSE, instruction.site)
    mbarrier = mbarrier_at(instruction, "mbar", space)
    instruction.scope.program.asynchronous = True
    instruction.scope.program.touches("shared", RESPONSE)
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch = lane_set.batch
        launch = batch.launch
        places, signals = to(lane_set, issuers), mbarrier(lane_set, issuers)
        warps, stride = batch.warps_per_cta, batch.shared.stride
        refused = batch.own(Refusals).ctas[issuers.rows // warps]
        issuers.refuse(
            refused,
            "P699",
            site,
            "`clusterlaunchcontrol.try_cancel` after a response of this CTA said that nothing is left",
            "leave the loop when `query_cancel.is_canceled` says no",
        )
        asker = np.arange(len(issuers))
        if multicast:
            asker = np.repeat(asker, batch.cluster)
            rank = np.tile(np.arange(batch.cluster), len(issuers))
            base = batch.peer(issuers.rows[asker], rank) * stride
            places, signals = base + places[asker] % stride, base + signals[asker] % stride
        count, everyone = len(issuers), issuers.some(asker)
        slots = batch.mbarriers.find(everyone, signals, site)
        write = Region(batch.shared, places, RESPONSE)

        def fetch() -> np.ndarray:
            return np.array([launch.cancel() for _ in range(count)], np.uint32)

        def deliver(responses: np.ndarray) -> None:
            words = np.ascontiguousarray(responses[asker])
            save(write, Data(words.view(np.uint8).reshape(-1)), site, launch)

        batch.queue.issue(
            AsyncOperation(
                site,
                *everyone.who,
                writes=(write,),
                fetch=fetch,
                deliver=deliver,
                signal=Transaction(slots, np.full(len(everyone), RESPONSE)),
            )
        )

    return Effect(by_thread(step))


def ctas_of(lane_set: LaneSet, lanes: np.ndarray) -> np.ndarray:
    """The CTAs of a batch that some lanes of a lane set are in; `lanes`: bool (rows, 32)."""
    rows = np.arange(lane_set.batch.rows) if lane_set.rows is None else lane_set.rows
    return np.unique(rows[lanes.any(axis=1)] // lane_set.batch.warps_per_cta)


@effect("clusterlaunchcontrol.query_cancel")
def query_cancel(instruction: ScopedInstruction) -> Effect:
    """`clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response`, `.get_first_ctaid{::axis}..`."""
    asks, response = instruction["is_canceled"], instruction.source("response")
    targets = [
        instruction.target(operand, kind) if operand is not None else None
        for operand, kind in instruction.values(written=True)
    ]
    first = FIRST.get(instruction["dimension"], 0)
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        words = np.ascontiguousarray(response.reader(lane_set)).view(np.uint32)
        canceled = words[..., 3] != 0
        lanes = executing(lane_set, guard)
        on = np.ones((lane_set.n, WARP), bool) if lanes is None else lanes
        failed = on & ~np.broadcast_to(canceled, on.shape)
        entry = response.undefined(lane_set) if lane_set.undefined else None
        if entry is not None:
            mask = (entry[0] != 0).any(axis=-1)
            undefined_decides(lane_set, mask, entry[1], site, f"the response `{response.name}`")
        if asks:
            if failed.any():
                lane_set.batch.own(Refusals).ctas[ctas_of(lane_set, failed)] = True
            for target in targets:
                put(target, lane_set, canceled, None, guard)
            return False
        mask = no_cta(lane_set, failed) if failed.any() else None
        for i, target in enumerate(targets):
            put(target, lane_set, words[..., min(first + i, 3)], mask, guard)
        return mask is not None

    def no_cta(lane_set: LaneSet, failed: np.ndarray) -> tuple[np.ndarray, int] | None:
        """What is undefined where lanes take a CTA from a response that has none. Raises P698, their CTA has
        not asked whether there is one."""
        launch = lane_set.batch.launch
        message, help = "the response cancelled no cluster, so it has no CTA", "ask `is_canceled` first"
        thread = str(lane_set.thread(*lane_set.first(failed)))
        if not lane_set.batch.own(Refusals).ctas[ctas_of(lane_set, failed)].all():
            raise fault("P698", message, site, (thread,), help)
        launch.formally_wrong("P698", message, site, (thread, ASKED), help)
        if not launch.sanitize:
            return None
        return np.where(failed, EVERY_BIT, np.uint32(0)), launch.origins.of_read(site, NO_CTA)

    return Effect(step)
