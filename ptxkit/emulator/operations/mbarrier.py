"""Mbarriers: `mbarrier.*`, `cp.async.mbarrier.arrive`. PTX ISA 9.7.13.15."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.emulator.asynchronous.mbarriers import PREDICATE
from ptxkit.emulator.asynchronous.objects import PENDING_MASK
from ptxkit.emulator.asynchronous.operation import Arrival, AsyncOperation, Membership
from ptxkit.emulator.clocks import Waited
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import EmulatorFault, Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import put
from ptxkit.emulator.operation import Operations, Pure, computes
from ptxkit.emulator.phase_sync_point import PhaseSyncPoint
from ptxkit.emulator.values import WARP, first_true
from ptxkit.isa.modifiers import MbarrierLayout, MemoryOrder, MemoryScope, StateSpace

LAYOUTS = {MbarrierLayout.V0: 0, MbarrierLayout.V1: 1}
ANOTHER_CTA = "the layout of another CTA's mbarrier cannot be asked for"
RESULT_UNUSED = "the result of this wait is never read; it may be false"

effect, later = Effects("mbarrier"), Effects("mbarrier_reports")
operation, reported = Operations("mbarrier"), Operations("mbarrier_reports")


def own_mbarrier(instruction: ScopedInstruction) -> AddressResolver:
    """The mbarrier that the instruction names, in the state space of its modifier."""
    instruction.scope.program.asynchronous = True
    return mbarrier_at(instruction, "addr", instruction.find(StateSpace) or StateSpace.GENERIC)


def mbarrier_at(instruction: ScopedInstruction, operand: str, space: StateSpace) -> AddressResolver:
    """The mbarrier that an operand in brackets names, in a state space."""
    return AddressResolver(instruction.address(operand), space, 8, instruction.site)


class _NamedBarriers:
    """The mbarriers that an instruction names: one at its address, or one at the same offset in each CTA of a
    ctaMask."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        self.places, self.site = own_mbarrier(instruction), instruction.site
        self.masks = instruction.checked_source("ctaMask") if "ctaMask" in instruction.operands else None

    def operands(self, lane_set: LaneSet) -> tuple[Any, ...]:
        """What the instruction's lanes must agree on to name the same ones."""
        address = self.places.accessor.read(lane_set)
        return (address,) if self.masks is None else (address, self.masks(lane_set))

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> tuple[Issuers, np.ndarray, Any]:
        """The thread that uses each of them, their slots, and which of the issuers that thread is. Raises
        P663, the cluster has not a CTA of the mask; what `AddressResolver` and `MBarriers.find` do."""
        barriers, places = lane_set.batch.mbarriers, self.places(lane_set, issuers)
        if self.masks is None:
            return issuers, barriers.find(issuers, places, self.site), slice(None)
        item, rank = issuers.destinations(issuers.take(self.masks(lane_set)), self.site)
        issuers, stride = issuers.some(item), lane_set.batch.shared.stride
        places = lane_set.batch.peer(issuers.rows, rank) * stride + places[item] % stride
        return issuers, barriers.find(issuers, places, self.site), item


@effect("mbarrier.init")
@later("mbarrier.init")
def init(instruction: ScopedInstruction) -> Effect:
    """`mbarrier.init{.layout}{.shared{::cta}}.b64 [addr], count`."""
    places, count, site = own_mbarrier(instruction), instruction.checked_source("count"), instruction.site
    layout = LAYOUTS[instruction.find(MbarrierLayout) or MbarrierLayout.V0]

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        counts = issuers.take(count(lane_set)).astype(np.int64)
        lane_set.batch.mbarriers.init(issuers, places(lane_set, issuers), counts, site, layout)

    return Effect(by_thread(step))


@later("mbarrier.check_layout")
def check_layout(instruction: ScopedInstruction) -> Effect:
    """`mbarrier.check_layout.layout{.shared{::cta}}.b64 p, [addr]`."""
    places, target, site = own_mbarrier(instruction), instruction.target("p"), instruction.site
    layout = LAYOUTS[instruction.the(MbarrierLayout)]

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        if not len(issuers):
            return
        barriers = lane_set.batch.mbarriers
        found = places(lane_set, issuers)
        issuers.refuse(issuers.remote(found), "P685", site, ANOTHER_CTA)
        held = barriers.layout[barriers.find(issuers, found, site)]
        put(target, lane_set, issuers.on_lanes(held == layout), None, guard)

    return Effect(step)


@effect("mbarrier.inval")
def inval(instruction: ScopedInstruction) -> Effect:
    """`mbarrier.inval{.shared{::cta}}.b64 [addr]`."""
    places, site = own_mbarrier(instruction), instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        lane_set.batch.mbarriers.inval(issuers, places(lane_set, issuers), site)

    return Effect(by_thread(step))


def change_tx_count(instruction: ScopedInstruction, expects: bool) -> Effect:
    """`mbarrier.expect_tx`, `mbarrier.complete_tx{.relaxed.scope}{.space}.b64 [addr], txCount`, or of several
    CTAs `{.multicast::cluster::32b}.b64 [addr], txCount, ctaMask`."""
    named, amount, site = _NamedBarriers(instruction), instruction.checked_source("txCount"), instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        barriers = lane_set.batch.mbarriers
        amounts = issuers.take(amount(lane_set)).astype(np.int64)
        issuers, slots, item = named(lane_set, issuers)
        change = barriers.expect_tx if expects else barriers.complete_tx
        change(slots, amounts[item], issuers.threads, site)

    return Effect(by_thread(step))


for chapter in (effect, later):
    chapter("mbarrier.expect_tx")(partial(change_tx_count, expects=True))
    chapter("mbarrier.complete_tx")(partial(change_tx_count, expects=False))


def arrive(instruction: ScopedInstruction, drops: bool) -> Effect:
    """`mbarrier.arrive{.expect_tx,.noComplete}{.sem.scope}{.space}.b64 state, [addr]{, count}`.

    `arrive_drop` does the same; the count also leaves the expected count of later phases. With
    `.multicast::cluster::32b` a ctaMask follows, and it does so in each of these CTAs.
    """
    expects, may_complete = "txCount" in instruction.operands, instruction["noComplete"] is None
    relaxed = instruction.find(MemoryOrder) is MemoryOrder.RELAXED
    cta_scope = instruction.find(MemoryScope) is MemoryScope.CTA
    named, target, site = _NamedBarriers(instruction), instruction.target("state"), instruction.site
    # Let remote addresses through: P685/P686 say more than P602.
    named.places.accessor.remote |= target is not None
    read_count = next(
        (instruction.checked_source(name) for name in ("count", "txCount") if name in instruction.operands),
        None,
    )

    def step(lane_set: LaneSet, guard: Any) -> None:
        if target is None and not expects:
            counts = read_count(lane_set) if read_count is not None else None
            issuers = Issuers.by_warp(lane_set, guard, *named.operands(lane_set), counts)
        else:
            issuers = Issuers.of(lane_set, guard)
        if not len(issuers):
            return
        batch = lane_set.batch
        one = np.ones(len(issuers), np.int64)
        given = issuers.take(read_count(lane_set)).astype(np.int64) if read_count is not None else one
        if issuers.lanes_each is not None:
            given = given * issuers.lanes_each
        issuers, slots, item = named(lane_set, issuers)
        one, given = one[item], given[item]
        if target is not None:
            issuers.refuse(
                issuers.remote(batch.mbarriers.place[slots]),
                "P686",
                site,
                lambda at: (
                    f"`{site.instruction.spelling}` asks {batch.mbarriers.name(int(slots[at]))} for a state"
                ),
                "an arrival at another CTA's mbarrier returns no state: write `_`",
            )
        event = batch.launch.events.take(site)
        rows = issuers.rows
        batch.happens_before.release(rows, slots, event, relaxed)
        if cta_scope:
            _warn_cta_scope(issuers, slots, site)
        if relaxed and batch.relaxed_order is not None:
            batch.relaxed_order.arrive(rows, slots, event)
        tokens = batch.mbarriers.arrive(
            slots,
            one if expects else given,
            issuers.threads,
            site,
            expects=given if expects else None,
            drops=drops,
            may_complete=may_complete,
        )
        if target is not None:
            values = np.zeros((lane_set.n, WARP), np.uint64)
            values[issuers.at] = tokens
            target.write(lane_set, values, None, guard)

    return Effect(step)


for chapter in (effect, later):
    chapter("mbarrier.arrive", "mbarrier.arrive.expect_tx")(partial(arrive, drops=False))
    chapter("mbarrier.arrive_drop", "mbarrier.arrive_drop.expect_tx")(partial(arrive, drops=True))


def wait(instruction: ScopedInstruction, parity: bool) -> Effect:
    """`mbarrier.test_wait{.phase_type}{.sem.scope}{.space}.b64 p{|q}{, v}, [addr], state`; `try_wait` with a
    time.

    `.parity` takes the parity of a phase in place of a state. Predicate `q` and value `v` are the payload
    report of the phase, undefined while it is incomplete.
    """
    what = "phaseParity" if parity else "state"
    relaxed = instruction.find(MemoryOrder) is MemoryOrder.RELAXED
    places, target, site = own_mbarrier(instruction), instruction.target("waitComplete"), instruction.site
    # Let remote addresses through: P685/P686 say more than P602.
    places.accessor.remote = True
    conditional = instruction["phase_type::conditional"] is not None
    phase = instruction.checked_source(what)
    sync_point = PhaseSyncPoint(site, places, phase, parity, instruction.guard, conditional)
    predicate, value = (instruction.target(name) for name in ("reportPredicate", "reportValue"))
    result_unused = target is None or not _is_read(instruction, instruction.operands["waitComplete"])

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = sync_point.who(lane_set, guard)
        if not len(issuers):
            return
        batch = lane_set.batch
        slots, done = sync_point.look(lane_set, issuers)
        if result_unused:
            batch.launch.warn("P691", RESULT_UNUSED, site, (issuers.name(0),))
        # Conditional phases that completed before the last primary phase, which did not succeed.
        older = done & (batch.mbarriers.reported[slots] != 0) if conditional else np.False_
        if older.any():
            batch.happens_before.acquire_success(issuers.rows[older], slots[older])
        if (latest := done & ~older).any():
            event = batch.launch.events.take(site)
            masks = issuers.masks(guard) if batch.launch.sanitize else None
            some = None if masks is None else masks[latest]
            rows, waited = issuers.rows[latest], slots[latest]
            early = batch.happens_before.acquire(
                rows, waited, event, relaxed, some, parity and not conditional
            )
            if early is not None:
                raise _too_early(batch, int(rows[early[0]]), int(waited[early[0]]), early[1], early[2], site)
            batch.mbarriers.observe(waited)
        if relaxed and done.any() and batch.relaxed_order is not None:
            batch.relaxed_order.wait(issuers.rows[done], slots[done])
        if not done.all():
            lane_set.schedule.poll(lane_set, site)
        put(target, lane_set, issuers.on_lanes(done), None, guard)
        report = np.where(done, batch.mbarriers.reported[slots], 0)
        for register, found, ones in (
            (predicate, report >= PREDICATE, np.uint8(1)),
            (value, (report % PREDICATE).astype(np.uint8), np.uint8(0xFF)),
        ):
            if register is not None:
                unknown = issuers.on_lanes(np.where(done, np.uint8(0), ones))
                origin = batch.launch.origins.of_report(site) if unknown.any() else 0
                mask = (unknown, origin) if origin else None
                register.write(lane_set, issuers.on_lanes(found), mask, guard)

    return Effect(step, sync_point)


for chapter in (effect, later):
    chapter("mbarrier.test_wait", "mbarrier.try_wait")(partial(wait, parity=False))
    chapter("mbarrier.test_wait.parity", "mbarrier.try_wait.parity")(partial(wait, parity=True))


def _too_early(batch: CtaBatch, row: int, slot: int, lane: int, other: Waited, site: Site) -> EmulatorFault:
    """The fault of a parity wait that may return on an older phase, as another lane did the previous wait."""
    phase, earlier = int(batch.mbarriers.phase[slot]) - 1, batch.launch.events.site(other.number)
    where = "" if earlier is None else f" at {earlier.where}"
    first = (other.mask & -other.mask).bit_length() - 1
    return fault(
        "P681",
        f"this wait for phase {phase} of {batch.mbarriers.name(slot)} may return early: "
        f"phase {phase - 2} has the same parity",
        site,
        (
            f"{batch.thread(row, lane)} waits here, and does not know that phase {phase - 1} is complete",
            f"{batch.thread(row, first)} has waited for phase {phase - 1}{where}, "
            "and no `bar.warp.sync` orders the two lanes",
        ),
        "put `bar.warp.sync` between the waits of different lanes, or let one lane do all of them",
    )


def _is_read(instruction: ScopedInstruction, result: tree.Operand) -> bool:
    """Whether a result of the instruction is read before something else is written over it."""
    flow = instruction.scope.flow
    return isinstance(result, tree.Name) and flow.is_live_after(
        flow.number_of(instruction.instruction), result
    )


def _warn_cta_scope(issuers: Issuers, slots: np.ndarray, site: Site) -> None:
    """Warn of an arrival at another CTA's mbarrier that says it is for its own CTA alone."""
    batch = issuers.lane_set.batch
    if (at := first_true(issuers.remote(batch.mbarriers.place[slots]))) is not None:
        batch.launch.warn(
            "P688",
            f"an arrival with `.cta` scope at {batch.mbarriers.name(int(slots[at]))}",
            site,
            (issuers.name(at), "a `.cta` release orders nothing for the other CTA: write `.release.cluster`"),
        )


@operation("mbarrier.pending_count")
@reported("mbarrier.pending_count")
def pending_count(instruction: Decoded) -> Pure:
    """`mbarrier.pending_count.b64 count, state`."""
    return computes(instruction, lambda state: (state & np.uint64(PENDING_MASK)).astype(np.uint32))


@effect("cp.async.mbarrier.arrive")
def arrive_on_copies(instruction: ScopedInstruction) -> Effect:
    """`cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]`: arrive once the thread's copies are done."""
    noinc, places, site = instruction["noinc"], own_mbarrier(instruction), instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch = lane_set.batch
        slots = batch.mbarriers.find(issuers, places(lane_set, issuers), site)
        if not noinc:
            batch.mbarriers.increment_pending(slots, site, issuers.threads)
        queue = batch.queue
        cp_async_groups = queue.groups["cp.async"]
        mine = np.zeros((batch.rows, WARP), bool)
        mine[issuers.rows, issuers.lanes] = True
        earlier = tuple(
            operation
            for operation in dict.fromkeys((*queue.pending, *queue.hazards.in_flight))
            if isinstance(operation.signal, Membership)
            and operation.signal.groups is cp_async_groups
            and mine[operation.rows, operation.lanes].any()
        )
        queue.issue(
            AsyncOperation(
                site,
                *issuers.who,
                signal=Arrival(slots, covers_after=False),
                after=earlier,
                deliver=lambda data: _released(issuers, slots, earlier),
            )
        )

    return Effect(by_thread(step))


def _released(issuers: Issuers, slots: np.ndarray, copies: tuple[AsyncOperation, ...]) -> None:
    """The copies are done: their threads see them, and release them to the mbarriers."""
    batch = issuers.lane_set.batch
    mine = np.zeros((batch.rows, WARP), bool)
    mine[issuers.rows, issuers.lanes] = True
    for copy in copies:
        batch.queue.observe(copy, mine[copy.rows, copy.lanes])
    batch.happens_before.release(issuers.rows, slots, batch.launch.events.take())
