"""Tensor maps that kernels change: `tensormap.replace`, `tensormap.cp_fenceproxy`, `fence.proxy.tensormap`.

PTX ISA 9.7.9.28, 9.7.13.4, 9.7.13.16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.aligned import AlignedSyncPoint, check_whole_warps
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import Issuers, by_thread
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import undefined_decides
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.tensor_copies.maps import MAP_BYTES, MISALIGNED, MapFences
from ptxkit.emulator.values import WARP
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap
from ptxkit.encodings.tensor_maps.codes import ELEMENT_CODES
from ptxkit.isa.modifiers import TensorMapField

WORD = 16
"""Bytes of a map that are moved at once."""
ALIGNED = 128

asynchronous_copy, later = Effects("asynchronous_copy"), Effects("bulk_copies")
synchronization = Effects("synchronization")

Change = Callable[[int, int], int]
"""The map's 1024 bits after a field has got a value, from the bits before and the operand."""


def _placed(name: str) -> Change:
    """A field that holds the operand itself."""
    field = TensorMap.FIELDS.get(name) or TiledTensorMap.FIELDS[name]
    every = field.place((1 << field.width) - 1)
    return lambda word, value: word & ~every | field.place(value)


def _less_one(name: str) -> Change:
    change = _placed(name)
    return lambda word, value: change(word, value - 1)


def _stride(name: str) -> Change:
    change = _placed(name)
    return lambda word, value: change(word, value >> 4)


SWIZZLE_96B = 4
"""The value of `.swizzle_mode` that has a bit of its own."""


def _element_type(word: int, value: int) -> int:
    """`.elemtype`. Of the two fields that hold it, ptxas only ever sets the one that tells tf32 from f32."""
    name = next(dtype.name for dtype in DTYPES.values() if dtype.tensor_map == value)
    code = ELEMENT_CODES[name]
    word = word & ~(0xF << 64 + 7) | (code & 0xF) << 64 + 7
    return word | (code >> 4) << 64 + 16


def _bits(low: int, width: int) -> Change:
    """Bits of the word at byte 8."""
    every = (1 << width) - 1
    return lambda word, value: word & ~(every << 64 + low) | (value & every) << 64 + low


def _swizzle_mode(word: int, value: int) -> int:
    wide = value == SWIZZLE_96B
    return _bits(22, 1)(_bits(13, 2)(word, 0 if wide else value), int(wide))


PLAIN: dict[TensorMapField, Change] = {
    TensorMapField.GLOBAL_ADDRESS: _placed("address"),
    TensorMapField.RANK: _placed("rank"),
    TensorMapField.ELEMTYPE: _element_type,
    TensorMapField.INTERLEAVE_LAYOUT: _bits(11, 2),
    TensorMapField.SWIZZLE_MODE: _swizzle_mode,
    TensorMapField.SWIZZLE_ATOMICITY: _bits(19, 3),
    TensorMapField.FILL_MODE: _bits(15, 1),
}
ORDINAL: dict[TensorMapField, list[Change]] = {
    TensorMapField.BOX_DIM: [_less_one(f"box_{i}") for i in range(5)],
    TensorMapField.GLOBAL_DIM: [_less_one(f"size_{i}") for i in range(5)],
    TensorMapField.GLOBAL_STRIDE: [_stride(f"stride_{i}") for i in range(4)],
    TensorMapField.ELEMENT_STRIDE: [_less_one(f"element_stride_{i}") for i in range(5)],
}
"""Where ptxas puts each field, read off its code; the fields of a tiled map."""


@asynchronous_copy("tensormap.replace")
def replace(instruction: ScopedInstruction) -> Effect:
    """`tensormap.replace.tile.field{.ss}.b1024.type [addr]{, ord}, new_val`."""
    field = instruction["field"]
    if field in ORDINAL:
        ordinal = instruction.number("ord")
        if ordinal >= len(ORDINAL[field]):
            raise Unsupported("an ordinal that is no constant of this field")
        change = ORDINAL[field][ordinal]
    else:
        change = PLAIN[field]
    value = instruction.source("new_val", instruction["type"].name)
    at = _MapPlace(instruction, "addr")
    site = instruction.site

    def step(lane_set: LaneSet, issuers: Issuers) -> None:
        entry = value.undefined(lane_set) if lane_set.undefined else None
        if entry is not None and issuers.take(entry[0]).any():
            undefined_decides(lane_set, entry[0], entry[1], site, f"the operand `{value.name}`")
        at.check(lane_set, issuers)
        values = np.broadcast_to(value.reader(lane_set), (lane_set.n, WARP))
        taking = issuers.mask
        held, masks = at.load(lane_set, taking)
        for row, lane in zip(*issuers.at, strict=True):
            word = change(int.from_bytes(held[row, lane].tobytes(), "little"), int(values[row, lane]))
            held[row, lane] = np.frombuffer(word.to_bytes(MAP_BYTES, "little"), np.uint8)
        at.store(lane_set, taking, held, masks)

    return Effect(by_thread(step))


class _MapPlace:
    """The 128 bytes that an address names, by the operand's name in the row."""

    def __init__(self, instruction: ScopedInstruction, operand: str) -> None:
        self.site, space = instruction.site, instruction.space_of(operand)
        self.accessor = Accessor(instruction.address(operand), space, WORD, instruction.site, named=False)
        self.whole = Accessor(
            instruction.address(operand), space, MAP_BYTES, instruction.site, 1, named=False
        )
        for each in ("shared", "global"):
            instruction.scope.program.touches(each, WORD)

    def check(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """The addresses in global memory of each thread's map, -1 elsewhere. Raises P623, one is misaligned;
        P627, a copy in flight reads it."""
        addresses = np.full(len(issuers), -1, np.int64)
        launch = lane_set.launch
        for access in self.whole(lane_set, issuers.mask):
            mine = np.ones(len(issuers), bool) if access.guard is None else issuers.take(access.guard)
            at = issuers.take(access.index).astype(np.int64)
            if access.space == "global":
                at = at + BASE
                addresses[mine] = at[mine]
            else:
                at = at % lane_set.batch.shared.stride + launch.shared.start
            odd = mine & (at % ALIGNED != 0)
            if odd.any():
                found = int(at[np.argmax(odd)])
                message = f"expected a tensor map at a multiple of {ALIGNED}, found {found:#x}"
                issuers.refuse(odd, MISALIGNED, self.site, message, "declare it `.align 128`")
        if launch.sanitize:
            launch.own(MapFences).check_free(issuers, addresses, self.site)
        return addresses

    def load(self, lane_set: LaneSet, guard: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """The bytes for each lane, uint8 (n, 32, 128), and their undefined bits."""
        held = np.zeros((lane_set.n, WARP, MAP_BYTES), np.uint8)
        undefined = np.zeros_like(held)
        for offset in range(0, MAP_BYTES, WORD):
            part = slice(offset, offset + WORD)
            for access in self.accessor(lane_set, guard, offset):
                values, masks = access.load(4, 4)
                _spread(held[:, :, part], values, access.guard)
                if masks is not None:
                    _spread(undefined[:, :, part], masks, access.guard)
        return held, undefined if undefined.any() else None

    def store(self, lane_set: LaneSet, guard: Any, held: np.ndarray, undefined: np.ndarray | None) -> None:
        """Write the bytes of each lane."""
        for offset in range(0, MAP_BYTES, WORD):
            for access in self.accessor(lane_set, guard, offset):
                masks, origin = None, 0
                if undefined is not None:
                    masks = _words(undefined, offset)
                    origin = lane_set.launch.origins.of_copy(self.site)
                access.store(_words(held, offset), masks, 4, origin)


def _words(held: np.ndarray, offset: int) -> tuple[np.ndarray, ...]:
    words = np.ascontiguousarray(held[:, :, offset : offset + WORD]).view(np.uint32)
    return tuple(np.ascontiguousarray(words[:, :, i]) for i in range(WORD // 4))


def _spread(into: np.ndarray, values: tuple[Any, ...], guard: Any) -> None:
    """Put the words of an access into the bytes of the lanes that it is for."""
    shape = into.shape[:2]
    words = np.stack([np.broadcast_to(value, shape) for value in values], axis=-1).astype(np.uint32)
    found = np.ascontiguousarray(words).view(np.uint8)
    where = np.True_ if guard is None else np.broadcast_to(guard, shape)[..., None]
    np.copyto(into, found, where=where)


# ---- the tensormap proxy


def fence(instruction: ScopedInstruction) -> Effect:
    """`fence.proxy.tensormap::generic.release.scope`, and `.acquire.scope [addr], 128`."""
    site = instruction.site
    if instruction["release"]:
        return Effect(lambda lane_set, guard: _release(lane_set, guard, site))
    at = Accessor(instruction.address("addr"), "generic", MAP_BYTES, site, 1, named=False)

    def acquire(lane_set: LaneSet, guard: Any) -> None:
        issuers = Issuers.of(lane_set, guard)
        launch = lane_set.launch
        number = launch.events.take(site)
        lane_set.batch.happens_before.fence(lane_set.occupied_rows(), number)
        for access in at(lane_set, guard if launch.strict else _unless_null(at, lane_set, guard)):
            if access.space == "global":
                mine = np.ones(len(issuers), bool) if access.guard is None else issuers.take(access.guard)
                addresses = issuers.take(access.index).astype(np.int64) + BASE
                launch.own(MapFences).acquire(issuers.some(mine), addresses[mine], number)

    return Effect(acquire)


def _unless_null(at: Accessor, lane_set: LaneSet, guard: Any) -> Any:
    """The guard without the lanes that name no map: those of warps that have none, in shipping kernels."""
    if lane_set.undefined and at.slot in lane_set.undefined:
        return guard
    named = np.asarray(at.read(lane_set)) != 0
    if named.all():
        return guard
    return named if guard is None else guard & named


def _release(lane_set: LaneSet, guard: Any, site: Site) -> None:
    issuers = Issuers.of(lane_set, guard)
    if len(issuers):
        launch = lane_set.launch
        number = launch.events.take(site)
        lane_set.batch.happens_before.fence(lane_set.occupied_rows(), number)
        launch.own(MapFences).release(issuers, number)


@synchronization("tensormap.cp_fenceproxy")
def copy_and_fence(instruction: ScopedInstruction) -> Effect:
    """`tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.. [dst], [src], 128`."""
    into, out_of, site = _MapPlace(instruction, "dst"), _MapPlace(instruction, "src"), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        check_whole_warps(lane_set, guard, site)
        # The warp copies once: its first lane does.
        first = np.zeros((lane_set.n, WARP), bool)
        first[:, 0] = True
        chosen = first if guard is None or guard.ndim == 0 else first & guard
        issuers = Issuers.of(lane_set, chosen)
        if not len(issuers):
            return
        into.check(lane_set, issuers)
        held, undefined = out_of.load(lane_set, chosen)
        into.store(lane_set, chosen, held, undefined)
        _release(lane_set, chosen, site)

    return Effect(step, AlignedSyncPoint(instruction))


@later("tensormap.replace", "tensormap.query.alloc_class_large")
def allocation_class(instruction: ScopedInstruction) -> Effect:
    """`tensormap.replace` with an allocation class, and `tensormap.query`, which reads it."""
    raise Unsupported("where a tensor map keeps its allocation class is told nowhere")
