"""From an address operand to bytes: windows, bounds, alignment, undefined addresses.

An `Accessor` belongs to an instruction. For a lane set it gives one `Access` for each state space that the
active lanes reach, mostly one. Every access is checked for all its lanes at once: the least and the greatest
address first, lane by lane only where these don't settle it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.access import Access
from ptxkit.emulator.addresses import (
    CLUSTER_STEP,
    CONST_START,
    LOCAL_START,
    PARAM_START,
    WINDOW,
    WINDOWS,
    plain_space,
    space_of,
)
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.operands import AddressOperand, lanes_of, undefined_decides
from ptxkit.emulator.values import I64, WARP


class Accessor:
    """Turns an instruction's address operand into accesses.

    Args:
        space: the state space that the instruction names, `generic` where it names none. Without `::cluster`
            a shared address must be of the executing CTA.
        size: bytes of the whole access.
        aligned: what the address must be a multiple of; `size` where left out.
        named: whether a variable's name in a generic address tells its state space. ptxas makes STS of
            `st.u32 [s], %r1`; only of `wmma` and `tensormap.replace` it makes a generic access to the offset.
    """

    by_device = True
    """Whether it may reach only what its device may."""

    def __init__(
        self,
        address: AddressOperand,
        space: str,
        size: int,
        site: Site,
        aligned: int | None = None,
        *,
        named: bool = True,
    ) -> None:
        self.read = address.read
        self.own = address.symbol is not None
        if named and space == "generic" and address.symbol is not None:
            space = address.symbol.space
        self.remote = space in ("shared::cluster", "generic")
        space = plain_space(space)
        self.slot = address.base.slot if address.base is not None else None
        self.name = address.base.name if address.base is not None else ""
        self.space = space
        self.size = size
        self.aligned = aligned or size
        self.site = site
        self._allocation: Allocation | None = None

    def __call__(self, lane_set: LaneSet, guard: Any = None, offset: int = 0) -> list[Access]:
        """The accesses of a set's lanes for which a guard holds; none where it holds for no lane. `guard`:
        the guard's value, None where there is none. `offset`: bytes to add to the address."""
        if lane_set.undefined and self.slot in lane_set.undefined:
            self._check_defined(lane_set, guard)
        address = self.read(lane_set)
        if offset:
            address = address + (offset if isinstance(address, int) else address.dtype.type(offset))
        if isinstance(address, int):
            if guard is not None and not lane_set.count(guard):
                return []
            space = self.space
            if space == "generic":
                space = space_of(address)
                address -= WINDOWS.get(space, 0)
            return [_LOCATE[space](self, lane_set, address, guard)]
        active = lanes_of(lane_set, guard, address.shape)
        if active is not None and not active.all():
            active = np.broadcast_to(active, address.shape)
            at = int(active.argmax())
            if not active.flat[at]:
                return []
            address = np.where(active, address, address.flat[at])
        if self.space != "generic":
            return [_LOCATE[self.space](self, lane_set, address, guard)]
        return self._generic(lane_set, address, active, guard)

    def _check_defined(self, lane_set: LaneSet, guard: Any) -> None:
        mask, origin = lane_set.undefined[self.slot]  # type: ignore[index]
        lanes = lanes_of(lane_set, guard, mask.shape)
        some = mask != 0 if lanes is None else (mask != 0) & lanes
        if some.any():
            undefined_decides(lane_set, some, origin, self.site, f"the address `{self.name}`")

    def _generic(self, lane_set: LaneSet, address: Any, active: Any, guard: Any) -> list[Access]:
        low, high = int(address.min()), int(address.max())
        space = space_of(low)
        if space == space_of(high) and (space != "global" or high < min(WINDOWS.values())):
            if space != "global":
                address = address - address.dtype.type(WINDOWS[space])
            return [_LOCATE[space](self, lane_set, address, guard)]
        address = address.astype(np.uint64)
        accesses = []
        rest = np.ones(address.shape, bool) if active is None else active
        for space, base in WINDOWS.items():
            inside = rest & (address >= np.uint64(base)) & (address < np.uint64(base + WINDOW))
            if inside.any():
                rest = rest & ~inside
                part = np.where(inside, address, address[inside][0]) - np.uint64(base)
                accesses.append(_LOCATE[space](self, lane_set, part, _both(guard, inside)))
        if rest.any():
            part = np.where(rest, address, address[rest][0])
            accesses.append(_LOCATE["global"](self, lane_set, part, _both(guard, rest)))
        return accesses

    # ---- what is wrong with an address

    def _check_alignment(self, lane_set: LaneSet, address: Any, guard: Any, space: str) -> None:
        odd = self.aligned - 1
        if not odd:
            return
        if isinstance(address, int):
            if not address & odd:
                return
            bad: Any = np.True_
        else:
            if not int(np.bitwise_or.reduce(address, axis=None)) & odd:
                return
            bad = (address & address.dtype.type(odd)) != 0
        where, lane = self._culprit(lane_set, address, bad, guard)
        raise fault(
            "P603",
            f"misaligned {space} access: expected a multiple of {self.aligned}, found {where:#x}",
            self.site,
            (f"{lane_set.thread(*lane)}, {counted(self.size, 'byte')} at {where:#x}",),
            "the address of an access must be a multiple of its whole size, a vector's too",
            lanes=bad,
        )

    def _culprit(self, lane_set: LaneSet, address: Any, bad: Any, guard: Any) -> tuple[int, tuple[int, int]]:
        """The address and lane of the first lane that takes part where `bad` holds."""
        lane = lane_set.first(bad if guard is None else bad & guard)
        return int(np.broadcast_to(np.asarray(address), (lane_set.n, WARP))[lane]), lane

    def _outside(
        self, lane_set: LaneSet, address: Any, guard: Any, space: str, start: int, end: int, what: str
    ) -> NoReturn:
        wide = np.asarray(address).astype(object)
        bad = np.asarray((wide < start) | (wide + self.size > end), bool)
        where, lane = self._culprit(lane_set, address, bad, guard)
        note = f"{what} is {counted(end - start, 'byte')} from {start:#x} to {end:#x}"
        self._out_of_bounds(lane_set, where, lane, space, (note,), bad)

    def _out_of_bounds(
        self,
        lane_set: LaneSet,
        where: int,
        lane: tuple[int, int],
        space: str,
        notes: tuple[str, ...],
        lanes: Any,
    ) -> NoReturn:
        message = f"out of bounds: {counted(self.size, 'byte')} at {where:#x} of {space} memory"
        notes, help = (f"{lane_set.thread(*lane)}", *notes), lane_set.launch.forgotten(space)
        raise fault("P602", message, self.site, notes, help, lanes=lanes)

    # ---- state spaces

    def global_(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to global memory."""
        memory = lane_set.launch.memory
        low, high = _range(address)
        allocation = self._allocation
        if (
            allocation is None
            or low < allocation.address
            or high + self.size > allocation.end
            or not allocation.live
        ):
            allocation = memory.find(low)
            if allocation is None or high + self.size > allocation.end or not allocation.live:
                allocation = None
                self._check_each(lane_set, address, guard)
            else:
                allocation.touched = True
                several = self.by_device and memory.device_count > 1
                if several and memory.bars(allocation, lane_set.launch.device):
                    self._no_peer(lane_set, address, guard, allocation)
            self._allocation = allocation
        self._check_alignment(lane_set, address, guard, "global")
        if isinstance(address, int):
            index: Any = address - BASE
        else:
            index = (address if address.dtype == np.uint64 else address.astype(np.uint64)) - _BASE
            index = index.view(I64)
        return Access(lane_set, self.site, "global", memory, index, guard, allocation)

    def _check_each(self, lane_set: LaneSet, address: Any, guard: Any) -> None:
        """Lane by lane: whether each lies in a live allocation."""
        memory = lane_set.launch.memory
        good = memory.inside(np.asarray(address, np.uint64), self.size)
        if good.all():
            if self.by_device and memory.device_count > 1:
                for one in np.unique(np.asarray(address)).tolist():
                    allocation = memory.find(one)
                    if allocation is not None and memory.bars(allocation, lane_set.launch.device):
                        self._no_peer(lane_set, address, guard, allocation)
            return
        where, lane = self._culprit(lane_set, address, ~good, guard)
        before, behind, notes = memory.find(where), memory.after(where), list[str]()
        if before is not None and not before.freed_by and not before.live and where < before.end:
            raise fault(
                "P6151",
                f"{counted(self.size, 'byte')} at {where:#x}, a multimem address",
                self.site,
                (f"{lane_set.thread(*lane)}", f"byte {where - before.address} of {before}"),
                "only `multimem` instructions may use it: give the others the address of one device's copy",
                lanes=~good,
            )
        if before is not None and not before.live and where < before.end:
            raise fault(
                "P604",
                f"use after free: {counted(self.size, 'byte')} at {where:#x} of global memory",
                self.site,
                (f"{lane_set.thread(*lane)}", f"{before} was freed: {before.freed_by}"),
                lanes=~good,
            )
        if before is not None and where < before.end:
            notes.append(f"{counted(where + self.size - before.end, 'byte')} of it past the end of {before}")
        elif before is not None:
            notes.append(f"{counted(where - before.end, 'byte')} past the end of {before}")
        if behind is not None:
            notes.append(f"{counted(behind.address - where, 'byte')} before {behind}")
        own = "" if space_of(where) == "global" else f"global memory, an address of {space_of(where)}"
        self._out_of_bounds(lane_set, where, lane, own or "global", tuple(notes), ~good)

    def _no_peer(self, lane_set: LaneSet, address: Any, guard: Any, allocation: Allocation) -> NoReturn:
        from ptxkit.emulator.peers import no_peer

        wide = np.asarray(address)
        bad = (wide >= allocation.address) & (wide < allocation.end)
        where, lane = self._culprit(lane_set, address, bad, guard)
        raise no_peer(lane_set.launch, allocation, self.site, str(lane_set.thread(*lane)), where, self.size)

    def shared(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to the CTA's own shared memory, in clusters to that of any of its CTAs."""
        launch, bank = lane_set.launch, lane_set.batch.shared
        if launch.cluster > 1:
            return self._cluster(lane_set, address, guard)
        start, end = launch.shared.start, launch.shared.start + launch.shared.total
        low, high = _range(address)
        if low < start or high + self.size > end:
            self._outside(lane_set, address, guard, "shared", start, end, "the CTA's shared memory")
        self._check_alignment(lane_set, address, guard, "shared")
        index = _offset(address, start)
        if bank.tiles > 1:
            index = lane_set.special("cta") * bank.stride + index
        return Access(
            lane_set, self.site, "shared", bank, index, guard, bank, low - start, high - start + self.size - 1
        )

    def _cluster(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to the shared memory of a cluster: above the offset an address has the rank."""
        batch = lane_set.batch
        launch, bank = batch.launch, batch.shared
        start, end = launch.shared.start, launch.shared.start + launch.shared.total
        own = lane_set.special("%cluster_ctarank").astype(I64)
        if self.own:
            address = address + own * CLUSTER_STEP
        wide = np.asarray(address).astype(I64)
        offset, rank = wide % CLUSTER_STEP, wide // CLUSTER_STEP
        low, high = int(offset.min()), int(offset.max())
        if low < start or high + self.size > end or int(rank.max()) >= batch.cluster:
            bad = (offset < start) | (offset + self.size > end) | (rank >= batch.cluster)
            where, lane = self._culprit(lane_set, wide, bad, guard)
            note = f"the shared memory of a CTA is {counted(end - start, 'byte')} from {start:#x} to {end:#x}"
            size = f"the cluster has {counted(batch.cluster, 'CTA')}"
            self._out_of_bounds(lane_set, where, lane, "shared", (note, size), bad)
        self._check_alignment(lane_set, offset, guard, "shared")
        away: Any = rank != own
        tile = lane_set.special("cta") - own + rank
        if away.any():
            self._check_peers(lane_set, wide, guard, away, tile)
        return Access(
            lane_set,
            self.site,
            "shared",
            bank,
            tile * bank.stride + (offset - start),
            guard,
            bank,
            low - start,
            high - start + self.size - 1,
        )

    def _check_peers(self, lane_set: LaneSet, address: Any, guard: Any, away: Any, tile: Any) -> None:
        """Whether the lanes may reach into the other CTAs that they do."""
        batch = lane_set.batch
        lanes = lanes_of(lane_set, guard, (lane_set.n, WARP))
        away = np.broadcast_to(away, (lane_set.n, WARP))
        if lanes is not None:
            away = away & lanes
        if not away.any():
            return
        if not self.remote:
            where, lane = self._culprit(lane_set, address, away, guard)
            note = "an address of another CTA of the cluster"
            self._out_of_bounds(lane_set, where, lane, "shared::cta", (note,), away)
        running: Any = batch.alive.reshape(len(batch.ctas), -1).any(axis=1)
        rank = np.broadcast_to(tile, away.shape) % batch.cluster
        rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        early: Any = away & ~batch.happens_before.met[rows[:, None], rank]
        if early.any():
            thread = str(lane_set.thread(*lane_set.first(early)))
            message = "another CTA's shared memory is accessed before it is known to run"
            batch.launch.warn("P695", message, self.site, (thread,))
        gone: Any = away & ~running[np.broadcast_to(tile, away.shape)]
        if gone.any():
            row, lane_ = lane_set.first(gone)
            there = int(np.broadcast_to(tile, away.shape)[row, lane_])
            batch.launch.report(
                "P694",
                f"shared memory of CTA {batch.name_cta(there)}, which has exited, is accessed",
                self.site,
                (str(lane_set.thread(row, lane_)),),
                "let all CTAs of the cluster meet at a cluster barrier before the first one exits",
            )

    def local(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to each thread's own local memory."""
        bank, end = lane_set.batch.local, lane_set.top
        low, high = _range(address)
        if low < LOCAL_START or high + self.size > end:
            self._outside(lane_set, address, guard, "local", LOCAL_START, end, "the thread's local memory")
        self._check_alignment(lane_set, address, guard, "local")
        index = lane_set.special("thread") * bank.stride + _offset(address, LOCAL_START)
        first, last = low - LOCAL_START, high - LOCAL_START + self.size - 1
        return Access(lane_set, self.site, "local", bank, index, guard, bank, first, last)

    def const(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to constant memory."""
        bank, end = lane_set.launch.program.constants
        return self._flat(lane_set, address, guard, "const", bank, CONST_START, end)

    def param(self, lane_set: LaneSet, address: Any, guard: Any) -> Access:
        """An access to the kernel's parameters."""
        launch = lane_set.launch
        end = PARAM_START + launch.parameter_size
        return self._flat(lane_set, address, guard, "param", launch.parameters, PARAM_START, end)

    def _flat(
        self, lane_set: LaneSet, address: Any, guard: Any, space: str, bank: Bank, start: int, end: int
    ) -> Access:
        low, high = _range(address)
        if low < start or high + self.size > end:
            self._outside(lane_set, address, guard, space, start, end, f"{space} memory")
        self._check_alignment(lane_set, address, guard, space)
        return Access(lane_set, self.site, space, bank, _offset(address, start), guard, None)


_BASE = np.uint64(BASE)
_LOCATE: dict[str, Callable[[Accessor, Any, Any, Any], Access]] = {
    "global": Accessor.global_,
    "shared": Accessor.shared,
    "local": Accessor.local,
    "const": Accessor.const,
    "param": Accessor.param,
}


def _range(address: Any) -> tuple[int, int]:
    """The least and the greatest address."""
    if isinstance(address, int):
        return address, address
    return int(address.min()), int(address.max())


def _offset(address: Any, start: int) -> Any:
    """The distance from the start of a space, as an index."""
    if isinstance(address, int):
        return address - start
    wide = address.view(I64) if address.dtype == np.uint64 else address.astype(I64)
    return wide - start


def _both(guard: Any, condition: Any) -> Any:
    return condition if guard is None else guard & condition
