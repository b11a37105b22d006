"""`tcgen05.st`, `.wait`, `.cp`, `.shift`. PTX ISA 9.7.16.8, 9.7.16.9."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operations.tensor_memory.issue import (
    Operand,
    check_boxes,
    check_shared,
    cta_group,
    illegal,
    warn_many,
)
from ptxkit.emulator.operations.tensor_memory.load import TmemAddresses, check_cells, enter_warps, movement
from ptxkit.emulator.sync_points import executing_rows
from ptxkit.emulator.tensor_memory import moves
from ptxkit.emulator.tensor_memory.cells import PITCH
from ptxkit.emulator.tensor_memory.engine import Engine, Tcgen05Work
from ptxkit.emulator.tensor_memory.mma_plan import Illegal
from ptxkit.emulator.tensor_memory.moves import unpack
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight
from ptxkit.emulator.tensor_memory.product import smem_descriptor
from ptxkit.emulator.tensor_memory.shared_reads import SharedRead
from ptxkit.isa.modifiers import MovementShape, Multicast

effect = Effects("tcgen05")


@effect("tcgen05.st")
def st(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr], {imm,} r`."""
    pattern = movement(instruction, instruction["unpack::16b"] is not None)
    sources = [instruction.source(part, "b32") for part in instruction.parts("r")]
    addresses, site = TmemAddresses(instruction), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        engine = lane_set.batch.own(Engine)
        shape = (lane_set.n, 32)
        words = np.stack([np.broadcast_to(source.reader(lane_set), shape) for source in sources])
        masks, origin = None, 0
        for i, source in enumerate(sources):
            entry = source.undefined(lane_set) if lane_set.undefined else None
            if entry is not None:
                masks = np.zeros(words.shape, np.uint32) if masks is None else masks
                masks[i] = entry[0]
                origin = origin or entry[1]
        if masks is not None:
            origin = lane_set.launch.origin_of_store(origin, site)
        for address, rows in addresses(lane_set, guard):
            where = check_cells(engine, lane_set, pattern, address, rows, site)
            enter_warps(engine, "st", site, pattern, address, where)
            ctas = (where // lane_set.batch.warps_per_cta)[:, None]
            cells = pattern.places(address)[:, None]
            values = words[:, rows]
            unknown = None if masks is None else masks[:, rows]
            if not pattern.packed:
                engine.memory.store(ctas, cells, values, None if unknown is None else (unknown, origin))
                continue
            halves = (None, None) if unknown is None else unpack(unknown)
            for step_, (part, mask) in enumerate(zip(unpack(values), halves, strict=True)):
                engine.memory.store(ctas, cells + step_, part, None if mask is None else (mask, origin))

    return Effect(step, AlignedSyncPoint(instruction))


def wait(instruction: ScopedInstruction, kind: str) -> Effect:
    """`tcgen05.wait::ld.sync.aligned`, `tcgen05.wait::st.sync.aligned`."""
    site = instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        check_whole_warps(lane_set, guard, site)
        if not lane_set.launch.sanitize:
            return
        rows = executing_rows(lane_set, guard)
        number = lane_set.launch.events.take(site)
        lane_set.batch.own(Engine).in_flight.waited(kind, rows.tolist(), number)

    return Effect(step, AlignedSyncPoint(instruction))


effect("tcgen05.wait::ld")(partial(wait, kind="ld"))
effect("tcgen05.wait::st")(partial(wait, kind="st"))


@effect("tcgen05.cp")
def cp(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.cp.cta_group.shape{.multicast}{.b8x16.src_fmt} [taddr], s-desc`."""
    group_size, source_format = cta_group(instruction), instruction["src_fmt"]
    pattern = moves.copy(instruction.the(MovementShape), instruction.find(Multicast) or "")
    target, descriptor = Operand(instruction, "taddr"), Operand(instruction, "s_desc")
    instruction.scope.program.touches("shared", 16)
    site, capability = instruction.site, instruction.scope.program.capability

    def without(word: int, bits: int) -> tuple[Tcgen05SharedOperand, ...]:
        return (pattern.source(smem_descriptor(word & ~bits, capability), source_format),)

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        warn_many(lane_set, issuers, site)
        engine = lane_set.batch.own(Engine)
        pairs = zip(target.take(lane_set, issuers), descriptor.take(lane_set, issuers), strict=True)
        for item, (address, word) in enumerate(pairs):
            who, row = issuers.name(item), int(issuers.rows[item])
            cta = row // lane_set.batch.warps_per_cta
            engine.check_group(cta, group_size, site, who)
            try:
                source = pattern.source(smem_descriptor(int(word), capability), source_format)
            except Illegal as wrong:
                raise illegal(wrong, site, who) from None
            lane, column = int(address) >> 16, int(address) & 0xFFFF
            boxes = tuple(box.moved(lane, column) for box in pattern.boxes)
            ctas = engine.pair(cta, group_size)
            check_shared(engine, (source,), (int(word),), site, cta, who, partial(without, int(word)))
            check_boxes(engine, ctas, boxes, site, who)
            issued = Tcgen05InFlight("cp", site, row, int(issuers.lanes[item]), group_size, ctas, (), boxes)
            cells = pattern.cells + (lane * PITCH + column)
            layouts = lane_set.launch.layouts
            if layouts is not None and instruction.find(Multicast) == Multicast.WARPX4:
                layouts.scales(lane_set.batch, ctas, site.where, int(word), column)

            def work(
                ctas: tuple[int, ...] = ctas, source: Tcgen05SharedOperand = source, cells: np.ndarray = cells
            ) -> None:
                for one in ctas:
                    _copy(engine, one, pattern, source, cells, source_format, site)

            engine.issue(issued, [SharedRead(one, source) for one in ctas], Tcgen05Work(work))

    return Effect(by_thread(step))


def _copy(
    engine: Engine,
    cta: int,
    pattern: moves.Tcgen05Copy,
    source: Tcgen05SharedOperand,
    cells: np.ndarray,
    source_format: str | None,
    site: Site,
) -> None:
    codes, undefined_codes = engine.side(cta).gather(source)
    words = pattern.words(codes, source_format)
    undefined = None
    if undefined_codes is not None:
        masks = pattern.words(undefined_codes, source_format)
        if masks.any():
            origin = engine.batch.launch.origins.of_copy(site)
            undefined = np.broadcast_to(masks, cells.shape), origin
    engine.memory.store(cta, cells, np.broadcast_to(words, cells.shape), undefined)


@effect("tcgen05.shift")
def shift(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.shift.cta_group.down [taddr]`."""
    group_size, target, site = cta_group(instruction), Operand(instruction, "taddr"), instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        warn_many(lane_set, issuers, site)
        engine = lane_set.batch.own(Engine)
        for item, value in enumerate(target.take(lane_set, issuers)):
            who, row, address = issuers.name(item), int(issuers.rows[item]), int(value)
            cta = row // lane_set.batch.warps_per_cta
            engine.check_group(cta, group_size, site, who)
            if address >> 16 & 31:
                message = f"expected a lane that is a multiple of 32, found {address >> 16}"
                raise fault("P6110", message, site, (who,))
            read, written = moves.shift_boxes(address)
            ctas = engine.pair(cta, group_size)
            check_boxes(engine, ctas, (read, written), site, who)
            issued = Tcgen05InFlight(
                "shift", site, row, int(issuers.lanes[item]), group_size, ctas, (read,), (written,)
            )
            sources, targets = moves.shift_cells(address)

            def work(
                ctas: tuple[int, ...] = ctas, sources: np.ndarray = sources, targets: np.ndarray = targets
            ) -> None:
                memory = engine.memory
                for one in ctas:
                    masks = memory.undefined(one, sources)
                    undefined = None if masks is None else (masks, engine.batch.launch.origins.of_copy(site))
                    memory.store(one, targets, memory.load(one, sources), undefined)

            engine.issue(issued, (), Tcgen05Work(work))

    return Effect(by_thread(step))
