"""Loads by one register of addresses, compiled together: the addresses are looked at once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.jit.arguments import (
    CALL,
    EnteredAccess,
    TransferArguments,
    range_of,
    record_of,
)
from ptxkit.emulator.jit.extents import Extent, extent_of
from ptxkit.emulator.jit.loads_code import ELEMENTS, FIELDS, RECORD, STEP, loads_code
from ptxkit.emulator.jit.rows_code import RowsShape
from ptxkit.emulator.jit.transfer import CompiledTransfer, TransferPlace, nothing_in_flight
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.memory import TiledBank
from ptxkit.emulator.native import address, compiler
from ptxkit.emulator.values import RAW, WARP

_AT = {name: number for number, name in enumerate(FIELDS)}


@cache
def _function(shape: RowsShape) -> Any:
    return compiler().function(loads_code(shape), CALL)


def kind_of(transfer: MemoryTransfer) -> tuple[Any, ...] | None:
    """What loads have in common that are compiled together; None for what is not compiled so."""
    base = transfer.address.base
    if transfer.stores or transfer.guard is not None or base is None or base.slot is None:
        return None
    accessor = transfer.accessor
    return (
        base.slot,
        base.bits,
        accessor.space,
        accessor.aligned,
        transfer.width,
        transfer.count,
        transfer.dtype,
    )


class CompiledLoads:
    """Loads as one step of a plan. `transfers`: each by itself, which does what is in doubt here."""

    def __init__(self, transfers: Sequence[CompiledTransfer]) -> None:
        self.transfers = transfers
        loads = [each.transfer for each in transfers]
        first = loads[0]
        base = first.address.base
        assert base is not None
        assert base.slot is not None
        self._slot, self._bits = base.slot, base.bits
        self._offsets = [load.address.offset for load in loads]
        self._least, self._greatest = min(self._offsets), max(self._offsets)
        self._aligned = first.accessor.aligned - 1
        self._even = not any(offset & self._aligned for offset in self._offsets)
        self._loads, self._first = loads, first

    def __call__(self, lane_set: LaneSet) -> None:
        """Run the loads for a lane set."""
        if not self.done(lane_set):
            for each in self.transfers:
                each(lane_set)

    def done(self, lane_set: LaneSet) -> bool:
        """Do them, unless something is in doubt. Returns whether they were done."""
        launch = lane_set.launch
        if lane_set.mask is not None or launch.counts.traffic is not None or not self._even:
            return False
        if self._slot in lane_set.undefined or not nothing_in_flight(lane_set):
            return False
        array = lane_set.regs[self._slot]
        extent = extent_of(array.shape, lane_set.n)
        if not extent:
            return False
        array = np.ascontiguousarray(array)
        known = self._known(lane_set) if extent & Extent.LANES else None
        if known is not None and self._load(lane_set, array, extent, known[0], known[1], True):
            return True
        low, high, odd, _ = range_of(array, self._bits, 0, None)
        low, high = low + self._least, high + self._greatest
        if odd & self._aligned or low < 0 or high >> self._bits:
            return False
        place = self.transfers[0].place(lane_set, low, high)
        if place is None:
            return False
        within = slice(low - place.start, high - place.start + self._first.accessor.size)
        return self._load(lane_set, array, extent, place, within)

    def _known(self, lane_set: LaneSet) -> tuple[TransferPlace, slice] | None:
        """Memory in which the addresses lie unless that changes from time to time, and the bytes that may be
        read there without a look at which they are; None where there is none."""
        place = self.transfers[0].likely_place(lane_set)
        if place is None or (place[0].history is not None and not place[0].history.private):
            return None  # Blocks have one record where an access has all of them, which hangs on its range.
        within = place[1]
        least, most = within.start - self._least, within.stop - self._first.accessor.size - self._greatest
        return (place[0], slice(max(least, 0), most)) if most >= max(least, 0) else None

    def _load(
        self,
        lane_set: LaneSet,
        array: Any,
        extent: Extent,
        place: TransferPlace,
        within: slice,
        bounded: bool = False,
    ) -> bool:
        """Load, and enter that; whether it was settled.

        Args:
            within: from which to which byte of the bank the loads reach; with `bounded` the least and the
                greatest that the register may hold, which is looked at then.
        """
        first, history = self._first, place.history
        if place.stride and not extent & Extent.ROWS:
            extent |= Extent.ROWS
            array = np.ascontiguousarray(np.broadcast_to(array, (lane_set.n, array.shape[1])))
        lanes = WARP if extent & Extent.LANES else 1
        rows = array.size // lanes
        arguments = TransferArguments(_AT)
        entry = EnteredAccess(lane_set, history, extent) if history is not None else None
        if entry is not None and not arguments.history(entry):
            return False
        base = None if history is None else history.base
        count, kind = first.count, RAW[8 * first.width]
        made = np.empty((len(self._loads), count, *array.shape), kind)
        size = array.size * first.width
        entries = np.zeros((len(self._loads), ELEMENTS + count), np.int64)
        entries[:, STEP] = self._offsets
        entries[:, ELEMENTS:] = address(made) + size * np.arange(made.shape[0] * count).reshape(-1, count)
        if history is not None:
            entries[:, RECORD] = [record_of(lane_set, history, load.accessor.site) for load in self._loads]
        if history is not None and history.base != base:
            return False  # The records were numbered anew meanwhile.
        arguments.number("rows", rows)
        arguments.array("address", array)
        arguments.number("start", place.start)
        arguments.array("data", place.bank.data)
        if place.stride:
            arguments.array("tiles", lane_set.special("cta") * place.stride)
        arguments.array("patterns", np.empty(rows, np.uint8))
        arguments.number("loads", len(entries))
        arguments.array("entries", entries)
        arguments.number("least", within.start if bounded else 0)
        arguments.number("span", within.stop - within.start if bounded else (1 << 64) - 1)
        arguments.number("odd", self._aligned if bounded else 0)
        if place.suspect:
            assert place.bank.shadow is not None
            arguments.array("shadow", place.bank.shadow)
        shape = RowsShape(lanes=lanes, **arguments.shape(first, self._bits, entry))
        if not arguments.settle(_function, shape, entry, within):
            return False
        if place.suspect and isinstance(place.bank, TiledBank):
            place.bank.found_defined()
        counts = lane_set.launch.counts
        for load, elements in zip(self._loads, made, strict=True):
            counts.load(place.space, lane_set.size * load.width * load.count)
            for target, value in zip(load.targets, elements, strict=True):
                if target is not None:
                    target.write(lane_set, value.view(load.dtype))
        return True
