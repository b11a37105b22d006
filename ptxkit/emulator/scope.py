"""A function that is being compiled: its registers and `.param` variables as numbered slots, what names mean.

PTX ISA 5.1.6.4, 7.1. Compilers reach `.param` variables of device functions and calls only at fixed offsets,
so every variable is cut into pieces at the bounds of all accesses to it, and each piece is a slot: passing an
argument costs nothing, and pieces part and merge with the lane set that owns them. A parameter whose address
`mov` takes is memory in the stack instead (`StackParameter`), as a kernel's parameters are memory
(`ptxkit.emulator.image`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits, variables
from ptxkit.asm.flow import operand_names
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.call_abi import WIDEST, CallParameter, ParameterPiece, Value, slot_bits
from ptxkit.emulator.code import Code
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import LaneSet, Undefined
from ptxkit.emulator.operands import AddressOperand, address_parts
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.program import EntryProgram
from ptxkit.isa.modifiers import StateSpace

AXES = {axis: i for i, axis in enumerate("xyzw")} | {color: i for i, color in enumerate("rgba")}


class FunctionSlots:
    """The slots of one function.

    Attributes:
        program: what it belongs to.
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


class StackParameter(CallParameter):
    """A parameter in the frames of its function; piece i is its i-th unit, as large as its alignment allows.

    Args:
        name: the parameter's.
        offset: bytes from the frame's start, a multiple of `align`.
        size, align: bytes of the parameter.
        site: where its address is taken.
    """

    def __init__(self, name: str, offset: int, size: int, align: int, site: Site) -> None:
        unit = min(align, WIDEST)
        while size % unit:
            unit //= 2
        super().__init__(
            size, tuple(ParameterPiece(at, unit, i) for i, at in enumerate(range(0, size, unit)))
        )
        self._name = name
        self._site = site
        self._accessors = [
            Accessor(AddressOperand(None, offset + piece.offset, local=True), "local", unit, site)
            for piece in self.pieces
        ]

    @property
    def slots(self) -> Sequence[int]:
        """None: it is memory."""
        return ()

    def held(self, lane_set: LaneSet) -> tuple[list[Any], Undefined]:
        """What the units in the running function's frame hold, and their undefined bits."""
        values: list[Any] = []
        undefined: Undefined = {}
        for accessor in self._accessors:
            (access,) = accessor(lane_set)
            (value,), masks = access.load(accessor.size, 1)
            if masks is not None:
                undefined[len(values)] = (masks[0], access.origin(accessor.size))
            values.append(value)
        return values, undefined

    def fill(self, lane_set: LaneSet, piece: ParameterPiece, value: Value, guard: Any = None) -> None:
        """Store to a unit in the running function's frame."""
        word, mask, origin = value
        accessor = self._accessors[piece.slot]
        if mask is not None:
            launch = lane_set.launch
            if origin:
                origin = launch.origin_of_store(origin, self._site)
            else:
                origin = launch.origins.of_read(self._site, f"parameter `{self._name}`")
        for access in accessor(lane_set, guard):
            access.store((word,), None if mask is None else (mask,), accessor.size, origin)


class ParameterSlots:
    """The `.param` variables of one function that is being compiled.

    Attributes:
        assigned: slots that have a value when the function starts.
        returned: slots that the caller reads when it returns.
    """

    def __init__(self, slots: FunctionSlots) -> None:
        self._function = slots
        self._pieces: dict[Symbol, tuple[ParameterPiece, ...]] = {}
        self._on_stack: dict[Symbol, StackParameter] = {}
        self.assigned: frozenset[int] = frozenset()
        self.returned: frozenset[int] = frozenset()

    def place(self) -> list[tuple[tree.Instruction, str]]:
        """Cut every variable into pieces, and give register parameters their slots. Returns accesses that
        cannot be placed, and why."""
        function = self._function
        self._stack()
        bounds: dict[Symbol, set[int]] = {}
        outside: list[tuple[tree.Instruction, str]] = []
        for instruction in function.flow.instructions:
            access = self._access(instruction)
            if access is None:
                continue
            symbol, offset, width, count = access
            size = function.program.image.size_of(symbol)  # 0 for the last array, which callers size.
            if offset < 0 or (size and offset + width * count > size):
                outside.append((instruction, f"an access outside the parameter `{symbol.name}`"))
                continue
            cuts = bounds.setdefault(symbol, set())
            cuts.update(range(offset, offset + width * count + 1, width))
        for symbol, cuts in bounds.items():
            for start, end in pairwise(sorted(cuts)):
                cuts.update(range(-(-start // WIDEST) * WIDEST, end, WIDEST))
            ordered = sorted(cuts)
            self._pieces[symbol] = tuple(
                ParameterPiece(
                    start, end - start, function.new_slot(slot_bits(end - start), f"{symbol.name}+{start}")
                )
                for start, end in pairwise(ordered)
            )
        if function.function.kind == "func":
            self.assigned = self._header_slots(function.flow.parameters)
            self.returned = self._header_slots(function.flow.returns)
        return outside

    def _stack(self) -> None:
        """Move the parameters whose address `mov` takes to the stack."""
        function, image = self._function.function, self._function.program.image
        for instruction in self._function.flow.instructions if function.kind == "func" else ():
            names = (name for operand in variables(instruction) for name in operand_names(operand))
            for symbol in map(self._function.meaning, names):
                if symbol is not None and self.is_sliced(symbol):
                    size, align = image.size_of(symbol), image.alignment_of(symbol)
                    site = Site(instruction, function.name, image.source)
                    offset = self._function.local_offset(symbol)
                    self._on_stack[symbol] = StackParameter(symbol.name, offset, size, align, site)

    def _header_slots(self, symbols: Sequence[Symbol]) -> frozenset[int]:
        return frozenset(slot for symbol in symbols for slot in self._call_parameter(symbol).slots)

    def is_sliced(self, symbol: Symbol) -> bool:
        """Whether a symbol is a `.param` variable that lives in slots."""
        in_entry = symbol.kind is SymbolKind.PARAMETER and self._function.function.kind == "entry"
        return symbol.space == "param" and not in_entry and symbol not in self._on_stack

    def is_on_stack(self, symbol: Symbol) -> bool:
        """Whether a symbol is a `.param` variable that lies in local memory."""
        return symbol in self._on_stack

    def _access(self, instruction: tree.Instruction) -> tuple[Symbol, int, int, int] | None:
        """The (variable, offset, width, count) of a load or store of a sliced variable."""
        if traits(instruction).isdisjoint(("loads", "stores")):
            return None
        form = Decoded(instruction)
        found = self.place_of(form)
        return (*found, form.the(DType).bytes, form["vec"] or 1) if found is not None else None

    def place_of(self, instruction: Decoded) -> tuple[Symbol, int] | None:
        """The sliced variable and offset that a load or store names; None where it names none."""
        if plain_space(instruction.find(StateSpace) or "") != "param":
            return None
        address = instruction.operands["a"]
        assert isinstance(address, tree.Address)
        base, offset = address_parts(address)
        symbol = self._function.meaning(base) if base is not None else None
        if symbol is None or not self.is_sliced(symbol):
            return None
        return symbol, offset

    def covering(self, symbol: Symbol, offset: int, size: int) -> tuple[ParameterPiece, ...]:
        """The pieces of a stretch that some access bounds."""
        return tuple(p for p in self._pieces[symbol] if offset <= p.offset < offset + size)

    def _call_parameter(self, symbol: Symbol) -> CallParameter:
        if symbol.kind is SymbolKind.REGISTER:
            size = DTYPES[symbol.type].bytes
            parts = "xyzw"[: int(symbol.vector[1:])] if symbol.vector else "x"
            pieces = (
                ParameterPiece(size * i, size, self._function.slot(symbol, part))
                for i, part in enumerate(parts)
            )
            return CallParameter(size * len(parts), tuple(pieces))
        if symbol in self._on_stack:
            return self._on_stack[symbol]
        size = self._function.program.image.size_of(symbol)
        return CallParameter(size, self._pieces.get(symbol, ()))

    def argument(self, operand: tree.Operand) -> CallParameter | None:
        """What a `call` passes, or where it puts a return value; None for a constant, an address or `_`."""
        if isinstance(operand, tree.Name) and operand.name != "_":
            symbol = self._function.meaning(operand)
            if symbol is not None and (
                symbol.kind is SymbolKind.REGISTER or self.is_sliced(symbol) or symbol in self._on_stack
            ):
                return self._call_parameter(symbol)
        return None

    def dataflow(self, instruction: tree.Instruction) -> tuple[Iterable[int], Iterable[int]]:
        """The pieces that an instruction reads and those that it overwrites, as slots."""
        access = self._access(instruction)
        if access is not None:
            symbol, offset, width, count = access
            slots = [piece.slot for piece in self.covering(symbol, offset, width * count)]
            return (slots, ()) if "loads" in traits(instruction) else ((), slots)
        if "calls" in traits(instruction):
            lists = Decoded(instruction).operands
            return self._slots_of(lists.get("param_list")), self._slots_of(lists.get("ret_param"))
        if "returns" in traits(instruction):
            return self.returned, ()
        return (), ()

    def _slots_of(self, arguments: tree.Operand | None) -> list[int]:
        """What a list of a `call` passes."""
        found: list[int] = []
        for operand in arguments.elements if isinstance(arguments, tree.Arguments) else ():
            parameter = self.argument(operand)
            found += parameter.slots if parameter is not None else ()
        return found

    def finish(self, code: Code) -> None:
        """Tell the code where its arguments go and where its results come from."""
        if self._function.function.kind == "func":
            code.parameters = [self._call_parameter(symbol) for symbol in self._function.flow.parameters]
            code.returns = [self._call_parameter(symbol) for symbol in self._function.flow.returns]


class Sum(NamedTuple):
    """A register plus a number, in a slot of its own while an instruction runs.

    Attributes:
        slot, bits, name: the register.
        number: what is added.
        into: the slot of the sum.
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
        """The address of a variable, parameter or function in its own space, and whether it is an offset from
        the running function's local variables. Raises Unsupported: it has none."""
        own = symbol.kind is SymbolKind.VARIABLE and symbol.space == "local"
        if own or self.parameters.is_on_stack(symbol):
            return self.local_offset(symbol), True
        if symbol.kind is SymbolKind.PARAMETER or symbol.space == "param":
            return self.program.parameter_address(symbol, self.function), False
        return self.program.address_of(symbol), False

    def sum(self, symbol: Symbol, component: str | None, number: int, site: Site) -> int:
        """A slot that holds a register plus a number while an instruction runs, which is being decoded.
        Raises Unsupported: it is no integer register."""
        slot, kind = self.slot(symbol, component), DTYPES[symbol.type]
        if kind.is_float or kind.bits not in (8, 16, 32, 64):
            raise Unsupported(f"a sum with `{symbol.name}`, a register of type `.{symbol.type}`")
        name = self.names[slot]
        into = self.new_slot(kind.bits, f"{name}+{number}")
        self.sums.append(Sum(slot, kind.bits, name, number, into, site))
        return into
