"""Where the elements of a matrix come from, if they come row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.emulator.contents import NOWHERE, ZEROS
from ptxkit.emulator.matrix_reads import KnownTensor, MatrixRead, Rows
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap

MapOf = Callable[[int], TensorMap | KnownTensor | None]

FEWEST = 4
"""Rows from within a tensor that show how a matrix lies: fewer may fit by chance."""
ONCE = 0.75
"""The part of rows, gathered by an index each, that differ: wrong distances give half of them, or fewer."""


def placed_rows(
    came: np.ndarray,
    bits: int,
    major: str,
    map_of: MapOf,
    even: bool = False,
) -> Rows | None:
    """Where elements come from, (mn, k), if row by row; rows go along K, or along MN.

    Rows of a box lie at one distance in global memory; those that were brought one by one anywhere in the
    same columns of a tensor, few of them twice, unless they must be `even`, too.

    Args:
        came: the global address of each element; `NOWHERE` where nobody knows, `ZEROS` outside of a tensor.
        bits: of an element.
        major: `K` or `MN`.
        map_of: by which map bytes of global memory were copied, or the tensor that they are part of.
        even: whether rows must lie at one distance.
    """
    if major != "K":
        came = came.T
    if (came == NOWHERE).any():
        return None
    if came[0, 0] < 0:
        return Rows(ZEROS, 0)
    starts = came - np.arange(came.shape[1]) * bits // 8
    known = came >= 0
    starts = np.where(known, starts, np.where(known[:, :1], starts[:, :1], ZEROS))
    filled = ~known[:, 0]
    if (starts[~filled] != starts[~filled][:, :1]).any() or known[filled].any():
        return None
    firsts, numbers = starts[~filled, 0], np.flatnonzero(~filled)
    if even and len(firsts) < FEWEST:
        return None
    if len(firsts) < 2:
        return Rows(int(firsts[0]), 0)
    pitch = int(firsts[1] - firsts[0]) // int(numbers[1] - numbers[0])
    tensor_map = map_of(int(firsts[0]))
    if isinstance(tensor_map, KnownTensor) and tensor_map.strides:
        columns = (firsts - tensor_map.address) % tensor_map.strides[-1]
        if (columns != columns[0]).any() or len(np.unique(firsts)) < ONCE * len(firsts):
            return None
    boxes = isinstance(tensor_map, TiledTensorMap) and max(tensor_map.box[:-1], default=1) > 1
    if (boxes or even) and (
        pitch < came.shape[1] * bits // 8 or (firsts != firsts[0] + numbers * pitch).any()
    ):
        return None
    return Rows(int(firsts[0]), pitch)


def in_part(came: np.ndarray, read: MatrixRead, map_of: MapOf) -> str | None:
    """What is wrong where the first rows of a matrix are read right, and the others have not been copied;
    `came` as for `placed_rows`."""
    whole = (came != NOWHERE).all(axis=1)
    count = int(np.argmin(whole))
    if not count or whole[count:].any() or placed_rows(came[:count], read.bits, read.major, map_of) is None:
        return None
    elements = f"{read.mn} elements along {read.along}"
    return f"matrix {read.name} has {elements}, and {count} of them were copied"
