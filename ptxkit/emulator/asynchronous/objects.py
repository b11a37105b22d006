"""The life of mbarrier objects: init, inval, and who may use one. PTX ISA 9.7.13.15.9, 9.7.13.15.10.

A slot is the number of an mbarrier object in its batch; the arrays below are indexed by it. The eight bytes
in shared memory mean nothing to programs and stay as they were.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from ptxkit.emulator.asynchronous.operation import Trace
from ptxkit.emulator.asynchronous.story import KEPT, MbarrierEvent, Story
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site, fault, label_at
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.values import distinct, first_true

MAX_COUNT = (1 << 20) - 1
"""Largest tx-count of an mbarrier, and largest count of one of layout v0. PTX ISA 9.7.13.15.2."""
MAX_ARRIVALS = np.array([MAX_COUNT, (1 << 9) - 1])
"""Largest count by layout. PTX ISA 9.4, 9.7.15.16.3."""
PENDING_MASK = (1 << 20) - 1
"""The bits of a token that have the pending count."""
COUNTS = (
    "phase",
    "expected",
    "pending",
    "tx",
    "layout",
    "conditional",
    "report",
    "reported",
    "succeeded",
    "begun",
    "by",
    "turned",
    "observed",
    "expected_by",
    "expected_at",
    "visited",
    "visitor",
    "visited_at",
    "again",
)
"""The arrays that have a number for each slot, besides `place`, `live` and `local`."""

_NONE = np.zeros(0, np.int64)
"""What all of them are until there is a slot."""

UNUSED, OVERWRITTEN = 1, 2
"""Of an mbarrier: initialised again without a use between; and then overwritten, before any use."""

READS_OF_A = -1 << 40
"""Where `_locals` has the number for commits that tell of reads of matrix A alone."""


class Threads(Protocol):
    """Threads that use mbarriers; see `ptxkit.emulator.issuers.Issuers`."""

    @property
    def rows(self) -> np.ndarray: ...

    def __len__(self) -> int: ...

    def name(self, item: int) -> str: ...


class Objects(Story):
    """All mbarrier objects of a batch.

    Attributes:
        place: where each slot's object lies in the shared bank.
        phase: the number of the current phase.
        expected, pending, tx: the counts.
        layout: 0 or 1.
        conditional: the number of the current conditional phase.
        report, reported: the payload report of the current phase, and of the last one that completed: 0 for
            none, else `PREDICATE` and the report value.
        succeeded: the event that completed the last conditional phase, where `reported` is not 0.
        live: whether it is valid: initialised and not invalidated.
        local: its number among the objects at the same offsets of their CTAs; see `HappensBefore.completed`.
        begun, by: the event of its init, and the batch's row that did it.
        turned: the event of its last phase's completion.
        observed: how many of its phases had completed when a wait last said yes.
        expected_by, expected_at: the row and the event of its last expect-tx that was no arrival as well.
        visited: one more than the phase in which another CTA last arrived at it or sent bytes for it; 0 for
            never.
        visitor, visited_at: that thread, by its number in the batch, and the event; negative, that of the
            issue, where an asynchronous operation did it.
        again: `UNUSED`, `OVERWRITTEN` or 0.
        stamp: grows with every change.
        trace: takes down what happens; None where nobody wants it.
    """

    def __init__(self, batch: Ctas, happens_before: HappensBefore) -> None:
        self.batch = batch
        self.happens_before = happens_before
        happens_before.slots = self
        self.trace: Trace | None = None
        self.at: np.ndarray = np.zeros(len(batch.shared.data) // 8, np.int32)
        self.place = self.local = self.phase = self.expected = self.pending = self.tx = _NONE
        self.layout = self.conditional = self.report = self.reported = self.succeeded = _NONE
        self.begun = self.by = self.turned = self.observed = self.expected_by = self.expected_at = _NONE
        self.visited = self.visitor = self.visited_at = self.again = _NONE
        self.live = _NONE.astype(bool)
        self.stamp = 0
        self.events: deque[MbarrierEvent] = deque(maxlen=KEPT)
        self._locals: dict[int, int] = {}
        self._sites: list[Site] = []

    # ---- life

    def init(
        self, issuers: Threads, places: np.ndarray, counts: np.ndarray, site: Site, layout: int = 0
    ) -> None:
        """mbarrier.init of an object at each place of the shared bank. Raises P674, a count out of range;
        P671, it is initialised already."""
        most = int(MAX_ARRIVALS[layout])
        if (at := first_true((counts < 1) | (counts > most))) is not None:
            of = " in layout v1" if layout else ""
            message = f"expected a count from 1 to {most}{of}, found {int(counts[at])}"
            raise fault("P674", message, site, (issuers.name(at),))
        places, first = np.unique(places, return_index=True)
        if len(first) < len(issuers):
            again = np.setdiff1d(np.arange(len(issuers)), first)[0]
            self._reinit(issuers.name(int(again)), int(places[0]), site, "another thread of this instruction")
        counts, rows = counts[first], issuers.rows[first]
        known = self.at[places >> 3]
        old = known > 0
        again = np.flatnonzero(old)
        again = again[self.live[known[again] - 1]]
        if len(again):
            slots = known[again].astype(np.int64) - 1
            lenient = self._unused(slots) & (self.by[slots] == rows[again])
            at = int(np.argmin(lenient))
            who, other = issuers.name(int(first[again[at]])), self._sites[int(slots[at])]
            by = f"`{other.instruction.spelling}` at {other.where}"
            self._reinit(who, int(places[again[at]]), site, by, other, bool(lenient[at]))
        fresh = places[~old]
        if len(fresh):
            self._grow(fresh, site)
        slots = self.at[places >> 3].astype(np.int64) - 1
        self.phase[slots] = self.observed[slots] = self.visited[slots] = 0
        self.expected[slots] = self.pending[slots] = counts
        self.tx[slots] = 0
        self.layout[slots] = layout
        self.conditional[slots] = self.report[slots] = self.reported[slots] = 0
        self.live[slots] = True
        self.again[slots] = 0
        self.again[slots[again]] = UNUSED
        self.begun[slots] = self.batch.launch.events.take(site)
        self.by[slots] = rows
        self.happens_before.forget_slots(slots)
        for slot in slots.tolist():
            self._sites[slot] = site
        self.stamp += 1
        if self.trace is not None:
            self.trace.turned(slots)

    def _unused(self, slots: np.ndarray) -> np.ndarray:
        """Whether nothing has arrived at objects, nor is expected, since their init."""
        full = self.pending[slots] == self.expected[slots]
        return full & (self.phase[slots] == 0) & (self.tx[slots] == 0)

    def _reinit(
        self, who: str, place: int, site: Site, by: str, other: Site | None = None, lenient: bool = False
    ) -> None:
        """An object is initialised while it is live: a warning where practice does so, else an error."""
        message = f"{self.name_of(place)} is initialised again while it is live"
        notes = [who, f"it was initialised by {by}"]
        help = "initialise it once, by one thread; `mbarrier.inval` comes before another use of its bytes"
        labels = label_at(other, "initialised here", site)
        if not lenient:
            raise fault("P671", message, site, notes, help, labels)
        notes.append("nothing has used it since")
        self.batch.launch.formally_wrong("P671", message, site, notes, help, labels)

    def overwrite(self, slots: np.ndarray) -> np.ndarray:
        """Which of some objects may be overwritten, by practice: those that were initialised twice and never
        used. They are not valid from now on."""
        free = (self.again[slots] == UNUSED) & self._unused(slots)
        self.live[slots[free]] = False
        self.again[slots[free]] = OVERWRITTEN
        return free

    def _grow(self, places: np.ndarray, site: Site) -> None:
        first, more = len(self.place), len(places)
        self.at[places >> 3] = np.arange(first + 1, first + more + 1)
        self.place = np.append(self.place, places)
        none = np.zeros(more, np.int64)
        for name in COUNTS:
            setattr(self, name, np.append(getattr(self, name), none))
        self.live = np.append(self.live, none.astype(bool))
        offsets = (places % self.batch.shared.stride).tolist()
        local = [self._locals.setdefault(offset, len(self._locals)) for offset in offsets]
        self.local = np.append(self.local, local).astype(np.int64)
        self._sites += [site] * more
        self.happens_before.grow_slots(len(self.place), len(self._locals))

    def reserve(self, thread: int = -1, reads: bool = False) -> int:
        """A number of its own in `HappensBefore.completed`, for what the asynchronous machine does by itself.

        Args:
            thread: of a CTA, the first of the warpgroup whose waits tell; -1 where `tcgen05.commit` does.
            reads: whether it is for commits that tell of reads of matrix A alone.
        """
        local = self._locals.setdefault(READS_OF_A if reads else -2 - thread, len(self._locals))
        self.happens_before.grow_slots(len(self.place), len(self._locals))
        return local

    def machine(self, cta: int, local: int) -> str:
        """The asynchronous machine, as messages call it: for whom it did what such a number tells of. `cta`:
        of the grid."""
        at = next((at for at, number in self._locals.items() if number == local), -1)
        if at >= -1 or at == READS_OF_A:
            return "the asynchronous machine"
        return f"the warpgroup of {self.batch.launch.thread(cta, -2 - at)}"

    def inval(self, issuers: Threads, places: np.ndarray, site: Site) -> None:
        """mbarrier.inval: the bytes are free for other use, and undefined."""
        slots = self.find(issuers, places, site)
        self.live[slots] = False
        self.stamp += 1
        if self.trace is not None:
            self.trace.invalidated(slots)
        shadow = self.batch.shared.shadow
        if shadow is not None:
            for place in distinct(places).tolist():
                shadow[place : place + 8] = 0xFF
                offset = place % self.batch.shared.stride
                self.batch.shared.spoil(offset, offset + 7)

    def find_beside(
        self, issuers: Threads, places: np.ndarray, written: np.ndarray, site: Site, pair: bool = False
    ) -> np.ndarray:
        """As `find`, of mbarriers that are told of bytes written to shared memory.

        Args:
            issuers, places, site: see `find`.
            written: the offset in the shared bank of what each thread's operation writes.
            pair: the other CTA of the destination's pair will do.

        Raises:
            EmulatorFault: P664, an mbarrier lies in another CTA than the destination; those of `find`.
        """
        slots = self.find(issuers, places, site)
        here, there = self.cta_of(slots), written // self.batch.shared.stride
        apart = here >> 1 != there >> 1 if pair else here != there
        if apart.any():
            where = "of the destination's CTA or its peer" if pair else "of the destination's CTA"
            message = f"the mbarrier must lie in the shared memory {where}"
            raise fault("P664", message, site, (issuers.name(int(np.argmax(apart))),))
        return slots

    def check_reports(self, issuers: Threads, slots: np.ndarray, site: Site) -> None:
        """Mbarriers that copies may report on must have a payload report. Reports P6200, one has not."""
        if (at := first_true(self.layout[slots] == 0)) is not None:
            slot = int(slots[at])
            init = self._sites[slot]
            self.batch.launch.report(
                "P6200",
                f"`{site.instruction.spelling}` may report on {self.name(slot)}, which has layout v0",
                site,
                (issuers.name(at), f"`{init.instruction.spelling}` at {init.where}"),
                "initialise it with `mbarrier.init.layout::v1`",
                label_at(init, "initialised here", site),
            )

    def cta_of(self, slots: np.ndarray) -> np.ndarray:
        """The CTA of the batch in whose shared memory each object lies."""
        return self.place[slots] // self.batch.shared.stride

    def find(self, issuers: Threads, places: np.ndarray, site: Site, visible: bool = True) -> np.ndarray:
        """The slots of the objects at places of the shared bank, one for each issuing thread.

        Args:
            issuers: the threads that use them.
            places: multiples of 8.
            visible: whether the threads must have seen the init.

        Raises:
            EmulatorFault: P670, nothing was initialised there; P673, it was invalidated; P669, the thread has
                not seen the init.
        """
        slots = self.at[places >> 3].astype(np.int64) - 1
        bad = slots < 0
        if not bad.any():
            bad = ~self.live[slots]
        if (at := first_true(bad)) is not None:
            place = self.name_of(int(places[at]))
            if slots[at] < 0:
                raise fault(
                    "P670",
                    f"`{site.instruction.spelling}` on {place}, which was never initialised",
                    site,
                    (issuers.name(at),),
                    "let one thread execute `mbarrier.init` and all others wait for it at a barrier",
                )
            written = self.again[slots[at]] == OVERWRITTEN
            since = "its bytes were overwritten" if written else "`mbarrier.inval`"
            raise fault(
                "P673",
                f"`{site.instruction.spelling}` on {place} after {since}",
                site,
                (issuers.name(at),),
            )
        if visible and self.batch.launch.sanitize:
            self._check_visible(issuers, slots, site)
        return slots

    def _check_visible(self, issuers: Threads, slots: np.ndarray, site: Site) -> None:
        happens_before = self.happens_before
        rows = issuers.rows
        unseen = ~happens_before.covers(rows, self.by[slots], self.begun[slots]) & (
            happens_before.initialised[rows] <= self.begun[slots]
        )
        if (at := first_true(unseen)) is not None:
            slot = int(slots[at])
            init = self._sites[slot]
            where = f"{init.where}"
            remote = issuers.rows[at] // self.batch.warps_per_cta != self.by[slot] // self.batch.warps_per_cta
            advice = (
                "`fence.mbarrier_init.release.cluster` and a cluster barrier "
                "must lie between the init and its use"
                if remote
                else "`bar.sync` must lie between the init and its use by another warp"
            )
            labels = label_at(init, "initialised here")
            name = self.name(slot)
            launch, by, user = self.batch.launch, int(self.by[slot]), int(rows[at])
            met = happens_before.met_relaxed(by, int(self.begun[slot]), user)
            # CUTLASS fences its mbarriers and inits one more, which a relaxed cluster barrier hands on.
            say = launch.formally_wrong if met and happens_before.init_fenced[by] else launch.report
            say(
                "P669",
                f"nothing orders the init of {name} before this use",
                site,
                (
                    issuers.name(at),
                    f"`{init.instruction.spelling}` at {where} by {self._warp(int(self.by[slot]))}",
                ),
                advice,
                labels,
            )

    def _warp(self, row: int) -> str:
        thread = self.batch.thread(row, 0)
        return f"the warp of {thread}"
