"""A kernel compiled for the machine: functions cut into blocks of steps, over numbered register slots.

`.param` variables of device functions have fixed places for all that is stored to them, so they are slots
too, but for those whose address is taken (`ptxkit.emulator.parameters`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import read_names, written_names
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.diagnostics import Diagnostic
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.blocks import Compiled, cut, slots_in
from ptxkit.emulator.calls import leave
from ptxkit.emulator.code import Block, Code
from ptxkit.emulator.effect import effect_of
from ptxkit.emulator.faults import Site, finding
from ptxkit.emulator.form import AXES, Form
from ptxkit.emulator.ir import Computation
from ptxkit.emulator.lane_set import End
from ptxkit.emulator.operands import Source, Target
from ptxkit.emulator.operation import Pure, Unsupported, operation_of
from ptxkit.emulator.parameters import ParameterSlots
from ptxkit.emulator.steps import Step, checked_division, clean_step, effect_step, no_step, tracked_step
from ptxkit.emulator.sums import after, behind, sum_step
from ptxkit.emulator.values import BOOL, ones, zero
from ptxkit.emulator.warpgroup.watch import watched

if TYPE_CHECKING:
    from ptxkit.emulator.image import Program
    from ptxkit.emulator.lane_set import LaneSet


class Builder:
    """Compiles one function.

    Attributes:
        program: what it belongs to.
        function: the function.
        flow: its instructions in order, with the meaning of names.
        bits: the width of each slot.
        names: the name of each slot.
        warpgroup_slots: registers of `wgmma`.
    """

    def __init__(self, program: Program, function: tree.Function, code: Code) -> None:
        self.program = program
        self.function = function
        self.code = code
        self.flow = program.image.flow(function)
        self.bits: list[int] = []
        self.names: list[str] = []
        self._slots: dict[Symbol, dict[int, int]] = {}
        self._aliases: dict[int, tree.Name] = {}
        self.warpgroup_slots: frozenset[int] = frozenset()
        self._carry: int | None = None
        self._stack_pointer: int | None = None
        self._local: dict[Symbol, int] = {}
        self._frame = 0
        self._problems: list[Diagnostic] = []
        self._sums: list[Step] = []
        self.parameters = ParameterSlots(self)

    # ---- names and slots

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
        if self._stack_pointer is None:
            self._stack_pointer = self.new_slot(64, "stack pointer")
        return self._stack_pointer

    @property
    def carry(self) -> int:
        """The slot of the condition code register's CC.CF."""
        if self._carry is None:
            self._carry = self.new_slot(1, "CC.CF")
        return self._carry

    def _behind_call(self, call: End, live: int) -> End:
        """A call, behind which some slots are live; the carry flag is undefined there: 9.7.2 preserves it
        across none."""
        if self._carry is None or not live >> self._carry & 1:
            return call
        lost = ones(1), self.program.unset_origin("the carry flag after a call")

        def end(lane_set: LaneSet) -> int:
            lane_set.undefined[self.carry] = lost
            return call(lane_set)

        return end

    def address_of(self, symbol: Symbol) -> tuple[int, bool]:
        """The address of a variable, parameter or function in its own space, and whether it is an offset
        from the running function's local variables.

        Raises:
            Unsupported: it has none.
        """
        own = symbol.kind is SymbolKind.VARIABLE and symbol.space == "local"
        if own or self.parameters.is_stacked(symbol):
            return self.local_offset(symbol), True
        if symbol.kind is SymbolKind.PARAMETER or symbol.space == "param":
            return self.program.parameter_address(symbol, self.function), False
        return self.program.address_of(symbol), False

    def local_offset(self, symbol: Symbol) -> int:
        """Where in the function's frame a variable lies; it gets its place when it is first asked for."""
        if symbol not in self._local:
            size, align = self.program.image.size_of(symbol), self.program.image.alignment_of(symbol)
            self._frame = -(-self._frame // align) * align
            self._local[symbol] = self._frame
            self._frame += size
        return self._local[symbol]

    # ---- compiling

    def build(self) -> list[Diagnostic]:
        """Compile the function into its code.

        Returns:
            What can't be executed: P601, one a form.
        """
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
            for item in decoded:
                self._watch(item)
        reads, kills = self._dataflow()
        assigned = self.parameters.assigned
        blocks, undefined = cut(self.flow, decoded, reads, kills, assigned, self._behind_call)
        self.code.blocks += blocks
        self._finish(undefined)
        return []

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
        self._sums.append(sum_step(slot, kind.bits, name, number, into, site))
        return into

    def _decode(self, instruction: tree.Instruction) -> Compiled:
        item = self._decode_alone(instruction)
        if self._sums:
            sums, self._sums = self._sums, []
            item.step, item.tracked = after(sums, item.step), after(sums, item.tracked)
            item.effect, item.ir = behind(sums, item.effect), None
        return item

    def _decode_alone(self, instruction: tree.Instruction) -> Compiled:
        site = Site(instruction, self.function.name, self.program.image.source)
        nothing = Compiled(site, no_step, no_step)
        try:
            guard = self._guard(instruction)
            form = Form(self, instruction, site, guard)
            pure = self._compute(form, guard)
            if pure is not None:
                return pure
            effect = effect_of(form)
            if effect is None:
                raise Unsupported("this instruction")
        except Unsupported as unsupported:
            self._refuse(site, str(unsupported))
            return nothing
        step = effect_step(effect, guard, site)
        return Compiled(site, step, step, guard, effect, effect.transfer)

    def _watch(self, item: Compiled) -> None:
        """Let an instruction other than `wgmma` look out for products in flight on its registers."""
        instruction = item.site.instruction
        if item.site.row.chapter == "wgmma":
            return
        symbols = {self.meaning(name) for name in (*written_names(instruction), *read_names(instruction))}
        slots = tuple(sorted(self._slots_of(symbols) & self.warpgroup_slots))
        if slots:
            item.step = watched(item.step, slots, item.site, item.guard)
            item.tracked = watched(item.tracked, slots, item.site, item.guard)
            item.ir = None

    def _refuse(self, site: Site, reason: str) -> None:
        message = f"the emulator does not execute `{site.instruction.spelling}`: {reason}"
        self._problems.append(finding("P601", message, site))

    def _guard(self, instruction: tree.Instruction) -> Source | None:
        if instruction.guard is None:
            return None
        symbol = self.flow.meaning(instruction.guard)
        if symbol is None or symbol.kind is not SymbolKind.REGISTER or symbol.type != "pred":
            raise Unsupported(f"the guard `{instruction.guard.name}`, which is no predicate")
        negated = instruction.guard.negated
        return Source(BOOL, 1, slot=self.slot(symbol), invert=negated, name=symbol.name)

    def _compute(self, form: Form, guard: Source | None) -> Compiled | None:
        """A pure instruction."""
        operation = operation_of(form)
        if operation is None:
            return None
        sources = [
            form.source(operand, kind)
            for (operand, _), kind in zip(form.values(written=False), operation.sources, strict=True)
            if operand is not None
        ]
        targets = [
            form.target(operand, kind) if operand is not None else None
            for (operand, _), kind in zip(form.values(written=True), operation.results, strict=True)
        ]
        if operation.reads_carry:
            sources.append(Source(BOOL, 1, slot=self.carry, name="CC.CF"))
        if operation.writes_carry:
            operation, targets = _with_carry(operation, targets, self.carry)
        step = clean_step(operation, sources, targets, guard)
        if operation.divides:
            step = checked_division(step, sources[1], guard, form.site)
        tracked = tracked_step(operation, sources, targets, guard, step, form.site)
        ir = Computation(Decoded(form.instruction), operation, sources, targets, guard)
        return Compiled(form.site, step, tracked, guard, ir=ir)

    # ---- data flow over slots

    def _slots_of(self, symbols: Iterable[Symbol | None]) -> set[int]:
        """The slots of some registers, all components."""
        none: dict[int, int] = {}
        return {slot for symbol in symbols if symbol for slot in self._slots.get(symbol, none).values()}

    def _dataflow(self) -> tuple[list[int], list[int]]:
        """What each instruction reads and surely overwrites, in bits of slots."""
        by_register = [sum(1 << slot for slot in self._slots_of([r])) for r in self.flow.registers]
        reads, kills = [], []
        for number, instruction in enumerate(self.flow.instructions):
            read = _translate(self.flow.reads[number], by_register)
            kill = _translate(self.flow.kills[number], by_register)
            more, less = self.parameters.dataflow(instruction)
            form = Decoded(instruction)
            if self._carry is not None:
                more |= form.reads_carry << self._carry
                less |= form.writes_carry << self._carry
            if self._stack_pointer is not None and form.row.chapter == "stack":
                more |= 1 << self._stack_pointer
            reads.append(read | more)
            kills.append(kill | less if instruction.guard is None else kill)
        return reads, kills

    def _finish(self, undefined: int) -> None:
        code = self.code
        returning = Block(len(code.blocks), live=slots_in(self.parameters.returned))
        returning.end = leave
        code.blocks.append(returning)
        code.names = self.names
        code.widths = self.bits
        code.blank = [zero(bits) for bits in self.bits]
        code.defined = [zero(bits) for bits in self.bits]
        code.wide = frozenset(slot for slot, bits in enumerate(self.bits) if bits == 128)
        code.initial = list(code.blank)
        code.frame = -(-self._frame // 16) * 16
        if self._stack_pointer is not None:
            code.initial[self._stack_pointer] = np.uint64(code.frame)
            undefined &= ~(1 << self._stack_pointer)
        code.initial_undefined = {
            slot: (ones(self.bits[slot]), self.program.unset_origin(f"register `{self.names[slot]}`"))
            for slot in slots_in(undefined)
        }
        self.parameters.finish(code)


def _translate(bits: int, table: list[int]) -> int:
    result = 0
    for i in slots_in(bits):
        result |= table[i]
    return result


def _with_carry(
    operation: Pure, targets: list[Target | None], carry: int
) -> tuple[Pure, list[Target | None]]:
    return replace(operation, results=(*operation.results, "pred")), [*targets, Target(carry, 1)]
