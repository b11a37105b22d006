"""`tcgen05.cp` and `tcgen05.shift`. PTX ISA 9.7.16.9."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operations.tensor_memory.issue import (
    Operand,
    check_boxes,
    check_shared,
    cta_group,
    illegal,
    warn_many,
)
from ptxkit.emulator.tensor_memory import moves
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.emulator.tensor_memory.issued import Tcgen05InFlight
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.product import Illegal, smem_descriptor
from ptxkit.isa.modifiers import MovementShape, Multicast
from ptxkit.layouts.tensor_memory import COLUMNS

effect = Effects("tcgen05")


@effect("tcgen05.cp")
def cp(form: ScopedInstruction) -> Effect:
    """`tcgen05.cp.cta_group.shape{.multicast}{.b8x16.src_fmt} [taddr], s-desc`."""
    group_size, source_format = cta_group(form), form["src_fmt"]
    pattern = moves.copy(form.the(MovementShape), form.find(Multicast) or "")
    target, descriptor = Operand(form, "taddr"), Operand(form, "s_desc")
    form.scope.program.touches("shared", 16)
    site = form.site

    def without(word: int, bits: int) -> tuple[Tcgen05SharedOperand, ...]:
        return (pattern.source(smem_descriptor(word & ~bits), source_format),)

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        if not len(issuers):
            return
        warn_many(lane_set, issuers, site)
        engine = lane_set.batch.own(Engine)
        pairs = zip(target.take(lane_set, issuers), descriptor.take(lane_set, issuers), strict=True)
        for item, (address, word) in enumerate(pairs):
            who, row = issuers.name(item), int(issuers.rows[item])
            cta = row // lane_set.batch.warps_per_cta
            engine.check_group(cta, group_size, site, who)
            try:
                source = pattern.source(smem_descriptor(int(word)), source_format)
            except Illegal as wrong:
                raise illegal(wrong, site, who) from None
            lane, column = int(address) >> 16, int(address) & 0xFFFF
            boxes = tuple(box.moved(lane, column) for box in pattern.boxes)
            ctas = engine.pair(cta, group_size)
            check_shared(engine, (source,), (int(word),), site, cta, who, partial(without, int(word)))
            check_boxes(engine, ctas, boxes, site, who)
            issued = Tcgen05InFlight("cp", site, row, int(issuers.lanes[item]), group_size, ctas, (), boxes)
            cells = pattern.cells + (lane * COLUMNS + column)

            def work(
                ctas: tuple[int, ...] = ctas, source: Tcgen05SharedOperand = source, cells: np.ndarray = cells
            ) -> None:
                for one in ctas:
                    _copy(engine, one, pattern, source, cells, source_format, site)

            engine.issue(issued, [(one, source) for one in ctas], work)

    return Effect(step)


def _copy(
    engine: Engine,
    cta: int,
    pattern: moves.Tcgen05Copy,
    source: Tcgen05SharedOperand,
    cells: np.ndarray,
    source_format: str | None,
    site: Site,
) -> None:
    side = engine.side(cta)
    at = source.start - side.start
    words = pattern.words(source.map.gather(side.memory, at), source_format)
    undefined = None
    if side.shadow is not None:
        masks = pattern.words(source.map.gather(side.shadow, at), source_format)
        if masks.any():
            origin = engine.batch.launch.origins.of_copy(site)
            undefined = np.broadcast_to(masks, cells.shape), origin
    engine.memory.store(cta, cells, np.broadcast_to(words, cells.shape), undefined)


@effect("tcgen05.shift")
def shift(form: ScopedInstruction) -> Effect:
    """`tcgen05.shift.cta_group.down [taddr]`."""
    group_size, target, site = cta_group(form), Operand(form, "taddr"), form.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        if not len(issuers):
            return
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

            engine.issue(issued, (), work)

    return Effect(step)
