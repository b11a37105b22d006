"""tcgen05: Tensor Memory that is never given back, products that nothing waits for. PTX ISA 9.7.16."""

from __future__ import annotations

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import Code
from ptxkit.asm.lint.barriers import uses
from ptxkit.asm.lint.descriptors import check_instruction_descriptor, check_shared_memory
from ptxkit.asm.lint.values import Values
from ptxkit.asm.lint.warpgroup import solve
from ptxkit.asm.tree import Address, Instruction, Name
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
        elif _is(instruction, "cp"):
            check_shared_memory(context, instruction, values, SmemDescTcgen05)
    flight = _Flight(code)
    solve(code, flight.step)
    for number in flight.found:
        instruction = code.instructions[number]
        context.warn(
            "P234",
            f"`{instruction.spelling}` reads the result of a product that nothing has waited for",
            instruction.span,
            help="commit the product to an mbarrier and wait there before: `mbarrier.try_wait`",
        )


class _Flight:
    """The registers with the addresses of results whose products may not have ended.

    A wait for any mbarrier, a barrier or a call ends all of them: which products it waits for, the text does
    not tell. Results are the same where the register is, as long as nothing writes that.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.found: dict[int, None] = {}

    def step(self, number: int, state: int) -> int:
        instruction = self.code.instructions[number]
        if instruction.opcode in ("bar", "barrier", "call") or (
            instruction.opcode == "mbarrier" and "_wait" in instruction.modifiers[0]
        ):
            return 0
        if instruction.opcode == "tcgen05":
            result = self.register(instruction)
            if _is(instruction, "mma"):
                return state | result
            if _is(instruction, "ld") and result & state:
                self.found[number] = None
        return state & ~self.code.writes[number]

    def register(self, instruction: Instruction) -> int:
        """The register in the brackets of its first address."""
        address = next((o for o in instruction.operands if isinstance(o, Address)), None)
        return self.code.register_bits([address.base]) if address and isinstance(address.base, Name) else 0


def _is(instruction: Instruction, modifier: str) -> bool:
    return instruction.opcode == "tcgen05" and instruction.modifiers[:1] == (modifier,)
