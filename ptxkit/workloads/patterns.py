"""What the wrong elements of an output have in common: where they lie, and how they differ.

Each function gives a sentence, or nothing where no pattern holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ptxkit.workloads.rearranged import ONE_SIDED, rearranged

FEWEST = 4
"""Fewer wrong elements than these have no pattern."""
MOST = 4096
"""Elements that are looked at for how they differ, spread over all that are wrong."""
SIDE = 128
"""Rows and columns of the part that is looked at for its rank."""
MANY = 1e6
"""Whole factors, and their reciprocals, are below it."""
INSIDE = 0.75
"""The part of the elements for which there must be such a place, in tiles, which go beyond the edge."""
MANY_MOVED = 64
"""So many must be wrong then."""
MASKS = 256
"""Numbers that a whole index is changed by are below it."""
GAP = 8.0
"""How many times smaller than the last singular value that counts the next one is."""

SWIZZLES = ((8, 0), (4, 1), (2, 2), (4, 0), (2, 0))
"""By which rows, and how many of a row's lowest bits left out, pieces of a row change places: the modes of
shared memory with 128, 64 and 32 bytes, and the shorter ones without those bits."""

Index = tuple[np.ndarray, ...]
Move = Callable[[Index], Index]


def patterns(wrong: np.ndarray, found: np.ndarray, expected: np.ndarray, allowed: Any) -> tuple[str, ...]:
    """What wrong elements have in common.

    Args:
        wrong: bool, which elements are.
        found: what they are; of any shape, which is that of `wrong`.
        expected: what they should be.
        allowed: by how much an element may be off.

    Returns:
        Sentences, lower case and without a full stop: where they lie, how they differ.
    """
    count = int(np.count_nonzero(wrong))
    if count < FEWEST:
        return ()
    at = np.flatnonzero(wrong.reshape(-1))
    at = at[:: max(len(at) // MOST, 1)]
    index = np.unravel_index(at, wrong.shape)
    allowed = np.broadcast_to(allowed, wrong.shape)
    how = _how(found[index], expected[index], allowed[index])
    if how is None and expected.size > 1:
        how = _moved(index, found, expected, allowed) or _moved_but_zeros(index, found, expected, allowed)
    if how is None and expected.ndim > 1:
        how = rearranged(wrong, found, expected, allowed)
    if how is None:
        how = _rank(wrong, found, expected)
    return tuple(sentence for sentence in (where(wrong), how) if sentence)


# ---- where


def where(wrong: np.ndarray) -> str | None:
    """Where wrong elements lie; None where no pattern holds for all of them, or all are wrong."""
    count = int(np.count_nonzero(wrong))
    if count == wrong.size or count < FEWEST:
        return None
    axes = [axis for axis in range(wrong.ndim) if wrong.shape[axis] > 1]
    bad = {
        axis: np.flatnonzero(wrong.any(axis=tuple(other for other in range(wrong.ndim) if other != axis)))
        for axis in axes
    }
    whole = count == prod(len(bad[axis]) for axis in axes)
    if wrong.ndim >= 2 and not whole:
        row, column = np.nonzero(wrong)[-2:]
        for said, holds in (("above", column > row), ("below", column < row), ("on", column == row)):
            if holds.all():
                return f"they lie {said} the diagonal"
    some = [axis for axis in axes if len(bad[axis]) < wrong.shape[axis]]
    parts = [_indexes(bad[axis], wrong.shape[axis], _noun(axis, wrong.ndim)) for axis in some]
    if not some or not all(parts):
        return None
    return f"they {'fill' if whole else 'lie in'} {' of '.join(part for part in reversed(parts) if part)}"


def _noun(axis: int, rank: int) -> str:
    if rank == 1:
        return "element"
    return {rank - 1: "column", rank - 2: "row"}.get(axis, f"index of axis {axis}")


def _indexes(bad: np.ndarray, size: int, noun: str) -> str | None:
    """`rows from 64 on`, `odd columns`, `columns of which the index modulo 16 is 8 to 15`."""
    plural = noun.replace("index", "indexes", 1) if noun.startswith("index") else f"{noun}s"
    first, last = int(bad[0]), int(bad[-1])
    if last - first + 1 == len(bad):
        if first == last:
            return f"{noun} {first}"
        if last == size - 1:
            return f"{plural} from {first} on"
        return f"{plural} {first} to {last}"
    period = 2
    while period * 2 <= size:
        rest = np.unique(bad % period)
        every = np.flatnonzero(np.isin(np.arange(size) % period, rest))
        if len(rest) < period and len(every) == len(bad) and rest[-1] - rest[0] + 1 == len(rest):
            if period == 2:
                return f"{('even', 'odd')[int(rest[0])]} {plural}"
            which = f"{rest[0]}" if len(rest) == 1 else f"{rest[0]} to {rest[-1]}"
            return f"{plural} whose number modulo {period} is {which}"
        period *= 2
    return None


# ---- how


def _how(found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> str | None:
    with np.errstate(all="ignore"):
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        if np.isnan(found).all():
            return "each of them is NaN"
        if not found.any():
            return "each of them is 0"
        if not np.isfinite(found).all() or not np.isfinite(expected).all():
            return None
        if len(np.unique(found)) == 1 and len(np.unique(expected)) > 1:
            return f"each of them is {found[0]:.9g}"
        if (np.abs(found + expected) <= allowed).all():
            return "each of them has the opposite sign"
        large = np.abs(expected) >= np.median(np.abs(expected))
        factor = float(np.median(found[large] / expected[large]))
        near = round(factor) if 1 <= abs(factor) < MANY else 0.0
        if 1 / MANY < abs(factor) < 1:
            near = 1 / round(1 / factor)
        for one in (near, factor):
            slack = allowed * max(abs(one), 1.0) + 1e-3 * np.abs(expected * one) * (one == factor)
            tells = np.median(np.abs(one * expected)) > 4 * np.median(allowed)
            if tells and (np.abs(found - one * expected) <= slack).all():
                shown = f"1/{1 / one:g}" if one == near and abs(one) < 1 else f"{one:.4g}"
                return f"each of them is {shown} times what it should be"
        offset, slack = float(np.median(found - expected)), 2 * np.maximum(allowed, np.median(allowed))
        if abs(offset) > 2 * np.median(slack) and (np.abs(found - expected - offset) <= slack).all():
            return f"each of them is {abs(offset):.4g} too {'large' if offset > 0 else 'small'}"
    return None


def _moved(index: Index, found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> str | None:
    """Whether each holds what belongs elsewhere, by one rule."""
    here = np.asarray(found[index], np.float64)
    if len(np.unique(here)) < FEWEST:
        return None
    for text, move in _moves(expected.shape, len(np.unique(index[-2])) if len(index) > 1 else 1):
        there = move(index)
        inside = np.ones(len(here), bool)
        for i, n in zip(there, expected.shape, strict=True):
            inside &= (i >= 0) & (i < n)
        if not inside.all() and ("^" not in text or inside.mean() < INSIDE or len(inside) < MANY_MOVED):
            continue
        there = tuple(axis[inside] for axis in there)
        near = np.maximum(allowed[there], allowed[index][inside])
        with np.errstate(all="ignore"):
            right = np.abs(here[inside] - np.asarray(expected[there], np.float64)) <= near
        if right.all():
            if inside.all():
                return f"each of them holds what belongs {text}"
            share = int(100 * inside.mean())
            place, colon, called = text.partition(": ")
            return f"{share}% of them hold what belongs {place}, the others what lies outside{colon}{called}"
    return None


def _moved_but_zeros(
    index: Index, found: np.ndarray, expected: np.ndarray, allowed: np.ndarray
) -> str | None:
    """The same where some hold zeros, which nobody wrote."""
    there = np.flatnonzero(found[index] != 0)
    if not len(index[0]) // 4 <= len(there) < len(index[0]):
        return None
    said = _moved(tuple(axis[there] for axis in index), found, expected, allowed)
    return said and said.replace("each of them", "each of them that is not 0")


def _moves(shape: tuple[int, ...], bad_rows: int) -> Iterator[tuple[str, Move]]:
    """Rules by which elements may have changed places, each with what it says; `bad_rows`: how many rows have
    wrong ones."""
    rank = len(shape)
    names = [*(f"i{axis}" for axis in range(rank - 2)), "i", "j"] if rank > 1 else ["i"]

    def at(name: str, changed: str) -> str:
        return f"at [{', '.join(changed if each == name else each for each in names)}]"

    if rank >= 2 and shape[-1] == shape[-2]:
        yield f"at [{', '.join([*names[:-2], 'j', 'i'])}]: it is transposed", _transposed
    for piece in _powers(shape[-1]) if rank >= 2 else ():
        for rows, shift in SWIZZLES:
            if rows * piece <= shape[-1] and bad_rows >= 2 * (rows - 1):
                row = f"i / {1 << shift} % {rows}" if shift else f"i % {rows}"
                by = f"({row}) * {piece}" if piece > 1 else f"({row})"
                text = f"{at('j', f'j ^ {by}')}: {ONE_SIDED}"
                yield text, partial(_swizzled, rows, shift, piece)
    for axis in range(rank - 1, -1, -1):
        name, size = names[axis], shape[axis]
        for bit in _powers(size):
            yield at(name, f"{name} ^ {bit}"), partial(_exclusive_or, axis, bit)
            for step in (bit, -bit):
                shifted = f"{name} {'+' if step > 0 else '-'} {bit}"
                yield at(name, shifted), partial(_shifted, axis, step, 0)
                yield at(name, f"({shifted}) % {size}"), partial(_shifted, axis, step, size)
        yield at(name, f"{size - 1} - {name}"), partial(_mirrored, axis, size)
        for half in _powers(size):
            if half > 1 and size % (2 * half) == 0:
                block = "" if 2 * half == size else f" of each {2 * half}"
                riffle = f"{name} // 2 + {name} % 2 * {half}{block}"
                yield at(name, riffle), partial(_riffled, axis, half, False)
                yield (
                    at(name, f"{name} % {half} * 2 + {name} // {half}{block}"),
                    partial(_riffled, axis, half, True),
                )
    for down, across in product(*map(_powers, shape[-2:])) if rank >= 2 else ():
        both = ", ".join([*names[:-2], f"i ^ {down}", f"j ^ {across}"])
        yield f"at [{both}]", partial(_both_or, down, across)
    for axis in range(rank - 1, -1, -1):
        name, size = names[axis], shape[axis]
        for bits in range(3, min(size, MASKS)):
            if bits & (bits - 1):
                yield at(name, f"{name} ^ {bits}"), partial(_exclusive_or, axis, bits)
        for bit in _powers(size):
            yield at(name, f"{name} // {2 * bit} * {2 * bit}"), partial(_floored, axis, 2 * bit)


def _powers(size: int) -> Iterator[int]:
    """1, 2, 4 and so on below a number."""
    bit = 1
    while bit < size:
        yield bit
        bit *= 2


def _transposed(index: Index) -> Index:
    return *index[:-2], index[-1], index[-2]


def _exclusive_or(axis: int, bit: int, index: Index) -> Index:
    return *index[:axis], index[axis] ^ bit, *index[axis + 1 :]


def _both_or(row: int, column: int, index: Index) -> Index:
    return *index[:-2], index[-2] ^ row, index[-1] ^ column


def _floored(axis: int, step: int, index: Index) -> Index:
    return *index[:axis], index[axis] // step * step, *index[axis + 1 :]


def _riffled(axis: int, half: int, back: bool, index: Index) -> Index:
    """Two halves of `half` elements each, whose elements alternate; `back`: they have been put in turn."""
    at = index[axis] % (2 * half)
    there = at % half * 2 + at // half if back else at // 2 + at % 2 * half
    return *index[:axis], index[axis] - at + there, *index[axis + 1 :]


def _shifted(axis: int, step: int, size: int, index: Index) -> Index:
    moved = (index[axis] + step) % size if size else index[axis] + step
    return *index[:axis], moved, *index[axis + 1 :]


def _mirrored(axis: int, size: int, index: Index) -> Index:
    return *index[:axis], size - 1 - index[axis], *index[axis + 1 :]


def _swizzled(rows: int, shift: int, piece: int, index: Index) -> Index:
    return *index[:-1], index[-1] ^ ((index[-2] >> shift) % rows * piece)


def _rank(wrong: np.ndarray, found: np.ndarray, expected: np.ndarray) -> str | None:
    """The rank of the difference: of a product that lacks a part of the sum over k, that part's length."""
    if wrong.ndim < 2:
        return None
    first = np.argwhere(wrong)[0][:-2]
    plane = wrong[tuple(first)]
    rows, columns = (np.flatnonzero(plane.any(axis=axis))[:SIDE] for axis in (1, 0))
    part = np.ix_(rows, columns)
    with np.errstate(all="ignore"):
        there = (np.asarray(values[tuple(first)][part], np.float64) for values in (found, expected))
        difference = np.subtract(*there)
        size = min(difference.shape)
        if size < 8 or not np.isfinite(difference).all():
            return None
        values = np.linalg.svd(difference, compute_uv=False)
        if not values[0]:
            return None
        ratio = values[:-1] / np.maximum(values[1:], values[0] * 1e-15)
    rank = int(np.argmax(ratio)) + 1
    if ratio[rank - 1] < GAP or rank * 2 > size:
        return None
    steps = "one step" if rank == 1 else f"{rank} steps"
    return (
        f"the differences are a matrix of rank {rank}: as if {steps} along the inner dimension of a product "
        f"{'was' if rank == 1 else 'were'} missing, wrong or taken twice"
    )
