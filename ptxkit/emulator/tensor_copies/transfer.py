"""One tensor copy in the emulator's memories: its bytes, their undefined bits, what it touches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.tensor_copies.elements import converted, filling, packed_sixes, reduced
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.layouts.tensor_copy import CHUNK, LINE, Moves

Intervals = tuple[np.ndarray, np.ndarray]
"""Offsets in a bank and sizes."""


@dataclass(slots=True, eq=False)
class Held:
    """Units on their way.

    Attributes:
        values: one item a unit.
        undefined: their undefined bits; None for none.
        origin: of those.
    """

    values: np.ndarray
    undefined: np.ndarray | None = None
    origin: int = 0


@dataclass(eq=False)
class TensorTransfer:
    """A copy of one box.

    Attributes:
        map: the tensor map.
        moves: where its units lie.
        tile: where the CTA's shared memory begins in the bank.
        site: the instruction.
        launch: what it belongs to.
    """

    map: TensorMap
    moves: Moves
    tile: int
    site: Site
    launch: LaunchState

    @property
    def places(self) -> np.ndarray:
        """Units of the bank of shared memory."""
        return (self.moves.places + self._start) >> _shift(self.moves.unit)

    @property
    def _start(self) -> int:
        """What makes a shared address an offset in the bank."""
        return self.tile - self.launch.shared.start

    @property
    def addresses(self) -> np.ndarray:
        """Units of global memory, the first for what is outside the tensor."""
        at = (self.moves.addresses - BASE) >> _shift(self.moves.unit)
        return at if self.moves.inside is None else np.where(self.moves.inside, at, 0)

    # ---- what it touches

    def shared_intervals(self) -> Intervals:
        """The bytes of shared memory, gaps included."""
        moves = self.moves
        first = int(moves.places.min())
        if moves.nbytes % LINE == 0 and moves.extent == moves.nbytes:
            start = np.array([first // LINE * LINE], np.int64) + self._start
            return start, np.array([moves.nbytes], np.int64)
        return runs(np.sort(moves.places), moves.unit, self._start)

    @cached_property
    def global_intervals(self) -> Intervals:
        """The bytes of global memory that are part of the tensor."""
        addresses = self.moves.addresses - BASE
        if self.moves.inside is not None:
            addresses = addresses[self.moves.inside]
        return runs(addresses, self.moves.unit, 0)

    # ---- loads

    def fetch_global(self, memory: GlobalMemory) -> Held:
        """The box as it will lie in shared memory: filled, and converted where the type asks for it."""
        moves, unit = self.moves, self.moves.unit
        held = Held(memory.units[unit].take(self.addresses))
        self._note_undefined(held, memory, self.addresses)
        size = held.values.dtype.itemsize
        made = converted(_bytes(held.values, size), self.map.dtype)
        held.values = np.ascontiguousarray(made).reshape(-1).view(held.values.dtype)
        if moves.inside is not None:
            fill = filling(self.map.oob_fill, unit)
            held.values[~moves.inside] = fill.view(held.values.dtype)[0]
            if held.undefined is not None:
                held.undefined[~moves.inside] = held.undefined.dtype.type(0)
        return held

    def deliver_shared(self, held: Held, bank: TiledBank) -> None:
        """Put a box into shared memory."""
        self._put(held, bank, self.places)
        gaps = self.moves.gaps
        if gaps is not None and bank.shadow is not None:
            at = gaps + self._start
            bank.shadow[at] = 0xFF
            bank.spoil(*self._span(gaps))
            bank.set_origin(at, 1, self.launch.origins.of_copy(self.site))

    # ---- stores

    def fetch_shared(self, bank: TiledBank) -> Held:
        """The units of a box in shared memory that are part of the tensor."""
        places = self.places
        if self.moves.inside is not None:
            places = places[self.moves.inside]
        held = Held(bank.units[self.moves.unit].take(places))
        self._note_undefined(held, bank, places)
        if self.map.dtype == "b6x16_p32":
            # Chunks of 16 bytes stay whole, and their first three words are the units.
            chunks = places[::3, None] * self.moves.unit + np.arange(CHUNK)
            held.values = packed_sixes(bank.data[chunks]).reshape(-1)
        return held

    def deliver_global(self, held: Held, memory: GlobalMemory, operation: str) -> None:
        """Store or reduce a box into global memory."""
        if not len(held.values):
            return
        at = self.addresses
        if self.moves.inside is not None:
            at = at[self.moves.inside]
        if operation != "store":
            old = Held(memory.units[self.moves.unit].take(at))
            self._note_undefined(old, memory, at)
            size = self.moves.unit
            values = reduced(operation, self.map.dtype, _bytes(old.values, size), _bytes(held.values, size))
            held = Held(values.view(held.values.dtype).reshape(-1), *_either(old, held))
        self._put(held, memory, at)

    # ---- both

    def _note_undefined(self, held: Held, bank: Bank, at: np.ndarray) -> None:
        if bank.shadow is None or not self._suspect(bank):
            return
        undefined = bank.shadow_units[self.moves.unit].take(at)
        some = _bytes(undefined, self.moves.unit).any(axis=1)
        if not some.any():
            return
        held.undefined = undefined
        held.origin = self.launch.origins.of_copy(self.site)
        if bank.origins is not None:
            first = int(at[np.argmax(some)]) * self.moves.unit
            held.origin = int(bank.origins[first >> 2]) or held.origin

    def _span(self, addresses: np.ndarray) -> tuple[int, int]:
        """The first and the last byte of units, counted from the start of the CTA's shared memory."""
        start = self.launch.shared.start
        return int(addresses.min()) - start, int(addresses.max()) + self.moves.unit - 1 - start

    def _suspect(self, bank: Bank) -> bool:
        if isinstance(bank, TiledBank):
            return bank.suspect(*self._span(self.moves.places))
        assert isinstance(bank, GlobalMemory)
        owner = bank.find(self.map.address)
        return owner is None or owner.undefined or self.map.address < owner.address

    def _put(self, held: Held, bank: Bank, at: np.ndarray) -> None:
        unit = self.moves.unit
        bank.units[unit][at] = held.values
        if bank.shadow is None or (held.undefined is None and not self._suspect(bank)):
            return
        shadow = bank.shadow_units[unit]
        if held.undefined is None:
            shadow[at] = np.zeros(1, shadow.dtype)
            return
        shadow[at] = held.undefined
        start = at * unit
        for offset in range(0, max(unit, 4), 4):
            bank.set_origin(start + offset, 4, held.origin)
        if isinstance(bank, TiledBank):
            bank.spoil(*self._span(self.moves.places))
        elif isinstance(bank, GlobalMemory):
            owner = bank.find(int(start[0]) + BASE)
            if owner is not None:
                owner.undefined = True


def runs(at: np.ndarray, unit: int, base: int) -> Intervals:
    """Ascending units as intervals, those that touch as one."""
    if not len(at):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    begins = np.flatnonzero(np.diff(at, prepend=at[0] - 2 * unit) != unit)
    counts = np.diff(np.append(begins, len(at)))
    return at[begins] + base, counts * unit


def _shift(unit: int) -> int:
    return unit.bit_length() - 1


def _bytes(values: np.ndarray, unit: int) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1, unit)


def _either(old: Held, new: Held) -> tuple[Any, int]:
    """The undefined bits of a reduction: all of a unit in which either operand has some."""
    if old.undefined is None and new.undefined is None:
        return None, 0
    size = new.values.dtype.itemsize
    some = np.zeros(len(new.values), bool)
    for held in (old, new):
        if held.undefined is not None:
            some |= _bytes(held.undefined, size).any(axis=1)
    undefined = np.repeat(np.where(some, np.uint8(0xFF), np.uint8(0)), size).view(new.values.dtype)
    return undefined, old.origin or new.origin
