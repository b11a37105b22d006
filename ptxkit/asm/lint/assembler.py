"""What NVIDIA's assembler makes wrong machine code of: ptxas 13.0 and nvJitLink 13.5, seen in what they write
and on an H200 (docs/emulator/hardware.md)."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import Code
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Instruction, Name

OPCODES = frozenset({"set", "testp"})
_CONVERTED = frozenset({"f16", "bf16", "f32"})


def check_assembler(context: Context, code: Code, values: Values) -> None:
    """Warn of guards that the assembler drops where a register has held something before."""
    for instruction in code.instructions:
        if instruction.guard is None or instruction.opcode not in OPCODES:
            continue
        destination = instruction.operands[0]
        if not isinstance(destination, Name) or values.is_written_once(destination):
            continue
        lost = _loses_its_guard(instruction)
        if lost:
            context.warn(
                "P238",
                f"`{instruction.spelling}` under a guard: {lost}, so lanes that are switched off lose "
                f"`{destination.name}`",
                instruction.span,
                help="write the result to a register of its own without the guard, and choose with `selp` "
                "or a guarded `mov`",
            )


def _loses_its_guard(instruction: Instruction) -> str | None:
    """What the assembler leaves unguarded."""
    if instruction.opcode == "testp":
        return "the assembler leaves the guard out"
    result, source = instruction.modifiers[-2:]
    if result in _CONVERTED:
        return f"the assembler converts to `.{result}` without it"
    if result in ("u32", "s32") and source in ("f16", "bf16"):
        return "the assembler widens the result without it"
    return None
