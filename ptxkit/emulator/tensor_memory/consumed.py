"""Loads from tensor memory that are over because their registers were read: these need no wait.

PTX ISA 9.7.16.8 asks for `tcgen05.wait::ld`. Hardware holds whoever reads a register until the load has
brought it, and kernels of CuTe DSL and CUTLASS rely on that.
"""

from __future__ import annotations

from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.tree import Instruction

HANDS_ON = frozenset({"arrives", "arrives_behind", "calls", "cancels", "commits", "ends"})
"""Traits of instructions that may let somebody else go on, or leave the function."""
ORDERING = ("synchronization", "tcgen05", "compression")
"""Chapters of those, and of others on tensor memory."""


def consumed_loads(flow: Flow) -> frozenset[int]:
    """The loads of a function, by `id`, of which a register is read on every path, before anything that may
    let another thread go on and before tensor memory is used otherwise."""
    return frozenset(
        id(instruction)
        for number, instruction in enumerate(flow.instructions)
        if "loads_tensor_memory" in traits(instruction) and _is_consumed(flow, number)
    )


def _is_consumed(flow: Flow, load: int) -> bool:
    wanted = flow.writes[load]
    known: set[int] = set()
    rest = list(flow.successors(load))
    while rest:
        number = rest.pop()
        if number in known:
            continue
        known.add(number)
        if number == len(flow.instructions) or _hands_on(flow.instructions[number]):
            return False
        if flow.reads[number] & wanted:
            continue
        if flow.writes[number] & wanted:
            return False
        rest += flow.successors(number)
    return True


def _hands_on(instruction: Instruction) -> bool:
    found, decoded = traits(instruction), Decoded(instruction)
    if "loads_tensor_memory" in found:
        return False
    return decoded.row.chapter in ORDERING or decoded["sem"] is not None or not HANDS_ON.isdisjoint(found)
