"""`.aligned` instructions that only some threads of a warp reach. PTX ISA 9.7.13.1 and others."""

from __future__ import annotations

from functools import cached_property

from ptxkit.asm.bit_sets import numbers_in
from ptxkit.asm.check.context import Context, label_at
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.lint.values import LANES, ThreadNumber, Value, Values
from ptxkit.asm.tree import Guard, Instruction, Name


def check_divergence(context: Context, code: FunctionCode, values: Values) -> None:
    """Warn of `.aligned` instructions under a predicate that differs between the threads of a warp."""
    if _one_thread(code):
        return
    found: dict[int, tuple[Guard, str]] = {}
    regions = _Regions(code)
    for number, instruction in enumerate(code.instructions):
        if instruction.guard is None:
            continue
        definition = values.definition_of(code.meaning(instruction.guard))
        why = _why(definition, values, 4) if definition is not None else None
        if why is None:
            continue
        if Decoded(instruction).aligned:
            found.setdefault(number, (instruction.guard, why))
        elif instruction.opcode == "bra":
            for inside in regions.behind(number):
                if Decoded(code.instructions[inside]).aligned:
                    found.setdefault(inside, (instruction.guard, why))
    for number, (guard, why) in found.items():
        instruction = code.instructions[number]
        context.warn(
            "P230",
            f"`{instruction.spelling}` is reached by only some threads of a warp",
            instruction.span,
            labels=label_at(guard.span, why),
            help="let the whole warp execute it, and branch around what one thread does alone",
        )


def _one_thread(code: FunctionCode) -> bool:
    """Whether a CTA of this kernel has a single thread."""
    for name in ("reqntid", "maxntid"):
        directive = code.function.directive(name)
        if directive is not None and all(getattr(a, "value", 0) == 1 for a in directive.arguments):
            return True
    return False


def _why(definition: Instruction, values: Values, depth: int) -> str | None:
    """Why the predicate that an instruction makes differs between the threads of a warp; None: it may not."""
    opcode, operands = definition.opcode, definition.operands
    if opcode == "elect":
        return "true in one thread of the warp, by `elect.sync`"
    if opcode == "setp" and len(operands) == 3 and len(definition.modifiers) >= 2:
        return _compared(definition.modifiers[0], values.of(operands[1]), values.of(operands[2]))
    if opcode in ("and", "or", "not", "mov") and "pred" in definition.modifiers and depth:
        for operand in operands[1:]:
            inner = values.definition(operand) if isinstance(operand, Name) else None
            why = _why(inner, values, depth - 1) if inner is not None else None
            if why is not None:
                return why
    return None


def _compared(relation: str, a: Value, b: Value) -> str | None:
    if isinstance(a, int):
        a, b = b, a
        relation = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(relation, relation)
    if not isinstance(a, ThreadNumber) or not isinstance(b, int):
        return None
    what = "`%tid.x`" if a is ThreadNumber.TID else "the lane"
    if relation in ("eq", "ne"):
        return f"compares {what} with {b}"
    edge = (
        b if relation in ("lt", "ge", "lo", "hs") else b + 1 if relation in ("le", "gt", "ls", "hi") else None
    )
    if edge is None or (edge % LANES == 0) or (a is ThreadNumber.LANE and not 0 < edge < LANES) or edge < 0:
        return None
    return f"compares {what} with {b}"


class _Regions:
    """What only some of the threads execute, by the branch that parts them."""

    def __init__(self, code: FunctionCode) -> None:
        self._code = code

    @cached_property
    def _after(self) -> list[int]:
        """For each block, and the function's end behind them, the blocks that every path from it comes to,
        itself included, as bits."""
        blocks = self._code.blocks
        end = len(blocks)
        everything = (1 << (end + 1)) - 1
        after = [everything] * end + [1 << end]
        changed = True
        while changed:
            changed = False
            for number in range(end - 1, -1, -1):
                meet = everything
                for successor in blocks[number].successors or (end,):
                    meet &= after[successor]
                new = meet | 1 << number
                if new != after[number]:
                    after[number], changed = new, True
        return after

    def _meeting(self, at: int) -> int:
        """The first block that every path from the end of a block comes to; one more than the last: the
        function's end."""
        after = self._after
        candidates = [number for number in numbers_in(after[at]) if number != at]
        # The nearest is the one that has the most post-dominators itself.
        return max(candidates, key=lambda number: after[number].bit_count(), default=len(after) - 1)

    def behind(self, branch: int) -> list[int]:
        """The instructions that only some of the threads reach which reach a branch."""
        blocks = self._code.blocks
        at = self._code.block_of(branch)
        meeting = self._meeting(at)
        found: set[int] = set()
        todo = [block for block in blocks[at].successors if block != meeting]
        while todo:
            number = todo.pop()
            if number in found or number == meeting or number >= len(blocks):
                continue
            found.add(number)
            todo.extend(blocks[number].successors)
        found.discard(at)
        return sorted(i for number in found for i in range(blocks[number].start, blocks[number].stop))
