"""Atomic operations: `atom`, `red`. PTX ISA 9.7.13.5, 9.7.13.6.

Lanes that hit one place take their turns in the order of their numbers. Each step below works on flat arrays
of the lanes that take part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.access import Access
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.effect import Effect, Effects
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.races import enter_atomic
from ptxkit.emulator.reductions import CHAINED, combiner, take_exchanges, take_turns
from ptxkit.emulator.values import RAW, WARP, dtype_of, ones, viewed
from ptxkit.isa.modifiers import MemoryOperation, MemoryOrder

effect, later = Effects("synchronization"), Effects("memory")

ACQUIRING = {MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL}
RELEASING = {MemoryOrder.RELEASE, MemoryOrder.ACQ_REL}


@later("atom", "red")
@effect("atom", "red")
def atom(instruction: ScopedInstruction) -> Effect:
    """`atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}` and `red`, which returns nothing."""
    return reduction(instruction, Accessor)


def reduction(instruction: ScopedInstruction, access_by: type[Accessor]) -> Effect:
    """The same of whatever places an accessor finds."""
    kind, operator, count = instruction.the(DType), instruction.the(MemoryOperation), instruction["vec"] or 1
    order, named, returns = (
        {*instruction.all(MemoryOrder)},
        instruction.space_of("a"),
        "d" in instruction.operands,
    )
    width, raw, dtype = kind.bytes, RAW[kind.bits], dtype_of(kind.name)
    parts = instruction.parts("b") + (instruction.parts("c") if operator is MemoryOperation.CAS else [])
    sources = [instruction.source(part, kind.name) for part in parts]
    targets = [instruction.target(part, kind.name) for part in instruction.parts("d")] if returns else []
    if targets == [None]:
        targets *= count
    accessor = access_by(instruction.address("a"), named, width * count, instruction.site)
    combine = {
        cached: combiner(operator, kind, cached and not instruction["noftz"]) for cached in (False, True)
    }
    chained = operator in CHAINED and not kind.is_float
    exchanges = operator is MemoryOperation.EXCH
    readers = [source.reader for source in sources]
    site = instruction.site
    reads = MemoryOrder.ACQUIRE if order & ACQUIRING else MemoryOrder.RELAXED
    writes = MemoryOrder.RELEASE if order & RELEASING else MemoryOrder.RELAXED
    instruction.scope.program.touches(plain_space(named), width)

    def step(lane_set: LaneSet, guard: Any) -> bool:
        launch = lane_set.launch
        if returns:
            lane_set.schedule.poll(lane_set, site)
        shape = (lane_set.n, WARP)
        operands = [_full(viewed(read(lane_set), dtype), shape, kind.bits) for read in readers]
        unknown = [source.undefined(lane_set) for source in sources] if lane_set.undefined else []
        tainted = False
        for access in accessor(lane_set, guard):
            if access.space not in ("global", "shared"):
                access.refuse("needs global or shared memory, found", "whose bytes are no other thread's")
            launch.counts.load(access.space, access.lanes * width * count)
            launch.counts.store(access.space, access.lanes * width * count)
            access.count_traffic(width * count, "reduced")
            history = access.history_of_write
            if history is not None:
                number = enter_atomic(access, history, width * count)
                access.synchronise(history, number, reads if returns else None, writes)
            active = lanes_of(lane_set, access.guard, shape)
            lanes = slice(None) if active is None else active.reshape(-1)
            places = np.broadcast_to(np.asarray(access.index), shape).reshape(-1)[lanes]
            rule = combine[access.space == "global"]
            for element in range(count):
                at = places + element * width
                chosen = [
                    operand.reshape(-1, 2)[lanes] if kind.bits == 128 else operand.reshape(-1)[lanes]
                    for operand in operands[element::count]
                ]
                (held,) = access.bank.load(at, width)
                before, whose = viewed(held, dtype), None
                if exchanges:
                    found, whose, last = take_exchanges(at, before, chosen[0], launch.random)
                    left = chosen[0]
                else:
                    found, left, last = take_turns(at, before, chosen, rule, chained, launch.random)
                if launch.watching and (viewed(left, raw) != held).any():
                    launch.changes += 1
                access.bank.store(at[last], (viewed(left, raw)[last],), width)
                mask = None
                bad = _spoiled(unknown[element::count], shape, lanes, kind.bits)
                if bad is not None or access.suspect:
                    if whose is None:
                        mask = _taint(access, at, width, bad, site)
                    else:
                        mask = _exchange_taint(access, at, width, bad, site, whose, last)
                if returns and targets[element] is not None:
                    target = targets[element]
                    assert target is not None
                    entry = None if mask is None else (_place(mask[0], shape, lanes, kind.bits), mask[1])
                    tainted |= entry is not None
                    target.write(lane_set, _place(found, shape, lanes, kind.bits), entry, access.guard)
        return tainted

    return Effect(step)


def _full(value: Any, shape: tuple[int, int], bits: int) -> np.ndarray:
    return np.broadcast_to(value, (*shape, 2) if bits == 128 else shape)


def _place(values: np.ndarray, shape: tuple[int, int], lanes: Any, bits: int) -> np.ndarray:
    """Flat results of the lanes that took part, back in their places."""
    full = np.zeros((shape[0] * shape[1], 2) if bits == 128 else shape[0] * shape[1], values.dtype)
    full[lanes] = values
    return full.reshape((*shape, 2) if bits == 128 else shape)


def _spoiled(
    operands: list[tuple[Any, int] | None], shape: tuple[int, int], lanes: Any, bits: int
) -> tuple[np.ndarray, int] | None:
    """Which of the lanes that take part bring undefined bits, and their origin; None where none does."""
    found, origin = None, 0
    for entry in operands:
        if entry is None:
            continue
        mask = _full(entry[0], shape, bits) != 0
        one = (mask.any(axis=-1) if bits == 128 else mask).reshape(-1)[lanes]
        if one.any():
            found, origin = (one if found is None else found | one), entry[1]
    return None if found is None else (found, origin)


def _taint(
    access: Access, at: np.ndarray, width: int, bad: tuple[np.ndarray, int] | None, site: Any
) -> tuple[Any, int] | None:
    """A place with undefined bits, or to which an undefined operand came, are undefined as a whole.

    Args:
        access: the access, of lanes that take part.
        at: their places.
        width: bytes of each.
        bad: which of them bring an undefined operand, and its origin.

    Returns:
        The undefined bits of what each lane found, with their origin; None where there are none.
    """
    bank, launch = access.bank, access.lane_set.launch
    if bank.shadow is None:
        return None
    (before,) = bank.load_shadow(at, width)
    bits = width * 8
    was = before != 0 if bits < 128 else (before != 0).any(axis=-1)
    # Lanes may meet at a place: it is spoiled for all of them.
    spoiled = was if bad is None else np.isin(at, at[bad[0]]) | was
    if not spoiled.any():
        return None
    origin = bad[1] if bad is not None else access.origin(width)
    every = np.where(spoiled[..., None] if bits == 128 else spoiled, ones(bits), before.dtype.type(0))
    bank.store_shadow(at, (every,), width)
    bank.set_origin(at[spoiled], width, launch.origin_of_store(origin, site))
    access.mark_undefined()
    if not was.any():
        return None
    return np.where(was[..., None] if bits == 128 else was, ones(bits), before.dtype.type(0)), origin


def _exchange_taint(
    access: Access,
    at: np.ndarray,
    width: int,
    bad: tuple[np.ndarray, int] | None,
    site: Any,
    whose: np.ndarray,
    last: np.ndarray,
) -> tuple[Any, int] | None:
    """A place is as undefined as what the last lane leaves there; what lanes find is told as by `_taint`.

    Args:
        whose: the lane that left what each found, -1 for what was there before.
        last: the lanes that were the last at their places.
    """
    bank, launch = access.bank, access.lane_set.launch
    if bank.shadow is None:
        return None
    (found,) = bank.load_shadow(at, width)
    was_undefined = bool(found.any())
    origin = bad[1] if bad is not None else access.origin(width) if was_undefined else 0
    brought = np.zeros(len(at), bool) if bad is None else bad[0]
    wide = found.ndim > 1
    whole, none = ones(width * 8), found.dtype.type(0)
    every = np.where(brought[:, None] if wide else brought, whole, none).astype(found.dtype, copy=False)
    found = np.where((whose < 0)[:, None] if wide else whose < 0, found, every[whose])
    bank.store_shadow(at[last], (every[last],), width)
    if (spoiled := last[brought[last]]).size:
        bank.set_origin(at[spoiled], width, launch.origin_of_store(origin, site))
    if was_undefined or bad is not None:
        access.mark_undefined()
    return (found, origin) if found.any() else None
