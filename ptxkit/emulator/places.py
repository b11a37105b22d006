"""Where an address operand of an asynchronous instruction points to, thread by thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.address import AddressOperand
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.values import WARP


class Places:
    """An address operand that must lie in one state space.

    Args:
        address: the operand.
        space: `global`, `shared`, `shared::cluster` or `generic`.
        size: bytes that must be there.
        site: the instruction.
        aligned: what the address must be a multiple of; `size` where left out.
        within: the state space that a generic address must lie in.
    """

    def __init__(
        self,
        address: AddressOperand,
        space: str,
        size: int,
        site: Site,
        aligned: int | None = None,
        within: str = "shared",
    ) -> None:
        self.accessor = Accessor(address, space, size, site, aligned)
        self.within = within
        self.site = site

    def __call__(self, lane_set: LaneSet, issuers: Issuers) -> np.ndarray:
        """The offset in the bank of each thread's address, int64.

        Raises:
            EmulatorFault: P602, it lies outside; P603, it is misaligned.
        """
        taking: Any = None
        if len(issuers) < lane_set.size:
            taking = np.zeros((lane_set.n, WARP), bool)
            taking[issuers.at] = True
        accesses = self.accessor(lane_set, taking)
        if len(accesses) == 1 and accesses[0].space == self.within:
            return issuers.take(accesses[0].index).astype(np.int64)
        other = next(access for access in accesses if access.space != self.within)
        raise fault(
            "P602",
            f"`{self.site.instruction.spelling}` needs an address in {self.within} "
            f"memory, found one in {other.space} memory",
            self.site,
            (str(lane_set.thread(*lane_set.first(np.True_ if other.guard is None else other.guard))),),
        )
