"""Clusters that a running CTA takes over: `clusterlaunchcontrol`. PTX ISA 9.7.13.17, 9.7.13.18.

A response of `clusterlaunchcontrol.try_cancel` is opaque; here its four words are the coordinates of the
first CTA of the cluster that was cancelled, and 1, or four zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.asynchronous import Issuers, Operation, Region, Transaction, save
from ptxkit.emulator.asynchronous.data import Data
from ptxkit.emulator.asynchronous.places import Places
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import fault
from ptxkit.emulator.gates import executing
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

RESPONSE = 16
"""Bytes of a response."""


@effect("clusterlaunchcontrol.try_cancel")
def try_cancel(form: Form) -> Effect:
    """`clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128 [addr], [mbar]`."""
    m = form.modifiers
    m.need("async")
    space = m.choose("shared::cta", default="generic") or "generic"
    m.need("mbarrier::complete_tx::bytes")
    multicast = m.flag("multicast::cluster::all")
    m.need("b128")
    to = Places(form.address(form.sources[0]), space, RESPONSE, form.site)
    mbarrier = mbarrier_at(form, form.sources[1], space)
    form.builder.program.touches("shared", RESPONSE)
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        gang = group.gang
        launch = gang.launch
        places, signals = to(group, issuers), mbarrier(group, issuers)
        warps, stride = gang.warps, gang.shared.stride
        refused = gang.refused[issuers.rows // warps]
        if refused.any():
            at = int(np.argmax(refused))
            raise fault(
                "P699",
                "CLC-AFTER-FAIL: `clusterlaunchcontrol.try_cancel` after a response "
                "of this CTA said that nothing is left",
                site,
                (issuers.name(at),),
                "leave the loop when `query_cancel.is_canceled` says no",
            )
        asker = np.arange(len(issuers))
        if multicast:
            asker = np.repeat(asker, gang.cluster)
            rank = np.tile(np.arange(gang.cluster), len(issuers))
            base = gang.peer(issuers.rows[asker], rank) * stride
            places, signals = base + places[asker] % stride, base + signals[asker] % stride
        count, everyone = len(issuers), issuers.some(asker)
        slots = gang.mbarriers.find(everyone, signals, site)
        write = Region(gang.shared, places, RESPONSE)

        def fetch() -> np.ndarray:
            return np.array([launch.cancel() for _ in range(count)], np.uint32)

        def deliver(responses: np.ndarray) -> None:
            words = np.ascontiguousarray(responses[asker])
            save(write, Data(words.view(np.uint8).reshape(-1)), site, launch)

        gang.queue.issue(
            Operation(
                site,
                gang,
                everyone.rows,
                everyone.lanes,
                writes=(write,),
                fetch=fetch,
                deliver=deliver,
                signal=Transaction(slots, np.full(len(everyone), RESPONSE)),
            )
        )

    return Effect(step)


@effect("clusterlaunchcontrol.query_cancel")
def query_cancel(form: Form) -> Effect:
    """`clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response`, `.get_first_ctaid{::axis}..`."""
    m = form.modifiers
    what = m.need(
        "is_canceled", "get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"
    )
    assert what is not None
    for name in ("pred", "v4", "b32", "b128"):
        m.flag(name)
    asks = what == "is_canceled"
    response = form.source(form.sources[0], "b128")
    targets = [form.target(part, "pred" if asks else "b32") for part in form.targets]
    first = "xyz".index(what[-1]) if "::" in what else 0
    site = form.site

    def step(group: Group, guard: Any) -> None:
        words = np.ascontiguousarray(response.reader(group)).view(np.uint32)
        canceled = words[..., 3] != 0
        lanes = executing(group, guard)
        on = np.ones((group.n, WARP), bool) if lanes is None else lanes
        failed = on & ~np.broadcast_to(canceled, on.shape)
        entry = response.undefined(group) if group.undefined else None
        if entry is not None:
            mask = (entry[0] != 0).any(axis=-1)
            group.gang.launch.undefined_decides(
                group, mask, entry[1], site, f"the response `{response.name}`"
            )
        if asks:
            if failed.any():
                rows = np.arange(group.gang.rows) if group.rows is None else group.rows
                group.gang.refused[np.unique(rows[failed.any(axis=1)] // group.gang.warps)] = True
            for target in targets:
                if target is not None:
                    target.write(group, canceled, None, guard)
            return
        if failed.any():
            raise fault(
                "P698",
                "CLC-CTAID-ON-FAIL: the response cancelled no cluster, so it has no CTA",
                site,
                (str(group.thread(*group.first(failed))),),
                "ask `clusterlaunchcontrol.query_cancel.is_canceled` first",
            )
        for i, target in enumerate(targets):
            if target is not None:
                target.write(group, words[..., min(first + i, 3)], None, guard)

    return Effect(step)
