"""Which numbers may have been meant where another stands, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

NUMBER = re.compile(r"(?<![\w$%.#])(?:-\s?)?(?:0[xX][0-9a-fA-F]+|\d+)U?(?![\w.#])")
"""A number as it is written, with its sign."""
WIDE = 1 << 16
"""From here on a number is taken for fields of bits: a descriptor, an instruction descriptor."""
STEPS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FAR_PLACE = 4096
"""From here on a number that is not wide may be the place of a buffer."""
APART = (1024, 2048, 512, 256)
"""Bytes that such places may be apart."""
UNIT = 16
"""Bytes of the unit in which descriptors count."""
LEADING, STRIDE, OFFSET = 16, 32, 0x3FFF
"""Where the leading and the stride byte offset of a matrix descriptor begin, and the bits that each has."""
MOST = 6
"""How many other numbers of like instructions are looked at."""


def meant(
    value: int, others: Iterable[int] = (), fitting: Iterable[int] = (), written: str = "0x"
) -> Iterator[tuple[float, int]]:
    """What may have been meant by a number, with how unlikely it is.

    Args:
        value: the number, negative ones too.
        others: what stands there in other instructions like it.
        fitting: what stands elsewhere in the text, the likeliest first.
        written: how it is written: in decimal digits it is more likely no word of fields.
    """
    if value >= WIDE and (written[:2].lower() == "0x" or value >= WIDE**2):
        yield from _fields(value)
        return
    if value in (0, 1):
        yield 0.3, 1 - value
        yield 0.9, 2
    elif value == -1:
        yield 0.3, 1
    else:
        yield 0.3, 2 * value
        if value % 2 == 0:
            yield 0.3, value // 2
        if value > 2 and (value & (value + 1)) == 0:
            yield 0.3, value * 2 + 1
            yield 0.35, value >> 1
        for cost, other in _runs(value):
            yield cost, other
        aligned = value >= 16 and value % 8 == 0
        yield 2.0 if aligned else 0.5, value + 1
        yield 2.0 if aligned else 0.5, value - 1
        if value % 4 == 0:
            yield 0.9, value // 4
        yield 1.0, 4 * value
        if value >= 16 * UNIT and value % UNIT == 0:
            yield 0.6, value // UNIT
        if value >= UNIT:
            yield 1.1, value * UNIT
    if abs(value) <= STEPS[1]:
        yield 1.0, -value
    near = sorted(
        {other for other in others if other != value}, key=lambda other: (abs(other - value), other)
    )
    for rank, other in enumerate(near[:MOST]):
        yield 0.6 + 0.1 * rank, other
    for rank, other in enumerate(fitting):
        yield 0.5 + 0.05 * rank, other
    for rank, step in enumerate(APART if value >= FAR_PLACE and value % min(APART) == 0 else ()):
        yield 0.7 + 0.05 * rank, value + step
        yield 0.7 + 0.05 * rank, value - step
    first = 2.5 if value in (0, 1) else 1.5
    for rank, step in enumerate(STEPS):
        if step * 64 >= value:
            yield first + 0.05 * rank, value + step
            if value >= step:
                yield first + 0.05 * rank, value - step
    if value not in (0, 1, -1):
        yield 1.2, 0


def _runs(value: int) -> Iterator[tuple[float, int]]:
    """Of a mask, bits in a row, one that has a bit less, or more, at one of its ends."""
    lowest = value & -value
    if value < 0 or value & (value + lowest) or value == lowest or lowest == 1:
        return
    highest = 1 << value.bit_length() - 1
    yield from ((0.35, value ^ highest), (0.35, value ^ lowest))
    yield from ((0.4, value | highest << 1), (0.4, value | lowest >> 1))


def _fields(value: int) -> Iterator[tuple[float, int]]:
    """A field of bits that holds half or twice as much, one more or one less, or nothing; the two offsets of
    a matrix descriptor in each other's place."""
    bits = value.bit_length()
    width = 64 if bits > 32 else 32
    leading, stride = (value >> at & OFFSET for at in (LEADING, STRIDE))
    if width == 64 and leading != stride:
        rest = value & ~(OFFSET << LEADING | OFFSET << STRIDE)
        yield 0.25, rest | stride << LEADING | leading << STRIDE
    for bit in range(width):
        one = 1 << bit
        if value & one:
            for to in (one << 1, one >> 1):
                if to and not value & to and to.bit_length() <= width:
                    yield 0.4, value ^ one ^ to
    for bit in range(width):
        set_, mode = value >> bit & 1, bit >= 61
        yield 0.7 if set_ or mode else 0.9 if width == 32 else 2.0, value ^ 1 << bit


def out_of_line(row: Sequence[int]) -> tuple[int, int] | None:
    """Which number of a row is the only one that is not in line with the others, and what would be.

    None where the row is in line, or several numbers are not. A row has at least three.
    """
    found: tuple[int, int] | None = None
    if len({row[at + 1] - row[at] for at in range(len(row) - 1)}) == 1:
        return None
    for at in range(len(row)):
        same = {*row[:at], *row[at + 1 :]}
        if len(same) == 1 and row[at] not in same:
            return at, same.pop()
    for at in range(len(row)):
        others = [(place, number) for place, number in enumerate(row) if place != at]
        (p0, n0), (p1, n1) = others[:2]
        step, rest = divmod(n1 - n0, p1 - p0)
        if rest:
            continue
        if all(number == n0 + step * (place - p0) for place, number in others):
            if found is not None:
                return None
            found = at, n0 + step * (at - p0)
    return found


_COLUMNS = re.compile(r"of (\d+) columns, found lanes [\d -]+, columns (\d+) to (\d+)")
_PAST = re.compile(r"^(\d+) bytes past the end of ", re.MULTILINE)
_BYTES = re.compile(r"\b(\d+) bytes at 0x")


def beyond(told: str) -> frozenset[int]:
    """By how much the place that a finding and its notes tell of lies beyond the end of what there is: bytes,
    or columns of tensor memory."""
    found = {int(last) + 1 - int(columns) for columns, _, last in _COLUMNS.findall(told)}
    for size in map(int, _BYTES.findall(told)):
        found |= {int(past) + size for past in _PAST.findall(told)}
    return frozenset(each for each in found if each > 0)


def inverse(value: int) -> int | None:
    """The word of the inverse permutation, of one whose eight nibbles are 0 to 7 in some order; else None."""
    places = [value >> 4 * at & 15 for at in range(8)]
    if value >> 32 or sorted(places) != [*range(8)]:
        return None
    return sum(at << 4 * place for at, place in enumerate(places))


def value_of(token: str) -> int:
    """The value of a number as it is written."""
    return (
        int(token.replace(" ", "").rstrip("U"), 0)
        if not re.fullmatch(r"-?0\d+U?", token)
        else int(token.rstrip("U"), 8)
    )


def written_like(token: str, value: int) -> str:
    """A value as a number is written: in hexadecimal digits, as many of them, or in decimal ones."""
    if value < 0 or token[:2].lower() != "0x":
        return str(value)
    return f"{token[:2]}{value:0{len(token.rstrip('U')) - 2}x}"
