"""The gate of warp-synchronous instructions: lanes wait for those of their member mask. PTX ISA 9.7.13."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.operands import Source
from ptxkit.emulator.values import WARP

if TYPE_CHECKING:
    from ptxkit.emulator.gang import Gang
    from ptxkit.emulator.group import Group


def packed(lanes: np.ndarray) -> np.ndarray:
    """Rows of 32 lanes as a column of `uint32`, lane 0 lowest."""
    return np.packbits(lanes, axis=-1, bitorder="little").view(np.uint32)


def unpacked(words: Any) -> np.ndarray:
    """Words as rows of 32 lanes."""
    flat = np.ascontiguousarray(np.atleast_1d(words), np.uint32).reshape(-1, 1)
    return np.unpackbits(flat.view(np.uint8), axis=1, bitorder="little").view(bool)


def executing(group: Group, guard: Any) -> np.ndarray | None:
    """The lanes of a group that a guard holds for, as (n, 32); None for all of its rows' lanes."""
    if guard is None or guard.ndim == 0:
        return group.mask
    lanes = np.broadcast_to(guard, (group.n, WARP))
    return lanes if group.mask is None else lanes & group.mask


class WarpGate:
    """Lets a lane of a warp-synchronous instruction through when all lanes of its member mask have come.

    Args:
        site: the instruction.
        members: the member mask; None for all lanes of the warp.
        guard: the instruction's guard. Lanes that it switches off pass.
    """

    def __init__(self, site: Site, members: Source | None, guard: Source | None) -> None:
        self.site = site
        self.members = members.reader if members is not None else None
        self.guard = guard.reader if guard is not None else None
        self._constant = members.value if members is not None else None

    def __call__(self, group: Group) -> Group | None:
        if self.guard is None and (group.mask is None or group.lanes == group.gang.living):
            return group
        if group.gang.waiting:
            group = group.gang.join(self, group)
        ready = self._ready(group)
        if ready is None:
            return group
        count = int(np.count_nonzero(ready))
        if count == group.lanes:
            return group
        mask = group.full_mask()
        waiting = group if count == 0 else group.part(mask & ~ready, group.lanes - count, group.pc)
        group.gang.park(waiting, self)
        return group.part(ready, count, group.pc) if count else None

    def _ready(self, group: Group) -> np.ndarray | None:
        """The lanes that may go on; None for all."""
        guard = self.guard(group) if self.guard is not None else None
        if guard is not None and guard.ndim == 0 and not guard:
            return None
        present = executing(group, guard)
        if present is None:
            return None
        alive = group.gang.alive if group.rows is None else group.gang.alive[group.rows]
        members = np.uint32(0xFFFF_FFFF) if self.members is None else self.members(group)
        missing = members & packed(alive) & ~packed(np.ascontiguousarray(present))
        if not missing.any():
            return None
        held = present & np.broadcast_to(missing != 0, present.shape)
        return group.full_mask() & ~held

    def reconsider(self, gang: Gang) -> None:
        """Lanes have exited: whoever waited for them tries again."""
        gang.ready += gang.unpark(self)

    def waits_for(self, gang: Gang, group: Group, row: int) -> str:
        """What a row of a waiting group waits for."""
        at = row if group.rows is None else int(np.searchsorted(group.rows, row))
        members = np.uint32(0xFFFF_FFFF) if self.members is None else self.members(group)
        mask = group.full_mask()[at]
        named = np.broadcast_to(members, (group.n, WARP))[at][mask]
        wanted = int(np.bitwise_or.reduce(named))
        alive = int(packed(gang.alive[row])[0])
        missing = wanted & alive & ~int(packed(mask)[0])
        return (
            f"lanes {missing:#010x} of its member mask {wanted:#010x} at "
            f"`{self.site.instruction.spelling}`, which are elsewhere"
        )
