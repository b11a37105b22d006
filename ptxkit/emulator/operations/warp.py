"""Lanes of a warp: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`. PTX ISA 9.7.9.6, 9.7.13.9-14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.code import Computation, Exchange
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand, TargetOperand, put, undefined_decides
from ptxkit.emulator.operation import Pure, Unsupported
from ptxkit.emulator.reductions import CHAINED
from ptxkit.emulator.sync_points import (
    EVERY,
    LANES,
    WarpSyncPoint,
    check_members,
    exchanged,
    executing,
    packed,
    participants,
    taking_part,
    unpacked,
)
from ptxkit.emulator.values import WARP, distinct, viewed
from ptxkit.isa.modifiers import MemoryOperation, Mode

movement = Effects("movement")
effect = Effects("synchronization")

Part = tuple[TargetOperand | None, str, Callable[..., Any], list[SourceOperand], list[str]]
"""What becomes of a destination: its type, the function that computes it, of which operands, and their
types."""


def _exchange(instruction: ScopedInstruction, members: SourceOperand, parts: list[Part]) -> Exchange | None:
    """An instruction without a guard, as it is where all lanes of a warp execute it."""
    if instruction.guard is not None:
        return None
    return Exchange(
        [
            Computation(instruction.site.decoded, Pure((kind,), (*kinds,), function), sources, [target], None)
            for target, kind, function, sources, kinds in parts
            if target is not None
        ],
        members,
    )


# ---- shfl


@movement("shfl")
def shfl(instruction: ScopedInstruction) -> Effect:
    """`shfl.sync.mode.b32 d{|p}, a, b, c, membermask`."""
    if not instruction["sync"]:
        raise Unsupported("without `.sync`")
    mode, target, inside = instruction["mode"], instruction.target("d"), instruction.target("p")
    a, b, c, members = (instruction.source(name) for name in ("a", "b", "c", "membermask"))
    read, check, site = a.reader, check_members(members, instruction.site), instruction.site
    fixed = b.value is not None and c.value is not None
    lanes, valid = source_lanes(mode, b.value, c.value) if fixed else (None, None)
    move = _mover(lanes[0]) if lanes is not None else None

    def step(lane_set: LaneSet, guard: Any) -> bool:
        named = check(lane_set, guard)
        from_lanes, in_range = lanes, valid
        permute = move
        if permute is None:
            from_lanes, in_range = source_lanes(mode, b.reader(lane_set), c.reader(lane_set))
            permute = _gatherer(from_lanes)
        value = exchanged(lane_set, read(lane_set))
        mask = None
        entry = a.undefined(lane_set) if lane_set.undefined else None
        if entry is not None:
            mask = (permute(entry[0]), entry[1])
        on = participants(lane_set, guard, named)
        if on is not None:
            silent = ~_gatherer(from_lanes)(on)
            own = executing(lane_set, guard)
            if (silent if own is None else silent & own).any():
                unknown = np.where(silent, np.uint32(EVERY), np.uint32(0))
                origin = lane_set.launch.origins.of_lane(site)
                mask = (unknown if mask is None else mask[0] | unknown, mask[1] if mask else origin)
        put(target, lane_set, permute(value), mask if mask and mask[0].any() else None, guard)
        put(inside, lane_set, in_range, None, guard)
        return mask is not None

    parts: list[Part] = [
        (inside, "pred", lambda b, c: source_lanes(mode, b, c)[1], [b, c], ["b32"] * 2),
        (target, "b32", lambda a, b, c: _shuffled(a, source_lanes(mode, b, c)[0]), [a, b, c], ["b32"] * 3),
    ]
    sync_point = WarpSyncPoint(instruction.site, members, instruction.guard, a)
    return Effect(step, sync_point, ir=_exchange(instruction, members, parts))


def _shuffled(value: Any, lanes: Any) -> Any:
    return _gatherer(lanes)(value)


def source_lanes(mode: Mode, b: Any, c: Any) -> tuple[Any, Any]:
    """For each lane the lane that it reads, and whether the computed one was in range."""
    offset = viewed(b, np.dtype("u4")) & np.uint32(31)
    clamp, segment = c & np.uint32(31), c >> np.uint32(8) & np.uint32(31)
    low = LANES & segment
    high = low | (clamp & ~segment)
    if mode is Mode.UP:
        wanted = LANES.astype(np.int64) - offset.astype(np.int64)
        valid = wanted >= high
    elif mode is Mode.DOWN:
        wanted = LANES.astype(np.int64) + offset.astype(np.int64)
        valid = wanted <= high
    elif mode is Mode.BFLY:
        wanted = (LANES ^ offset).astype(np.int64)
        valid = wanted <= high
    else:
        wanted = (low | (offset & ~segment)).astype(np.int64)
        valid = wanted <= high
    return np.where(valid, wanted, LANES), valid


def _gatherer(lanes: Any) -> Callable[[Any], Any]:
    """Reads lanes of a value by a table of (1 or n, 32)."""

    def gather(value: Any) -> Any:
        if value.ndim == 0 or value.shape[1] == 1:
            return value
        if lanes.shape[0] == 1:
            return value.take(lanes[0], axis=1)
        rows = np.broadcast_to(value, (lanes.shape[0], WARP))
        return np.take_along_axis(rows, lanes, axis=1)

    return gather


def _mover(lanes: np.ndarray) -> Callable[[Any], Any]:
    """The same for one fixed table, in as few block moves as it takes; of one lane's value a column."""
    lead = int(lanes[0])
    if (lanes == lead).all():
        return lambda value: value if value.ndim == 0 or value.shape[1] == 1 else value[:, lead, None].copy()
    runs: list[tuple[int, int, int]] = []
    start = 0
    for lane in range(1, WARP + 1):
        if lane == WARP or lanes[lane] != lanes[lane - 1] + 1:
            runs.append((start, lane, int(lanes[start])))
            start = lane
    swap = next((k for k in (1, 2, 4, 8, 16) if (lanes == (np.arange(WARP) ^ k)).all()), 0)

    def move(value: Any) -> Any:
        if value.ndim == 0 or value.shape[1] == 1:
            return value
        if swap == 1 and value.dtype.itemsize == 4 and value.flags.c_contiguous:
            pairs = value.view(np.uint64)
            return (pairs << np.uint64(32) | pairs >> np.uint64(32)).view(value.dtype)
        if swap:
            moved = np.empty_like(value, order="C")
            blocks = value.reshape(-1, WARP // (2 * swap), 2, swap)
            into = moved.reshape(-1, WARP // (2 * swap), 2, swap)
            into[:, :, 0] = blocks[:, :, 1]
            into[:, :, 1] = blocks[:, :, 0]
            return moved
        if len(runs) > 4:
            return value.take(lanes, axis=1)
        moved = np.empty_like(value)
        for first, last, source in runs:
            moved[:, first:last] = value[:, source : source + last - first]
        return moved

    return move


# ---- vote, match, redux, elect, activemask


@effect("vote")
def vote(instruction: ScopedInstruction) -> Effect:
    """`vote.sync.{all,any,uni}.pred d, {!}a, membermask`, `vote.sync.ballot.b32`."""
    if not instruction["sync"]:
        raise Unsupported("without `.sync`")
    mode, target = instruction["mode"], instruction.target("d")
    source, members = instruction.source("a"), instruction.source("membermask")
    read, check, site = source.reader, check_members(members, instruction.site), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        named = check(lane_set, guard)
        lanes = taking_part(lane_set, guard)
        value = np.broadcast_to(exchanged(lane_set, read(lane_set)), (lane_set.n, WARP))
        entry = source.undefined(lane_set)
        if entry is not None:
            on = participants(lane_set, guard, named)
            if (entry[0] if on is None else entry[0] & on).any():
                what = f"the vote of `{source.name}`"
                undefined_decides(lane_set, entry[0], entry[1], site, what)
        true = packed(value if lanes is None else value & lanes) & named
        every = named & (np.uint32(EVERY) if lanes is None else packed(lanes))
        put(target, lane_set, _vote(mode, true, every), None, guard)

    kind, function = "b32" if mode is None else "pred", lambda a: _vote(mode, packed(a), np.uint32(EVERY))
    exchange = _exchange(instruction, members, [(target, kind, function, [source], ["pred"])])
    return Effect(step, WarpSyncPoint(instruction.site, members, instruction.guard, source), ir=exchange)


def _vote(mode: Mode | None, true: Any, every: Any) -> Any:
    """Of the lanes where the predicate is true and of those that take part; without a mode it is a ballot."""
    if mode is None:
        return true
    result = true != 0 if mode is Mode.ANY else true == every
    return result | (true == 0) if mode is Mode.UNI else result


@effect("match")
def match(instruction: ScopedInstruction) -> Effect:
    """`match.any.sync.type d, a, membermask`, `match.all.sync.type d{|p}, a, membermask`."""
    of_all, target, same = instruction["all"] is not None, instruction.target("d"), instruction.target("p")
    source, members = instruction.source("a"), instruction.source("membermask")
    read, check, site = source.reader, check_members(members, instruction.site), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> None:
        named = check(lane_set, guard)
        lanes = taking_part(lane_set, guard)
        value = np.broadcast_to(exchanged(lane_set, read(lane_set)), (lane_set.n, WARP))
        entry = source.undefined(lane_set)
        if entry is not None:
            undefined_decides(lane_set, entry[0], entry[1], site, f"the match of `{source.name}`")
        present = np.ones(value.shape, bool) if lanes is None else lanes
        equal = (value[:, :, None] == value[:, None, :]) & present[:, None, :]
        found = packed(equal)[..., 0] & named
        if of_all:
            every = named & packed(present)
            all_same = found == every
            put(same, lane_set, all_same, None, guard)
            found = np.where(all_same, every, np.uint32(0))
        put(target, lane_set, found, None, guard)

    return Effect(step, WarpSyncPoint(instruction.site, members, instruction.guard, source))


@effect("redux")
def redux(instruction: ScopedInstruction) -> Effect:
    """`redux.sync.op.type d, a, membermask`."""
    source, members, target = (
        instruction.source("src"),
        instruction.source("membermask"),
        instruction.target("dst"),
    )
    if source.dtype.kind == "f":
        reduce = _float_reduction(instruction["op"], instruction["abs"], instruction["NaN"])
    else:
        reduce = _integer_reduction(instruction["op"], source.dtype)
    read, check, site = source.reader, check_members(members, instruction.site), instruction.site

    def step(lane_set: LaneSet, guard: Any) -> bool:
        named = check(lane_set, guard)
        values = np.broadcast_to(exchanged(lane_set, read(lane_set)), (lane_set.n, WARP))
        on = participants(lane_set, guard, named)
        masks = distinct(named if on is None else np.broadcast_to(named, on.shape)[on])
        if named.ndim == 0 or len(masks) == 1:
            result = reduce(values, on)
        else:
            lanes = taking_part(lane_set, guard)
            result = np.zeros((lane_set.n, WARP), values.dtype)
            for mask in masks:
                among = unpacked(mask) if lanes is None else unpacked(mask) & lanes
                result = np.where(named == mask, reduce(values, np.broadcast_to(among, values.shape)), result)
        entry, mask = source.undefined(lane_set), None
        if entry is not None:
            bad = entry[0] != 0 if on is None else (entry[0] != 0) & on
            spoiled = np.broadcast_to(bad, (lane_set.n, WARP)).any(axis=1, keepdims=True)
            if spoiled.any():
                origin = lane_set.launch.origin(entry[1], site)
                mask = (np.where(spoiled, np.uint32(EVERY), np.uint32(0)), origin)
        put(target, lane_set, result, mask, guard)
        return mask is not None

    kind = instruction.values(written=True)[0][1]
    exchange = _exchange(
        instruction, members, [(target, kind, lambda values: reduce(values, None), [source], [kind])]
    )
    return Effect(step, WarpSyncPoint(instruction.site, members, instruction.guard, source), ir=exchange)


def _integer_reduction(operator: MemoryOperation, dtype: np.dtype) -> Callable[..., np.ndarray]:
    """Lanes that take no part have the value that changes nothing."""
    function, limits = CHAINED[operator], np.iinfo(dtype)
    largest = operator in (MemoryOperation.MIN, MemoryOperation.AND)
    neutral = dtype.type(limits.max if largest else limits.min if operator is MemoryOperation.MAX else 0)

    def reduce(values: np.ndarray, on: np.ndarray | None) -> np.ndarray:
        chosen = values if on is None else np.where(on, values, neutral)
        result: np.ndarray = function.reduce(chosen, axis=1, keepdims=True, dtype=dtype)
        return result

    return reduce


def _float_reduction(operator: MemoryOperation, absolute: bool, nan: bool) -> Callable[..., np.ndarray]:
    """`.min` and `.max` of f32: -0 is less than +0, and the result of NaNs alone is the canonical NaN."""
    canonical = np.uint32(0x7FFF_FFFF).view(np.float32)
    least = operator is MemoryOperation.MIN

    def reduce(values: np.ndarray, on: np.ndarray | None) -> np.ndarray:
        numbers = np.abs(values) if absolute else values
        bits = numbers.view(np.int32)
        ordered = np.where(bits < 0, np.int32(-(2**31)) - bits - np.int32(1), bits)
        neutral = np.int32(2**31 - 1 if least else -(2**31))
        is_nan = np.isnan(numbers)
        counts = ~is_nan if on is None else on & ~is_nan
        kept = np.where(counts, ordered, neutral)
        best = (np.min if least else np.max)(kept, axis=1, keepdims=True)
        back = np.where(best < 0, np.int32(-(2**31)) - best - np.int32(1), best).view(np.float32)
        seen = is_nan if on is None else is_nan & on
        bad = seen.any(axis=1, keepdims=True) if nan else ~counts.any(axis=1, keepdims=True)
        return np.where(bad, canonical, back)

    return reduce


@effect("elect")
def elect(instruction: ScopedInstruction) -> Effect:
    """`elect.sync d|p, membermask`: the lowest lane of the mask leads, as on hardware. A strict emulator in
    random order takes one that the seed gives, always the same of a mask: no more is promised."""
    members, target, leads = (
        instruction.source("membermask"),
        instruction.target("d"),
        instruction.target("p"),
    )
    check = check_members(members, instruction.site)

    def step(lane_set: LaneSet, guard: Any) -> None:
        named = check(lane_set, guard)
        lanes = taking_part(lane_set, guard)
        candidates = named if lanes is None else named & packed(lanes)
        leader = _leader(candidates, lane_set.launch.elect_from)
        put(target, lane_set, leader, None, guard)
        put(leads, lane_set, leader == LANES, None, guard)

    return Effect(step, WarpSyncPoint(instruction.site, members, instruction.guard))


def _leader(candidates: Any, start: int) -> Any:
    """The first lane of each mask, counted from lane `start` on and round."""
    turned = candidates
    if start:
        turned = candidates >> np.uint32(start) | candidates << np.uint32(WARP - start)
    lowest = turned & (~turned + np.uint32(1))
    first = np.log2(np.maximum(lowest, np.uint32(1)).astype(np.float64)).astype(np.uint32)
    return (first + np.uint32(start)) % np.uint32(WARP)


@effect("activemask")
def activemask(instruction: ScopedInstruction) -> Effect:
    """`activemask.b32 d`."""
    target = instruction.target("d")

    def step(lane_set: LaneSet, guard: Any) -> None:
        lanes = executing(lane_set, guard)
        value = np.uint32(EVERY) if lanes is None else packed(lanes)
        put(target, lane_set, value, None, guard)

    return Effect(step)
