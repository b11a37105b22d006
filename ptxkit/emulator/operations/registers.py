"""`setmaxnreg`: warpgroups hand registers to one another. PTX ISA 9.7.19.5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.aligned import AlignedSyncPoint
from ptxkit.emulator.asynchronous.registers import WARPGROUP
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.cta_batch import CtaBatch
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.lane_set import LaneSet

effect = Effects("miscellaneous")


@effect("setmaxnreg.inc")
def increase(form: Form) -> Effect:
    """`setmaxnreg.inc.sync.aligned.u32 imm-reg-count`; without `.maxnreg` nothing is known to check."""
    return setmaxnreg(form, grows=True)


@effect("setmaxnreg.dec")
def decrease(form: Form) -> Effect:
    """`setmaxnreg.dec.sync.aligned.u32 imm-reg-count`."""
    return setmaxnreg(form, grows=False)


def setmaxnreg(form: Form, grows: bool) -> Effect:
    """More registers, or fewer."""
    wanted = form.constant("imm_reg_count")
    assert wanted is not None
    sync_point = RegisterSyncPoint(form, wanted, grows)
    return Effect(sync_point.step, sync_point)


class RegisterSyncPoint:
    """Lets warps that ask for more registers through once their CTA has them to spare."""

    code = "P696"

    def __init__(self, form: Form, wanted: int, grows: bool) -> None:
        self.site = form.site
        self.together = AlignedSyncPoint(form)
        self.wanted, self.grows = wanted, grows

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        admitted = self.together(lane_set)
        if admitted is None or not self.grows or not admitted.batch.registers.any():
            return admitted
        rows = self._rows(admitted)
        batch = admitted.batch
        held = batch.registers.reshape(-1, batch.warps)
        pool = batch.register_pool
        after = held.sum(axis=1)
        np.add.at(after, rows // batch.warps, self.wanted - batch.registers[rows])
        short = after > pool
        waits = np.zeros(batch.rows, bool)
        waits[rows] = short[rows // batch.warps]
        if not waits.any():
            return admitted
        own = waits if admitted.rows is None else waits[admitted.rows]
        mask = admitted.full_mask() & own[:, None]
        count = int(np.count_nonzero(mask))
        if count == admitted.size:
            batch.add_blocked(admitted, self)
            return None
        batch.add_blocked(admitted.part(mask, count, admitted.pc), self)
        return admitted.part(admitted.full_mask() & ~mask, admitted.size - count, admitted.pc)

    def reconsider(self, batch: CtaBatch) -> None:
        """Lanes have exited, which gives no registers back."""

    @staticmethod
    def _rows(lane_set: LaneSet) -> np.ndarray:
        return lane_set.occupied()[0]

    def step(self, lane_set: LaneSet, guard: Any) -> None:
        """Change the count.

        Raises:
            EmulatorFault: P697, it would not grow, or not shrink.
        """
        batch = lane_set.batch
        if not batch.registers.any():
            return
        lanes = executing(lane_set, guard)
        rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        rows = rows if lanes is None else rows[lanes.any(axis=1)]
        now = batch.registers[rows]
        wrong = now > self.wanted if self.grows else now < self.wanted
        if wrong.any():
            row, found = int(rows[int(np.argmax(wrong))]), int(now[int(np.argmax(wrong))])
            raise self._direction(batch, row, found, self.site)
        self._check_synchronised(batch, rows)
        batch.registers[rows] = self.wanted
        batch.counted_by = self.site
        if not self.grows:
            for sync_point in {
                id(e.sync_point): e.sync_point
                for e in batch.waiting
                if isinstance(e.sync_point, RegisterSyncPoint)
            }.values():
                batch.ready += batch.take_blocked(sync_point)

    def _check_synchronised(self, batch: CtaBatch, rows: np.ndarray) -> None:
        """The warps of a warpgroup must have met since their last `setmaxnreg`."""
        last, times = batch.counted_at, batch.counted
        for row in rows.tolist():
            first = row - row % batch.warps % WARPGROUP
            others = np.arange(first, min(first + WARPGROUP, (row // batch.warps + 1) * batch.warps))
            others = others[(times[others] == times[row]) & (times[row] > 0)]
            unmet = ~batch.happens_before.knows(np.full(len(others), row), others, last[others])
            if unmet.any():
                raise fault(
                    "P667",
                    "SETMAXNREG-NO-SYNC: the warps of a warpgroup have not met since their last `setmaxnreg`",
                    self.site,
                    (
                        f"{batch.thread(row, 0)} executes it here",
                        f"nothing orders that of {batch.thread(int(others[np.argmax(unmet)]), 0)} before",
                    ),
                    "put a barrier that all four warps pass between the two: `bar.sync` or `barrier.sync`",
                )
        batch.counted_at[rows] = batch.launch.events.take(self.site)
        batch.counted[rows] += 1

    def _direction(self, batch: CtaBatch, row: int, found: int, site: Site) -> Exception:
        verb = "grow" if self.grows else "shrink"
        bound = "at least" if self.grows else "at most"
        return fault(
            "P697",
            f"SETMAXNREG-DIRECTION: registers would not {verb}: expected "
            f"{bound} {found}, found {self.wanted}",
            site,
            (str(batch.thread(row, 0)),),
            "`.inc` must not ask for less than a warp has, `.dec` not for more",
        )

    def waits_for(self, batch: CtaBatch, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        cta = row // batch.warps
        held = int(batch.registers.reshape(-1, batch.warps)[cta].sum())
        need = self.wanted - int(batch.registers[row])
        return (
            f"{need * WARP} registers more; the CTA has {batch.register_pool * WARP}, "
            f"of which its warps hold {held * WARP}"
        )
