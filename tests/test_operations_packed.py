"""Packed integers of 8 and 16 bits against Python's integers, lane by lane."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable

import numpy as np
import pytest
from pure_operations import propagate, run

PACKED = {"u8x4": (8, False), "s8x4": (8, True), "u16x2": (16, False), "s16x2": (16, True)}


def pairs(kind: str) -> list[tuple[int, int]]:
    """Codes of two numbers: every pair of bytes; the ends of 16 bits, and random ones."""
    size, _ = PACKED[kind]
    if size == 8:
        return [(a, b) for a in range(256) for b in range(256)]
    ends = [0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF]
    source = random.Random(7)
    every = [(a, b) for a in ends for b in ends]
    return every + [(source.getrandbits(16), source.getrandbits(16)) for _ in range(2000)]


def in_lanes(kind: str, codes: list[int]) -> list[int]:
    """Words whose lanes have the codes in turn, each lane others at a time."""
    size, _ = PACKED[kind]
    column = np.array(codes, np.uint64)
    turns = [0, 771, 1333, 1999][: 32 // size]
    return sum(np.roll(column, turn) << np.uint64(size * place) for place, turn in enumerate(turns)).tolist()


def check(text: str, kind: str, reference: Callable[[int, int], int]) -> None:
    """A function of two numbers, whose result is cut to the lane, against the operation."""
    size, signed = PACKED[kind]

    def number(code: int) -> int:
        return code - (1 << size) if signed and code >> size - 1 else code

    codes = pairs(kind)
    want = [reference(number(a), number(b)) & (1 << size) - 1 for a, b in codes]
    a, b = (in_lanes(kind, list(each)) for each in zip(*codes, strict=True))
    assert run(text, a, b) == in_lanes(kind, want), text


def limits(kind: str) -> tuple[int, int]:
    size, signed = PACKED[kind]
    return (-1 << size - 1, (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)


@pytest.mark.parametrize("kind", ["u8x4", "s8x4"])
def test_bytes(kind: str) -> None:
    low, high = limits(kind)
    check(f"add.{kind}", kind, operator.add)
    check(f"sub.{kind}", kind, operator.sub)
    check(f"add.sat.{kind}", kind, lambda a, b: min(max(a + b, low), high))
    check(f"sub.sat.{kind}", kind, lambda a, b: min(max(a - b, low), high))
    check(f"min.{kind}", kind, min)
    check(f"max.{kind}", kind, max)


def test_signed_bytes() -> None:
    check("min.relu.s8x4", "s8x4", lambda a, b: max(min(a, b), 0))
    check("max.relu.s8x4", "s8x4", lambda a, b: max(a, b, 0))
    # -128 has no opposite and stays.
    words = [a | (a + 77 & 255) << 8 | (a ^ 255) << 16 | (3 * a & 255) << 24 for a in range(256)]
    assert run("neg.s8x4", words) == [
        sum((-(word >> shift & 255) & 255) << shift for shift in (0, 8, 16, 24)) for word in words
    ]


@pytest.mark.parametrize("kind", ["u16x2", "s16x2"])
def test_saturating_halves(kind: str) -> None:
    low, high = limits(kind)
    check(f"add.sat.{kind}", kind, lambda a, b: min(max(a + b, low), high))


def test_saturating_words() -> None:
    ends = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
    lanes = [(a, b) for a in ends for b in ends]
    got = run("add.sat.u32", *map(list, zip(*lanes, strict=True)))
    assert got == [min(a + b, 0xFFFFFFFF) for a, b in lanes]


COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}


@pytest.mark.parametrize("kind", PACKED)
def test_comparisons(kind: str) -> None:
    for name, compare in (COMPARISONS | (UNSIGNED if kind[0] == "u" else {})).items():
        check(f"set.{name}.{kind}", kind, lambda a, b, compare=compare: -1 if compare(a, b) else 0)


def test_undefined_bits_spoil_their_lane() -> None:
    word = [0x01020304]
    assert propagate("add.sat.u8x4", (word, word), ([0x00010000], None)) == [0x00FF0000]
    assert propagate("neg.s8x4", (word,), ([0x80000001],)) == [0xFF0000FF]
    assert propagate("set.lt.u16x2", (word, word), (None, [1])) == [0x0000FFFF]
    assert propagate("set.eq.s8x4", (word, word), ([0x100], [1 << 24])) == [0xFF00FF00]
    assert propagate("add.sat.s16x2", (word, word), ([1 << 31], None)) == [0xFFFF0000]
