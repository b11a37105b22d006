"""Bulk and tensor copies and reductions: `cp.async.bulk{.tensor}`, .. PTX ISA 9.7.9.25.4, 9.7.9.27."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DType
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Data, Region, load, save
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects, hint
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.operations.asynchronous_copy import commit, wait
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.tensor_copies.issue import Loads, Stores
from ptxkit.emulator.tensor_copies.maps import MapOperand
from ptxkit.emulator.values import dtype_of, first_true
from ptxkit.isa.modifiers import LoadMode, MemoryOperation, StateSpace

UNIT = 16
"""What addresses and sizes of bulk copies are multiples of."""

effect = Effects("asynchronous_copy")

Reader = Callable[["LaneSet"], Any]


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
def bulk(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.dst.src.completion{..} [dst], [src], size{, [mbar]}{, mask}{, policy}{, mask}`."""
    return _bulk(instruction, None)


@effect("cp.reduce.async.bulk")
def bulk_reduction(instruction: ScopedInstruction) -> Effect:
    """`cp.reduce.async.bulk.dst.src.completion{..}.redOp.type [dst], [src], size{, [mbar]}{, policy}`."""
    kind = instruction.the(DType)
    return _bulk(instruction, Reduction(combiner(instruction.the(MemoryOperation), kind, True), kind))


def _bulk(instruction: ScopedInstruction, reduction: Reduction | None) -> Effect:
    to, masked = instruction.space_of("dstMem"), "byteMask" in instruction.operands
    program = instruction.scope.program
    program.asynchronous = True
    for space in ("shared", "global"):
        program.touches(space, reduction.kind.bytes if reduction is not None else 1 if masked else UNIT)
    copies = _Copies(
        instruction.site,
        _CopySide(instruction, "dstMem"),
        _CopySide(instruction, "srcMem"),
        instruction.checked_source("size"),
        mbarrier_at(instruction, "mbar", to) if "mbar" in instruction.operands else None,
        instruction.checked_source("ctaMask") if "ctaMask" in instruction.operands else None,
        instruction.checked_source("byteMask") if masked else None,
        reduction,
    )

    return Effect(by_thread(copies.issue))


class _CopySide:
    """The source or destination of a bulk copy."""

    def __init__(self, instruction: ScopedInstruction, operand: str) -> None:
        self.space = instruction.space_of(operand)
        self.shared = self.space is not StateSpace.GLOBAL
        self.site = instruction.site
        self.places = AddressResolver(
            instruction.address(operand),
            self.space,
            1,
            instruction.site,
            within="shared" if self.shared else "global",
        )

    def __call__(self, lane_set: LaneSet, issuers: Issuers, sizes: np.ndarray) -> np.ndarray:
        """The offset in the bank of each copy's first byte. Raises P661, P663, P664."""
        places = self.places(lane_set, issuers)
        batch = lane_set.batch
        issuers.refuse(
            places % UNIT != 0,
            "P661",
            self.site,
            lambda at: (
                f"expected an address that is a multiple of {UNIT}, found "
                f"{self._address(batch, int(places[at])):#x}"
            ),
        )
        if self.space is StateSpace.SHARED_CTA:
            remote = issuers.remote(places)
            issuers.refuse(remote, "P664", self.site, "a `.shared::cta` address must be of the executing CTA")
        self._check_range(batch, issuers, places, sizes)
        return places

    def _address(self, batch: CtaBatch, place: int) -> int:
        return place % batch.shared.stride + batch.launch.shared.start if self.shared else place + BASE

    def _check_range(self, batch: CtaBatch, issuers: Issuers, places: np.ndarray, sizes: np.ndarray) -> None:
        launch = batch.launch
        if self.shared:
            ends = places % batch.shared.stride + sizes
            bad = ends > launch.shared.total
            what = f"the CTA's shared memory ends at {launch.shared.start + launch.shared.total:#x}"
        else:
            owner = launch.memory.find(int(places.min()) + BASE)
            if owner is not None and owner.live and int((places + sizes).max()) + BASE <= owner.end:
                return
            starts = (places + BASE).astype(np.uint64)
            bad = np.array([not launch.memory.inside(s, int(n)) for s, n in zip(starts, sizes, strict=True)])
            bad &= sizes > 0
            what = ""
        if (at := first_true(bad)) is not None:
            first = self._address(batch, int(places[at]))
            if not what:
                found = launch.memory.find(first)
                what = (
                    f"the nearest allocation is {found}"
                    if found is not None
                    else "nothing is allocated there"
                )
            message = f"{counted(int(sizes[at]), 'byte')} at {first:#x} leave their {self.space} memory"
            raise fault("P663", message, self.site, (issuers.name(at), what))


class _Copies:
    """What one bulk instruction starts."""

    def __init__(
        self,
        site: Site,
        to: _CopySide,
        source: _CopySide,
        size: Reader,
        mbarrier: AddressResolver | None,
        targets: Reader | None,
        byte_mask: Reader | None,
        reduction: Reduction | None,
    ) -> None:
        self.site, self.to, self.source, self.size = site, to, source, size
        self.mbarrier, self.targets, self.byte_mask, self.reduction = mbarrier, targets, byte_mask, reduction

    def issue(self, lane_set: LaneSet, issuers: Issuers) -> None:
        """Queue the copies of some threads."""
        batch, site = lane_set.batch, self.site
        sizes = issuers.take(self.size(lane_set)).astype(np.int64)
        issuers.refuse(
            sizes % UNIT != 0,
            "P662",
            site,
            lambda at: f"expected a multiple of {UNIT} bytes, found {int(sizes[at])}",
            f"make the size a multiple of {UNIT}",
        )
        to, source = self.to(lane_set, issuers, sizes), self.source(lane_set, issuers, sizes)
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
        launch.counts.store("shared" if self.to.shared else "global", int(sizes.sum()))
        read = Region(batch.shared if self.source.shared else launch.memory, source, sizes)
        write, chosen = Region(batch.shared if self.to.shared else launch.memory, to, sizes), None
        if self.byte_mask is not None:
            write, chosen = _masked(write, issuers.take(self.byte_mask(lane_set)))
        if signals is not None:
            slots = batch.mbarriers.find_beside(issuers, signals, to, site)
            signal: Any = Transaction(slots, sizes)
        else:
            signal = batch.queue.groups["bulk"].join(issuers.rows, issuers.lanes)
        operation = AsyncOperation(
            site,
            *issuers.who,
            reads=(read,),
            writes=(write,),
            fetch=lambda: load(read) if chosen is None else load(read).take(chosen),
            deliver=lambda data: self._deliver(batch, write, data),
            signal=signal,
            reduces=self.reduction is not None,
        )
        batch.queue.issue(operation)

    def _deliver(self, batch: CtaBatch, write: Region, data: Data) -> None:
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


def _masked(write: Region, masks: np.ndarray) -> tuple[Region, np.ndarray]:
    """The bytes of each 16 that a byteMask lets through: byte i where bit i is set. Returns the region, an
    interval a byte, and their places among the bytes that are read."""
    index, interval = write.indices()
    begins = np.repeat(write.start, write.size)
    chosen = np.flatnonzero(masks[interval].astype(np.int64) >> ((index - begins) % UNIT) & 1)
    return Region(write.bank, index[chosen], 1, write.item[interval][chosen]), chosen


effect("cp.async.bulk.prefetch")(hint)


effect("cp.async.bulk.commit_group")(partial(commit, name="bulk"))


@effect("cp.async.bulk.wait_group")
def wait_group(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.wait_group{.read} N`."""
    return wait(instruction, "bulk", instruction.number("N"), instruction["read"] is not None)


@effect("cp.async.bulk.tensor")
def tensor(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion.. ..`: loads, and stores without reduction."""
    return _store(instruction, "store") if "srcMem" in instruction.operands else _load(instruction)


@effect("cp.reduce.async.bulk.tensor")
def tensor_reduction(instruction: ScopedInstruction) -> Effect:
    """`cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group.. ..`."""
    return _store(instruction, instruction["redOp"])


@effect("cp.async.bulk.prefetch.tensor")
def prefetch(instruction: ScopedInstruction) -> Effect:
    """`cp.async.bulk.prefetch.tensor.dim.L2.global.. ..`: a hint, but its tensor map must be one."""
    maps = _map(instruction)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        maps(lane_set, issuers)

    return Effect(by_thread(step))


def _load(instruction: ScopedInstruction) -> Effect:
    to = instruction.space_of("dstMem")
    places = AddressResolver(instruction.address("dstMem"), to, 1, instruction.site, within="shared")
    targets = instruction.source("ctaMask") if "ctaMask" in instruction.operands else None
    _touched(instruction)
    loads = Loads(
        instruction.site,
        _map(instruction),
        _elements(instruction, "tensorCoords"),
        places,
        mbarrier_at(instruction, "mbar", to),
        _elements(instruction, "info"),
        targets,
        instruction["cta_group"] == 2,
        to,
    )
    return Effect(by_thread(loads.issue))


def _store(instruction: ScopedInstruction, operation: str) -> Effect:
    places = AddressResolver(
        instruction.address("srcMem"), "shared::cta", 1, instruction.site, within="shared"
    )
    _touched(instruction)
    stores = Stores(
        instruction.site, _map(instruction), _elements(instruction, "tensorCoords"), places, operation
    )
    return Effect(by_thread(stores.issue))


def _touched(instruction: ScopedInstruction) -> None:
    program = instruction.scope.program
    program.asynchronous = True
    program.touches("shared", 16)
    program.touches("global", 4)


def _map(instruction: ScopedInstruction) -> MapOperand:
    mode = instruction["load_mode"] or LoadMode.TILE
    return MapOperand(instruction.address("tensorMap"), mode, instruction["dim"], instruction.site)


def _elements(instruction: ScopedInstruction, operand: str) -> tuple[SourceOperand, ...]:
    """Coordinates, innermost first, or offsets of an im2col copy; nothing where they are left out."""
    there = instruction.operands.get(operand)
    if there is None:
        return ()
    parts = there.elements if isinstance(there, tree.Vector) else (there,)
    return tuple(instruction.source(part, instruction.type_of(operand).name) for part in parts)
