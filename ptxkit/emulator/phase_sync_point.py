"""test_wait and try_wait of mbarriers as synchronisation points. PTX ISA 9.7.13.15.16.

Who waits for a phase that is not complete stands at the synchronisation point until it is. Where nothing else
can happen, time limits run out and the wait says no; in lazy and random order the first look of each wait
says no as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.issuers import AddressResolver, Issuers
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP, first_true

STORIES = 8
"""How many lines a deadlock tells of what happened to mbarriers."""


class PhaseSyncPoint:
    """The synchronisation point, and the look itself.

    Attributes:
        story: what happened to the mbarriers that somebody waits for in a deadlock.
        cause: the first of them whose bytes don't add up: why, and what to do where that is known.

    Args:
        places: its mbarrier.
        phase: reads the token, or the parity.
        parity: which of the two.
        conditional: whether the conditional phase is waited for, not the primary one.
    """

    def __init__(
        self,
        site: Site,
        places: AddressResolver,
        phase: Callable[[LaneSet], Any],
        parity: bool,
        guard: SourceOperand | None,
        conditional: bool = False,
    ) -> None:
        self.site = site
        self.places = places
        self.phase = phase
        self.parity = parity
        self.conditional = conditional
        self.guard = guard.reader if guard is not None else None
        self.story: list[str] = []
        self.cause: tuple[str, str | None] | None = None
        self.code = "P676"

    def who(self, lane_set: LaneSet, guard: Any) -> Issuers:
        """The threads that wait."""
        return Issuers.by_warp(lane_set, guard, self.places.accessor.read(lane_set), self.phase(lane_set))

    def look(self, lane_set: LaneSet, issuers: Issuers) -> tuple[np.ndarray, np.ndarray]:
        """The mbarrier of each thread, and whether the phase that it waits for is complete. Raises
        EmulatorFault: it is no mbarrier (P670, ..), another CTA's (P685), the token is another one's
        (P684)."""
        barriers = lane_set.batch.mbarriers
        slots = barriers.find(issuers, self.places(lane_set, issuers), self.site)
        issuers.refuse(
            issuers.remote(barriers.place[slots]),
            "P685",
            self.site,
            lambda at: f"`{self.site.instruction.spelling}` on {barriers.name(int(slots[at]))}",
            "only threads of the mbarrier's own CTA can wait for it",
        )
        phase = issuers.take(self.phase(lane_set))
        if self.parity:
            return slots, barriers.parity_completed(slots, phase.astype(np.int64) & 1, self.conditional)
        done, foreign = barriers.check_tokens(slots, phase.astype(np.uint64))
        if (at := first_true(foreign)) is not None:
            raise fault(
                "P684",
                "the state is no token of the current phase of this mbarrier, or of the last one",
                self.site,
                (issuers.name(at), *barriers.state(int(slots[at]))[:1]),
                "wait with the state that this thread's arrival at this mbarrier returned",
            )
        return slots, done

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0:
            if not guard:
                return lane_set
            guard = None
        issuers = self.who(lane_set, guard)
        if not len(issuers):
            return lane_set
        batch = lane_set.batch
        slots, done = self.look(lane_set, issuers)
        if done.all():
            return lane_set
        refused = batch.queue.refused
        if id(self) not in refused and not batch.queue.eager:
            refused.add(id(self))
            return lane_set
        held = np.broadcast_to(issuers.on_lanes(~done), (lane_set.n, WARP))
        lanes = executing(lane_set, guard)
        return hold(lane_set, held if lanes is None else held & lanes, self, slots[~done])

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited: that completes no phase."""

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for, and why it can't come."""
        batch = lane_set.batch
        guard = self.guard(lane_set) if self.guard is not None else None
        issuers = self.who(lane_set, guard)
        mine = np.flatnonzero(issuers.rows == row)
        slots = batch.mbarriers.find(issuers, self.places(lane_set, issuers), self.site, visible=False)
        slot = int(slots[mine[0]])
        phase = int(issuers.take(self.phase(lane_set))[mine[0]])
        self.code, why = batch.mbarriers.stuck(slot, self.conditional)
        if self.code == "P677" and self.cause is None:
            self.cause = batch.mbarriers.mismatch(slot)
        wanted = f"parity {phase & 1}" if self.parity else f"phase {phase >> 32}"
        state, *story = batch.mbarriers.state(slot)
        if len(self.story) < STORIES:
            self.story += story
        return f"{wanted} of {state}; {why}"
