"""Where values come from and go to, seen statically: which parameters of a kernel it may store through, and
which of its loads are for the products of warpgroups."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.flow import operand_names, read_names, written_names
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.emulator.addresses import plain_space
from ptxkit.isa.modifiers import StateSpace


def stored_through(flow: Flow) -> set[str]:
    """The names of an entry's parameters from which the addresses of its stores may be computed.

    Blind to the flow of control. An address that was loaded from memory has no known parameter behind it.
    """
    sources = _sources(flow)
    found: set[str] = set()
    for instruction in flow.instructions:
        handed: list[tree.Operand] = []
        if "stores" in traits(instruction):
            handed = [operand for operand in instruction.operands if isinstance(operand, tree.Address)]
        elif "calls" in traits(instruction) and "param_list" in Decoded(instruction).operands:
            handed = [Decoded(instruction).operands["param_list"]]
        for operand in handed:
            for name in operand_names(operand):
                symbol = flow.meaning(name)
                if symbol is not None:
                    found |= sources.get(symbol, set())
    return found


def _sources(flow: Flow) -> dict[Symbol, set[str]]:
    """For each register, and each `.param` variable of a call, the parameters that may reach it."""
    sources: dict[Symbol, set[str]] = {}
    changed = True
    while changed:
        changed = False
        for instruction in flow.instructions:
            reached: set[str] = set()
            loads = "loads" in traits(instruction)
            for name in read_names(instruction):
                symbol = flow.meaning(name)
                if symbol is None:
                    continue
                if symbol.kind is SymbolKind.PARAMETER:
                    reached.add(symbol.name)
                elif not loads:
                    reached |= sources.get(symbol, set())
            if not reached:
                continue
            targets = written_names(instruction)
            space = Decoded(instruction).find(StateSpace) if "stores" in traits(instruction) else None
            if plain_space(space or "") == "param":
                targets = [n for n in operand_names(instruction.operands[0])]
            for name in targets:
                symbol = flow.meaning(name)
                if symbol is not None and not reached <= sources.setdefault(symbol, set()):
                    sources[symbol] |= reached
                    changed = True
    return sources


def loads_of_products(flow: Flow) -> frozenset[int]:
    """The loads of a function, by `id`, from which `wgmma` may take registers: all but its accumulator's."""
    count = len(flow.instructions)
    taken = [_taken(flow, instruction) for instruction in flow.instructions]
    wanted = [0] * (count + 1)  # before each instruction: registers whose values a product may take later
    loads: set[int] = set()
    changed = True
    while changed:
        changed = False
        for number in range(count - 1, -1, -1):
            before = 0
            for following in flow.successors(number):
                before |= wanted[following]
            if flow.writes[number] & before:
                before &= ~flow.kills[number]
                if "loads" in traits(flow.instructions[number]):
                    loads.add(id(flow.instructions[number]))
                else:
                    before |= flow.reads[number]
            before |= taken[number]
            if before != wanted[number]:
                wanted[number], changed = before, True
    return frozenset(loads)


def _taken(flow: Flow, instruction: tree.Instruction) -> int:
    """The registers that a product takes, but for its accumulator, as bits."""
    if "multiplies_registers" not in traits(instruction):
        return 0
    return flow.register_bits([name for o in instruction.operands[1:] for name in operand_names(o)])
