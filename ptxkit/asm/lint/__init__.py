"""Lints: programs that assemble and are surely not meant so, or that the assembler makes wrong code of. Every
finding is a warning.

They follow control and data flow (`ptxkit.asm.flow`) as far as single assignments show it, and keep silent
where they can't be sure; the emulator's sanitizer finds at run time what they miss.
"""

from __future__ import annotations

from ptxkit.asm.check.addresses import check_place
from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.lint.values import Values, VariableAddress
from ptxkit.asm.symbols import Scope
from ptxkit.asm.tree import Address, Function, Name

__all__ = ["lint"]


def lint(context: Context, function: Function, outer: Scope) -> None:
    """Warn of what is wrong with a function that has no error.

    Args:
        context: where findings go.
        function: with a body.
        outer: the module's scope.
    """
    code = FunctionCode(function, outer)
    values = Values(code)
    opcodes = {instruction.opcode for instruction in code.instructions}
    from ptxkit.asm.lint.divergence import check_divergence

    check_divergence(context, code, values)
    _check_computed(context, code, values)
    if opcodes & {"set", "testp"}:
        from ptxkit.asm.lint.assembler import check_guards

        check_guards(context, code, values)
    if any(symbol.type == "b128" for symbol in (*code.registers, *code.parameters, *code.returns)):
        from ptxkit.asm.lint.assembler import check_calls

        check_calls(context, code)
    if opcodes & {"mbarrier", "cp"}:
        from ptxkit.asm.lint.barriers import check_barriers

        check_barriers(context, code, values)
    if "wgmma" in opcodes:
        from ptxkit.asm.lint.warpgroup import check_warpgroup

        check_warpgroup(context, code, values)
    if "tcgen05" in opcodes:
        from ptxkit.asm.lint.tensor_memory import check_tensor_memory

        check_tensor_memory(context, code, values)


def _check_computed(context: Context, code: FunctionCode, values: Values) -> None:
    """Warn of addresses in registers that lead to the wrong place in a variable."""
    for instruction in code.instructions:
        for position, operand in enumerate(instruction.operands):
            if not isinstance(operand, Address) or not isinstance(operand.base, Name):
                continue
            if values.definition(operand.base) is None:
                continue
            place = values.of(operand)
            if isinstance(place, VariableAddress):
                check_place(context, instruction, position, place.symbol, place.offset)
