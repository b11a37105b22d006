"""Matrices in the registers of warpgroups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.emulator.matrices.fragments import Fragment
from ptxkit.emulator.values import WARP

WARPS = 4
THREADS = WARPS * WARP


def gathered(fragment: Fragment, values: Sequence[Any], rows: np.ndarray | None, n: int) -> np.ndarray:
    """A matrix (first, second, warpgroups) out of registers.

    Args:
        fragment: of 128 threads.
        values: the registers, of shapes that broadcast to (n, 32).
        rows: int64 (warpgroups, 4), the rows of a set that the warpgroups are; None for all, in order.
        n: rows of the set.
    """
    count = n // WARPS if rows is None else len(rows)
    return fragment.gather([spread(value, rows, n) for value in values], count)


def spread(value: Any, rows: np.ndarray | None, n: int) -> Any:
    """A register as (warpgroups, 128), or as the scalar that it is."""
    if np.ndim(value) == 0:
        return value
    whole = np.broadcast_to(value, (n, WARP))
    if rows is not None:
        whole = whole[rows]
    return whole.reshape(-1, THREADS)


def scattered(fragment: Fragment, matrix: np.ndarray) -> list[np.ndarray]:
    """The registers that hold a matrix, (rows of the warpgroups, 32) each."""
    return [register.reshape(-1, WARP) for register in fragment.scatter(matrix)]
