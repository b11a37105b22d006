"""`tcgen05.ld`, `.red`, `.spcompress`, and the cells that loads and stores reach. PTX ISA 9.7.16.8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps, uniform
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.numerics import single
from ptxkit.emulator.numerics import sparse_vectors as sparse
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operations.tensor_memory.issue import check_boxes
from ptxkit.emulator.sync_points import executing
from ptxkit.emulator.tensor_memory.engine import Engine
from ptxkit.emulator.tensor_memory.moves import Move, move, pack
from ptxkit.emulator.tensor_memory.order import Tcgen05InFlight
from ptxkit.emulator.values import distinct
from ptxkit.isa.modifiers import MemoryOperation, MovementShape
from ptxkit.layouts.tensor_memory import LANES, QUARTER

effect, compression = Effects("tcgen05"), Effects("compression")

INDEX_BITS = 2
"""Of an index that `.spcompress` writes."""


def movement(instruction: ScopedInstruction, packed: bool) -> Move:
    """What a load or store moves."""
    instruction.scope.program.asynchronous = True
    split = instruction.constant("immHalfSplitoff") or 0
    return move(instruction.the(MovementShape), instruction["num"], split, packed)


class TmemAddresses:
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
        values = self._with_quarters(lane_set, np.broadcast_to(value.reshape(-1), (lane_set.n,)), on)
        for one in distinct(values[on]):
            yield int(one), np.flatnonzero(on & (values == one))

    def _with_quarters(self, lane_set: LaneSet, values: np.ndarray, on: Any) -> np.ndarray:
        """The addresses; those of the first quarter of the lanes mean the warp's own, as on hardware, which
        has no lanes beyond the last either: 128 is lane 0 there."""
        batch = lane_set.batch
        rows = np.arange(batch.rows) if lane_set.rows is None else lane_set.rows
        first = (rows % batch.warps_per_cta % 4 * QUARTER).astype(values.dtype)
        lanes = values >> 16
        within = lanes % LANES
        own = np.where(lanes < QUARTER, lanes + first, within)
        implied = on & (own != lanes) & (own // QUARTER * QUARTER == first)
        if not implied.any():
            return values
        at = int(np.argmax(implied))
        where = (
            f"the first {QUARTER} lanes"
            if lanes[at] < LANES
            else f"lanes beyond {LANES}, {lanes[at]} and on,"
        )
        lane_set.launch.formally_wrong(
            "P6120",
            f"an address in {where} stands for those of the warp, {first[at]} and on",
            self.site,
            (str(batch.thread(int(rows[at]), 0)),),
            "add `(warp % 4) * 32 << 16` to the address",
        )
        return np.where(implied, values & 0xFFFF | own << 16, values)


def check_cells(
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


def enter_warps(engine: Engine, kind: str, site: Site, pattern: Move, address: int, rows: np.ndarray) -> None:
    """Note a load or store of some rows, until it is waited for."""
    if not engine.batch.launch.sanitize:
        return
    boxes = tuple(box.moved(address >> 16, address & 0xFFFF) for box in pattern.boxes)
    consumed = kind == "ld" and engine.is_consumed(site)
    for row in rows.tolist():
        cta = (row // engine.batch.warps_per_cta,)
        reads, writes = (boxes, ()) if kind == "ld" else ((), boxes)
        engine.at_once(Tcgen05InFlight(kind, site, row, 0, 0, cta, reads, writes), consumed)


class TmemLoad:
    """What the executing warps of a lane set load.

    Attributes:
        words: by register, row and lane.
        masks: their undefined bits, None for none.
        origin: of these.
    """

    def __init__(self, registers: int, lane_set: LaneSet) -> None:
        self.words = np.zeros((registers, lane_set.n, 32), np.uint32)
        self.masks: np.ndarray | None = None
        self.origin = 0

    def add(self, rows: np.ndarray, values: np.ndarray, unknown: np.ndarray | None) -> bool:
        """Take what some rows load. Returns whether a bit is undefined."""
        self.words[:, rows] = values
        if unknown is None or not unknown.any():
            return False
        if self.masks is None:
            self.masks = np.zeros(self.words.shape, np.uint32)
        self.masks[:, rows] = unknown
        return True

    def entry(self, masks: np.ndarray | None) -> tuple[np.ndarray, int] | None:
        """What a register that is written has to know of its undefined bits."""
        return (masks, self.origin) if masks is not None and masks.any() else None

    @property
    def joint(self) -> tuple[np.ndarray, int] | None:
        """Of a number that every register goes into."""
        if self.masks is None:
            return None
        return self.entry(np.where(self.masks.any(axis=0), np.uint32(0xFFFFFFFF), np.uint32(0)))


def _loader(instruction: ScopedInstruction, packed: bool) -> Callable[[LaneSet, Any], TmemLoad]:
    pattern, addresses = movement(instruction, packed), TmemAddresses(instruction)
    site = instruction.site

    def load(lane_set: LaneSet, guard: Any) -> TmemLoad:
        engine = lane_set.batch.own(Engine)
        memory = engine.memory
        loaded = TmemLoad(pattern.registers, lane_set)
        for address, rows in addresses(lane_set, guard):
            where = check_cells(engine, lane_set, pattern, address, rows, site)
            enter_warps(engine, "ld", site, pattern, address, where)
            ctas = (where // lane_set.batch.warps_per_cta)[:, None]
            if lane_set.launch.layouts is not None:
                lane_set.launch.layouts.loaded(lane_set.batch, ctas)
            cells = pattern.places(address)[:, None]
            values, unknown = memory.load(ctas, cells), memory.undefined(ctas, cells)
            if pattern.packed:
                values = pack(values, memory.load(ctas, cells + 1))
                upper = memory.undefined(ctas, cells + 1)
                if unknown is not None or upper is not None:
                    none = np.zeros(values.shape, np.uint32)
                    unknown = pack(none if unknown is None else unknown, none if upper is None else upper)
            if loaded.add(rows, values, unknown):
                loaded.origin = loaded.origin or memory.origin(ctas, cells) or _unwritten(engine, site)
        return loaded

    return load


def _unwritten(engine: Engine, site: Site) -> int:
    """The origin of cells that nobody wrote."""
    return engine.batch.launch.origins.of_read(site, "tensor memory")


@effect("tcgen05.ld", "tcgen05.ld.red")
def ld(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.ld{.red}.sync.aligned.shape.num{.pack::16b}{.op..}.type r, {redval,} [taddr]{, imm}`."""
    load, kind = _loader(instruction, instruction["pack::16b"] is not None), instruction.type_of("r").name
    targets = [instruction.target(part, kind) for part in instruction.parts("r")]
    reduced = instruction.target("redval")
    reduce = _reduction(instruction, kind) if reduced is not None else None

    def step(lane_set: LaneSet, guard: Any) -> bool:
        loaded = load(lane_set, guard)
        for i, target in enumerate(targets):
            if target is not None:
                entry = None if loaded.masks is None else loaded.entry(loaded.masks[i])
                target.write(lane_set, loaded.words[i].view(target_dtype(kind)), entry, guard)
        if reduce is not None and reduced is not None:
            reduced.write(lane_set, reduce(loaded.words), loaded.joint, guard)
        return loaded.masks is not None

    return Effect(step, AlignedSyncPoint(instruction))


@compression("tcgen05.ld.spcompress", "tcgen05.ld.red.spcompress")
def ld_spcompress(instruction: ScopedInstruction) -> Effect:
    """`tcgen05.ld{.red}.spcompress.sync.aligned.32x32b.num.redOp.sp::2:4{.abs}{.NaN}.f32.b2
    mdata, cdata, {redval,} [taddr]`."""
    load = _loader(instruction, packed=False)
    largest = instruction["redOp"] is not MemoryOperation.MIN
    magnitude = instruction["abs"] is not None
    targets = [
        instruction.target(part, "b32") for name in ("mdata", "cdata") for part in instruction.parts(name)
    ]
    reduced = instruction.target("redval")
    reduce = _reduction(instruction, "f32") if reduced is not None else None

    def step(lane_set: LaneSet, guard: Any) -> bool:
        loaded = load(lane_set, guard)
        words = np.ascontiguousarray(np.moveaxis(loaded.words, 0, -1))
        ranks = sparse.rank(words, "f32", largest, magnitude)
        kept, indexes = sparse.compress(words, 32, ranks, INDEX_BITS)
        masks = None
        if loaded.masks is not None:
            unknown = np.ascontiguousarray(np.moveaxis(loaded.masks, 0, -1))
            masks = np.concatenate(sparse.spoiled(unknown, 32, INDEX_BITS), axis=-1)
        for i, (target, result) in enumerate(
            zip(targets, np.moveaxis(np.concatenate((indexes, kept), axis=-1), -1, 0), strict=True)
        ):
            if target is not None:
                entry = None if masks is None else loaded.entry(np.ascontiguousarray(masks[..., i]))
                target.write(lane_set, np.ascontiguousarray(result), entry, guard)
        if reduce is not None and reduced is not None:
            reduced.write(lane_set, reduce(loaded.words), loaded.joint, guard)
        return loaded.masks is not None

    return Effect(step, AlignedSyncPoint(instruction))


def target_dtype(kind: str) -> np.dtype[Any]:
    """The dtype in which a register of a type is written."""
    return np.dtype({"b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32}[kind])


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
