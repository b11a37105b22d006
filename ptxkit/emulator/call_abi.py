"""The ABI of calls: values pass in pieces, from one side's variable or register to the other's. PTX ISA
7.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.lane_set import LaneSet, Undefined
from ptxkit.emulator.operands import TargetOperand
from ptxkit.emulator.values import RAW, raw_dtype, viewed

WIDEST = 8
"""Bytes of the widest piece of a variable; only a `.b128` register is one of 16."""

Value = tuple[Any, Any, int]
"""A value, its undefined bits or None, and their origin."""


@dataclass(frozen=True, slots=True)
class ParameterPiece:
    """Bytes `offset` to `offset + size` of a variable, held in the low bits of a slot."""

    offset: int
    size: int
    slot: int


@dataclass(slots=True, eq=False)
class CallParameter:
    """A parameter or return value as one side of a call has it: here, in slots of the running function.

    Attributes:
        size: bytes of the variable or register.
        pieces: of the variable; a register is one, a vector register one a component.
    """

    size: int
    pieces: tuple[ParameterPiece, ...] = ()

    @property
    def slots(self) -> Sequence[int]:
        """The slots of the running function that its pieces are."""
        return [piece.slot for piece in self.pieces]

    def held(self, lane_set: LaneSet) -> tuple[list[Any], Undefined]:
        """What the slots of its pieces hold, and their undefined bits."""
        return lane_set.regs, lane_set.undefined

    def fill(self, lane_set: LaneSet, piece: ParameterPiece, value: Value, guard: Any = None) -> None:
        """Set a piece, for the lanes of a guard alone where one is given."""
        scatter(lane_set, (piece,), piece.offset, piece.size, value, guard)


def slot_bits(size: int) -> int:
    """Bits of the slot of a piece of `size` bytes."""
    return 8 * next(fit for fit in (1, 2, 4, 8, 16) if fit >= size)


def gather(
    regs: list[Any], undefined: Undefined, pieces: Sequence[ParameterPiece], offset: int, size: int
) -> Value:
    """The value of bytes `offset` to `offset + size`, of which the pieces hold as much as there is.

    Bytes that no piece holds were never stored: they are undefined.
    """
    for piece in pieces:
        if piece.offset == offset and piece.size == size:
            return (regs[piece.slot], *undefined.get(piece.slot, (None, 0)))
    if size > WIDEST:
        return _joined(
            gather(regs, undefined, pieces, offset, WIDEST),
            gather(regs, undefined, pieces, offset + WIDEST, size - WIDEST),
        )
    raw = raw_dtype(8 * size)
    value: Any = np.uint64(0)
    mask: Any = np.uint64((1 << 8 * size) - 1)
    origin = 0
    for piece in pieces:
        if piece.offset + piece.size <= offset or piece.offset >= offset + size:
            continue
        bad, source = undefined.get(piece.slot, (None, 0))
        origin = origin or source
        for at, word in _words(piece, regs[piece.slot]):
            unknown = np.uint64(0) if bad is None else dict(_words(piece, bad))[at]
            whole = np.uint64((1 << 8 * min(piece.offset + piece.size - at, WIDEST)) - 1)
            word, unknown, whole = (_shifted(v, at - offset) for v in (word & whole, unknown, whole))
            value = value | word
            mask = (mask & ~whole) | unknown
    value = value.astype(raw)
    mask = mask.astype(raw)
    return (value, mask, origin) if mask.any() else (value, None, 0)


def _words(piece: ParameterPiece, value: Any) -> list[tuple[int, Any]]:
    """A piece's value in words of `WIDEST` bytes, each with its offset in the variable."""
    if piece.size <= WIDEST:
        return [(piece.offset, _as_u64(value))]
    return [(piece.offset + WIDEST * half, value[..., half]) for half in range(2)]


def _joined(low: Value, high: Value) -> Value:
    """A value of 16 bytes from its halves."""

    def both(a: Any, b: Any) -> Any:
        return np.stack(np.broadcast_arrays(_as_u64(a), _as_u64(b)), axis=-1)

    mask = None
    if low[1] is not None or high[1] is not None:
        mask = both(*(np.uint64(0) if half[1] is None else half[1] for half in (low, high)))
    return both(low[0], high[0]), mask, low[2] or high[2]


def _as_u64(value: Any) -> Any:
    return viewed(value, RAW[value.dtype.itemsize * 8]).astype(np.uint64)


def _shifted(value: Any, by: int) -> Any:
    """The word moved up by that many bytes; bytes that leave it are gone."""
    if abs(by) >= WIDEST:
        return np.zeros_like(value)
    return value << np.uint64(8 * by) if by >= 0 else value >> np.uint64(-8 * by)


def scatter(
    lane_set: LaneSet, pieces: Sequence[ParameterPiece], offset: int, size: int, value: Value, guard: Any
) -> None:
    """Store bytes `offset` to `offset + size`, which the pieces cover exactly."""
    word, mask, origin = value
    for piece in pieces:
        bits = slot_bits(piece.size)
        target = TargetOperand(piece.slot, bits)
        if piece.size == size:
            part, bad = word, mask
        else:
            part, bad = (None if v is None else _part(v, piece.offset - offset, bits) for v in (word, mask))
        target.write_raw(lane_set, part, None if bad is None else (bad, origin), guard)


def _part(value: Any, at: int, bits: int) -> Any:
    """`bits` bits of a value from byte `at` on, which lie in one word of it."""
    word = value[..., at // WIDEST] if value.ndim in (1, 3) else _as_u64(value)
    return _shifted(word, -(at % WIDEST)).astype(RAW[bits])
