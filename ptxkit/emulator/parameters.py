"""`.param` variables of device functions and calls. PTX ISA 5.1.6.4, 7.1.

Compilers reach these only at fixed offsets, so every variable is cut into pieces at the bounds of all
accesses to it, and each piece is a register slot: passing an argument costs nothing, and pieces part and
merge with the group that owns them. (Kernel parameters are memory; see `ptxkit.emulator.image`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.form import address_parts
from ptxkit.emulator.operands import Target
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.values import RAW, raw_dtype, viewed

WIDEST = 16
"""Bytes of the widest piece of a parameter."""

if TYPE_CHECKING:
    from ptxkit.emulator.group import Group
    from ptxkit.emulator.program import Builder, Code


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `offset` to `offset + size` of a variable, held in the low bits of a slot."""

    offset: int
    size: int
    slot: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A parameter or return value as one side of a call has it.

    Attributes:
        size: bytes of the variable or register.
        pieces: of the variable; a register is one.
    """

    size: int
    pieces: tuple[Piece, ...] = ()


class ParameterSlots:
    """The `.param` variables of one function that is being compiled.

    Attributes:
        assigned: slots that have a value when the function starts, as bits.
        returned: slots that the caller reads when it returns, as bits.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._pieces: dict[Symbol, tuple[Piece, ...]] = {}
        self.assigned = 0
        self.returned = 0

    def place(self) -> list[tuple[tree.Instruction, str]]:
        """Cut every variable into pieces, and give register parameters their slots.

        Returns:
            Accesses that cannot be placed, and why.
        """
        builder = self._builder
        bounds: dict[Symbol, set[int]] = {}
        outside: list[tuple[tree.Instruction, str]] = []
        for instruction in builder.flow.instructions:
            access = self._access(instruction)
            if access is None:
                continue
            symbol, offset, width, count = access
            if offset < 0 or offset + width * count > builder.program.image.size_of(symbol):
                outside.append((instruction, f"an access outside the parameter `{symbol.name}`"))
                continue
            cuts = bounds.setdefault(symbol, set())
            cuts.update(range(offset, offset + width * count + 1, width))
        for symbol, cuts in bounds.items():
            for start, end in pairwise(sorted(cuts)):
                cuts.update(range(start, end, WIDEST))  # Bytes between two accesses.
            ordered = sorted(cuts)
            self._pieces[symbol] = tuple(
                Piece(start, end - start, builder.new_slot(_slot_bits(end - start), f"{symbol.name}+{start}"))
                for start, end in pairwise(ordered)
            )
        if builder.function.kind == "func":
            self.assigned = self._header_bits(builder.flow.parameters)
            self.returned = self._header_bits(builder.flow.returns)
        return outside

    def _header_bits(self, symbols: Sequence[Symbol]) -> int:
        bits = 0
        for symbol in symbols:
            for piece in self._passed(symbol).pieces:
                bits |= 1 << piece.slot
        return bits

    def is_sliced(self, symbol: Symbol) -> bool:
        """Whether a symbol is a `.param` variable that lives in slots."""
        in_entry = symbol.kind is SymbolKind.PARAMETER and self._builder.function.kind == "entry"
        return symbol.space == "param" and not in_entry

    def _access(self, instruction: tree.Instruction) -> tuple[Symbol, int, int, int] | None:
        """The (variable, offset, width, count) of a load or store of a sliced variable."""
        if instruction.opcode not in ("ld", "st"):
            return None
        if not any(m.startswith("param") for m in instruction.modifiers):
            return None
        address = next((o for o in instruction.operands if isinstance(o, tree.Address)), None)
        if address is None:
            return None
        found = self.place_of(address)
        if found is None:
            return None
        width = next((DTYPES[m].bytes for m in instruction.modifiers if m in DTYPES), 0)
        count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
        return (*found, width, count)

    def place_of(self, address: tree.Address) -> tuple[Symbol, int] | None:
        """The sliced variable and offset that an address names; None where it names none."""
        base, offset = address_parts(address)
        symbol = self._builder.meaning(base) if base is not None else None
        if symbol is None or not self.is_sliced(symbol):
            return None
        return symbol, offset

    def covering(self, symbol: Symbol, offset: int, size: int) -> tuple[Piece, ...]:
        """The pieces of a stretch that some access bounds."""
        return tuple(p for p in self._pieces[symbol] if offset <= p.offset < offset + size)

    def _passed(self, symbol: Symbol) -> Passed:
        if symbol.kind is SymbolKind.REGISTER:
            bits = DTYPES[symbol.type].bits
            return Passed(max(bits // 8, 1), (Piece(0, max(bits // 8, 1), self._builder.slot(symbol)),))
        size = self._builder.program.image.size_of(symbol)
        return Passed(size, self._pieces.get(symbol, ()))

    def argument(self, operand: tree.Operand) -> Passed | None:
        """What a `call` passes, or where it puts a return value; None for a constant, an address or `_`."""
        if isinstance(operand, tree.Name) and operand.name != "_":
            symbol = self._builder.meaning(operand)
            if symbol is not None and (symbol.kind is SymbolKind.REGISTER or self.is_sliced(symbol)):
                return self._passed(symbol)
        return None

    def dataflow(self, instruction: tree.Instruction) -> tuple[int, int]:
        """The pieces that an instruction reads and those that it overwrites, as bits of slots."""
        opcode = instruction.opcode
        if opcode in ("ld", "st"):
            access = self._access(instruction)
            if access is None:
                return 0, 0
            symbol, offset, width, count = access
            bits = sum(1 << p.slot for p in self.covering(symbol, offset, width * count))
            return (bits, 0) if opcode == "ld" else (0, bits)
        if opcode == "call":
            lists = [o for o in instruction.operands if isinstance(o, tree.Arguments)]
            returns = isinstance(instruction.operands[0], tree.Arguments)
            read = written = 0
            for i, arguments in enumerate(lists):
                for operand in arguments.elements:
                    passed = self.argument(operand)
                    for piece in passed.pieces if passed is not None else ():
                        if i == 0 and returns:
                            written |= 1 << piece.slot
                        else:
                            read |= 1 << piece.slot
            return read, written
        if opcode == "ret":
            return self.returned, 0
        return 0, 0

    def finish(self, code: Code) -> None:
        """Tell the code where its arguments go and where its results come from."""
        if self._builder.function.kind == "func":
            code.parameters = [self._passed(symbol) for symbol in self._builder.flow.parameters]
            code.returns = [self._passed(symbol) for symbol in self._builder.flow.returns]


def _slot_bits(size: int) -> int:
    return 8 * next(fit for fit in (1, 2, 4, 8, WIDEST) if fit >= size)


# ---- moving values between pieces

Value = tuple[Any, Any, int]
"""A value, its undefined bits or None, and their origin."""


def gather(group_regs: list[Any], undefined: Any, pieces: Sequence[Piece], offset: int, size: int) -> Value:
    """The value of bytes `offset` to `offset + size`, of which the pieces hold as much as there is.

    Bytes that no piece holds were never stored: they are undefined.
    """
    if len(pieces) == 1 and pieces[0].offset == offset and pieces[0].size == size:
        slot = pieces[0].slot
        return (group_regs[slot], *undefined.get(slot, (None, 0)))
    if size > 8:
        raise Unsupported("a 16-byte parameter that is stored in parts")
    raw = raw_dtype(8 * size)
    value: Any = np.uint64(0)
    mask: Any = np.uint64((1 << 8 * size) - 1)
    origin = 0
    for piece in pieces:
        if piece.offset + piece.size <= offset or piece.offset >= offset + size:
            continue
        word = _as_u64(group_regs[piece.slot])
        bad, source = undefined.get(piece.slot, (None, 0))
        origin = origin or source
        unknown = np.uint64(0) if bad is None else _as_u64(bad)
        whole = np.uint64((1 << 8 * piece.size) - 1)
        word, unknown, whole = (_shifted(v, piece.offset - offset) for v in (word & whole, unknown, whole))
        value = value | word
        mask = (mask & ~whole) | unknown
    value = value.astype(raw)
    if not mask.any():
        return value, None, 0
    return value, mask.astype(raw), origin


def _as_u64(value: Any) -> Any:
    return viewed(value, RAW[value.dtype.itemsize * 8]).astype(np.uint64)


def _shifted(value: Any, by: int) -> Any:
    return value << np.uint64(8 * by) if by >= 0 else value >> np.uint64(-8 * by)


def scatter(group: Group, pieces: Sequence[Piece], offset: int, size: int, value: Value, guard: Any) -> None:
    """Store bytes `offset` to `offset + size`, which the pieces cover exactly."""
    word, mask, origin = value
    for piece in pieces:
        bits = _slot_bits(piece.size)
        target = Target(piece.slot, bits)
        if piece.size == size:
            part, bad = word, mask
        else:
            part, bad = (
                None if v is None else _shifted(_as_u64(v), offset - piece.offset).astype(RAW[bits])
                for v in (word, mask)
            )
        target.write_raw(group, part, None if bad is None else (bad, origin), guard)
