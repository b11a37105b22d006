"""An address operand: a register with an offset, or a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol
from ptxkit.emulator.constants import literal
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.operation import Unsupported


class AddressOperand:
    """An address operand: a register with an offset, or a number.

    Attributes:
        base: the register, None for a number.
        offset: what is added.
        symbol: the variable that is named, if one is.
    """

    __slots__ = ("base", "local", "offset", "read", "symbol")

    def __init__(
        self, base: SourceOperand | None, offset: int, local: bool = False, symbol: Symbol | None = None
    ) -> None:
        self.base = base
        self.offset = offset
        self.local = local
        self.symbol = symbol
        self.read = self._reader()

    def _reader(self) -> Callable[[LaneSet], Any]:
        """A function that gives the address for a lane set: an int where it is uniform, else an array."""
        offset = self.offset
        if self.base is None:
            if self.local:
                return lambda lane_set: lane_set.local + offset
            return lambda lane_set: offset
        slot, dtype = self.base.slot, self.base.dtype
        assert slot is not None
        limit = (1 << self.base.bits) - 1
        step = dtype.type(offset & limit)

        def read(lane_set: LaneSet) -> Any:
            value = lane_set.regs[slot]
            if value.dtype is not dtype:
                value = value.view(dtype)
            if value.ndim == 0:
                return (int(value) + offset) & limit
            return value + step if offset else value

        return read


def address_parts(address: tree.Address) -> tuple[tree.Name | None, int]:
    """The name in an address, if there is one, and the number that is added to it.

    Raises:
        Unsupported: the address is made of something else.
    """
    base, offset = split_offset(address.base)
    if address.offset is not None:
        step = literal(address.offset, "s64")
        if step is None:
            raise Unsupported("an address whose offset is no constant")
        signed = step - (1 << 64) if step >> 63 else step
        offset += -signed if address.operator == "-" else signed
    return base, offset


def split_offset(operand: tree.Operand) -> tuple[tree.Name | None, int]:
    """`smem + 4` as the name and the number; a number alone without a name."""
    match operand:
        case tree.Name(name=name) if name != "WARP_SZ":
            return operand, 0
        case tree.Parenthesized(inner=inner):
            return split_offset(inner)
        case tree.Binary(operator="+" | "-" as operator, left=left, right=right):
            base, offset = split_offset(left)
            other, more = split_offset(right)
            if base is not None and other is not None:
                raise Unsupported("an address with two names")
            if other is not None and operator == "-":
                raise Unsupported("a negated address")
            return base or other, offset + (more if operator == "+" else -more)
    value = literal(operand, "s64")
    if value is None:
        raise Unsupported("an address of this kind")
    return None, value - (1 << 64) if value >> 63 else value
