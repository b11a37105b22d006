"""Which elements of matrices products take: part of K that none takes, types of other elements, rows from
between two boxes' beginnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ptxkit.emulator.contents import ZEROS
from ptxkit.emulator.matrix_reads import KnownTensor, MatrixRead, Rows
from ptxkit.encodings.tensor_maps import TensorMap, TiledTensorMap

ALIKE = ({"f16", "bf16"}, {"e4m3", "e5m2"}, {"s8", "u8"}, {"e2m3", "e3m2"}, {"ue4m3", "ue8m0", "ue5m3"})
"""Types whose bits are taken for one another's by a wrong word of a descriptor, or a wrong instruction."""


class TakenElements:
    """What the products of a launch take, in order."""

    def __init__(self) -> None:
        self.mistyped: str | None = None
        """What is wrong with the type of a product's elements."""
        self.between: str | None = None
        """What is dubious about where a matrix begins in a box."""
        self._taken: Counter[int] = Counter()
        self._along = 0, 0
        self._all_known = True
        self._begin: dict[int, set[int]] = {}

    def along_k(self, first: int, step: int, extent: int) -> None:
        """A product takes `step` elements along K from `first` on, of `extent` that there are."""
        self._taken[first] += 1
        self._along = step, extent

    def unknown(self) -> None:
        """Nobody knows which elements a product takes."""
        self._all_known = False

    def untaken(self) -> str | None:
        """Elements along K that products take more rarely than others."""
        if not self._all_known or not self._taken:
            return None
        step, extent = self._along
        counts = {first: self._taken[first] for first in range(0, extent, step)}
        least, most = min(counts.values()), max(counts.values())
        if least == most:
            return None
        first = min(first for first in counts if counts[first] == least)
        how = "by no product" if least == 0 else f"by {least} products, others by {most}"
        return f"elements {first} to {first + step - 1} along K are taken {how}"

    def typed(self, where: str, read: MatrixRead, tensors: Sequence[KnownTensor], first: int) -> None:
        """A product reads a matrix that comes from an address on."""
        held = next((one.dtype for one in tensors if one.address <= first < one.address + one.size), "")
        if self.mistyped is None and held != read.dtype and any({held, read.dtype} <= two for two in ALIKE):
            taken = f"the product at {where} takes matrix {read.name} as {read.dtype}"
            self.mistyped = f"{taken}, and its tensor holds {held}"

    def box(self, tensor_map: TensorMap, at: Sequence[int]) -> None:
        """A copy brings a box. `at`: its coordinates, innermost first."""
        if len(at) > 1:
            self._begin.setdefault(tensor_map.address, set()).add(at[1])

    def begins(
        self, where: str, read: MatrixRead, rows: Rows | None, tensor: TensorMap | KnownTensor | None
    ) -> None:
        """Where a matrix comes from: `rows` of a tensor, by the map that it was copied by."""
        if rows is None or rows.first < 0 or not isinstance(tensor, TiledTensorMap) or not tensor.strides:
            return
        if self.between is not None:
            return
        count, height = read.mn if read.major == "K" else read.k, tensor.box[-2]
        row = (rows.first - tensor.address) // tensor.strides[-1] % tensor.shape[-2]
        known = self._begin.get(tensor.address, ())
        offsets = [row - start for start in known if 0 <= row - start < height]
        if height % count or not offsets or any(offset % count == 0 for offset in offsets):
            return
        whose = (
            f"matrix {read.name} of the product at {where} begins at row {min(offsets)} of a box that was "
        )
        along = "" if read.major == "K" else " along K"
        self.between = f"{whose}copied, and has {count} of its {height} rows{along}"


def rows_twice(came: np.ndarray, read: MatrixRead, tensor: TensorMap | KnownTensor | None) -> str | None:
    """What is wrong with a matrix that has whole rows of a tensor, and some of them twice.

    Args:
        came: the global address of each of its elements, (mn, k); negative ones where that is not known.
        read: the matrix.
        tensor: by the map that it was copied by.
    """
    lines = came if read.major == "K" else came.T
    there = (lines >= 0).all(axis=1)
    if not there.any() or (lines[~there] != ZEROS).any():
        return None
    if not isinstance(tensor, TiledTensorMap) or not tensor.strides:
        return None
    starts = lines[there] - np.arange(lines.shape[1]) * read.bits // 8
    rows, columns = np.divmod(starts - tensor.address, tensor.strides[-1])
    numbers, times = np.unique(rows[:, 0], return_counts=True)
    if (rows != rows[:, :1]).any() or (columns != columns[0, 0]).any() or times.max() < 2:
        return None
    twice = numbers[times > 1]
    which = f"rows {twice[0]} to {twice[-1]}" if len(twice) > 1 else f"row {twice[0]}"
    return f"matrix {read.name} has {which} of its tensor twice"
