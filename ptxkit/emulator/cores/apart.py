"""Whether the CTAs of a kernel talk to each other: then one core runs them, in an order that is defined."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.program import EntryProgram
from ptxkit.isa.modifiers import MemoryOrder, StateSpace

NEAR = frozenset({"cta", "cluster"})
"""Scopes within which CTAs stay together."""


def apart(program: EntryProgram) -> bool:
    """Whether nothing that a CTA executes can reach one of another cluster, unless by a race."""
    if program.reads_clock or program.launches_dependents or program.cta_memory:
        return False
    return all(
        _stays(program, instruction)
        for code in program.codes
        for instruction in program.flow(code.name).instructions
    )


def _stays(program: EntryProgram, instruction: tree.Instruction) -> bool:
    """Whether an instruction tells other clusters nothing."""
    does = traits(instruction)
    if "reaches_all" in does or "cancels" in does:
        return False
    if "calls" in does:
        # A function without a body prints or allocates; one behind a pointer may be compiled later.
        callee = Decoded(instruction).operands["func"]
        return isinstance(callee, tree.Name) and program.has_body(callee.name)
    if "reduces" in does or (does & {"loads", "stores"} and _is_strong(Decoded(instruction))):
        return _is_near(Decoded(instruction))
    return True


def _is_strong(form: Decoded) -> bool:
    """Whether an access may pass something on to another CTA."""
    return any(order is not MemoryOrder.WEAK for order in form.all(MemoryOrder))


def _is_near(form: Decoded) -> bool:
    """Whether an access stays within a cluster: by its scope, or because it goes to shared memory."""
    spaces = form.all(StateSpace)
    return form["scope"] in NEAR or bool(spaces and plain_space(spaces[0]) == "shared")
