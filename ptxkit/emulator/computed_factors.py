"""Matrices that threads compute of the sums of an earlier product, and multiply again out of registers.

Whatever a thread makes of sums one by one (exponentials, rounding, a factor of the row), larger sums of a row
stay the larger ones: the order within a row tells which sums elements come from. So registers in another
order are known, and which rows of the earlier product's B the elements along K stand for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product

import numpy as np

EIGHT = 8
"""Rows, and elements along K, of what one register of a thread holds."""
PAIRS = 100
"""Of elements that must differ, to tell an order."""
EXCEPTIONS = 0.01
"""The part of them that may be in another order."""
KEPT = 3
"""Sums that are remembered of each warpgroup."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What a product left in registers.

    Attributes:
        where: its line.
        values: (64, N) numbers.
        row: of its tensor, with which matrix B begins; None: nobody knows.
    """

    where: str
    values: np.ndarray
    row: int | None


class ComputedFactors:
    """The sums that warpgroups have got, and what they multiply of them."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, int | None] = {}
        self._sums: dict[Hashable, deque[Sums]] = {}

    def begins(self, accumulator: Hashable, row: int | None) -> None:
        """A product adds to an accumulator; with which row of its tensor its matrix B begins, if known."""
        self._rows[accumulator] = row

    def summed(self, whose: Hashable, accumulator: Hashable, where: str, values: np.ndarray) -> None:
        """The registers of a warpgroup get sums, (64, N)."""
        known = self._sums.setdefault(whose, deque(maxlen=KEPT))
        known.append(Sums(where, values, self._rows.get(accumulator)))

    def multiplied(self, whose: Hashable, where: str, a: np.ndarray, row: int | None) -> str | None:
        """A warpgroup multiplies matrix A, (64, 16), out of registers: what is wrong with that, in words.

        Args:
            whose: the warpgroup.
            where: the line.
            a: numbers.
            row: of its tensor, along K, with which matrix B begins, if that is known.
        """
        if a.shape != (64, 2 * EIGHT):
            return None
        for sums in reversed(self._sums.get(whose, ())):
            count = sums.values.shape[1] // EIGHT
            places = [_place(part, sums.values, number, count) for number, part in enumerate(_quarters(a))]
            found = [place for place in places if place is not None]
            if len(found) == len(places):
                return _exchanged(where, found) or _elsewhere(where, row, sums, found[0][1] // 2)
        return None


def _elsewhere(where: str, row: int | None, sums: Sums, column: int) -> str | None:
    """What is wrong where sums of some rows are multiplied with others. `column`: of sixteen sums each."""
    if row is None or sums.row is None or row == sums.row + 2 * EIGHT * column:
        return None
    first, last = sums.row + 2 * EIGHT * column, 2 * EIGHT - 1
    return (
        f"the product at {where} multiplies sums for rows {first} to {first + last} of matrix B of the "
        f"product at {sums.where} with rows {row} to {row + last} of its own matrix B"
    )


def _quarters(a: np.ndarray) -> list[np.ndarray]:
    """The parts that the four registers of each thread hold, (4 warps, 8 rows, 8), in their order."""
    rows = a.reshape(4, 2, EIGHT, 2, EIGHT)
    return [rows[:, low, :, right] for right, low in product((0, 1), (0, 1))]


def _place(part: np.ndarray, sums: np.ndarray, number: int, count: int) -> tuple[int, int, int] | None:
    """Which sums a register's part comes from: of the lower eight of sixteen rows, which eight columns, and
    whether neighbours are exchanged. The place where it belongs is tried first."""
    low = number % 2
    rows = sums[:64].reshape(4, 2, EIGHT, count, EIGHT)
    right = number // 2
    ways = [(low, column, 0) for column in range(right, count, 2)]
    ways += [(row, column, turn) for turn in (0, 1) for row in (0, 1) for column in range(count)]
    for row, column, turn in ways:
        held = rows[:, row, :, column]
        if _same_order(part, held[..., np.arange(EIGHT) ^ turn]):
            return row, column, turn
    return None


def _same_order(part: np.ndarray, sums: np.ndarray) -> bool:
    """Whether larger sums are larger elements; zeros are left out, which masks make."""
    there = (part != 0) & np.isfinite(part) & np.isfinite(sums)
    both = there[..., :, None] & there[..., None, :] & (part[..., :, None] > part[..., None, :])
    count = int(np.count_nonzero(both))
    wrong = int(np.count_nonzero(both & (sums[..., :, None] < sums[..., None, :])))
    return count >= PAIRS and wrong <= EXCEPTIONS * count


def _exchanged(where: str, found: list[tuple[int, int, int]]) -> str | None:
    """What is wrong with the four registers of A of every thread."""
    columns = sorted({column // 2 for _, column, _ in found})
    if any(turn for *_, turn in found):
        return (
            f"the two halves of each register of matrix A of the product at {where} are exchanged: the first "
            "of two elements along K belongs into the lower half"
        )
    meant = [(number % 2, number // 2) for number in range(4)]
    held = [(row, column % 2) for row, column, _ in found]
    if len(columns) > 1 or held == meant:
        return None
    wrong = next(number for number in range(4) if held[number] != meant[number])
    rows, along = ("0 to 7", "8 to 15")[held[wrong][0]], ("0 to 7", "8 to 15")[held[wrong][1]]
    belongs = ("0 to 7", "8 to 15")[meant[wrong][0]], ("0 to 7", "8 to 15")[meant[wrong][1]]
    other = held.index(meant[wrong]) if meant[wrong] in held else None
    pair = f"registers {wrong} and {other}" if other is not None else f"register {wrong}"
    verb = "are exchanged" if other is not None else "is another's"
    return (
        f"{pair} of matrix A of the product at {where} {verb}: register {wrong} holds rows {rows}, elements "
        f"{along} along K of each warp's sixteen, where rows {belongs[0]}, elements {belongs[1]} belong"
    )
