"""What functions that access memory are called with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ptxkit.emulator.access_history import ROW, WEAK, AccessHistory
from ptxkit.emulator.code import MemoryTransfer
from ptxkit.emulator.faults import Site
from ptxkit.emulator.jit.extents import Extent
from ptxkit.emulator.jit.memory_code import DONE, RANGE_FIELDS, UNSETTLED, range_code
from ptxkit.emulator.jit.rows_code import APART, RowsShape
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.native import address, compiler
from ptxkit.emulator.races import KINDS
from ptxkit.emulator.values import WARP

CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_RANGE = ctypes.c_uint64 * len(RANGE_FIELDS)
_FOUND = RANGE_FIELDS.index("low")


@cache
def _range(address_bits: int, active: bool) -> Any:
    return compiler().function(range_code(address_bits, active), CALL, optimise=True)


def range_of(array: Any, bits: int, offset: int, active: Any) -> tuple[int, int, int, int]:
    """The least and the greatest of some addresses, the union of their bits, and how many take part.

    Args:
        array: the addresses, in one piece.
        bits: of each.
        offset: what is added.
        active: bool, those that take part; None for all.
    """
    words = _RANGE(array.size, address(array), offset, 0 if active is None else address(active))
    _range(bits, active is not None)(words)
    low, high, odd, count = words[_FOUND:]
    return low, high, odd, count


class EnteredAccess(NamedTuple):
    """What an access is entered with: by whom, where, and along which axes its places differ."""

    lane_set: LaneSet
    history: AccessHistory
    extent: Extent


class TransferArguments:
    """The words that a function of `memory_code` or `loads_code` takes.

    Args:
        fields: what they are called.
        elements: arrays that follow them.
    """

    __slots__ = ("_at", "_kept", "_words")

    def __init__(self, fields: Mapping[str, int], elements: Sequence[Any] = ()) -> None:
        self._at = fields
        self._words = [0] * len(fields)
        self._words += map(address, elements)
        self._kept: list[Any] = []

    def number(self, name: str, value: int) -> None:
        """Set a number."""
        self._words[self._at[name]] = value

    def array(self, name: str, value: Any, back: int = 0) -> None:
        """Set the address of an array, less some bytes."""
        self._kept.append(value)
        self._words[self._at[name]] = address(value) - back

    def has(self, name: str) -> bool:
        """Whether there is such a word, and it is set."""
        return name in self._at and self._words[self._at[name]] != 0

    def shape(self, transfer: MemoryTransfer, bits: int, entry: EnteredAccess | None) -> dict[str, Any]:
        """What the shapes of all functions have in common, the memory and the limits being set.

        Args:
            bits: of the register of addresses.
            entry: what is entered; None where races are not sought.
        """
        history = entry.history if entry is not None else None
        return {
            "stores": transfer.stores,
            "address_bits": bits,
            "width": transfer.width,
            "elements": transfer.count,
            "tiles": self.has("tiles"),
            "record_bits": 8 * history.dtype.itemsize if history is not None else 0,
            "granules": transfer.width * transfer.count // history.granule if history is not None else 0,
            "has_write": history is not None and history.has("write"),
            "has_reads": history is not None and transfer.stores and history.has("first read"),
            "limits": self.has("limits"),
            "own": entry is not None and entry.extent is Extent.THREADS and knows_own(entry.lane_set),
            "shadowed": self.has("shadow"),
        }

    def history(self, entry: EnteredAccess) -> bool:
        """Set what an access needs of the history, the records apart; whether it can be settled."""
        lane_set, history, extent = entry
        limit = history.limit(lane_set.batch.happens_before.limit(lane_set.rows, history.private))
        if isinstance(limit, int):
            self.number("limit", limit)
        elif extent & Extent.ROWS:
            self.array("limits", np.ascontiguousarray(limit))
        else:
            return False
        self.number("granule", history.granule.bit_length() - 1)
        return True

    def records(self, entry: EnteredAccess, stores: bool, blocks: bool = False) -> None:
        """Set whose records an access sets, and where: those of granules, or of blocks."""
        lane_set, history, extent = entry
        # They are counted from the memory's start, places from the bank's.
        before = history.start // history.granule // (ROW if blocks else 1)
        if blocks:
            self.array("apart", history.apart, before)
        threads = lane_set.special("first slot" if history.private else "first record")
        # Rows that share a place: the first of them read it first, the last one last.
        first, last = (threads[:1], threads[-1:]) if extent is Extent.LANES else (threads, threads)
        self.array("threads", first)
        self.array("last threads", last)
        for kind in KINDS:
            if history.has(kind) or (kind == "write") == stores:
                records = history.rows(kind) if blocks else history.granule_records(kind)
                self.array(kind, records, before * history.dtype.itemsize)

    def settle(
        self, function: Callable[[Any], Any], shape: RowsShape, entry: EnteredAccess | None, within: slice
    ) -> bool:
        """Call a function of `rows_code`; whether it was settled.

        Args:
            function: makes it, for a shape.
            entry: what is entered; None where races are not sought.
            within: from which to which byte of the bank the access reaches.
        """
        if entry is None:
            return self.call(function(shape)) == DONE
        history = entry.history
        if history.in_blocks:
            first, last = history.granules(within.start), history.granules(within.stop - 1)
            if shape.granules == 1 and shape.lanes == WARP and shape.own:
                status = self._of_blocks(function, shape, entry)
                if status == APART:
                    history.put_together(first, last)
                    status = self._of_blocks(function, shape, entry)
                if status in (DONE, UNSETTLED):
                    return status == DONE
            history.set_apart(first, last)
        self.records(entry, shape.stores)
        return self.call(function(shape)) == DONE

    def _of_blocks(self, function: Callable[[Any], Any], shape: RowsShape, entry: EnteredAccess) -> int:
        self.records(entry, shape.stores, True)
        return self.call(function(shape._replace(whole=True)))

    def call(self, function: Any) -> int:
        """What a function makes of them."""
        words = self._words
        status: int = function((ctypes.c_uint64 * len(words))(*words))
        return status


def record_of(lane_set: LaneSet, history: AccessHistory, site: Site) -> int:
    """Number an access: its record, without the thread."""
    number = lane_set.launch.events.take(site)
    return int(history.own(number, WEAK, history.dtype.type(0)))


def knows_own(lane_set: LaneSet) -> bool:
    """Whether all records of a thread are its own: none of a launch that may still run."""
    events = lane_set.launch.events
    return events.ordered == events.first
