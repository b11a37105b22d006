"""Sets of small numbers, of registers or slots: as bits of one integer, and as the few members themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

Numbers = tuple[int, ...]
"""A few members of a set: numbers of registers, or of slots."""


def bits_of(numbers: Iterable[int]) -> int:
    """A set of numbers as bits."""
    many = numbers if isinstance(numbers, (tuple, list, set, frozenset)) else list(numbers)
    if len(many) < 8:
        bits = 0
        for number in many:
            bits |= 1 << number
        return bits
    data = bytearray((max(many) >> 3) + 1)
    for number in many:
        data[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(data, "little")


_BYTE = re.compile(rb"[^\0]")
_MEMBERS = [tuple(i for i in range(8) if byte >> i & 1) for byte in range(256)]


def numbers_in(bits: int) -> Numbers:
    """The members of a set, lowest first."""
    data = bits.to_bytes((bits.bit_length() + 7) >> 3, "little")
    return tuple(
        [
            first + member
            for found in _BYTE.finditer(data)
            for first in (found.start() << 3,)
            for member in _MEMBERS[data[found.start()]]
        ]
    )


class BitSets(Sequence[int]):
    """A set for each of many instructions: its members (`numbers`), and as bits when one is asked for."""

    def __init__(self, numbers: Sequence[Numbers]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return BitSets(self.numbers[at])
        return bits_of(self.numbers[at])
