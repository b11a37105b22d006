"""tcgen05: Tensor Memory that is never given back, products that nothing waits for. PTX ISA 9.7.16."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.lint.barriers import uses
from ptxkit.asm.lint.descriptors import check_instruction_descriptor, check_shared_memory
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Address, Instruction, Name
from ptxkit.encodings.shared_memory import SmemDescTcgen05

NEEDS = (
    ("alloc", "dealloc", "P235", "allocates Tensor Memory that no `tcgen05.dealloc` frees",
     "deallocate it before the kernel ends, or the next allocation hangs"),
    ("mma", "commit", "P234", "runs asynchronously, and no `tcgen05.commit` lets anything wait for it",
     "commit it to an mbarrier: `tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [mbarrier];`"),
    ("cp", "commit", "P234", "runs asynchronously, and no `tcgen05.commit` follows",
     "commit it to an mbarrier, or let a `tcgen05.mma` that uses the data be committed"),
    ("st", "wait", "P234", "runs asynchronously, and no `tcgen05.wait::st` waits for it",
     "write `tcgen05.wait::st.sync.aligned;` before the data is used"),
)  # fmt: skip
"""An instruction, the one that must follow it, code, message, help."""


def check_tensor_memory(context: Context, code: FunctionCode, values: Values) -> None:
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
        elif _is(instruction, "cp"):
            check_shared_memory(context, instruction, values, SmemDescTcgen05)
    for instruction in _unawaited(code):
        context.warn(
            "P234",
            f"`{instruction.spelling}` reads the result of a product that nothing has waited for",
            instruction.span,
            help="commit the product to an mbarrier and wait there before: `mbarrier.try_wait`",
        )


def _unawaited(code: FunctionCode) -> Iterator[Instruction]:
    """Loads of results whose products may not have ended, on the way on which no conditional branch is taken.

    A wait for any mbarrier, a barrier or a call ends all products: which ones it waits for, the text does not
    tell. Results are the same where the register with their address is, as long as nothing writes that.
    """
    in_flight = 0
    for number, instruction in enumerate(code.instructions):
        opcode = instruction.opcode
        if opcode == "tcgen05":
            result = _address(code, instruction)
            if _is(instruction, "mma"):
                in_flight |= result
            elif _is(instruction, "ld") and result & in_flight:
                yield instruction
        elif in_flight:
            waits = opcode == "mbarrier" and "_wait" in instruction.modifiers[0]
            leaves = opcode in ("bra", "brx", "ret", "exit", "trap") and instruction.guard is None
            if waits or leaves or opcode in ("bar", "barrier", "call"):
                in_flight = 0
            in_flight &= ~code.writes[number]


def _address(code: FunctionCode, instruction: Instruction) -> int:
    """The register in the brackets of the first address, as a bit."""
    address = next((o for o in instruction.operands if isinstance(o, Address)), None)
    return code.register_bits([address.base]) if address and isinstance(address.base, Name) else 0


def _is(instruction: Instruction, modifier: str) -> bool:
    return instruction.opcode == "tcgen05" and instruction.modifiers[:1] == (modifier,)
