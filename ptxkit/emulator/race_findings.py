"""What is said of a data race: who met whom where, the rule that it breaks, and what would order the two.

`ptxkit.emulator.races` finds them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.access_history import STRONG, THREAD, THREAD_BITS, AccessHistory
from ptxkit.emulator.asynchronous.reports import met_before_wait
from ptxkit.emulator.barriers import crowds_between
from ptxkit.emulator.clocks import LANE_APART, MEET_FIRST
from ptxkit.emulator.faults import Site, label_at
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.reach import Reach
from ptxkit.emulator.unused_reads import UNUSED, is_unused
from ptxkit.emulator.values import WARP


class Party(NamedTuple):
    """One side of a race: the launch, the CTA's number in the grid, the thread's in the CTA, the instruction
    and its event; whether the asynchronous machine did it, and whether it is strong."""

    launch: LaunchState
    cta: int
    thread: int
    site: Site | None
    number: int
    machine: bool = False
    strong: bool = False


def party(access: Reach, history: AccessHistory, record: Any, row: int = 0) -> Party:
    """Whose a record is; `row`: a row of the batch in whose CTA it lies, where the memory is a CTA's own."""
    batch = access.lane_set.batch
    thread = int(history.thread(record))
    launch = batch.launch
    if history.private:
        cta = int(batch.ctas[row // batch.warps_per_cta])
    else:
        launch, cta = launch.owner_of(thread >> THREAD_BITS)
    site = batch.launch.events.site(int(history.number(record)))
    number = int(history.number(record))
    machine, strong = bool(history.is_async(record)), bool(history.is_at_least(record, STRONG))
    return Party(launch, cta, thread & THREAD, site, number, machine, strong)


def report(
    access: Reach, them: Party, me: Party, index: int, earlier: str, later: str, apart: bool = False
) -> None:
    """Report a race.

    Args:
        access: the later one.
        them, me: who made the earlier one, and who makes this one.
        index: the first byte that both touch, in the bank of the access.
        earlier, later: `read` or `write`, what each of them does.
        apart: another lane of the later one's warp knows of the earlier access.

    Raises:
        EmulatorFault: the race, unless the launch goes past it; P613 and no more than a warning where the
            launch ahead of this one made the earlier access, see `met_before_wait`.
    """
    batch, site, other = access.lane_set.batch, access.site, them.site
    launch, shared = batch.launch, access.space == "shared"
    if them.number < launch.events.first:
        met_before_wait(launch, site, str(launch.thread(me.cta, me.thread)), index, earlier, later)
        return
    tile = index % batch.shared.stride + launch.shared.start if shared else index + BASE
    place = f"{access.space} memory at {tile:#x}"
    if shared and batch.cluster > 1:
        place += f" of CTA {batch.name_cta(index // batch.shared.stride)}"
    by = f": `{other.instruction.spelling}` at {other.where}" if other is not None else ""
    whose = batch.queue.hazards.reports.maker(them.launch, them.cta, them.thread, them.machine)
    notes = [f"{launch.thread(me.cta, me.thread)} makes the {later} here", f"{whose} made the {earlier}{by}"]
    if not shared and (owner := launch.memory.find(tile)) is not None:
        notes.append(f"byte {tile - owner.address} of {owner}")
        place += f", {element}" if (element := owner.element(tile)) else ""
    near = them.launch is me.launch and them.cta == me.cta
    if near and them.thread // WARP == me.thread // WARP and not them.machine:
        notes.append("WARP-SYNC-ASSUMED: both are lanes of one warp, and no `bar.warp.sync` lies between")
    code, message, help = _rule(them, me, place, earlier, later, shared)
    if near and not them.machine:
        crowds = crowds_between(batch, me.cta, (them.thread, me.thread), them.number)
        if crowds:
            notes += crowds
            help = "let the barrier expect all warps that come to it, or give each party one of its own"
    if apart:
        notes.append(LANE_APART)
        help = MEET_FIRST
    if shared and _relied_on_relaxed(access, them, me):
        message = f"a {later} of {place} relies on a relaxed arrival or wait"
        code, help = (
            "P689",
            "use `.release` and `.acquire`, or a fence before the arrival and one after the wait",
        )
    if them.launch.device != me.launch.device:
        narrow = _too_narrow(access, them, me, place, earlier, later)
        code, message, help = narrow or (code, message, help)
    whose = "the asynchronous operation" if them.machine else f"the other thread's {earlier}"
    say = launch.report
    if shared and (earlier, later) == ("write", "read") and _is_granted_slot(access, them, me):
        notes.append("a cluster barrier with a `.relaxed` arrival lies between, which orders no memory")
        say = launch.formally_wrong
    if near and not shared and _comes_to_nothing(access, them, me, earlier, later):
        notes.append(UNUSED)
        say = launch.formally_wrong
    say(code, message, site, notes, help, label_at(other, whose, site))


def _comes_to_nothing(access: Reach, them: Party, me: Party, earlier: str, later: str) -> bool:
    """Whether a plain load raced with a plain store of its CTA, and nothing comes of what it got: Triton."""
    load, store = (them.site, access.site) if earlier == "read" else (access.site, them.site)
    if {earlier, later} != {"read", "write"} or load is None or store is None:
        return False
    if (load.name, store.name) != ("ld", "st") or them.machine or them.strong or me.strong:
        return False
    batch = access.lane_set.batch
    first = int(batch.position(np.array([me.cta]))[0]) * batch.warps_per_cta
    x, y, z = batch.launch.shape.block
    rows = range(first, first + batch.warps_per_cta)
    warp, lane = divmod(me.thread, WARP)
    return is_unused(access, load, store, rows, x * y * z, first + warp, lane)


def _is_granted_slot(access: Reach, them: Party, me: Party) -> bool:
    """Whether a relaxed cluster barrier hands the address of tensor memory on within a CTA: DeepGEMM."""
    if them.cta != me.cta or them.site is None or them.site.name != "tcgen05.alloc":
        return False
    batch = access.lane_set.batch
    first = int(batch.position(np.array([me.cta]))[0]) * batch.warps_per_cta
    by, row = first + them.thread // WARP, first + me.thread // WARP
    return batch.happens_before.met_relaxed(by, them.number, row)


def _too_narrow(
    access: Reach, them: Party, me: Party, place: str, earlier: str, later: str
) -> tuple[str, str, str] | None:
    """The code, message and advice where a scope is at fault that two devices race."""
    batch = access.lane_set.batch
    if them.strong and me.strong:
        message = f"a strong {later} races with another device's strong {earlier} of {place}"
        return "P6150", message, "give both the scope `.sys`: what has a narrower one is no more than weak"
    cta = int(batch.position(np.array([me.cta]))[0])
    row = cta * batch.warps_per_cta + me.thread // WARP
    if batch.happens_before.narrowly_ordered(row, them.number):
        message = f"a {later} of {place} relies on a release or an acquire that does not reach other devices"
        return "P6150", message, "give both, and the fences if there are any, the scope `.sys`"
    return None


def _relied_on_relaxed(access: Reach, them: Party, me: Party) -> bool:
    """Whether a relaxed arrival or wait lies between the two sides of a race, where it would order them."""
    batch = access.lane_set.batch
    relaxed = batch.happens_before.relaxed
    ctas = batch.position(np.array([them.cta, me.cta]))
    theirs, mine = (
        int(c) * batch.warps_per_cta + p.thread // WARP for c, p in zip(ctas, (them, me), strict=True)
    )
    if relaxed[mine] > them.number:
        return True
    return bool(not them.machine and ctas[0] >= 0 and relaxed[theirs] > them.number)


def _rule(them: Party, me: Party, place: str, earlier: str, later: str, shared: bool) -> tuple[str, str, str]:
    """The code, message and advice for a race."""
    code = "P650" if shared else "P651"
    if them.launch.device != me.launch.device:
        message = f"a {later} races with another device's {earlier} of {place}"
        help = "order the devices through memory, by a release and an acquire of one location, both `.sys`"
        return code, message, help
    if them.machine:
        help = (
            "wait for the mbarrier that tells of the operation, in this warp or in one that it then waits for"
        )
        if (earlier, later) == ("write", "read"):
            message = f"{place} is read by a warp that did not wait for what wrote it"
            return "P652", message, help
        return code, f"a {later} races with an asynchronous {earlier} of {place}", help
    if earlier == "write" and them.site is not None and "copies_generic" in them.site.row.traits:
        message = f"a {later} of {place}, which another thread's copy wrote"
        help = "a wait covers its own thread: put a barrier after it, before others use the bytes"
        return "P658", message, help
    message = f"a {later} races with another thread's {earlier} of {place}"
    if them.launch is not me.launch:
        return code, message, "let one stream wait for the other, or order the launches through memory"
    if them.cta == me.cta and them.thread // WARP == me.thread // WARP:
        return code, message, "put `bar.warp.sync` between the two: lanes of a warp need not run in step"
    if them.cta == me.cta:
        return code, message, "put a barrier between the two that both warps pass"
    if shared:
        help = "order the CTAs by `barrier.cluster`, or by an mbarrier with `.cluster` scope on both sides"
        return code, message, help
    help = "order the CTAs through memory, by a release and an acquire of one location, or use two launches"
    return code, message, help
