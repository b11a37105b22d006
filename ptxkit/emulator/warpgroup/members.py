"""The warpgroups that execute a `wgmma` instruction: their registers and sync points. PTX ISA 9.7.15.1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.aligned import check_whole_warps
from ptxkit.emulator.ctas import Ctas
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.matrices import Fragment
from ptxkit.emulator.merge import hold, join
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP

WARPS = 4
THREADS = WARPS * WARP


def gathered(fragment: Fragment, values: Sequence[Any], rows: np.ndarray | None, n: int) -> np.ndarray:
    """A matrix (first, second, warpgroups) out of registers.

    Args:
        fragment: of 128 threads.
        values: the registers, of shapes that broadcast to (n, 32).
        rows: int64 (warpgroups, 4), the rows of a set that the warpgroups are; None for all, in order.
        n: rows of the set.
    """
    count = n // WARPS if rows is None else len(rows)
    return fragment.gather([per_thread(value, rows, n) for value in values], count)


def per_thread(value: Any, rows: np.ndarray | None, n: int) -> Any:
    """A register as (warpgroups, 128), or as the scalar that it is."""
    if np.ndim(value) == 0:
        return value
    whole = np.broadcast_to(value, (n, WARP))
    if rows is not None:
        whole = whole[rows]
    return whole.reshape(-1, THREADS)


def scattered(fragment: Fragment, matrix: np.ndarray) -> list[np.ndarray]:
    """The registers that hold a matrix, (rows of the warpgroups, 32) each."""
    return [register.reshape(-1, WARP) for register in fragment.scatter(matrix)]


def scattered_from(fragment: Fragment, matrices: np.ndarray, which: np.ndarray) -> Iterator[np.ndarray]:
    """The registers, (rows of the warpgroups, 32) each, that hold some of the matrices (.., M, N)."""
    for register in fragment.scatter_from(matrices, which):
        yield register.reshape(-1, WARP)


class WarpgroupSyncPoint:
    """Lets warps through when all lanes of their warpgroup that are alive have come. `guard`: its guard.
    Lanes that it switches off pass."""

    code = "P637"

    def __init__(self, site: Site, guard: SourceOperand | None) -> None:
        self.site = site
        self.guard = guard.reader if guard is not None else None

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        if self.guard is None and (lane_set.size == lane_set.batch.living or _of_whole_warpgroups(lane_set)):
            return lane_set
        if lane_set.schedule.blocked:
            lane_set = join(lane_set, self)
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0 and not guard:
            return lane_set
        present = executing(lane_set, guard)
        present = lane_set.full_mask() if present is None else present
        return hold(lane_set, present & self._lacking(lane_set, present)[:, None], self)

    def _lacking(self, lane_set: LaneSet, present: np.ndarray) -> np.ndarray:
        """Whether lanes of its warpgroup are missing, for each of the set's rows."""
        batch = lane_set.batch
        rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        missing: np.ndarray = np.array(batch.alive.any(axis=1))
        missing[rows] = (batch.alive[rows] & ~present).any(axis=1)
        found: np.ndarray = by_warpgroup(batch, missing)[warpgroup_of(batch, rows)]
        return found

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited: whoever waited for them tries again."""
        schedule.retry(self)

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        batch = lane_set.batch
        first = row // batch.warps_per_cta * batch.warps_per_cta + row % batch.warps_per_cta // WARPS * WARPS
        rows = range(first, min(first + WARPS, (row // batch.warps_per_cta + 1) * batch.warps_per_cta))
        lanes = lane_set.in_batch()
        missing = [r % batch.warps_per_cta for r in rows if (batch.alive[r] & ~lanes[r]).any()]
        named = ", ".join(str(warp) for warp in missing)
        return (
            f"the other warps of its warpgroup at `{self.site.instruction.spelling}`: "
            f"{'warp' if len(missing) == 1 else 'warps'} {named} of the CTA, elsewhere"
        )


def _of_whole_warpgroups(lane_set: LaneSet) -> bool:
    """Whether the lane set has nothing but whole warpgroups with all their lanes."""
    if lane_set.mask is not None or lane_set.batch.warps_per_cta % WARPS:
        return False
    rows = lane_set.rows
    if rows is None:
        return True
    if len(rows) % WARPS:
        return False
    by_four = rows.reshape(-1, WARPS)
    return bool((by_four[:, 0] % WARPS == 0).all() and (by_four[:, 3] - by_four[:, 0] == WARPS - 1).all())


def count_of(batch: Ctas) -> int:
    """How many warpgroups a batch has; the last of a CTA may lack warps."""
    return len(batch.ctas) * -(-batch.warps_per_cta // WARPS)


def warpgroup_of(batch: Ctas, rows: np.ndarray) -> np.ndarray:
    """The number of the warpgroup of each row."""
    cta, warp = np.divmod(rows, batch.warps_per_cta)
    number: np.ndarray = cta * -(-batch.warps_per_cta // WARPS) + warp // WARPS
    return number


def by_warpgroup(batch: Ctas, rows: np.ndarray) -> np.ndarray:
    """Whether any row of each warpgroup is set, from bool (rows,)."""
    found = np.zeros(count_of(batch), bool)
    np.logical_or.at(found, warpgroup_of(batch, np.arange(batch.rows)), rows)
    return found


DIVERGED = "P637"


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The warpgroups of a set that execute an instruction.

    Attributes:
        which: their numbers in the batch.
        rows: int64 (warpgroups, 4), the set's rows that they are; None for all of them, in order.
    """

    which: np.ndarray
    rows: np.ndarray | None

    @classmethod
    def of(cls, lane_set: LaneSet, guard: Any, site: Site) -> Members:
        """The warpgroups whose lanes a guard holds for. Raises P637, a warpgroup is not whole; P640, P641, a
        warp is not."""
        batch = lane_set.batch
        check_whole_warps(lane_set, guard, site)
        lanes = executing(lane_set, guard)
        at = np.arange(lane_set.n) if lanes is None else np.flatnonzero(lanes[:, 0])
        rows = at if lane_set.rows is None else lane_set.rows[at]
        which = warpgroup_of(batch, rows)
        numbers, counts = np.unique(which, return_counts=True)
        if (counts != WARPS).any():
            short = int(np.argmax(counts != WARPS))
            row = int(rows[np.argmax(which == numbers[short])])
            raise fault(
                DIVERGED,
                f"`{site.instruction.spelling}` needs all four warps of the warpgroup",
                site,
                (f"{batch.thread(row, 0)} executes it with {counted(int(counts[short]), 'warp')}",),
                "launch whole warpgroups of 128 threads, and keep their warps together; PTX ISA 9.7.15.1",
            )
        return cls(numbers, None if len(at) == lane_set.n else at.reshape(-1, WARPS))
