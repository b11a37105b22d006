"""Operands as the machine reads and writes them.

A `SourceOperand` gives an operand's value for a lane set, in the dtype of the type that the operation asks
for; a `TargetOperand` takes a result. Both know the undefined bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol
from ptxkit.emulator.constants import literal
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.values import RAW, fold, select, select_wide, viewed


@dataclass(slots=True, eq=False)
class SourceOperand:
    """An operand that is read.

    Attributes:
        dtype: of the value.
        bits: width of the register or constant.
        slot: the register, None for anything else.
        value: a constant, None for anything else.
        compute: what gives the value of something that is neither: a special register, an address.
        convert: turns the register's value into the operand's where a view doesn't.
        invert: whether a predicate is read negated.
        name: as written.
    """

    dtype: np.dtype
    bits: int
    slot: int | None = None
    value: Any = None
    compute: Callable[[LaneSet], Any] | None = None
    convert: Callable[[Any], Any] | None = None
    invert: bool = False
    name: str = ""

    @property
    def reader(self) -> Callable[[LaneSet], Any]:
        """A function that gives the value for a lane set."""
        slot, dtype, convert, compute = self.slot, self.dtype, self.convert, self.compute
        if slot is None:
            if compute is not None:
                return compute
            value = self.value
            return lambda lane_set: value
        if self.invert:
            return lambda lane_set: ~lane_set.regs[slot]
        if convert is not None:
            return lambda lane_set: convert(lane_set.regs[slot])

        def read(lane_set: LaneSet) -> Any:
            value = lane_set.regs[slot]
            return value if value.dtype is dtype else value.view(dtype)

        return read

    def undefined(self, lane_set: LaneSet) -> tuple[Any, int] | None:
        """The operand's undefined bits (unsigned, as wide as the operand) and their origin, or None."""
        if self.slot is None:
            return None
        entry = lane_set.undefined.get(self.slot)
        if entry is None or self.convert is None:
            return entry
        mask = self.convert(entry[0])
        return viewed(mask, RAW[mask.dtype.itemsize * 8]), entry[1]


@dataclass(slots=True, eq=False)
class TargetOperand:
    """An operand that is written.

    Attributes:
        slot: the register.
        bits: its width.
        convert: turns a result of the operation's type into the register's value, where needed.
    """

    slot: int
    bits: int
    convert: Callable[[Any], Any] | None = None

    def write(
        self, lane_set: LaneSet, value: Any, mask: tuple[Any, int] | None = None, guard: Any = None
    ) -> None:
        """Store a result, for the lanes of a guard alone where one that differs between lanes is given."""
        if self.convert is not None:
            value = self.convert(value)
        self.write_raw(lane_set, value, mask, guard)

    def write_raw(
        self, lane_set: LaneSet, value: Any, mask: tuple[Any, int] | None = None, guard: Any = None
    ) -> None:
        """`write` of a value that fits the register already."""
        slot = self.slot
        if guard is not None and guard.ndim:
            chooser = select_wide if self.bits == 128 else select
            value = chooser(guard, value, lane_set.regs[slot])
            if mask is not None or slot in lane_set.undefined:
                mask = self._guarded_mask(lane_set, mask, guard)
        lane_set.regs[slot] = value
        if mask is not None:
            lane_set.undefined[slot] = mask
        elif lane_set.undefined:
            lane_set.undefined.pop(slot, None)

    def _guarded_mask(
        self, lane_set: LaneSet, mask: tuple[Any, int] | None, guard: Any
    ) -> tuple[Any, int] | None:
        none = lane_set.code.defined[self.slot]
        new, origin = mask if mask is not None else (none, 0)
        old, before = lane_set.undefined.get(self.slot, (none, 0))
        both = (select_wide if self.bits == 128 else select)(guard, new, old)
        return (both, origin or before) if both.any() else None


def put(
    target: TargetOperand | None, lane_set: LaneSet, value: Any, mask: tuple[Any, int] | None, guard: Any
) -> None:
    """Store a result where the instruction has a destination for it."""
    if target is not None:
        target.write(lane_set, value, mask, guard)


def lanes_of(lane_set: LaneSet, guard: Any, shape: tuple[int, ...]) -> Any:
    """Which places of a value of `shape` any active lane of the lane set uses; None for all of them.

    Args:
        guard: the guard's value, None where there is none; a uniform guard must be true.
        shape: () or two axes that broadcast against (rows, 32).
    """
    if guard is None or guard.ndim == 0:
        active = lane_set.mask
    else:
        active = guard if lane_set.mask is None else guard & lane_set.mask
    if active is None:
        return None
    if len(shape) > 2:
        shape = shape[:2]
    folded = fold(active, shape)
    return folded if folded.shape == shape or not folded.ndim else np.broadcast_to(folded, shape)


def undefined_decides(lane_set: LaneSet, mask: Any, origin: int, site: Site, what: str) -> None:
    """Something undefined decides what the machine does.

    Args:
        mask: the undefined bits of each lane.
        origin: of these bits.
        what: what it is that decides.

    Raises:
        EmulatorFault: P605, unless the launch goes past it; the bits are then as they lie there.
    """
    launch = lane_set.launch
    number = launch.origin(origin, site)
    lanes = lanes_of(lane_set, None, mask.shape)
    some = mask != 0 if lanes is None else (mask != 0) & lanes
    thread = lane_set.thread(*lane_set.first(some))
    notes, labels = launch.origins.describe(number)
    launch.report(
        "P605",
        f"undefined: {what} depends on bits that were never written",
        site,
        (f"{thread}", *notes),
        labels=[label for label in labels if label.span != site.span],
    )


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
    """The name in an address, if there is one, and the number that is added to it. Raises Unsupported: the
    address is made of something else."""
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
