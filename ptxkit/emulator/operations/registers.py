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
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group

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

    def __call__(self, group: Group) -> Group | None:
        admitted = self.together(group)
        if admitted is None or not self.grows or not admitted.gang.registers.any():
            return admitted
        rows = self._rows(admitted)
        gang = admitted.gang
        held = gang.registers.reshape(-1, gang.warps)
        pool = gang.register_pool
        after = held.sum(axis=1)
        np.add.at(after, rows // gang.warps, self.wanted - gang.registers[rows])
        short = after > pool
        waits = np.zeros(gang.rows, bool)
        waits[rows] = short[rows // gang.warps]
        if not waits.any():
            return admitted
        own = waits if admitted.rows is None else waits[admitted.rows]
        mask = admitted.full_mask() & own[:, None]
        count = int(np.count_nonzero(mask))
        if count == admitted.lanes:
            gang.add_blocked(admitted, self)
            return None
        gang.add_blocked(admitted.part(mask, count, admitted.pc), self)
        return admitted.part(admitted.full_mask() & ~mask, admitted.lanes - count, admitted.pc)

    def reconsider(self, gang: Gang) -> None:
        """Lanes have exited, which gives no registers back."""

    @staticmethod
    def _rows(group: Group) -> np.ndarray:
        return group.occupied()[0]

    def step(self, group: Group, guard: Any) -> None:
        """Change the count.

        Raises:
            EmulatorFault: P697, it would not grow, or not shrink.
        """
        gang = group.gang
        if not gang.registers.any():
            return
        lanes = executing(group, guard)
        rows = np.arange(gang.rows) if group.rows is None else group.rows
        rows = rows if lanes is None else rows[lanes.any(axis=1)]
        now = gang.registers[rows]
        wrong = now > self.wanted if self.grows else now < self.wanted
        if wrong.any():
            row, found = int(rows[int(np.argmax(wrong))]), int(now[int(np.argmax(wrong))])
            raise self._direction(gang, row, found, self.site)
        self._check_synchronised(gang, rows)
        gang.registers[rows] = self.wanted
        gang.counted_by = self.site
        if not self.grows:
            for sync_point in {
                id(e.sync_point): e.sync_point
                for e in gang.waiting
                if isinstance(e.sync_point, RegisterSyncPoint)
            }.values():
                gang.ready += gang.take_blocked(sync_point)

    def _check_synchronised(self, gang: Gang, rows: np.ndarray) -> None:
        """The warps of a warpgroup must have met since their last `setmaxnreg`."""
        last, times = gang.counted_at, gang.counted
        for row in rows.tolist():
            first = row - row % gang.warps % WARPGROUP
            others = np.arange(first, min(first + WARPGROUP, (row // gang.warps + 1) * gang.warps))
            others = others[(times[others] == times[row]) & (times[row] > 0)]
            unmet = ~gang.happens_before.knows(np.full(len(others), row), others, last[others])
            if unmet.any():
                raise fault(
                    "P667",
                    "SETMAXNREG-NO-SYNC: the warps of a warpgroup have not met since their last `setmaxnreg`",
                    self.site,
                    (
                        f"{gang.thread(row, 0)} executes it here",
                        f"nothing orders that of {gang.thread(int(others[np.argmax(unmet)]), 0)} before",
                    ),
                    "put a barrier that all four warps pass between the two: `bar.sync` or `barrier.sync`",
                )
        gang.counted_at[rows] = gang.launch.events.take(self.site)
        gang.counted[rows] += 1

    def _direction(self, gang: Gang, row: int, found: int, site: Site) -> Exception:
        verb = "grow" if self.grows else "shrink"
        bound = "at least" if self.grows else "at most"
        return fault(
            "P697",
            f"SETMAXNREG-DIRECTION: registers would not {verb}: expected "
            f"{bound} {found}, found {self.wanted}",
            site,
            (str(gang.thread(row, 0)),),
            "`.inc` must not ask for less than a warp has, `.dec` not for more",
        )

    def waits_for(self, gang: Gang, group: Group, row: int) -> str:
        """What a row of a waiting group waits for."""
        cta = row // gang.warps
        held = int(gang.registers.reshape(-1, gang.warps)[cta].sum())
        need = self.wanted - int(gang.registers[row])
        return (
            f"{need * WARP} registers more; the CTA has {gang.register_pool * WARP}, of which its warps hold "
            f"{held * WARP}"
        )
