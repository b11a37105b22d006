"""Matrix A that is computed of earlier sums and multiplied out of registers: its registers and its rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ptxkit.emulator.computed_factors import ComputedFactors


def attention(
    change: Callable[[np.ndarray], np.ndarray], first: int = 0, row: int | None = 16, masked: int = 64
) -> str | None:
    """What is said of exp(sums), changed, of which A is columns 16 to 31; `first` and `row`: of the two B."""
    sums = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) * 3
    known = ComputedFactors()
    known.begins("accumulator", first)
    known.summed("warpgroup", "accumulator", "line 5", sums)
    known.summed("warpgroup", "another", "line 7", np.random.default_rng(1).standard_normal((64, 32)))
    a = np.exp(sums - sums.max(axis=1, keepdims=True))
    a[:, masked:] = 0
    return known.multiplied("warpgroup", "line 9", change(a)[:, 16:32], row)


def exchanged(a: np.ndarray) -> np.ndarray:
    """The second and the third register of each thread."""
    rows = a.reshape(4, 2, 8, -1, 2, 8).copy()
    rows[:, 1, :, :, 0], rows[:, 0, :, :, 1] = rows[:, 0, :, :, 1].copy(), rows[:, 1, :, :, 0].copy()
    return rows.reshape(a.shape)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (exchanged, "registers 1 and 2 of matrix A of the product at line 9 are exchanged"),
        (lambda a: a[:, np.arange(64) ^ 1], "the two halves of each register of matrix A of the product at"),
        (lambda a: a[:, np.arange(64) ^ 8], "registers 0 and 2 of matrix A of the product at line 9 are"),
        (lambda a: a[np.arange(64) ^ 8], "registers 0 and 1 of matrix A of the product at line 9 are"),
    ],
)
def test_registers_in_another_order(change: Callable[[np.ndarray], np.ndarray], says: str) -> None:
    text = attention(change)
    assert text is not None
    assert text.startswith(says)


def test_sums_of_some_rows_with_other_rows() -> None:
    assert attention(lambda a: a, first=128, row=32) == (
        "the product at line 9 multiplies sums for rows 144 to 159 of matrix B of the product at line 5 with "
        "rows 32 to 47 of its own matrix B"
    )


@pytest.mark.parametrize(
    ("change", "row", "masked"),
    [
        (lambda a: a, 16, 64),
        (lambda a: a, None, 64),
        (lambda a: a, 16, 27),
        (lambda a: a * 0, 16, 64),
        (lambda a: np.random.default_rng(2).random((64, 64)), 16, 64),
    ],
    ids=["right", "rows unknown", "masked", "zeros", "something else"],
)
def test_nothing_is_said_of_what_is_right_or_unknown(
    change: Callable[[np.ndarray], np.ndarray], row: int | None, masked: int
) -> None:
    assert attention(change, row=row, masked=masked) is None
