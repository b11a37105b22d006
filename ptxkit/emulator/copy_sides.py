"""Where a bulk copy reads or writes: one end of it, in shared or in global memory. PTX ISA 9.7.9.25.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.asynchronous.region import Data, Region
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.issuers import AddressResolver, Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.sync_points import check_defined
from ptxkit.emulator.values import first_true
from ptxkit.isa.modifiers import StateSpace, Validity

UNIT = 16
"""What addresses and sizes of bulk copies are multiples of."""


def validity_of(instruction: ScopedInstruction) -> Validity | None:
    """What a copy looks for in its source, to report it; None for nothing."""
    validity: Validity | None = instruction["report"]
    return validity if validity is not None and validity.bits else None


def in_bulk_group(issuers: Issuers, site: Site) -> AsyncOperation:
    """Queue an operation of each thread that moves nothing, in its open bulk group."""
    queue = issuers.batch.queue
    signal = queue.groups["bulk"].join(issuers.rows, issuers.lanes)
    operation = AsyncOperation(site, *issuers.who, signal=signal)
    queue.issue(operation)
    return operation


@dataclass(frozen=True, slots=True, eq=False)
class Ignored:
    """How many bytes at the beginning and at the end of each copy may lie outside of their memory: int64."""

    left: np.ndarray
    right: np.ndarray

    def rest(self, sizes: np.ndarray) -> np.ndarray:
        """The bytes of each copy that are not ignored."""
        return np.maximum(sizes - self.left - self.right, 0)

    def region(self, bank: Bank, places: np.ndarray, sizes: np.ndarray) -> Region:
        """What is read of copies from some places."""
        return Region(bank, places + self.left, self.rest(sizes))

    def filled(self, data: Data, sizes: np.ndarray, site: Site, launch: LaunchState) -> Data:
        """Copies as they arrive: what has been read of them, and indeterminate bytes for the rest."""
        index = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        left = np.repeat(self.left, sizes)
        read = (index >= left) & (index < left + np.repeat(self.rest(sizes), sizes))
        made = np.zeros(len(read), np.uint8)
        made[read] = data.data
        if not launch.sanitize:
            return Data(made)
        undefined, origins = np.full(len(read), 0xFF, np.uint8), np.zeros(len(read), np.uint32)
        undefined[read] = 0 if data.undefined is None else data.undefined
        origins[read] = 0 if data.origins is None else data.origins
        origins[~read] = launch.origins.of_read(site, "a byte that the copy was told to ignore")
        return Data(made, undefined, origins)


class CopySide:
    """The source or destination of a bulk copy.

    Args:
        aligned: what its address must be a multiple of.
    """

    def __init__(self, instruction: ScopedInstruction, operand: str, aligned: int = UNIT) -> None:
        self.space = instruction.space_of(operand)
        self.shared = self.space not in (StateSpace.GLOBAL, StateSpace.GENERIC)
        self.site, self.aligned = instruction.site, aligned
        self.within = "shared" if self.shared else "global"
        self.address = instruction.address(operand)
        self.places = AddressResolver(self.address, self.space, 1, self.site, within=self.within)

    def __call__(
        self, lane_set: LaneSet, issuers: Issuers, sizes: np.ndarray, ignored: Ignored | None = None
    ) -> np.ndarray:
        """The offset in the bank of each copy's first byte. Raises P661, P663, P664."""
        places = self.places(lane_set, issuers) if ignored is None else self._anywhere(lane_set, issuers)
        batch = lane_set.batch
        issuers.refuse(
            places % self.aligned != 0,
            "P661",
            self.site,
            lambda at: (
                f"expected an address that is a multiple of {self.aligned}, found "
                f"{self._address(batch, int(places[at])):#x}"
            ),
        )
        if self.space is StateSpace.SHARED_CTA:
            remote = issuers.remote(places)
            issuers.refuse(remote, "P664", self.site, "a `.shared::cta` address must be of the executing CTA")
        if ignored is None:
            self._check_range(batch, issuers, places, sizes)
        else:
            self._check_range(batch, issuers, places + ignored.left, ignored.rest(sizes))
        return places

    def _anywhere(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """The offset of an address in global memory of which not every byte need be there."""
        if lane_set.undefined and self.address.base is not None:
            check_defined(lane_set, issuers.mask, self.address.base, self.site)
        found: np.ndarray = issuers.take(self.address.read(lane_set)).astype(np.int64) - BASE
        return found

    def _address(self, batch: CtaBatch, place: int) -> int:
        return place % batch.shared.stride + batch.launch.shared.start if self.shared else place + BASE

    def _check_range(self, batch: CtaBatch, issuers: Issuers, places: np.ndarray, sizes: np.ndarray) -> None:
        launch = batch.launch
        if self.shared:
            ends = places % batch.shared.stride + sizes
            bad = ends > launch.shared.total
            what = f"the CTA's shared memory ends at {launch.shared.start + launch.shared.total:#x}"
        else:
            owner = launch.memory.find(int(places.min()) + BASE)
            if owner is not None and owner.live and int((places + sizes).max()) + BASE <= owner.end:
                owner.touched = True
                self._check_peer(launch, issuers, places, sizes)
                return
            starts = (places + BASE).astype(np.uint64)
            self._check_peer(launch, issuers, places, sizes)
            bad = np.array([not launch.memory.inside(s, int(n)) for s, n in zip(starts, sizes, strict=True)])
            bad &= sizes > 0
            what = ""
        if (at := first_true(bad)) is not None:
            first = self._address(batch, int(places[at]))
            if not what:
                found = launch.memory.find(first)
                what = (
                    f"the nearest allocation is {found}"
                    if found is not None
                    else "nothing is allocated there"
                )
            space = "global" if self.space is StateSpace.GENERIC else self.space
            message = f"{counted(int(sizes[at]), 'byte')} at {first:#x} leave their {space} memory"
            raise fault("P663", message, self.site, (issuers.name(at), what))

    def _check_peer(
        self, launch: LaunchState, issuers: Issuers, places: np.ndarray, sizes: np.ndarray
    ) -> None:
        if launch.memory.device_count == 1:
            return
        from ptxkit.emulator.peers import no_peer

        for item, place in enumerate((places + BASE).tolist()):
            owner = launch.memory.find(place)
            if owner is not None and launch.memory.bars(owner, launch.device):
                raise no_peer(launch, owner, self.site, issuers.name(item), place, int(sizes[item]))


Reader = Callable[[LaneSet], Any]


class Sizes:
    """The size of each copy, and what of it is ignored."""

    def __init__(self, instruction: ScopedInstruction) -> None:
        self.size, self.site = instruction.checked_source("size"), instruction.site
        self.ignored: tuple[Reader, ...] = tuple(
            instruction.checked_source(name)
            for name in ("ignoreBytesLeft", "ignoreBytesRight")
            if name in instruction.operands
        )

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> tuple[np.ndarray, Ignored | None]:
        """Bytes of each copy, int64. Raises P662, no size of a bulk copy, or more than 15 bytes ignored at an
        end."""
        sizes = issuers.take(self.size(lane_set)).astype(np.int64)
        issuers.refuse(
            sizes % UNIT != 0,
            "P662",
            self.site,
            lambda at: f"expected a multiple of {UNIT} bytes, found {int(sizes[at])}",
            f"make the size a multiple of {UNIT}",
        )
        if not self.ignored:
            return sizes, None
        counts = [issuers.take(count(lane_set)).astype(np.int64) for count in self.ignored]
        most = np.maximum(*counts)
        issuers.refuse(
            most >= UNIT,
            "P662",
            self.site,
            lambda at: f"expected 0 to {UNIT - 1} bytes to ignore, found {int(most[at])}",
            "round the address down and the size up to multiples of 16, no further",
        )
        return sizes, Ignored(*counts)
