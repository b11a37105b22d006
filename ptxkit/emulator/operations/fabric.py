"""Fabric operations: memory behind logical endpoints. PTX ISA 9.7.11.

Each is one asynchronous operation of its thread, which begins when the thread submits it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.asynchronous.operation import AsyncOperation, Transaction
from ptxkit.emulator.asynchronous.region import Data, Region, load, save
from ptxkit.emulator.copy_sides import UNIT, CopySide, Sizes
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.endpoints import LogicalEndpoint
from ptxkit.emulator.fabric_handle import FabricHandle
from ptxkit.emulator.fabric_queue import FabricQueue
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.operations import definedness
from ptxkit.emulator.operations.bulk_copy import Reduction, masked
from ptxkit.emulator.operations.mbarrier import mbarrier_at
from ptxkit.emulator.operations.multimem import reduction_of, seen_as
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.sync_points import WarpSyncPoint, check_members
from ptxkit.emulator.tensor_copies.maps import MapFences
from ptxkit.isa.modifiers import MemoryOperation, StateSpace

effect = Effects("fabric")


def single(step: Callable[[LaneSet, Issuers], None]) -> Callable[[LaneSet, Any], Any]:
    """The step of an instruction that each thread executes by itself."""

    def each(lane_set: LaneSet, issuers: Issuers) -> None:
        for at in range(len(issuers)):
            step(lane_set, issuers.some(np.array([at])))

    return by_thread(each)


def _touch(instruction: ScopedInstruction, size: int = UNIT) -> None:
    program = instruction.scope.program
    program.asynchronous = True
    for space in ("shared", "global"):
        program.touches(space, size)


def queue(
    lane_set: LaneSet,
    issuers: Issuers,
    instruction: ScopedInstruction,
    found: LogicalEndpoint,
    slots: np.ndarray,
    tx: int,
    reads: list[Region],
    writes: list[Region],
    fetch: Callable[[], Any],
    deliver: Callable[[Any], None],
    reduces: bool = False,
    after: Callable[[], None] = lambda: None,
    maps: np.ndarray | None = None,
) -> None:
    """Issue an operation of one thread. One behind a link that is down changes nothing, and reports that.

    Args:
        tx: what it takes off the tx-count of its mbarrier.
        after: what happens once it has written.
        maps: the address of its tensor map in global memory, -1 for elsewhere; None for none.
    """
    batch = lane_set.batch

    def fetched() -> Any:
        operation.reporting = np.array([found.failing])
        return None if found.failing else fetch()

    def delivered(data: Any) -> None:
        if data is not None:
            deliver(data)
        batch.queue.hazards.enter_writes(operation)
        if data is not None:
            after()

    operation = AsyncOperation(
        instruction.site,
        *issuers.who,
        reads=tuple(reads),
        writes=tuple(writes),
        fetch=fetched,
        deliver=delivered,
        signal=Transaction(slots, np.array([tx])),
        proxy="fabric",
        reduces=reduces,
        strong=not reduces and all(region.bank is not batch.shared for region in writes),
    )
    if maps is not None:
        batch.launch.own(MapFences).use(operation, maps)
    batch.own(FabricQueue).issue(operation)


class FabricBarrier:
    """The mbarrier of a fabric operation, which must have layout v1."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        self.places, self.site = mbarrier_at(instruction, "mbar", StateSpace.SHARED_CTA), instruction.site

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """Its slot. Reports P6200, another layout."""
        mbarriers = lane_set.batch.mbarriers
        slots = mbarriers.find(issuers, self.places(lane_set, issuers), self.site)
        mbarriers.check_reports(issuers, slots, self.site)
        return slots


def _at(place: int) -> np.ndarray:
    return np.array([place], np.int64)


@effect("fabric.try_get.async")
def try_get(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_get.async.shared::cta.. [dst], [leId, offset], size, [mbar]{, cache-policy}`."""
    handle, barrier = FabricHandle(instruction), FabricBarrier(instruction)
    to, sizes = CopySide(instruction, "dst"), Sizes(instruction)
    _touch(instruction)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        size, _ = sizes(lane_set, issuers)
        write = Region(batch.shared, to(lane_set, issuers, size), size)
        found, length = handle.endpoint_of(lane_set, issuers), int(size[0])
        (place,) = handle.places(issuers, found, handle.offset_of(lane_set, issuers), length)
        read = Region(launch.memory, _at(place), size)
        launch.counts.load("global", length)
        launch.counts.store("shared", length)
        deliver = partial(_save, write, instruction, batch)
        slots = barrier(lane_set, issuers)
        queue(
            lane_set, issuers, instruction, found, slots, length, [read], [write], lambda: load(read), deliver
        )

    return Effect(single(step))


def _save(write: Region, instruction: ScopedInstruction, batch: CtaBatch, data: Data) -> None:
    save(write, data, instruction.site, batch.launch)


@effect("fabric.try_put.async", "fabric.try_red.async")
def try_put(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_put.async{.multimem}.. [leId, offset{, counter}], [src], size, [mbar]{, byteMask}` and
    `fabric.try_red.async` with an operation and a type."""
    operator, kind = instruction.find(MemoryOperation), instruction.find(DType)
    reduction = None
    if operator is not None:
        assert kind is not None
        reduction = Reduction(combiner(operator, kind, True), kind)
    handle, barrier = FabricHandle(instruction), FabricBarrier(instruction)
    source, sizes = CopySide(instruction, "src"), Sizes(instruction)
    byte_mask = instruction.checked_source("byteMask") if "byteMask" in instruction.operands else None
    _touch(instruction, 1 if byte_mask is not None else UNIT if kind is None else kind.bytes)
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        size, _ = sizes(lane_set, issuers)
        read, length = Region(batch.shared, source(lane_set, issuers, size), size), int(size[0])
        found, offset = handle.endpoint_of(lane_set, issuers), handle.offset_of(lane_set, issuers)
        places = handle.places(issuers, found, offset, length)
        counters = handle.counters(lane_set, issuers, found, offset, length)
        writes, chosen = [Region(launch.memory, _at(place), size) for place in places], None
        if byte_mask is not None:
            mask = issuers.take(byte_mask(lane_set))
            each = [masked(write, mask) for write in writes]
            writes, chosen = [write for write, _ in each], each[0][1]
        launch.counts.load("shared", length)
        launch.counts.store("global", length * len(writes))

        def fetch() -> Data:
            data = load(read)
            return data if chosen is None else data.take(chosen)

        def deliver(data: Data) -> None:
            for write in writes:
                if reduction is None:
                    save(write, data, site, launch)
                    continue
                held = load(write)
                undefined = definedness.union((data.undefined, held.undefined))
                save(write, Data(reduction(held.data, data.data), undefined, data.origins), site, launch)

        def count() -> None:
            for counter in counters:
                count_bytes(batch, counter, length)

        slots = barrier(lane_set, issuers)
        reduces = reduction is not None
        queue(
            lane_set,
            issuers,
            instruction,
            found,
            slots,
            length // UNIT,
            [read],
            writes,
            fetch,
            deliver,
            reduces,
            count,
        )

    return Effect(single(step))


def count_bytes(batch: CtaBatch, place: int, size: int) -> None:
    """A counter grows by as many bytes: who reads it knows of all that was written until now."""
    launch = batch.launch
    (held,) = launch.memory.load(_at(place), 8)
    launch.memory.store(_at(place), (held + np.uint64(size),), 8)
    owner = launch.memory.find(place + BASE)
    if owner is not None and owner.history is not None:
        number = launch.events.take()
        batch.happens_before.publish_at(owner.history, owner.history.granules(_at(place)), number)


@effect("fabric.try_pullred.async")
def try_pullred(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_pullred.async.multimem.. [dst], [leId, offset], size, [mbar], membermask`: of a warp."""
    kind, operator = instruction.the(DType), instruction.the(MemoryOperation)
    reduced, seen = reduction_of(operator, kind, instruction["acc_prec"]), seen_as(kind)
    handle, barrier = FabricHandle(instruction), FabricBarrier(instruction)
    to, sizes = CopySide(instruction, "dst"), Sizes(instruction)
    members, site = instruction.source("membermask", "b32"), instruction.site
    check = check_members(members, site)
    _touch(instruction, kind.bytes)

    def of_warp(lane_set: LaneSet, guard: Any) -> None:
        check(lane_set, guard)
        every = Issuers.of(lane_set, guard)
        for row in sorted(set(every.rows.tolist())):
            own = every.some(every.rows == row)
            values = [
                handle.endpoint,
                handle.offset,
                sizes.size,
                to.address.read,
                barrier.places.accessor.read,
            ]
            for read in values:
                taken = own.take(read(lane_set))
                own.refuse(taken != taken[0], "P642", site, "lanes of the warp have different operands")
            step(lane_set, own.some(np.array([0])))

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        size, _ = sizes(lane_set, issuers)
        write = Region(batch.shared, to(lane_set, issuers, size), size)
        found, length = handle.endpoint_of(lane_set, issuers), int(size[0])
        places = handle.places(issuers, found, handle.offset_of(lane_set, issuers), length)
        if launch.random is not None:
            places = [places[at] for at in launch.random.permutation(len(places))]
        reads = [Region(launch.memory, _at(place), size) for place in places]
        launch.counts.load("global", length * len(reads))
        launch.counts.store("shared", length)

        def fetch() -> Data:
            loaded = [load(read) for read in reads]
            words = [np.ascontiguousarray(one.data).view(seen) for one in loaded]
            data = np.ascontiguousarray(reduced(words)).view(np.uint8)
            origins = next((one.origins for one in loaded if one.origins is not None), None)
            return Data(data, definedness.union(tuple(one.undefined for one in loaded)), origins)

        deliver = partial(_save, write, instruction, batch)
        slots = barrier(lane_set, issuers)
        queue(lane_set, issuers, instruction, found, slots, length, reads, [write], fetch, deliver)

    return Effect(of_warp, WarpSyncPoint(site, members, instruction.guard))


@effect("fabric.try_atom.async")
def try_atom(instruction: ScopedInstruction) -> Effect:
    """`fabric.try_atom.async.. [leId, offset], [dst], [src], [mbar]{, cache-policy}`: on 16 bytes, of which
    one element counts."""
    kind, operator = instruction.the(DType), instruction.the(MemoryOperation)
    combine, width, seen = combiner(operator, kind, True), kind.bytes, seen_as(kind)
    swaps = operator is MemoryOperation.CAS
    handle, barrier = FabricHandle(instruction), FabricBarrier(instruction)
    to, source = CopySide(instruction, "dst"), CopySide(instruction, "src", 2 * UNIT if swaps else UNIT)
    _touch(instruction, width)
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        batch, launch = lane_set.batch, lane_set.launch
        unit = np.array([UNIT])
        write = Region(batch.shared, to(lane_set, issuers, unit), unit)
        given = unit * 2 if swaps else unit
        read = Region(batch.shared, source(lane_set, issuers, given), given)
        found, offset = handle.endpoint_of(lane_set, issuers), handle.offset_of(lane_set, issuers)
        (place,) = handle.places(issuers, found, offset, width, width)
        there, skip = Region(launch.memory, _at(place), np.array([width])), offset % UNIT
        launch.counts.load("global", width)
        launch.counts.store("global", width)

        def element(data: np.ndarray, at: int) -> np.ndarray:
            part: np.ndarray = np.ascontiguousarray(data[at : at + width])
            return part.view(np.uint64).reshape(1, 2) if width == 16 else part.view(seen)

        def fetch() -> Data:
            return load(read)

        def deliver(data: Data) -> None:
            held = load(there)
            operands = [element(data.data, skip), *([element(data.data, UNIT + skip)] if swaps else [])]
            new = np.ascontiguousarray(combine(element(held.data, 0), *operands)).view(np.uint8).reshape(-1)
            back = np.zeros(UNIT, np.uint8)
            back[skip : skip + width] = held.data
            undefined = np.full(UNIT, 0xFF if launch.sanitize else 0, np.uint8)
            undefined[skip : skip + width] = 0 if held.undefined is None else held.undefined
            save(write, Data(back, undefined if undefined.any() else None), site, launch)
            spoiled = definedness.union((_part(data.undefined, skip, width), held.undefined))
            save(there, Data(new, spoiled), site, launch)

        slots = barrier(lane_set, issuers)
        queue(
            lane_set,
            issuers,
            instruction,
            found,
            slots,
            1,
            [read],
            [write, there],
            fetch,
            deliver,
            reduces=True,
        )

    return Effect(single(step))


def _part(undefined: np.ndarray | None, at: int, width: int) -> np.ndarray | None:
    return None if undefined is None else undefined[at : at + width]


@effect("fabric.submit", "fabric.submit.commit_group")
def submit(instruction: ScopedInstruction) -> Effect:
    """`fabric.submit{.op_restrict::fetching}`."""
    if instruction.row.name == "fabric.submit.commit_group":
        raise Unsupported("no manual has groups of fabric operations")
    fetching = instruction["op_restrict::fetching"] is not None

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        lane_set.batch.own(FabricQueue).submit(issuers.threads, fetching)

    return Effect(by_thread(step))


@effect("fabric.wait")
def wait(instruction: ScopedInstruction) -> Effect:
    """`fabric.wait.sync_restrict::reads`."""
    if "N" in instruction.operands:
        raise Unsupported("no manual has groups of fabric operations")

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        lane_set.batch.own(FabricQueue).wait_for_reads(issuers.threads)

    return Effect(by_thread(step))
