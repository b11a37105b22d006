"""`setmaxnreg`: warpgroups hand registers to one another. PTX ISA 9.7.19.5."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.aligned import AlignedSyncPoint
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold
from ptxkit.emulator.sync_points import executing_rows
from ptxkit.emulator.values import WARP, distinct

WARPGROUP = 4
"""Warps of a warpgroup."""


class WarpRegisters:
    """How many registers the warps of a batch have.

    Attributes:
        each: int64 (rows,), registers of each thread of a warp; 0 where the kernel does not say.
        pool: the same added up over the warps of a CTA when it starts.
        changed_by: the last `setmaxnreg`; None before the first.
        changes, changed_at: int64 (rows,), how often each warp has executed one, and the last time's event.
    """

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.each = np.full(batch.rows, batch.launch.program.registers)
        self.pool = batch.launch.program.registers * batch.warps_per_cta
        self.changed_by: Site | None = None
        self.changes = np.zeros(batch.rows, np.int64)
        self.changed_at = np.zeros(batch.rows, np.int64)
        batch.at_exit.insert(0, self.check)

    def check(self, rows: np.ndarray) -> None:
        """Warps of a warpgroup that has exited must have executed the same `setmaxnreg`. `rows`: some that
        have exited. Raises P609, they have not."""
        batch = self.batch
        for first in distinct(rows - rows % batch.warps_per_cta % WARPGROUP).tolist():
            behind = min(first + WARPGROUP, (first // batch.warps_per_cta + 1) * batch.warps_per_cta)
            counts = self.each[first:behind]
            if (counts != counts[0]).any() and not batch.alive[first:behind].any():
                batch.launch.report(
                    "P609",
                    "warps of a warpgroup did not all execute the same `setmaxnreg`",
                    self.changed_by,
                    (f"{batch.thread(first, 0)} and on: {counts.tolist()} registers, warp by warp",),
                    "let all four warps of a warpgroup execute it",
                )


effect = Effects("miscellaneous")


def setmaxnreg(instruction: ScopedInstruction, grows: bool) -> Effect:
    """`setmaxnreg.{inc,dec}.sync.aligned.u32 imm-reg-count`; without `.maxnreg` nothing is known to check."""
    wanted = instruction.constant("imm_reg_count")
    assert wanted is not None
    sync_point = RegisterSyncPoint(instruction, wanted, grows)
    return Effect(sync_point.step, sync_point)


effect("setmaxnreg.inc")(partial(setmaxnreg, grows=True))
effect("setmaxnreg.dec")(partial(setmaxnreg, grows=False))


class RegisterSyncPoint:
    """Lets warps that ask for more registers through once their CTA has them to spare."""

    code = "P696"

    def __init__(self, instruction: ScopedInstruction, wanted: int, grows: bool) -> None:
        self.site = instruction.site
        self.together = AlignedSyncPoint(instruction)
        self.wanted, self.grows = wanted, grows

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        admitted = self.together(lane_set)
        if admitted is None or not self.grows:
            return admitted
        batch = admitted.batch
        registers = batch.own(WarpRegisters)
        if not registers.each.any():
            return admitted
        rows = admitted.occupied_rows()
        after = registers.each.reshape(-1, batch.warps_per_cta).sum(axis=1)
        np.add.at(after, rows // batch.warps_per_cta, self.wanted - registers.each[rows])
        short = after > registers.pool
        waits = np.zeros(batch.rows, bool)
        waits[rows] = short[rows // batch.warps_per_cta]
        if not waits.any():
            return admitted
        own = waits if admitted.rows is None else waits[admitted.rows]
        return hold(admitted, admitted.full_mask() & own[:, None], self)

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited, which gives no registers back."""

    def step(self, lane_set: LaneSet, guard: Any) -> None:
        """Change the count. Raises P697, it would not grow, or not shrink."""
        batch, schedule = lane_set.batch, lane_set.schedule
        registers = batch.own(WarpRegisters)
        if not registers.each.any():
            return
        rows = executing_rows(lane_set, guard)
        now = registers.each[rows]
        wrong = now > self.wanted if self.grows else now < self.wanted
        if wrong.any():
            row, found = int(rows[int(np.argmax(wrong))]), int(now[int(np.argmax(wrong))])
            raise self._direction(batch, row, found, self.site)
        self._check_synchronised(registers, rows)
        registers.each[rows] = self.wanted
        registers.changed_by = self.site
        if not self.grows:
            for sync_point in {
                id(e.sync_point): e.sync_point
                for e in schedule.blocked
                if isinstance(e.sync_point, RegisterSyncPoint)
            }.values():
                schedule.retry(sync_point)

    def _check_synchronised(self, registers: WarpRegisters, rows: np.ndarray) -> None:
        """The warps of a warpgroup must have met since their last `setmaxnreg`; Triton's kernels do not."""
        batch, last, times = registers.batch, registers.changed_at, registers.changes
        for row in rows.tolist():
            first = row - row % batch.warps_per_cta % WARPGROUP
            others = np.arange(
                first, min(first + WARPGROUP, (row // batch.warps_per_cta + 1) * batch.warps_per_cta)
            )
            others = others[(times[others] == times[row]) & (times[row] > 0)]
            unmet = ~batch.happens_before.covers(np.full(len(others), row), others, last[others])
            if unmet.any():
                batch.launch.formally_wrong(
                    "P667",
                    "the warps of a warpgroup have not met since their last `setmaxnreg`",
                    self.site,
                    (
                        f"{batch.thread(row, 0)} executes it here",
                        f"nothing orders that of {batch.thread(int(others[np.argmax(unmet)]), 0)} before",
                    ),
                    "put a barrier that all four warps pass between the two: `bar.sync` or `barrier.sync`",
                )
        last[rows] = batch.launch.events.take(self.site)
        times[rows] += 1

    def _direction(self, batch: CtaBatch, row: int, found: int, site: Site) -> Exception:
        verb = "grow" if self.grows else "shrink"
        bound = "at least" if self.grows else "at most"
        return fault(
            "P697",
            f"registers would not {verb}: expected {bound} {found}, found {self.wanted}",
            site,
            (str(batch.thread(row, 0)),),
            "`.inc` must not ask for less than a warp has, `.dec` not for more",
        )

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        registers, warps = lane_set.batch.own(WarpRegisters), lane_set.batch.warps_per_cta
        held = int(registers.each.reshape(-1, warps)[row // warps].sum())
        need = self.wanted - int(registers.each[row])
        return (
            f"{need * WARP} registers more; the CTA has {registers.pool * WARP}, "
            f"of which its warps hold {held * WARP}"
        )
