"""A function compiled for the machine: cut into blocks of steps, over numbered register slots.

`.param` variables of device functions have fixed places for all that is stored to them, so they are slots
too, but for those whose address is taken (`ptxkit.emulator.scope`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.bit_sets import BitSets, Numbers, bits_of, numbers_in
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import written_names
from ptxkit.asm.symbols import SymbolKind
from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator.blocks import Compiled, cut
from ptxkit.emulator.calls import leave
from ptxkit.emulator.code import Code, CodeBlock, Computation
from ptxkit.emulator.effect import effect_of
from ptxkit.emulator.faults import Site, finding
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import End, LaneSet
from ptxkit.emulator.operands import SourceOperand, TargetOperand
from ptxkit.emulator.operation import Pure, Unsupported, operation_of
from ptxkit.emulator.program import EntryProgram
from ptxkit.emulator.scope import FunctionScope
from ptxkit.emulator.steps import (
    after,
    behind,
    computation_steps,
    effect_step,
    made_with,
    no_step,
    same_step,
    sum_step,
)
from ptxkit.emulator.values import BOOL, ones, zero
from ptxkit.emulator.warpgroup.in_flight import waiting, watched
from ptxkit.emulator.warpgroup.practice import accessed_before_commit
from ptxkit.isa.match import Match


def build(program: EntryProgram, function: tree.Function, code: Code) -> list[Diagnostic]:
    """Compile a function into its code; see `FunctionBuilder.build`."""
    return FunctionBuilder(program, function, code).build()


class FunctionBuilder(FunctionScope):
    """Compiles one function."""

    def __init__(self, program: EntryProgram, function: tree.Function, code: Code) -> None:
        super().__init__(program, function)
        self.code = code
        self._problems: list[Diagnostic] = []
        self._operations: dict[int, tuple[Match, Pure | None]] = {}

    def _behind_call(self, call: End, live: int) -> End:
        """A call, behind which some slots are live; the carry flag is undefined there: 9.7.2 preserves it
        across none."""
        if self.carry_slot is None or not live >> self.carry_slot & 1:
            return call
        lost = ones(1), self.program.unset_origin("the carry flag after a call")

        def end(lane_set: LaneSet) -> int:
            lane_set.undefined[self.carry] = lost
            return call(lane_set)

        return end

    # ---- compiling

    def build(self) -> list[Diagnostic]:
        """Compile the function into its code. Returns what can't be executed: P601, one a form."""
        for variable in self.flow.variables:
            if variable.space == "local":
                self.local_offset(variable)
        for instruction, reason in self.parameters.place():
            self._refuse(Site(instruction, self.function.name, self.program.image.source), reason)
        if self._problems:
            return self._problems
        decoded = [self._decode(instruction) for instruction in self.flow.instructions]
        if self._problems:
            return self._problems
        if self.warpgroup_slots:
            self._watch(decoded)
        reads, kills = self._dataflow()
        assigned = bits_of(self.parameters.assigned)
        blocks, undefined = cut(self.flow, decoded, reads, kills, assigned, self._behind_call)
        self.code.blocks += blocks
        self._finish(undefined)
        return []

    def _decode(self, instruction: tree.Instruction) -> Compiled:
        item = self._decode_alone(instruction)
        if self.sums:
            sums, self.sums = [sum_step(each) for each in self.sums], []
            item.make = made_with(item.make, lambda step: after(sums, step))
            item.effect, item.ir = behind(sums, item.effect), None
        return item

    def _decode_alone(self, instruction: tree.Instruction) -> Compiled:
        site = Site(instruction, self.function.name, self.program.image.source)
        nothing = Compiled(site, same_step(no_step))
        try:
            guard = self._guard(instruction)
            form = ScopedInstruction(self, instruction, site, guard)
            pure = self._compute(form, guard)
            if pure is not None:
                return pure
            effect = effect_of(form)
            if effect is None:
                raise Unsupported(f"it has no operation for `{form.row.name}`")
        except Unsupported as unsupported:
            self._refuse(site, str(unsupported))
            return nothing
        step = effect_step(effect, guard, site, partial(self._written, instruction))
        return Compiled(site, same_step(step), guard, effect, effect.ir)

    def _written(self, instruction: tree.Instruction) -> list[int]:
        """The slots that an instruction writes."""
        return sorted(self.slots_of({self.meaning(name) for name in written_names(instruction)}))

    def _watch(self, items: Sequence[Compiled]) -> None:
        """Let instructions other than `wgmma` look out for products in flight on their registers."""
        held = [self.warpgroup_slots & self.slots_of([register]) for register in self.flow.registers]
        watching = {register for register, slots in enumerate(held) if slots}
        hasty = accessed_before_commit(self.flow) if watching else frozenset()
        accesses = zip(items, self.flow.reads.numbers, self.flow.writes.numbers, strict=True)
        for at, (item, reads, writes) in enumerate(accesses):
            found = watching.intersection((*reads, *writes))
            if found and item.site.row.chapter != "wgmma":
                slots = tuple(sorted(slot for register in found for slot in held[register]))
                look = waiting if at in hasty else watched
                wrap = partial(look, slots=slots, site=item.site, guard=item.guard)
                item.make, item.ir = made_with(item.make, wrap), None

    def _refuse(self, site: Site, reason: str) -> None:
        message = f"the emulator does not execute `{site.instruction.spelling}`: {reason}"
        self._problems.append(finding("P601", message, site))

    def _guard(self, instruction: tree.Instruction) -> SourceOperand | None:
        if instruction.guard is None:
            return None
        symbol = self.flow.meaning(instruction.guard)
        if symbol is None or symbol.kind is not SymbolKind.REGISTER or symbol.type != "pred":
            raise Unsupported(f"the guard `{instruction.guard.name}`, which is no predicate")
        negated = instruction.guard.negated
        return SourceOperand(BOOL, 1, slot=self.slot(symbol), invert=negated, name=symbol.name)

    def _operation(self, instruction: ScopedInstruction) -> Pure | None:
        """`operation_of`, which is the same for all instructions of a form whose operands are plain names."""
        plain = all(type(o) is tree.Name and o.component is None for o in instruction.instruction.operands)
        if not plain:
            return operation_of(instruction)
        match = instruction.match
        if id(match) not in self._operations:
            self._operations[id(match)] = match, operation_of(instruction)
        return self._operations[id(match)][1]

    def _compute(self, instruction: ScopedInstruction, guard: SourceOperand | None) -> Compiled | None:
        """A pure instruction."""
        operation = self._operation(instruction)
        if operation is None:
            return None
        sources = [
            instruction.source(operand, kind)
            for (operand, _), kind in zip(instruction.values(written=False), operation.sources, strict=True)
            if operand is not None
        ]
        targets = [
            instruction.target(operand, kind) if operand is not None else None
            for (operand, _), kind in zip(instruction.values(written=True), operation.results, strict=True)
        ]
        if operation.reads_carry:
            sources.append(SourceOperand(BOOL, 1, slot=self.carry, name="CC.CF"))
        if operation.writes_carry:
            operation, targets = _with_carry(operation, targets, self.carry)
        ir = Computation(Decoded(instruction.instruction), operation, sources, targets, guard)
        return Compiled(instruction.site, partial(computation_steps, ir, instruction.site), guard, ir=ir)

    # ---- data flow over slots

    def _dataflow(self) -> tuple[BitSets, BitSets]:
        """What each instruction reads and surely overwrites, as slots."""
        by_register = [tuple(self.slots_of([register])) for register in self.flow.registers]
        reads: list[Numbers] = []
        kills: list[Numbers] = []
        for number, instruction in enumerate(self.flow.instructions):
            read = [slot for one in self.flow.reads.numbers[number] for slot in by_register[one]]
            kill = [slot for one in self.flow.kills.numbers[number] for slot in by_register[one]]
            more, less = self.parameters.dataflow(instruction)
            read += more
            if instruction.guard is None:
                kill += less
            form = Decoded(instruction)
            if self.carry_slot is not None:
                if form.reads_carry:
                    read.append(self.carry_slot)
                if form.writes_carry and instruction.guard is None:
                    kill.append(self.carry_slot)
            if self.stack_slot is not None and form.row.chapter == "stack":
                read.append(self.stack_slot)
            reads.append(tuple(read))
            kills.append(tuple(kill))
        return BitSets(reads), BitSets(kills)

    def _finish(self, undefined: int) -> None:
        code = self.code
        returning = CodeBlock(len(code.blocks), live=tuple(sorted(self.parameters.returned)))
        returning.end = leave
        code.blocks.append(returning)
        code.names = self.names
        code.widths = self.bits
        code.blank = [zero(bits) for bits in self.bits]
        code.defined = [zero(bits) for bits in self.bits]
        code.wide = frozenset(slot for slot, bits in enumerate(self.bits) if bits == 128)
        code.initial = list(code.blank)
        code.frame = -(-self.frame // 16) * 16
        if self.stack_slot is not None:
            code.initial[self.stack_slot] = np.uint64(code.frame)
            undefined &= ~(1 << self.stack_slot)
        code.initial_undefined = {
            slot: (ones(self.bits[slot]), self.program.unset_origin(f"register `{self.names[slot]}`"))
            for slot in numbers_in(undefined)
        }
        self.parameters.finish(code)


def _with_carry(
    operation: Pure, targets: list[TargetOperand | None], carry: int
) -> tuple[Pure, list[TargetOperand | None]]:
    return operation._replace(results=(*operation.results, "pred")), [*targets, TargetOperand(carry, 1)]
