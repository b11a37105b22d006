"""Loads and stores, compiled where nothing about them is in doubt.

An access is settled by one look at all its addresses, as numpy settles it: they lie in one allocation, or in
the CTA's shared memory, aligned and defined, and no record of the access history is one that a row may
not have seen. Then one function moves the bytes and enters the access. In every other case the
step of numpy does all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.addresses import WINDOWS, space_of
from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.global_memory import BASE, Allocation
from ptxkit.emulator.jit.arguments import (
    CALL,
    EnteredAccess,
    TransferArguments,
    range_of,
    record_of,
)
from ptxkit.emulator.jit.extents import Extent, extent_of
from ptxkit.emulator.jit.memory_code import DONE, FIELDS, AccessShape, access_code
from ptxkit.emulator.jit.rows_code import RowsShape
from ptxkit.emulator.jit.stores_code import FIELDS as STORE_FIELDS
from ptxkit.emulator.jit.stores_code import stores_code
from ptxkit.emulator.lane_set import LaneSet, Step
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.native import compiler
from ptxkit.emulator.values import RAW, WARP

_AT = {name: number for number, name in enumerate(FIELDS)}
_STORE_AT = {name: number for number, name in enumerate(STORE_FIELDS)}


@cache
def _access(shape: AccessShape) -> Any:
    return compiler().function(access_code(shape), CALL)


@cache
def _row_stores(shape: RowsShape) -> Any:
    return compiler().function(stores_code(shape), CALL)


@dataclass(slots=True, eq=False)
class TransferPlace:
    """The memory of an access.

    Attributes:
        bank: the bytes.
        start: the address of the bank's first byte, in the space of the addresses.
        stride: bytes of the tile of the bank that each CTA has; 0 where there is but one.
        history: where the access is entered; None where races are not sought.
        suspect: whether some of the bytes may be undefined.
    """

    space: str
    bank: Bank
    start: int
    stride: int
    history: AccessHistory | None
    suspect: bool


@dataclass(slots=True, eq=False)
class Addresses:
    """The addresses of an access, one for each place.

    Attributes:
        array: what their register holds.
        extent: along which axes they differ.
        low, high: the least and the greatest of those that take part.
        odd: the union of their bits.
        lanes: how many of the set's lanes take part.
        active: bool, the places that take part; None for all.
        guarded: whether a guard is why some don't.
    """

    array: Any
    extent: Extent
    low: int
    high: int
    odd: int
    lanes: int
    active: Any
    guarded: bool


def nothing_in_flight(lane_set: LaneSet) -> bool:
    """Whether no access can meet what the asynchronous machine is doing."""
    batch = lane_set.batch
    if not batch.launch.program.asynchronous:
        return True
    return not batch.queue.hazards.in_flight and not len(batch.mbarriers.place)


class CompiledTransfer:
    """A load or store as a step of a plan.

    Args:
        transfer: what it does.
        step: the same in numpy, for lane sets of any kind.
    """

    def __init__(self, transfer: MemoryTransfer, step: Step) -> None:
        self.transfer = transfer
        self.step = step
        self._allocation: Allocation | None = None
        base = transfer.address.base
        assert base is not None
        assert base.slot is not None
        self._base = base.slot
        self._bits = base.bits
        self._offset = transfer.address.offset & ((1 << base.bits) - 1)

    def __call__(self, lane_set: LaneSet) -> Any:
        """Run the instruction for a lane set."""
        return None if self.done(lane_set) else self.step(lane_set)

    def done(self, lane_set: LaneSet) -> bool:
        """Do it, unless something is in doubt. Returns whether it was done."""
        transfer, undefined = self.transfer, lane_set.undefined
        guard = transfer.guard
        if not nothing_in_flight(lane_set):
            return False
        if undefined and any(slot in undefined for slot in transfer.reads):
            return False
        condition = None
        if guard is not None:
            condition = guard.reader(lane_set)
            if condition.ndim == 0:
                if not condition:
                    return True
                condition = None
        addresses = self._addresses(lane_set, condition)
        if addresses is None or addresses.odd & (transfer.accessor.aligned - 1):
            return False
        if not addresses.lanes:
            return True
        place = self.place(lane_set, addresses.low, addresses.high)
        if place is None:
            return False
        if transfer.stores:
            return self._store(lane_set, addresses, place)
        return self._load(lane_set, addresses, place)

    # ---- which addresses, and where

    def _addresses(self, lane_set: LaneSet, condition: Any) -> Addresses | None:
        array = lane_set.regs[self._base]
        extent = extent_of(array.shape, lane_set.n)
        if not extent:
            return None
        array = np.ascontiguousarray(array)
        active = condition
        if lane_set.mask is not None:
            active = lane_set.mask if condition is None else condition & lane_set.mask
        if active is not None:
            shape = lane_set.n, WARP
            if extent is not Extent.THREADS:
                if not self._by_thread(lane_set, extent):
                    return None
                extent, array = Extent.THREADS, np.ascontiguousarray(np.broadcast_to(array, shape))
            active = np.ascontiguousarray(np.broadcast_to(active, shape))
        low, high, odd, count = range_of(array, self._bits, self._offset, active)
        lanes = lane_set.size if active is None else count
        if count == array.size:
            return Addresses(array, extent, low, high, odd, lanes, None, False)
        return Addresses(array, extent, low, high, odd, lanes, active, condition is not None)

    def _by_thread(self, lane_set: LaneSet, extent: Extent) -> bool:
        """Whether numpy enters the access by each thread that takes part, where some do not and addresses
        differ along fewer axes: a store always, a load where a CTA has a place of its own for each lane."""
        if self.transfer.stores:
            return True
        return (
            extent is Extent.LANES
            and self.transfer.accessor.space == "shared"
            and lane_set.batch.shared.tiles > 1
        )

    def place(self, lane_set: LaneSet, low: int, high: int) -> TransferPlace | None:
        """Where addresses lie, of which these are the least and the greatest; None where that, or whether
        they may, is for numpy to say."""
        accessor, batch = self.transfer.accessor, lane_set.batch
        launch = batch.launch
        space, window = accessor.space, 0
        if space == "generic":
            space = space_of(low)
            if space != space_of(high):
                return None
            window = WINDOWS.get(space, 0)
        if space == "shared":
            start = launch.shared.start + window
            if launch.cluster > 1 or low < start or high + accessor.size > start + launch.shared.total:
                return None
            bank = batch.shared
            suspect = bank.suspect(low - start, high - start + accessor.size - 1)
            return TransferPlace(
                space, bank, start, bank.stride if bank.tiles > 1 else 0, bank.history, suspect
            )
        if space != "global":
            return None
        found = self._allocation
        if found is None or low < found.address or high + accessor.size > found.end or not found.live:
            found = self._allocation = launch.memory.find(low)
            if found is None or high + accessor.size > found.end or not found.live:
                return None
            found.touched = True
            if launch.memory.device_count > 1 and launch.memory.bars(found, launch.device):
                self._allocation = None
                return None
        history = found.history
        if self.transfer.stores and history is None and launch.sanitize:
            history = launch.seek_races(found)
        return TransferPlace(space, launch.memory, BASE, 0, history, found.undefined)

    def likely_place(self, lane_set: LaneSet) -> tuple[TransferPlace, slice] | None:
        """Where the last access was, if all of it is defined, and the addresses that it has."""
        accessor, launch = self.transfer.accessor, lane_set.launch
        if accessor.space == "shared":
            bank = lane_set.batch.shared
            if launch.cluster > 1 or bank.suspect(0, bank.stride - 1):
                return None
            start = launch.shared.start
            place = TransferPlace(
                "shared", bank, start, bank.stride if bank.tiles > 1 else 0, bank.history, False
            )
            return place, slice(start, start + launch.shared.total)
        found = self._allocation
        if accessor.space != "global" or found is None or not found.live or found.undefined:
            return None
        place = TransferPlace("global", launch.memory, BASE, 0, found.history, False)
        return place, slice(found.address, found.end)

    # ---- doing it

    def _note(self, lane_set: LaneSet, addresses: Addresses, place: TransferPlace, what: str) -> None:
        """Count what it costs the memory system, where that is asked for."""
        traffic = lane_set.launch.counts.traffic
        if traffic is not None:
            size, array = self.transfer.width * self.transfer.count, addresses.array
            traffic.lanes(place.space, array, addresses.active, lane_set.n, size, what, offset=self._offset)

    def _load(self, lane_set: LaneSet, addresses: Addresses, place: TransferPlace) -> bool:
        transfer = self.transfer
        held = addresses.guarded
        if place.suspect and self._undefined(addresses, place):
            return False
        if held and lane_set.undefined:
            return False
        if held and any(target is not None and target.convert is not None for target in transfer.targets):
            return False
        shape = (lane_set.n, addresses.array.shape[1]) if place.stride else addresses.array.shape
        dtype = RAW[8 * transfer.width]
        make = np.empty if addresses.active is None or held else np.zeros
        made = [make(shape, dtype) for _ in range(transfer.count)]
        before = []
        if held:
            for target in transfer.targets:
                old = lane_set.regs[target.slot] if target is not None else dtype.type(0)
                before.append(np.ascontiguousarray(np.broadcast_to(old, shape)))
        if not self._move(lane_set, addresses, place, made, before):
            return False
        lane_set.launch.counts.load(place.space, addresses.lanes * transfer.width * transfer.count)
        self._note(lane_set, addresses, place, "loaded")
        for target, value in zip(transfer.targets, made, strict=True):
            if target is not None:
                target.write(lane_set, value.view(transfer.dtype))
        return True

    def _undefined(self, addresses: Addresses, place: TransferPlace) -> bool:
        """Whether some of what is suspect may be undefined after a look at it."""
        within = self._within(addresses, place)
        return not isinstance(place.bank, TiledBank) or place.bank.look(within.start, within.stop - 1)

    def _store(self, lane_set: LaneSet, addresses: Addresses, place: TransferPlace) -> bool:
        transfer, launch = self.transfer, lane_set.launch
        if launch.watching or (place.suspect and place.bank.origins is not None):
            return False
        if addresses.extent is not Extent.THREADS:
            # Whose record a place has that threads share, numpy says.
            return False
        values = []
        for source in transfer.sources or ():
            value = source.reader(lane_set).view(transfer.dtype)
            values.append(np.ascontiguousarray(np.broadcast_to(value, (lane_set.n, WARP))))
        if addresses.active is None:
            stored = self._store_all(lane_set, addresses, place, values)
        else:
            stored = self._move(lane_set, addresses, place, values, [])
        if not stored:
            return False
        launch.counts.store(place.space, addresses.lanes * transfer.width * transfer.count)
        self._note(lane_set, addresses, place, "stored")
        return True

    def _store_all(
        self, lane_set: LaneSet, addresses: Addresses, place: TransferPlace, elements: list[Any]
    ) -> bool:
        """Store for all lanes and enter that; whether that was settled."""
        transfer, history, rows = self.transfer, place.history, lane_set.n
        arguments = TransferArguments(_STORE_AT, elements)
        arguments.number("rows", rows)
        arguments.array("patterns", np.empty(rows, np.uint8))
        self._where(arguments, lane_set, addresses.array, place)
        entry = EnteredAccess(lane_set, history, addresses.extent) if history is not None else None
        if entry is not None:
            arguments.number("record", record_of(lane_set, entry.history, transfer.accessor.site))
            if not arguments.history(entry):
                return False
        shape = RowsShape(lanes=WARP, **arguments.shape(transfer, self._bits, entry))
        return arguments.settle(_row_stores, shape, entry, self._within(addresses, place))

    def _within(self, addresses: Addresses, place: TransferPlace) -> slice:
        """From which to which byte of the bank an access reaches."""
        return slice(addresses.low - place.start, addresses.high - place.start + self.transfer.accessor.size)

    def _where(
        self, arguments: TransferArguments, lane_set: LaneSet, array: Any, place: TransferPlace
    ) -> None:
        """Set which addresses an access has, and of which memory."""
        arguments.array("address", array)
        arguments.number("step", self._offset)
        arguments.number("start", place.start)
        arguments.array("data", place.bank.data)
        if place.stride:
            arguments.array("tiles", lane_set.special("cta") * place.stride)
        if self.transfer.stores and place.suspect and place.bank.shadow is not None:
            arguments.array("shadow", place.bank.shadow)

    def _move(
        self,
        lane_set: LaneSet,
        addresses: Addresses,
        place: TransferPlace,
        elements: list[Any],
        before: list[Any],
    ) -> bool:
        """Move the bytes and enter the access; whether that was settled."""
        transfer, history, array = self.transfer, place.history, addresses.array
        extent = addresses.extent
        if place.stride:
            extent |= Extent.ROWS
            if array.shape != elements[0].shape:
                array = np.ascontiguousarray(np.broadcast_to(array, elements[0].shape))
        arguments = TransferArguments(_AT, (*elements, *before))
        arguments.number("places", array.size)
        self._where(arguments, lane_set, array, place)
        if addresses.active is not None:
            arguments.array("active", addresses.active)
        entry = None
        if history is not None:
            arguments.number("record", record_of(lane_set, history, transfer.accessor.site))
            if history.in_blocks:  # Numbering the access may have forgotten which were set apart.
                within = self._within(addresses, place)
                history.set_apart(history.granules(within.start), history.granules(within.stop - 1))
            entry = EnteredAccess(lane_set, history, extent)
            if not arguments.history(entry):
                return False
        shape = AccessShape(
            active=addresses.active is not None,
            row_shift=WARP.bit_length() - 1 if extent & Extent.LANES else 0,
            held=bool(before),
            **arguments.shape(transfer, self._bits, entry),
        )
        if entry is not None:
            arguments.records(entry, transfer.stores)
        return arguments.call(_access(shape)) == DONE
