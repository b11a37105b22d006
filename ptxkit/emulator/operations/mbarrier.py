"""Mbarriers: `mbarrier.*`, `cp.async.mbarrier.arrive`. PTX ISA 9.7.13.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.emulator.asynchronous.objects import MOST
from ptxkit.emulator.asynchronous.operation import Arrival, Issuers, Membership, Operation
from ptxkit.emulator.asynchronous.phases import PhaseGate
from ptxkit.emulator.asynchronous.places import Places
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.operation import Modifiers, Pure, pure
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

NO_LOOP = "MBAR-WAIT-NOLOOP: nothing looks at the result of this wait, which may say no"
SPACES = ("shared", "shared::cta", "shared::cluster")


def object_at(form: Form, operand: tree.Operand, default: str = "generic") -> Places:
    """The mbarrier that an operand in brackets names; takes the state space modifier, if there is one."""
    space = form.modifiers.choose(*SPACES, default=default) or default
    return mbarrier_at(form, operand, space)


def mbarrier_at(form: Form, operand: tree.Operand, space: str) -> Places:
    """The mbarrier that an operand in brackets names, in a state space."""
    form.builder.program.asynchronous = True
    return Places(form.address(operand), space, 8, form.site)


@effect("mbarrier.init")
def init(form: Form) -> Effect:
    """`mbarrier.init{.shared{::cta}}.b64 [addr], count`."""
    places = object_at(form, form.sources[0])
    form.modifiers.need("b64")
    count = form.deciding(form.sources[1], "u32")
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if len(issuers):
            counts = issuers.take(count(group)).astype(np.int64)
            group.gang.mbarriers.init(issuers, places(group, issuers), counts, site)

    return Effect(step)


@effect("mbarrier.inval")
def inval(form: Form) -> Effect:
    """`mbarrier.inval{.shared{::cta}}.b64 [addr]`."""
    places = object_at(form, form.sources[0])
    form.modifiers.need("b64")
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if len(issuers):
            group.gang.mbarriers.inval(issuers, places(group, issuers), site)

    return Effect(step)


@effect("mbarrier.expect_tx", "mbarrier.complete_tx")
def count_bytes(form: Form) -> Effect:
    """`mbarrier.expect_tx{.relaxed.scope}{.space}.b64 [addr], txCount` and `mbarrier.complete_tx`."""
    m = form.modifiers
    m.flag("relaxed")
    m.choose("cta", "cluster")
    places = object_at(form, form.sources[0])
    m.need("b64")
    amount, site = form.deciding(form.sources[1], "u32"), form.site
    expects = "expect_tx" in form.instruction.modifiers

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        barriers = group.gang.mbarriers
        slots = barriers.find(issuers, places(group, issuers), site)
        amounts = issuers.take(amount(group)).astype(np.int64)
        change = barriers.expect if expects else barriers.complete
        change(slots, amounts, issuers.threads, site)

    return Effect(step)


@effect("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(form: Form) -> Effect:
    """`mbarrier.arrive{.expect_tx,.noComplete}{.sem.scope}{.space}.b64 state, [addr]{, count}`, and drops."""
    m = form.modifiers
    drops = "arrive_drop" in form.instruction.modifiers
    expects, completes = m.flag("expect_tx"), not m.flag("noComplete")
    relaxed = m.choose("release", "relaxed", default="release") == "relaxed"
    narrow = m.choose("cta", "cluster") == "cta"
    operand = form.sources[0]
    places = object_at(form, operand)
    m.need("b64")
    target = form.target(form.targets[0], "b64") if form.targets else None
    places.accessor.remote |= target is not None
    number = form.deciding(form.sources[1], "u32") if len(form.sources) > 1 else None
    site = form.site

    def step(group: Group, guard: Any) -> None:
        if target is None and not expects:
            counts = number(group) if number is not None else None
            issuers = Issuers.by_warp(group, guard, places.accessor.read(group), counts)
        else:
            issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        gang = group.gang
        slots = gang.mbarriers.find(issuers, places(group, issuers), site)
        if target is not None:
            away = gang.mbarriers.place[slots] // gang.shared.stride != issuers.rows // gang.warps
            if away.any():
                at = int(np.argmax(away))
                raise fault(
                    "P686",
                    f"MBAR-REMOTE-TOKEN: `{site.instruction.spelling}` asks "
                    f"{gang.mbarriers.name(int(slots[at]))} for a state",
                    site,
                    (issuers.name(at),),
                    "an arrival at another CTA's mbarrier returns no state: write `_`",
                )
        one = np.ones(len(issuers), np.int64)
        given = issuers.take(number(group)).astype(np.int64) if number is not None else one
        if issuers.lanes_each is not None:
            given = given * issuers.lanes_each
        event = gang.launch.events.take(site)
        rows = issuers.rows
        gang.order.release(rows, slots, event, relaxed)
        if narrow:
            check_scope(issuers, slots, site)
        if relaxed and gang.tensor is not None:
            gang.tensor.relaxed_arrival(rows, slots, event)
        tokens = gang.mbarriers.arrive(
            slots,
            one if expects else given,
            issuers.threads,
            site,
            expects=given if expects else None,
            drops=drops,
            may_complete=completes,
        )
        if target is not None:
            values = np.zeros((group.n, WARP), np.uint64)
            values[issuers.at] = tokens
            target.write(group, values, None, guard)

    return Effect(step)


@effect("mbarrier.test_wait", "mbarrier.try_wait")
def wait(form: Form) -> Effect:
    """`mbarrier.test_wait{.parity}{.sem.scope}{.space}.b64 p, [addr], state`; `try_wait` with a time."""
    m = form.modifiers
    parity = m.flag("parity")
    relaxed = m.choose("acquire", "relaxed", default="acquire") == "relaxed"
    m.choose("cta", "cluster")
    places = object_at(form, form.sources[0])
    m.need("b64")
    target = form.target(form.targets[0], "pred")
    places.accessor.remote = True
    phase = form.deciding(form.sources[1], "u32" if parity else "b64")
    site = form.site
    gate = PhaseGate(site, places, phase, parity, form.guard)
    untested = target is None or not _is_read(form)

    def step(group: Group, guard: Any) -> None:
        issuers = gate.who(group, guard)
        if not len(issuers):
            return
        gang = group.gang
        slots, done = gate.look(group, issuers)
        if untested:
            gang.launch.warn("P691", NO_LOOP, site, (issuers.name(0),))
        if done.any():
            number = gang.launch.events.take(site)
            gang.order.acquire(issuers.rows[done], slots[done], gang.mbarriers, number, relaxed)
            gang.mbarriers.observe(slots[done])
        if relaxed and done.any() and gang.tensor is not None:
            gang.tensor.relaxed_wait(issuers.rows[done], slots[done])
        if not done.all():
            gang.poll(group, site)
        if target is not None:
            target.write(group, issuers.spread(done), None, guard)

    return Effect(step, gate)


def _is_read(form: Form) -> bool:
    """Whether what the instruction writes is read before something else is written over it."""
    flow = form.builder.flow
    number = next(n for n, one in enumerate(flow.instructions) if one is form.instruction)
    return bool(flow.live_after(number) & flow.writes[number])


def check_scope(issuers: Issuers, slots: np.ndarray, site: Site) -> None:
    """Warn of an arrival at another CTA's mbarrier that says it is for its own CTA alone."""
    gang = issuers.group.gang
    away = gang.mbarriers.place[slots] // gang.shared.stride != issuers.rows // gang.warps
    if away.any():
        at = int(np.argmax(away))
        gang.launch.warn(
            "P688",
            f"MBAR-SCOPE-CTA: an arrival with `.cta` scope at {gang.mbarriers.name(int(slots[at]))}",
            site,
            (issuers.name(at), "what it releases is for its own CTA alone: write `.release.cluster`"),
        )


@pure("mbarrier.pending_count")
def pending_count(m: Modifiers) -> Pure:
    """`mbarrier.pending_count.b64 count, state`."""
    m.need("pending_count")
    m.need("b64")
    return Pure(("u32",), ("b64",), lambda state: (state & np.uint64(MOST)).astype(np.uint32))


@effect("cp.async.mbarrier.arrive")
def arrive_on_copies(form: Form) -> Effect:
    """`cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]`: arrive once the thread's copies are done."""
    m = form.modifiers
    counted = m.flag("noinc")
    places = object_at(form, form.sources[0])
    m.need("b64")
    site = form.site

    def step(group: Group, guard: Any) -> None:
        issuers = Issuers.of(group, guard)
        if not len(issuers):
            return
        gang = group.gang
        slots = gang.mbarriers.find(issuers, places(group, issuers), site)
        if not counted:
            gang.mbarriers.announce(slots, site, issuers.threads)
        queue = gang.queue
        copies = queue.groups["cp.async"]
        mine = np.zeros((gang.rows, WARP), bool)
        mine[issuers.rows, issuers.lanes] = True
        earlier = tuple(
            operation
            for operation in dict.fromkeys((*queue.pending, *queue.flying))
            if isinstance(operation.signal, Membership)
            and operation.signal.groups is copies
            and mine[operation.rows, operation.lanes].any()
        )
        queue.issue(
            Operation(
                site,
                gang,
                issuers.rows,
                issuers.lanes,
                signal=Arrival(slots, tells=False),
                after=earlier,
                deliver=lambda data: _released(issuers, slots, earlier),
            )
        )

    return Effect(step)


def _released(issuers: Issuers, slots: np.ndarray, copies: tuple[Operation, ...]) -> None:
    """The threads' copies are theirs, and released to the mbarriers."""
    gang = issuers.group.gang
    mine = np.zeros((gang.rows, WARP), bool)
    mine[issuers.rows, issuers.lanes] = True
    for copy in copies:
        gang.queue.observe(copy, mine[copy.rows, copy.lanes])
    gang.order.release(issuers.rows, slots, gang.launch.events.take())
