"""How undefined bits pass through operations: the `undefined` functions that several chapters share.

Each takes the sources' values and their masks of undefined bits (None: none) and returns the result's mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.numerics import bits
from ptxkit.emulator.values import ones

Propagate = Callable[[Sequence[Any], Sequence[Any]], Any]


def known(value: Any, mask: Any) -> Any:
    """The mask of a value, zeros in its place where it has none."""
    if mask is not None:
        return mask
    return value.dtype.type(0) if value.dtype == bool else bits.UNSIGNED[bits.width(value)](0)


def union(masks: Sequence[Any]) -> Any:
    """All bits that any mask has, for operands of one width; None where there are none."""
    joint = None
    for mask in masks:
        if mask is not None:
            joint = mask if joint is None else joint | mask
    return joint


def every_bit(values: Sequence[Any], masks: Sequence[Any], size: int) -> Any:
    """A mask of `size` bits (1: bool), all ones in each lane where any source bit is undefined."""
    lanes = None
    for mask in masks:
        if mask is not None:
            lane = mask != 0
            lanes = lane if lanes is None else lanes | lane
    if lanes is None or size == 1:
        return lanes
    if size == 128:
        return np.where(np.asarray(lanes)[..., None], ones(128), np.uint64(0))
    return bits.ones_where(lanes, size)


def same(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """The result is the first source."""
    return masks[0]


def bitwise(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """Each result bit hangs on the same bit of every source."""
    return union(masks)


def carried(values: Sequence[Any], masks: Sequence[Any]) -> Any:
    """Each result bit hangs on the same and all lower bits of the sources, as sums and low products do."""
    return bits.smear_up(union(masks))


def undefined_parts(size: int, lanes: Sequence[Any]) -> Any:
    """A mask of `size` bits in equal parts, lowest first, each all ones in its lanes (None: in none)."""
    word, step = bits.UNSIGNED[size], size // len(lanes)
    mask: Any = word(0)
    for index, where in enumerate(lanes):
        if where is not None:
            mask = mask | np.asarray(where).astype(word) * word(((1 << step) - 1) << index * step)
    return mask


def by_parts(count: int, size: int) -> Propagate:
    """Sources and result consist of `count` parts; each part hangs on the same part of every source."""

    def propagate(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        lanes = []
        for index in range(count):
            pieces = []
            for mask in masks:
                if mask is not None:
                    step, word = bits.width(mask) // count, mask.dtype.type
                    pieces.append(mask >> word(index * step) & word((1 << step) - 1))
            lanes.append(every_bit(values, pieces, 1))
        return undefined_parts(size, lanes)

    return propagate


def each_a_part(count: int, size: int) -> Propagate:
    """The first `count` sources each make a part of the result, the first the highest; others spoil all."""

    def propagate(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        others = masks[count:]
        lanes = [every_bit(values, (mask, *others), 1) for mask in reversed(masks[:count])]
        return undefined_parts(size, lanes)

    return propagate


def moved(function: Callable[..., Any], data: int = 1, signed: bool = False) -> Propagate:
    """The first `data` sources' bits are moved and copied by the others, which say where to.

    Masks then go through `function` as the values do. Where one of the others is undefined, so is everything.
    """

    def propagate(values: Sequence[Any], masks: Sequence[Any]) -> Any:
        moving = [known(value, mask) for value, mask in zip(values[:data], masks[:data], strict=True)]
        if signed:
            moving = [bits.signed(mask) for mask in moving]
        result = bits.unsigned(function(*moving, *values[data:]))
        spoiled = every_bit(values[data:], masks[data:], bits.width(result))
        return result if spoiled is None else result | spoiled

    return propagate
