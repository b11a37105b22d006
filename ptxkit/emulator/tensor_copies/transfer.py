"""One tensor copy: what it does to elements, its bytes in the emulator's memories, their undefined bits.

PTX ISA 9.7.9.27.1; `ptxkit.layouts.tensor_copy` says which bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES
from ptxkit.emulator.faults import Site
from ptxkit.emulator.global_memory import BASE, GlobalMemory
from ptxkit.emulator.launch_state import LaunchState
from ptxkit.emulator.memory import Bank, TiledBank
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.reductions import combiner
from ptxkit.emulator.values import dtype_of
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.layouts.tensor_copy import CHUNK, LINE, Moves

OOB_NAN = np.uint16(0x7FF7)
"""Every 16 bits of what stands for elements outside the tensor, as an H200 fills."""
TF32_NAN = np.uint32(0x7FFFE000)
F64_NAN = np.uint64(0x7FFFFFFFFFFFFFFF)
"""What a sum of f64 has been seen to be, once, on an H200."""


def load(
    moves: Moves,
    dtype: str,
    fill: str,
    memory: np.ndarray,
    shared: np.ndarray,
    addresses: np.ndarray,
    places: np.ndarray,
) -> None:
    """Copy a box from `memory` to `shared`, both uint8, at these offsets; what is outside is filled."""
    inside = moves.inside
    at = addresses if inside is None else np.where(inside, addresses, 0)
    values = _taken(memory, at, moves.unit)
    values = converted(values, dtype)
    if inside is not None:
        values[~inside] = filling(fill, moves.unit)
    _put(shared, places, values)


def store(
    moves: Moves,
    dtype: str,
    operation: str,
    shared: np.ndarray,
    memory: np.ndarray,
    places: np.ndarray,
    addresses: np.ndarray,
) -> None:
    """Write or reduce a box of `shared` into `memory`, both uint8; what is outside is left out."""
    values = _taken(shared, places, moves.unit)
    if moves.inside is not None:
        values, addresses = values[moves.inside], addresses[moves.inside]
        if not len(values):
            return
    if operation != "store":
        values = reduced(operation, dtype, _taken(memory, addresses, moves.unit), values)
    _put(memory, addresses, values)


def _taken(data: np.ndarray, at: np.ndarray, unit: int) -> np.ndarray:
    """Units at these offsets, uint8 (n, unit)."""
    return data[at[:, None] + np.arange(unit)]


def _put(data: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    data[at[:, None] + np.arange(values.shape[1])] = values


def converted(values: np.ndarray, dtype: str) -> np.ndarray:
    """What loads make of elements, uint8 (n, unit): those of `tf32` are rounded to 10 bits of fraction.

    To nearest, ties to even, subnormal numbers too; a NaN becomes 0x7fffe000. All other types stay as they
    are, `f32.ftz` too, and stores convert nothing. As an H200 does.
    """
    if not dtype.startswith("tf32"):
        return values
    words = np.ascontiguousarray(values).view(np.uint32)
    rounded = words + np.uint32(0xFFF) + (words >> np.uint32(13) & np.uint32(1)) & np.uint32(0xFFFFE000)
    nan = words & np.uint32(0x7FFFFFFF) > np.uint32(0x7F800000)
    return np.where(nan, TF32_NAN, rounded).view(np.uint8).reshape(values.shape)


@cache
def filling(fill: str, unit: int) -> np.ndarray:
    """A unit of what stands for elements outside the tensor."""
    word = OOB_NAN if fill == "nan" else np.uint16(0)
    return np.full(8, word).view(np.uint8)[:unit]


def reduced(operation: str, dtype: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The reduction of units, uint8 (n, unit)."""
    combine, name = reduction(operation, dtype)
    kind = dtype_of(name)
    with np.errstate(all="ignore"):
        result: Any = combine(old.reshape(-1).view(kind), new.reshape(-1).view(kind))
    if name == "f64":
        result = np.where(np.isnan(result.view(np.float64)), F64_NAN, result.view(np.uint64))
    return np.ascontiguousarray(result).view(np.uint8).reshape(old.shape)


REDUCTIONS = {
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f32.ftz", "tf32", "tf32.ftz", "f64"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("u32", "s32", "u64", "s64"),
    "or": ("u32", "s32", "u64", "s64"),
    "xor": ("u32", "s32", "u64", "s64"),
}
"""The types that each reduction has: PTX ISA 9.7.9.27.1.3, and `.add` of tf32 and f64, which an H200 does."""


@cache
def reduction(operation: str, dtype: str) -> tuple[Any, str]:
    """The elementwise function of a reduction, and the type that it takes. Raises Unsupported: there is none
    for that type of map."""
    if dtype not in REDUCTIONS[operation]:
        raise Unsupported(f"`.{operation}` of a tensor of `{dtype}`")
    name = dtype.removesuffix(".ftz").replace("tf32", "f32")
    if operation in ("and", "or", "xor"):
        name = f"b{DTYPES[name].bits}"
    return combiner(operation, DTYPES[name], dtype.endswith(".ftz") or name == "f64"), name


def packed_sixes(chunks: np.ndarray) -> np.ndarray:
    """Stores of `b6p2x16`: the low six bits of sixteen bytes without gaps; uint8 (n, 16) to uint32 (n, 3)."""
    bits = np.unpackbits(chunks, axis=1, bitorder="little").reshape(-1, 16, 8)[:, :, :6]
    return np.packbits(bits.reshape(-1, 96), axis=1, bitorder="little").view(np.uint32)


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
    begins = np.append(0, np.flatnonzero(at[1:] - at[:-1] != unit) + 1)
    counts = np.append(begins[1:], len(at)) - begins
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
