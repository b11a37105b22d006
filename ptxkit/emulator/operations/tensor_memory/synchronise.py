"""`tcgen05.commit`, `tcgen05.fence`. PTX ISA 9.7.16.11, 9.7.16.12."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.addresses import WINDOW
from ptxkit.emulator.asynchronous import Issuers
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import fault
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.operations.tensor_memory.issue import Operand, cta_group, warn_many
from ptxkit.emulator.tensor_memory.engine import engine_of

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group


@effect("tcgen05.commit")
def commit(form: Form) -> Effect:
    """`tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast}.b64 [mbar]{, mask}`."""
    m = form.modifiers
    group_size = cta_group(form)
    m.need("mbarrier::arrive::one")
    space = m.choose("shared::cluster", default="generic") or "generic"
    multicast = m.flag("multicast::cluster")
    m.need("b64")
    places = {name: mbarrier_at(form, form.sources[0], name) for name in ("shared::cluster", space)}
    address = Operand(form, form.sources[0])
    mask = Operand(form, form.sources[1], "b16") if multicast else None
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        warn_many(group, issuers, site)
        gang = group.gang
        engine = engine_of(gang)
        # Triton gives zero-extended addresses of shared memory to the form without a state space.
        narrow = bool((address.take(group, issuers) < WINDOW).all())
        found = places["shared::cluster" if narrow else space](group, issuers)
        ranks = mask.take(group, issuers) if mask is not None else None
        for item in range(len(issuers)):
            who, row = issuers.name(item), int(issuers.rows[item])
            engine.check_group(row // gang.warps, group_size, site, who)
            place = found[item : item + 1]
            if ranks is not None:
                chosen = np.array([rank for rank in range(16) if int(ranks[item]) >> rank & 1], np.int64)
                if not len(chosen) or chosen.max() >= gang.cluster:
                    message = (
                        f"expected a mask of the cluster's {gang.cluster} CTAs, found {int(ranks[item]):#x}"
                    )
                    raise fault("P6123", f"TCGEN-PAIR-PARTIAL: {message}", site, (who,))
                place = gang.peer(row, chosen) * gang.shared.stride + place % gang.shared.stride
            each = issuers.some(np.full(len(place), item))
            slots = gang.mbarriers.find(each, place, site)
            engine.commit(site, row, int(issuers.lanes[item]), group_size, slots)

    return Effect(step)


@effect("tcgen05.fence::before_thread_sync", "tcgen05.fence::after_thread_sync")
def fence(form: Form) -> Effect:
    """`tcgen05.fence::before_thread_sync`, `tcgen05.fence::after_thread_sync`."""
    before, site = form.instruction.modifiers[0] == "fence::before_thread_sync", form.site

    def step(group: Group, guard: Any) -> None:
        launch = group.gang.launch
        if not launch.sanitize:
            return
        issuers = Issuers.of(group, guard)
        fences = engine_of(group.gang).fences
        (fences.before if before else fences.after)(issuers.rows, launch.events.take(site))

    return Effect(step)
