"""What registers hold, as far as the text tells: constants, addresses of variables, the thread's number.

Only registers that one unguarded instruction writes have a known value; everything else is unknown.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import NamedTuple

from ptxkit.asm.constants import constant_value
from ptxkit.asm.flow import FunctionCode, written_names
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.asm.tree import Address, Instruction, Name, Operand, Pair, Vector


class VariableAddress(NamedTuple):
    """The address of a variable, with an offset in bytes."""

    symbol: Symbol
    offset: int = 0


class ThreadNumber(Enum):
    """A number that differs between the threads of a warp."""

    TID = "tid"
    """`%tid.x`, or that plus a multiple of 32: multiples of 32 lie between warps."""
    LANE = "lane"
    """From 0 to 31, made of the thread's number within its warp."""


Value = int | VariableAddress | ThreadNumber | None
"""None: unknown."""

LANES = 32
_COPIES = frozenset({"mov", "cvt", "cvta"})


class Values:
    """The values of a function's registers."""

    def __init__(self, code: FunctionCode) -> None:
        self.code = code
        self._definition: dict[Symbol, Instruction | None] = {}
        self._known: dict[Symbol, Value] = {}
        self._writes: Counter[Symbol] = Counter()
        for instruction in code.instructions:
            for name in written_names(instruction):
                symbol = code.meaning(name)
                if symbol is not None:
                    self._writes[symbol] += 1
                    single = self._writes[symbol] == 1 and instruction.guard is None
                    self._definition[symbol] = instruction if single else None

    def is_written_once(self, name: Name) -> bool:
        """Whether a single instruction writes a register, guarded or not."""
        symbol = self.code.meaning(name)
        return symbol is not None and self._writes[symbol] == 1

    def definition(self, name: Name) -> Instruction | None:
        """The only instruction that writes a register; None where there are several, or a guarded one."""
        return self.definition_of(self.code.meaning(name))

    def definition_of(self, symbol: Symbol | None) -> Instruction | None:
        """The same by the register's symbol."""
        return self._definition.get(symbol) if symbol is not None else None

    def of(self, operand: Operand) -> Value:
        """The value of an operand; of an address in brackets, the address."""
        if isinstance(operand, Address):
            offset = constant_value(operand.offset) if operand.offset is not None else 0
            return None if offset is None else _add(self.of(operand.base), offset)
        constant = constant_value(operand)
        if constant is not None:
            return constant
        if not isinstance(operand, Name):
            return None
        symbol = self.code.meaning(operand)
        if symbol is None:
            if operand.name == "%tid" and operand.component == "x":
                return ThreadNumber.TID
            return ThreadNumber.LANE if operand.name == "%laneid" else None
        if operand.component is not None:
            return None
        if symbol.kind is SymbolKind.VARIABLE:
            return VariableAddress(symbol)
        if symbol.kind is not SymbolKind.REGISTER:
            return None
        if symbol not in self._known:
            self._known[symbol] = None  # A register that depends on itself is unknown.
            definition = self._definition.get(symbol)
            self._known[symbol] = self._result(definition) if definition is not None else None
        return self._known[symbol]

    def _result(self, instruction: Instruction) -> Value:
        opcode, operands = instruction.opcode, instruction.operands
        if len(operands) < 2 or isinstance(operands[0], (Vector, Pair)):
            return None
        if opcode in _COPIES:
            if isinstance(operands[1], Vector):
                return self._packed(operands[1])
            return self.of(operands[1]) if len(operands) == 2 else None
        if len(operands) == 3:
            return _combine(opcode, instruction.modifiers, self.of(operands[1]), self.of(operands[2]))
        return None

    def _packed(self, vector: Vector) -> Value:
        """`mov.b64 %d, {%low, %high}` of constants."""
        parts = [self.of(element) for element in vector.elements]
        if len(parts) != 2 or not all(isinstance(part, int) for part in parts):
            return None
        low, high = (part % 2**32 for part in parts if isinstance(part, int))
        return low | high << 32


def _add(value: Value, amount: int) -> Value:
    if isinstance(value, int):
        return value + amount
    if isinstance(value, VariableAddress):
        return VariableAddress(value.symbol, value.offset + amount)
    if value is ThreadNumber.TID and amount % LANES == 0:
        return value
    return ThreadNumber.LANE if value is ThreadNumber.LANE and amount == 0 else None


def _combine(opcode: str, modifiers: tuple[str, ...], a: Value, b: Value) -> Value:
    if isinstance(a, int) and not isinstance(b, int) and opcode in ("add", "and", "or", "mul"):
        a, b = b, a
    if not isinstance(b, int):
        return None
    if opcode == "add":
        return _add(a, b)
    if opcode == "sub":
        return _add(a, -b)
    if isinstance(a, int):
        return _fold(opcode, modifiers, a, b)
    if a in (ThreadNumber.TID, ThreadNumber.LANE):
        if opcode == "and" and 0 < b < LANES:
            return ThreadNumber.LANE
        if opcode == "rem" and 1 < b <= LANES and LANES % b == 0:
            return ThreadNumber.LANE
    return None


def _fold(opcode: str, modifiers: tuple[str, ...], a: int, b: int) -> int | None:
    match opcode:
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "shl":
            return a << b if 0 <= b < 64 else 0
        case "shr":
            return a >> b if a >= 0 and b >= 0 else None
        case "mul" if "lo" in modifiers or "wide" in modifiers:
            return a * b
    return None
