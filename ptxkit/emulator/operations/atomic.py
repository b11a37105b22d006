"""Atomic operations: `atom`, `red`. PTX ISA 9.7.13.5, 9.7.13.6.

Lanes that hit one place take their turns in the order of their numbers. Each step below works on flat arrays
of the lanes that take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.dtypes import DType
from ptxkit.emulator.access import Access
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.operation import Modifiers, Unsupported, decode_pure
from ptxkit.emulator.races import enter_atomic
from ptxkit.emulator.traffic import note
from ptxkit.emulator.values import RAW, WARP, dtype_of, ones, viewed

if TYPE_CHECKING:
    from ptxkit.emulator.form import Form
    from ptxkit.emulator.group import Group

Combine = Callable[..., Any]
"""The new value of a place from the old one and the operands, elementwise."""

OPERATORS = ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")
SPACES = ("global", "shared", "shared::cta", "shared::cluster")
CHAINED: dict[str, np.ufunc] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}
"""Integer operations whose whole chain of turns is one `accumulate`."""


def combiner(operator: str, kind: DType, flush: bool) -> Combine:
    """What an operator does to one place.

    Args:
        operator: one of `OPERATORS`.
        kind: the type.
        flush: whether subnormal f32 values count as zero, as in global memory.

    Raises:
        Unsupported: there is no such operation.
    """
    name = kind.name
    if operator == "exch":
        return lambda old, b: b
    if operator == "cas":
        if kind.bits == 128:
            return lambda old, b, c: np.where((old == b).all(axis=-1, keepdims=True), c, old)
        return lambda old, b, c: np.where(old == b, c, old)
    if operator == "inc" and name == "u32":
        return lambda old, b: np.where(old >= b, np.uint32(0), old + np.uint32(1))
    if operator == "dec" and name == "u32":
        return lambda old, b: np.where((old == 0) | (old > b), b, old - np.uint32(1))
    if operator in ("and", "or", "xor") and name in ("b32", "b64"):
        return CHAINED[operator]
    if operator in ("add", "min", "max"):
        if kind.is_integer and kind.bits in (32, 64):
            return CHAINED[operator]
        if kind.is_float:
            return _float_combiner(operator, name, flush)
    raise Unsupported(f"`.{operator}` of type `.{name}`")


def _float_combiner(operator: str, name: str, flush: bool) -> Combine:
    modifiers = [name]
    if operator == "add":
        modifiers = ["rn", "ftz", name] if name == "f32" and flush else ["rn", name]
    elif name in ("f32", "f64"):
        raise Unsupported(f"`.{operator}` of type `.{name}`")
    operation = decode_pure(Modifiers(operator, modifiers))
    assert operation is not None
    return operation.function


def take_turns(
    places: np.ndarray,
    old: np.ndarray,
    operands: Sequence[np.ndarray],
    combine: Combine,
    chained: bool,
    random: np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let lanes change places one after the other.

    Args:
        places: the place of each lane, int64.
        old: what each lane's place holds before.
        operands: of each lane.
        combine: the operation.
        chained: whether it is a ufunc that may be accumulated over integers.
        random: what the order of lanes is left to; None for that of their numbers.

    Returns:
        For each lane the value it found and the value it left, and the lanes that were the last at their
        places.
    """
    if random is None:
        order = np.argsort(places, kind="stable")
    else:
        drawn = random.permutation(len(places))
        order = drawn[np.argsort(places[drawn], kind="stable")]
    sorted_places = places[order]
    first = np.empty(len(places), bool)
    first[:1] = True
    np.not_equal(sorted_places[1:], sorted_places[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    if len(starts) == len(places):
        return old, combine(old, *operands), np.arange(len(places))
    lengths = np.diff(np.append(starts, len(places)))
    found, left = np.empty_like(old), np.empty_like(old)
    values = [operand[order] for operand in operands]
    if chained and combine is np.add:
        total = np.cumsum(values[0], dtype=old.dtype)
        before = total - values[0]
        offset = np.repeat(before[starts], lengths)
        base = old[order]
        found[order], left[order] = base + (before - offset), base + (total - offset)
    elif chained and len(starts) <= int(lengths.max()):
        for start, length in zip(starts, lengths, strict=True):
            chain = np.concatenate([old[order[start : start + 1]], values[0][start : start + length]])
            results = combine.accumulate(chain)  # type: ignore[attr-defined]
            lanes = order[start : start + length]
            found[lanes], left[lanes] = results[:-1], results[1:]
    else:
        _take_rounds(order, starts, lengths, old, values, combine, found, left)
    return found, left, order[np.append(starts[1:], len(places)) - 1]


def _take_rounds(
    order: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
    old: np.ndarray,
    values: Sequence[np.ndarray],
    combine: Combine,
    found: np.ndarray,
    left: np.ndarray,
) -> None:
    """One turn at every place at a time."""
    current = old[order[starts]]
    active = np.arange(len(starts))
    for turn in range(int(lengths.max())):
        active = active[lengths[active] > turn]
        at = starts[active] + turn
        new = combine(current[active], *(value[at] for value in values))
        found[order[at]] = current[active]
        left[order[at]] = new
        current[active] = new


@effect("atom", "red")
def atom(form: Form) -> Effect:
    """`atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}` and `red`, which returns nothing."""
    m = form.modifiers
    if "async" in m.left:
        raise Unsupported("asynchronous reductions")
    returns = m.opcode == "atom"
    order = m.choose("relaxed", "acquire", "release", "acq_rel", default="relaxed")
    m.choose("cta", "cluster", "gpu", "sys")
    named = m.choose(*SPACES, default="generic") or ""
    space = plain_space(named)
    operator = m.need(*OPERATORS) or ""
    m.flag("noftz")
    m.flag("L2::cache_hint")
    count = int((m.choose("v2", "v4", "v8") or "v1")[1:])
    kind = m.type()
    width, raw, dtype = kind.bytes, RAW[kind.bits], dtype_of(kind.name)
    address = form.source_operands[0]
    parts = form.sources[1:]
    needed = (2 if operator == "cas" else 1) * count
    if len(parts) < needed:
        raise Unsupported(f"{counted(len(parts), 'operand')} where it has {needed}")
    sources = [form.source(part, kind.name) for part in parts[:needed]]
    targets = [form.target(part, kind.name) for part in form.targets] if returns else []
    accessor = Accessor(form.address(address), named, width * count, form.site)
    combine = {flush: combiner(operator, kind, flush) for flush in (False, True)}
    chained = operator in CHAINED and not kind.is_float
    readers = [source.reader for source in sources]
    site = form.site
    acquires = "no" if not returns else "yes" if order in ("acquire", "acq_rel") else "fence"
    releases = "yes" if order in ("release", "acq_rel") else "fence"
    form.builder.program.touches(space, width)

    def step(group: Group, guard: Any) -> bool:
        launch = group.gang.launch
        if returns:
            group.gang.poll(group, site)
        shape = (group.n, WARP)
        operands = [_full(viewed(read(group), dtype), shape, kind.bits) for read in readers]
        unknown = [source.undefined(group) for source in sources] if group.undefined else []
        tainted = False
        for access in accessor(group, guard):
            if access.space not in ("global", "shared"):
                access.refuse("needs global or shared memory, found", "whose bytes are no other thread's")
            launch.counts.load(access.space, access.lanes * width * count)
            launch.counts.store(access.space, access.lanes * width * count)
            note(access, width * count, "reduced")
            ledger = access.ledger_of_write
            if ledger is not None:
                number = enter_atomic(access, ledger, width * count)
                group.gang.order.synchronise(access, ledger, number, acquires, releases)
            active = lanes_of(group, access.guard, shape)
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
                found, left, last = take_turns(at, viewed(held, dtype), chosen, rule, chained, launch.random)
                if launch.watching and (viewed(left, raw) != held).any():
                    launch.changes += 1
                access.bank.store(at[last], (viewed(left, raw)[last],), width)
                mask = None
                bad = _spoiled(unknown[element::count], shape, lanes, kind.bits)
                if bad is not None or access.suspect:
                    mask = _taint(access, at, width, bad, site)
                if returns and targets[element] is not None:
                    target = targets[element]
                    assert target is not None
                    entry = None if mask is None else (_place(mask[0], shape, lanes, kind.bits), mask[1])
                    tainted |= entry is not None
                    target.write(group, _place(found, shape, lanes, kind.bits), entry, access.guard)
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
    """Places with undefined bits, or to which an undefined operand came, are undefined as a whole.

    Args:
        access: the access, of lanes that take part.
        at: their places.
        width: bytes of each.
        bad: which of them bring an undefined operand, and its origin.
        site: the instruction.

    Returns:
        The undefined bits of what each lane found, with their origin; None where there are none.
    """
    bank, launch = access.bank, access.group.gang.launch
    if bank.shadow is None:
        return None
    (before,) = bank.load_shadow(at, width)
    bits = width * 8
    was = before != 0 if bits < 128 else (before != 0).any(axis=-1)
    # Lanes may meet at a place: it is spoiled for all of them.
    spoiled = was if bad is None else np.isin(at, at[bad[0]]) | was
    if not spoiled.any():
        return None
    origin = bad[1] if bad is not None else launch.origins.of_read(access, width)
    every = np.where(spoiled[..., None] if bits == 128 else spoiled, ones(bits), before.dtype.type(0))
    bank.store_shadow(at, (every,), width)
    bank.set_origin(at[spoiled], width, launch.origins.of_store(origin, site, launch.program))
    access.mark_undefined()
    if not was.any():
        return None
    return np.where(was[..., None] if bits == 128 else was, ones(bits), before.dtype.type(0)), origin
