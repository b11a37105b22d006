"""What an instruction says in place of its tensor map: the tensor's address, sizes, strides.

PTX ISA 9.4, 9.7.10.28.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.sync_points import check_defined
from ptxkit.encodings.tensor_maps import TensorMap

ALIGNED = 16
"""What the address must be a multiple of."""
WINDOW = 128 << 10
"""Bytes from the address on that must be allocated."""
UPPER = 4
"""Bits of the upper part of each stride."""


class Given(NamedTuple):
    """What one thread says: lists outermost dimension first, as a `TensorMap` has them; None for what the map
    says."""

    address: int
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def applied(self, tensor_map: TensorMap) -> TensorMap:
        """A map with these values in place of its own. Raises PtxkitError: it is none with them."""
        changes: dict[str, Any] = {"address": self.address}
        if self.shape is not None:
            changes |= {"shape": list(self.shape), "strides": list(self.strides or ())}
        return tensor_map.replace(**changes)


@dataclass(slots=True, eq=False)
class Override:
    """The operands that override a tensor map.

    Attributes:
        address: `gAddr`.
        sizes: elements along each dimension, innermost first; none where the map says.
        lower, upper: the parts of the strides of all dimensions but the innermost; `upper` holds four bits of
            each. None where there are none.
    """

    site: Site
    address: SourceOperand
    sizes: tuple[SourceOperand, ...] = ()
    lower: tuple[SourceOperand, ...] = ()
    upper: SourceOperand | None = None

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> list[Given]:
        """What each thread says. Raises P605; P602, the bytes from the address on are not all allocated;
        P603, it is misaligned; P619, the upper strides have bits of dimensions that there are not."""
        address = self.addresses(lane_set, issuers)
        if not self.sizes:
            return [Given(at) for at in address.tolist()]
        sizes, lower = (self._values(lane_set, issuers, part) for part in (self.sizes, self.lower))
        strides = lower
        if self.upper is not None:
            upper = self._values(lane_set, issuers, (self.upper,))[:, 0]
            issuers.refuse(
                upper >> UPPER * len(self.lower) != 0,
                "P619",
                self.site,
                lambda at: (
                    f"expected upper strides of {UPPER * len(self.lower)} bits, found {int(upper[at]):#x}"
                ),
                "leave the bits of dimensions that the tensor has not at zero",
            )
            parts = upper[:, None] >> UPPER * np.arange(len(self.lower)) & (1 << UPPER) - 1
            strides = lower + (parts << 32) << 4
        return [
            Given(at, tuple(size[::-1]), tuple(stride[::-1]))
            for at, size, stride in zip(address.tolist(), sizes.tolist(), strides.tolist(), strict=True)
        ]

    def addresses(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """The address that each thread gives. Raises as the call does."""
        address = self._values(lane_set, issuers, (self.address,))[:, 0]
        self._check_address(lane_set, issuers, address)
        return address

    def _values(self, lane_set: LaneSet, issuers: Issuers, sources: tuple[SourceOperand, ...]) -> np.ndarray:
        """Operands of each thread: int64 (threads, operands). Raises P605."""
        found = np.zeros((len(issuers), len(sources)), np.int64)
        for i, source in enumerate(sources):
            check_defined(lane_set, issuers.mask, source, self.site)
            found[:, i] = issuers.take(source.reader(lane_set))
        return found

    def _check_address(self, lane_set: LaneSet, issuers: Issuers, address: np.ndarray) -> None:
        issuers.refuse(
            address % ALIGNED != 0,
            "P603",
            self.site,
            lambda at: (
                f"misaligned: the address {int(address[at]):#x} in place of the tensor map's is no multiple "
                f"of {ALIGNED}"
            ),
        )
        memory = lane_set.launch.memory
        for item, at in enumerate(address.tolist()):
            owner = memory.find(at)
            if owner is None or not owner.live or at + WINDOW > owner.end:
                near = f"it lies in {owner}" if owner is not None else "nothing is allocated there"
                lane_set.launch.report(
                    "P602",
                    f"out of bounds: the {WINDOW >> 10} KiB from {at:#x} on, which stands in place of "
                    "the tensor map's address, must be allocated",
                    self.site,
                    (issuers.name(item), near, "PTX ISA 9.4, 9.7.10.28.5.2.1"),
                    "allocate that much from the address on, whatever of it is copied",
                )
