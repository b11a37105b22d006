"""Matrix operands of instructions: the registers of a fragment, their codes and their undefined bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.form import ScopedForm
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices.fragments import Fragment
from ptxkit.emulator.operands import SourceOperand, TargetOperand

Mask = tuple[Any, int] | None
"""Undefined bits and their origin; None where there are none."""


@dataclass(slots=True)
class MatrixSource:
    """A matrix that is read."""

    fragment: Fragment
    sources: list[SourceOperand]
    readers: list[Callable[[LaneSet], Any]]

    @classmethod
    def of(cls, form: ScopedForm, operand: str, fragment: Fragment) -> MatrixSource:
        """The registers of an operand as a fragment."""
        sources = [form.source(part, f"b{fragment.word}") for part in form.parts(operand)]
        assert len(sources) == fragment.registers
        return cls(fragment, sources, [source.reader for source in sources])

    def codes(self, lane_set: LaneSet) -> np.ndarray:
        """The matrix: (first, second, tiles)."""
        return self.fragment.gather([read(lane_set) for read in self.readers], lane_set.n)

    def unknown(self, lane_set: LaneSet) -> Mask:
        """The undefined bits of the matrix's codes."""
        if not lane_set.undefined:
            return None
        found = [source.undefined(lane_set) for source in self.sources]
        if not any(found):
            return None
        masks: list[Any] = [np.uint32(0) if entry is None else entry[0] for entry in found]
        return self.fragment.gather(masks, lane_set.n), next(entry[1] for entry in found if entry)


@dataclass(slots=True)
class MatrixTarget:
    """A matrix that is written."""

    fragment: Fragment
    targets: list[TargetOperand | None]

    @classmethod
    def of(cls, form: ScopedForm, operand: str, fragment: Fragment) -> MatrixTarget:
        """The registers of an operand as a fragment."""
        targets = [form.target(part, f"b{fragment.word}") for part in form.parts(operand)]
        assert len(targets) == fragment.registers
        return cls(fragment, targets)

    def write(self, lane_set: LaneSet, guard: Any, matrix: np.ndarray, undefined: Mask = None) -> bool:
        """Store a matrix of codes, of which some may be undefined (bits, or bool for all of an element's).

        Returns:
            Whether any are.
        """
        masks: list[np.ndarray] | None = None
        if undefined is not None:
            bits, origin = undefined
            if bits.dtype == bool:
                bits = np.where(bits, np.iinfo(matrix.dtype).max, 0).astype(matrix.dtype)
            masks = self.fragment.scatter(np.ascontiguousarray(np.broadcast_to(bits, matrix.shape)))
        for i, (target, value) in enumerate(zip(self.targets, self.fragment.scatter(matrix), strict=True)):
            if target is not None:
                entry = (masks[i], origin) if masks is not None and masks[i].any() else None
                target.write(lane_set, value, entry, guard)
        return masks is not None


class Unknown:
    """Which elements of D are made of undefined bits: one in the row of A, the column of B or C is enough."""

    def __init__(self) -> None:
        self._where: Any = None
        self._origin = 0

    def add(self, mask: Mask) -> None:
        """Undefined bits of C: (M, N, tiles), or what broadcasts to it."""
        if mask is not None:
            where = mask[0] != 0
            self._where = where if self._where is None else self._where | where
            self._origin = self._origin or mask[1]

    def add_rows(self, mask: Mask) -> None:
        """Undefined bits along rows of A: (K, M, tiles)."""
        if mask is not None:
            self.add((mask[0].any(axis=0)[:, None], mask[1]))

    def add_columns(self, mask: Mask) -> None:
        """Undefined bits along columns of B: (K, N, tiles)."""
        if mask is not None:
            self.add((mask[0].any(axis=0)[None], mask[1]))

    def found(self, lane_set: LaneSet, site: Site) -> Mask:
        """The elements of D, as bool, and the origin that they have from this instruction on."""
        if self._where is None or not self._where.any():
            return None
        return self._where, lane_set.launch.origin(self._origin, site)
