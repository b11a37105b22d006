"""Bulk copies and reductions: `cp.async.bulk`, .. PTX ISA 9.7.9.25.4, 9.7.9.27.2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Data, Region, load, save
from ptxkit.emulator.copy_sides import UNIT, CopySide, Sizes, in_bulk_group, validity_of
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects, hint
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.operations.asynchronous_copy import commit, wait
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.values import dtype_of
from ptxkit.isa.modifiers import MemoryOperation, MemoryOrder

effect, later = Effects("asynchronous_copy"), Effects("bulk_copies")

Copies = Callable[[LaneSet, Issuers, np.ndarray], list[np.ndarray]]
"""The places of each copy's first byte, for every device; see `MultimemSide.copies`."""
LINE = 128
"""What the address of `applypriority.async.bulk` is a multiple of: a line of the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """What a bulk reduction does to each element.

    Attributes:
        combine: the new value from the old one and the operand.
        kind: the type of an element.
    """

    combine: Callable[..., Any]
    kind: DType

    def __call__(self, held: np.ndarray, data: np.ndarray) -> np.ndarray:
        """The new bytes of places that hold some bytes."""
        dtype = dtype_of(self.kind.name)
        combined = self.combine(
            np.ascontiguousarray(held).view(dtype), np.ascontiguousarray(data).view(dtype)
        )
        new: np.ndarray = combined.astype(dtype, copy=False).view(np.uint8)
        return new


@effect("cp.async.bulk")
@later("cp.async.bulk", "multimem.cp.async.bulk")
def bulk(instruction: ScopedInstruction) -> Effect:
    """`{multimem.}cp.async.bulk.dst.src.completion{..} [dst], [src], size{, ignored}{, [mbar]}{, ..}`."""
    return _bulk(instruction, None)


@effect("cp.reduce.async.bulk")
@later("cp.reduce.async.bulk", "multimem.cp.reduce.async.bulk")
def bulk_reduction(instruction: ScopedInstruction) -> Effect:
    """`cp.reduce.async.bulk.dst.src.completion{..}.redOp.type [dst], [src], size{, [mbar]}{, policy}`.

    ptxas makes the same of `.add.f32` with `.noftz` and without.
    """
    kind = instruction.the(DType)
    return _bulk(instruction, Reduction(combiner(instruction.the(MemoryOperation), kind, True), kind))


def _bulk(instruction: ScopedInstruction, reduction: Reduction | None) -> Effect:
    masked = "byteMask" in instruction.operands
    program = instruction.scope.program
    program.asynchronous = True
    for space in ("shared", "global"):
        program.touches(space, reduction.kind.bytes if reduction is not None else 1 if masked else UNIT)
    return Effect(by_thread(_Copies(instruction, reduction).issue))


class _Copies:
    """What one bulk instruction starts."""

    def __init__(self, instruction: ScopedInstruction, reduction: Reduction | None) -> None:
        self.site, self.reduction = instruction.site, reduction
        self.to, self.source = CopySide(instruction, "dstMem"), CopySide(instruction, "srcMem")
        self.copies: Copies | None = None
        if instruction.row.name.startswith("multimem."):
            from ptxkit.emulator.multimem_side import MultimemSide

            self.copies = MultimemSide(instruction, "dstMem").copies
        self.sizes = Sizes(instruction)
        there = instruction.operands
        self.mbarrier = mbarrier_at(instruction, "mbar", self.to.space) if "mbar" in there else None
        self.targets = instruction.checked_source("ctaMask") if "ctaMask" in there else None
        self.byte_mask = instruction.checked_source("byteMask") if "byteMask" in there else None
        self.validity = validity_of(instruction)
        self.strong = reduction is None and instruction.find(MemoryOrder) is MemoryOrder.RELAXED

    def issue(self, lane_set: LaneSet, issuers: Issuers) -> None:
        """Queue the copies of some threads."""
        batch, site = lane_set.batch, self.site
        sizes, ignored = self.sizes(lane_set, issuers)
        if self.copies is None:
            to, *further = [self.to(lane_set, issuers, sizes)]
        else:
            to, *further = self.copies(lane_set, issuers, sizes)
        source = self.source(lane_set, issuers, sizes, ignored)
        signals = self.mbarrier(lane_set, issuers) if self.mbarrier is not None else None
        if self.targets is not None:
            item, rank = issuers.destinations(issuers.take(self.targets(lane_set)), site)
            stride = batch.shared.stride
            base = batch.peer(issuers.rows[item], rank) * stride
            issuers, sizes, source = issuers.some(item), sizes[item], source[item]
            to = base + to[item] % stride
            assert signals is not None
            signals = base + signals[item] % stride
            if not len(issuers):
                return
        elif self.source.shared and self.to.shared:
            message = "a copy from shared to shared memory must go to another CTA of the cluster"
            issuers.refuse(~issuers.remote(to), "P664", site, message)
        launch = batch.launch
        launch.counts.load("shared" if self.source.shared else "global", int(sizes.sum()))
        stored = int(sizes.sum()) * (1 + len(further))
        launch.counts.store("shared" if self.to.shared else "global", stored)
        memory = batch.shared if self.source.shared else launch.memory
        read = Region(memory, source, sizes) if ignored is None else ignored.region(memory, source, sizes)
        bank, chosen = batch.shared if self.to.shared else launch.memory, None
        if launch.layouts is not None and self.to.shared and not self.source.shared:
            for place, address, size in zip(to.tolist(), source.tolist(), sizes.tolist(), strict=True):
                each = np.arange(size)
                launch.layouts.copied(batch, place + each, address + BASE + each, 1)
        writes = [Region(bank, places, sizes) for places in (to, *further)]
        if self.byte_mask is not None:
            masks = issuers.take(self.byte_mask(lane_set))
            narrowed = [masked(write, masks) for write in writes]
            writes, chosen = [write for write, _ in narrowed], narrowed[0][1]
        if signals is not None:
            slots = batch.mbarriers.find_beside(issuers, signals, to, site)
            if self.validity is not None:
                batch.mbarriers.check_reports(issuers, slots, site)
            signal: Any = Transaction(slots, sizes)
        else:
            signal = batch.queue.groups["bulk"].join(issuers.rows, issuers.lanes)

        def fetch() -> Data:
            data = load(read)
            if ignored is not None:
                data = ignored.filled(data, sizes, site, launch)
            return data if chosen is None else data.take(chosen)

        operation = AsyncOperation(
            site,
            *issuers.who,
            reads=(read,),
            writes=tuple(writes),
            fetch=fetch,
            deliver=lambda data: self._deliver(batch, writes, data),
            signal=signal,
            reduces=self.reduction is not None,
            strong=self.strong,
            validity=self.validity,
        )
        batch.queue.issue(operation)

    def _deliver(self, batch: CtaBatch, writes: list[Region], data: Data) -> None:
        for write in writes:
            self._write(batch, write, data)

    def _write(self, batch: CtaBatch, write: Region, data: Data) -> None:
        if self.reduction is None:
            save(write, data, self.site, batch.launch)
            return
        # Several items may go to one place: one after the other.
        ends = np.cumsum(write.size)
        for item in np.flatnonzero(write.size).tolist():
            end = int(ends[item])
            one = Region(write.bank, write.start[item : item + 1], write.size[item : item + 1])
            held, new = load(one), data.take(slice(end - int(write.size[item]), end))
            undefined = definedness.union((new.undefined, held.undefined))
            combined = Data(self.reduction(held.data, new.data), undefined, new.origins)
            save(one, combined, self.site, batch.launch)


def masked(write: Region, masks: np.ndarray) -> tuple[Region, np.ndarray]:
    """The bytes of each 16 that a byteMask lets through: byte i where bit i is set. Returns the region, an
    interval a byte, and their places among the bytes that are read."""
    index, interval = write.indices()
    begins = np.repeat(write.start, write.size)
    chosen = np.flatnonzero(masks[interval].astype(np.int64) >> ((index - begins) % UNIT) & 1)
    return Region(write.bank, index[chosen], 1, write.item[interval][chosen]), chosen


for chapter in (effect, later):
    chapter("cp.async.bulk.prefetch")(hint)


effect("cp.async.bulk.commit_group")(partial(commit, name="bulk"))


@effect("cp.async.bulk.wait_group")
@later("cp.async.bulk.wait_group")
def wait_group(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.wait_group{.read} N`, `cp.async.bulk.wait_group.sync_restrict::proxy::async N`.

    Of other restrictions, which ptxas alone takes, it makes the same as without.
    """
    read, proxied = instruction["read"], instruction["sync_restrict::proxy::async"]
    return wait(instruction, "bulk", instruction.number("N"), read is not None, proxied is not None)


@later("applypriority.async.bulk")
def apply_priority(instruction: ScopedInstruction) -> Effect:
    """`applypriority.async.bulk{.global}.bulk_group.L2::evict_normal [a], size`: moves nothing, and belongs
    to a group."""
    instruction.scope.program.asynchronous = True
    places, sizes = CopySide(instruction, "a", LINE), Sizes(instruction)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        places(lane_set, issuers, sizes(lane_set, issuers)[0])
        in_bulk_group(issuers, instruction.site)

    return Effect(by_thread(step))
