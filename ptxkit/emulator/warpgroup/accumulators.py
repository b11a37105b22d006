"""Accumulators of `wgmma` while products on them are in flight: their registers hold nothing then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.matrices import MatrixTarget
from ptxkit.emulator.values import WARP
from ptxkit.emulator.warpgroup.members import WARPS, Members, gathered, scattered, scattered_from
from ptxkit.isa.modifiers import Shape


@dataclass(slots=True, eq=False)
class Accumulator:
    """The accumulator of some instructions, by its registers.

    Attributes:
        target: its registers.
        shape: of the instructions that use it.
        values: raw (warpgroups of the batch, M, N), contiguous; what they hold where `active`.
        unknown: which elements are undefined, bool (M, N, warpgroups of the batch); None for none.
        origin: of what is.
        active: for each warpgroup whether products on it are in flight.
        site: the last of those.
    """

    target: MatrixTarget
    shape: Shape
    values: np.ndarray
    active: np.ndarray
    site: Site
    unknown: np.ndarray | None = None
    origin: int = 0

    @property
    def slots(self) -> frozenset[int]:
        """The registers' slots."""
        return frozenset(target.slot for target in self.target.targets if target is not None)

    @property
    def shape_of_d(self) -> tuple[int, int]:
        """M and N."""
        _, m, n = self.values.shape
        return m, n

    def matrices(self, which: np.ndarray) -> np.ndarray:
        """What some warpgroups have: (M, N, warpgroups)."""
        return np.ascontiguousarray(self.values[which].transpose(1, 2, 0))

    def put(self, which: np.ndarray, values: np.ndarray) -> None:
        """Set what some warpgroups have: (M, N, warpgroups)."""
        self.values[which] = values.transpose(2, 0, 1)

    def take(self, lane_set: LaneSet, members: Members, fresh: np.ndarray) -> None:
        """Get what registers hold for the warpgroups that are not active yet: bool (members,)."""
        fragment = self.target.fragment
        slots = [target.slot for target in self.target.targets if target is not None]
        rows = members.rows
        if not fresh.all():
            rows = np.arange(lane_set.n).reshape(-1, WARPS) if rows is None else rows
            rows = rows[fresh]
        held = [lane_set.regs[slot].view(np.uint32) for slot in slots]
        which = members.which[fresh]
        self.put(which, gathered(fragment, held, rows, lane_set.n))
        found = [lane_set.undefined.get(slot) for slot in slots] if lane_set.undefined else []
        if any(found):
            masks = [np.uint32(0) if entry is None else entry[0].view(np.uint32) for entry in found]
            self.mark(which, gathered(fragment, masks, rows, lane_set.n) != 0, next(e[1] for e in found if e))
        elif self.unknown is not None:
            self.unknown[:, :, which] = False

    def mark(self, which: np.ndarray, unknown: np.ndarray | None, origin: int) -> None:
        """Note which elements are undefined from now on."""
        if unknown is None or not unknown.any():
            if self.unknown is not None:
                self.unknown[:, :, which] = False
            return
        if self.unknown is None:
            self.unknown = np.zeros((*self.shape_of_d, len(self.values)), bool)
        self.unknown[:, :, which] = unknown
        self.origin = origin

    def release(self, lane_set: LaneSet, members: Members, done: np.ndarray) -> bool:
        """Write the registers of the warpgroups whose products are done: bool (members,). Returns whether any
        of it is undefined."""
        which = members.which[done]
        self.active[which] = False
        if (layouts := lane_set.launch.layouts) is not None:
            layouts.summed(lane_set.batch, which, id(self), self.site.where, self.matrices(which))
        fragment = self.target.fragment
        rows = members.rows
        if not done.all():
            rows = np.arange(lane_set.n).reshape(-1, WARPS) if rows is None else rows
            rows = rows[done]
        masks: list[Any] = [None] * fragment.registers
        unknown = None if self.unknown is None else self.unknown[:, :, which]
        if unknown is not None and unknown.any():
            bits = np.where(unknown, np.iinfo(self.values.dtype).max, 0).astype(self.values.dtype)
            masks = scattered(fragment, bits)
        registers = scattered_from(fragment, self.values, which)
        for target, value, mask in zip(self.target.targets, registers, masks, strict=True):
            if target is not None:
                _write(lane_set, target, value, mask, self.origin, rows)
        return masks[0] is not None


def _write(
    lane_set: LaneSet, target: Any, value: np.ndarray, mask: Any, origin: int, rows: np.ndarray | None
) -> None:
    """Write a register for some rows (None: all) with its undefined bits."""
    slot = target.slot
    kind = lane_set.regs[slot].dtype
    before = lane_set.undefined.get(slot)
    if rows is not None:
        at = rows.reshape(-1)
        whole = np.array(np.broadcast_to(lane_set.regs[slot], (lane_set.n, WARP)))
        whole[at] = value.view(kind)
        value = whole
        if mask is not None or before is not None:
            known = np.zeros((lane_set.n, WARP), np.uint32)
            if before is not None:
                known[...] = before[0]
                origin = origin if mask is not None else before[1]
            known[at] = 0 if mask is None else mask
            mask = known
    lane_set.regs[slot] = value.view(kind)
    if mask is not None and mask.any():
        lane_set.undefined[slot] = (mask, origin)
    else:
        lane_set.undefined.pop(slot, None)
