"""Products of `wgmma` in flight: their groups, their accumulators, and the registers that they hold.

While products on an accumulator are in flight its value lives here; the registers get it when a wait has
covered the last of them. PTX ISA 9.7.15.7; section 6 of the rule book.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import Label, counted
from ptxkit.emulator.aligned import check_whole
from ptxkit.emulator.asynchronous import Operation
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.gates import executing
from ptxkit.emulator.matrices.operand import MatrixTarget
from ptxkit.emulator.values import WARP
from ptxkit.emulator.warpgroup.gate import count_of, warpgroup_of
from ptxkit.emulator.warpgroup.registers import WARPS, gathered, scattered

if TYPE_CHECKING:
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group

REG_RACE, NO_FENCE, SHAPE_CHANGE, NO_COMMIT, WAIT_SHALLOW = "P646", "P647", "P648", "P649", "P629"
DIVERGED = "P637"


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The warpgroups of a group that execute an instruction.

    Attributes:
        which: their numbers in the gang.
        rows: int64 (warpgroups, 4), the group's rows that they are; None for all of them, in order.
    """

    which: np.ndarray
    rows: np.ndarray | None

    @classmethod
    def of(cls, group: Group, guard: Any, site: Site) -> Members:
        """The warpgroups whose lanes a guard holds for.

        Raises:
            EmulatorFault: P637, a warpgroup is not whole; P640, P641, a warp is not.
        """
        gang = group.gang
        check_whole(group, guard, site)
        lanes = executing(group, guard)
        at = np.arange(group.n) if lanes is None else np.flatnonzero(lanes[:, 0])
        rows = at if group.rows is None else group.rows[at]
        which = warpgroup_of(gang, rows)
        numbers, counts = np.unique(which, return_counts=True)
        if (counts != WARPS).any():
            short = int(np.argmax(counts != WARPS))
            row = int(rows[np.argmax(which == numbers[short])])
            raise fault(
                DIVERGED,
                f"WGMMA-DIVERGED: `{site.instruction.spelling}` needs all four warps of the warpgroup",
                site,
                (f"{gang.thread(row, 0)} executes it with {counted(int(counts[short]), 'warp')}",),
                "launch whole warpgroups of 128 threads, and keep their warps together; PTX ISA 9.7.15.1",
            )
        return cls(numbers, None if len(at) == group.n else at.reshape(-1, WARPS))


@dataclass(slots=True, eq=False)
class Accumulator:
    """The accumulator of some instructions, by its registers.

    Attributes:
        target: its registers.
        shape: `m64n128k16`, of the instructions that use it.
        values: raw (M, N, warpgroups of the gang); what they hold where `active`.
        unknown: which elements are undefined, bool of the same shape; None for none.
        origin: of what is.
        active: for each warpgroup whether products on it are in flight.
        site: the last of those.
    """

    target: MatrixTarget
    shape: str
    values: np.ndarray
    active: np.ndarray
    site: Site
    unknown: np.ndarray | None = None
    origin: int = 0

    @property
    def slots(self) -> frozenset[int]:
        """The registers' slots."""
        return frozenset(target.slot for target in self.target.targets if target is not None)

    def take(self, group: Group, members: Members, fresh: np.ndarray) -> None:
        """Get what registers hold for the warpgroups that are not active yet: bool (members,)."""
        fragment = self.target.fragment
        slots = [target.slot for target in self.target.targets if target is not None]
        rows = members.rows
        if not fresh.all():
            rows = np.arange(group.n).reshape(-1, WARPS) if rows is None else rows
            rows = rows[fresh]
        held = [group.regs[slot].view(np.uint32) for slot in slots]
        which = members.which[fresh]
        self.values[:, :, which] = gathered(fragment, held, rows, group.n)
        found = [group.undefined.get(slot) for slot in slots] if group.undefined else []
        if any(found):
            masks = [np.uint32(0) if entry is None else entry[0].view(np.uint32) for entry in found]
            self.mark(which, gathered(fragment, masks, rows, group.n) != 0, next(e[1] for e in found if e))
        elif self.unknown is not None:
            self.unknown[:, :, which] = False

    def mark(self, which: np.ndarray, unknown: np.ndarray | None, origin: int) -> None:
        """Note which elements are undefined from now on."""
        if unknown is None or not unknown.any():
            if self.unknown is not None:
                self.unknown[:, :, which] = False
            return
        if self.unknown is None:
            self.unknown = np.zeros(self.values.shape, bool)
        self.unknown[:, :, which] = unknown
        self.origin = origin

    def release(self, group: Group, members: Members, done: np.ndarray) -> bool:
        """Write the registers of the warpgroups whose products are done: bool (members,).

        Returns:
            Whether any of it is undefined.
        """
        which = members.which[done]
        self.active[which] = False
        everything = len(which) == self.values.shape[2]
        values = self.values if everything else self.values[:, :, which]
        fragment = self.target.fragment
        rows = members.rows
        if not done.all():
            rows = np.arange(group.n).reshape(-1, WARPS) if rows is None else rows
            rows = rows[done]
        masks: list[Any] = [None] * fragment.registers
        unknown = None if self.unknown is None else self.unknown[:, :, which]
        if unknown is not None and unknown.any():
            bits = np.where(unknown, np.iinfo(values.dtype).max, 0).astype(values.dtype)
            masks = scattered(fragment, bits)
        for target, value, mask in zip(self.target.targets, scattered(fragment, values), masks, strict=True):
            if target is not None:
                _write(group, target, value, mask, self.origin, rows)
        return masks[0] is not None


def _write(
    group: Group, target: Any, value: np.ndarray, mask: Any, origin: int, rows: np.ndarray | None
) -> None:
    """Write a register for some rows (None: all) with its undefined bits."""
    slot = target.slot
    kind = group.regs[slot].dtype
    before = group.undefined.get(slot)
    if rows is not None:
        at = rows.reshape(-1)
        whole = np.array(np.broadcast_to(group.regs[slot], (group.n, WARP)))
        whole[at] = value.view(kind)
        value = whole
        if mask is not None or before is not None:
            known = np.zeros((group.n, WARP), np.uint32)
            if before is not None:
                known[...] = before[0]
                origin = origin if mask is not None else before[1]
            known[at] = 0 if mask is None else mask
            mask = known
    group.regs[slot] = value.view(kind)
    if mask is not None and mask.any():
        group.undefined[slot] = (mask, origin)
    else:
        group.undefined.pop(slot, None)


@dataclass(slots=True, eq=False)
class Flight:
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

    operation: Operation
    accumulator: Accumulator
    which: np.ndarray
    index: np.ndarray
    unseen: np.ndarray
    left: np.ndarray
    sources: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Warpgroups:
    """What the warpgroups of a gang have in flight.

    Attributes:
        gang: the gang.
        committed: how many groups each warpgroup has committed; the number of its open one.
        flights: in the order of their issue.
        accumulators: by the function's number, the registers and the shape.
        touched: by the function's number and a register's slot: which warpgroups have accessed it, or have
            not executed `wgmma.fence`, since their last fence.
    """

    gang: Gang
    committed: np.ndarray
    flights: list[Flight] = field(default_factory=list)
    accumulators: dict[tuple[int, tuple[int, ...], str], Accumulator] = field(default_factory=dict)
    touched: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    fenced: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @classmethod
    def of(cls, gang: Gang) -> Warpgroups:
        """Those of a gang, made when they are first asked for."""
        if gang.warpgroups is None:
            count = count_of(gang)
            gang.warpgroups = cls(gang, np.zeros(count, np.int64), fenced=np.zeros(count, bool))
        return gang.warpgroups

    # ---- registers

    def touch(self, group: Group, slots: tuple[int, ...], site: Site, guard: Any) -> None:
        """An instruction that is no `wgmma` accesses registers that some `wgmma` uses.

        Raises:
            EmulatorFault: P646, P629, P649, products on them are in flight.
        """
        if guard is not None and guard.ndim == 0 and not guard:
            return
        which = self._reached(group, guard)
        number = group.code.number
        for slot in slots:
            self._touched(number, slot)[which] = True
        for flight in self.flights:
            held = flight.accumulator.slots | flight.sources
            if held.isdisjoint(slots):
                continue
            late = flight.unseen
            if not isinstance(which, slice):
                late = late & np.isin(flight.which, which)
            if late.any():
                self._race(group, flight, held.intersection(slots), int(np.argmax(late)), site)

    def _touched(self, function: int, slot: int) -> np.ndarray:
        known = self.touched.get((function, slot))
        if known is None:
            known = self.touched[function, slot] = ~self.fenced
        return known

    def _reached(self, group: Group, guard: Any) -> Any:
        """The warpgroups with lanes for which a guard holds, as an index."""
        if group.rows is None and (guard is None or guard.ndim == 0):
            return slice(None)
        rows = np.arange(self.gang.rows) if group.rows is None else group.rows
        lanes = executing(group, guard)
        if lanes is not None:
            rows = rows[lanes.any(axis=1)]
        return np.unique(warpgroup_of(self.gang, rows))

    def _race(self, group: Group, flight: Flight, slots: frozenset[int], item: int, site: Site) -> None:
        name = group.code.names[min(slots)]
        issued = flight.operation.site
        index, which = int(flight.index[item]), int(flight.which[item])
        younger = int(self.committed[which]) - index - 1
        left = int(flight.left[item])
        code, rule = REG_RACE, "WGMMA-REG-RACE"
        state = (
            f"it is in a committed group with {counted(younger, 'younger one')}, and no wait came after it"
        )
        help = "wait with `wgmma.wait_group` before any access to the registers, even a move"
        if younger < 0:
            code, rule, state = NO_COMMIT, "WGMMA-NO-COMMIT", "no `wgmma.commit_group` came after it"
            help = "`wgmma.commit_group` puts it into a group; only then can a wait cover it"
        elif left >= 0:
            code, rule = WAIT_SHALLOW, "WGMMA-WAIT-SHALLOW"
            state = f"the last wait left {counted(left, 'group')} pending, its group among them"
            help = f"its group has {counted(younger, 'younger one')}: wait with an N of at most {younger}"
        label = [Label(issued.span, "issued here")] if issued.span else []
        raise fault(
            code,
            f"{rule}: `{name}` is accessed while `{issued.instruction.spelling}` holds it",
            site,
            (f"{flight.operation.thread(item)} and its warpgroup", state),
            help,
            label,
        )

    def fence(self, members: Members) -> None:
        """wgmma.fence: earlier accesses to registers come before later products."""
        self.fenced[members.which] = True
        for touched in self.touched.values():
            touched[members.which] = False

    def check_fenced(self, group: Group, members: Members, slots: frozenset[int], site: Site) -> None:
        """The registers must not have been accessed since the last fence.

        Raises:
            EmulatorFault: P647.
        """
        number = group.code.number
        for slot in slots:
            late = self._touched(number, slot)[members.which]
            if late.any():
                which = int(members.which[np.argmax(late)])
                why = "accessed since the last `wgmma.fence`"
                if not self.fenced[which]:
                    why = "used, and its warpgroup has executed no `wgmma.fence`"
                row = which // -(-self.gang.warps // WARPS) * self.gang.warps
                row += which % -(-self.gang.warps // WARPS) * WARPS
                raise fault(
                    NO_FENCE,
                    f"WGMMA-NO-FENCE: `{group.code.names[slot]}` was {why}",
                    site,
                    (f"{self.gang.thread(row, 0)} and its warpgroup",),
                    "put `wgmma.fence.sync.aligned` between the access and the first `wgmma.mma_async`",
                )

    # ---- products

    def accumulator(
        self, group: Group, members: Members, target: MatrixTarget, shape: str, site: Site
    ) -> tuple[Accumulator, np.ndarray]:
        """The accumulator of some registers, and for which members nothing on it is in flight: bool.

        Raises:
            EmulatorFault: P648, products of another shape on some of these registers are in flight.
        """
        slots = tuple(part.slot for part in target.targets if part is not None)
        key = (group.code.number, slots, shape)
        found = self.accumulators.get(key)
        if found is None:
            size = (*target.fragment.shape[:2], len(self.committed))
            kind = np.uint16 if target.fragment.bits == 16 else np.uint32
            found = Accumulator(target, shape, np.zeros(size, kind), np.zeros(size[2], bool), site)
            self.accumulators[key] = found
        for other in self.accumulators.values():
            if other is not found and other.active[members.which].any() and other.slots.intersection(slots):
                label = [Label(other.site.span, "in flight since here")] if other.site.span else []
                raise fault(
                    SHAPE_CHANGE,
                    f"WGMMA-SHAPE-CHANGE: expected products of shape `{other.shape}` on registers that are "
                    f"in flight, found `{shape}`",
                    site,
                    (f"`{other.site.instruction.spelling}` is in flight",),
                    "wait for it first: only products of one shape may follow one another on them",
                    label,
                )
        found.site = site
        return found, ~found.active[members.which]

    def before(self, accumulator: Accumulator, members: Members) -> tuple[Operation, ...]:
        """The operations that add to an accumulator before a new one does."""
        return tuple(
            flight.operation
            for flight in self.flights
            if flight.accumulator is accumulator
            and not flight.operation.delivered
            and np.isin(flight.which, members.which).any()
        )

    def commit(self, members: Members) -> None:
        """wgmma.commit_group."""
        self.committed[members.which] += 1

    def wait(self, group: Group, members: Members, left: int) -> bool:
        """wgmma.wait_group: at most `left` groups of each warpgroup stay in flight.

        Returns:
            Whether undefined bits came into registers.
        """
        waiting = np.zeros(len(self.committed), bool)
        waiting[members.which] = True
        limit = np.full(len(self.committed), -1, np.int64)
        limit[members.which] = self.committed[members.which] - left
        queue = self.gang.queue
        seen = False
        for flight in self.flights:
            covered = flight.unseen & (flight.index < limit[flight.which])
            flight.left[waiting[flight.which] & (flight.index < self.committed[flight.which])] = left
            if covered.any():
                queue.finish([flight.operation])
                queue.observe(flight.operation, covered)
                flight.unseen &= ~covered
                seen = True
        if not seen:
            return False
        self.flights = [flight for flight in self.flights if flight.unseen.any()]
        tainted = False
        for accumulator in self.accumulators.values():
            done = accumulator.active[members.which]
            if not done.any():
                continue
            for flight in self.flights:
                if flight.accumulator is accumulator:
                    done = done & ~np.isin(members.which, flight.which[flight.unseen])
            if done.any():
                tainted |= accumulator.release(group, members, done)
        return tainted
