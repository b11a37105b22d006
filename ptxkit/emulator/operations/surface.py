"""Surfaces: `suld`, `sust`, `sured`, `suq`. PTX ISA 9.7.11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.access import Access
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand, put
from ptxkit.emulator.races import enter_atomic
from ptxkit.emulator.reductions import CHAINED, combiner, take_turns
from ptxkit.emulator.texels.arrays import TexelLevel
from ptxkit.emulator.texels.formats import ChannelKind, stored
from ptxkit.emulator.texels.objects import Surface
from ptxkit.emulator.texels.queries import answer
from ptxkit.emulator.textures.handles import HandleOperand
from ptxkit.emulator.textures.surfaces import SurfaceOperand
from ptxkit.emulator.values import RAW, WARP, ones, viewed
from ptxkit.isa.modifiers import MemoryOperation, MemoryOrder, OpaqueField

effect = Effects("surface")


@effect("suld.b")
def suld(instruction: ScopedInstruction) -> Effect:
    """`suld.b.geom{.cop}{.vec}.dtype.clamp d, [a, coords]`: bytes as they are; zeros from outside."""
    kind, count = instruction["dtype"], instruction["vec"] or 1
    width, raw = kind.bytes, RAW[kind.bits]
    targets = [instruction.target(part, kind.name) for part in instruction.parts("d")]
    surface = SurfaceOperand(instruction, width * count, 1)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        tainted = False
        for reached in surface.reach(lane_set, guard):
            access = reached.access
            values: Sequence[Any] = [np.zeros(reached.mine.shape, raw)] * count
            masks = None
            if access is not None:
                lane_set.launch.counts.load("global", access.lanes * width * count)
                access.count_traffic(width * count, "loaded")
                loaded, masks = access.load(width, count)
                values = [np.where(access.guard, value, raw.type(0)) for value in loaded]
            for i, (target, value) in enumerate(zip(targets, values, strict=True)):
                mask = None
                if masks is not None and access is not None and masks[i].any():
                    mask = (np.where(access.guard, masks[i], raw.type(0)), access.origin(width * count))
                    tainted = True
                put(target, lane_set, value, mask, reached.mine)
        return tainted

    return Effect(step)


@effect("sust.b")
def sust(instruction: ScopedInstruction) -> Effect:
    """`sust.b.geom{.cop}{.vec}.ctype.clamp [a, coords], c`: bytes as they are; outside nothing."""
    kind, count = instruction["ctype"], instruction["vec"] or 1
    width, raw = kind.bytes, RAW[kind.bits]
    sources = _sources(instruction, kind)
    surface = SurfaceOperand(instruction, width * count, 1)
    instruction.scope.program.touches("global", width)

    def step(lane_set: LaneSet, guard: Any) -> None:
        values = [viewed(source.reader(lane_set), raw) for source in sources]
        masks, origin = _undefined(lane_set, instruction, sources, raw)
        for reached in surface.reach(lane_set, guard):
            if reached.access is not None:
                _store(reached.access, values, masks, width, origin)

    return Effect(step)


@effect("sust.p")
def sust_formatted(instruction: ScopedInstruction) -> Effect:
    """`sust.p.geom{.vec}.b32.clamp [a, coords], c`: channels, converted to the surface's format. What it is
    given no value for becomes undefined."""
    sources = _sources(instruction, DTYPES["b32"])
    surface, site = SurfaceOperand(instruction, 0, 0), instruction.site
    instruction.scope.program.touches("global", 1)

    def step(lane_set: LaneSet, guard: Any) -> None:
        words = [viewed(source.reader(lane_set), RAW[32]) for source in sources]
        unknown, origin = _undefined(lane_set, instruction, sources, RAW[32])
        for reached in surface.reach(lane_set, guard):
            access, level = reached.access, reached.level
            if access is None:
                continue
            bits = level.format.bytes * 8
            every, none = np.asarray(ones(bits)), np.zeros((), RAW[bits])
            with np.errstate(all="ignore"):
                values = [stored(np.asarray(word), level.format) for word in words[: level.channels]]
            masks = [none] * len(values)
            if unknown is not None:
                masks = [np.where(mask != 0, every, none) for mask in unknown[: level.channels]]
            lacking, from_ = level.channels - len(values), origin
            if lacking:
                from_ = origin or lane_set.launch.origins.of_read(site, "a channel without a value")
            masks += [every] * lacking
            values += [none] * lacking
            known = (unknown is None and not lacking) or not lane_set.launch.sanitize
            _store(access, values, None if known else masks, level.format.bytes, from_)

    return Effect(step)


def _sources(instruction: ScopedInstruction, kind: DType) -> list[SourceOperand]:
    return [
        instruction.source(part, f"b{kind.bits}" if isinstance(part, tree.Name) else kind.name)
        for part in instruction.parts("c")
    ]


def _undefined(
    lane_set: LaneSet, instruction: ScopedInstruction, sources: Sequence[SourceOperand], raw: np.dtype
) -> tuple[list[Any] | None, int]:
    """The undefined bits of what is stored, and their origin."""
    found = [source.undefined(lane_set) for source in sources] if lane_set.undefined else []
    first = next((entry for entry in found if entry), None)
    if first is None:
        return None, 0
    masks = [raw.type(0) if entry is None else viewed(entry[0], raw) for entry in found]
    return masks, lane_set.launch.origin_of_store(first[1], instruction.site)


def _store(
    access: Access, values: Sequence[Any], masks: Sequence[Any] | None, width: int, origin: int
) -> None:
    size = width * len(values)
    access.lane_set.launch.counts.store("global", access.lanes * size)
    access.count_traffic(size, "stored")
    access.store(tuple(values), None if masks is None else tuple(masks), width, origin)


@effect("sured.b")
def sured(instruction: ScopedInstruction) -> Effect:
    """`sured.b.op.geom.ctype.clamp [a, coords], c`: the first coordinate counts bytes."""
    return _reduction(instruction, instruction.the(DType).bytes, 1)


@effect("sured.p")
def sured_formatted(instruction: ScopedInstruction) -> Effect:
    """`sured.p.op.geom.ctype.clamp [a, coords], c`: the first coordinate counts elements, and integers have a
    sign if the surface's have one."""
    width = instruction.the(DType).bytes
    return _reduction(instruction, width, width)


def _reduction(instruction: ScopedInstruction, width: int, scale: int) -> Effect:
    """A reduction of elements of `width` bytes, `scale` of them from one coordinate to the next."""
    kind: DType = instruction.the(DType)
    operator = instruction.the(MemoryOperation)
    formatted = not kind.is_integer and operator not in (MemoryOperation.AND, MemoryOperation.OR)
    raw = RAW[kind.bits]
    source = instruction.source("c", kind.name)
    surface = SurfaceOperand(instruction, width, scale)
    site = instruction.site
    instruction.scope.program.touches("global", width)

    def typed(level: TexelLevel) -> DType:
        signed = level.format.kind is ChannelKind.SIGNED
        return DTYPES[f"{'s' if signed else 'u'}{kind.bits}"] if formatted else kind

    def step(lane_set: LaneSet, guard: Any) -> None:
        launch = lane_set.launch
        operand = np.broadcast_to(viewed(source.reader(lane_set), raw), (lane_set.n, WARP))
        entry = source.undefined(lane_set)
        for reached in surface.reach(lane_set, guard):
            access = reached.access
            if access is None:
                continue
            launch.counts.load("global", access.lanes * width)
            launch.counts.store("global", access.lanes * width)
            access.count_traffic(width, "reduced")
            history = access.history_of_write
            if history is not None:
                number = enter_atomic(access, history, width)
                access.synchronise(history, number, MemoryOrder.RELAXED, MemoryOrder.RELAXED)
            of = typed(reached.level)
            dtype = np.dtype(of.numpy)
            places = access.index[access.guard]
            (held,) = access.bank.load(places, width)
            chosen = operand[access.guard].view(dtype)
            _, left, last = take_turns(
                places,
                held.view(dtype),
                [chosen],
                combiner(operator, of, True),
                operator in CHAINED,
                launch.random,
            )
            if launch.watching and (left.view(raw) != held).any():
                launch.changes += 1
            access.bank.store(places[last], (left.view(raw)[last],), width)
            if entry is not None or access.suspect:
                _taint(access, places, width, entry, site)

    return Effect(step)


def _taint(access: Access, places: np.ndarray, width: int, entry: Any, site: Any) -> None:
    """Undefined bits of a place or of what it is combined with make all of it undefined."""
    bank, raw = access.bank, RAW[width * 8]
    if bank.shadow is None:
        return
    (bad,) = bank.load_shadow(places, width)
    some = bad != 0
    origin = 0
    if entry is not None:
        some = some | (np.broadcast_to(entry[0], access.guard.shape)[access.guard] != 0)
        origin = access.lane_set.launch.origin_of_store(entry[1], site)
    if some.any():
        every = np.full(int(some.sum()), ones(width * 8), raw)
        bank.store_shadow(places[some], (every,), width)
        bank.set_origin(places[some], width, origin or access.origin(width))
        access.mark_undefined()


@effect("suq")
def suq(instruction: ScopedInstruction) -> Effect:
    """`suq.query.b32 d, [a]`."""
    field: OpaqueField = instruction["query"]
    handles, target = HandleOperand(instruction, "a", Surface), instruction.target("d", "b32")

    def step(lane_set: LaneSet, guard: Any) -> None:
        for found, mine in handles.objects(lane_set, guard):
            put(target, lane_set, np.uint32(answer(field, found)), None, mine)

    return Effect(step)
