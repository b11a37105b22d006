"""Barriers and fences: `bar`, `barrier`, `membar`, `fence`. PTX ISA 9.7.13.1, 9.7.13.2, 9.7.13.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.barrier_gate import BarrierGate
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.gates import WarpGate, executing
from ptxkit.emulator.members import check_members
from ptxkit.emulator.operation import Unsupported

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group


@effect("bar", "barrier")
def bar(form: Form) -> Effect:
    """`bar.sync a{, b}`, `bar.arrive a, b`, `bar.red.op.type d, a{, b}, {!}c`, `bar.warp.sync mask`."""
    m = form.modifiers
    if m.flag("warp"):
        m.need("sync")
        members = form.source(form.sources[0], "b32")
        check, site = check_members(form, members), form.site

        def meet(group: Group, guard: Any) -> None:
            check(group, guard)
            group.gang.order.warp_sync(group, group.gang.launch.events.take(site))

        return Effect(meet, WarpGate(form.site, members, form.guard))
    m.flag("cta")
    kind = m.need("sync", "arrive", "red")
    aligned = m.flag("aligned") or m.opcode == "bar"
    if kind == "red":
        return _red(form, aligned)
    number = form.source(form.sources[0], "u32")
    count = form.source(form.sources[1], "u32") if len(form.sources) > 1 else None
    if kind == "arrive" and count is None:
        raise Unsupported("an arrival without a thread count")
    return Effect(gate=BarrierGate(form.site, number, count, kind == "sync", None, form.guard, aligned))


def _red(form: Form, aligned: bool) -> Effect:
    m = form.modifiers
    operator = m.need("popc", "and", "or")
    result = m.need("u32") if operator == "popc" else m.need("pred")
    assert result is not None
    target = form.target(form.targets[0], result)
    number = form.source(form.sources[0], "u32")
    count = form.source(form.sources[1], "u32") if len(form.sources) > 2 else None
    predicate = form.source(form.sources[-1], "pred")

    def step(group: Group, guard: Any) -> None:
        counted = group.result
        group.result = None
        if target is None or counted is None:
            return
        rows = counted if group.rows is None else counted[group.rows]
        true, every = rows[:, :1], rows[:, 1:]
        value = (
            true.astype(np.uint32) if operator == "popc" else true == every if operator == "and" else true > 0
        )
        target.write(group, value, None, guard)

    return Effect(step, BarrierGate(form.site, number, count, True, predicate, form.guard, aligned))


@effect("membar", "fence")
def fence(form: Form) -> Effect:
    """`membar.level`, `fence{.sem}.scope`: it matters to the search for races alone."""
    m = form.modifiers
    if m.flag("proxy"):
        return _proxy_fence(form)
    if m.flag("mbarrier_init"):
        m.need("release")
        m.need("cluster")
        return Effect(_fence_inits)
    m.choose("sc", "acq_rel", "acquire", "release")
    m.choose("cta", "cluster", "gpu", "sys", "gl")
    m.choose("sync_restrict::shared::cta", "sync_restrict::shared::cluster")
    m.choose("cluster")
    site = form.site

    def step(group: Group, guard: Any) -> None:
        group.gang.order.fence(group, group.gang.launch.events.take(site))

    return Effect(step)


def _fence_inits(group: Group, guard: Any) -> None:
    """`fence.mbarrier_init.release.cluster`: a cluster barrier hands the initialised mbarriers on."""
    rows = executing_rows(group, guard)
    group.gang.order.init_fenced[rows] = group.gang.launch.events.take()


def _proxy_fence(form: Form) -> Effect:
    """`fence.proxy.alias`, `fence.proxy.async{.space}`, and its one-way forms."""
    m = form.modifiers
    if m.flag("alias"):
        return Effect(lambda group, guard: None)
    if not m.flag("async"):
        m.need("async::generic")
        acquires = m.need("acquire", "release") == "acquire"
        m.need("sync_restrict::shared::cluster", "sync_restrict::shared::cta")
        m.need("cluster")
        if acquires:
            # It orders what the async proxy did before what the generic one does, and a wait does that too.
            return Effect(lambda group, guard: None)
    space = m.choose("global", "shared::cta", "shared::cluster")
    spaces = ("shared", "global") if space is None else (space.partition("::")[0],)
    site = form.site

    def step(group: Group, guard: Any) -> None:
        rows = executing_rows(group, guard)
        if len(rows):
            group.gang.order.proxy_fence(rows, group.gang.launch.events.take(site), spaces)

    return Effect(step)


def executing_rows(group: Group, guard: Any) -> np.ndarray:
    """The rows of the gang in which a group's lanes execute an instruction."""
    lanes = executing(group, guard)
    rows = np.arange(group.gang.rows) if group.rows is None else group.rows
    return rows if lanes is None else rows[lanes.any(axis=1)]
