"""The threads that execute an asynchronous instruction, and where their addresses point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import MASK_BITS
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import AddressOperand
from ptxkit.emulator.sync_points import executing, packed
from ptxkit.emulator.values import WARP, first_true


@dataclass(frozen=True, slots=True, eq=False)
class Issuers:
    """The threads of a set that execute an instruction, one after the other.

    Attributes:
        at: their places in the set's (n, 32) values: row and lane.
        rows: their rows of the batch.
        lanes_each: for how many lanes of its warp each stands; None where each stands for itself.
    """

    lane_set: LaneSet
    at: tuple[np.ndarray, np.ndarray]
    rows: np.ndarray
    lanes_each: np.ndarray | None = None

    @classmethod
    def of(cls, lane_set: LaneSet, guard: Any) -> Issuers:
        """The set's lanes for which a guard holds."""
        lanes = executing(lane_set, guard)
        at = np.nonzero(np.ones((lane_set.n, WARP), bool) if lanes is None else lanes)
        return cls(lane_set, (at[0], at[1]), at[0] if lane_set.rows is None else lane_set.rows[at[0]])

    @classmethod
    def by_warp(cls, lane_set: LaneSet, guard: Any, *operands: Any) -> Issuers:
        """The same, but of each warp only the first lane, where all its lanes have the same operands."""
        if any(np.ndim(operand) and np.shape(operand)[1] > 1 for operand in operands):
            return cls.of(lane_set, guard)
        lanes = executing(lane_set, guard)
        if lanes is None:
            row = np.arange(lane_set.n)
            lane, counts = np.zeros(lane_set.n, np.int64), np.full(lane_set.n, WARP)
        else:
            counts = np.count_nonzero(lanes, axis=1)
            row = np.flatnonzero(counts)
            lane, counts = np.argmax(lanes[row], axis=1), counts[row]
        return cls(lane_set, (row, lane), row if lane_set.rows is None else lane_set.rows[row], counts)

    def on_lanes(self, values: np.ndarray) -> np.ndarray:
        """A value of each as one of the lane set: (n, 32), or (n, 1) where they stand for whole warps."""
        whole = self.lanes_each is not None
        spread = np.zeros((self.lane_set.n, 1 if whole else WARP), values.dtype)
        spread[self.at[0], 0 if whole else self.at[1]] = values
        return spread

    def masks(self, guard: Any) -> np.ndarray | None:
        """For each the lanes of its warp for which it stands, as a mask; None where all of every warp do."""
        lanes = executing(self.lane_set, guard)
        if self.lanes_each is None:
            return np.uint32(1) << self.at[1].astype(np.uint32)
        return None if lanes is None else packed(np.ascontiguousarray(lanes))[self.at[0], 0]

    @property
    def batch(self) -> CtaBatch:
        """What they belong to."""
        return self.lane_set.batch

    @property
    def lanes(self) -> np.ndarray:
        """The lane of each."""
        return self.at[1]

    @property
    def who(self) -> tuple[CtaBatch, np.ndarray, np.ndarray]:
        """Batch, rows and lanes, as an `AsyncOperation` has them."""
        return self.lane_set.batch, self.rows, self.at[1]

    @property
    def mask(self) -> np.ndarray:
        """The places of the set's values that are theirs: bool (n, 32)."""
        mask = np.zeros((self.lane_set.n, WARP), bool)
        mask[self.at] = True
        return mask

    @property
    def threads(self) -> np.ndarray:
        """The number of each in the batch."""
        return self.rows * WARP + self.lanes

    @property
    def ctas(self) -> np.ndarray:
        """The CTA of each, by its number in the batch."""
        return self.rows // self.lane_set.batch.warps_per_cta

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, value: Any, wide: bool = False) -> np.ndarray:
        """A value of the lane set for each of them: (count,), of a `wide` one of 128 bits (count, 2)."""
        shape = (self.lane_set.n, WARP, 2) if wide else (self.lane_set.n, WARP)
        taken: np.ndarray = np.broadcast_to(value, shape)[self.at]
        return taken

    def some(self, chosen: np.ndarray) -> Issuers:
        """Some of them."""
        return Issuers(self.lane_set, (self.at[0][chosen], self.at[1][chosen]), self.rows[chosen])

    def name(self, item: int) -> str:
        """`thread (3, 0, 0) of CTA (0, 0, 0)`."""
        return str(self.lane_set.batch.thread(int(self.rows[item]), int(self.lanes[item])))

    def remote(self, places: np.ndarray) -> np.ndarray:
        """Whether the offset in shared memory that each has lies in another CTA than its own."""
        remote: np.ndarray = places // self.lane_set.batch.shared.stride != self.ctas
        return remote

    def refuse(
        self,
        wrong: np.ndarray,
        code: str,
        site: Site,
        message: str | Callable[[int], str],
        help: str | None = None,
    ) -> None:
        """Raise a fault about the first of them that does something wrong, if there is one. `wrong`: bool
        (count,). `message`: what is wrong; or what says it of one of them."""
        if (at := first_true(wrong)) is not None:
            said = message if isinstance(message, str) else message(at)
            raise fault(code, said, site, (self.name(at),), help)

    def destinations(self, masks: np.ndarray, site: Site) -> tuple[np.ndarray, np.ndarray]:
        """For each destination of a multicast, by a ctaMask of each of them: whose it is, and the CTA's rank.
        Raises P663, the cluster has not as many CTAs."""
        size = self.lane_set.batch.cluster
        names: np.ndarray = masks.astype(np.int64)[:, None] >> np.arange(MASK_BITS) & 1
        self.refuse(
            np.array(names[:, size:].any(axis=1)),
            "P663",
            site,
            lambda at: f"ctaMask {int(masks[at]):#06x} names a CTA that the cluster of {size} has not",
        )
        item, rank = np.nonzero(names)
        return item, rank


def by_thread(step: Callable[[LaneSet, Issuers], Any]) -> Callable[[LaneSet, Any], Any]:
    """The step of an instruction that threads execute one by one: nothing where a guard holds for none."""

    def guarded(lane_set: LaneSet, guard: Any) -> Any:
        issuers = Issuers.of(lane_set, guard)
        return step(lane_set, issuers) if len(issuers) else None

    return guarded


class AddressResolver:
    """An address operand that must lie in one state space.

    Args:
        space: `global`, `shared`, `shared::cluster` or `generic`.
        size: bytes that must be there.
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
        """The offset in the bank of each thread's address, int64. Raises P602, it lies outside; P603, it is
        misaligned."""
        accesses = self.accessor(lane_set, issuers.mask if len(issuers) < lane_set.size else None)
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
