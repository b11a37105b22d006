"""`tcgen05.ld`, `.st`, `.wait`, `.cp`, `.shift`. PTX ISA 9.7.16.8, 9.7.16.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps, uniform
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.numerics import single
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations.tensor_memory.issue import (
    Operand,
    check_boxes,
    check_shared,
    cta_group,
    illegal,
    warn_many,
)
from ptxkit.emulator.sync_points import executing, executing_rows
from ptxkit.emulator.tensor_memory import moves
from ptxkit.emulator.tensor_memory.cells import PITCH
from ptxkit.emulator.tensor_memory.engine import Engine, SharedRead, Tcgen05Work
from ptxkit.emulator.tensor_memory.mma_plan import Illegal
from ptxkit.emulator.tensor_memory.moves import Move, move, pack, unpack
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight
from ptxkit.emulator.tensor_memory.product import smem_descriptor
from ptxkit.emulator.values import distinct
from ptxkit.isa.modifiers import MemoryOperation, MovementShape, Multicast
from ptxkit.layouts.tensor_memory import QUARTER

effect = Effects("tcgen05")


def _pattern(instruction: ScopedInstruction, packed: bool) -> Move:
    instruction.scope.program.asynchronous = True
    split = instruction.constant("immHalfSplitoff") or 0
    return move(instruction.the(MovementShape), instruction["num"], split, packed)


class _Addresses:
    """The TMEM address of each warp that executes a load or store."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        self.address, self.site = instruction.address("taddr"), instruction.site

    def __call__(self, lane_set: LaneSet, guard: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Each address with the set's rows that have it. Raises P640, P641, not the whole warp executes it;
        P642, its lanes disagree."""
        check_whole_warps(lane_set, guard, self.site)
        lanes = executing(lane_set, guard)
        on = np.ones(lane_set.n, bool) if lanes is None else lanes.any(axis=1)
        value = np.asarray(self.address.read(lane_set))
        if isinstance(self.address.base, SourceOperand):
            value = np.asarray(uniform(lane_set, guard, self.address.base, value, self.site))
        values = np.broadcast_to(value.reshape(-1), (lane_set.n,))
        for one in distinct(values[on]):
            yield int(one), np.flatnonzero(on & (values == one))


def _check(
    engine: Engine, lane_set: LaneSet, pattern: Move, address: int, rows: np.ndarray, site: Site
) -> np.ndarray:
    """The batch's rows of a lane set, which may touch the cells at an address. Raises P6120, it is not the
    warp's quarter of the lanes; P6109, P6110."""
    batch = lane_set.batch
    where: np.ndarray = rows if lane_set.rows is None else lane_set.rows[rows]
    lane = address >> 16
    first = where % batch.warps_per_cta % 4 * QUARTER
    wrong = (lane < first) | (lane + pattern.lanes > first + QUARTER)
    if wrong.any():
        row = int(where[int(np.argmax(wrong))])
        begin = row % batch.warps_per_cta % 4 * QUARTER
        raise fault(
            "P6120",
            f"warp {row % batch.warps_per_cta} reaches lanes {begin} to {begin + QUARTER - 1}, "
            f"found lanes {lane} to {lane + pattern.lanes - 1}",
            site,
            (str(batch.thread(row, 0)),),
            "add `(warp % 4) * 32 << 16` to the address, and use four consecutive warps for all lanes",
        )
    boxes = tuple(box.moved(lane, address & 0xFFFF) for box in pattern.boxes)
    for cta in distinct(where // batch.warps_per_cta):
        row = int(where[int(np.argmax(where // batch.warps_per_cta == cta))])
        check_boxes(engine, (int(cta),), boxes, site, str(batch.thread(row, 0)))
    return where


def _enter(engine: Engine, kind: str, site: Site, pattern: Move, address: int, rows: np.ndarray) -> None:
    if not engine.batch.launch.sanitize:
        return
    boxes = tuple(box.moved(address >> 16, address & 0xFFFF) for box in pattern.boxes)
    for row in rows.tolist():
        cta = (row // engine.batch.warps_per_cta,)
        reads, writes = (boxes, ()) if kind == "ld" else ((), boxes)
        engine.at_once(Tcgen05InFlight(kind, site, row, 0, 0, cta, reads, writes))


@effect("tcgen05.ld", "tcgen05.ld.red")
def ld(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.ld{.red}.sync.aligned.shape.num{.pack::16b}{.op..}.type r, {redval,} [taddr]{, imm}`."""
    pattern, kind = _pattern(instruction, instruction["pack::16b"] is not None), instruction.type_of("r").name
    targets = [instruction.target(part, kind) for part in instruction.parts("r")]
    reduced = instruction.target("redval")
    reduce = _reduction(instruction, kind) if reduced is not None else None
    addresses, site = _Addresses(instruction), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        engine = lane_set.batch.own(Engine)
        memory = engine.memory
        words = np.zeros((pattern.registers, lane_set.n, 32), np.uint32)
        masks: np.ndarray | None = None
        origin = 0
        for address, rows in addresses(lane_set, guard):
            where = _check(engine, lane_set, pattern, address, rows, site)
            _enter(engine, "ld", site, pattern, address, where)
            ctas = (where // lane_set.batch.warps_per_cta)[:, None]
            cells = pattern.places(address)[:, None]
            values, unknown = memory.load(ctas, cells), memory.undefined(ctas, cells)
            if pattern.packed:
                values = pack(values, memory.load(ctas, cells + 1))
                upper = memory.undefined(ctas, cells + 1)
                if unknown is not None or upper is not None:
                    none = np.zeros(values.shape, np.uint32)
                    unknown = pack(none if unknown is None else unknown, none if upper is None else upper)
            words[:, rows] = values
            if unknown is not None and unknown.any():
                masks = np.zeros(words.shape, np.uint32) if masks is None else masks
                masks[:, rows] = unknown
                origin = origin or memory.origin(ctas, cells) or _unwritten(engine, site)
        for i, target in enumerate(targets):
            if target is not None:
                entry = (masks[i], origin) if masks is not None and masks[i].any() else None
                target.write(lane_set, words[i].view(target_dtype(kind)), entry, guard)
        if reduce is not None and reduced is not None:
            entry = None
            if masks is not None and masks.any():
                entry = np.where(masks.any(axis=0), np.uint32(0xFFFFFFFF), np.uint32(0)), origin
            reduced.write(lane_set, reduce(words), entry, guard)
        return masks is not None

    return Effect(step, AlignedSyncPoint(instruction))


def target_dtype(kind: str) -> np.dtype[Any]:
    """The dtype in which a register of a type is written."""
    return np.dtype({"b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32}[kind])


def _unwritten(engine: Engine, site: Site) -> int:
    """The origin of cells that nobody wrote."""
    return engine.batch.launch.origins.of_read(site, "tensor memory")


def _reduction(instruction: ScopedInstruction, kind: str) -> Callable[[np.ndarray], np.ndarray]:
    least = instruction["redOp"] is MemoryOperation.MIN
    absolute, nan = instruction["abs"], instruction["NaN"] is not None

    def reduce(words: np.ndarray) -> np.ndarray:
        values = words.view(target_dtype(kind))
        if kind != "f32":
            return values.min(axis=0) if least else values.max(axis=0)
        if absolute:
            values = np.abs(values)
        result = values[0]
        for value in values[1:]:
            result = single.extreme(result, value, not least, nan)
        return result

    return reduce


@effect("tcgen05.st")
def st(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr], {imm,} r`."""
    pattern = _pattern(instruction, instruction["unpack::16b"] is not None)
    sources = [instruction.source(part, "b32") for part in instruction.parts("r")]
    addresses, site = _Addresses(instruction), instruction.site

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
            where = _check(engine, lane_set, pattern, address, rows, site)
            _enter(engine, "st", site, pattern, address, where)
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
