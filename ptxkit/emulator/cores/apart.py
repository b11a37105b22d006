"""Whether the CTAs of a kernel talk to each other: then one core runs them, in an order that is defined."""

from __future__ import annotations

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits
from ptxkit.emulator.addresses import plain_space
from ptxkit.emulator.program import EntryProgram
from ptxkit.isa.modifiers import StateSpace

STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
"""Modifiers by which an access may pass something on to another CTA."""
NEAR = frozenset({"cta", "cluster"})
"""Scopes within which CTAs stay together."""
SHARED_STATE = ("multimem", "fabric", "tensormap", "sust", "sured", "clusterlaunchcontrol", "discard")
"""Instructions that change what all CTAs see beside plain memory."""


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
    opcode, words = instruction.opcode, frozenset(instruction.modifiers)
    if opcode == "call":
        # A function without a body prints or allocates; one behind a pointer may be compiled later.
        names = [operand for operand in instruction.operands if isinstance(operand, tree.Name)]
        return any(program.has_body(name.name) for name in names)
    if opcode.startswith(SHARED_STATE):
        return False
    if opcode == "fence":
        return "tensormap::generic" not in words
    if "reduces" in traits(instruction) or (words & STRONG and opcode in ("ld", "st")):
        return _space(instruction) == "shared" or bool(words & NEAR)
    return True


def _space(instruction: tree.Instruction) -> str:
    """The state space that an access goes to."""
    spaces = Decoded(instruction).all(StateSpace)
    return plain_space(spaces[0]) if spaces else "generic"
