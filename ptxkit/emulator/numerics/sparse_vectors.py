"""Structured sparse vectors: some elements of each group, and the indexes that say which. PTX ISA 9.7.16.8.

Elements of 8, 16 and 32 bits, and indexes of 2 and 4, lie one after the other in 32-bit words, the first
lowest; words lie along the last axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.numerics.bits import UNSIGNED
from ptxkit.emulator.numerics.formats import FORMATS, Format

GROUP, KEPT = 4, 2
"""What `spcompress` keeps of each group."""
FLOATS = {**FORMATS, "f32": Format("f32", 8, 23, 127, 0x7F7FFFFF, 0x7FFFFFFF, 0x7F800000)}
INTEGERS = {"u8": np.uint8, "s8": np.int8}


def elements(words: Any, bits: int) -> Any:
    """The elements of words, along the last axis, unsigned."""
    return np.ascontiguousarray(words).view(UNSIGNED[bits])


def fields(words: Any, bits: int, count: int) -> Any:
    """The first `count` numbers of `bits` bits each."""
    places = np.arange(0, 32, bits, dtype=np.uint32)
    spread = words[..., None] >> places & np.uint32((1 << bits) - 1)
    return spread.reshape(*spread.shape[:-2], -1)[..., :count]


def from_fields(numbers: Any, bits: int) -> Any:
    """Words of numbers of `bits` bits each; the last one is filled up with zeros."""
    per_word = 32 // bits
    count = numbers.shape[-1]
    padded = np.zeros((*numbers.shape[:-1], -(-count // per_word) * per_word), np.uint32)
    padded[..., :count] = numbers
    places = np.arange(0, 32, bits, dtype=np.uint32)
    return np.bitwise_or.reduce(padded.reshape(*numbers.shape[:-1], -1, per_word) << places, axis=-1)


def rank(codes: Any, kind: str, largest: bool, magnitude: bool) -> Any:
    """How early `spcompress` takes elements, by numbers: the greatest first.

    Args:
        codes: of the elements.
        kind: their type.
        largest: whether the greatest are sought, else the smallest.
        magnitude: whether signs don't count.
    """
    if kind in INTEGERS:
        number = codes.view(INTEGERS[kind]).astype(np.int32)
        number = np.abs(number) if magnitude else number
        return number if largest else -number
    form = FLOATS[kind]
    size = codes.astype(np.int64) & form.sign - 1
    # -0 counts as less than +0.
    number = size if magnitude else np.where(codes & form.sign, ~size, size)
    number = number if largest else -number
    if form.nan is None:
        return number
    finite = form.largest if form.infinity is None else form.infinity
    return np.where(size > finite, 1 << 40, number)


def compress(words: Any, bits: int, ranks: Any, index_bits: int) -> tuple[Any, Any]:
    """The two elements of each group of four that rank highest, in their order, and the words of their
    indexes. Of equals the first one is taken."""
    groups = elements(words, bits).reshape(*words.shape[:-1], -1, GROUP)
    order = np.argsort(-ranks.reshape(groups.shape), axis=-1, kind="stable")[..., :KEPT]
    chosen = np.sort(order, axis=-1)
    kept = np.take_along_axis(groups, chosen, axis=-1).reshape(*words.shape[:-1], -1)
    indexes = chosen.reshape(kept.shape)
    return np.ascontiguousarray(kept).view(np.uint32), from_fields(indexes, index_bits)


def spoiled(unknown: Any, bits: int, index_bits: int) -> tuple[Any, Any]:
    """Of words with undefined bits, those of the indexes and of the elements that are kept: an undefined bit
    spoils its group."""
    groups = (elements(unknown, bits) != 0).reshape(*unknown.shape[:-1], -1, GROUP).any(axis=-1)
    each = np.repeat(groups, KEPT, axis=-1)
    indexes = from_fields(each * np.uint32((1 << index_bits) - 1), index_bits)
    return indexes, from_fields(each * np.uint32((1 << bits) - 1), bits)


def decompress(indexes: Any, words: Any, bits: int, kept: int, total: int) -> Any:
    """Words in which each element of a group of `kept` lies where its index says among `total`, and zeros
    elsewhere.

    An index beyond the group's end drops the element; of several with one index the last one stays.

    Args:
        indexes: one for each element, (.., groups * kept).
        words: the elements, and what fills their last word.
        bits: of an element.
        kept: of a group before.
        total: of a group after.
    """
    groups = indexes.shape[-1] // kept
    sources = elements(words, bits)[..., : groups * kept].reshape(*words.shape[:-1], groups, kept)
    places = indexes.reshape(*indexes.shape[:-1], groups, kept).astype(np.int64)
    # One place more than there are takes what is dropped.
    spread = np.zeros((*sources.shape[:-1], total + 1), sources.dtype)
    for at in range(kept):
        place = np.minimum(places[..., at : at + 1], total)
        np.put_along_axis(spread, place, sources[..., at : at + 1], axis=-1)
    return np.ascontiguousarray(spread[..., :total].reshape(*words.shape[:-1], -1)).view(np.uint32)
