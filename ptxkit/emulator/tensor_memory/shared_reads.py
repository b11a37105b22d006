"""Where instructions on tensor memory read shared memory, as bytes of the batch's bank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.tensor_memory.operands import Tcgen05SharedOperand


class SharedRead(NamedTuple):
    """What an instruction reads of the shared memory of a CTA; `of_a`: whether that is matrix A."""

    cta: int
    operand: Tcgen05SharedOperand
    of_a: bool = False


class ReadRegions(NamedTuple):
    """What an instruction reads: each operand of each CTA, those of matrix A, and all of it as one."""

    each: tuple[Region, ...]
    of_a: tuple[Region, ...]
    whole: Region


class SharedReads:
    """The regions of a batch's shared memory that have been read so far, each of them made once."""

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self._regions: dict[tuple[int, Tcgen05SharedOperand], Region] = {}
        self._known: dict[tuple[SharedRead, ...], ReadRegions] = {}

    def __call__(self, shared: tuple[SharedRead, ...]) -> ReadRegions:
        """Where an instruction reads."""
        found = self._known.get(shared)
        if found is None:
            each = tuple(self.region(read.cta, read.operand) for read in shared)
            of_a = tuple(one for one, read in zip(each, shared, strict=True) if read.of_a)
            start = np.concatenate([np.zeros(0, np.int64), *(region.start for region in each)])
            size = np.concatenate([np.zeros(0, np.int64), *(region.size for region in each)])
            whole = Region(self.batch.shared, start, size, np.zeros(len(start), np.int64))
            found = self._known[shared] = ReadRegions(each, of_a, whole)
        return found

    def region(self, cta: int, operand: Tcgen05SharedOperand) -> Region:
        """What is read of the shared memory of a CTA."""
        found = self._regions.get((cta, operand))
        if found is None:
            first, sizes = operand.map.runs
            place = cta * self.batch.shared.stride + operand.start - self.batch.launch.shared.start
            found = Region(self.batch.shared, first + place, sizes, np.zeros(len(first), np.int64))
            self._regions[cta, operand] = found
        return found
