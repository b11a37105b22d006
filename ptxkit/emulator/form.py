"""One instruction as an operation's reader sees it: its modifiers, and its operands on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.addresses import CLUSTER_STEP, COOPERATIVE_GROUPS
from ptxkit.emulator.clocks import VARYING
from ptxkit.emulator.constants import is_constant, literal
from ptxkit.emulator.faults import Site
from ptxkit.emulator.operands import Source, Target
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.special import SPECIAL
from ptxkit.emulator.sync_points import check_defined
from ptxkit.emulator.values import constant, dtype_of, reader, writer
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

if TYPE_CHECKING:
    from ptxkit.emulator.lane_set import LaneSet
    from ptxkit.emulator.program import Builder

AXES = {axis: i for i, axis in enumerate("xyzw")} | {color: i for i, color in enumerate("rgba")}


def elements(operand: tree.Operand) -> Iterator[tree.Operand]:
    """What an operand consists of: the parts of `{a, b}` and of `d|p`, else itself."""
    match operand:
        case tree.Vector(elements=parts):
            for part in parts:
                yield from elements(part)
        case tree.Pair(first=first, second=second):
            yield from elements(first)
            yield from elements(second)
        case _:
            yield operand


class Form(Decoded):
    """An instruction by its row, with the means to compile its operands.

    Attributes:
        builder: the function that is being compiled.
        site: the instruction, for findings.
        guard: the predicate before it, if there is one.
    """

    def __init__(
        self, builder: Builder, instruction: tree.Instruction, site: Site, guard: Source | None = None
    ) -> None:
        self.builder = builder
        super().__init__(self._dissolved(instruction))
        self.site = site
        self.guard = guard

    # ---- operands as written

    def _dissolved(self, instruction: tree.Instruction) -> tree.Instruction:
        """The instruction with a vector of components for each vector register that stands without one."""
        components = [self._components(operand) for operand in instruction.operands]
        if not any(components):
            return instruction
        pairs = zip(components, instruction.operands, strict=True)
        return replace(instruction, operands=tuple([vector or operand for vector, operand in pairs]))

    def _components(self, operand: tree.Operand) -> tree.Vector | None:
        if not isinstance(operand, tree.Name) or operand.component is not None:
            return None
        symbol = self.builder.meaning(operand)
        if symbol is None:
            special = SPECIAL_REGISTERS.get(operand.name)
            width = 4 if special is not None and special.vector else 0
        else:
            width = int(symbol.vector[1:]) if symbol.kind is SymbolKind.REGISTER and symbol.vector else 0
        if not width:
            return None
        made = tuple([tree.Name(operand.name, axis, span=operand.span) for axis in "xyzw"[:width]])
        for name in made:
            self.builder.alias(name, operand)
        return tree.Vector(made, span=operand.span)

    def parts(self, operand: str) -> list[tree.Operand]:
        """The elements of an operand that is a vector, by its name in the row; of any other the operand."""
        return list(elements(self.operands[operand]))

    def _selector(self, operand: tree.Operand) -> str | None:
        name = operand.operand if isinstance(operand, tree.Unary) else operand
        if isinstance(name, tree.Name) and name.component is not None:
            symbol = self.builder.meaning(name)
            if symbol is not None and symbol.kind is SymbolKind.REGISTER and not symbol.vector:
                return name.component
        return None

    # ---- compiled operands

    def source(self, operand: tree.Operand | str, type_name: str | None = None) -> Source:
        """An operand that is read, by its name in the row: as the type that the row says, or another one.

        Raises:
            Unsupported: it is nothing that can be read so.
        """
        operand, type_name = self._typed(operand, type_name)
        dtype = dtype_of(type_name)
        bits = DTYPES[type_name].bits
        if isinstance(operand, tree.Unary) and operand.operator == "!" and type_name == "pred":
            inner = self.source(operand.operand, type_name)
            if inner.slot is None:
                if inner.compute is None:
                    inner.value = ~inner.value
                else:
                    compute = inner.compute
                    inner.compute = lambda lane_set: ~compute(lane_set)
                return inner
            inner.invert = True
            return inner
        if isinstance(operand, tree.Unary) and self._selector(operand.operand) is not None:
            operand = operand.operand
        if isinstance(operand, tree.Unary) and operand.operator == "-" and not is_constant(operand):
            operand = operand.operand
        try:
            value = literal(operand, type_name)
        except ArithmeticError as problem:
            raise Unsupported(f"constant expression: {problem}") from None
        if value is not None:
            return Source(dtype, bits, value=constant(value, type_name))
        if isinstance(operand, tree.Name):
            symbol = self.builder.meaning(operand)
            if symbol is not None and symbol.kind is SymbolKind.REGISTER:
                return self._register(self.builder.slot(symbol, operand.component), symbol, type_name)
            if symbol is None:
                return self._special(operand, type_name)
        return self._address_of(operand, type_name)

    def _register(self, slot: int, symbol: Symbol, type_name: str) -> Source:
        """A register, or a slot with a sum of it, that is read as a type."""
        width, bits = self.builder.bits[slot], DTYPES[type_name].bits
        if width < bits:
            raise Unsupported(
                f"a register of {width} bits, `{symbol.name}`, as an operand of type `.{type_name}`"
            )
        return Source(
            dtype_of(type_name), bits, slot=slot, convert=reader(width, type_name), name=symbol.name
        )

    def _typed(self, operand: tree.Operand | str, type_name: str | None) -> tuple[tree.Operand, str]:
        """An operand that its name in the row may stand for, and its type."""
        if isinstance(operand, str):
            type_name = type_name or self.type_of(operand).name
            operand = self.operands[operand]
            if isinstance(operand, tree.Vector) and len(operand.elements) == 1:
                operand = operand.elements[0]
            return operand, type_name
        assert type_name is not None
        return operand, type_name

    def deciding(self, operand: tree.Operand | str, type_name: str | None = None) -> Callable[[LaneSet], Any]:
        """A reader of an operand that decides what the machine does, as a count or a size: undefined bits of
        it in a lane that executes the instruction are P605."""
        source, guard, site = self.source(operand, type_name), self.guard, self.site
        read, holds = source.reader, guard.reader if guard is not None else None

        def checked(lane_set: LaneSet) -> Any:
            if lane_set.undefined:
                check_defined(lane_set, holds(lane_set) if holds is not None else None, source, site)
            return read(lane_set)

        return read if source.slot is None else checked

    def _special(self, operand: tree.Name, type_name: str) -> Source:
        name = f"{operand.name}.{operand.component}" if operand.component else operand.name
        bits = DTYPES[type_name].bits
        known = SPECIAL_REGISTERS.get(operand.name)
        if known is None:
            raise Unsupported(f"`{operand.name}` is not declared")
        width = DTYPES[known.type].bits
        if width < bits:
            raise Unsupported(f"`{name}`, a register of {width} bits, as an operand of type `.{type_name}`")
        convert = reader(width, type_name)
        dtype = dtype_of(type_name)
        program = self.builder.program
        if name == "%reserved_smem_offset_1":
            program.reserved = max(program.shared_start - COOPERATIVE_GROUPS, 0)
        if operand.name in VARYING:
            program.reads_clock = True
            compute: Callable[[LaneSet], Any] = VARYING[operand.name]
        elif name in SPECIAL:

            def compute(lane_set: LaneSet) -> Any:
                return lane_set.special(name)

        else:
            raise Unsupported(f"`{name}`")
        if convert is not None:
            inner = compute
            return Source(dtype, bits, compute=lambda lane_set: convert(inner(lane_set)), name=name)
        return Source(dtype, bits, compute=lambda lane_set: compute(lane_set).view(dtype), name=name)

    def _address_of(self, operand: tree.Operand, type_name: str) -> Source:
        """The address of a variable or function, with an offset or without; a register with one."""
        base, offset = split_offset(operand)
        symbol = self.builder.meaning(base) if base is not None else None
        if symbol is None or base is None:
            raise Unsupported("an operand of this kind")
        if symbol.kind is SymbolKind.REGISTER:
            slot = self.builder.sum(symbol, base.component, offset, self.site)
            return self._register(slot, symbol, type_name)
        fixed, local = self.builder.address_of(symbol)
        dtype, bits = dtype_of(type_name), DTYPES[type_name].bits
        if self.builder.program.clustered and symbol.space.startswith("shared"):
            return self._in_cluster(constant(fixed + offset, type_name), symbol.name, type_name)
        if not local:
            return Source(dtype, bits, value=constant(fixed + offset, type_name), name=symbol.name)
        number = fixed + offset

        def compute(lane_set: LaneSet) -> Any:
            return constant(lane_set.local + number, type_name)

        return Source(dtype, bits, compute=compute, name=symbol.name)

    def _in_cluster(self, own: Any, name: str, type_name: str) -> Source:
        """The address of a shared variable in a cluster: the rank of its CTA stands above the offset."""
        dtype, bits = dtype_of(type_name), DTYPES[type_name].bits
        step = dtype.type(CLUSTER_STEP) if bits >= 32 else dtype.type(0)

        def compute(lane_set: LaneSet) -> Any:
            return lane_set.special("%cluster_ctarank").astype(dtype) * step + own

        return Source(dtype, bits, compute=compute, name=name)

    def target(self, operand: tree.Operand | str, type_name: str | None = None) -> Target | None:
        """An operand that takes a result, of the type that the row says, or another one.

        Returns:
            None for `_`, and where the operand is left out.

        Raises:
            Unsupported: it is no register that can.
        """
        there = self.operands.get(operand) if isinstance(operand, str) else operand
        if there is None or (isinstance(there, tree.Name) and there.name == "_"):
            return None
        operand, type_name = self._typed(operand, type_name)
        if not isinstance(operand, tree.Name):
            raise Unsupported("a destination of this kind")
        symbol = self.builder.meaning(operand)
        if symbol is None or symbol.kind is not SymbolKind.REGISTER:
            raise Unsupported(f"`{operand.name}` as a destination")
        slot = self.builder.slot(symbol, operand.component)
        width = self.builder.bits[slot]
        if width < DTYPES[type_name].bits:
            raise Unsupported(
                f"a register of {width} bits, `{operand.name}`, for a result of type `.{type_name}`"
            )
        return Target(slot, width, writer(width, type_name))

    def address(self, operand: tree.Operand | str) -> Address:
        """An operand in brackets, by the name of its base in the row.

        Raises:
            Unsupported: it is no address.
        """
        if isinstance(operand, str):
            operand = self.operands[operand]
        if not isinstance(operand, tree.Address):
            raise Unsupported("an operand where an address in brackets is expected")
        base, offset = address_parts(operand)
        if base is None:
            return Address(None, offset)
        symbol = self.builder.meaning(base)
        if symbol is not None and symbol.kind is SymbolKind.REGISTER:
            slot = self.builder.slot(symbol, base.component)
            width = self.builder.bits[slot]
            if width not in (32, 64):
                raise Unsupported(f"a register of {width} bits, `{base.name}`, as an address")
            name = "u32" if width == 32 else "u64"
            return Address(Source(dtype_of(name), width, slot=slot, name=symbol.name), offset)
        if symbol is None:
            raise Unsupported(f"`{base.name}` is not declared")
        fixed, local = self.builder.address_of(symbol)
        return Address(None, fixed + offset, local=local, symbol=symbol)


class Address:
    """An address operand: a register with an offset, or a number.

    Attributes:
        base: the register, None for a number.
        offset: what is added.
        symbol: the variable that is named, if one is.
    """

    __slots__ = ("base", "local", "offset", "read", "symbol")

    def __init__(
        self, base: Source | None, offset: int, local: bool = False, symbol: Symbol | None = None
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
