"""`tcgen05.alloc` and `dealloc` as synchronisation points: warps wait for columns, or for the other CTA."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps, uniform
from ptxkit.emulator.clusters import ClusterBarrier
from ptxkit.emulator.faults import fault, label_at
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSchedule, LaneSet
from ptxkit.emulator.merge import hold
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_memory.allocation import (
    ColumnAllocation,
    ColumnPool,
    Holder,
    check_alloc,
    check_size,
    places,
    release,
)
from ptxkit.emulator.tensor_memory.cells import EVERY_LANE, Box
from ptxkit.emulator.tensor_memory.engine import ColumnRequest, Engine
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight


class TensorSyncPoint:
    """Lets a warp through when it has got what it asks for.

    Args:
        columns: how many it asks for, or gives back.
        cta_group: 1 or 2.
        exclusive: whether the allocation is the only one of its SM.
        guard: warps that it switches off pass.
    """

    code = "P6118"

    def __init__(self, instruction: ScopedInstruction, columns: SourceOperand, cta_group: int) -> None:
        self.site = instruction.site
        self.aligned = AlignedSyncPoint(instruction)
        self.columns = columns
        self.cta_group = cta_group
        self.exclusive = instruction["exclusive"] is not None
        self.guard = instruction.guard.reader if instruction.guard is not None else None

    def __call__(self, lane_set: LaneSet) -> LaneSet | None:
        admitted = self.aligned(lane_set)
        if admitted is None:
            return None
        lane_set = admitted
        guard = self.guard(lane_set) if self.guard is not None else None
        if guard is not None and guard.ndim == 0 and not guard:
            return lane_set
        check_whole_warps(lane_set, guard, self.site)
        lanes = executing(lane_set, guard)
        on = np.ones(lane_set.n, bool) if lanes is None else lanes.any(axis=1)
        wanted = self.operand(lane_set, guard, self.columns)
        engine = lane_set.batch.own(Engine)
        blocked = np.zeros(lane_set.n, bool)
        for at in np.flatnonzero(on).tolist():
            row = at if lane_set.rows is None else int(lane_set.rows[at])
            blocked[at] = not self.admit(engine, lane_set, guard, at, row, int(wanted[at]))
        for at in np.flatnonzero(blocked).tolist():
            # The other CTA of the pair may have come in this very lane set, behind the row.
            blocked[at] = not self.settled(engine, at if lane_set.rows is None else int(lane_set.rows[at]))
        return hold(lane_set, lane_set.full_mask() & blocked[:, None], self)

    def operand(self, lane_set: LaneSet, guard: Any, source: SourceOperand) -> np.ndarray:
        """An operand that the lanes of a warp must agree about, for each row of the set."""
        value = np.asarray(uniform(lane_set, guard, source, source.reader(lane_set), self.site))
        return np.broadcast_to(value.reshape(-1), (lane_set.n,))

    def admit(self, engine: Engine, lane_set: LaneSet, guard: Any, at: int, row: int, columns: int) -> bool:
        """Try to do what a row asks for."""
        raise NotImplementedError

    def settled(self, engine: Engine, row: int) -> bool:
        """Whether the other CTA of the pair has come, and what a waiting row asks for has been done."""
        raise NotImplementedError

    def meet(self, engine: Engine, request: ColumnRequest) -> ColumnRequest | None:
        """The request of the other CTA of the pair that goes with one, if it has come. Raises P6123, it asks
        for something else."""
        kind = type(self).__name__
        cta = request.row // engine.batch.warps_per_cta
        other = engine.requests.get((kind, cta ^ 1))
        if other is None:
            engine.requests[kind, cta] = request
            return None
        if (other.columns, other.address, other.exclusive) != (
            request.columns,
            request.address,
            request.exclusive,
        ):
            batch = engine.batch
            raise fault(
                "P6123",
                f"the CTAs of a pair disagree about `{self.site.instruction.spelling}`",
                self.site,
                (
                    f"{batch.thread(request.row, 0)}: {counted(request.columns, 'column')}",
                    f"{batch.thread(other.row, 0)}: {counted(other.columns, 'column')} at {other.site.where}",
                ),
                "both must allocate and free the same columns in the same order",
            )
        del engine.requests[kind, cta ^ 1]
        return other

    def reconsider(self, schedule: LaneSchedule) -> None:
        """Something has changed: try again."""
        schedule.retry(self)

    def waits_for(self, lane_set: LaneSet, row: int) -> str:
        """What a row of a waiting lane set waits for, and why it can't come."""
        batch = lane_set.batch
        engine = batch.own(Engine)
        cta = row // batch.warps_per_cta
        if self.cta_group == 2 and (type(self).__name__, cta) in engine.requests:
            return f"a warp of the other CTA of the pair, {batch.name_cta(cta ^ 1)}, to execute the same"
        pool = engine.pool(cta)
        wants = "columns of tensor memory"
        if pool.exclusive is not None or (self.exclusive and pool.taken.any()):
            alone = "an exclusive allocation" if pool.exclusive is not None else "some allocation"
            return f"{wants}: {alone} of its SM lives; {'; '.join(engine.holders[cta].notes())}"
        if pool.permit is not None and pool.permit is not engine.holders[cta]:
            return f"{wants}: {pool.permit.name} of the same SM has not relinquished its permit to allocate"
        return f"{wants}: {pool.free()} of its SM are free; {'; '.join(engine.holders[cta].notes())}"


class AllocationSyncPoint(TensorSyncPoint):
    """The synchronisation point of `tcgen05.alloc`."""

    def settled(self, engine: Engine, row: int) -> bool:
        """Whether a row has got its columns."""
        return row in engine.granted

    def admit(self, engine: Engine, lane_set: LaneSet, guard: Any, at: int, row: int, columns: int) -> bool:
        """Allocate, if there is room and the CTA may."""
        if self.settled(engine, row):
            return True
        batch = engine.batch
        cta = row // batch.warps_per_cta
        who = str(batch.thread(row, 0))
        engine.check_group(cta, self.cta_group, self.site, who)
        request = ColumnRequest(row, columns, 0, self.exclusive, self.site)
        requests = [request]
        check_size(columns, engine.columns, self.exclusive, self.site, who)
        check_alloc(engine.holders[cta], columns, self.site, who)
        if self.cta_group == 2:
            other = self.meet(engine, request)
            if other is None:
                return False
            requests.append(other)
        ctas = [one.row // batch.warps_per_cta for one in requests]
        pools = [engine.pool(one) for one in ctas]
        found = places(pools, columns, self.exclusive)
        late = [pool for one, pool in zip(ctas, pools, strict=True) if not pool.may(engine.holders[one])]
        if late or not len(found):
            if late and len(found):
                self._warn(engine, cta, late[0], who)
            for one in requests[1:]:
                engine.requests[type(self).__name__, one.row // batch.warps_per_cta] = one
            return False
        # DeepGEMM counts on column 0, which the manual does not promise.
        random = batch.launch.random if batch.launch.strict else None
        first = int(found[0] if random is None else random.choice(found))
        for one, holding, pool in zip(requests, ctas, pools, strict=True):
            self._grant(engine, engine.holders[holding], holding, pool, first, one)
        if len(requests) > 1:
            batch.scheduling.reconsider()
        return True

    def _grant(
        self, engine: Engine, holder: Holder, cta: int, pool: ColumnPool, first: int, request: ColumnRequest
    ) -> None:
        columns = request.columns
        batch = engine.batch
        who = str(batch.thread(request.row, 0))
        arrivals = int(batch.own(ClusterBarrier).arrivals[request.row].max())
        number = batch.launch.events.take(request.site)
        made = ColumnAllocation(
            first, columns, self.cta_group, self.exclusive, request.site, who, request.row, number, arrivals
        )
        pool.taken[first : made.end] = True
        pool.permit = holder
        pool.exclusive = holder if self.exclusive else None
        holder.held.append(made)
        holder.least = made
        if engine.batch.trace is not None:
            engine.batch.trace.allocated(cta, first, columns, self.cta_group, request.site)
        engine.memory.forget(cta, slice(first, made.end))
        engine.granted[request.row] = first
        counts = engine.batch.launch.counts
        counts.tensor_columns = max(counts.tensor_columns, sum(one.columns for one in holder.held))

    def _warn(self, engine: Engine, cta: int, pool: ColumnPool, who: str) -> None:
        assert pool.permit is not None
        engine.batch.launch.warn(
            "P6119",
            f"{engine.holders[cta].name} waits for tensor memory that is free",
            self.site,
            (who, f"{pool.permit.name} of the same SM has not executed `tcgen05.relinquish_alloc_permit`"),
        )


class DeallocationSyncPoint(TensorSyncPoint):
    """The synchronisation point of `tcgen05.dealloc`. `address`: the operand with the TMEM address."""

    def __init__(
        self, instruction: ScopedInstruction, address: SourceOperand, columns: SourceOperand, cta_group: int
    ) -> None:
        super().__init__(instruction, columns, cta_group)
        self.address = address

    def settled(self, engine: Engine, row: int) -> bool:
        """Whether the other CTA's warp has freed a row's columns, too; it is told of that once."""
        if row not in engine.freed:
            return False
        engine.freed.remove(row)
        return True

    def admit(self, engine: Engine, lane_set: LaneSet, guard: Any, at: int, row: int, columns: int) -> bool:
        """Free, if the other CTA of a pair does, too."""
        if self.settled(engine, row):
            return True
        batch = engine.batch
        who = str(batch.thread(row, 0))
        engine.check_group(row // batch.warps_per_cta, self.cta_group, self.site, who)
        check_size(columns, engine.columns, self.exclusive, self.site, who)
        address = int(self.operand(lane_set, guard, self.address)[at])
        request = ColumnRequest(row, columns, address, self.exclusive, self.site)
        requests = [request]
        if self.cta_group == 2:
            self._check_peer(engine, request, who)
            waiting = engine.requests.get((type(self).__name__, row // batch.warps_per_cta))
            if waiting is not None and waiting.row == row:
                return False
            other = self.meet(engine, request)
            if other is None:
                self._check(engine, request)
                return False
            requests.append(other)
        self._check(engine, request)
        for one in requests:
            self._free(engine, one)
        for one in requests[1:]:
            engine.freed.add(one.row)
        if len(requests) > 1:
            batch.scheduling.reconsider()
        return True

    def _check_peer(self, engine: Engine, request: ColumnRequest, who: str) -> None:
        """The other CTA must be known to have its columns: an allocation need not wait for the other CTA.
        Raises P6132."""
        batch = engine.batch
        peer = engine.holders[request.row // batch.warps_per_cta ^ 1]
        first = request.address & 0xFFFF
        made = next((one for one in peer.held if (one.first, one.cta_group) == (first, 2)), None)
        if (
            made is None
            or not batch.launch.sanitize
            or engine.in_flight.covers(request.row, made.row, made.number)
        ):
            return
        if batch.own(ClusterBarrier).waits[request.row].max() > made.arrivals:
            return  # A relaxed cluster barrier orders no memory, but it does come later.
        raise fault(
            "P6132",
            f"`{self.site.instruction.spelling}` may come before {peer.name} has "
            f"executed its `{made.site.instruction.spelling}`",
            self.site,
            (
                f"{who} frees {counted(request.columns, 'column')} here",
                f"{made.thread} allocates them at {made.site.where}, and nothing orders that before",
                "`tcgen05.alloc.cta_group::2` may return before the other CTA has come to its own",
            ),
            "let the CTAs meet between `tcgen05.alloc` and `tcgen05.dealloc`, say at a cluster barrier",
            label_at(made.site, "the other CTA's allocation"),
        )

    def _check(self, engine: Engine, request: ColumnRequest) -> None:
        """Nobody may be using the columns any more."""
        first = request.address & 0xFFFF
        box = Box(EVERY_LANE, first, first + request.columns)
        ctas = (request.row // engine.batch.warps_per_cta,)
        engine.at_once(Tcgen05InFlight("dealloc", request.site, request.row, 0, 0, ctas, (), (box,)))

    def _free(self, engine: Engine, request: ColumnRequest) -> None:
        cta = request.row // engine.batch.warps_per_cta
        who = str(engine.batch.thread(request.row, 0))
        first = request.address & 0xFFFF
        gone = release(
            engine.holders[cta], first, request.columns, self.cta_group, self.exclusive, request.site, who
        )
        if engine.batch.trace is not None:
            engine.batch.trace.freed(cta, first)
        pool = engine.pool(cta)
        pool.taken[first : gone.end] = False
        if gone.exclusive:
            pool.exclusive = pool.permit = None
        engine.in_flight.freed(cta, first, gone.end)
        pool.wake()
