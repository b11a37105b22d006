"""Products of `wgmma` in flight: their groups, their accumulators, and the registers that they hold.

While products on an accumulator are in flight its value lives here; the registers get it when a wait has
covered the last of them. PTX ISA 9.7.15.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.asynchronous.reports import Earlier
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault, label_at
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.matrices import MatrixTarget
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.program import loads_of_products
from ptxkit.emulator.sync_points import executing_rows
from ptxkit.emulator.values import distinct
from ptxkit.emulator.warpgroup.accumulators import Accumulator
from ptxkit.emulator.warpgroup.members import THREADS, WARPS, Members, count_of, warpgroup_of
from ptxkit.isa.modifiers import Shape

REG_RACE, NO_FENCE, SHAPE_CHANGE, NO_COMMIT, WAIT_SHALLOW = "P646", "P647", "P648", "P649", "P629"


TAKEN = "these are of matrix A; ptxas gives them to other values while the product is in flight"
INJECTED = "it comes straight behind the product; ptxas puts a wait of its own between them"


@dataclass(slots=True, eq=False)
class WgmmaInFlight:
    """One instruction whose products not every warpgroup has waited for.

    Attributes:
        operation: in the queue.
        accumulator: what it adds to.
        which: the warpgroups.
        index: the group of each that it belongs to.
        unseen: bool, those that have not waited for it.
        left: how many groups the last wait left pending that came after it but did not cover it; -1 for none.
        sources: slots of registers with matrix A.
    """

    operation: AsyncOperation
    accumulator: Accumulator
    which: np.ndarray
    index: np.ndarray
    unseen: np.ndarray
    left: np.ndarray
    sources: frozenset[int] = frozenset()


class Warpgroups:
    """What the warpgroups of a batch have in flight.

    Attributes:
        committed: how many groups each warpgroup has committed; the number of its open one.
        completion: by which number in `HappensBefore.completed` it is known what each has read; None without
            the sanitizer.
        in_flight: in the order of their issue.
        accumulators: by the function's number, the registers and the shape.
        touched: by the function's number and a register's slot: which warpgroups have accessed it, or have
            not executed `wgmma.fence`, since their last fence.
        fenced: the event that followed each one's last `wgmma.fence`; 0 for none.
        loads: by a function's name, `loads_of_products`, of those that were asked for.
    """

    def __init__(self, batch: CtaBatch) -> None:
        count = count_of(batch)
        self.batch = batch
        self.committed = np.zeros(count, np.int64)
        self.completion: np.ndarray | None = None
        if batch.launch.sanitize:
            each = [batch.mbarriers.reserve(THREADS * number) for number in range(count // len(batch.ctas))]
            self.completion = np.tile(each, len(batch.ctas))
            batch.happens_before.takers.append(self.took)
            batch.queue.hazards.excuses.append(self._excuses)
        self.in_flight: list[WgmmaInFlight] = []
        self.accumulators: dict[tuple[int, tuple[int, ...], Shape], Accumulator] = {}
        self.touched: dict[tuple[int, int], np.ndarray] = {}
        self.fenced = np.zeros(count, np.int64)
        self.loads: dict[str, frozenset[int]] = {}

    def rows(self, which: np.ndarray) -> np.ndarray:
        """The batch's rows of some whole warpgroups: (count, 4)."""
        each = -(-self.batch.warps_per_cta // WARPS)
        first = which // each * self.batch.warps_per_cta + which % each * WARPS
        rows: np.ndarray = first[:, None] + np.arange(WARPS)
        return rows

    def took(self, history: AccessHistory, record: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Whether rows know that threads' reads of shared memory are over, because products took the values.

        A product waits for its registers. Once a wait has covered it, whatever its warps had loaded into them
        has been read, though nothing but the product orders that for other warps.

        Args:
            history, record, rows: as of `VectorClocks`.
        """
        none = np.zeros(len(rows), bool)
        if self.completion is None:
            return none
        each = np.repeat(self.completion[: -(-self.batch.warps_per_cta // WARPS)], WARPS)
        done = ~history.is_async(record) & self.batch.happens_before.has_waited(history, record, rows, each)
        if not done.any():
            return none
        for number in distinct(history.number(record[done])).tolist():
            site = self.batch.launch.events.site(number)
            if site is None or id(site.instruction) not in self._loads_of(site.function):
                done &= history.number(record) != number
        return done

    def _loads_of(self, function: str) -> frozenset[int]:
        if function not in self.loads:
            self.loads[function] = loads_of_products(self.batch.launch.program.flow(function))
        return self.loads[function]

    def _excuses(self, earlier: Earlier) -> Iterator[tuple[np.ndarray, str]]:
        from ptxkit.emulator.warpgroup.practice import excuses

        assert self.completion is not None
        return excuses(self.batch, self.fenced, self.completion, earlier)

    # ---- registers

    def touch(self, lane_set: LaneSet, slots: tuple[int, ...], site: Site, guard: Any) -> None:
        """An instruction that is no `wgmma` accesses registers that some `wgmma` uses. Raises P646, P629,
        P649, products on them are in flight."""
        if guard is not None and guard.ndim == 0 and not guard:
            return
        which = self._reached(lane_set, guard)
        number = lane_set.code.number
        for slot in slots:
            self._touched(number, slot)[which] = True
        for issued in self.in_flight:
            held = issued.accumulator.slots | issued.sources
            if held.isdisjoint(slots):
                continue
            late = issued.unseen
            if not isinstance(which, slice):
                late = late & np.isin(issued.which, which)
            if late.any():
                item = int(np.argmax(late))
                # Registers of A that some wait has come behind, and none of the sum.
                taken = issued.left[item] >= 0 and issued.accumulator.slots.isdisjoint(slots)
                self._race(lane_set, issued, held.intersection(slots), item, site, TAKEN if taken else "")

    def finish(self, lane_set: LaneSet, slots: tuple[int, ...], site: Site) -> bool:
        """Wait for products on registers that an instruction accesses straight behind them, as `wait`. Where
        the device is strict, P649."""
        which = self._reached(lane_set, None)
        for issued in self.in_flight:
            held = issued.accumulator.slots.intersection(slots)
            late = issued.unseen if isinstance(which, slice) else issued.unseen & np.isin(issued.which, which)
            if held and late.any():
                if lane_set.launch.sanitize:
                    self._race(lane_set, issued, held, int(np.argmax(late)), site, INJECTED)
                return self.wait(lane_set, Members.of(lane_set, None, site), -1, site)
        return False

    def _touched(self, function: int, slot: int) -> np.ndarray:
        known = self.touched.get((function, slot))
        if known is None:
            known = self.touched[function, slot] = self.fenced == 0
        return known

    def _reached(self, lane_set: LaneSet, guard: Any) -> Any:
        """The warpgroups with lanes for which a guard holds, as an index."""
        if lane_set.rows is None and lane_set.mask is None and (guard is None or guard.ndim == 0):
            return slice(None)
        return distinct(warpgroup_of(self.batch, executing_rows(lane_set, guard)))

    def _race(
        self,
        lane_set: LaneSet,
        product: WgmmaInFlight,
        slots: frozenset[int],
        item: int,
        site: Site,
        excuse: str = "",
    ) -> None:
        name = lane_set.code.names[min(slots)]
        issued = product.operation.site
        index, which = int(product.index[item]), int(product.which[item])
        younger = int(self.committed[which]) - index - 1
        left = int(product.left[item])
        code = REG_RACE
        state = (
            f"it is in a committed group with {counted(younger, 'younger one')}, and no wait came after it"
        )
        help = "wait with `wgmma.wait_group` before any access to the registers, even a move"
        if younger < 0:
            code, state = NO_COMMIT, "no `wgmma.commit_group` came after it"
            help = "`wgmma.commit_group` puts it into a group; only then can a wait cover it"
        elif left >= 0:
            code = WAIT_SHALLOW
            state = f"the last wait left {counted(left, 'group')} pending, its group among them"
            help = f"its group has {counted(younger, 'younger one')}: wait with an N of at most {younger}"
        label = label_at(issued, "issued here")
        say = self.batch.launch.formally_wrong if excuse else self.batch.launch.report
        notes = [f"{product.operation.thread(item)} and its warpgroup", state, *([excuse] if excuse else [])]
        say(
            code,
            f"`{name}` is accessed while `{issued.instruction.spelling}` holds it",
            site,
            notes,
            help,
            label,
        )

    def fence(self, members: Members) -> None:
        """wgmma.fence: earlier accesses to registers come before later products."""
        self.fenced[members.which] = self.batch.launch.events.now
        for touched in self.touched.values():
            touched[members.which] = False

    def check_fenced(
        self, lane_set: LaneSet, members: Members, slots: frozenset[int], own: frozenset[int], site: Site
    ) -> None:
        """The registers must not have been accessed since the last fence. Raises P647.

        Args:
            slots: of the registers.
            own: of the accumulator's; zeros that were moved into these behind the fence are a warning.
        """
        from ptxkit.emulator.warpgroup.practice import ZEROED, zeroed_behind_fences

        number, launch = lane_set.code.number, self.batch.launch
        for slot in slots:
            late = self._touched(number, slot)[members.which]
            if not late.any():
                continue
            which = int(members.which[np.argmax(late)])
            why = "accessed since the last `wgmma.fence`"
            if not self.fenced[which]:
                why = "used, and its warpgroup has executed no `wgmma.fence`"
            row = int(self.rows(np.array([which]))[0, 0])
            excused = slot in own and zeroed_behind_fences(launch.program.flow(site.function), site)
            notes = [f"{self.batch.thread(row, 0)} and its warpgroup", *([ZEROED] if excused else [])]
            say = launch.formally_wrong if excused else launch.report
            name = lane_set.code.names[slot]
            help = "put `wgmma.fence.sync.aligned` between the access and the first `wgmma.mma_async`"
            say(NO_FENCE, f"`{name}` was {why}", site, notes, help)
            for other in own if excused else ():
                self._touched(number, other)[members.which] = False

    # ---- products

    def accumulator(
        self, lane_set: LaneSet, members: Members, target: MatrixTarget, shape: Shape, site: Site
    ) -> tuple[Accumulator, np.ndarray]:
        """The accumulator of some registers, and for which members nothing on it is in flight: bool. Raises
        P648, products of another shape on some of these registers are in flight."""
        slots = tuple(part.slot for part in target.targets if part is not None)
        key = (lane_set.code.number, slots, shape)
        found = self.accumulators.get(key)
        if found is None:
            size = (len(self.committed), *target.fragment.shape[:2])
            kind = np.uint16 if target.fragment.bits == 16 else np.uint32
            found = Accumulator(target, shape, np.zeros(size, kind), np.zeros(size[0], bool), site)
            self.accumulators[key] = found
        for other in self.accumulators.values():
            if other is not found and other.active[members.which].any() and other.slots.intersection(slots):
                label = label_at(other.site, "in flight since here")
                raise fault(
                    SHAPE_CHANGE,
                    f"expected products of shape `{other.shape}` on registers that are "
                    f"in flight, found `{shape}`",
                    site,
                    (f"`{other.site.instruction.spelling}` is in flight",),
                    "wait for it first: only products of one shape may follow one another on them",
                    label,
                )
        found.site = site
        return found, ~found.active[members.which]

    def before(self, accumulator: Accumulator, members: Members) -> tuple[AsyncOperation, ...]:
        """The operations that add to an accumulator before a new one does."""
        return tuple(
            issued.operation
            for issued in self.in_flight
            if issued.accumulator is accumulator
            and not issued.operation.delivered
            and np.isin(issued.which, members.which).any()
        )

    def commit(self, members: Members) -> None:
        """wgmma.commit_group."""
        self.committed[members.which] += 1

    def wait(self, lane_set: LaneSet, members: Members, left: int, site: Site) -> bool:
        """wgmma.wait_group: at most `left` groups of each warpgroup stay in flight.

        A group belongs to the whole warpgroup: each of its warps knows that all reads of the products are
        over, and can tell.

        Returns:
            Whether undefined bits came into registers.
        """
        waiting = np.zeros(len(self.committed), bool)
        waiting[members.which] = True
        limit = np.full(len(self.committed), -1, np.int64)
        limit[members.which] = self.committed[members.which] - left
        queue = self.batch.queue
        seen = False
        for issued in self.in_flight:
            covered = issued.unseen & (issued.index < limit[issued.which])
            issued.left[waiting[issued.which] & (issued.index < self.committed[issued.which])] = left
            if covered.any():
                queue.finish([issued.operation])
                queue.observe(issued.operation, covered)
                issued.unseen &= ~covered
                seen = True
        if not seen:
            return False
        if self.completion is not None:
            rows = self.rows(members.which)
            number = self.batch.launch.events.take(site)
            self.batch.happens_before.complete(
                rows.reshape(-1), np.repeat(self.completion[members.which], WARPS), number
            )
        self.in_flight = [issued for issued in self.in_flight if issued.unseen.any()]
        tainted = False
        for accumulator in self.accumulators.values():
            done = accumulator.active[members.which]
            if not done.any():
                continue
            for issued in self.in_flight:
                if issued.accumulator is accumulator:
                    done = done & ~np.isin(members.which, issued.which[issued.unseen])
            if done.any():
                tainted |= accumulator.release(lane_set, members, done)
        return tainted


def waiting(step: Step, slots: tuple[int, ...], site: Site, guard: SourceOperand | None) -> Step:
    """A step that accesses accumulators straight behind their products, and so waits for these."""

    def patient(lane_set: LaneSet) -> Any:
        undefined = lane_set.batch.own(Warpgroups).finish(lane_set, slots, site)
        return step(lane_set) or undefined

    return patient


def watched(step: Step, slots: tuple[int, ...], site: Site, guard: SourceOperand | None) -> Step:
    """A step that accesses registers which some `wgmma` of the function uses. `step`: the instruction's work.
    `slots`: which of those registers."""
    condition = guard.reader if guard is not None else None

    def careful(lane_set: LaneSet) -> Any:
        if lane_set.launch.sanitize:
            lane_set.batch.own(Warpgroups).touch(
                lane_set, slots, site, condition(lane_set) if condition else None
            )
        return step(lane_set)

    return careful
