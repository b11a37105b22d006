"""Loads and stores, with undefined bits and the order of accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.races import check_load, check_store
from ptxkit.emulator.reach import Reach
from ptxkit.emulator.values import WARP, distinct
from ptxkit.isa.modifiers import MemoryOrder

Masks = tuple[Any, ...]
READ_ONLY = ("const", "param")
"""Spaces that kernels only read. Parameters of the functions that they call are no memory."""


@dataclass(slots=True, eq=False)
class Access(Reach):
    """Loads from and stores to what lanes reach."""

    def load(
        self, width: int, count: int, order: MemoryOrder = MemoryOrder.WEAK
    ) -> tuple[tuple[Any, ...], Masks | None]:
        """The values of `count` elements of `width` bytes, and their undefined bits where there are any.
        `width`, `count`: what each lane loads. `order`: weak, relaxed or acquire."""
        history = self.history
        if self.lane_set.launch.program.asynchronous:
            self.check_in_flight(width * count, False)
        if history is not None:
            number = check_load(self, history, width * count, order is not MemoryOrder.WEAK)
            if order is not MemoryOrder.WEAK:
                self.synchronise(history, number, order, None)
        values = self.bank.load(self.index, width, count)
        if not self.suspect:
            return values, None
        masks = self.bank.load_shadow(self.index, width, count)
        active = lanes_of(self.lane_set, self.guard, np.shape(self.index))
        if active is not None:
            masks = tuple(_among(active, mask) for mask in masks)
        if not any(mask.any() for mask in masks):
            if isinstance(self.owner, TiledBank):
                self.owner.found_defined()
            return values, None
        return values, masks

    def synchronise(
        self, history: AccessHistory, number: int, reads: MemoryOrder | None, writes: MemoryOrder | None
    ) -> None:
        """Pass an order on through memory; see `HappensBefore.synchronise`."""
        index, rows, _ = self.each()
        happens_before = self.lane_set.batch.happens_before
        happens_before.synchronise(history, rows, history.granules(index), number, reads, writes)

    def store(
        self,
        values: tuple[Any, ...],
        masks: Masks | None,
        width: int,
        origin: Any = 0,
        order: MemoryOrder = MemoryOrder.WEAK,
    ) -> None:
        """Store elements of `width` bytes, the last lane winning where several hit one place.

        Args:
            values, masks: what each lane stores, and its undefined bits.
            width: bytes of an element.
            origin: of the undefined bits.
            order: weak, relaxed or release.
        """
        if self.space in READ_ONLY:
            self.refuse("writes", "which kernels only read")
        history = self.history_of_write
        if self.lane_set.launch.program.asynchronous:
            self.check_in_flight(width * len(values), True)
        if history is not None:
            number = check_store(self, history, values, width, order is not MemoryOrder.WEAK)
            if order is not MemoryOrder.WEAK:
                self.synchronise(history, number, None, order)
        # Undefined bits may differ between rows or lanes where the values do not.
        index, both, active = self.broadcast(values if masks is None else (*values, *masks))
        if active is not None and active.ndim:
            index = index[active]
            both = tuple(each[active] for each in both)
        values, masks = both[: len(values)], None if masks is None else both[len(values) :]
        if self.lane_set.launch.watching:
            self._watch(index, values, width)
        self.bank.store(index, values, width)
        if self.bank.shadow is None or (masks is None and not self.suspect):
            return
        self._store_shadow(index, masks, width, len(values), origin)

    def _watch(self, index: Any, values: tuple[Any, ...], width: int) -> None:
        """Take note if the store changes anything."""
        held = self.bank.load(index, width, len(values))
        if any(bool((old != new).any()) for old, new in zip(held, values, strict=True)):
            self.lane_set.launch.changes += 1

    def _store_shadow(self, index: Any, masks: Masks | None, width: int, count: int, origin: Any) -> None:
        bank = self.bank
        if masks is None:
            none = np.zeros(2, np.uint64) if width == 16 else np.uint8(0)
            bank.store_shadow(index, (none,) * count, width)
            if bank.origins is not None:
                bank.set_origin(index, width * count, 0)
            return
        self.mark_undefined()
        bank.store_shadow(index, masks, width)
        bank.set_origin(index, width * count, origin)

    def mark_undefined(self) -> None:
        """Take note that the places may hold undefined bits from now on."""
        if isinstance(self.owner, TiledBank):
            self.owner.spoil(self.first, self.last)
        elif self.owner is not None:
            self.owner.undefined = True
        elif self.space == "global":
            for address in distinct(np.asarray(self.index)):
                found = self.lane_set.launch.memory.find(int(address) + BASE)
                if found is not None:
                    found.undefined = True

    def origin(self, size: int) -> int:
        """The origin of undefined bytes that are loaded, `size` by each lane."""
        origins = self.lane_set.launch.origins
        if self.bank.origins is not None:
            numbers = np.atleast_1d(self.bank.origin(self.index, size))
            active = lanes_of(self.lane_set, self.guard, np.shape(self.index))
            if active is not None:
                numbers = np.where(active, numbers, 0)
            stored = numbers[numbers != 0]
            if len(stored):
                return int(stored[0])
        what = str(self.owner) if isinstance(self.owner, Allocation) else f"{self.space} memory"
        return origins.of_read(self.site, what)

    def discard(self, size: int) -> None:
        """Make bytes of global memory undefined."""
        launch = self.lane_set.launch
        if not launch.sanitize:
            return
        index, _, active = self.broadcast((np.uint8(0),))
        starts = np.atleast_1d(np.asarray(index))
        shadow = self.bank.shadow
        assert shadow is not None
        for start in distinct(starts if active is None else starts[active]):
            shadow[start : start + size] = 0xFF
            owner = launch.memory.find(int(start) + BASE)
            if owner is not None:
                owner.undefined = True

    def count_traffic(self, size: int, what: str) -> None:
        """Count what the access costs the memory system, where that is asked for; see `Traffic.lanes`."""
        traffic = self.lane_set.launch.counts.traffic
        if traffic is None or self.space not in ("shared", "global"):
            return
        rows = self.lane_set.n
        active = lanes_of(self.lane_set, self.guard, (rows, WARP))
        stride = self.bank.stride if isinstance(self.bank, TiledBank) else 0
        traffic.lanes(self.space, self.index, active, rows, size, what, stride)


def _among(active: Any, mask: Any) -> Any:
    return np.where(active[..., None] if mask.ndim > active.ndim else active, mask, mask.dtype.type(0))
