"""The barriers of a CTA: who has arrived, who waits, when they go on. PTX ISA 9.7.13.1.

A phase is complete when as many threads have arrived as it expects, and orders those alone. Where more
arrive than one phase takes, and nothing orders their arrivals, it is the schedule's choice which of them
meet. A warp is then sure of what it learns whomever it meets, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault, show
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold
from ptxkit.emulator.values import WARP

TABLES = ("clocks", "proxied", "acquired", "fenced", "initialised", "completed")
"""What `HappensBefore` keeps of each row, and a barrier hands on."""


class Crowd(NamedTuple):
    """More arrivals than a phase takes, which nothing orders.

    Attributes:
        number: the event that completed one of their phases.
        expected: threads of a phase.
        site: the instruction by which the first of them arrived.
        rows: who came.
    """

    number: int
    expected: int
    site: Site
    rows: frozenset[int]


@dataclass(slots=True, eq=False)
class Phases:
    """Who took part in which phase of a barrier, for all CTAs of a batch.

    Attributes:
        last: by CTA and row, the event that completed the last phase in which the row took part, and the rows
            that waited for that.
        coming: rows that arrive together with those of the phase at hand, but after these.
        before: what all rows knew when they came, while `coming` is kept.
        crowds: by CTA the last one.
    """

    last: dict[int, dict[int, tuple[int, list[int]]]] = field(default_factory=dict)
    coming: frozenset[int] = frozenset()
    before: dict[str, np.ndarray] | None = None
    crowds: dict[int, Crowd] = field(default_factory=dict)

    def meet(
        self,
        happens_before: HappensBefore,
        cta: int,
        arrived: np.ndarray,
        waiting: np.ndarray,
        covered: np.ndarray,
        number: int,
        expected: int,
        site: Site,
    ) -> None:
        """A phase of a CTA is complete.

        Args:
            happens_before: the clocks.
            arrived: rows that took part.
            waiting: those of them that waited.
            covered: for each of `arrived`, the number up to which its accesses are covered.
            number: the event of the completion.
            expected: threads of a phase.
            site: the instruction by which the first of them arrived.
        """
        last = self.last.setdefault(cta, {})
        here = arrived.tolist()
        others = self._others(happens_before, last, here, cta)
        if others:
            self._meet_some(happens_before, arrived, waiting, covered, others, number)
            self.crowds[cta] = Crowd(number, expected, site, frozenset((*here, *others)))
        else:
            happens_before.meet(arrived, waiting, covered)
        last.update(dict.fromkeys(here, (number, waiting.tolist())))

    def _others(
        self, happens_before: HappensBefore, last: dict[int, tuple[int, list[int]]], here: list[int], cta: int
    ) -> list[int]:
        """The rows of the CTA that might have come in place of one that did."""
        absent = last.keys() - here
        if not absent and not self.coming:
            return []
        coming = [row for row in self.coming if row // happens_before.batch.warps_per_cta == cta]
        found = [
            row
            for row in absent
            if not all(
                _saw_complete(happens_before, one, *last[row]) or _with(last, one, row) for one in here
            )
        ]
        return sorted({*found, *coming})

    def _meet_some(
        self,
        happens_before: HappensBefore,
        arrived: np.ndarray,
        waiting: np.ndarray,
        covered: np.ndarray,
        others: Sequence[int],
        number: int,
    ) -> None:
        """Each row learns what it would have learnt of any as many of those who came."""
        everyone = np.concatenate([arrived, np.array(others, arrived.dtype)])
        covers = np.concatenate([covered, np.full(len(others), number)])
        met = len(arrived) - 1
        tables = TABLES + happens_before.shared_by_ctas
        learnt: dict[str, list[np.ndarray]] = {name: [] for name in tables}
        for row in waiting.tolist():
            rest = everyone != row
            for name in tables:
                table = getattr(happens_before, name) if self.before is None else self.before[name]
                known = table[everyone[rest]]
                if name == "clocks":
                    columns = happens_before.column[everyone[rest]]
                    known[np.arange(len(known)), columns] = covers[rest]
                # Of those it may have met, the ones that knew least of a place knew this much.
                least = np.sort(known, axis=0)[met - 1] if met else np.zeros_like(known[0])
                learnt[name].append(least)
        for name, each in learnt.items():
            if len(waiting):
                table = getattr(happens_before, name)
                table[waiting] = np.maximum(table[waiting], np.stack(each))
        happens_before.warps_meet(waiting, number)


def _saw_complete(happens_before: HappensBefore, row: int, number: int, waited: list[int]) -> bool:
    """Whether a row had seen, when it came, that the phase was complete for which some rows had waited."""
    if happens_before.pending[row] > number:
        return True
    return any(int(happens_before.clocks[row, happens_before.column[one]]) >= number for one in waited)


def _with(last: dict[int, tuple[int, list[int]]], row: int, other: int) -> bool:
    """Whether two rows took part in the same phase last."""
    return row in last and last[row][0] == last[other][0]


MEET = "let the lanes meet before the barrier, or use `barrier.sync` without `.aligned`"
BARRIERS = 16
"""Barriers of a CTA."""


@dataclass(slots=True, eq=False)
class Barrier:
    """One of the sixteen barriers, for all CTAs of a batch.

    Attributes:
        number: 0 to 15.
        arrived: bool (rows, 32), lanes that have arrived and not been released.
        expected: by CTA, the thread count that the participants of this generation gave; 0 for the whole CTA,
            -1 while nobody has arrived.
        reducing: by CTA, whether this generation is a `red`.
        values: bool (rows, 32), the predicates of a `red`.
        elsewhere: bool (rows, 32), lanes that went on elsewhere when others of their warp came to an aligned
            instruction.
        covered: int64 (rows,), for each warp the event up to which its arrival covers its accesses.
        sites: by CTA, the instruction that arrived first.
        phases: who took part in which phase.
    """

    code: ClassVar[str] = "P636"
    number: int
    arrived: np.ndarray
    expected: np.ndarray
    reducing: np.ndarray
    values: np.ndarray
    elsewhere: np.ndarray
    covered: np.ndarray
    sites: dict[int, Site] = field(default_factory=dict)
    phases: Phases = field(default_factory=Phases)

    @property
    def busy(self) -> bool:
        """Whether somebody has arrived."""
        return bool((self.expected >= 0).any())

    def most_arrived(self, warps: int) -> int:
        """How many of a CTA's warps have arrived, of the CTA where it is most."""
        return int(np.count_nonzero(self.arrived.any(axis=1).reshape(-1, warps), axis=1).max())

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited: release the CTAs whose barrier only waited for them."""
        release(schedule, self)

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        batch, cta = lane_set.batch, row // lane_set.batch.warps_per_cta
        rows = slice(cta * batch.warps_per_cta, (cta + 1) * batch.warps_per_cta)
        alive, arrived = batch.alive[rows], self.arrived[rows]
        here: Any = (arrived & alive).any(axis=1)
        late = [str(warp) for warp in range(batch.warps_per_cta) if not here[warp] and alive[warp].any()]
        gone = [str(warp) for warp in range(batch.warps_per_cta) if not alive[warp].any()]
        expected = int(self.expected[cta])
        wanted = f"{counted(expected, 'thread')}" if expected > 0 else "all warps"
        parts = [f"barrier {self.number} of CTA {show(batch.cta_coordinates(cta))}, which expects {wanted}"]
        for warps, what in ((late, "not arrived"), (gone, "exited")):
            if len(warps) == 1:
                parts.append(f"warp {warps[0]} has {what}")
            elif warps:
                parts.append(f"warps {', '.join(warps)} have {what}")
        return "; ".join(parts)


class Barriers:
    """The barriers of a batch that somebody has come to, by their numbers."""

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.by_number: dict[int, Barrier] = {}

    def of(self, number: int) -> Barrier:
        """One of them."""
        barrier = self.by_number.get(number)
        if barrier is None:
            ctas, shape = len(self.batch.ctas), (self.batch.rows, WARP)
            barrier = self.by_number[number] = Barrier(
                number,
                np.zeros(shape, bool),
                np.full(ctas, -1, np.int64),
                np.zeros(ctas, bool),
                np.zeros(shape, bool),
                np.zeros(shape, bool),
                np.zeros(self.batch.rows, np.int64),
            )
        return barrier


def release(schedule: LaneSchedule, barrier: Barrier) -> None:
    """Let go the CTAs whose barrier is complete.

    A warp counts as a whole once all its lanes that have not exited are there (PTX ISA 9.7.13.1), though it
    may have exited since. Other warps that have exited are not waited for.
    """
    if not barrier.busy:
        return
    batch = schedule.batch
    alive = batch.alive.reshape(-1, batch.warps_per_cta, WARP)
    living = alive.any(axis=2)
    there = all_there(batch, barrier.arrived).reshape(-1, batch.warps_per_cta)
    threads = WARP * np.count_nonzero(there, axis=1)
    nobody_left = ~(living & ~there).any(axis=1)
    complete = (barrier.expected >= 0) & np.where(
        barrier.expected == 0, nobody_left, (threads >= barrier.expected) | nobody_left
    )
    if not complete.any():
        return
    results = _reduced(batch, barrier)
    rows = np.repeat(complete, batch.warps_per_cta)
    _check_nobody_left(batch, barrier, rows)
    _order(schedule, barrier, complete, there)
    barrier.arrived[rows] = False
    barrier.elsewhere[rows] = False
    barrier.expected[complete] = -1
    for cta in np.flatnonzero(complete):
        barrier.sites.pop(int(cta), None)
    batch.launch.counts.barriers += int(np.count_nonzero(complete))
    for lane_set in schedule.take(barrier):
        own = rows if lane_set.rows is None else rows[lane_set.rows]
        if not own.all():
            going = hold(lane_set, lane_set.full_mask() & ~own[:, None], barrier)
            if going is None:
                continue
            lane_set = going
        lane_set.passed = True
        lane_set.result = results
        schedule.ready.append(lane_set)


def all_there(batch: CtaBatch, arrived: np.ndarray) -> np.ndarray:
    """Which rows of a batch have arrived with all their lanes that have not exited."""
    rows: np.ndarray = ~(batch.alive & ~arrived).any(axis=1) & arrived.any(axis=1)
    return rows


def _check_nobody_left(batch: CtaBatch, barrier: Barrier, rows: np.ndarray) -> None:
    """No lane may have gone around the barrier at which others of its warp have waited."""
    left = barrier.elsewhere & ~barrier.arrived & rows[:, None]
    if not left.any():
        return
    row = int(np.argmax(left.any(axis=1)))
    site = barrier.sites[row // batch.warps_per_cta]
    raise fault(
        "P635",
        f"only part of a warp reaches `{site.instruction.spelling}`",
        site,
        (
            f"{batch.thread(row, int(np.argmax(barrier.arrived[row])))} is here",
            f"lanes {bits(left[row]):#010x} of the warp have gone on elsewhere and ended",
        ),
        MEET,
    )


def bits(lanes: np.ndarray) -> int:
    """Lanes of a warp as a mask."""
    return int(np.packbits(lanes, bitorder="little").view("u4")[0])


def _order(schedule: LaneSchedule, barrier: Barrier, complete: np.ndarray, there: np.ndarray) -> None:
    """What the warps of the completed CTAs have seen of one another from now on."""
    batch = schedule.batch
    waiting = np.zeros(batch.rows, bool)
    for entry in schedule.blocked:
        if entry.sync_point is barrier:
            waiting[entry.lane_set.occupied_rows()] = True
    number = batch.launch.events.take()
    by_cta = waiting.reshape(-1, batch.warps_per_cta)
    everyone = complete & by_cta.all(axis=1)
    if batch.living < batch.rows * WARP and (complete & ~everyone).any():
        # Warps that have exited are met where the barrier had waited for them, not in a phase full without.
        full = (barrier.expected > 0) & (WARP * np.count_nonzero(there, axis=1) >= barrier.expected)
        gone = ~batch.alive.reshape(-1, batch.warps_per_cta, WARP).any(axis=2) & ~full[:, None]
        everyone = complete & (by_cta | gone).all(axis=1)
    if everyone.any():
        batch.happens_before.barrier(np.repeat(everyone, batch.warps_per_cta), number)
    for cta in np.flatnonzero(complete & ~everyone):
        first = int(cta) * batch.warps_per_cta
        arrived = first + np.flatnonzero(there[cta])
        stays = first + np.flatnonzero(by_cta[cta])
        covered = np.where(waiting[arrived], number, barrier.covered[arrived])
        expected, site = int(barrier.expected[cta]), barrier.sites[int(cta)]
        barrier.phases.meet(batch.happens_before, int(cta), arrived, stays, covered, number, expected, site)


def _reduced(batch: CtaBatch, barrier: Barrier) -> np.ndarray | None:
    """By row of the batch: how many threads of the CTA arrived with a true and with any predicate."""
    if not barrier.reducing.any():
        return None
    true = (barrier.values & barrier.arrived).reshape(-1, batch.warps_per_cta * WARP).sum(axis=1)
    every = barrier.arrived.reshape(-1, batch.warps_per_cta * WARP).sum(axis=1)
    return np.repeat(np.stack([true, every], axis=1), batch.warps_per_cta, axis=0)


def crowds_between(batch: CtaBatch, number: int, threads: tuple[int, int], since: int) -> list[str]:
    """What a finding about two threads says of barriers to which their warps came in a crowd.

    Args:
        batch: with the barriers.
        number: of their CTA in the grid.
        threads: their numbers in the CTA.
        since: the event of the earlier of what they do.
    """
    cta = int(batch.position(np.array([number]))[0])
    rows = {cta * batch.warps_per_cta + thread // WARP for thread in threads}
    notes = []
    for barrier in batch.own(Barriers).by_number.values():
        crowd = barrier.phases.crowds.get(cta)
        if crowd is not None and crowd.number > since and crowd.rows >= rows:
            instruction = crowd.site.instruction
            notes.append(
                f"`{instruction.spelling}` at {crowd.site.where} expects {crowd.expected} threads, and "
                f"nothing orders the {len(crowd.rows)} warps that come to it: each phase orders its own alone"
            )
    return notes
