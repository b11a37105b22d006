"""A function that is being compiled, as its instructions see it: what names mean and where things lie."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.faults import Site
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.parameters import ParameterSlots
from ptxkit.emulator.program import EntryProgram
from ptxkit.emulator.slots import FunctionSlots


@dataclass(frozen=True, slots=True)
class Sum:
    """A register plus a number, in a slot of its own while an instruction runs.

    Attributes:
        slot, bits, name: the register.
        number: what is added.
        into: the slot of the sum.
        site: the instruction.
    """

    slot: int
    bits: int
    name: str
    number: int
    into: int
    site: Site


class FunctionScope(FunctionSlots):
    """What an instruction's operands ask of the function that is being compiled.

    Attributes:
        parameters: its `.param` variables.
        warpgroup_slots: registers of `wgmma`.
        sums: those that the instruction needs which is being decoded.
    """

    def __init__(self, program: EntryProgram, function: tree.Function) -> None:
        super().__init__(program, function)
        self.parameters = ParameterSlots(self)
        self.warpgroup_slots: frozenset[int] = frozenset()
        self.sums: list[Sum] = []

    def address_of(self, symbol: Symbol) -> tuple[int, bool]:
        """The address of a variable, parameter or function in its own space, and whether it is an offset
        from the running function's local variables.

        Raises:
            Unsupported: it has none.
        """
        own = symbol.kind is SymbolKind.VARIABLE and symbol.space == "local"
        if own or self.parameters.is_on_stack(symbol):
            return self.local_offset(symbol), True
        if symbol.kind is SymbolKind.PARAMETER or symbol.space == "param":
            return self.program.parameter_address(symbol, self.function), False
        return self.program.address_of(symbol), False

    def sum(self, symbol: Symbol, component: str | None, number: int, site: Site) -> int:
        """A slot that holds a register plus a number while an instruction runs, which is being decoded.

        Raises:
            Unsupported: it is no integer register.
        """
        slot, kind = self.slot(symbol, component), DTYPES[symbol.type]
        if kind.is_float or kind.bits not in (8, 16, 32, 64):
            raise Unsupported(f"a sum with `{symbol.name}`, a register of type `.{symbol.type}`")
        name = self.names[slot]
        into = self.new_slot(kind.bits, f"{name}+{number}")
        self.sums.append(Sum(slot, kind.bits, name, number, into, site))
        return into
