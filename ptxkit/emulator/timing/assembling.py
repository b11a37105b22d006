"""The machine code of a module's functions, for the model of time, where there is an assembler."""

from __future__ import annotations

from ptxkit.asm.tree import Module
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.timing.assembled import BY_RULE, AssembledModule, MachineFunction
from ptxkit.toolchain.assembler import assemble
from ptxkit.toolchain.sass import disassemble


def assembled(module: Module, target: str) -> AssembledModule:
    """Have a module assembled for a target: by the `ptxas` on PATH, whose release is likely the driver's,
    else by nvJitLink. Without an assembler or a disassembler, or if one refuses, the rule stands."""
    try:
        made = assemble(module, target, line_info=True, toolkit_first=True)
        if made.cubin is None:  # It may be older than the text.
            made = assemble(module, target, line_info=True)
        if made.cubin is None:
            return AssembledModule(f"{BY_RULE.by}, as {made.assembler} refuses the file", {})
        listing = disassemble(made.cubin)
    except PtxkitError as problem:
        return AssembledModule(f"{BY_RULE.by}: {problem.diagnostics[0].message}", {})
    functions = {}
    for one in listing:
        registers = made.usage[one.name].registers if one.name in made.usage else 0
        functions[one.name] = MachineFunction(
            registers, [(i.text, i.line, i.label) for i in one.instructions]
        )
    return AssembledModule(f"by {made.assembler}", functions)
