"""Telling a deadlock: every warp with its line, what it waits for, and why that can never come. Warps of a
CTA of which the same is to be said share a line.

A livelock is told from slow progress by its state: where a whole round of all batches changes no memory, and
registers and places are what they were before, nothing will ever change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np

from ptxkit.diagnostics import SpanLabel, counted
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import EmulatorFault, Site, fault, ranges, show
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.launch_state import LaunchState

LISTED = 32
"""Most lines about warps that a finding has."""
CAUSES = ({"P677", "P690"}, {"P622", "P640"}, {"P636"})
"""Which wait is the cause where warps wait for several things: counts that don't add up; then what no other
set names, mbarriers and tensor memory; then lanes of a warp; last barriers, where others wait for all
these."""


def deadlock(schedules: Sequence[LaneSchedule]) -> EmulatorFault:
    """The fault for batches none of whose lane sets can go on."""
    lines: list[Line] = []
    more: list[str] = []
    places: list[tuple[int, str, Site, tuple[str, str | None]]] = []
    told: set[str] = set()
    for schedule in schedules:
        batch = schedule.batch
        for entry in schedule.blocked:
            place = entry.lane_set.code.blocks[entry.lane_set.pc].sites[0]
            said, new = {}, set()
            for row, _ in _rows(batch, entry.lane_set):
                what = entry.sync_point.waits_for(entry.lane_set, row)
                new.add(what)
                if what in told:
                    what = what.partition(": ")[0]  # an mbarrier, whose state stands in a line before
                said[row] = f" at {place.where}: waits for {what}", f" at {place.where}: wait for {what}"
            told |= new
            lines += _lines(batch, entry.lane_set, said)
            code = entry.sync_point.code
            cause = getattr(entry.sync_point, "cause", None) if code == "P677" else None
            places.append((_rank(code), code, place, cause or ("", None)))
            more += [line for line in getattr(entry.sync_point, "story", ()) if line not in more]
    warps = len(_warps(lines))
    listed = [*_listed(lines), *more[:LISTED]]
    _, code, site, (cause, help) = min(places, key=lambda found: (found[0], not found[3][0]))
    spans = dict.fromkeys(place.span for _, _, place, _ in places if place.span not in (None, site.span))
    labels = [SpanLabel(span, "others wait here") for span in spans if span is not None]
    many = f"{warps} warps wait, and nothing can release them"
    message = many if warps > 1 else "1 warp waits, and nothing can release it"
    return fault(code, f"{cause}: {message}" if cause else message, site, listed, help, labels=labels)


def _rank(code: str) -> int:
    """How near to the cause a wait is; the least is the cause."""
    first, *others = CAUSES
    return 0 if code in first else next((2 + at for at, codes in enumerate(others) if code in codes), 1)


class Looping(Protocol):
    """A launch under way; see `ptxkit.emulator.execution.Execution`."""

    launch: LaunchState

    @property
    def resident(self) -> Sequence[LaneSchedule]:
        """Its batches that have begun and not ended."""


class Watch:
    """Looks for a state that comes again, over rounds that change nothing."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._changes = -1

    def stuck(self, launches: Sequence[Looping]) -> bool:
        """Whether the batches of some launches are where they were before, with nothing changed since."""
        changes = sum(one.launch.changes for one in launches)
        if changes != self._changes:
            self._changes = changes
            self._seen.clear()
        now = b"".join(state(one.launch, one.resident) for one in launches)
        if now in self._seen:
            return True
        self._seen.add(now)
        return False


def state(launch: LaunchState, schedules: Sequence[LaneSchedule]) -> bytes:
    """A digest of where the lane sets of some batches are and what their registers hold, in any order."""
    import hashlib

    clock = launch.clock + launch.counts.instructions if launch.program.reads_clock else 0
    parts = [str(clock).encode()]
    for number, schedule in enumerate(schedules):
        for lane_set in (*schedule.ready, *(entry.lane_set for entry in schedule.blocked)):
            digest = hashlib.blake2b(digest_size=16)
            digest.update(
                repr((number, lane_set.code.number, lane_set.pc, lane_set.trail, lane_set.passed)).encode()
            )
            for lanes in (lane_set.rows, lane_set.mask):
                digest.update(b"-" if lanes is None else lanes.tobytes())
            for slot in lane_set.code.blocks[lane_set.pc].live:
                digest.update(np.asarray(lane_set.regs[slot]).tobytes())
            parts.append(digest.digest())
    return hashlib.blake2b(b"".join(sorted(parts)), digest_size=16).digest()


def livelock(launches: Sequence[Looping]) -> EmulatorFault:
    """The fault for launches that loop without anything ever changing."""
    lines: list[Line] = []
    site = None
    for schedule in (schedule for one in launches for schedule in one.resident):
        batch = schedule.batch
        lane_sets = [(lane_set, lane_set.polled) for lane_set in schedule.ready]
        lane_sets += [(entry.lane_set, None) for entry in schedule.blocked]
        for lane_set, polled in lane_sets:
            place = lane_set.code.blocks[lane_set.pc].sites[0]
            if polled is not None:
                site = site or polled
                what = f"memory by `{polled.instruction.spelling}` at {polled.where}"
                said = f" polls {what}", f" poll {what}"
            else:
                said = f" is at {place.where}", f" are at {place.where}"
            lines += _lines(batch, lane_set, {row: said for row, _ in _rows(batch, lane_set)})
    warps = len(_warps(lines))
    listed = _listed(lines)
    held_back = sum(one.launch.grid.unstarted for one in launches)
    if held_back:
        many = f"{held_back} CTAs have not started: there is no room for them while these run"
        one = "1 CTA has not started: there is no room for it while these run"
        listed.append(many if held_back > 1 else one)
    many = f"{warps} warps loop, polling memory that will never change"
    message = many if warps > 1 else "1 warp loops, polling memory that will never change"
    return fault("P608", message, site, listed)


class Line(NamedTuple):
    """A line about warps, each a batch and a row in it; a warp whose lanes have parted has several."""

    warps: frozenset[tuple[int, int]]
    text: str


def _warps(lines: Sequence[Line]) -> frozenset[tuple[int, int]]:
    """The warps that lines are about, each once."""
    return frozenset().union(*(line.warps for line in lines))


def _listed(lines: Sequence[Line]) -> list[str]:
    """The lines that a finding has."""
    listed = [line.text for line in lines[:LISTED]]
    if left := _warps(lines[LISTED:]) - _warps(lines[:LISTED]):
        listed.append(f"and {counted(len(left), 'more warp')}")
    return listed


def _lines(batch: Ctas, lane_set: LaneSet, said: Mapping[int, tuple[str, str]]) -> list[Line]:
    """Lines about the warps of a set. `said`: by row, what is said of one warp, and of several."""
    lines = []
    rows, where = _rows(batch, lane_set), batch.launch.where
    for (cta, lanes, (one, many)), run in groupby(
        rows, lambda at: (at[0] // batch.warps_per_cta, at[1], said[at[0]])
    ):
        rows_of = [row for row, _ in run]
        warps = [row % batch.warps_per_cta for row in rows_of]
        several = len(warps) > 1
        who = f"warps {ranges(warps)}" if several else f"warp {warps[0]}"
        text = f"{who} of CTA {show(batch.cta_coordinates(cta))}{where}{lanes}{many if several else one}"
        lines.append(Line(frozenset((id(batch), row) for row in rows_of), text))
    return lines


def warps_in(lane_set: LaneSet) -> list[tuple[int, str]]:
    """The batch's rows in which a lane set waits, and how messages call them."""
    batch = lane_set.batch
    warps = batch.warps_per_cta
    return [
        (row, f"warp {row % warps} of CTA {show(batch.cta_coordinates(row // warps))}{lanes}")
        for row, lanes in _rows(batch, lane_set)
    ]


def _rows(batch: Ctas, lane_set: LaneSet) -> list[tuple[int, str]]:
    """The batch's rows in which a lane set is, and which lanes of each where it has not all that run."""
    found = []
    for at in range(lane_set.n):
        row = at if lane_set.rows is None else int(lane_set.rows[at])
        part = ""
        if lane_set.mask is not None:
            lanes = lane_set.mask[at] & batch.alive[row]
            if not lanes.any():
                continue
            if not np.array_equal(lanes, batch.alive[row]):
                part = f", lanes {int(np.packbits(lanes, bitorder='little').view(np.uint32)[0]):#010x}"
        found.append((row, part))
    return found
