"""Matrix A of a warpgroup, out of registers: elements of a tensor that do not belong to those of B."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from ptxkit.emulator.contents import NOWHERE, GlobalContents
from ptxkit.emulator.fragment_reads import RegisterMatrix, misplaced_in_registers
from ptxkit.emulator.matrix_reads import KnownTensor

ADDRESS, ROWS, COLUMNS = 0x1000, 128, 64
TENSOR = KnownTensor(ADDRESS, (ROWS, COLUMNS), (2 * COLUMNS,), 2 * ROWS * COLUMNS, "bf16")
HELD = np.arange(ROWS * COLUMNS, dtype=np.uint16).reshape(ROWS, COLUMNS) + 1


class Contents:
    """Knows the pieces of one tensor."""

    def find(self, pieces: np.ndarray) -> np.ndarray:
        codes = np.ascontiguousarray(pieces).view(np.uint16)
        first = codes[:, 0].astype(np.int64) - 1
        whole = (codes - codes[:, :1] == np.arange(8)).all(axis=1) & (first % 8 == 0)
        return np.where(whole, ADDRESS + 2 * first, NOWHERE)


def said(a: np.ndarray, begin: tuple[int, int] | None = (32, COLUMNS)) -> str | None:
    matrix = RegisterMatrix("A", "bf16", 16, np.ascontiguousarray(a.T)[..., None])
    return misplaced_in_registers("line 9", matrix, cast(GlobalContents, Contents()), [TENSOR], begin)


OTHER: list[tuple[Callable[[], np.ndarray], str]] = [
    (
        lambda: HELD[:64, 16:32],
        "the product at line 9 multiplies elements 16 to 31 of A along K with elements 32",
    ),
    (lambda: HELD[:64, np.arange(32, 48) ^ 8], "has its elements along K in the order 40 to 47, 32 to 39"),
    (
        lambda: HELD[np.arange(64) ^ 2, 32:48],
        "",
    ),
    (
        lambda: np.concatenate([HELD[:64, 32:40], HELD[1:65, 40:48]], axis=1),
        "line 0 of matrix A along K has, in the product at line 9, elements 40 to 47 of row 1 of its tensor",
    ),
]


@pytest.mark.parametrize(("a", "says"), OTHER, ids=["step", "order", "rows", "torn"])
def test_registers_that_hold_other_elements(a: Callable[[], np.ndarray], says: str) -> None:
    text = said(a())
    assert (says in text) if text is not None else not says


@pytest.mark.parametrize(
    ("a", "begin"),
    [
        (HELD[64:, 32:48], (32, COLUMNS)),
        (HELD[:64, 16:32], None),
        (HELD[:64, 16:32], (32, 2 * COLUMNS)),
        (HELD[:64, 33:49], (32, COLUMNS)),
    ],
    ids=["right", "B unknown", "another K", "not found"],
)
def test_nothing_is_said_of_what_is_right_or_unknown(a: np.ndarray, begin: tuple[int, int] | None) -> None:
    assert said(a, begin) is None
