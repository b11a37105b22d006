"""Control and data flow of a function: who follows whom, what is live, what may be unassigned.

`FunctionCode` is the function's instructions in order, scopes dissolved, with the symbol of every name in
them. Sets of registers are Python integers, a bit a register (`FunctionCode.register_bits`), so that a
fixpoint over a long kernel stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.decode import destinations, find_match, sources, traits
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import LISTS, Scope, Symbol, SymbolKind, bind, listed

_PARTS: dict[type, Callable[[Any], Sequence[tree.Operand]]] = {
    tree.Unary: lambda operand: (operand.operand,),
    tree.Parenthesized: lambda operand: (operand.inner,),
    tree.Generic: lambda operand: (operand.operand,),
    tree.Binary: lambda operand: (operand.left, operand.right),
    tree.Pair: lambda operand: (operand.first, operand.second),
    tree.Conditional: lambda operand: (operand.condition, operand.then, operand.otherwise),
    tree.Vector: lambda operand: operand.elements,
    tree.Arguments: lambda operand: operand.elements,
    tree.Address: lambda operand: (
        (operand.base, *operand.rest)
        if operand.offset is None
        else (operand.base, operand.offset, *operand.rest)
    ),
}


LEAVES = frozenset({"ends", "branches"})
"""Traits of rows after which, unguarded, control does not go on to the next instruction."""


def operand_names(operand: tree.Operand) -> Sequence[tree.Name]:
    """Every `Name` in an operand, left to right, the bit bucket `_` left out."""
    if type(operand) is tree.Name:
        return (operand,) if operand.name != "_" else ()
    parts = _PARTS.get(type(operand))
    if parts is None:
        return ()
    found: list[tree.Name] = []
    for part in parts(operand):
        if type(part) is not tree.Name:
            found += operand_names(part)
        elif part.name != "_":
            found.append(part)
    return found


def written_names(instruction: tree.Instruction) -> list[tree.Name]:
    """The names in what an instruction writes."""
    return [name for operand in destinations(instruction) for name in operand_names(operand)]


def read_names(instruction: tree.Instruction) -> list[tree.Name]:
    """The names in what it reads. The guard is apart."""
    return [name for operand in sources(instruction) for name in operand_names(operand)]


@dataclass(slots=True)
class BasicBlock:
    """Instructions `start` to `stop` (exclusive), entered only at the first, left only at the last.

    Attributes:
        successors: block numbers; `len(blocks)` stands for the function's end.
        predecessors: block numbers.
        live_in, live_out: registers that may still be read, as bits.
        unassigned_in: registers that some path from the entry leaves unwritten, as bits.
    """

    start: int
    stop: int
    successors: tuple[int, ...] = ()
    predecessors: tuple[int, ...] = ()
    live_in: int = 0
    live_out: int = 0
    unassigned_in: int = 0


class FunctionCode:
    """The instructions of a function with a body, in order.

    Attributes:
        function: the function.
        instructions: every one, blocks `{ .. }` dissolved.
        at: where each label stands: its symbol to the number of the instruction after it.
        registers: every register that is used, in order of first use; a vector register is one.
        variables: what the body declares outside the register space, in order.
        mentioned: every variable outside the register space that is used, wherever it is declared.
        parameters, returns: what the header declares, in order.
    """

    def __init__(self, function: tree.Function, outer: Scope) -> None:
        self.function = function
        self.instructions: list[tree.Instruction] = []
        self.at: dict[Symbol, int] = {}
        self.registers: list[Symbol] = []
        self.variables: list[Symbol] = []
        self.mentioned: dict[Symbol, None] = {}
        self.parameters: list[Symbol] = []
        self.returns: list[Symbol] = []
        header: Scope | None = None
        self._number: dict[Symbol, int] = {}
        self._meaning: dict[int, Symbol] = {}
        self._tables: dict[Symbol, tuple[Symbol, ...]] = {}
        for statement, scope in bind(function, outer):
            if header is None:
                header = scope
                self.parameters = _declared(function.parameters, scope)
                self.returns = _declared(function.returns, scope)
            match statement:
                case tree.Instruction():
                    self.instructions.append(statement)
                    if statement.match is None:
                        statement.match = find_match(statement, Names(scope))
                    if statement.guard is not None:
                        self._use(statement.guard, scope)
                    self._use_all(statement.operands, scope)
                case tree.Label():
                    label = scope.lookup(statement.name)
                    if label is not None and label.declaration is statement:
                        self.at[label] = len(self.instructions)
                case tree.Directive() if statement.name in LISTS and scope.labelled is not None:
                    meant = [scope.lookup(name.name) for name in listed(statement)]
                    self._tables[scope.labelled] = tuple(symbol for symbol in meant if symbol is not None)
                case tree.Variable() if statement.space != "reg":
                    for declarator in statement.declarators:
                        symbol = scope.lookup(declarator.name)
                        if symbol is not None and symbol.declarator is declarator:
                            self.variables.append(symbol)
                        if declarator.initializer is not None:
                            self._use_all((declarator.initializer,), scope)

    def _use_all(self, operands: Sequence[tree.Operand], scope: Scope) -> None:
        for operand in operands:
            for name in operand_names(operand):
                self._use(name, scope)

    def _use(self, use: tree.Name | tree.Guard, scope: Scope) -> None:
        symbol = scope.lookup(use.name)
        if symbol is None:
            return
        self._meaning[id(use)] = symbol
        if symbol.kind is SymbolKind.REGISTER and symbol not in self._number:
            self._number[symbol] = len(self.registers)
            self.registers.append(symbol)
        elif symbol.kind is SymbolKind.VARIABLE:
            self.mentioned[symbol] = None

    def meaning(self, use: tree.Name | tree.Guard) -> Symbol | None:
        """What a name in the body stands for; None where nothing of that name is declared there."""
        return self._meaning.get(id(use))

    def table(self, label: Symbol) -> tuple[Symbol, ...] | None:
        """The labels or functions that `.branchtargets` or `.calltargets` after `label` lists."""
        return self._tables.get(label)

    # ---- registers as bits

    def register_bits(self, names: Sequence[tree.Name]) -> int:
        """The registers among `names`, as bits."""
        bits = 0
        for name in names:
            symbol = self.meaning(name)
            if symbol is not None and symbol.kind is SymbolKind.REGISTER:
                bits |= 1 << self._number[symbol]
        return bits

    def registers_of(self, bits: int) -> list[Symbol]:
        """The registers of a set."""
        return [register for i, register in enumerate(self.registers) if bits >> i & 1]

    @cached_property
    def reads(self) -> list[int]:
        """For each instruction the registers that it reads, its guard included, as bits."""
        found = []
        for instruction in self.instructions:
            bits = self.register_bits(read_names(instruction))
            if instruction.guard is not None:
                symbol = self.meaning(instruction.guard)
                if symbol is not None and symbol in self._number:
                    bits |= 1 << self._number[symbol]
            found.append(bits)
        return found

    @cached_property
    def writes(self) -> list[int]:
        """For each instruction the registers that it writes, as bits."""
        return [self.register_bits(written_names(instruction)) for instruction in self.instructions]

    @cached_property
    def kills(self) -> list[int]:
        """For each instruction the registers whose old value it surely overwrites, as bits.

        A guarded instruction overwrites nothing for sure, nor does one that writes a vector's `.x`.
        """
        return [
            0
            if instruction.guard is not None
            else self.register_bits([n for n in written_names(instruction) if n.component is None])
            for instruction in self.instructions
        ]

    # ---- control flow

    def targets(self, number: int) -> list[int | None]:
        """Where a branch can go: instruction numbers, None for a label that isn't there."""
        instruction = self.instructions[number]
        if "branches" not in traits(instruction):
            return []
        last = instruction.operands[-1]
        symbol = self.meaning(last) if isinstance(last, tree.Name) else None
        if symbol is None:
            return [None]
        labels = self.table(symbol)
        return [self.at.get(label) for label in (labels if labels is not None else (symbol,))]

    def successors(self, number: int) -> tuple[int, ...]:
        """The instructions that may run after `number`; `len(instructions)` is the function's end."""
        instruction = self.instructions[number]
        following = [target for target in self.targets(number) if target is not None]
        if "ends" in traits(instruction):
            following.append(len(self.instructions))
        if not traits(instruction) & LEAVES or instruction.guard is not None:
            following.append(number + 1)
        return tuple(dict.fromkeys(following))

    @cached_property
    def blocks(self) -> list[BasicBlock]:
        """The basic blocks in order, with liveness and what may be unassigned."""
        return basic_blocks(self)

    def live_after(self, number: int) -> int:
        """The registers that may still be read after an instruction, as bits."""
        block = next(block for block in self.blocks if block.start <= number < block.stop)
        live = block.live_out
        for later in reversed(range(number + 1, block.stop)):
            live = self.reads[later] | live & ~self.kills[later]
        return live


def _declared(variables: Sequence[tree.Variable], scope: Scope) -> list[Symbol]:
    """The symbols of the parameters in a header; none where the body is empty, for nothing uses them."""
    found = (scope.lookup(variable.name) for variable in variables)
    return [symbol for symbol in found if symbol is not None]


def basic_blocks(
    code: FunctionCode,
    cuts: Sequence[int] = (),
    reads: Sequence[int] | None = None,
    kills: Sequence[int] | None = None,
    assigned: int | None = None,
) -> list[BasicBlock]:
    """Cut the code into basic blocks and solve liveness and assignment over them.

    Args:
        code: the function's code.
        cuts: further instruction numbers at which a block must begin.
        reads, kills: for each instruction what it reads and surely overwrites, as bits, where a bit is to
            mean something finer than a register; those of `FunctionCode` where left out.
        assigned: what has a value at the entry; the register parameters where left out.
    """
    count = len(code.instructions)
    leaders = {0, *cuts} | {at for at in code.at.values() if at < count}
    for number, instruction in enumerate(code.instructions):
        if traits(instruction) & LEAVES:
            leaders.add(number + 1)
    starts = sorted(start for start in leaders if start < count)
    if not starts:
        return []
    blocks = [BasicBlock(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]
    block_at = {block.start: i for i, block in enumerate(blocks)} | {count: len(blocks)}
    before: list[list[int]] = [[] for _ in range(len(blocks) + 1)]
    for i, block in enumerate(blocks):
        block.successors = tuple(block_at[at] for at in code.successors(block.stop - 1))
        for successor in block.successors:
            before[successor].append(i)
    for i, block in enumerate(blocks):
        block.predecessors = tuple(before[i])
    exposed, killed = [], []
    for block in blocks:
        read = written = 0
        for number in range(block.start, block.stop):
            read |= (reads or code.reads)[number] & ~written
            written |= (kills or code.kills)[number]
        exposed.append(read)
        killed.append(written)
    if blocks:
        _solve_liveness(blocks, exposed, killed)
        blocks[0].unassigned_in = ~(_parameters(code) if assigned is None else assigned)
        _solve_assignment(blocks, killed)
    return blocks


def _parameters(code: FunctionCode) -> int:
    """The registers that are parameters of the function, as bits."""
    bits = 0
    for i, register in enumerate(code.registers):
        if any(register.declaration is parameter for parameter in code.function.parameters):
            bits |= 1 << i
    return bits


def _solve_liveness(blocks: list[BasicBlock], exposed: list[int], killed: list[int]) -> None:
    waiting = set(range(len(blocks)))
    while waiting:
        i = max(waiting)
        waiting.remove(i)
        block = blocks[i]
        out = 0
        for successor in block.successors:
            if successor < len(blocks):
                out |= blocks[successor].live_in
        block.live_out = out
        live = exposed[i] | (out & ~killed[i])
        if live != block.live_in:
            block.live_in = live
            waiting.update(block.predecessors)


def _solve_assignment(blocks: list[BasicBlock], killed: list[int]) -> None:
    waiting = {0}
    while waiting:
        i = min(waiting)
        waiting.remove(i)
        left = blocks[i].unassigned_in & ~killed[i]
        for successor in blocks[i].successors:
            if successor < len(blocks) and left & ~blocks[successor].unassigned_in:
                blocks[successor].unassigned_in |= left
                waiting.add(successor)
