"""What NVIDIA's assembler makes wrong machine code of: ptxas 13.0 and nvJitLink 13.5, seen in what they write
and on an H200 (docs/emulator/hardware.md)."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import FunctionCode, written_names
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Address, Instruction, Name, Statement, Variable

OPCODES = frozenset({"set", "testp"})
_CONVERTED = frozenset({"f16", "bf16", "f32"})
_WIDE = "b128"


def check_guards(context: Context, code: FunctionCode, values: Values) -> None:
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
                f"`{instruction.spelling}` under a guard: {lost}, so inactive lanes lose "
                f"`{destination.name}`",
                instruction.span,
                help="write the result to a register of its own without the guard, and choose with `selp` "
                "or a guarded `mov`",
            )


def check_calls(context: Context, code: FunctionCode) -> None:
    """Warn of what is passed to functions, or given back, in registers of 128 bits and comes in part.

    Parameters in `.param` come whole where they are stored from such a register, or are loaded as two of 64
    bits; so does such a register as an argument. Parameters of a kernel do, however they are loaded.
    """
    function = code.function
    for parameters, kept in (
        (function.returns, "returns 8 bits of `.reg .b128 {}`, except in code that is linked"),
        (function.parameters, "passes 8 bits of `.reg .b128 {}`, or the lower 64 in code that is linked"),
    ):
        for parameter in filter(_is_register, parameters):
            context.warn(
                "P239",
                f"the assembler {kept.format(parameter.name)}",
                parameter.span,
                help=f"declare it as `.param .align 16 .b128 {parameter.name}`",
            )
    for instruction in code.instructions:
        if instruction.opcode == "call":
            for name in written_names(instruction):
                symbol = code.meaning(name)
                if symbol is not None and symbol.space == "reg" and symbol.type == _WIDE:
                    context.warn(
                        "P239",
                        f"the assembler leaves the upper 64 bits of `{name.name}` 0, whatever is given back",
                        name.span,
                        help="take it as a `.param .align 16 .b128` variable, and load that with "
                        "`ld.param.v2.b64`",
                    )
        elif (
            instruction.opcode == "ld" and instruction.modifiers[-1] == _WIDE and _of_call(code, instruction)
        ):
            context.warn(
                "P239",
                f"the assembler leaves the upper 64 bits of a `{instruction.spelling}` 0",
                instruction.span,
                help="load two registers with `ld.param.v2.b64`, and make one of them with `mov.b128`",
            )


def _of_call(code: FunctionCode, load: Instruction) -> bool:
    """Whether a load reads a parameter of a device function, or a variable that stands for one in a call."""
    address = load.operands[1]
    if not isinstance(address, Address) or not isinstance(address.base, Name):
        return False
    base = code.meaning(address.base)
    if base is None or base.space != "param" or not {"param", "param::func"} & {*load.modifiers}:
        return False
    return code.function.kind != "entry" or base not in code.parameters


def _is_register(declared: Statement) -> bool:
    return isinstance(declared, Variable) and declared.space == "reg" and declared.type == _WIDE


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
