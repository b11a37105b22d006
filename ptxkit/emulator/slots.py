"""The registers of a function that is being compiled as numbered slots, and where its variables lie."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.program import EntryProgram

AXES = {axis: i for i, axis in enumerate("xyzw")} | {color: i for i, color in enumerate("rgba")}


class FunctionSlots:
    """The slots of one function.

    Attributes:
        program: what it belongs to.
        function: the function.
        flow: its instructions in order, with the meaning of names.
        bits: the width of each slot.
        names: the name of each slot.
        carry_slot, stack_slot: those of the carry flag and of the stack pointer; None before they are used.
        frame: bytes of local variables.
    """

    def __init__(self, program: EntryProgram, function: tree.Function) -> None:
        self.program = program
        self.function = function
        self.flow = program.image.flow(function)
        self.bits: list[int] = []
        self.names: list[str] = []
        self.carry_slot: int | None = None
        self.stack_slot: int | None = None
        self.frame = 0
        self._slots: dict[Symbol, dict[int, int]] = {}
        self._aliases: dict[int, tree.Name] = {}
        self._local: dict[Symbol, int] = {}

    def meaning(self, name: tree.Name) -> Symbol | None:
        """The declaration that a name in the body means."""
        return self.flow.meaning(self._aliases.get(id(name), name))

    def alias(self, made: tree.Name, written: tree.Name) -> None:
        """Let a name that was made (a component of a vector register) mean what the written one does."""
        self._aliases[id(made)] = written

    def new_slot(self, bits: int, name: str) -> int:
        """A further slot."""
        self.bits.append(bits)
        self.names.append(name)
        return len(self.bits) - 1

    def slot(self, symbol: Symbol, component: str | None = None) -> int:
        """The slot of a register, or of a component of a vector register."""
        index = AXES.get(component or "", 0) if symbol.vector else 0
        parts = self._slots.setdefault(symbol, {})
        if index not in parts:
            name = f"{symbol.name}.{component}" if symbol.vector else symbol.name
            parts[index] = self.new_slot(DTYPES[symbol.type].bits, name)
        return parts[index]

    @property
    def stack_pointer(self) -> int:
        """The slot of the distance from the function's local variables to its stack pointer."""
        if self.stack_slot is None:
            self.stack_slot = self.new_slot(64, "stack pointer")
        return self.stack_slot

    @property
    def carry(self) -> int:
        """The slot of the condition code register's CC.CF."""
        if self.carry_slot is None:
            self.carry_slot = self.new_slot(1, "CC.CF")
        return self.carry_slot

    def slots_of(self, symbols: Iterable[Symbol | None]) -> set[int]:
        """The slots of some registers, all components."""
        none: dict[int, int] = {}
        return {slot for symbol in symbols if symbol for slot in self._slots.get(symbol, none).values()}

    def local_offset(self, symbol: Symbol) -> int:
        """Where in the function's frame a variable lies; it gets its place when it is first asked for."""
        if symbol not in self._local:
            size, align = self.program.image.size_of(symbol), self.program.image.alignment_of(symbol)
            self.frame = -(-self.frame // align) * align
            self._local[symbol] = self.frame
            self.frame += size
        return self._local[symbol]
