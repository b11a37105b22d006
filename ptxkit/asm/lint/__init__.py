"""Lints: programs that assemble and are surely not meant so. Every finding is a warning.

They follow control and data flow (`ptxkit.asm.flow`) as far as single assignments show it, and keep silent
where they can't be sure; the emulator's sanitizer finds at run time what they miss.
"""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import Code
from ptxkit.asm.lint.values import Values
from ptxkit.asm.symbols import Scope
from ptxkit.asm.tree import Function

__all__ = ["lint"]


def lint(context: Context, function: Function, outer: Scope) -> None:
    """Warn of what is wrong with a function that has no error.

    Args:
        context: where findings go.
        function: with a body.
        outer: the module's scope.
    """
    code = Code(function, outer)
    values = Values(code)
    opcodes = {instruction.opcode for instruction in code.instructions}
    from ptxkit.asm.lint.divergence import check_divergence

    check_divergence(context, code, values)
    if opcodes & {"mbarrier", "cp"}:
        from ptxkit.asm.lint.barriers import check_barriers

        check_barriers(context, code, values)
    if "wgmma" in opcodes:
        from ptxkit.asm.lint.warpgroup import check_warpgroup

        check_warpgroup(context, code, values)
    if "tcgen05" in opcodes:
        from ptxkit.asm.lint.tensor_memory import check_tensor_memory

        check_tensor_memory(context, code, values)
