"""`tcgen05.commit`, `tcgen05.fence`. PTX ISA 9.7.16.11, 9.7.16.12."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.addresses import WINDOW
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.operations.tensor_memory.issue import Operand, cta_group, warn_many
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.isa.modifiers import StateSpace, SyncRestrict

tcgen05, later = Effects("tcgen05"), Effects("compression")


@later("tcgen05.commit")
@tcgen05("tcgen05.commit")
def commit(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.commit.cta_group.mbarrier::arrive::one{.sync_restrict}{..}{.multicast}.b64 [mbar]{, mask}`."""
    restrict = instruction["restricted"]
    if restrict not in (None, SyncRestrict.READ_OF_A):
        raise Unsupported("a commit with a `.sync_restrict` that no manual has")
    group_size, site = cta_group(instruction), instruction.site
    space = instruction.find(StateSpace) or StateSpace.GENERIC
    places = {each: mbarrier_at(instruction, "mbar", each) for each in (StateSpace.SHARED_CLUSTER, space)}
    address = Operand(instruction, "mbar")
    mask = Operand(instruction, "ctaMask") if "ctaMask" in instruction.operands else None

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        warn_many(lane_set, issuers, site)
        batch = lane_set.batch
        engine = batch.own(Engine)
        # Triton gives zero-extended addresses of shared memory to the form without a state space.
        narrow = bool((address.take(lane_set, issuers) < WINDOW).all())
        found = places[StateSpace.SHARED_CLUSTER if narrow else space](lane_set, issuers)
        ranks = mask.take(lane_set, issuers) if mask is not None else None
        for item in range(len(issuers)):
            who, row = issuers.name(item), int(issuers.rows[item])
            engine.check_group(row // batch.warps_per_cta, group_size, site, who)
            place = found[item : item + 1]
            if ranks is not None:
                chosen = np.array([rank for rank in range(32) if int(ranks[item]) >> rank & 1], np.int64)
                if not len(chosen) or chosen.max() >= batch.cluster:
                    message = (
                        f"expected a mask of the cluster's {batch.cluster} CTAs, found {int(ranks[item]):#x}"
                    )
                    raise fault("P6123", f"{message}", site, (who,))
                place = batch.peer(row, chosen) * batch.shared.stride + place % batch.shared.stride
            each = issuers.some(np.full(len(place), item))
            slots = batch.mbarriers.find(each, place, site)
            commit = engine.commit if restrict is None else engine.commit_reads
            commit(site, row, int(issuers.lanes[item]), group_size, slots)

    return Effect(by_thread(step))


def fence(instruction: ScopedInstruction, before: bool) -> Effect:
    """`tcgen05.fence::before_thread_sync`, `tcgen05.fence::after_thread_sync`."""
    site = instruction.site
    instruction.scope.program.tensor_fences = True

    def step(lane_set: LaneSet, guard: Any) -> None:
        launch = lane_set.launch
        if not launch.sanitize:
            return
        issuers = Issuers.of(lane_set, guard)
        fences = lane_set.batch.own(Engine).fences
        (fences.before if before else fences.after)(issuers.rows, launch.events.take(site))

    return Effect(step)


tcgen05("tcgen05.fence::before_thread_sync")(partial(fence, before=True))
tcgen05("tcgen05.fence::after_thread_sync")(partial(fence, before=False))
