"""Control and data flow of a function: who follows whom, what is live, what may be unassigned.

`FunctionCode` is the function's instructions in order, scopes dissolved, with the symbol of every name in
them. Sets of registers are Python integers, a bit a register (`FunctionCode.register_bits`), so that a
fixpoint over a long kernel stays cheap. What one instruction reads and writes is a few numbers (`BitSets`):
an integer for each of them would make a kernel cost the square of its length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ptxkit.asm import tree
from ptxkit.asm.bit_sets import BitSets, Numbers, bits_of
from ptxkit.asm.dataflow import BasicBlock, solve_assignment, solve_liveness, summaries
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

    def register_numbers(self, names: Sequence[tree.Name | tree.Guard]) -> Numbers:
        """The numbers of the registers among `names`."""
        found = []
        for name in names:
            number = self._number.get(self._meaning.get(id(name)))  # type: ignore[arg-type]
            if number is not None:
                found.append(number)
        return tuple(found)

    def register_bits(self, names: Sequence[tree.Name]) -> int:
        """The registers among `names`, as bits."""
        return bits_of(self.register_numbers(names))

    def registers_of(self, bits: int) -> list[Symbol]:
        """The registers of a set."""
        return [register for i, register in enumerate(self.registers) if bits >> i & 1]

    @cached_property
    def reads(self) -> BitSets:
        """For each instruction the registers that it reads, its guard included, as bits."""
        found = []
        for each in self.instructions:
            names: list[tree.Name | tree.Guard] = [*read_names(each)]
            if each.guard is not None:
                names.append(each.guard)
            found.append(self.register_numbers(names))
        return BitSets(found)

    @cached_property
    def _written(self) -> tuple[list[Numbers], list[Numbers]]:
        """For each instruction the numbers of what it writes, and of what it surely overwrites."""
        writes, kills = [], []
        for each in self.instructions:
            names = written_names(each)
            written = self.register_numbers(names)
            writes.append(written)
            if each.guard is not None:
                written = ()
            elif any(name.component is not None for name in names):
                written = self.register_numbers([name for name in names if name.component is None])
            kills.append(written)
        return writes, kills

    @property
    def writes(self) -> BitSets:
        """For each instruction the registers that it writes, as bits."""
        return BitSets(self._written[0])

    @property
    def kills(self) -> BitSets:
        """For each instruction the registers whose old value it surely overwrites, as bits.

        A guarded instruction overwrites nothing for sure, nor does one that writes a vector's `.x`.
        """
        return BitSets(self._written[1])

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

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(instruction): number for number, instruction in enumerate(self.instructions)}

    def number_of(self, instruction: tree.Instruction) -> int:
        """Which of the instructions it is."""
        return self._places[id(instruction)]

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def block_of(self, number: int) -> int:
        """The number of the block that an instruction stands in."""
        return bisect_right(self._starts, number) - 1

    def is_live_after(self, number: int, name: tree.Name) -> bool:
        """Whether a register may still be read after an instruction."""
        block = self.blocks[self.block_of(number)]
        for register in self.register_numbers([name]):
            for later in range(number + 1, block.stop):
                if register in self.reads.numbers[later]:
                    return True
                if register in self.kills.numbers[later]:
                    return False
            return bool(block.live_out >> register & 1)
        return False


def _declared(variables: Sequence[tree.Variable], scope: Scope) -> list[Symbol]:
    """The symbols of the parameters in a header; none where the body is empty, for nothing uses them."""
    found = (scope.lookup(variable.name) for variable in variables)
    return [symbol for symbol in found if symbol is not None]


def basic_blocks(
    code: FunctionCode,
    cuts: Sequence[int] = (),
    reads: BitSets | None = None,
    kills: BitSets | None = None,
    assigned: int | None = None,
) -> list[BasicBlock]:
    """Cut the code into basic blocks and solve liveness and assignment over them.

    Args:
        code: the function's code.
        cuts: further instruction numbers at which a block must begin.
        reads, kills: for each instruction what it reads and surely overwrites, where a bit is to mean
            something finer than a register; those of `FunctionCode` where left out.
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
    exposed, killed = summaries(blocks, reads or code.reads, kills or code.kills)
    if blocks:
        solve_liveness(blocks, exposed, killed)
        blocks[0].unassigned_in = ~(_parameters(code) if assigned is None else assigned)
        solve_assignment(blocks, killed)
    return blocks


def _parameters(code: FunctionCode) -> int:
    """The registers that are parameters of the function, as bits."""
    bits = 0
    for i, register in enumerate(code.registers):
        if any(register.declaration is parameter for parameter in code.function.parameters):
            bits |= 1 << i
    return bits
