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
        used = made.usage.get(one.name)
        functions[one.name] = MachineFunction(
            used.registers if used is not None else 0,
            [(i.text, i.line, i.label, i.stall) for i in one.instructions],
            used.stack if used is not None else 0,
        )
    return AssembledModule(f"by {made.assembler}", functions)
