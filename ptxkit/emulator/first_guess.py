"""Plain loads that guess what a compare-and-swap will find.

A loop of compare-and-swap begins with a load, and CUDA's own atomics on two bfloat16 make it a plain one:
whatever it gives, the swap tells whether that was right. So it is no race with another thread's swap. It is
taken for such a guess where a compare-and-swap is on some path behind it, with no barrier in between.
"""

from __future__ import annotations

from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.tree import Instruction, Name
from ptxkit.emulator.faults import Site
from ptxkit.emulator.launch_state import ProgramFacts
from ptxkit.isa.modifiers import MemoryOperation


def swaps(site: Site | None) -> bool:
    """Whether an instruction is a compare-and-swap."""
    return site is not None and _swaps(site.instruction)


def is_guess(load: Site, program: ProgramFacts) -> bool:
    """Whether a load of a program is a guess."""
    code = program.flow(load.function)
    start = next(at for at, one in enumerate(code.instructions) if one is load.instruction)
    return _reaches(code, code.successors(start), program, {load.function})


def _reaches(code: FunctionCode, starts: tuple[int, ...], program: ProgramFacts, entered: set[str]) -> bool:
    """Whether a path from some instructions on comes to a compare-and-swap before it comes to a barrier."""
    ahead, seen = list(starts), set(starts)
    while ahead:
        at = ahead.pop()
        if at == len(code.instructions):
            continue
        instruction = code.instructions[at]
        if _swaps(instruction):
            return True
        if "meets" in traits(instruction):
            continue
        callee = _callee(instruction)
        if callee is not None and callee not in entered and program.has_body(callee):
            entered.add(callee)
            if _reaches(program.flow(callee), (0,), program, entered):
                return True
        new = [following for following in code.successors(at) if following not in seen]
        seen.update(new)
        ahead += new
    return False


def _swaps(instruction: Instruction) -> bool:
    return (
        instruction.match is not None
        and "reduces" in traits(instruction)
        and Decoded(instruction).find(MemoryOperation) is MemoryOperation.CAS
    )


def _callee(instruction: Instruction) -> str | None:
    """The function that an instruction calls by its name."""
    if "calls" not in traits(instruction):
        return None
    function = Decoded(instruction).operands["func"]
    return function.name if isinstance(function, Name) else None
