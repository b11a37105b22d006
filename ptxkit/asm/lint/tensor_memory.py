"""tcgen05: Tensor Memory that is never given back, products that nothing waits for. PTX ISA 9.7.16."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import Code
from ptxkit.asm.lint.barriers import uses
from ptxkit.asm.lint.descriptors import check_instruction_descriptor, check_shared_memory
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Instruction
from ptxkit.descriptors import SmemDescTcgen05

NEEDS = (
    ("alloc", "dealloc", "P235", "allocates Tensor Memory that no `tcgen05.dealloc` gives back",
     "deallocate it before the kernel ends, or the next allocation hangs"),
    ("mma", "commit", "P234", "runs asynchronously, and no `tcgen05.commit` lets anything wait for it",
     "commit it to an mbarrier: `tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [mbarrier];`"),
    ("cp", "commit", "P234", "runs asynchronously, and no `tcgen05.commit` follows",
     "commit it to an mbarrier, or let a `tcgen05.mma` that uses the data be committed"),
    ("st", "wait", "P234", "runs asynchronously, and no `tcgen05.wait::st` waits for it",
     "write `tcgen05.wait::st.sync.aligned;` before the data is used"),
)  # fmt: skip
"""An instruction, the one that must follow it, code, message, help."""


def check_tensor_memory(context: Context, code: Code, values: Values) -> None:
    """Warn of instructions whose counterpart is missing, and of wrong constant descriptors."""
    calls = any(instruction.opcode == "call" for instruction in code.instructions)
    if code.function.kind == "entry" and not calls:
        for what, counterpart, code_, message, help in NEEDS:
            first = next((i for i in code.instructions if _is(i, what)), None)
            if first is not None and not uses(context.module, "tcgen05", counterpart):
                context.warn(code_, f"`{first.spelling}` {message}", first.span, help=help)
    for instruction in code.instructions:
        if _is(instruction, "mma"):
            check_instruction_descriptor(context, instruction, values)
            check_shared_memory(context, instruction, values, SmemDescTcgen05)


def _is(instruction: Instruction, modifier: str) -> bool:
    return instruction.opcode == "tcgen05" and instruction.modifiers[:1] == (modifier,)
