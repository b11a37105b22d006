"""What atomic operations and reductions combine, and how lanes that hit one place take their turns.

PTX ISA 9.7.13.5, 9.7.13.6; bulk and tensor reductions and `red.async` combine in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ptxkit.dtypes import DType
from ptxkit.emulator.numerics import double, half, single
from ptxkit.emulator.operation import Unsupported

Combine = Callable[..., Any]
"""The new value of a place from the old one and the operands, elementwise."""

CHAINED: dict[str, np.ufunc] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}
"""Integer operations whose whole chain of turns is one `accumulate`."""


def combiner(operator: str, kind: DType, cached: bool) -> Combine:
    """What an operator does to one place.

    Args:
        operator: a `MemoryOperation`, or its word.
        kind: the type.
        cached: whether the cache of global memory adds, where subnormal f32 values count as zero and a NaN of
            f64 is handed on as it is; shared memory has sums of floats done by the threads.

    Raises:
        Unsupported: there is no such operation.
    """
    name = kind.name
    if operator == "exch":
        return _exchange
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
            return _float_combiner(operator, kind, cached)
    raise Unsupported(f"`.{operator}` of type `.{name}`")


def _exchange(_: np.ndarray, new: np.ndarray) -> np.ndarray:
    return new


def _float_combiner(operator: str, kind: DType, cached: bool) -> Combine:
    if kind.bits // kind.lanes == 16:
        name, is_pair = kind.name.removesuffix("x2"), kind.lanes == 2
        if operator == "add":
            return partial(half.compute, "add", name, is_pair)
        code = partial(
            half.extreme, largest=operator == "max", propagate_nan=False, infinity=half.INFINITY[name]
        )
        return half.on_codes(code) if is_pair else code
    if operator != "add":
        raise Unsupported(f"`.{operator}` of type `.{kind.name}`")
    if kind.bits == 64:
        return double.add_to_memory if cached else lambda old, b: double.add(b, old, "rn")
    add = partial(single.add, mode="rn")
    if cached:
        return lambda old, b: single.flush(add(single.flush(old), single.flush(b)))
    return add


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


def take_exchanges(
    places: np.ndarray, old: np.ndarray, values: np.ndarray, random: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let lanes leave their values at places one after the other, as `take_turns`.

    Returns:
        For each lane the value it found, and the lane that had left it there, -1 for what was there before;
        and the lanes that were the last at their places.
    """
    nobody, lanes = np.full(len(places), -1), np.arange(len(places))
    whose, _, last = take_turns(places, nobody, [lanes], _exchange, False, random)
    found, first = values[whose], whose < 0
    found[first] = old[first]
    return found, whose, last


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
