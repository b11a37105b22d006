"""The order that `wgmma` asks for: fence, multiply, commit, wait. PTX ISA 9.7.15."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ptxkit.asm.check.context import Context
from ptxkit.asm.flow import FunctionCode, operand_names
from ptxkit.asm.lint.descriptors import check_shared_memory
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Instruction, Integer, Vector
from ptxkit.encodings.shared_memory import SmemDescWgmma


def check_warpgroup(context: Context, code: FunctionCode, values: Values) -> None:
    """Warn of registers that are touched while a product is under way or before a fence."""
    products = [i for i in code.instructions if _is(i, "mma_async")]
    if not products:
        return
    for modifier, zero, why in (
        ("commit_group", "", "nothing can wait for it: `wgmma.commit_group` is missing"),
        ("wait_group", " 0", "nothing waits for it: `wgmma.wait_group` is missing"),
    ):
        if not any(_is(instruction, modifier) for instruction in code.instructions):
            context.warn(
                "P233",
                f"`wgmma.mma_async` runs asynchronously, and {why}",
                products[0].span,
                help=f"write `wgmma.{modifier}.sync.aligned{zero};` after it",
            )
            return
    in_flight = _InFlight(code)
    _solve(code, in_flight.step)
    for number, registers in in_flight.found.items():
        context.warn(
            "P233",
            f"{_named(code, registers)} of a `wgmma.mma_async` that may still run is used here",
            code.instructions[number].span,
            help="wait for the product before: `wgmma.wait_group.sync.aligned 0;`",
        )
    fences = _Fences(code)
    _solve(code, fences.step)
    for number, registers in fences.found.items():
        context.warn(
            "P233",
            f"{_named(code, registers)} was written since the last `wgmma.fence`",
            code.instructions[number].span,
            help="put `wgmma.fence.sync.aligned;` between the write and the product",
        )
    for product in products:
        check_shared_memory(context, product, values, SmemDescWgmma)


def _named(code: FunctionCode, registers: int) -> str:
    first, *others = code.registers_of(registers)
    return f"register `{first.name}`{' (and others)' if others else ''}"


def _is(instruction: Instruction, modifier: str) -> bool:
    return instruction.opcode == "wgmma" and modifier in instruction.modifiers


def _registers(code: FunctionCode, product: Instruction, results: bool = True) -> int:
    """The registers of a product's D and A, as bits."""
    chosen = product.operands[0 if results else 1 : 2]
    return code.register_bits(
        [name for operand in chosen if isinstance(operand, Vector) for name in operand_names(operand)]
    )


class _InFlight:
    """Registers of products that may not have ended."""

    def __init__(self, code: FunctionCode) -> None:
        self.code = code
        self.found: dict[int, int] = {}

    def step(self, number: int, state: int) -> int:
        instruction = self.code.instructions[number]
        if _is(instruction, "mma_async"):
            return state | _registers(self.code, instruction)
        if _is(instruction, "wait_group"):
            return 0  # Of several groups some may still run; which, the text does not tell.
        if not state:
            return 0
        touched = (self.code.reads[number] | self.code.writes[number]) & state
        if touched and instruction.opcode != "wgmma":
            self.found[number] = touched
        return state & ~touched


class _Fences:
    """Registers that were written since the last fence.

    Copies in a block after that of the fence count as none: compilers join the values of a loop there, and
    ptxas renames them.
    """

    def __init__(self, code: FunctionCode) -> None:
        self.code = code
        self.found: dict[int, int] = {}
        self.unfenced = 1 << len(code.registers)
        self.writes = code.writes.numbers
        self.joins: set[int] = set()
        for block in code.blocks:
            for number in range(block.start, block.stop):
                if _is(code.instructions[number], "fence"):
                    break
                if code.instructions[number].opcode == "mov":
                    self.joins.add(number)

    def step(self, number: int, state: int) -> int:
        instruction = self.code.instructions[number]
        if number == 0:
            state |= self.unfenced
        if _is(instruction, "fence"):
            return 0
        if not _is(instruction, "mma_async"):
            if number not in self.joins or state & self.unfenced:
                for written in self.writes[number]:
                    state |= 1 << written
            return state
        unread = any(isinstance(o, Integer) and o.value == 0 for o in instruction.operands[3:4])
        used = _registers(self.code, instruction, results=not unread) & state
        if used:
            self.found[number] = used
        return state & ~_registers(self.code, instruction)


def _solve(code: FunctionCode, step: Callable[[int, int], int]) -> None:
    """Run `step` over every instruction until what may hold before each block grows no more."""
    blocks = code.blocks
    before = [0] * len(blocks)
    todo = deque(range(len(blocks)))
    queued = [True] * len(blocks)
    visited = [False] * len(blocks)
    while todo:
        number = todo.popleft()
        queued[number] = False
        visited[number] = True
        state = before[number]
        for instruction in range(blocks[number].start, blocks[number].stop):
            state = step(instruction, state)
        for successor in blocks[number].successors:
            if successor < len(blocks) and (state & ~before[successor] or not visited[successor]):
                before[successor] |= state
                if not queued[successor]:
                    queued[successor] = True
                    todo.append(successor)
