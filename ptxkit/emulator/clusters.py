"""The barrier of a cluster: who has arrived, who waits. PTX ISA 9.7.13.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault, ranges
from ptxkit.emulator.happens_before import HappensBefore
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.values import WARP


class ClusterBarrier:
    """The barriers of all clusters of a batch.

    Attributes:
        arrivals, waits: int64 (rows, 32), how often each thread has arrived and waited.
        complete: int64 (clusters,), how many generations are complete.
    """

    code = "P636"

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.arrivals = np.zeros((batch.rows, WARP), np.int64)
        self.waits = np.zeros((batch.rows, WARP), np.int64)
        self.clusters = len(batch.ctas) // batch.cluster
        self.complete = np.zeros(self.clusters, np.int64)
        happens_before: HappensBefore = batch.happens_before
        self.gathered = happens_before.releases(self.clusters)
        self.published = happens_before.releases(self.clusters)

    def of_rows(self, rows: Any) -> Any:
        """The cluster of each row."""
        return rows // (self.batch.warps_per_cta * self.batch.cluster)

    def settle(self, schedule: LaneSchedule) -> None:
        """Complete the generations that everybody who lives has arrived at."""
        alive = self.batch.alive.reshape(self.clusters, -1)
        arrived = self.arrivals.reshape(self.clusters, -1)
        missing = alive & (arrived <= self.complete[:, None])
        begun = (arrived > self.complete[:, None]).any(axis=1)
        done = begun & ~missing.any(axis=1)
        if not done.any():
            return
        self.complete[done] += 1
        self.published.copy_from(self.gathered, done)
        self.batch.launch.counts.barriers += int(np.count_nonzero(done))
        schedule.retry(self)

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Lanes have exited: the others may have been waiting for them alone."""
        self.settle(schedule)

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for."""
        batch, cluster = self.batch, int(self.of_rows(row))
        size = batch.warps_per_cta * batch.cluster
        rows = slice(cluster * size, (cluster + 1) * size)
        late = (batch.alive[rows] & (self.arrivals[rows] <= self.complete[cluster])).any(axis=1)
        names = []
        for rank, warps in enumerate(late.reshape(batch.cluster, batch.warps_per_cta)):
            if warps.any():
                many = "warps" if warps.sum() > 1 else "warp"
                names.append(f"{many} {ranges(np.flatnonzero(warps).tolist())} of rank {rank}")
        have = "have" if late.sum() > 1 else "has"
        return f"the cluster barrier; {', '.join(names)} {have} not arrived"


class ClusterArrival:
    """`barrier.cluster.arrive`. `relaxed`: whether it publishes nothing."""

    def __init__(self, site: Site, relaxed: bool) -> None:
        self.site = site
        self.relaxed = relaxed

    def step(self, lane_set: LaneSet, guard: Any) -> None:
        """Arrive. Raises P692, a thread arrives twice without having waited."""
        batch = lane_set.batch
        barrier = batch.own(ClusterBarrier)
        lanes = executing(lane_set, guard)
        every = np.ones((lane_set.n, WARP), bool) if lanes is None else lanes
        if not every.any():
            return
        on = np.zeros((batch.rows, WARP), bool)
        on[slice(None) if lane_set.rows is None else lane_set.rows] = every
        twice = on & (barrier.arrivals > barrier.waits)
        if twice.any():
            row, lane = divmod(int(np.argmax(twice)), WARP)
            raise fault(
                "P692",
                "a thread arrives at the cluster barrier again before it has waited",
                self.site,
                (str(batch.thread(row, lane)),),
                "each `barrier.cluster.arrive` needs its `barrier.cluster.wait`",
            )
        barrier.arrivals[on] += 1
        rows = np.flatnonzero(on.any(axis=1))
        happens_before = batch.happens_before
        number = batch.launch.events.take(self.site)
        covered = happens_before.fenced[rows] if self.relaxed else np.full(len(rows), number)
        if self.relaxed:
            happens_before.cluster_arrivals.append((number, rows, barrier.arrivals[rows].max(axis=1)))
        locals_ = happens_before.completed.shape[2]
        barrier.gathered = barrier.gathered.grown(barrier.clusters, locals_)
        barrier.published = barrier.published.grown(barrier.clusters, locals_)
        happens_before.gather(barrier.gathered, rows, barrier.of_rows(rows), covered)
        barrier.settle(lane_set.schedule)


class ClusterWait:
    """The synchronisation point of `barrier.cluster.wait`."""

    def __init__(self, site: Site, guard: SourceOperand | None) -> None:
        self.site = site
        self.guard = guard.reader if guard is not None else None

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        batch = lane_set.batch
        barrier = batch.own(ClusterBarrier)
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0:
            if not guard:
                return lane_set
            guard = None
        lanes = executing(lane_set, guard)
        every = np.ones((lane_set.n, WARP), bool) if lanes is None else lanes
        if not every.any():
            return lane_set
        rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        arrivals, waits = barrier.arrivals[rows], barrier.waits[rows]
        early = every & (arrivals == waits)
        if early.any():
            row, lane = divmod(int(np.argmax(early)), WARP)
            raise fault(
                "P693",
                "a thread waits at the cluster barrier without having arrived",
                self.site,
                (str(lane_set.thread(row, lane)),),
                "put `barrier.cluster.arrive` before it",
            )
        held = every & (barrier.complete[barrier.of_rows(rows)][:, None] < arrivals)
        going = every & ~held
        if going.any():
            barrier.waits[rows] += going
            some = rows[going.any(axis=1)]
            batch.happens_before.take(barrier.published, some, barrier.of_rows(some))
            batch.happens_before.apart.meet(some)
            batch.happens_before.met[some] = True
            batch.happens_before.cluster_waits[some] = barrier.waits[some].max(axis=1)
        return hold(lane_set, held, barrier)
