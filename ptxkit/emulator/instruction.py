"""One instruction as an operation's reader sees it: its modifiers, and its operands on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.addresses import CLUSTER_STEP, COOPERATIVE_GROUPS
from ptxkit.emulator.constants import is_constant, literal
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.operands import AddressOperand, SourceOperand, TargetOperand, address_parts, split_offset
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.scope import FunctionScope
from ptxkit.emulator.special import SPECIAL, VARYING
from ptxkit.emulator.sync_points import check_defined
from ptxkit.emulator.values import constant, dtype_of, reader, writer
from ptxkit.isa.special_registers import SPECIAL_REGISTERS


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


class ScopedInstruction(Decoded):
    """An instruction by its row, with the means to compile its operands.

    Attributes:
        scope: the function that is being compiled.
        site: the instruction, for findings.
        guard: the predicate before it, if there is one.
    """

    def __init__(
        self,
        scope: FunctionScope,
        instruction: tree.Instruction,
        site: Site,
        guard: SourceOperand | None = None,
    ) -> None:
        self.scope = scope
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
        symbol = self.scope.meaning(operand)
        if symbol is None:
            special = SPECIAL_REGISTERS.get(operand.name)
            width = 4 if special is not None and special.vector else 0
        else:
            width = int(symbol.vector[1:]) if symbol.kind is SymbolKind.REGISTER and symbol.vector else 0
        if not width:
            return None
        made = tuple([tree.Name(operand.name, axis, span=operand.span) for axis in "xyzw"[:width]])
        for name in made:
            self.scope.alias(name, operand)
        return tree.Vector(made, span=operand.span)

    def parts(self, operand: str) -> list[tree.Operand]:
        """The elements of an operand that is a vector, by its name in the row; of any other the operand."""
        return list(elements(self.operands[operand]))

    def _selector(self, operand: tree.Operand) -> str | None:
        name = operand.operand if isinstance(operand, tree.Unary) else operand
        if isinstance(name, tree.Name) and name.component is not None:
            symbol = self.scope.meaning(name)
            if symbol is not None and symbol.kind is SymbolKind.REGISTER and not symbol.vector:
                return name.component
        return None

    # ---- compiled operands

    def source(self, operand: tree.Operand | str, type_name: str | None = None) -> SourceOperand:
        """An operand that is read, by its name in the row: as the type that the row says, or another one.
        Raises Unsupported: it is nothing that can be read so."""
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
            return SourceOperand(dtype, bits, value=constant(value, type_name))
        if isinstance(operand, tree.Name):
            symbol = self.scope.meaning(operand)
            if symbol is not None and symbol.kind is SymbolKind.REGISTER:
                return self._register(self.scope.slot(symbol, operand.component), symbol, type_name)
            if symbol is None:
                return self._special(operand, type_name)
        return self._address_of(operand, type_name)

    def _register(self, slot: int, symbol: Symbol, type_name: str) -> SourceOperand:
        """A register, or a slot with a sum of it, that is read as a type."""
        width, bits = self.scope.bits[slot], DTYPES[type_name].bits
        if width < bits:
            raise Unsupported(
                f"a register of {width} bits, `{symbol.name}`, as an operand of type `.{type_name}`"
            )
        return SourceOperand(
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

    def checked_source(
        self, operand: tree.Operand | str, type_name: str | None = None
    ) -> Callable[[LaneSet], Any]:
        """A reader of an operand that decides what the machine does, as a count or a size: undefined bits of
        it in a lane that executes the instruction are P605."""
        source, guard, site = self.source(operand, type_name), self.guard, self.site
        read, holds = source.reader, guard.reader if guard is not None else None

        def checked(lane_set: LaneSet) -> Any:
            if lane_set.undefined:
                check_defined(lane_set, holds(lane_set) if holds is not None else None, source, site)
            return read(lane_set)

        return read if source.slot is None else checked

    def _special(self, operand: tree.Name, type_name: str) -> SourceOperand:
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
        program = self.scope.program
        if name == "%reserved_smem_offset_1":
            program.reserved = max(program.shared_start - COOPERATIVE_GROUPS, 0)
        if operand.name in VARYING:
            program.reads_clock = True
            ticking = VARYING[operand.name]

            def compute(lane_set: LaneSet) -> Any:
                return ticking(lane_set.launch)

        elif name in SPECIAL:

            def compute(lane_set: LaneSet) -> Any:
                return lane_set.special(name)

        else:
            raise Unsupported(f"`{name}`")
        if convert is not None:
            inner = compute
            return SourceOperand(dtype, bits, compute=lambda lane_set: convert(inner(lane_set)), name=name)
        return SourceOperand(dtype, bits, compute=lambda lane_set: compute(lane_set).view(dtype), name=name)

    def _address_of(self, operand: tree.Operand, type_name: str) -> SourceOperand:
        """The address of a variable or function, with an offset or without; a register with one."""
        base, offset = split_offset(operand)
        symbol = self.scope.meaning(base) if base is not None else None
        if symbol is None or base is None:
            raise Unsupported("an operand of this kind")
        if symbol.kind is SymbolKind.REGISTER:
            slot = self.scope.sum(symbol, base.component, offset, self.site)
            return self._register(slot, symbol, type_name)
        fixed, local = self.scope.address_of(symbol)
        dtype, bits = dtype_of(type_name), DTYPES[type_name].bits
        if self.scope.program.clustered and symbol.space.startswith("shared"):
            return self._in_cluster(constant(fixed + offset, type_name), symbol.name, type_name)
        if not local:
            return SourceOperand(dtype, bits, value=constant(fixed + offset, type_name), name=symbol.name)
        number = fixed + offset

        def compute(lane_set: LaneSet) -> Any:
            return constant(lane_set.local + number, type_name)

        return SourceOperand(dtype, bits, compute=compute, name=symbol.name)

    def _in_cluster(self, own: Any, name: str, type_name: str) -> SourceOperand:
        """The address of a shared variable in a cluster: the rank of its CTA stands above the offset."""
        dtype, bits = dtype_of(type_name), DTYPES[type_name].bits
        step = dtype.type(CLUSTER_STEP) if bits >= 32 else dtype.type(0)

        def compute(lane_set: LaneSet) -> Any:
            return lane_set.special("%cluster_ctarank").astype(dtype) * step + own

        return SourceOperand(dtype, bits, compute=compute, name=name)

    def target(self, operand: tree.Operand | str, type_name: str | None = None) -> TargetOperand | None:
        """An operand that takes a result, of the type that the row says, or another one. Returns None for
        `_`, and where the operand is left out. Raises Unsupported: it is no register that can."""
        there = self.operands.get(operand) if isinstance(operand, str) else operand
        if there is None or (isinstance(there, tree.Name) and there.name == "_"):
            return None
        operand, type_name = self._typed(operand, type_name)
        if not isinstance(operand, tree.Name):
            raise Unsupported("a destination of this kind")
        symbol = self.scope.meaning(operand)
        if symbol is None or symbol.kind is not SymbolKind.REGISTER:
            raise Unsupported(f"`{operand.name}` as a destination")
        slot = self.scope.slot(symbol, operand.component)
        width = self.scope.bits[slot]
        if width < DTYPES[type_name].bits:
            raise Unsupported(
                f"a register of {width} bits, `{operand.name}`, for a result of type `.{type_name}`"
            )
        return TargetOperand(slot, width, writer(width, type_name))

    def address(self, operand: tree.Operand | str) -> AddressOperand:
        """An operand in brackets, by the name of its base in the row. Raises Unsupported: it is no
        address."""
        if isinstance(operand, str):
            operand = self.operands[operand]
        if not isinstance(operand, tree.Address):
            raise Unsupported("an operand where an address in brackets is expected")
        base, offset = address_parts(operand)
        if base is None:
            return AddressOperand(None, offset)
        symbol = self.scope.meaning(base)
        if symbol is not None and symbol.kind is SymbolKind.REGISTER:
            slot = self.scope.slot(symbol, base.component)
            width = self.scope.bits[slot]
            if width not in (32, 64):
                raise Unsupported(f"a register of {width} bits, `{base.name}`, as an address")
            name = "u32" if width == 32 else "u64"
            return AddressOperand(SourceOperand(dtype_of(name), width, slot=slot, name=symbol.name), offset)
        if symbol is None:
            raise Unsupported(f"`{base.name}` is not declared")
        fixed, local = self.scope.address_of(symbol)
        return AddressOperand(None, fixed + offset, local=local, symbol=symbol)
